//! Whole runs on a server that is no JVM, with the faults that servers, users and machines have.

use crate::support::{Fixture, example, processes};
use assay_model::{Check, RunEventKind, TrialOutcome, Verdict, Window};
use assay_study::{StudyError, run};
use assay_testkit::skip;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

const FRESH: &str = r#"
scenario = "scenario.toml"
design = { blocks = 2, window = "600ms", warm_up = { min = "100ms", cap = "600ms" }, repeats_max = 0 }
"#;
const RESIDENT: &str = r#"
scenario = "scenario.toml"
design = { kind = "resident", blocks = 3, window = "600ms", warm_up = { cap = "0s" }, repeats_max = 0 }
"#;
const TWO_LEVELS: &str = r#"
[[factor]]
name = "work"
level = [
  { name = "light", environment = { FAKE_WORK_US = "50" } },
  { name = "heavy", environment = { FAKE_WORK_US = "2000" } },
]
"#;

fn fault(name: &str) -> String {
    format!("environment = {{ FAKE_FAULT = \"{name}\" }}")
}

#[track_caller]
fn check_two_levels(fixture: &Fixture, blocks: u32) {
    let stored = fixture.load();
    for variant in ["light", "heavy"] {
        let windows =
            stored.trials.iter().filter(|t| t.trial.variant == variant).flat_map(|t| &t.trial.windows);
        let mut blocks_seen: Vec<u32> = windows.map(|w| w.block).collect();
        blocks_seen.sort_unstable();
        let trials = || stored.trials.iter().map(|t| (&t.trial.variant, &t.trial.outcome, &t.trial.problems));
        assert_eq!(
            blocks_seen,
            (1..=blocks).collect::<Vec<_>>(),
            "{variant}: {:?}",
            trials().collect::<Vec<_>>()
        );
    }
    for trial in &stored.trials {
        assert_eq!(trial.trial.outcome, TrialOutcome::Completed);
        assert!(trial.trial.audit.as_ref().is_some_and(|a| a.passed));
        assert!(!trial.memory.is_empty());
        let excluded: Vec<&str> = trial.trial.excluded_observers.iter().map(|e| e.name.as_str()).collect();
        assert_eq!(excluded, ["gc"], "a server that is no JVM has no GC log, and nothing else is missing");
        for window in &trial.trial.windows {
            let ids: Vec<&str> = window.metrics.keys().map(String::as_str).collect();
            let want = [
                "cpu_ms_per_request",
                "generator_cpu_ms_per_request",
                "response_p50_ms",
                "response_p99_ms",
                "rss_bytes",
                "throughput_per_s",
            ];
            // On a machine that is too busy to look twice, or to answer anything, within a window, it says so instead.
            let says = |what: &str| window.problems.iter().any(|p| p.text.contains(what));
            if !says("too short to read CPU time twice") && !says("no request completed") {
                assert_eq!(ids, want);
            }
            assert_eq!(window.completed == 0, says("no request completed"), "{window:?}");
            assert_eq!(window.errors, 0, "{window:?}");
        }
    }
    assert_eq!(fixture.left_over(), Vec::<String>::new());
}

#[test]
fn the_fresh_design_launches_each_variant_in_each_block() {
    let fixture = Fixture::new(FRESH, TWO_LEVELS);
    let (result, _) = fixture.run(false, |_, _| ());
    let summary = result.unwrap().summary;
    check_two_levels(&fixture, 2);
    let stored = fixture.load();
    assert_eq!(stored.trials.len(), 4);
    assert_eq!(stored.summary.unwrap(), summary);
    assert!(stored.trials.iter().all(|t| t.trial.warm_up.is_some()));
}

