//! Situations of a run, built by hand, and what the summary makes of them.

use super::*;
use assay_model::{
    Audit, Check, Design, Disturbance, DuetWindow, ModeRead, ReferenceMode, Severity, StudyRule,
    TrialOutcome, Verdict, WarmUp, WarmUpEnd,
};
use assay_testkit::planned::{plan, trial, variant, window};

fn two_variants() -> Plan {
    plan(vec![variant("a", None), variant("b", Some("a"))])
}

const CPU: &str = "cpu_ms_per_request";

#[test]
fn a_clear_difference_is_shown_against_the_baseline() {
    let trials = [trial("a", CPU, &[1.0, 1.01, 0.99, 1.0]), trial("b", CPU, &[1.5, 1.51, 1.49, 1.5])];
    let summary = summarise(&two_variants(), &trials, BTreeMap::new());
    let [only] = &summary.comparisons[..] else { panic!("{:?}", summary.comparisons) };
    assert_eq!((only.variant.as_str(), only.baseline.as_str(), only.blocks), ("b", "a", 4));
    assert_eq!((only.verdict, only.shown), (Verdict::Higher, true));
    assert!((only.ratio.estimate - 1.5).abs() < 0.01);
}

/// Equal servers, measured side by side, differed by a third in CPU time and by 3 % in garbage, with intervals that excluded 1: what the JIT
/// compilers had made of each start was in all windows of it.
#[test]
fn one_server_of_each_variant_shows_what_another_start_would_and_nothing_else() {
    let garbage = "garbage_kib_per_request";
    let of = |design, metric: &str, value: f64| {
        let trials = [
            trial("a", metric, &[1.0, 1.01, 0.99]),
            trial("b", metric, &[value, 1.01 * value, 0.99 * value]),
        ];
        let summary = summarise(&Plan { design, ..two_variants() }, &trials, BTreeMap::new());
        let [only] = &summary.comparisons[..] else { panic!("{:?}", summary.comparisons) };
        assert_eq!(only.shown, only.verdict.is_shown());
        only.verdict
    };
    for metric in [CPU, "rss_bytes", "throughput_per_s"] {
        assert_eq!(of(Design::Resident, metric, 1.5), Verdict::OneServerEach, "{metric}");
        assert_eq!(of(Design::Resident, metric, 1.0), Verdict::NoDifferenceShown, "{metric}");
        assert_eq!(of(Design::Fresh, metric, 1.5), Verdict::Higher, "{metric}");
    }
    assert_eq!(of(Design::Resident, garbage, 1.5), Verdict::Higher);
    assert_eq!(of(Design::Resident, garbage, 0.5), Verdict::Lower);
    assert_eq!(of(Design::Resident, garbage, 0.97), Verdict::OneServerEach);
    assert_eq!(of(Design::Resident, garbage, 1.05), Verdict::OneServerEach);
    assert_eq!(of(Design::Resident, garbage, 1.0), Verdict::NoDifferenceShown);
    assert_eq!(of(Design::Fresh, garbage, 0.97), Verdict::Lower);
}

/// Variants of two engines at each number of connections.
fn of_connections(connections: &[&str]) -> Plan {
    let levels = |engine: &str, number: &str| {
        let levels = [("engine", engine), ("connections", number)];
        levels.map(|(factor, level)| (factor.to_owned(), level.to_owned())).into()
    };
    let of = |engine: &str, number: &&str| Variant {
        levels: levels(engine, number),
        ..variant(&format!("{engine}/{number}"), None)
    };
    let variants =
        ["selector", "virtual"].iter().flat_map(|engine| connections.iter().map(|n| of(engine, n)));
    let names = |levels: &[&str]| levels.iter().map(|level| (*level).to_owned()).collect::<Vec<_>>();
    Plan {
        factors: vec![
            ("engine".into(), names(&["selector", "virtual"])),
            ("connections".into(), names(connections)),
        ],
        ..plan(variants.collect())
    }
}

