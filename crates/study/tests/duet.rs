//! Duets: two servers at the same time, on half of the processors each.

use crate::faults::{groups_of, may_limit};
use crate::study_file::{OWN, check};
use crate::support::Fixture;
use assay_model::{RunEventKind, Trial, TrialOutcome};
use assay_study::{RunOptions, StudyError, run};
use assay_testkit::{skip, turn};
use expect_test::expect;
use std::sync::atomic::{AtomicBool, Ordering};

const DUET: &str = r#"
scenario = "scenario.toml"
design = { kind = "duet", blocks = 2, windows = 2, window = "600ms", warm_up = { min = "100ms", cap = "600ms" }, repeats_max = 0 }
"#;

/// Two variants, of which the second has this fault.
fn two_levels(fault: &str) -> String {
    format!(
        r#"
[[factor]]
name = "build"
level = [
  {{ name = "before", environment = {{ FAKE_WORK_US = "50" }} }},
  {{ name = "after", environment = {{ FAKE_WORK_US = "50", FAKE_FAULT = "{fault}" }} }},
]
"#
    )
}

/// Whether this machine has two halves; else why the test is skipped.
fn has_two_processors() -> bool {
    std::thread::available_parallelism().is_ok_and(|count| 2 <= count.get())
}

#[test]
fn pairs_run_at_the_same_time_and_swap_halves() {
    if !has_two_processors() {
        skip!("one processor has no halves");
    }
    let fixture = Fixture::new(DUET, &two_levels(""));
    let (result, events) = fixture.run(false, |_, _| ());
    result.unwrap();
    let stored = fixture.load();
    let planned = stored.plan.duet.clone().expect("a duet");
    assert_ne!(planned.halves[0], planned.halves[1]);
    assert_eq!((planned.windows, planned.equal_options.len()), (2, 0), "no JVM");
    let trials: Vec<Trial> = stored.trials.into_iter().map(|stored| stored.trial).collect();
    let of: Vec<(u32, &str)> = trials.iter().map(|trial| (trial.block, trial.variant.as_str())).collect();
    let first = of[0].1;
    let other = if first == "before" { "after" } else { "before" };
    assert_eq!(
        of,
        [(1, first), (1, other), (2, other), (2, first)],
        "the next pair begins with the other one"
    );
    for pair in trials.chunks(2) {
        let places = |trial: &Trial| -> Vec<(u32, u32)> {
            trial.windows.iter().filter_map(|window| Some((window.duet?.number, window.duet?.half))).collect()
        };
        assert_eq!([places(&pair[0]), places(&pair[1])], [[(1, 1), (2, 2)], [(1, 2), (2, 1)]]);
        assert!(pair.iter().all(Trial::counts), "{pair:?}");
        assert!(pair.iter().all(|trial| trial.warm_up.is_some()));
    }
    // Both have begun before either ends, in each pair and in each window.
    let steps: String = events
        .iter()
        .filter_map(|event| match event.kind {
            RunEventKind::TrialStarted { .. } => Some('('),
            RunEventKind::TrialEnded { .. } => Some(')'),
            RunEventKind::WindowStarted { .. } => Some('<'),
            RunEventKind::WindowEnded { .. } => Some('>'),
            _ => None,
        })
        .collect();
    assert_eq!(steps, "((<<>><<>>))((<<>><<>>))");
    assert_eq!(fixture.left_over(), Vec::<String>::new());
}

/// The processors of the groups of this process that have processes in them, both sides one after the other.
fn halves_of_groups() -> Vec<String> {
    let read = |path: std::path::PathBuf| std::fs::read_to_string(path).unwrap_or_default().trim().to_owned();
    let groups = groups_of(std::process::id()).into_iter();
    let groups = groups.filter(|group| !read(group.join("cgroup.procs")).is_empty());
    groups.map(|group| read(group.join("cpuset.cpus"))).collect()
}

#[test]
fn with_leave_each_side_has_a_control_group_that_swaps_halves_with_it() {
    if !has_two_processors() || !may_limit() {
        skip!("control groups are made by root, where the kernel has them, and one processor has no halves");
    }
    let _machine = turn("settings-of-the-machine");
    let fixture = Fixture::new(DUET, &two_levels(""));
    let options = RunOptions { allow_host_changes: true, ..fixture.options() };
    let (mut seen, prepared) = (Vec::new(), fixture.prepare().unwrap());
    run(&prepared, &options, &AtomicBool::new(false), &mut |event| {
        if let RunEventKind::WindowEnded { .. } = event.kind {
            seen.push(halves_of_groups());
        }
    })
    .unwrap();
    let [first, second] = fixture.load().plan.duet.expect("a duet").halves;
    let (one_way, other_way) = (vec![first.clone(), second.clone()], vec![second, first]);
    // Two pairs of two windows, each ended on both sides.
    let expected = [&one_way, &one_way, &other_way, &other_way, &one_way, &one_way, &other_way, &other_way];
    assert_eq!(seen.iter().collect::<Vec<_>>(), expected);
    let trials: Vec<Trial> = fixture.load().trials.into_iter().map(|stored| stored.trial).collect();
    assert!(
        trials.iter().all(|trial| trial.treatments.len() == 1 && trial.treatments[0].undone),
        "{trials:?}"
    );
    let mut windows = trials.iter().flat_map(|trial| &trial.windows);
    assert!(windows.all(|window| window.duet.is_some_and(|duet| duet.by_group)));
    assert_eq!(groups_of(std::process::id()), Vec::<std::path::PathBuf>::new());
}

