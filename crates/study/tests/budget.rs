//! Runs that are bound by time instead of a number of blocks.

use crate::support::Fixture;
use assay_model::{GateVerdict, Outcome, RunEventKind};
use assay_results::Gate;
use assay_study::{Budget, Prepared, RunOptions, StudyError, run};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

const HEAD: &str = r#"
scenario = "scenario.toml"
design = { blocks = 2, window = "600ms", warm_up = { cap = "0s" }, repeats_max = 0 }
"#;
const TWO_LEVELS: &str = r#"
[[factor]]
name = "work"
level = [
  { name = "light", environment = { FAKE_WORK_US = "50" } },
  { name = "heavy", environment = { FAKE_WORK_US = "2000" } },
]
"#;
const DOUBLE: &str = "cpu_ms_per_request > +100 %";

fn bound(fixture: &Fixture, minutes: u64, conditions: &[&str]) -> Result<Prepared, StudyError> {
    let conditions = conditions.iter().map(|text| Gate::parse(text).expect("a condition")).collect();
    let budget = Budget { conditions, ..Budget::of(Duration::from_secs(60 * minutes)) };
    Ok(budget.bind(vec![fixture.prepare()?])?.remove(0))
}

#[test]
fn a_budget_takes_the_place_of_the_number_of_blocks() {
    let fixture = Fixture::new(HEAD, TWO_LEVELS);
    let prepared = bound(&fixture, 10, &[DOUBLE]).expect("it fits");
    let plan = prepared.plan();
    let budget = plan.budget.as_ref().expect("a budget");
    assert_eq!((budget.time_s, plan.expected_s), (600.0, 600.0));
    assert!(prepared.least_s() + f64::from(budget.blocks - 3) * budget.block_s <= 600.0, "{budget:?}");
    assert!(600.0 < prepared.least_s() + f64::from(budget.blocks - 2) * budget.block_s, "{budget:?}");
    assert_eq!(plan.blocks, 2 * budget.blocks, "steps may be faster than expected");
    assert_eq!(plan.trials.len(), 2 * plan.blocks as usize);
    assert_eq!(
        (&*budget.metrics, &*budget.conditions),
        (&["cpu_ms_per_request".to_owned()][..], &[DOUBLE.to_owned()][..])
    );
    assert!(plan.is_asked("cpu_ms_per_request") && !plan.is_asked("rss_bytes"));
}

#[test]
fn a_budget_for_fewer_than_three_blocks_is_refused_with_the_time_that_would_do() {
    let fixture = Fixture::new(HEAD, TWO_LEVELS);
    let error = bound(&fixture, 1, &[]).expect_err("three blocks take longer").to_string();
    let minutes: u64 = error
        .split("--budget ")
        .nth(1)
        .and_then(|rest| rest.split('m').next())
        .and_then(|m| m.parse().ok())
        .expect("a time");
    assert!(error.starts_with("a budget of 60 s is too short for fake: three blocks"), "{error}");
    assert!(bound(&fixture, minutes, &[]).is_ok(), "{error}");
}

#[test]
fn the_time_is_shared_by_what_three_blocks_of_each_study_take() {
    let one = Fixture::new(HEAD, TWO_LEVELS);
    let long = Fixture::new(&HEAD.replace("600ms", "30s"), TWO_LEVELS);
    let studies = vec![one.prepare().expect("a plan"), long.prepare().expect("a plan")];
    let bound = Budget::of(Duration::from_secs(1_200)).bind(studies).expect("it fits");
    let time_s = |at: usize| bound[at].plan().budget.as_ref().expect("a budget").time_s;
    assert!(time_s(0) < time_s(1) && (time_s(0) + time_s(1) - 1_200.0).abs() < 1e-6);
}

/// Forty times the work: three blocks show it, and three fresh ones show it again. However loud the machine is, blocks are added until they do.
#[test]
fn a_run_ends_when_fresh_blocks_show_it_again_and_more_time_changes_nothing_then() {
    let fixture = Fixture::new(HEAD, TWO_LEVELS);
    let run_it = |minutes: u64, resume: bool| {
        let prepared = bound(&fixture, minutes, &[DOUBLE]).expect("it fits");
        let options = RunOptions { resume, ..fixture.options() };
        let mut last = String::new();
        let result = run(&prepared, &options, &AtomicBool::new(false), &mut |event| {
            if let RunEventKind::RunEnded { detail, .. } = &event.kind {
                last.clone_from(detail);
            }
        });
        (result.expect("a result").summary, last)
    };
    let (summary, last) = run_it(10, false);
    assert_eq!(last, "everything that was asked is decided");
    let [decision] = &summary.decisions[..] else { panic!("{:?}", summary.decisions) };
    assert_eq!((decision.outcome, &*decision.variant), (Outcome::Shown, "heavy"), "{decision:?}");
    let second = decision.second.expect("fresh blocks");
    assert!(3 <= decision.first.blocks && 3 <= second.blocks, "{decision:?}");
    let stored = fixture.load();
    let case = Gate::parse(DOUBLE).expect("a condition").judge(&stored).remove(0);
    assert_eq!(case.verdict, GateVerdict::Holds);
    assert!(case.measured.is_some() && case.again.is_some(), "both sets are shown: {case:?}");
    let (again, last) = run_it(12, true);
    assert_eq!((again.decisions, &*last), (summary.decisions, "everything that was asked is decided"));
    let resumed = fixture.load();
    assert_eq!(resumed.trials.len(), stored.trials.len(), "no block was added");
    assert_eq!(
        resumed.plan.budget.expect("a budget").time_s,
        720.0,
        "the plan has the time of the last start"
    );
}

#[test]
fn ctrl_c_leaves_what_the_blocks_so_far_decide() {
    let fixture = Fixture::new(HEAD, TWO_LEVELS);
    let prepared = bound(&fixture, 10, &["cpu_ms_per_request > +100000 %"]).expect("it fits");
    let stop = AtomicBool::new(false);
    let mut trials = 0;
    let ended = run(&prepared, &fixture.options(), &stop, &mut |event| {
        if matches!(event.kind, RunEventKind::TrialEnded { ok: true, .. }) {
            trials += 1;
            stop.store(4 <= trials, Ordering::Relaxed);
        }
    });
    assert!(matches!(ended, Err(StudyError::Interrupted { done: 4, .. })), "{ended:?}");
    let stored = fixture.load();
    let summary = stored.summary.as_ref().expect("two blocks have a summary");
    let [decision] = &summary.decisions[..] else { panic!("{:?}", summary.decisions) };
    // Windows that others disturbed do not count.
    assert!(decision.outcome == Outcome::Undecided && decision.first.blocks <= 2, "{decision:?}");
    let case = Gate::parse("cpu_ms_per_request > +100000 %").expect("a condition").judge(&stored).remove(0);
    assert_eq!(case.verdict, GateVerdict::Undecided, "an interval takes three blocks");
}
