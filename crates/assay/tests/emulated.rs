//! A study of an emulated guest, as it is typed: what is counted of a chat and of a server that knows nothing of guests, who ends the emulator,
//! and that two equal variants count alike.

use assay_emulate::{EmulatedCounts, Emulator, GuestReport};
use assay_model::{EmulatedProcessor, Summary, Trial, metric};
use assay_testkit::{checkout, find_java, find_tool, java_classes, skip};
use rustix::process::{Pid, Signal, kill_process};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

const ASSAY: &str = env!("CARGO_BIN_EXE_assay");
/// What `./assay setup` builds.
const JAR: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../.assay/chat/chat.jar");
/// Long enough for an emulator on a machine that is full.
const PATIENCE: Duration = Duration::from_secs(300);

/// What this machine lacks for a guest with the chat server.
fn lacks() -> Option<String> {
    if !Path::new(JAR).exists() {
        return Some("the chat server is not built: ./assay setup".to_owned());
    }
    lacks_guest()
}

/// What it lacks for a guest with a JVM.
fn lacks_guest() -> Option<String> {
    if find_java(17, 64).is_none() {
        return Some("no 64-bit JDK 17".to_owned());
    }
    Emulator::find(&checkout().join(".assay"), EmulatedProcessor::PentiumIii).err()
}

/// How long a guest is warmed up and counted, on its own clock.
struct Counted {
    warm_up: &'static str,
    window: &'static str,
}

/// Enough to see that everything is counted.
const BRIEFLY: Counted = Counted { warm_up: "200ms", window: "20ms" };
/// By then most code is compiled, and the window has hundreds of messages.
const WARM: Counted = Counted { warm_up: "4s", window: "400ms" };

/// A study of a chat of one room, beside the others so that its workload is found.
fn study(folder: &Path, blocks: u32, levels: &str, Counted { warm_up, window }: &Counted) -> PathBuf {
    let text = format!(
        r#"
schema = "assay.study/1"
name = "guest"
workload = "chat"
jvm = "17"
heap = "32m"
reference_mode = "compressed"
jvm_options = ["-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1"]
workload_options = {{ engine = "selector" }}
emulated = {{ warm_up = "{warm_up}", window = "{window}" }}
load = {{ kind = "closed", users = 20 }}
design = {{ blocks = {blocks}, repeats_max = 0 }}
[[factor]]
name = "setting"
level = [{levels}]
"#
    );
    let file = folder.join("guest.toml");
    fs::write(&file, text).expect("a file that can be written");
    file
}

fn assay_run(file: &Path, out: &Path) -> Child {
    let mut command = Command::new(ASSAY);
    command.arg("run").arg(file).arg("--out").arg(out).current_dir(checkout());
    command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().expect("assay starts")
}

