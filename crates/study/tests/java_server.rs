//! A study of a real JVM with a server that allocates a known amount: the garbage that is found must be that.

use assay_model::{Check, GcRecordKind, ReferenceMode, StoredRun, StoredTrial, TrialOutcome, metric};
use assay_results::load_run;
use assay_study::{RunOptions, Study, run};
use assay_testkit::{each_release, find_java, java_command, skip};
use std::path::Path;
use std::sync::atomic::AtomicBool;

/// What the server allocates for each request, beside what the JDK's HTTP server itself needs.
const ALLOCATED_KIB: f64 = 1000.0;
/// Measured: 13 to 28 KiB with JDK 25, in windows of 100 requests and more.
const HTTP_SERVER_KIB_MAX: f64 = 35.0;
const USERS: f64 = 2.0;

/// One process for all blocks of a mode.
const EACH_MODE: &str = r#"
design = { kind = "resident", blocks = 3, window = "1s", warm_up = { cap = "1s" }, repeats_max = 0 }
factor = [{ name = "mode", level = [
  { name = "compressed", reference_mode = "compressed-unscaled" },
  { name = "zero-based", reference_mode = "compressed-zero-based" },
  { name = "64-bit", reference_mode = "64-bit" },
] }]
"#;
/// A process for each block, whatever its mode: before JDK 15 none is computed.
const AS_IT_STARTS: &str = r#"
observe = ["gc", "host", "start"]
design = { kind = "fresh", blocks = 3, window = "1s", warm_up = { min = "1s", cap = "1s" }, repeats_max = 0 }
factor = [{ name = "mode", level = [{ name = "any" }] }]
"#;

/// The program's classes, as they stand in the command.
fn classes(java: &Path) -> String {
    let command = java_command(java, &[], "Allocates");
    let classes = command.get_args().skip_while(|word| *word != "-cp").nth(1).expect("a class path");
    classes.to_str().expect("a path in UTF-8").to_owned()
}

fn study(java: &Path, design: &str) -> String {
    let (home, classes) = (java.ancestors().nth(2).expect("a home").display(), classes(java));
    format!(
        r#"
schema = "assay.study/1"
name = "allocates"
jvm = "{home}"
heap = "48m"
jvm_options = ["-XX:+UseSerialGC"]
load = {{ kind = "closed", users = 2, think = "4ms" }}
limits = {{ foreign_cpu_share = 1.0, steal_share = 1.0, throttled_share = 1.0 }}
{design}
[server]
command = "java {{jvm_options}} -cp {classes} Allocates {{port}}"
ready_url = "http://127.0.0.1:{{port}}/"
"#
    )
}

fn stored(java: &Path, design: &str) -> StoredRun {
    let folder = tempfile::tempdir().expect("a folder");
    run_in(folder.path(), &study(java, design))
}

fn run_in(folder: &Path, study: &str) -> StoredRun {
    let path = folder.join("study.toml");
    std::fs::write(&path, study).expect("a study");
    let out = folder.join("out");
    let options = RunOptions { out: Some(out.clone()), ..RunOptions::default() };
    let prepared = Study::read(&path).expect("a study").prepare(false).expect("a plan");
    run(&prepared, &options, &AtomicBool::new(false), &mut |_| ()).expect("a result");
    load_run(&out).expect("a run directory")
}

