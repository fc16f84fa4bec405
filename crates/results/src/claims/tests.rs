//! Claims of published posts, and what a run with given intervals makes of them.

use super::*;
use assay_model::{Design, Direction, VariantSummary, Verdict, schema};
use assay_testkit::planned::{self, provenance};

const RATE: &str = "critical_rate_per_s";

fn variant(flags: &str, heap: &str, baseline: Option<&str>) -> Variant {
    let baseline = baseline.map(|flags| format!("{flags}/{heap}"));
    Variant {
        levels: [("flags", flags), ("heap", heap)].map(|(k, v)| (k.to_owned(), v.to_owned())).into(),
        ..planned::variant(&format!("{flags}/{heap}"), baseline.as_deref())
    }
}

fn plan(published: Vec<Published>, claims: Vec<Claim>) -> Plan {
    let factor = |name: &str, levels: [&str; 2]| (name.to_owned(), levels.map(str::to_owned).to_vec());
    let variants = ["1g", "2g"]
        .iter()
        .flat_map(|heap| [variant("default", heap, None), variant("all", heap, Some("default"))]);
    Plan {
        factors: vec![factor("flags", ["default", "all"]), factor("heap", ["1g", "2g"])],
        primary_metric: RATE.into(),
        published,
        claims,
        ..planned::plan(variants.collect())
    }
}

fn estimate(low: f64, high: f64) -> Estimate {
    Estimate { estimate: (low * high).sqrt(), low: Some(low), high: Some(high) }
}

/// A run in which `all` has these ratios to `default` at both heap sizes, and `values` of its own.
fn run(one_gb: Option<Estimate>, two_gb: Option<Estimate>, value: Option<Estimate>) -> Summary {
    let comparison = |(heap, ratio): (&str, Option<Estimate>)| {
        Some(Comparison {
            metric: RATE.into(),
            variant: format!("all/{heap}"),
            baseline: format!("default/{heap}"),
            blocks: 5,
            ratio: ratio?,
            shown: true,
            verdict: Verdict::Higher,
        })
    };
    Summary {
        schema: schema::SUMMARY.into(),
        provenance: provenance(),
        study: "s".into(),
        variants: vec![VariantSummary {
            name: "all/1g".into(),
            levels: BTreeMap::new(),
            trials: 5,
            windows: 5,
            left_out: 0,
            mode_read: None,
            metrics: value.map(|value| (RATE.to_owned(), value)).into_iter().collect(),
            response_curve: vec![],
        }],
        comparisons: [("1g", one_gb), ("2g", two_gb)].into_iter().filter_map(comparison).collect(),
        scalings: vec![],
        findings: vec![],
        claims: ClaimCheck::default(),
        decisions: vec![],
        problems: vec![],
    }
}

fn change(percent: f64) -> Claim {
    Claim {
        about: ClaimSubject {
            source: "post".into(),
            place: Some("conclusion".into()),
            quotation: None,
            metric: RATE.into(),
            variant: "all".into(),
            baseline: Some("default".into()),
        },
        change_percent: Some(percent),
        reading: Reading::default(),
        direction: None,
        value: None,
        within_percent: None,
        at: [("heap".to_owned(), "1g".to_owned())].into(),
    }
}

fn value(variant: &str, value: f64) -> Claim {
    let about = ClaimSubject { place: None, variant: variant.into(), baseline: None, ..change(0.0).about };
    Claim { about, change_percent: None, value: Some(value), ..change(0.0) }
}

fn verdict_of(claim: Claim, measured: Estimate) -> ClaimVerdict {
    let check = check_claims(&plan(vec![], vec![claim]), &run(Some(measured), None, Some(measured)));
    assert_eq!(check.judged.len(), 1, "{check:?}");
    check.judged[0].verdict
}

#[test]
fn one_server_of_each_variant_decides_nothing() {
    let judged = |claim: Claim, measured: Estimate| {
        let plan = Plan { design: Design::Resident, ..plan(vec![], vec![claim]) };
        check_claims(&plan, &run(Some(measured), None, Some(measured))).judged[0].verdict
    };
    assert_eq!(judged(change(51.0), estimate(1.4, 1.6)), ClaimVerdict::OneServerEach);
    assert_eq!(judged(change(51.0), estimate(1.55, 1.6)), ClaimVerdict::OneServerEach);
    assert_eq!(judged(change(51.0), estimate(0.5, 3.0)), ClaimVerdict::Undecided);
    assert_eq!(judged(value("all", 72_171.0), estimate(70_000.0, 74_000.0)), ClaimVerdict::OneServerEach);
}