fn finish(child: Child) {
    let output = child.wait_with_output().expect("it ends");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

#[test]
fn what_a_chat_server_executes_is_counted_for_each_message() {
    if let Some(why) = lacks() {
        skip!("{why}");
    }
    let folder = tempfile::tempdir().expect("a folder");
    let out = folder.path().join("run");
    finish(assay_run(&study(folder.path(), 1, r#"{ name = "one" }"#, &BRIEFLY), &out));
    let trial =
        fs::read_dir(out.join("trials")).expect("trials").next().expect("one").expect("a folder").path();
    let read: Trial =
        serde_json::from_slice(&fs::read(trial.join("trial.json")).expect("whole")).expect("a trial");
    let counts = EmulatedCounts::read(&trial.join(assay_emulate::COUNTS_FILE)).expect("counts");
    let report = GuestReport::read(&trial.join(assay_emulate::REPORT_FILE)).expect("a report");
    assert!(!trial.join(assay_emulate::IMAGE_FILE).exists(), "the guest's files are not kept");

    assert_eq!((report.failed, report.errors), (None, 0));
    assert!(20 <= report.completed && report.completed == report.requests);
    assert!(read.audit.expect("asked").passed);
    assert!(read.mode.is_some(), "its own log proves the mode");
    assert_eq!(counts.client.tasks, 1);
    let (user, kernel) = (counts.server.user, counts.server.kernel);
    let part_of = |part: u64, whole: u64| 0 < part && part < whole;
    for figures in [user, kernel] {
        assert!(
            part_of(figures.branches, figures.instructions)
                && part_of(figures.branches_taken, figures.branches + 1)
        );
        assert!(
            part_of(figures.branches_mispredicted, figures.branches)
                && figures.btb_misses <= figures.branches
        );
        assert!(
            part_of(figures.l1d_misses, figures.loads + figures.stores)
                && figures.l2_misses <= figures.l2_uses
        );
        assert_eq!(figures.l2_uses, figures.l1i_misses + figures.l1d_misses, "what both miss is asked for");
    }
    // Each message is read by the server and written to 19 others: at least a call for the reading, and one write for all that waits.
    assert!(2 * report.completed <= user.syscalls, "{} {}", user.syscalls, report.completed);
    let window = &read.windows[0];
    let per_request = window.metrics[metric::EMULATED_USER_INSTRUCTIONS_PER_REQUEST];
    assert!((per_request * report.completed as f64 / user.instructions as f64 - 1.0).abs() < 1e-9);
    assert!(!window.metrics.keys().any(|id| id.ends_with("_ms")), "no times");
}

/// Processes below this one that are emulators.
fn emulators(folder: &Path) -> Vec<u32> {
    let all =
        fs::read_dir("/proc").expect("proc").flatten().filter_map(|e| e.file_name().to_str()?.parse().ok());
    let is_here =
        |pid: &u32| fs::read_link(format!("/proc/{pid}/cwd")).is_ok_and(|cwd| cwd.starts_with(folder));
    let is_emulator = |pid: &u32| {
        fs::read(format!("/proc/{pid}/cmdline")).is_ok_and(|c| c.windows(6).any(|w| w == b"-icoun"))
    };
    all.filter(is_here).filter(is_emulator).collect()
}

fn until(what: &str, is: impl Fn() -> bool) {
    let begun = Instant::now();
    while !is() {
        assert!(begun.elapsed() < PATIENCE, "{what}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

#[test]
fn an_emulator_ends_with_its_study_on_ctrl_c_and_when_the_study_is_killed() {
    if let Some(why) = lacks() {
        skip!("{why}");
    }
    for signal in [Signal::INT, Signal::KILL] {
        let folder = tempfile::tempdir().expect("a folder");
        let own = folder.path().canonicalize().expect("there");
        let mut child = assay_run(&study(&own, 1, r#"{ name = "one" }"#, &BRIEFLY), &own.join("run"));
        until("the emulator starts", || {
            !emulators(&own).is_empty() || !Path::new(&format!("/proc/{}", child.id())).exists()
        });
        let pid = i32::try_from(child.id()).ok().and_then(Pid::from_raw).expect("a process");
        kill_process(pid, signal).expect("it runs");
        child.wait().expect("it ends");
        until("the emulator ends", || emulators(&own).is_empty());
    }
}

const INSTRUCTIONS: [&str; 2] =
    [metric::EMULATED_USER_INSTRUCTIONS_PER_REQUEST, metric::EMULATED_KERNEL_INSTRUCTIONS_PER_REQUEST];

#[test]
#[ignore = "long: a dozen guests"]
fn equal_variants_count_alike_in_each_pair_of_boots() {
    if let Some(why) = lacks() {
        skip!("{why}");
    }
    let folder = tempfile::tempdir().expect("a folder");
    let out = folder.path().join("run");
    // A guest takes some 100 seconds: twenty pairs need more than an hour.
    let pairs = std::env::var("ASSAY_TEST_PAIRS").map_or(6, |pairs| pairs.parse().expect("a number"));
    let file = study(folder.path(), pairs, r#"{ name = "a" }, { name = "b" }"#, &WARM);
    finish(assay_run(&file, &out));
    let mut values = std::collections::BTreeMap::new();
    for trial in fs::read_dir(out.join("trials")).expect("trials").flatten() {
        let trial: Trial = serde_json::from_slice(&fs::read(trial.path().join("trial.json")).expect("whole"))
            .expect("a trial");
        values.insert((trial.block, trial.variant.clone()), trial.windows[0].metrics.clone());
    }
    for id in INSTRUCTIONS {
        let ratio = |block: u32| values[&(block, "a".to_owned())][id] / values[&(block, "b".to_owned())][id];
        let ratios: Vec<f64> = (1..=pairs).map(ratio).collect();
        println!("{id}: {ratios:?}");
        assert!(ratios.iter().all(|ratio| (ratio - 1.0).abs() < 0.01), "{id}: {ratios:?}");
    }
    let summary: Summary =
        serde_json::from_slice(&fs::read(out.join("summary.json")).expect("whole")).expect("a summary");
    // Of each metric, one A/A study in twenty shows a difference by design; with 46 metrics, many studies show one somewhere.
    let shown = summary.comparisons.iter().filter(|c| c.shown);
    let shown: Vec<_> = shown.map(|c| (&c.metric, c.ratio)).collect();
    println!("shown in {} of {} comparisons: {shown:?}", shown.len(), summary.comparisons.len());
    for id in INSTRUCTIONS {
        let ratio = summary.comparisons.iter().find(|c| c.metric == id).expect("compared").ratio;
        let (low, high) = ratio.ends().expect("an interval");
        assert!(0.995 < low && high < 1.005, "{id}: {ratio:?}");
    }
}

/// What it lacks for a guest with a server that is compiled here.
fn lacks_compiled() -> Option<String> {
    if find_tool("javac").is_none() {
        return Some("no javac".to_owned());
    }
    lacks_guest()
}

/// A study of a server of the JDK's own classes, beside which its classes lie. Levels plant work.
fn plain_study(folder: &Path, (blocks, requests): (u32, u32), levels: &str) -> PathBuf {
    let classes = java_classes("java/PlainServer.java");
    fs::create_dir_all(folder.join("lib")).expect("a folder");
    for class in fs::read_dir(classes).expect("classes").flatten() {
        fs::copy(class.path(), folder.join("lib").join(class.file_name())).expect("copied");
    }
    // Without delay: else each answer waits 40 ms for an acknowledgement.
    let options = "-XX:+UseSerialGC -Xmx64m -Dsun.net.httpserver.nodelay=true\n-cp lib\n";
    fs::write(folder.join("opts"), options).expect("written");
    let text = format!(
        r#"
schema = "assay.study/1"
name = "plain"
jvm = "17"
emulated = {{ processor = "current", warm_up_requests = {warm_up}, window_requests = {requests} }}
load = {{ kind = "closed", users = 1 }}
design = {{ blocks = {blocks}, repeats_max = 0 }}
[server]
command = "java @opts PlainServer {{port}}"
ready_url = "http://127.0.0.1:{{port}}/"
[[factor]]
name = "work"
level = [{levels}]
"#,
        warm_up = 20 * requests,
    );
    let file = folder.join("plain.toml");
    fs::write(&file, text).expect("a file that can be written");
    file
}

/// Whole trials of a run, in their order.
fn trials_of(out: &Path) -> Vec<Trial> {
    let folders = fs::read_dir(out.join("trials")).expect("trials").flatten();
    let read = |folder: fs::DirEntry| {
        serde_json::from_slice(&fs::read(folder.path().join("trial.json")).expect("whole")).expect("a trial")
    };
    let mut trials: Vec<Trial> = folders.map(read).collect();
    trials.sort_by_key(|trial| trial.number);
    trials
}

#[test]
fn a_server_that_knows_nothing_of_guests_is_counted_by_requests_with_files_found_from_its_command() {
    if let Some(why) = lacks_compiled() {
        skip!("{why}");
    }
    let folder = tempfile::tempdir().expect("a folder");
    let out = folder.path().join("run");
    finish(assay_run(&plain_study(folder.path(), (1, 20), r#"{ name = "one" }"#), &out));
    let trials = trials_of(&out);
    let [trial] = trials.as_slice() else { panic!("one trial: {trials:?}") };
    assert_eq!((trial.windows[0].requests, trial.windows[0].completed), (20, 20));
    assert!(trial.problems.is_empty(), "{:?}", trial.problems);
    assert!(0.0 < trial.windows[0].metrics[metric::EMULATED_USER_INSTRUCTIONS_PER_REQUEST]);
}

#[test]
#[ignore = "long: eleven guests"]
fn equal_builds_count_alike_planted_work_is_seen_and_a_seed_repeats_itself() {
    if let Some(why) = lacks_compiled() {
        skip!("{why}");
    }
    let folder = tempfile::tempdir().expect("a folder");
    let levels = r#"{ name = "a", environment = { WORK = "10000" } }, { name = "a-again", environment = { WORK = "10000" } },
                    { name = "b", environment = { WORK = "11200" } }"#;
    let out = folder.path().join("run");
    finish(assay_run(&plain_study(folder.path(), (3, 500), levels), &out));
    let summary: Summary =
        serde_json::from_slice(&fs::read(out.join("summary.json")).expect("whole")).expect("a summary");
    let id = metric::EMULATED_USER_INSTRUCTIONS_PER_REQUEST;
    let of = |variant: &str| {
        let mut all = summary.comparisons.iter();
        all.find(|one| one.metric == id && one.variant == variant).expect("compared")
    };
    for comparison in [of("a-again"), of("b")] {
        println!("{}: {:?}", comparison.variant, comparison.ratio);
    }
    let (low, high) = of("a-again").ratio.ends().expect("an interval");
    assert!(0.99 < low && high < 1.01, "{low} to {high}");
    // 1,200 rounds of a few instructions each are the difference, whatever else a request takes.
    assert!(of("b").shown);
    let [first, second] = ["once", "twice"].map(|name| {
        let out = folder.path().join(name);
        finish(assay_run(&plain_study(folder.path(), (1, 500), r#"{ name = "one" }"#), &out));
        trials_of(&out)[0].windows[0].metrics[id]
    });
    println!("one seed, two boots: {first} and {second}");
    assert!((first / second - 1.0).abs() < 0.01, "{first} and {second}");
}

/// What this machine lacks for a guest of Neoverse-N1 with the probes.
fn lacks_neoverse_n1() -> Option<String> {
    let cache = checkout().join(".assay");
    if !cache.join("probes/probes.jar").is_file() {
        return Some("the probes are not built: workloads/probes/build".to_owned());
    }
    match Emulator::find(&cache, EmulatedProcessor::NeoverseN1) {
        Ok(emulator) => emulator.place().and_then(|place| place.program().err()),
        Err(why) => Some(why),
    }
}

#[test]
#[ignore = "long: four guests of another architecture take two minutes"]
fn atomics_of_java_take_exclusive_pairs_without_lse_and_none_with_it() {
    /// Increments of each request, as the study says.
    const INCREMENTS: f64 = 10_000.0;
    if let Some(why) = lacks_neoverse_n1() {
        skip!("{why}");
    }
    let folder = tempfile::tempdir().expect("a folder");
    let out = folder.path().join("run");
    let mut run = Command::new(ASSAY);
    run.args(["run", "studies/lse.toml", "--quick", "--out"]).arg(&out).current_dir(checkout());
    let output = run.output().expect("assay runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let summary = assay_results::load_run(&out).expect("a run").summary.expect("a summary");
    let per_increment = |variant: &str, id: &str| {
        let of = summary.variants.iter().find(|of| of.name == variant).expect("a variant");
        of.metrics[id].estimate / INCREMENTS
    };
    let [loads, stores, atomics] = [
        metric::EMULATED_USER_EXCLUSIVE_LOADS_PER_REQUEST,
        metric::EMULATED_USER_EXCLUSIVE_STORES_PER_REQUEST,
        metric::EMULATED_USER_ATOMIC_INSTRUCTIONS_PER_REQUEST,
    ];
    for (variant, id) in
        ["lse", "exclusive"].into_iter().flat_map(|v| [loads, stores, atomics].map(|id| (v, id)))
    {
        println!("{variant}: {} {id} of each increment", per_increment(variant, id));
    }
    assert_eq!((per_increment("lse", loads), per_increment("lse", stores)), (0.0, 0.0));
    let one_and_few_more = 1.0..1.1;
    assert!(one_and_few_more.contains(&per_increment("lse", atomics)), "{}", per_increment("lse", atomics));
    assert!(1.0 < per_increment("exclusive", loads) && 1.0 < per_increment("exclusive", stores));
    assert!(one_and_few_more.contains(&per_increment("exclusive", loads)));
    // Code that is not Java's may choose by itself.
    assert!(per_increment("exclusive", atomics) < 0.05, "{}", per_increment("exclusive", atomics));
}