#[test]
fn a_side_that_ends_fails_its_pair_and_stops_the_other() {
    if !has_two_processors() {
        skip!("one processor has no halves");
    }
    for fault in ["dies-after-requests", "dies-when-ready"] {
        // Without pauses between requests, so that one of them is its last on a busy machine, too.
        let load = "load = { kind = \"closed\", users = 2 }";
        let fixture = Fixture::with_load(load, DUET, &two_levels(fault));
        let (result, _) = fixture.run(false, |_, _| ());
        let message = result.unwrap_err().to_string();
        assert!(message.contains("exit code"), "{message}");
        let stored = fixture.load();
        assert_eq!(stored.trials.len(), 2, "without one variant there is nothing to compare");
        for trial in stored.trials.iter().map(|stored| &stored.trial) {
            let TrialOutcome::Failed { reason } = &trial.outcome else { panic!("{:?}", trial.outcome) };
            let is_other = reason.starts_with("the other side of its pair, after, failed: ");
            assert_eq!(is_other, trial.variant == "before", "{reason}");
        }
        assert_eq!(fixture.left_over(), Vec::<String>::new());
    }
}

#[test]
fn an_interrupted_duet_leaves_no_process_and_goes_on_with_the_next_pair() {
    if !has_two_processors() {
        skip!("one processor has no halves");
    }
    let fixture = Fixture::new(DUET, &two_levels(""));
    let in_block_2 = |kind: &RunEventKind, stop: &AtomicBool| {
        if matches!(kind, RunEventKind::WindowStarted { block: 2, .. }) {
            stop.store(true, Ordering::Relaxed);
        }
    };
    let (result, _) = fixture.run(false, in_block_2);
    assert!(matches!(result, Err(StudyError::Interrupted { .. })), "{result:?}");
    assert_eq!(fixture.left_over(), Vec::<String>::new());
    let (result, events) = fixture.run(true, |_, _| ());
    assert!(result.is_ok(), "{result:?}");
    let again =
        events.iter().filter(|event| matches!(event.kind, RunEventKind::WindowStarted { block: 1, .. }));
    assert_eq!(again.count(), 0, "the first pair is not measured again");
}

#[test]
fn what_a_duet_cannot_have_is_said_with_what_to_do() {
    let text = OWN.replace(
        "name = \"own\"",
        "name = \"own\"\nhost = { cpuset = \"0\" }\nload = { kind = \"closed\", threads = 2 }",
    ) + r#"
[design]
kind = "duet"
windows = 5
[capacity]
[[fault]]
role = "server"
signal = "STOP"
for = "1s"
"#;
    check(
        &text,
        expect![[r#"
        x.toml:4: a duet chooses the processors of its sides itself: leave cpuset away
        x.toml:5: a study has either [load], whose windows are measured, or [capacity], not both
        x.toml:5: each side of a duet is loaded by one thread on its half of the processors: leave threads away
        x.toml:12: the sides swap their halves of the processors in every window, so that each has each as often: use an even number, such as 6
        x.toml:13: a capacity takes the whole machine, and a side of a duet has half of it: kind = "fresh" runs one process at a time
        x.toml:14: a fault hits one window, and a duet compares two that are alike but for the variant: kind = "fresh" runs one process at a time
        x.toml:14: faults happen in windows of one load: leave [capacity] and [emulated] out, or the faults
    "#]],
    );
    check(
        &(OWN.to_owned() + "[design]\nwindows = 4\n"),
        expect![[r#"
        x.toml:8: only a pair has several windows: write kind = "duet", or leave windows away
    "#]],
    );
}

#[test]
fn three_variants_and_a_fixed_port_are_no_duet() {
    let levels = "[[factor]]\nname = \"x\"\nlevel = [{ name = \"a\" }, { name = \"b\" }, { name = \"c\" }]\n";
    let fixture = Fixture::new(DUET, levels);
    let message = fixture.prepare().unwrap_err().to_string();
    assert!(
        message.contains("a duet compares two variants, and this study has 3: make a study of each pair"),
        "{message}"
    );
    let fixture = Fixture::new(DUET, &two_levels(""));
    let text = std::fs::read_to_string(&fixture.study).unwrap().replace("{port}", "8080");
    std::fs::write(&fixture.study, text).unwrap();
    let message = fixture.prepare().unwrap_err().to_string();
    assert!(
        message.contains("a duet runs both servers at once, so each needs a port of its own: use {port}"),
        "{message}"
    );
}
