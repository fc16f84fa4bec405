//! Studies in emulated machines, as they are typed: each machine that can be had runs a small server, and what its kernel, its pages and its
//! memory nodes are is seen in the results. What is emulated may take minutes beside neighbours, so most of it is `long`.

mod stopped;

use assay_jdk::containers::ContainerRules;
use assay_model::{Metric, StoredRun};
use assay_testkit::{checkout, find_java, find_tool, java_classes, skip};
use rustix::process::{Pid, Signal, kill_process};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

const ASSAY: &str = env!("CARGO_BIN_EXE_assay");
/// Long enough for an emulator on a machine that is full.
const PATIENCE: Duration = Duration::from_secs(300);

/// What this machine lacks for guests of an architecture.
fn lacks(architecture: &str) -> Option<String> {
    let folder = checkout().join(format!(".assay/guest-{architecture}"));
    if find_java(17, 64).is_none() || find_tool("javac").is_none() {
        return Some("no JDK 17 with a compiler".to_owned());
    }
    if let Ok(why) = fs::read_to_string(folder.join("unavailable")) {
        return Some(why.trim().to_owned());
    }
    if !folder.join("complete").is_file() {
        return Some(format!("scripts/fetch-emulator {architecture} was not run"));
    }
    let is_built = architecture == "x86-64" || folder.join("assay").is_file();
    (!is_built).then(|| format!("scripts/guest-program {architecture} was not run"))
}

/// A study of a small server in guests, with further keys before its tables and after them.
fn study(folder: &Path, keys: &str, guest: &str, tables: &str) -> PathBuf {
    let classes = java_classes("java/PlainServer.java");
    fs::create_dir_all(folder.join("lib")).expect("a folder");
    for class in fs::read_dir(classes).expect("classes").flatten() {
        fs::copy(class.path(), folder.join("lib").join(class.file_name())).expect("copied");
    }
    let text = format!(
        r#"
schema = "assay.study/1"
name = "guest"
primary_metric = "rss_bytes"
observe = ["areas", "gc"]
heap = "32m"
jvm = "17"
jvm_options = ["-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1"]
load = {{ kind = "closed", users = 1, think = "500ms" }}
{keys}
[design]
blocks = 1
repeats_max = 0
window = "3s"
warm_up = {{ min = "0s", cap = "0s" }}
[server]
command = "java {{jvm_options}} -cp lib PlainServer {{port}}"
ready_url = "http://127.0.0.1:{{port}}/"
ready_timeout_s = 600
environment = {{ WAITING = "155" }}
[guest]
{guest}
{tables}
"#
    );
    let file = folder.join("guest.toml");
    fs::write(&file, text).expect("a file that can be written");
    file
}

fn command(file: &Path, out: &Path) -> Command {
    let mut command = Command::new(ASSAY);
    command.arg("run").arg(file).arg("--out").arg(out).current_dir(checkout());
    command.stdout(Stdio::null()).stderr(Stdio::piped());
    command
}

fn run(file: &Path, out: &Path) -> StoredRun {
    let output = command(file, out).output().expect("assay runs");
    let said = String::from_utf8_lossy(&output.stderr);
    println!("{said}");
    assert!(output.status.success(), "{said}");
    assay_results::load_run(out).expect("a run")
}

/// The bytes of a metric of the only variant.
fn value(run: &StoredRun, metric: &str) -> f64 {
    let variant = &run.summary.as_ref().expect("a summary").variants[0];
    variant.metrics.get(metric).unwrap_or_else(|| panic!("{metric} in {:?}", variant.metrics)).estimate
}

/// What every run in a guest must be.
fn check(run: &StoredRun, out: &Path, architecture: &str) {
    assert_eq!(run.host.provenance.architecture, architecture);
    assert!(run.plan.guest.is_some());
    let summary = run.summary.as_ref().expect("a summary");
    let all = summary.variants.iter().flat_map(|variant| variant.metrics.keys());
    let of_time: Vec<&String> =
        all.filter(|id| Metric::by_id(id).is_none_or(|metric| !run.plan.measures(&metric))).collect();
    assert!(of_time.is_empty(), "times of a guest are stored: {of_time:?}");
    let sample = run.trials[0].memory.last().expect("a snapshot");
    let of_areas: u64 = sample.areas.iter().map(|area| area.resident_bytes).sum();
    assert_eq!(of_areas, sample.rss_bytes, "{:?}", sample.areas);
    println!("{architecture}: {:?}", sample.areas);
    let console = out.join("guests/01/server.log");
    assert!(console.is_file() && !out.join("guests/01/run").exists(), "its console stays, its copy does not");
    assert!(!out.join("guests/01/emulated-image.cpio").exists(), "the guest's files are not kept");
}

