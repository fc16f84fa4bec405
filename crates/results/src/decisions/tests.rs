//! Blocks built by hand, and what they decide.

use super::*;
use crate::summary::summarise;
use assay_model::{Design, Estimate, PlannedBudget};
use assay_stats::sequential::ERROR;
use assay_testkit::planned::{plan, trial, variant};
use std::collections::BTreeMap;

const CPU: &str = "cpu_ms_per_request";

fn of_budget(conditions: &[&str]) -> Plan {
    let budget = PlannedBudget {
        time_s: 600.0,
        block_s: 20.0,
        blocks: 30,
        difference_percent: 2.0,
        metrics: vec![CPU.into()],
        conditions: conditions.iter().map(|text| (*text).to_owned()).collect(),
        outlook: Vec::new(),
    };
    let plan = plan(vec![variant("old", None), variant("new", Some("old"))]);
    Plan { budget: Some(budget), blocks: 60, ..plan }
}

/// What is decided when the blocks have these ratios; the baseline has 1 ms.
fn decided(plan: &Plan, ratios: &[f64]) -> Decision {
    let metrics = vec![Metric::by_id(CPU).expect("a metric")];
    let of = |values: Vec<f64>| BTreeMap::from([(CPU, (1..).zip(values).collect())]);
    let measured: Measured<'_> =
        BTreeMap::from([("old", of(vec![1.0; ratios.len()])), ("new", of(ratios.to_vec()))]);
    let looks = Looks::up_to(plan.blocks as usize, ERROR);
    let mut all = decisions(plan, &metrics, &measured, &looks);
    all.retain(|one| one.variant == "new");
    assert_eq!(all.len(), 1, "{all:?}");
    all.remove(0)
}

const RISE: &str = "cpu_ms_per_request > +3 %";
const HIGH: [f64; 4] = [1.10, 1.11, 1.09, 1.10];
const EQUAL: [f64; 6] = [1.002, 0.999, 1.001, 0.998, 1.0, 1.001];

#[test]
fn a_study_s_own_question_is_decided_by_a_difference_or_by_none_of_interest() {
    let plan = of_budget(&[]);
    let shown = decided(&plan, &HIGH);
    assert_eq!((shown.outcome, shown.first.blocks, shown.second), (Outcome::Shown, 3, None), "{shown:?}");
    assert_eq!(shown.condition, None);
    let none = decided(&plan, &EQUAL);
    assert_eq!((none.outcome, none.blocks_missing), (Outcome::NotSo, None), "{none:?}");
    let open = decided(&plan, &[1.1, 0.95, 1.05]);
    assert_eq!((open.outcome, open.first.blocks), (Outcome::Undecided, 3), "{open:?}");
    assert!(open.blocks_missing.is_some_and(|more| 3 < more), "{open:?}");
    assert!(open.smallest_difference_ratio.is_some_and(|ratio| 1.3 < ratio), "{open:?}");
    let two = decided(&plan, &[1.1, 1.1]);
    assert_eq!((two.outcome, two.first.measured, two.blocks_missing), (Outcome::Undecided, None, None));
}

#[test]
fn a_condition_holds_only_if_fresh_blocks_alone_show_it_again() {
    let plan = of_budget(&[RISE]);
    let once = decided(&plan, &HIGH);
    assert_eq!((once.outcome, once.first.blocks), (Outcome::Undecided, 3), "{once:?}");
    assert_eq!(once.second.map(|set| set.blocks), Some(1), "{once:?}");
    assert!(once.blocks_missing.is_some(), "{once:?}");
    let again = [&HIGH[..3], &HIGH].concat();
    let twice = decided(&plan, &again);
    assert_eq!((twice.outcome, twice.condition.as_deref()), (Outcome::Shown, Some(RISE)));
    assert_eq!(twice.second.map(|set| set.blocks), Some(3), "{twice:?}");
    // The first blocks were chance: those after them show the contrary.
    let chance = decided(&plan, &[&HIGH[..3], &EQUAL].concat());
    assert_eq!(chance.outcome, Outcome::NotSo, "{chance:?}");
    let passes = decided(&plan, &EQUAL);
    assert_eq!((passes.outcome, passes.second), (Outcome::NotSo, None));
}

#[test]
fn a_condition_on_a_value_is_held_against_the_values_of_each_variant() {
    let plan = of_budget(&["cpu_ms_per_request > 2"]);
    let metrics = vec![Metric::by_id(CPU).expect("a metric")];
    let of = |value: f64| {
        BTreeMap::from([(CPU, (1..=6).map(|block| (block, value + 0.01 * f64::from(block))).collect())])
    };
    let measured: Measured<'_> = BTreeMap::from([("old", of(1.0)), ("new", of(3.0))]);
    let all = decisions(&plan, &metrics, &measured, &Looks::up_to(6, ERROR));
    let of = |variant: &str| {
        all.iter().find(|one| one.variant == variant && one.condition.is_some()).expect(variant)
    };
    assert_eq!((of("old").outcome, of("new").outcome), (Outcome::NotSo, Outcome::Shown));
    assert_eq!((of("new").baseline.as_ref(), of("new").smallest_difference_ratio), (None, None));
    assert!(all.iter().any(|one| one.condition.is_none()), "the study's own question stays");
}

#[test]
fn one_server_of_each_variant_decides_nothing_and_needs_no_more_blocks() {
    let plan = Plan { design: Design::Resident, ..of_budget(&[RISE]) };
    let decision = decided(&plan, &HIGH);
    assert_eq!(
        (decision.outcome, decision.second, decision.blocks_missing),
        (Outcome::OneServerEach, None, None)
    );
}

#[test]
fn a_run_is_decided_when_no_variant_that_can_be_measured_has_an_open_question() {
    let plan = of_budget(&[]);
    let ones = [1.0; 6];
    let of = |ratios: &[f64]| {
        let trials = [trial("old", CPU, &ones[..ratios.len()]), trial("new", CPU, ratios)];
        summarise(&plan, &trials, BTreeMap::new())
    };
    let is_decided_by = |ratios: &[f64]| is_decided(&plan, &of(ratios), |_| false);
    assert!(!is_decided_by(&[]) && !is_decided_by(&[1.1, 1.1]) && !is_decided_by(&[1.1, 0.95, 1.05]));
    assert!(is_decided_by(&HIGH) && is_decided_by(&EQUAL));
    let open = of(&[1.1, 0.95, 1.05]);
    assert!(
        !is_decided(&plan, &open, |variant| variant == "new"),
        "nothing else is asked, and nothing was decided"
    );
    // The interval in the table is the one that holds at each look.
    let compared = of(&HIGH).comparisons.remove(0);
    let usual =
        assay_stats::compare_paired(&HIGH.map(|ratio| (ratio, 1.0)), plan.seed).expect("four blocks").ratio;
    let width = |ratio: Estimate| ratio.ends().map(|(low, high)| (high / low).ln()).expect("an interval");
    assert!(1.5 < width(compared.ratio) / width(usual), "{compared:?}");
}
