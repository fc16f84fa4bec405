//! A study of memory, with a server that holds, and touches, known amounts of it.

use assay_model::{Area, StoredRun, StoredTrial, TrialOutcome};
use assay_results::load_run;
use assay_study::{RunOptions, Study, run};
use std::sync::atomic::AtomicBool;

/// What the server holds from the start in the variant `holds`: 2,048 direct buffers of 32 KiB.
const HELD_BYTES: f64 = 67_108_864.0;
/// What blocks of malloc cost beside that, and direct buffers of the HTTP server.
const BESIDE_BYTES: f64 = 1_048_576.0;
/// Pages that each request writes to for the first time in the variant `touches`.
const PAGES: f64 = 100.0;
/// Faults of a request beside that: its objects, the heap, the JIT compiler.
const OTHER_FAULTS_MAX: f64 = 150.0;

const SERVER: &str = r#"
import com.sun.net.httpserver.HttpServer;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.util.ArrayList;

class Holds {
    public static void main(String[] words) throws Exception {
        var held = new ArrayList<ByteBuffer>();
        boolean touches = "touches".equals(System.getenv("WORK"));
        for (int i = 0; i < (touches ? 0 : 2048); i++) held.add(ByteBuffer.allocateDirect(32 << 10));
        var server = HttpServer.create(new InetSocketAddress("127.0.0.1", Integer.parseInt(words[0])), 0);
        server.createContext("/", exchange -> {
            // Larger than what malloc serves from memory that was touched before.
            if (touches) held.add(ByteBuffer.allocateDirect(100 * 4096));
            byte[] answer = "yes".getBytes();
            exchange.sendResponseHeaders(200, answer.length);
            exchange.getResponseBody().write(answer);
            exchange.close();
        });
        server.start();
    }
}
"#;

fn study(observe: &str) -> String {
    format!(
        r#"
schema = "assay.study/1"
name = "holds"
jvm = "17"
heap = "48m"
jvm_options = ["-XX:+UseSerialGC", "-XX:+AlwaysPreTouch", "-XX:MaxDirectMemorySize=1g"]
observe = ["{observe}"]
load = {{ kind = "closed", users = 1, think = "10ms" }}
design = {{ kind = "fresh", blocks = 1, window = "3s", warm_up = {{ min = "0s", cap = "0s" }}, repeats_max = 0 }}
[server]
command = "java {{jvm_options}} Holds.java {{port}}"
ready_url = "http://127.0.0.1:{{port}}/"
[[factor]]
name = "work"
level = [
  {{ name = "holds" }},
  {{ name = "touches", environment = {{ WORK = "touches" }} }},
  {{ name = "preloads", preload = "libno-such-allocator.so.1" }},
]
"#
    )
}

fn run_with(observe: &str) -> Option<StoredRun> {
    assay_testkit::find_java(17, 64)?;
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::write(folder.path().join("Holds.java"), SERVER).expect("a program");
    let path = folder.path().join("study.toml");
    std::fs::write(&path, study(observe)).expect("a study");
    let out = folder.path().join("out");
    let options = RunOptions { out: Some(out.clone()), ..RunOptions::default() };
    let prepared = Study::read(&path).expect("a study").prepare(false).expect("a plan");
    run(&prepared, &options, &AtomicBool::new(false), &mut |_| ()).expect("a result");
    Some(load_run(&out).expect("a run directory"))
}

fn of<'a>(stored: &'a StoredRun, variant: &str) -> &'a StoredTrial {
    let trial = stored.trials.iter().find(|t| t.trial.variant == variant).expect("a trial");
    assert_eq!(trial.trial.outcome, TrialOutcome::Completed);
    assert_eq!(trial.trial.excluded_observers, []);
    trial
}

#[test]
fn areas_and_faults_are_what_the_server_holds_and_touches() {
    let Some(stored) = run_with("areas") else { assay_testkit::skip!("no 64-bit JDK 17") };
    let holds = of(&stored, "holds");
    let metrics = &holds.trial.windows[0].metrics;
    let buffers = metrics["buffers_bytes"];
    assert!((HELD_BYTES..HELD_BYTES + BESIDE_BYTES).contains(&buffers), "{buffers}");
    assert!(buffers < metrics["native_bytes"] && metrics["native_bytes"] < metrics["rss_bytes"]);
    let report = holds.memory_report.as_ref().expect("a look in full");
    assert_eq!(report.rss_bytes as f64, metrics["rss_bytes"]);
    assert_eq!(report.areas.iter().map(|a| a.resident_bytes).sum::<u64>() as i64, {
        report.rss_bytes as i64 + report.difference_bytes
    });
    let window = &holds.trial.windows[0];
    let inside = window.start_monotonic_ns..=window.end_monotonic_ns;
    assert!(
        holds
            .memory
            .iter()
            .any(|s| inside.contains(&s.monotonic_ns) && s.areas.iter().any(|a| a.area == Area::Buffers)),
        "a look within the window"
    );

    let window = &of(&stored, "touches").trial.windows[0];
    let faults = window.metrics["minor_faults_per_request"];
    // A request that is under way when faults are first counted has touched its pages but counts as completed later;
    // a second one for the counts' distance from the window's ends.
    let wanted = PAGES * (1.0 - 2.0 / window.requests as f64)..PAGES + OTHER_FAULTS_MAX;
    assert!(wanted.contains(&faults), "{faults}, wanted {wanted:?}");
}

#[test]
fn without_areas_there_is_one_look_in_full_and_a_library_that_is_missing_skips_its_variant() {
    let Some(stored) = run_with("memory") else { assay_testkit::skip!("no 64-bit JDK 17") };
    let holds = of(&stored, "holds");
    assert!(holds.memory_report.is_some());
    assert!(!holds.trial.windows[0].metrics.contains_key("buffers_bytes"));
    assert!(!holds.memory.is_empty(), "samples between the looks");
    let skipped = &stored.plan.skipped;
    assert_eq!(skipped.iter().map(|s| s.name.as_str()).collect::<Vec<_>>(), ["preloads"]);
    assert!(
        skipped[0].reason.contains("no 64-bit library libno-such-allocator.so.1"),
        "{}",
        skipped[0].reason
    );
}