#[test]
fn the_resident_design_alternates_and_shows_a_large_difference() {
    // Long windows: on a busy machine the generator has its turn late, or not at all in a short one, which then is left out.
    let fixture = Fixture::new(&RESIDENT.replace("600ms", "3s"), TWO_LEVELS);
    let (result, events) = fixture.run(false, |_, _| ());
    let summary = result.unwrap().summary;
    check_two_levels(&fixture, 3);
    let trials = fixture.load().trials;
    assert_eq!(trials.len(), 2);
    let order: Vec<String> = events
        .iter()
        .filter_map(|e| match &e.kind {
            RunEventKind::WindowStarted { variant, .. } => Some(variant.clone()),
            _ => None,
        })
        .collect();
    assert_eq!(order[0], order[3], "the second block goes backwards");
    assert_eq!(order[1], order[2]);
    // Some windows may be left out where the machine is loud; forty times the work shows in any block of which both count.
    let of_block = |block| trials.iter().flat_map(|t| &t.trial.windows).filter(move |w| w.block == block);
    if !(1..=3).any(|block| of_block(block).all(Window::counts)) {
        skip!("the machine is too loud: of no block both windows count");
    }
    let cpu = summary.comparisons.iter().find(|c| c.metric == "cpu_ms_per_request");
    let cpu = cpu.unwrap_or_else(|| panic!("CPU time is not compared: {summary:#?}"));
    assert_eq!((cpu.variant.as_str(), cpu.baseline.as_str()), ("heavy", "light"));
    assert!(cpu.ratio.estimate > 2.0, "{cpu:?}");
    // And yet another start might be another factor.
    assert!(matches!(cpu.verdict, Verdict::OneServerEach | Verdict::TooFewBlocks), "{cpu:?}");
}

/// The look is not tied to the block that was planned as the last one.
#[test]
fn a_run_that_its_time_ends_has_looked_at_every_server_s_memory_in_full() {
    let design = RESIDENT.replace("blocks = 3", "blocks = 50, time_max = \"1ms\"");
    let fixture = Fixture::new(&design, TWO_LEVELS);
    fixture.run(false, |_, _| ()).0.unwrap();
    let stored = fixture.load();
    assert!(stored.trials.iter().all(|t| t.trial.windows.len() == 3), "an interval needs three blocks");
    for trial in &stored.trials {
        assert!(trial.memory_report.is_some(), "{:?}", trial.trial.problems);
    }
}

#[test]
fn a_server_that_never_gets_ready_ends_with_a_message_and_nothing_left() {
    let fixture = Fixture::new(&(FRESH.to_owned() + &fault("never-ready")), "");
    let text = std::fs::read_to_string(&fixture.study)
        .unwrap()
        .replace("ready_timeout_s = 300", "ready_timeout_s = 5");
    std::fs::write(&fixture.study, text).unwrap();
    let (result, _) = fixture.run(false, |_, _| ());
    let error = result.unwrap_err();
    assert!(error.is_environment());
    let message = error.to_string();
    assert!(
        message.contains("was not ready within 5 s") && message.contains("fake server on port"),
        "{message}"
    );
    assert_eq!(fixture.left_over(), Vec::<String>::new());
}

#[test]
fn a_server_that_dies_says_how_and_what_it_printed_last() {
    for (name, words) in [("dies-when-ready", "out of luck"), ("dies-after-requests", "worn out")] {
        let fixture = Fixture::new(&(RESIDENT.to_owned() + &fault(name)), "");
        let (result, _) = fixture.run(false, |_, _| ());
        let message = result.unwrap_err().to_string();
        assert!(message.contains("exit code") && message.contains(words), "{name}: {message}");
        assert!(matches!(fixture.load().trials[0].trial.outcome, TrialOutcome::Failed { .. }));
    }
}

#[test]
fn a_server_that_ignores_the_stop_signal_is_killed_and_its_trial_counts() {
    let fixture = Fixture::new(&(RESIDENT.to_owned() + &fault("ignores-sigterm")), "");
    let (result, _) = fixture.run(false, |_, _| ());
    assert!(result.is_ok(), "{result:?}");
    let trial = fixture.load().trials[0].trial.clone();
    assert!(trial.counts());
    assert!(
        trial.problems.iter().any(|p| p.text.contains("did not stop within 0.5 s")),
        "{:?}",
        trial.problems
    );
    assert_eq!(fixture.left_over(), Vec::<String>::new());
}

#[test]
fn wrong_answers_and_a_failed_audit_count_for_nothing() {
    let fixture = Fixture::new(&(RESIDENT.to_owned() + &fault("answers-wrongly")), "");
    fixture.run(false, |_, _| ()).0.unwrap();
    let stored = fixture.load();
    let windows = &stored.trials[0].trial.windows;
    assert!(
        windows.iter().all(|w| w.completed == 0 && w.disturbances.iter().any(|d| d.kind == Check::Errors))
    );
    assert_eq!(stored.summary.unwrap().variants[0].windows, 0);

    let fixture = Fixture::new(&(RESIDENT.to_owned() + &fault("fails-audit")), "");
    let (result, _) = fixture.run(false, |_, _| ());
    assert!(result.unwrap_err().to_string().contains("its audit failed: answered 500"));
    assert!(!fixture.load().trials[0].trial.counts());
}