#[test]
fn one_server_of_each_variant_decides_what_no_start_would_change() {
    let garbage = "garbage_kib_per_request";
    let judged = |percent: f64, measured: Estimate| {
        let mut claim = change(percent);
        claim.about.metric = garbage.into();
        let mut run = run(Some(measured), None, None);
        run.comparisons[0].metric = garbage.into();
        let plan = Plan { design: Design::Resident, ..plan(vec![], vec![claim]) };
        check_claims(&plan, &run).judged[0].verdict
    };
    assert_eq!(judged(51.0, estimate(1.4, 1.6)), ClaimVerdict::SameDirectionAndSize);
    assert_eq!(judged(51.0, estimate(1.55, 1.6)), ClaimVerdict::SameDirection);
    assert_eq!(judged(51.0, estimate(1.8, 1.9)), ClaimVerdict::SameDirectionOtherSize);
    assert_eq!(judged(3.0, estimate(1.01, 1.04)), ClaimVerdict::OneServerEach, "within what a start changes");
}

#[test]
fn a_claimed_change_has_the_same_size_where_the_interval_could_have_told_otherwise() {
    assert_eq!(verdict_of(change(51.0), estimate(1.4, 1.6)), ClaimVerdict::SameDirectionAndSize);
    assert_eq!(verdict_of(change(51.0), estimate(1.55, 1.6)), ClaimVerdict::SameDirectionOtherSize);
    assert_eq!(
        verdict_of(change(51.0), estimate(1.514, 1.6)),
        ClaimVerdict::SameDirectionAndSize,
        "51 is 50.5 to 51.5"
    );
    assert_eq!(verdict_of(change(51.2), estimate(1.514, 1.6)), ClaimVerdict::SameDirectionOtherSize);
    assert_eq!(verdict_of(change(-20.0), estimate(1.1, 1.3)), ClaimVerdict::Opposite);
}

#[test]
fn a_claimed_direction_is_the_same_where_the_whole_interval_lies_on_its_side_and_contradicts_no_figure() {
    let goes = |direction| Claim { change_percent: None, direction: Some(direction), ..change(0.0) };
    let (rises, falls) = (goes(Direction::Rises), goes(Direction::Falls));
    assert_eq!(verdict_of(rises.clone(), estimate(1.001, 3.0)), ClaimVerdict::SameDirection);
    assert_eq!(verdict_of(falls.clone(), estimate(0.2, 0.999)), ClaimVerdict::SameDirection);
    assert_eq!(verdict_of(rises.clone(), estimate(0.2, 0.999)), ClaimVerdict::Opposite);
    assert_eq!(verdict_of(falls, estimate(0.99, 1.01)), ClaimVerdict::Undecided);
    assert_eq!(contradictions(&plan(vec![], vec![rises, change(51.0)])), []);
}

#[test]
fn an_interval_with_room_for_no_change_decides_nothing_and_one_with_room_for_twice_as_much_no_size() {
    assert_eq!(verdict_of(change(10.0), estimate(0.9, 1.2)), ClaimVerdict::Undecided);
    assert_eq!(verdict_of(change(10.0), estimate(1.01, 1.3)), ClaimVerdict::SameDirection);
    assert_eq!(verdict_of(change(-10.0), estimate(0.7, 0.99)), ClaimVerdict::SameDirection);
}

#[test]
fn words_are_judged_by_what_the_study_file_takes_them_to_mean() {
    let reads = |min, max| {
        let reading = Reading { change_percent_min: min, change_percent_max: max };
        Claim { change_percent: None, reading, ..change(0.0) }
    };
    let slightly = reads(Some(0.0), Some(10.0));
    assert_eq!(verdict_of(slightly.clone(), estimate(1.02, 1.06)), ClaimVerdict::SameDirectionAndSize);
    assert_eq!(verdict_of(slightly.clone(), estimate(1.5, 1.6)), ClaimVerdict::SameDirectionOtherSize);
    assert_eq!(verdict_of(reads(None, Some(-50.0)), estimate(0.1, 0.2)), ClaimVerdict::SameDirectionAndSize);
    assert_eq!(verdict_of(reads(Some(-5.0), Some(5.0)), estimate(0.97, 1.02)), ClaimVerdict::SameSize);
    assert_eq!(contradictions(&plan(vec![], vec![slightly, change(51.0)])), [], "words give no figure");
}

