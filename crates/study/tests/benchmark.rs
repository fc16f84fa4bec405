//! Whole runs of benchmark programs: results to comparisons, reference modes from the logs of their JVMs, and their faults.

use crate::support::{Fixture, example};
use assay_model::{ReferenceMode, RunEventKind, TrialOutcome, Verdict, metric};
use assay_results::load_run;
use assay_study::{RunOptions, run};
use std::path::Path;
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};

/// Writes what JMH would, `$NS` nanoseconds; the first word is the file.
const GOOD: &str = r##"
echo "# Run progress: 0.00 % complete"
cat > "$1" <<END
[{"benchmark": "a.b.Fake.run", "mode": "avgt", "params": {"n": "7"},
  "primaryMetric": {"score": $NS, "scoreError": "NaN", "scoreUnit": "us/op", "rawData": [[$NS, $NS], [$NS, $NS]]},
  "secondaryMetrics": {"live_bytes": {"score": 4096.0, "scoreUnit": "B", "rawData": [[4096.0]]}}}]
END
"##;
const TWO_LEVELS: &str = r#"
[[factor]]
name = "work"
level = [{ name = "light", environment = { NS = "10" } }, { name = "heavy", environment = { NS = "15" } }]
"#;

/// A study of a shell script, or of what `command` is.
fn fixture(script: &str, command: &str, head: &str, tail: &str) -> Fixture {
    let folder = tempfile::tempdir().expect("a folder");
    let study = folder.path().join("study.toml");
    let text = format!(
        r#"
schema = "assay.study/1"
name = "fake"
limits = {{ foreign_cpu_share = 1.0, steal_share = 1.0, throttled_share = 1.0 }}
design = {{ blocks = 3, window = "1s", repeats_max = 0 }}
{head}
[benchmark]
command = {command}
timeout_s = 600
{tail}
"#
    );
    std::fs::write(&study, text).expect("a study file");
    std::fs::write(folder.path().join("program"), script).expect("a script");
    Fixture { folder, study }
}