/// Were each of the three windows measured again as often as it may be, there would be twelve.
#[test]
fn where_no_window_ever_counts_repeats_are_given_up() {
    let design = RESIDENT.replace("repeats_max = 0", "repeats_max = 3");
    let fixture = Fixture::new(&(design + &fault("answers-wrongly")), "");
    let (result, events) = fixture.run(false, |_, _| ());
    assert!(result.is_ok(), "{result:?}");
    let ended = events.iter().filter(|event| matches!(event.kind, RunEventKind::WindowEnded { .. })).count();
    // Three blocks: four windows in the first, two in the second, at which all six are known to count for nothing; one in the third.
    assert_eq!(ended, 7);
}

#[test]
fn an_interrupted_run_leaves_no_process_and_goes_on_where_it_was() {
    for design in [FRESH, RESIDENT] {
        let fixture = Fixture::new(design, TWO_LEVELS);
        let in_block_2 = |kind: &RunEventKind, stop: &AtomicBool| {
            if matches!(kind, RunEventKind::WindowStarted { block: 2, .. }) {
                stop.store(true, Ordering::Relaxed);
            }
        };
        let (result, _) = fixture.run(false, in_block_2);
        assert!(matches!(result, Err(StudyError::Interrupted { .. })), "{result:?}");
        assert_eq!(fixture.left_over(), Vec::<String>::new());
        let before = fixture.load().trials.iter().filter(|t| t.trial.counts()).count();
        assert_eq!(before, 2, "block 1 of both variants is whole");

        let (result, events) = fixture.run(true, |_, _| ());
        assert!(result.is_ok(), "{result:?}");
        assert!(events.iter().any(|e| matches!(e.kind, RunEventKind::RunResumed { trials_done: 2 })));
        let again =
            |e: &assay_model::RunEvent| matches!(e.kind, RunEventKind::WindowStarted { block: 1, .. });
        assert!(!events.iter().any(again), "block 1 is not measured again");
    }
}

#[test]
fn a_changed_study_is_not_resumed_and_a_used_folder_not_overwritten() {
    let fixture = Fixture::new(RESIDENT, "");
    fixture.run(false, |_, _| ()).0.unwrap();
    let message = fixture.run(false, |_, _| ()).0.unwrap_err().to_string();
    assert!(message.contains("already holds a run"), "{message}");
    let text = std::fs::read_to_string(&fixture.study).unwrap();
    std::fs::write(&fixture.study, text.replace("blocks = 3", "blocks = 4")).unwrap();
    let message = fixture.run(true, |_, _| ()).0.unwrap_err().to_string();
    assert!(message.contains("cannot go on with"), "{message}");
}

#[test]
fn two_runs_at_once_share_neither_ports_nor_a_folder() {
    let (one, two) = (Fixture::new(RESIDENT, TWO_LEVELS), Fixture::new(RESIDENT, TWO_LEVELS));
    std::thread::scope(|scope| {
        let first = scope.spawn(|| {
            let (result, _) = one.run(false, |kind, _| {
                // While the first run is in its folder, a second one is turned away.
                if matches!(kind, RunEventKind::WindowStarted { block: 1, .. }) {
                    let mut options = one.options();
                    options.resume = true;
                    let refused = one
                        .prepare()
                        .and_then(|prepared| run(&prepared, &options, &AtomicBool::new(false), &mut |_| ()))
                        .unwrap_err()
                        .to_string();
                    assert!(refused.contains("in use by another run"), "{refused}");
                }
            });
            result
        });
        let second = scope.spawn(|| two.run(false, |_, _| ()).0);
        assert!(first.join().unwrap().is_ok());
        assert!(second.join().unwrap().is_ok());
    });
    check_two_levels(&one, 3);
    check_two_levels(&two, 3);
}