#[test]
fn growth_with_numbers_is_an_exponent_for_each_level_of_the_other_factors() {
    let plan = of_connections(&["1000", "10", "100"]);
    let trials = [
        trial("selector/10", CPU, &[1.0, 1.1, 0.9, 1.0]),
        trial("selector/100", CPU, &[10.0, 11.0, 9.0, 10.0]),
        trial("selector/1000", CPU, &[100.0, 110.0, 90.0, 100.0]),
        trial("virtual/10", CPU, &[1.0, 1.0, 1.0]),
        trial("virtual/100", CPU, &[1.0, 1.0]),
    ];
    let [only] = &summarise(&plan, &trials, BTreeMap::new()).scalings[..] else { panic!("one exponent") };
    assert_eq!((&*only.metric, &*only.factor, only.blocks), (CPU, "connections", 4));
    assert_eq!(only.others, BTreeMap::from([("engine".to_owned(), "selector".to_owned())]));
    assert_eq!(only.levels, [10.0, 100.0, 1000.0]);
    let (low, high) = only.exponent.ends().expect("four blocks");
    assert!((only.exponent.estimate - 1.0).abs() < 1e-9 && high - low < 1e-6, "{only:?}");
    assert!((only.max_residual_ratio - 1.0).abs() < 1e-9, "{only:?}");
}

#[test]
fn growth_needs_numbers_and_whole_blocks() {
    let trials = ["10", "100", "1000"].map(|n| trial(&format!("virtual/{n}"), CPU, &[1.0, 2.0, 4.0]));
    let scalings = |plan: &Plan, trials: &[Trial]| summarise(plan, trials, BTreeMap::new()).scalings;
    let plan = of_connections(&["10", "100", "1000"]);
    assert_eq!(
        scalings(&plan, &trials)[0].exponent.estimate,
        0.0,
        "the same at each level, whatever the block"
    );
    let mut short = trials.clone();
    short[1].windows.truncate(2);
    assert_eq!(scalings(&plan, &short)[0].blocks, 2);
    let mut nothing = trials.clone();
    nothing[1].windows[0].metrics.insert(CPU.to_owned(), 0.0);
    assert_eq!(scalings(&plan, &nothing), [], "a block with nothing is not left out silently");
    let words = Plan { factors: vec![("connections".into(), vec!["few".into(), "10".into()])], ..plan };
    assert_eq!(scalings(&words, &trials), []);
}

#[test]
fn what_the_load_sets_is_not_compared() {
    const RATE: &str = "throughput_per_s";
    let trials = [trial("a", RATE, &[100.0, 101.0, 99.0]), trial("b", RATE, &[90.0, 91.0, 89.0])];
    let of = |load_sets_rate| {
        let plan = Plan { load_sets_rate, ..two_variants() };
        summarise(&plan, &trials, BTreeMap::new()).comparisons.len()
    };
    assert_eq!((of(false), of(true)), (1, 0));
}

#[test]
fn a_disturbed_window_leaves_its_block_out_of_the_pairs_and_is_counted() {
    let mut b = trial("b", CPU, &[1.0, 9.0, 1.0, 1.0]);
    b.windows[1].disturbances.push(Disturbance { kind: Check::Steal, evidence: "9 %".into() });
    let trials = [trial("a", CPU, &[1.0, 1.0, 1.0, 1.0]), b];
    let summary = summarise(&two_variants(), &trials, BTreeMap::new());
    assert_eq!(summary.comparisons[0].blocks, 3);
    assert_eq!(summary.comparisons[0].verdict, Verdict::NoDifferenceShown);
    assert_eq!((summary.variants[1].windows, summary.variants[1].left_out), (3, 1));
    assert_eq!(summary.variants[1].metrics[CPU].estimate, 1.0);
}

#[test]
fn a_busy_machine_spoils_times_but_not_bytes_and_wrong_answers_spoil_both() {
    let garbage = "garbage_kib_per_request";
    let disturbed_by = |kind: Check| {
        let mut trial = trial("b", "throughput_per_s", &[2.0, 2.0, 2.0]);
        for window in &mut trial.windows {
            window.metrics.insert(garbage.into(), 9.0);
            window.disturbances.push(Disturbance { kind, evidence: "99 %".into() });
        }
        let summary = summarise(&two_variants(), &[trial], BTreeMap::new());
        summary.variants[1].metrics.keys().cloned().collect::<Vec<String>>()
    };
    for kind in [Check::CpuPressure, Check::Steal, Check::Throttled, Check::GeneratorLag] {
        assert_eq!(disturbed_by(kind), [garbage], "{kind}");
    }
    assert_eq!(disturbed_by(Check::Errors), [""; 0]);
    assert_eq!(disturbed_by(Check::Other), [""; 0]);
}