#[test]
fn a_chart_that_is_read_less_exactly_than_its_ratio_is_written_allows_as_much() {
    let published = |within_percent| Published {
        source: "paper".into(),
        metric: RATE.into(),
        relative: [("default", 1.0), ("all", 1.5)].map(|(k, v)| (k.to_owned(), v)).into(),
        absolute: BTreeMap::new(),
        within_percent,
        at: [("heap".to_owned(), "1g".to_owned())].into(),
    };
    let verdict = |within| {
        let run = run(Some(estimate(1.56, 1.6)), None, None);
        check_claims(&plan(vec![published(within)], vec![]), &run).judged[0].verdict
    };
    assert_eq!(verdict(None), ClaimVerdict::SameDirectionOtherSize);
    assert_eq!(verdict(Some(8.0)), ClaimVerdict::SameDirectionAndSize);
}

#[test]
fn that_nothing_changes_is_told_by_an_interval_within_what_the_claim_allows() {
    let about = |within| Claim { within_percent: Some(within), ..change(0.0) };
    assert_eq!(verdict_of(about(3.0), estimate(0.98, 1.02)), ClaimVerdict::SameSize);
    assert_eq!(verdict_of(about(1.0), estimate(0.98, 1.02)), ClaimVerdict::Undecided);
    assert_eq!(verdict_of(about(3.0), estimate(1.04, 1.1)), ClaimVerdict::OtherSize);
}

#[test]
fn a_value_is_judged_in_its_unit() {
    assert_eq!(verdict_of(value("all", 72_171.0), estimate(70_000.0, 74_000.0)), ClaimVerdict::SameSize);
    assert_eq!(verdict_of(value("all", 72_171.0), estimate(73_000.0, 74_000.0)), ClaimVerdict::OtherSize);
    assert_eq!(verdict_of(value("all", 72_171.0), estimate(1.0, 150_000.0)), ClaimVerdict::Undecided);
}

#[test]
fn without_an_interval_nothing_is_judged() {
    let alone = Estimate { estimate: 1.51, low: None, high: None };
    assert_eq!(verdict_of(change(51.0), alone), ClaimVerdict::NotMeasured);
    let check = check_claims(&plan(vec![], vec![change(51.0)]), &run(None, None, None));
    assert_eq!(check.judged[0].verdict, ClaimVerdict::NotMeasured);
    assert_eq!(check.judged[0].about.baseline.as_deref(), Some("default/1g"));
    let mut unknown = change(51.0);
    unknown.about.variant = "of another machine".into();
    let check = check_claims(&plan(vec![], vec![unknown]), &run(None, None, None));
    assert_eq!((check.judged.len(), check.judged[0].verdict), (1, ClaimVerdict::NotMeasured));
}

#[test]
fn a_claim_for_all_heap_sizes_is_judged_at_each_and_the_other_way_round_too() {
    let everywhere = Claim { at: BTreeMap::new(), ..change(51.0) };
    let turned =
        ClaimSubject { variant: "default".into(), baseline: Some("all".into()), ..everywhere.about.clone() };
    let turned = Claim { about: turned, change_percent: Some(-34.0), ..everywhere.clone() };
    let run = run(Some(estimate(1.4, 1.6)), Some(estimate(1.1, 1.2)), None);
    let check = check_claims(&plan(vec![], vec![everywhere, turned]), &run);
    let verdicts: Vec<ClaimVerdict> = check.judged.iter().map(|j| j.verdict).collect();
    let (holds, not) = (ClaimVerdict::SameDirectionAndSize, ClaimVerdict::SameDirectionOtherSize);
    assert_eq!(verdicts, [holds, not, holds, not]);
    assert_eq!(check.contradictions, []);
}