/// The trial went well, its log was read, and each window that has garbage has what its requests allocate; how many have.
fn is_right(trial: &StoredTrial, what: &str) -> usize {
    assert_eq!(trial.trial.outcome, TrialOutcome::Completed, "{what}");
    assert_eq!(trial.trial.collector.as_deref(), Some("Serial"), "{what}");
    assert_eq!(trial.trial.excluded_observers, [], "{what}");
    assert!(!trial.gc_events.is_empty(), "{what}");
    let gc_report = trial.gc_report.as_ref().expect("what the whole GC log says");
    let pauses = trial.gc_events.iter().filter(|record| record.kind == GcRecordKind::Pause);
    assert_eq!(gc_report.pauses.count, pauses.count() as u64, "{what}");
    assert_eq!(gc_report.not_understood.lines, 0, "{what}: {:?}", gc_report.not_understood);
    // A slow machine may have a window with fewer than two collections: then the value is absent, with a problem.
    for window in &trial.trial.windows {
        let Some(kib) = window.metrics.get(metric::GARBAGE_KIB_PER_REQUEST) else {
            assert!(window.problems.iter().any(|p| p.about == metric::GARBAGE_KIB_PER_REQUEST), "{what}");
            continue;
        };
        // A request that is under way at a collection has allocated part of its bytes: one for each user, at both
        // ends, of the requests between collections, which are at least a third of the window's.
        let under_way = 3.0 * 2.0 * USERS / window.requests as f64;
        let wanted =
            ALLOCATED_KIB * (1.0 - under_way)..(ALLOCATED_KIB + HTTP_SERVER_KIB_MAX) * (1.0 + under_way);
        assert!(wanted.contains(kib), "{what}: {kib} KiB a request, wanted {wanted:?}");
        assert!(window.metrics.contains_key(metric::GC_PAUSE_MS_PER_S), "{what}");
    }
    let has_garbage = |w: &&assay_model::Window| w.metrics.contains_key(metric::GARBAGE_KIB_PER_REQUEST);
    trial.trial.windows.iter().filter(has_garbage).count()
}

fn check(feature: u32) {
    let Some(java) = find_java(feature, 64) else { skip!("no 64-bit JDK {feature}") };
    let stored = stored(&java, EACH_MODE);
    let modes =
        [ReferenceMode::CompressedUnscaled, ReferenceMode::CompressedZeroBased, ReferenceMode::Full64];
    for (variant, mode) in ["compressed", "zero-based", "64-bit"].into_iter().zip(modes) {
        let what = format!("{variant} on JDK {feature}");
        let trial = stored.trials.iter().find(|t| t.trial.variant == variant).expect("a trial");
        assert_eq!(trial.trial.mode.as_ref().map(|read| read.mode), Some(mode));
        let heap =
            |s: &assay_model::MemorySample| s.areas.iter().any(|a| a.area == assay_model::Area::JavaHeap);
        assert!(!trial.memory.is_empty() && trial.memory.iter().all(heap), "the heap is told apart");
        assert!(0 < is_right(trial, &what), "{what}: no window has a value");
    }
}

#[test]
fn the_garbage_of_a_request_is_what_the_server_allocates_on_jdk_17() {
    check(17);
}

#[test]
fn the_garbage_of_a_request_is_what_the_server_allocates_on_jdk_25() {
    check(25);
}

/// JDK 8 has another log, whose instants are those of the wall clock.
#[test]
fn the_garbage_of_a_request_is_what_the_server_allocates_before_unified_logging_and_since() {
    let javas: Vec<_> = each_release(64).into_iter().filter(|(feature, _)| *feature < 17).collect();
    if javas.is_empty() {
        skip!("no 64-bit JDK 8");
    }
    for (feature, java) in javas {
        let stored = stored(&java, AS_IT_STARTS);
        let what = format!("JDK {feature}");
        assert_eq!(stored.trials.len(), 3, "{what}");
        let found: usize = stored.trials.iter().map(|trial| is_right(trial, &what)).sum();
        assert!(0 < found, "{what}: no window has a value");
        for trial in &stored.trials {
            let ms = trial.trial.start_to_ready_ms.expect("it started");
            let of_window = |w: &assay_model::Window| w.metrics.get(metric::START_TO_READY_MS) == Some(&ms);
            assert!(0.0 < ms && trial.trial.windows.iter().all(of_window), "{what}");
        }
    }
}

/// The load goes to a JVM in front of the server, which so collects nothing, and is killed where that is wanted.
const OF_ROLES: &str = r#"
observe = ["gc", "processes", "host"]
design = { blocks = 1, window = "3s", warm_up = { min = "1s", cap = "1s" }, repeats_max = 0 }
"#;

fn with_front(java: &Path, fault: &str) -> String {
    let classes = classes(java);
    format!(
        r#"{}
[[process]]
name = "front"
after_server = true
takes_load = true
command = "{{java}} {{jvm_options}} -cp {classes} Allocates {{port}}"
ready_url = "http://127.0.0.1:{{port}}/"
{fault}"#,
        study(java, OF_ROLES)
    )
}