#[test]
fn a_trial_whose_audit_failed_counts_for_nothing() {
    let mut b = trial("b", CPU, &[0.1, 0.1, 0.1]);
    b.audit = Some(Audit { passed: false, detail: "1 order lost".into() });
    let summary = summarise(&two_variants(), &[trial("a", CPU, &[1.0, 1.0, 1.0]), b], BTreeMap::new());
    assert!(summary.comparisons.is_empty());
    assert!(summary.variants[1].metrics.is_empty());
    assert_eq!((summary.variants[1].trials, summary.variants[1].left_out), (1, 3));
}

#[test]
fn fresh_trials_are_paired_by_the_block_of_their_window() {
    let fresh = |name: &str, block: u32, value: f64| {
        let mut trial = trial(name, CPU, &[value]);
        trial.windows[0].block = block;
        trial
    };
    // Blocks drift by a factor of ten; within a block the two are equal.
    let trials: Vec<Trial> = [1.0, 3.0, 10.0]
        .iter()
        .zip(1..)
        .flat_map(|(level, block)| [fresh("a", block, *level), fresh("b", block, *level)])
        .collect();
    let summary = summarise(&two_variants(), &trials, BTreeMap::new());
    assert_eq!(summary.comparisons[0].ratio.estimate, 1.0);
    assert_eq!(summary.comparisons[0].verdict, Verdict::NoDifferenceShown);
}

#[test]
fn a_zero_has_no_ratio_and_the_summary_says_so() {
    let id = "gc_pause_ms_per_s";
    let trials = [trial("a", id, &[0.0, 1.0, 1.0]), trial("b", id, &[1.0, 1.0, 1.0])];
    let summary = summarise(&two_variants(), &trials, BTreeMap::new());
    assert!(summary.comparisons.is_empty());
    assert!(
        summary.problems[0].text.starts_with("gc_pause_ms_per_s of b against a: block 1"),
        "{:?}",
        summary.problems
    );
}

#[test]
fn a_server_that_mostly_collects_is_a_finding_and_one_that_does_not_is_none() {
    let id = "gc_pause_ms_per_s";
    let trials = [trial("a", id, &[20.0, 21.0, 19.0]), trial("b", id, &[740.0, 750.0, 730.0])];
    let findings = summarise(&two_variants(), &trials, BTreeMap::new()).findings;
    let [only] = &findings[..] else { panic!("{findings:?}") };
    assert_eq!(only.rule, StudyRule::HeapTooSmall);
    assert!(only.claim.starts_with("b spends 74 % of its time stopped"), "{}", only.claim);
}

#[test]
fn a_mode_that_differs_between_launches_is_not_told_as_one() {
    let with_mode = |mode: ReferenceMode, compact: Option<bool>| {
        let mut trial = trial("a", CPU, &[1.0]);
        trial.mode = Some(ModeRead {
            mode,
            compact_headers: compact,
            shift_bits: None,
            heap_base_address: None,
            evidence: String::new(),
        });
        trial
    };
    let read =
        |trials: &[Trial]| summarise(&two_variants(), trials, BTreeMap::new()).variants[0].mode_read.clone();
    let same = with_mode(ReferenceMode::CompressedUnscaled, Some(true));
    assert_eq!(read(&[same.clone(), same.clone()]).as_deref(), Some("compressed-unscaled+compact"));
    assert_eq!(read(&[same, with_mode(ReferenceMode::Full64, None)]), None);
    assert_eq!(read(&[]), None);
}

#[test]
fn warm_up_that_ended_by_its_cap_is_a_finding() {
    let mut a = trial("a", CPU, &[1.0, 1.0, 1.0]);
    a.warm_up = Some(WarmUp {
        rule: String::new(),
        ended_by: WarmUpEnd::Cap,
        duration_s: 20.0,
        requests: 1,
        cpu_ms_per_request: vec![],
    });
    let findings = summarise(&two_variants(), &[a], BTreeMap::new()).findings;
    assert_eq!(findings[0].rule, StudyRule::WarmUpCapped);
}