fn small_guest(machine: &str, architecture: &str, stored_architecture: &str) {
    if let Some(why) = lacks(architecture) {
        skip!("{why}");
    }
    let folder = tempfile::tempdir().expect("a folder");
    let out = folder.path().join("run");
    let file = study(folder.path(), "", &format!("machine = \"{machine}\""), "");
    let run = run(&file, &out);
    check(&run, &out, stored_architecture);
    println!("{machine}: {} bytes resident", value(&run, "rss_bytes"));
}

#[test]
#[ignore = "long: a machine is emulated for a minute"]
fn a_server_runs_in_a_guest_of_x86_64() {
    small_guest("x86-64", "x86-64", "x86_64");
}

#[test]
#[ignore = "long: a machine is emulated for a minute"]
fn a_server_runs_in_a_guest_of_power9() {
    small_guest("power9", "powerpc64le", "powerpc64");
}

#[test]
#[ignore = "long: a machine is emulated for a minute"]
fn a_server_runs_in_a_guest_of_neoverse_n1() {
    small_guest("neoverse-n1", "aarch64", "aarch64");
}

/// One level with settings of the machine: each is made, read back and taken back.
fn settings(architecture: &str, guest: &str, level: &str, expected: &[&str]) {
    if let Some(why) = lacks(architecture) {
        skip!("{why}");
    }
    let folder = tempfile::tempdir().expect("a folder");
    let out = folder.path().join("run");
    let levels = format!("[[factor]]\nname = \"machine\"\nlevel = [{{ name = \"bound\", {level} }}]");
    let run = run(&study(folder.path(), "", guest, &levels), &out);
    let treatments = &run.trials[0].trial.treatments;
    let said = format!("{treatments:#?}");
    println!("{said}");
    expected.iter().for_each(|setting| assert!(said.contains(setting), "{setting}: {said}"));
    assert!(treatments.iter().all(|treatment| treatment.undone), "{said}");
}

/// Control groups of version 2, a node of two, and a processor that goes offline: none of them can be had on every machine.
#[test]
#[ignore = "long: a machine is emulated for a minute"]
fn settings_of_a_guest_are_made_read_back_and_taken_back() {
    let guest = "machine = \"x86-64\"\nprocessors = 4\nnodes = 2";
    let level = "host = { numa = \"1\", online = \"0,2-3\" }, limits = { memory_high = \"400m\" }";
    settings("x86-64", guest, level, &["cpuset.mems=1", "memory.high=419430400", "cpu1/online"]);
}

/// The prefetcher's register (DSCR), which only POWER has.
#[test]
#[ignore = "long: a machine is emulated for two minutes"]
fn settings_of_a_power9_guest_are_made_read_back_and_taken_back() {
    let guest = "machine = \"power9\"\nprocessors = 2\nnodes = 2";
    let level = "host = { prefetcher = false, numa = \"1\", online = \"0\" }";
    settings("powerpc64le", guest, level, &["dscr_default", "cpuset.mems=1", "cpu1/online"]);
}

/// Linux 6.1 lists the memory controller in `/proc/cgroups`, 7.2 does not (JDK-8349988). The table of releases is checked against what each
/// does, and where a JVM does not see its limit, the cause is named.
#[test]
#[ignore = "long: two machines are emulated for each JDK, some minutes each"]
fn each_release_sees_its_container_on_the_older_kernel_and_the_cause_is_named_on_the_newer_one() {
    if let Some(why) = lacks("x86-64") {
        skip!("{why}");
    }
    let small =
        "[[factor]]\nname = \"container\"\nlevel = [{ name = \"small\", limits = { memory = \"512m\" } }]";
    // Those that run with the C library of this machine, which the guest has.
    for (feature, java) in [17, 25].into_iter().filter_map(|feature| Some((feature, find_java(feature, 64)?)))
    {
        for (kernel, is_listed) in [("6.1", true), ("7", false)] {
            let folder = tempfile::tempdir().expect("a folder");
            let guest = format!("machine = \"x86-64\"\nkernel = \"{kernel}\"\nmemory = \"3g\"");
            let file = study(folder.path(), "", &guest, small);
            let home = java.parent().and_then(Path::parent).expect("bin/java");
            let text = fs::read_to_string(&file).expect("read").replace("heap = \"32m\"\n", "");
            fs::write(&file, text.replace("\"17\"", &format!("{home:?}"))).expect("written");
            let run = run(&file, &folder.path().join("run"));
            let report = run.trials[0].memory_report.as_ref().expect("a snapshot");
            let jvm = report.jvm.as_ref().expect("a JVM");
            let of = jvm.container.as_ref().expect("its container");
            let version = jvm.version.as_deref().unwrap_or("");
            println!("{version} on {kernel}: {of:?}");
            assert_eq!((of.limits.memory_bytes, of.limits.lists_memory), (Some(512 << 20), Some(is_listed)));
            let sees = jvm.heap_bytes_max.is_some_and(|heap| heap <= 512 << 20);
            let found = report.findings.iter().find(|found| found.rule == "container-unseen");
            assert_eq!(found.is_none(), sees, "{version} on {kernel}: {found:?}");
            let (_, update) = assay_jdk::release_and_update(version).expect("a version");
            let expected =
                is_listed.then_some(true).or_else(|| ContainerRules::needs_no_list(feature, update));
            assert!(
                expected.is_none_or(|expected| expected == sees),
                "{version} on {kernel}: containers.toml is wrong"
            );
            let is_named = found.is_none_or(|found| format!("{found:?}").contains("JDK-8349988"));
            assert!(is_named || expected.is_none(), "{version} on {kernel}: {found:?}");
        }
    }
}