fn of_shell(script: &str, tail: &str) -> Fixture {
    fixture(script, r#""/bin/sh program {results}""#, "", tail)
}

#[test]
fn each_benchmark_is_a_metric_that_is_compared_in_interleaved_blocks() {
    let fixture = of_shell(GOOD, TWO_LEVELS);
    let summary = fixture.run(false, |_, _| ()).0.unwrap().summary;
    let stored = fixture.load();
    assert_eq!(stored.trials.len(), 6);
    assert!(stored.trials.iter().all(|t| t.trial.counts() && t.trial.windows.len() == 1));
    let of = |name: &str| summary.variants.iter().find(|v| v.name == name).unwrap().metrics.clone();
    assert_eq!(of("light")["ns_per_op/Fake.run(n=7)"].estimate, 10_000.0);
    assert_eq!(of("heavy")["live_bytes/Fake.run(n=7)"].estimate, 4096.0);
    let compared = |metric: &str| summary.comparisons.iter().find(|c| c.metric == metric).unwrap();
    let time = compared("ns_per_op/Fake.run(n=7)");
    assert!((time.ratio.estimate - 1.5).abs() < 1e-9 && time.blocks == 3, "{time:?}");
    assert_eq!(time.verdict, Verdict::Higher);
    assert_eq!(compared("live_bytes/Fake.run(n=7)").verdict, Verdict::NoDifferenceShown);
    assert_eq!(fixture.left_over(), Vec::<String>::new());
    let folder = fixture.out().join("trials/01-light");
    let folder = if folder.is_dir() { folder } else { fixture.out().join("trials/01-heavy") };
    assert!(folder.join("benchmark.json").is_file() && !folder.join("server-files").exists());
}

/// Holds 2,048 direct buffers of 32 KiB until it was looked at twice.
const HOLDS: &str = r##"
import java.nio.ByteBuffer;
import java.nio.file.*;
import java.util.ArrayList;

class Holds {
    public static void main(String[] words) throws Exception {
        Path results = Path.of(words[0]), looks = results.resolveSibling("memory.ndjson");
        var held = new ArrayList<ByteBuffer>();
        for (int i = 0; i < 2048; i++) held.add(ByteBuffer.allocateDirect(32 << 10));
        long before = Files.readAllLines(looks).size();
        while (Files.readAllLines(looks).size() < before + 2) Thread.sleep(20);
        String numbers = "{\"score\": 1, \"scoreUnit\": \"ns/op\", \"rawData\": [[1]]}";
        Files.writeString(results, "[{\"benchmark\": \"Holds.run\", \"mode\": \"avgt\", \"primaryMetric\": " + numbers + "}]");
        if (held.isEmpty()) System.exit(1);
    }
}
"##;

#[test]
fn the_areas_of_a_program_are_those_of_the_last_look_before_its_end() {
    let head = "jvm = \"17\"\nheap = \"48m\"\nobserve = [\"areas\"]\nprimary_metric = \"buffers_bytes\"\n\
        jvm_options = [\"-XX:+UseSerialGC\", \"-XX:MaxDirectMemorySize=1g\"]";
    if assay_testkit::find_java(17, 64).is_none() {
        assay_testkit::skip!("no 64-bit JDK 17");
    }
    let fixture = fixture("", r#""java {jvm_options} Holds.java {results}""#, head, "");
    // A look each 4 s, so that its end is soon after the last one beside other load as well.
    let text =
        std::fs::read_to_string(&fixture.study).unwrap().replace("window = \"1s\"", "window = \"12s\"");
    std::fs::write(&fixture.study, text.replace("blocks = 3", "blocks = 1")).unwrap();
    std::fs::write(fixture.folder.path().join("Holds.java"), HOLDS).unwrap();
    fixture.run(false, |_, _| ()).0.unwrap();
    let stored = fixture.load();
    let trial = &stored.trials[0].trial;
    let window = &trial.windows[0];
    let (held, beside) = (67_108_864.0, 1_048_576.0);
    let buffers = window.metrics[metric::BUFFERS_BYTES];
    assert!(held <= buffers && buffers < held + beside, "{buffers}");
    assert!(buffers < window.metrics[metric::NATIVE_BYTES], "{:?}", window.metrics);
    assert!(window.metrics[metric::NATIVE_BYTES] < window.metrics[metric::RSS_BYTES]);
    assert_eq!(window.metrics["ns_per_op/Holds.run"], 1.0);
    assert_eq!(trial.excluded_observers, Vec::new());
    assert!(2 <= stored.trials[0].memory.len(), "the course over time");
}

#[test]
fn a_program_that_fails_says_how_and_what_it_printed_last() {
    for (script, words) in [
        ("echo out of luck; exit 3", ["ended with exit code 3", "out of luck"]),
        ("kill -9 $$", ["was ended by signal 9", "printed nothing"]),
        ("true", ["wrote no {results}", ""]),
        ("echo '[{' > \"$1\"", ["is not JMH's JSON", ""]),
        ("echo '[]' > \"$1\"", ["the list is empty", ""]),
    ] {
        let fixture = of_shell(script, "");
        let message = fixture.run(false, |_, _| ()).0.unwrap_err().to_string();
        assert!(words.iter().all(|w| message.contains(w)), "{script}: {message}");
        assert!(matches!(fixture.load().trials[0].trial.outcome, TrialOutcome::Failed { .. }));
    }
}

#[test]
fn a_program_that_does_not_end_is_stopped_with_its_children() {
    let script = "sleep 300 & echo waiting; sleep 300";
    let fixture = of_shell(script, "");
    let text = std::fs::read_to_string(&fixture.study).unwrap().replace("timeout_s = 600", "timeout_s = 5");
    std::fs::write(&fixture.study, text).unwrap();
    let message = fixture.run(false, |_, _| ()).0.unwrap_err().to_string();
    assert!(message.contains("did not end within 5 s") && message.contains("waiting"), "{message}");
    assert_eq!(fixture.left_over(), Vec::<String>::new());
}

#[test]
fn an_interrupted_run_leaves_nothing_running_and_keeps_what_is_whole() {
    let script = format!("{GOOD}\n[ $NS = 10 ] || {{ sleep 300 & sleep 300; }}");
    let fixture = of_shell(&script, TWO_LEVELS);
    let (result, _) = fixture.run(false, |event, stop| {
        let is_heavy = matches!(event, RunEventKind::TrialStarted { variant, .. } if variant == "heavy");
        // Every light one before it is whole.
        stop.fetch_or(is_heavy, Ordering::Relaxed);
    });
    let message = result.unwrap_err().to_string();
    assert!(message.to_lowercase().contains("interrupted") || message.contains("stopped"), "{message}");
    assert_eq!(fixture.left_over(), Vec::<String>::new());
    let trials = fixture.load().trials;
    assert!(trials.iter().all(|t| (t.trial.variant == "light") == t.trial.counts()));
    std::fs::write(fixture.folder.path().join("program"), GOOD).unwrap();
    fixture.run(true, |_, _| ()).0.unwrap();
    assert_eq!(fixture.load().trials.iter().filter(|t| t.trial.counts()).count(), 6);
}

#[test]
fn a_program_runs_in_the_control_group_of_its_limits() {
    let script = format!("cat /proc/self/cgroup > \"$1.groups\"; NS=10\n{GOOD}");
    let limited = "[[factor]]\nname = \"limits\"\nlevel = [{ name = \"limited\", limits = { cpus = 0.5 } }]";
    let fixture = of_shell(&script, limited);
    let is_here = fixture.prepare().is_ok_and(|prepared| prepared.plan().skipped.is_empty());
    if !rustix::process::geteuid().is_root() || !is_here {
        assay_testkit::skip!("control groups are made by root, where the kernel has them");
    }
    // A folder of its own for the record of its changes: other tests of this program change the machine, too.
    let output = Command::new(example("run_study"))
        .args([&fixture.study, &fixture.out(), Path::new("--allow-host-changes")])
        .env("XDG_RUNTIME_DIR", fixture.folder.path())
        .output()
        .expect("the runner starts");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    for stored in fixture.load().trials {
        let folder = fixture.out().join(format!("trials/{:02}-limited", stored.trial.number));
        let groups =
            std::fs::read_to_string(folder.join("benchmark.json.groups")).expect("it says where it ran");
        assert!(groups.contains("/assay-"), "{groups}");
        let treatments = stored.trial.treatments;
        assert!(treatments.len() == 1 && treatments[0].undone, "{treatments:?}");
        let found = treatments[0].found.as_deref().unwrap_or_default();
        assert!(found.contains("50000"), "{found}");
    }
}

#[test]
fn a_run_directory_in_which_no_jvm_can_log_fails_the_trial_and_names_the_remedy() {
    if assay_testkit::find_java(17, 64).is_none() {
        assay_testkit::skip!("no 64-bit JDK 17");
    }
    let fixture = of_java(r#""java {jvm_options} Bench.java {results}""#, "");
    let out = fixture.folder.path().join("with:colon");
    let options = RunOptions { out: Some(out.clone()), ..RunOptions::default() };
    let error = run(&fixture.prepare().unwrap(), &options, &AtomicBool::new(false), &mut |_| ()).unwrap_err();
    assert!(error.is_environment() && error.to_string().contains("choose another --out"), "{error}");
    let trials = load_run(&out).unwrap().trials;
    assert!(
        trials.len() == 1 && !trials[0].trial.counts() && trials[0].trial.processes.is_empty(),
        "{trials:?}"
    );
}

/// Collects once, as the mode of class pointers is in the log's first collection only.
const JAVA: &str = r#"
class Bench {
    public static void main(String[] words) throws Exception {
        System.gc();
        java.nio.file.Files.writeString(java.nio.file.Path.of(words[0]), """
            [{"benchmark": "a.Bench.run", "primaryMetric": {"scoreUnit": "ns/op", "rawData": [[1.5]]}}]
            """);
    }
}
"#;

fn of_java(command: &str, factor: &str) -> Fixture {
    let head = "jvm = \"17\"\nheap = \"64m\"\njvm_options = [\"-XX:+UseSerialGC\"]";
    let fixture = fixture("", command, head, factor);
    std::fs::write(fixture.folder.path().join("Bench.java"), JAVA).expect("a program");
    fixture
}

#[test]
fn the_mode_is_read_from_the_log_of_the_jvm_that_measured() {
    if assay_testkit::find_java(17, 64).is_none() {
        assay_testkit::skip!("no 64-bit JDK 17");
    }
    let factor = r#"
[[factor]]
name = "mode"
level = [
  { name = "unscaled", reference_mode = "compressed-unscaled" },
  { name = "zero-based", reference_mode = "compressed-zero-based" },
  { name = "64-bit", reference_mode = "64-bit" },
]
"#;
    let fixture = of_java(r#""java {jvm_options} Bench.java {results}""#, factor);
    // A machine whose clock is set now and then disturbs a launch that no limit of the fixture lets pass.
    let text = std::fs::read_to_string(&fixture.study).unwrap().replace("blocks = 3", "blocks = 1");
    std::fs::write(&fixture.study, text.replace("repeats_max = 0", "repeats_max = 2")).unwrap();
    let summary = fixture.run(false, |_, _| ()).0.unwrap().summary;
    let trials = fixture.load().trials;
    let read: Vec<Option<&str>> = summary.variants.iter().map(|v| v.mode_read.as_deref()).collect();
    let wanted = [Some("compressed-unscaled"), Some("compressed-zero-based"), Some("64-bit")];
    assert_eq!(read, wanted, "{:?}", trials.iter().map(|stored| &stored.trial).collect::<Vec<_>>());
    for stored in trials {
        let mode = stored.trial.mode.unwrap();
        let shift = match mode.mode {
            ReferenceMode::CompressedUnscaled => Some(0),
            ReferenceMode::CompressedZeroBased => Some(3),
            _ => None,
        };
        assert_eq!(mode.shift_bits, shift);
    }
}

#[test]
fn a_mode_that_was_not_taken_and_a_jvm_that_was_not_told_count_for_nothing() {
    if assay_testkit::find_java(17, 64).is_none() {
        assay_testkit::skip!("no 64-bit JDK 17");
    }
    let factor =
        "[[factor]]\nname = \"mode\"\nlevel = [{ name = \"z\", reference_mode = \"compressed-zero-based\" }]";
    for (command, words) in [
        (
            r#""java {jvm_options} -XX:-UseCompressedOops Bench.java {results}""#,
            "although compressed-zero-based",
        ),
        (r#"["java", "-Dunused={jvm_options}", "Bench.java", "{results}"]"#, "wrote a log"),
    ] {
        let fixture = of_java(command, factor);
        let message = fixture.run(false, |_, _| ()).0.unwrap_err().to_string();
        assert!(message.contains(words), "{command}: {message}");
        assert_eq!(fixture.load().trials.len(), 1, "another launch would be the same");
    }
}
