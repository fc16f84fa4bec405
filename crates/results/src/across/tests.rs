//! A kept run against itself, and against one in which known things were changed.

use super::*;
use crate::run_dir::load_run;
use assay_model::{Design, Verdict, Window, metric};
use std::path::Path;

fn kept() -> StoredRun {
    load_run(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/formats/run")).expect("a run")
}

/// Every value of a metric, times this in each block.
fn times(run: &mut StoredRun, metric: &str, factor: f64) {
    for window in run.trials.iter_mut().flat_map(|stored| &mut stored.trial.windows) {
        if let Some(value) = window.metrics.get_mut(metric) {
            *value *= factor;
        }
    }
    for variant in run.summary.iter_mut().flat_map(|summary| &mut summary.variants) {
        if let Some(value) = variant.metrics.get_mut(metric) {
            value.estimate *= factor;
        }
    }
}

#[test]
fn a_run_does_not_differ_from_itself() {
    let run = kept();
    let found = compare_runs(("a", &run), ("b", &run));
    assert!(!found.changes.is_empty(), "{found:?}");
    for change in &found.changes {
        assert!((change.ratio.estimate - 1.0).abs() < 1e-12, "{change:?}");
        assert!(!matches!(change.verdict, Verdict::Higher | Verdict::Lower), "{change:?}");
    }
    assert_eq!((&*found.before.folder, &*found.after.folder), ("a", "b"));
    assert!(found.circumstances.is_empty() && found.only_before.is_empty() && found.only_after.is_empty());
}

#[test]
fn what_was_changed_is_named_and_nothing_else() {
    let before = kept();
    let mut after = before.clone();
    let metric = before.plan.primary_metric.clone();
    times(&mut after, &metric, 3.0);
    after.host.provenance.kernel = Some("another".to_owned());
    after.plan.variants[0].jvm_options.push("-XX:+UseSerialGC".to_owned());
    if let Some(jvm) = &mut after.plan.variants[0].jvm {
        jvm.version = "another".to_owned();
    }
    let removed = after.plan.variants.pop().expect("two variants").name;
    let found = compare_runs(("a", &before), ("b", &after));
    for change in &found.changes {
        let expected = if change.metric == metric { 3.0 } else { 1.0 };
        assert!((change.ratio.estimate - expected).abs() < 1e-9, "{change:?}");
    }
    assert!(found.changes.iter().any(|change| change.metric == metric), "{:?}", found.changes);
    assert_eq!(found.only_before, [removed]);
    let name = &after.plan.variants[0].name;
    let said: Vec<(CircumstanceOf, &str)> =
        found.circumstances.iter().map(|one| (one.about, one.what.as_str())).collect();
    let (jvm, options) = (format!("JVM of {name}"), format!("JVM options of {name}"));
    let mut expected = vec![(CircumstanceOf::Host, "kernel")];
    expected.extend(after.plan.variants[0].jvm.is_some().then_some((CircumstanceOf::Jvm, &*jvm)));
    expected.push((CircumstanceOf::Study, &*options));
    assert_eq!(said, expected);
}

/// The next run has servers of its own: one server before and one after differ also where nothing was changed.
#[test]
fn one_server_before_and_one_after_show_no_difference_in_times() {
    let of_four_windows = |design| {
        let mut run = kept();
        run.plan.design = design;
        for trial in run.trials.iter_mut().map(|stored| &mut stored.trial) {
            let mut first = trial.windows[0].clone();
            first.disturbances.clear();
            trial.windows = (1..=4).map(|block| Window { block, ..first.clone() }).collect();
        }
        run
    };
    for (design, expected) in [(Design::Fresh, Verdict::Higher), (Design::Resident, Verdict::OneServerEach)] {
        let before = of_four_windows(design);
        let mut after = before.clone();
        times(&mut after, metric::CPU_MS_PER_REQUEST, 3.0);
        let found = compare_runs(("a", &before), ("b", &after));
        let cpu = found.changes.iter().find(|change| change.metric == metric::CPU_MS_PER_REQUEST);
        assert_eq!(cpu.expect("it is measured").verdict, expected);
    }
}

#[test]
fn a_variant_without_result_is_a_problem_and_no_figure() {
    let before = kept();
    let after = StoredRun { summary: None, ..before.clone() };
    let found = compare_runs(("a", &before), ("b", &after));
    assert_eq!((found.changes.len(), found.problems.len()), (0, before.plan.variants.len()));
}

/// Two runs of one study, of which the second measured another commit.
#[test]
fn another_build_is_named() {
    let mut before = kept();
    let build = |commit: Option<&str>, id: &str| PlannedBuild {
        source: "/srv/shop".to_owned(),
        commit: commit.map(str::to_owned),
        subject: commit.map(|_| "Cache prices".to_owned()),
        command: vec!["make".to_owned()],
        id: id.to_owned(),
    };
    before.plan.variants[0].build = Some(build(Some("0123456789abcdef"), "one"));
    let mut after = before.clone();
    after.plan.variants[0].build = Some(build(None, "fedcba9876543210"));
    let found = compare_runs(("a", &before), ("b", &after)).circumstances;
    let [one] = &found[..] else { panic!("{found:?}") };
    assert_eq!(one.what, format!("build of {}", before.plan.variants[0].name));
    assert_eq!(one.before.as_deref(), Some("0123456789ab (Cache prices) by `make`"));
    assert_eq!(one.after.as_deref(), Some("/srv/shop as it was (fedcba987654) by `make`"));
}