#[test]
fn a_study_of_times_is_refused_with_what_can_be_asked() {
    let folder = tempfile::tempdir().expect("a folder");
    if let Some(why) = lacks("x86-64").filter(|why| why.contains("compiler")) {
        skip!("{why}");
    }
    let file = study(folder.path(), "", "machine = \"power9\"", "");
    let text = fs::read_to_string(&file).expect("read").replace("rss_bytes", "response_p99_ms");
    fs::write(&file, text).expect("written");
    let output = command(&file, &folder.path().join("run")).output().expect("assay runs");
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{said}");
    assert!(said.contains("response_p99_ms depends on time") && said.contains("rss_bytes"), "{said}");
    assert!(!folder.path().join("run").exists(), "nothing is left");
}

/// Each guest has a seed of its hardware's random numbers. Processors of a guest are threads of this machine, so timers differ.
#[test]
#[ignore = "long: a machine is emulated for a minute, twice"]
fn two_boots_with_one_seed_have_the_same_bytes_within_half_a_percent() {
    if let Some(why) = lacks("x86-64") {
        skip!("{why}");
    }
    let folder = tempfile::tempdir().expect("a folder");
    let file = study(folder.path(), "seed = 7", "machine = \"x86-64\"", "");
    let runs = ["one", "two"].map(|name| run(&file, &folder.path().join(name)));
    for metric in ["rss_bytes", "native_bytes", "stacks_bytes", "class_metadata_bytes"] {
        let [one, two] = runs.each_ref().map(|run| value(run, metric));
        println!("{metric}: {one} and {two}, {:.3} %", 100.0 * (two / one - 1.0));
        assert!((two / one - 1.0).abs() <= 0.005, "{metric}: {one} and {two}");
    }
}

#[test]
#[ignore = "long: a machine is emulated until it is interrupted"]
fn an_interrupted_guest_leaves_no_emulator_and_no_image() {
    if let Some(why) = lacks("x86-64") {
        skip!("{why}");
    }
    let folder = tempfile::tempdir().expect("a folder");
    let out = folder.path().join("run");
    let file = study(folder.path(), "", "machine = \"x86-64\"", "");
    let mut child = command(&file, &out).spawn().expect("assay starts");
    let emulators = || emulators_in(&out);
    let begun = Instant::now();
    while emulators().is_empty() {
        assert!(begun.elapsed() < PATIENCE, "no emulator was started");
        std::thread::sleep(Duration::from_millis(100));
    }
    kill_process(Pid::from_child(&child), Signal::INT).expect("it runs");
    let status = child.wait().expect("it ends");
    assert!(!status.success());
    assert!(emulators().is_empty(), "an emulator is left");
    assert!(!out.join("guests/01/emulated-image.cpio").exists());
}

/// Processes that run in a folder below `out`.
fn emulators_in(out: &Path) -> Vec<PathBuf> {
    let out = out.canonicalize().unwrap_or_else(|_| out.to_owned());
    let all = fs::read_dir("/proc").expect("processes").flatten().map(|entry| entry.path());
    all.filter(|process| fs::read_link(process.join("cwd")).is_ok_and(|cwd| cwd.starts_with(&out))).collect()
}

#[test]
#[ignore = "long: a machine is emulated until its memory runs out"]
fn a_guest_without_enough_memory_says_so() {
    if let Some(why) = lacks("x86-64") {
        skip!("{why}");
    }
    let folder = tempfile::tempdir().expect("a folder");
    let guest = "machine = \"x86-64\"\nmemory = \"256m\"";
    let file = study(folder.path(), "", guest, "");
    let text = fs::read_to_string(&file).expect("read");
    let text = text.replace("heap = \"32m\"", "heap = \"1500m\"");
    let text = text.replace("\"-XX:+UseSerialGC\"", "\"-XX:+UseSerialGC\", \"-XX:+AlwaysPreTouch\"");
    fs::write(&file, text).expect("written");
    let output = command(&file, &folder.path().join("run")).output().expect("assay runs");
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(3), "{said}");
    assert!(said.contains("ran out of memory") && said.contains("[guest] memory"), "{said}");
}