/// Waits for something that must come; a machine may be slow, so the limit is generous and not what is tested.
fn wait_for(what: &str, mut is_there: impl FnMut() -> bool) {
    let begun = Instant::now();
    while !is_there() {
        assert!(begun.elapsed() < Duration::from_secs(180), "waited too long for {what}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

#[test]
fn what_a_killed_run_leaves_is_stopped_by_the_next_start() {
    let long = RESIDENT.replace("600ms", "60s");
    let fixture = Fixture::new(&(long + &fault("leaves-a-child")), "");
    let runtime = tempfile::tempdir().unwrap();
    let start = |study: &std::path::Path, out: &std::path::Path| {
        let mut command = Command::new(example("run_study"));
        command.arg(study).arg(out).env("XDG_RUNTIME_DIR", runtime.path());
        command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap()
    };
    let mut killed = start(&fixture.study, &fixture.out());
    let events = fixture.out().join("events.ndjson");
    let measuring = || std::fs::read_to_string(&events).is_ok_and(|text| text.contains("window-started"));
    wait_for("the first window", measuring);
    let child = std::fs::read_to_string(fixture.out().join("trials/01-default/server.log")).unwrap();
    let child = child.lines().find_map(|l| l.strip_prefix("child ")).unwrap().to_owned();
    killed.kill().unwrap();
    killed.wait().unwrap();
    let is_sleeping = || processes().any(|(pid, text)| pid == child && text.contains("sleep"));
    let server = example("fake_server").to_string_lossy().into_owned();
    let folder = fixture.folder.path().canonicalize().unwrap().to_string_lossy().into_owned();
    let has_server = || processes().any(|(_, text)| text.contains(&server) && text.contains(&folder));
    wait_for("the kernel to end the server with its starter", || !has_server());
    assert!(is_sleeping(), "the server's child is what the kernel does not end");

    let next = Fixture::new(RESIDENT, "");
    let mut next_run = start(&next.study, &next.out());
    assert!(next_run.wait().unwrap().success());
    wait_for("the child's end", || !is_sleeping());
    let told = next.load().host.problems;
    assert!(told.iter().any(|p| p.text.contains("that a run which was killed had left")), "{told:?}");
    let leases = std::fs::read_dir(runtime.path().join("assay")).unwrap().flatten();
    let leases = leases.filter(|e| e.file_name().to_string_lossy().starts_with("lease-"));
    assert_eq!(leases.count(), 0);
}

/// A small file system of its own.
struct SmallDisk(tempfile::TempDir);

impl SmallDisk {
    fn mount(size: &str) -> Option<SmallDisk> {
        let folder = tempfile::tempdir().ok()?;
        let option = format!("size={size}");
        let mounted =
            Command::new("mount").args(["-t", "tmpfs", "-o", &option, "tmpfs"]).arg(folder.path()).output();
        mounted.is_ok_and(|o| o.status.success()).then(|| SmallDisk(folder))
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg("-l").arg(self.0.path()).output();
    }
}

#[test]
fn a_full_disk_is_told_before_the_first_trial() {
    let Some(disk) = SmallDisk::mount("8m") else {
        assay_testkit::skip!("only root may mount a small file system")
    };
    let fixture = Fixture::new(RESIDENT, "");
    let mut options = fixture.options();
    options.out = Some(disk.0.path().join("out"));
    let error = run(&fixture.prepare().unwrap(), &options, &AtomicBool::new(false), &mut |_| ()).unwrap_err();
    assert!(error.is_environment());
    assert!(error.to_string().contains("of free disk space"), "{error}");
}

#[test]
fn a_disk_that_fills_up_ends_the_run_with_a_message_and_nothing_left() {
    let Some(disk) = SmallDisk::mount("400m") else {
        assay_testkit::skip!("only root may mount a small file system")
    };
    let fixture = Fixture::new(RESIDENT, "");
    let mut options = fixture.options();
    options.out = Some(disk.0.path().join("out"));
    let error = run(&fixture.prepare().unwrap(), &options, &AtomicBool::new(false), &mut |event| {
        if matches!(event.kind, RunEventKind::WindowStarted { block: 2, .. }) {
            let mut file = std::fs::File::create(disk.0.path().join("filler")).unwrap();
            let _ = std::io::copy(&mut std::io::repeat(1), &mut file);
        }
    })
    .unwrap_err();
    assert!(error.is_environment(), "{error}");
    assert!(error.to_string().contains("the disk is full"), "{error}");
    assert_eq!(fixture.left_over(), Vec::<String>::new());
}

#[test]
fn missing_programs_and_jvms_are_told_before_anything_starts() {
    let fixture = Fixture::new("jvm = \"12\"", "");
    let text = std::fs::read_to_string(&fixture.study).unwrap();
    let text = text.replace("command = \"", "command = \"no-such-program {jvm_options} ");
    std::fs::write(&fixture.study, text).unwrap();
    let (result, events) = fixture.run(false, |_, _| ());
    let error = result.unwrap_err();
    assert!(error.is_environment() && events.is_empty());
    let message = error.to_string();
    assert!(
        message.contains("there is no JDK 12 here") && message.contains("no program `no-such-program`"),
        "{message}"
    );
    assert!(!fixture.out().exists());
}