#[test]
fn each_jvm_beside_the_server_has_a_log_and_figures_of_its_own() {
    let javas: Vec<_> =
        each_release(64).into_iter().filter(|(feature, _)| [8, 17].contains(feature)).collect();
    if javas.is_empty() {
        skip!("no 64-bit JDK 8 or 17");
    }
    for (feature, java) in javas {
        let what = format!("JDK {feature}");
        let folder = tempfile::tempdir().expect("a folder");
        let run = run_in(folder.path(), &with_front(&java, ""));
        let trial = &run.trials[0];
        assert_eq!(trial.trial.outcome, TrialOutcome::Completed, "{what}");
        assert_eq!(trial.trial.excluded_observers, [], "{what}");
        let window = &trial.trial.windows[0];
        let value = |id: &str| window.metrics.get(id).copied();
        let garbage = value("process_garbage_kib_per_request/front").expect("it collects");
        assert!((0.7 * ALLOCATED_KIB..1.4 * ALLOCATED_KIB).contains(&garbage), "{what}: {garbage}");
        let pauses = ["process_gc_pause_ms_per_s/front", "process_gc_pause_ms_per_s/server"].map(value);
        let sum: f64 = pauses.iter().flatten().sum();
        assert!(0.0 < pauses[0].expect("its pauses") && pauses[1] == Some(0.0), "{what}: {pauses:?}");
        assert!((value(metric::ALL_GC_PAUSE_MS_PER_S).expect("of all") - sum).abs() < 1e-9, "{what}");
        let percent = value("process_gc_cpu_percent/front").expect("its log has CPU times");
        assert!((0.0..100.0).contains(&percent), "{what}: {percent}");
        // The server collected nothing, so what all leave is not known.
        let of_all = window.problems.iter().find(|p| p.about == metric::ALL_GARBAGE_KIB_PER_REQUEST);
        assert!(of_all.is_some_and(|p| p.text.contains("server: too few collections")), "{what}: {of_all:?}");
        let [beside] = trial.gc_beside.as_slice() else { panic!("{what}: {:?}", trial.gc_beside) };
        assert!(beside.role == "front" && 0 < beside.report.pauses.count, "{what}");
        assert_eq!(beside.report.not_understood.lines, 0, "{what}: {:?}", beside.report.not_understood);
    }
}

#[test]
fn of_a_jvm_that_a_fault_ends_both_logs_are_read_and_no_garbage_is_counted_over_its_end() {
    let Some(java) = find_java(17, 64) else { skip!("no 64-bit JDK 17") };
    let folder = tempfile::tempdir().expect("a folder");
    let fault = "[[fault]]\nrole = \"front\"\nat = \"1s\"\nsignal = \"KILL\"\nrestart = true\n";
    let run = run_in(folder.path(), &with_front(&java, fault));
    let trial = &run.trials[0];
    let window = &trial.trial.windows[0];
    // A generator on a busy machine may be late, faults or none.
    let is_left_out = window.disturbances.iter().any(|why| why.kind != Check::GeneratorLag);
    assert!(!is_left_out && window.faults[0].failed.is_none(), "{:?}", window.disturbances);
    assert!(window.faults[0].ready_after_s.is_some_and(|s| 0.0 < s), "{:?}", window.faults);
    for log in ["gc-front.1.log", "gc-front.log"] {
        assert!(has(folder.path(), log), "{log}");
    }
    let report = &trial.gc_beside[0].report;
    assert_eq!((report.sources.len(), report.jvms.len()), (2, 2));
    let id = "process_garbage_kib_per_request/front";
    let why = window.problems.iter().find(|problem| problem.about == id).expect("why it is absent");
    assert!(
        !window.metrics.contains_key(id) && why.text.contains("was started again in the window"),
        "{why:?}"
    );
    assert!(window.metrics.contains_key("process_gc_pause_ms_per_s/front"));
}

/// Whether the only trial's folder has a file.
fn has(folder: &Path, file: &str) -> bool {
    let trials = std::fs::read_dir(folder.join("out/trials")).expect("trials").flatten();
    trials.into_iter().any(|trial| trial.path().join(file).is_file())
}