#[test]
fn the_same_trials_give_the_same_summary() {
    let trials = [trial("a", CPU, &[1.0, 1.2, 0.9, 1.1]), trial("b", CPU, &[1.1, 1.3, 0.8, 1.0])];
    let once = summarise(&two_variants(), &trials, BTreeMap::new());
    assert_eq!(once, summarise(&two_variants(), &trials, BTreeMap::new()));
}

/// A launch in a block with one window, as that of a capacity is.
fn launch(variant: &str, block: u32, metrics: &[(&str, f64)], failed: Option<Check>) -> Trial {
    let mut trial = trial(variant, "rss_bytes", &[1e6]);
    trial.block = block;
    let window = &mut trial.windows[0];
    window.block = block;
    window.metrics.extend(metrics.iter().map(|(id, value)| ((*id).to_owned(), *value)));
    window
        .disturbances
        .extend(failed.map(|check| Disturbance { kind: check, evidence: format!("{check}: not passed") }));
    trial
}

#[test]
fn capacities_are_compared_by_limit_and_an_invalid_one_is_left_out() {
    let (critical, at_10, max) = ("critical_rate_per_s", "rate_at_10_ms_per_s", "max_rate_per_s");
    let mut trials = Vec::new();
    for (block, noise) in (1..).zip([0.99, 1.0, 1.01, 1.0]) {
        trials.push(launch(
            "a",
            block,
            &[(critical, 100.0 * noise), (at_10, 50.0 * noise), (max, 200.0)],
            None,
        ));
        // No rate at the limit in one block, and a failed check in another.
        let failed = (block == 2).then_some(Check::WarmUp);
        let mut of_b = vec![(critical, 131.0 * noise), (max, 200.0)];
        of_b.extend((block != 3).then_some((at_10, 50.0 * noise)));
        trials.push(launch("b", block, &of_b, failed));
    }
    let summary = summarise(&two_variants(), &trials, BTreeMap::new());
    let b = &summary.variants[1];
    assert_eq!((b.trials, b.windows, b.left_out), (4, 3, 1));
    let of = |id: &str| summary.comparisons.iter().find(|c| c.metric == id).expect("compared");
    assert_eq!((of(critical).blocks, of(critical).verdict), (3, Verdict::Higher));
    assert!((of(critical).ratio.estimate - 1.31).abs() < 0.001, "{:?}", of(critical));
    assert_eq!((of(at_10).blocks, of(at_10).verdict), (2, Verdict::TooFewBlocks));
    assert_eq!(of(max).verdict, Verdict::NoDifferenceShown);
    // A failed warm-up spoils bytes, too: a server that was not warm does not have its usual size.
    assert_eq!(of("rss_bytes").blocks, 3);
}

#[test]
fn no_interval_of_a_metric_reaches_below_nothing() {
    let trials = [trial("a", "rss_bytes", &[1e6, 1e6, 9e6])];
    let rss = summarise(&two_variants(), &trials, BTreeMap::new()).variants[0].metrics["rss_bytes"];
    assert_eq!(rss.low, Some(0.0), "{rss:?}");
    assert!(rss.high > Some(9e6));
}

/// CPU time beside others that use the processors is noisy, not wrong: it serves where the block has no better window, whatever their order.
#[test]
fn cpu_time_is_taken_from_windows_beside_others_only_where_a_block_has_no_better_one() {
    let (quiet, busy) = (window(1, CPU, 1.0), |block, value| {
        let evidence = "70 %".to_owned();
        let disturbances = vec![Disturbance { kind: Check::CpuPressure, evidence }];
        let mut busy = Window { disturbances, ..window(block, CPU, value) };
        busy.metrics.insert("throughput_per_s".into(), 7.0);
        busy
    });
    let of = |windows: Vec<Window>| {
        let trial = Trial { windows, ..trial("a", CPU, &[]) };
        let summary = summarise(&two_variants(), &[trial], BTreeMap::new());
        let metrics = &summary.variants[0].metrics;
        assert!(!metrics.contains_key("throughput_per_s"), "a rate beside others is none");
        metrics[CPU].estimate
    };
    assert_eq!(of(vec![busy(1, 9.0), quiet.clone()]), 1.0);
    assert_eq!(of(vec![quiet.clone(), busy(1, 9.0)]), 1.0);
    assert_eq!(of(vec![quiet, busy(2, 8.0), busy(2, 3.0)]), 2.0, "the last of block 2, and block 1");
}