#[test]
fn a_claim_may_be_about_another_factor_than_the_first() {
    let mut run = run(None, Some(estimate(1.4, 1.6)), None);
    run.comparisons[0].baseline = "all/1g".into();
    let about = ClaimSubject { variant: "2g".into(), baseline: Some("1g".into()), ..change(51.0).about };
    let claim = Claim { about, at: [("flags".to_owned(), "all".to_owned())].into(), ..change(51.0) };
    let check = check_claims(&plan(vec![], vec![claim]), &run);
    let [judged] = check.judged.as_slice() else { panic!("{check:?}") };
    assert_eq!(judged.verdict, ClaimVerdict::SameDirectionAndSize, "{judged:?}");
    assert_eq!((&*judged.about.variant, judged.about.baseline.as_deref()), ("all/2g", Some("all/1g")));
}

/// A post whose conclusion says 59 % where its own figures give 51 %.
#[test]
fn a_source_that_contradicts_its_own_figures_is_told() {
    let mut other = change(31.0);
    other.about.source = "other".into();
    let claims = vec![change(59.0), value("default", 47_729.0), value("all", 72_171.0), other];
    let check = check_claims(&plan(vec![], claims), &run(None, None, None));
    let [found] = check.contradictions.as_slice() else { panic!("{:?}", check.contradictions) };
    assert_eq!((found.one.place.as_str(), found.one.stated), ("conclusion", 1.59));
    assert!((found.other.stated - 1.512).abs() < 0.001, "{found:?}");
    let claims = vec![change(51.0), change(59.0), value("all", 10.0), value("all", 20.0)];
    assert_eq!(check_claims(&plan(vec![], claims), &run(None, None, None)).contradictions.len(), 2);
}

#[test]
fn published_ratios_are_judged_to_each_variants_own_baseline_and_against_their_values() {
    let published = |all: f64| Published {
        source: "paper".into(),
        metric: RATE.into(),
        relative: [("default", 1.0), ("all", all)].map(|(k, v)| (k.to_owned(), v)).into(),
        absolute: [("default", 113.0), ("all", 169.0)].map(|(k, v)| (k.to_owned(), v)).into(),
        within_percent: None,
        at: BTreeMap::new(),
    };
    let run = run(Some(estimate(1.4, 1.6)), Some(estimate(0.9, 1.6)), None);
    let check = check_claims(&plan(vec![published(1.496)], vec![]), &run);
    let verdicts: Vec<ClaimVerdict> = check.judged.iter().map(|j| j.verdict).collect();
    assert_eq!(verdicts, [ClaimVerdict::SameDirectionAndSize, ClaimVerdict::Undecided]);
    assert_eq!(check.contradictions, []);
    let check = check_claims(&plan(vec![published(1.6)], vec![]), &run);
    assert_eq!(check.contradictions.len(), 1);
}

#[test]
fn published_values_without_ratios_are_judged_as_values() {
    let published = Published {
        source: "paper".into(),
        metric: RATE.into(),
        relative: BTreeMap::new(),
        absolute: [("all", 113.0), ("none such", 1.0)].map(|(k, v)| (k.to_owned(), v)).into(),
        within_percent: None,
        at: BTreeMap::new(),
    };
    let check = check_claims(&plan(vec![published], vec![]), &run(None, None, Some(estimate(100.0, 120.0))));
    let said: Vec<(&str, bool, ClaimVerdict)> =
        check.judged.iter().map(|j| (&*j.about.variant, j.is_ratio, j.verdict)).collect();
    assert_eq!(
        said,
        [
            ("all/1g", false, ClaimVerdict::SameSize),
            ("all/2g", false, ClaimVerdict::NotMeasured),
            ("none such", false, ClaimVerdict::NotMeasured),
        ]
    );
}

/// A figure inside an interval that has room for no change at all, and for twice the change: neither holds nor fails.
#[test]
fn an_interval_that_allows_anything_says_neither_yes_nor_no() {
    let of = |measured| verdict_of(change(-6.0), measured);
    let wide = Estimate { estimate: 1.26, low: Some(0.85), high: Some(1.86) };
    assert_eq!(of(wide), ClaimVerdict::Undecided);
    assert_eq!(of(estimate(0.93, 0.95)), ClaimVerdict::SameDirectionAndSize);
    assert_eq!(of(estimate(1.10, 1.20)), ClaimVerdict::Opposite);
}