#[test]
fn where_every_window_was_disturbed_it_says_by_what_and_how_such_windows_are_accepted() {
    let mut disturbed = trial("a", CPU, &[1.0, 1.0, 1.0]);
    for window in &mut disturbed.windows {
        let evidence =
            "share of the machine's processors used by other processes: 70.0 %, limit 10.0 %".to_owned();
        window.disturbances.push(Disturbance { kind: Check::CpuPressure, evidence });
    }
    let findings = |trials: &[Trial]| summarise(&two_variants(), trials, BTreeMap::new()).findings;
    let found = findings(std::slice::from_ref(&disturbed));
    assert_eq!((found[0].rule, found[0].severity), (StudyRule::TimesDisturbed, Severity::Warning));
    assert!(found[0].claim.contains("none of the 3"), "{found:?}");
    assert!(
        found[0].evidence_line().contains("in 3") && found[0].evidence_line().contains("70.0 %"),
        "{found:?}"
    );
    let ways = [
        "Repeat it on a machine where nothing else runs",
        "Let such windows count: raise foreign_cpu_share in [limits]",
    ];
    assert!(found[0].ways().eq(ways), "{found:?}");
    assert_eq!(findings(&[disturbed.clone(), trial("b", CPU, &[1.0])]), []);
    for window in &mut disturbed.windows {
        window.disturbances.push(Disturbance { kind: Check::Steal, evidence: "9 %".to_owned() });
    }
    let found = findings(&[disturbed]);
    assert_eq!((found[0].rule, found[0].severity), (StudyRule::AllDisturbed, Severity::Error));
}

/// A side of a pair, that begins on this half, with these values of its windows.
fn side(variant: &str, (block, attempt): (u32, u32), first_half: u32, values: &[f64]) -> Trial {
    let window = |(number, value): (u32, &f64)| {
        let half = if number % 2 == 1 { first_half } else { 3 - first_half };
        let duet =
            Some(DuetWindow { number, half, by_group: false, foreign_cpu_share: None, steal_share: None });
        Window { duet, ..window(block, CPU, *value) }
    };
    let windows = (1..).zip(values).map(window).collect();
    Trial { block, attempt, windows, ..trial(variant, CPU, &[]) }
}

/// However many windows a pair has: it is one pair of processes.
#[test]
fn a_duet_is_compared_by_pairs_of_processes_of_which_both_sides_count() {
    let plan = Plan { design: Design::Duet, ..two_variants() };
    let failed = TrialOutcome::Failed { reason: "gone".into() };
    let trials = [
        // Of the first attempt one side is gone.
        side("a", (1, 1), 1, &[50.0; 4]),
        Trial { outcome: failed, ..side("b", (1, 1), 2, &[1.0; 2]) },
        side("a", (1, 2), 1, &[1.0, 4.0, 1.0, 4.0]),
        side("b", (1, 2), 2, &[6.0, 1.5, 6.0, 1.5]),
        // Stored before a run was interrupted; then the pair was measured anew.
        side("b", (2, 1), 1, &[70.0; 2]),
        side("b", (2, 1), 1, &[15.0; 2]),
        side("a", (2, 1), 2, &[10.0; 2]),
        side("a", (3, 1), 1, &[2.0; 6]),
        side("b", (3, 1), 2, &[3.0; 6]),
    ];
    let summary = summarise(&plan, &trials, BTreeMap::new());
    let cpu = summary.comparisons.iter().find(|c| c.metric == CPU).expect("compared");
    assert_eq!((cpu.variant.as_str(), cpu.blocks), ("b", 3));
    assert!((cpu.ratio.estimate - 1.5).abs() < 1e-9, "{:?}", cpu.ratio);
    let of_a = summary.variants[0].metrics[CPU];
    assert!((of_a.estimate - (2.0 + 10.0 + 2.0) / 3.0).abs() < 1e-9, "{of_a:?}");
}
