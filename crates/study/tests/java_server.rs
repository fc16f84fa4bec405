//! A study of a real JVM with a server that allocates a known amount: the garbage that is found must be that.

use assay_model::{GcRecordKind, ReferenceMode, TrialOutcome, metric};
use assay_study::{RunOptions, Study, load_run, run};
use std::sync::atomic::AtomicBool;

/// What the server allocates for each request, beside what the JDK's HTTP server itself needs.
const ALLOCATED_KIB: f64 = 1000.0;
/// Measured: 13 to 28 KiB with JDK 25, in windows of 100 requests and more.
const HTTP_SERVER_KIB_MAX: f64 = 35.0;
const USERS: f64 = 2.0;

const SERVER: &str = r#"
import com.sun.net.httpserver.HttpServer;
import java.net.InetSocketAddress;

class Allocates {
    static volatile byte[] last;

    public static void main(String[] words) throws Exception {
        var server = HttpServer.create(new InetSocketAddress("127.0.0.1", Integer.parseInt(words[0])), 0);
        server.createContext("/", exchange -> {
            for (int i = 0; i < 100; i++) last = new byte[10 * 1024 - 16];
            byte[] answer = "yes".getBytes();
            exchange.sendResponseHeaders(200, answer.length);
            exchange.getResponseBody().write(answer);
            exchange.close();
        });
        server.start();
    }
}
"#;

fn study(feature: u32) -> String {
    format!(
        r#"
schema = "assay.study/1"
name = "allocates"
jvm = "{feature}"
heap = "48m"
jvm_options = ["-XX:+UseSerialGC"]
load = {{ kind = "closed", users = 2 }}
limits = {{ foreign_cpu_share = 1.0, steal_share = 1.0, throttled_share = 1.0 }}
design = {{ kind = "resident", blocks = 3, window = "1s", warm_up = {{ cap = "1s" }}, repeats_max = 0 }}
[server]
command = "java {{jvm_options}} Allocates.java {{port}}"
ready_url = "http://127.0.0.1:{{port}}/"
[[factor]]
name = "mode"
level = [
  {{ name = "compressed", reference_mode = "compressed-unscaled" }},
  {{ name = "zero-based", reference_mode = "compressed-zero-based" }},
  {{ name = "64-bit", reference_mode = "64-bit" }},
]
"#
    )
}

fn check(feature: u32) {
    if assay_testkit::find_java(feature, 64).is_none() {
        assay_testkit::skip!("no 64-bit JDK {feature}");
    }
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::write(folder.path().join("Allocates.java"), SERVER).expect("a program");
    let path = folder.path().join("study.toml");
    std::fs::write(&path, study(feature)).expect("a study");
    let out = folder.path().join("out");
    let options = RunOptions { out: Some(out.clone()), ..RunOptions::default() };
    let prepared = Study::read(&path).expect("a study").prepare(false).expect("a plan");
    run(&prepared, &options, &AtomicBool::new(false), &mut |_| ()).expect("a result");

    let stored = load_run(&out).expect("a run directory");
    let modes =
        [ReferenceMode::CompressedUnscaled, ReferenceMode::CompressedZeroBased, ReferenceMode::Full64];
    for (variant, mode) in ["compressed", "zero-based", "64-bit"].into_iter().zip(modes) {
        let trial = stored.trials.iter().find(|t| t.trial.variant == variant).expect("a trial");
        assert_eq!(trial.trial.outcome, TrialOutcome::Completed);
        assert_eq!(trial.trial.mode.as_ref().map(|read| read.mode), Some(mode));
        assert_eq!(trial.trial.collector.as_deref(), Some("Serial"));
        assert_eq!(trial.trial.excluded_observers, []);
        assert!(!trial.gc_events.is_empty());
        let gc_report = trial.gc_report.as_ref().expect("what the whole GC log says");
        let pauses = trial.gc_events.iter().filter(|record| record.kind == GcRecordKind::Pause);
        assert_eq!(gc_report.pauses.count, pauses.count() as u64);
        let heap =
            |s: &assay_model::MemorySample| s.areas.iter().any(|a| a.area == assay_model::Area::JavaHeap);
        assert!(!trial.memory.is_empty() && trial.memory.iter().all(heap), "the heap is told apart");
        // A slow machine may have a window with fewer than two collections: then the value is absent, with a problem.
        for window in &trial.trial.windows {
            let Some(kib) = window.metrics.get("garbage_kib_per_request") else {
                assert!(window.problems.iter().any(|p| p.about == metric::GARBAGE_KIB_PER_REQUEST));
                continue;
            };
            // A request that is under way at a collection has allocated part of its bytes: one for each user, at both
            // ends, of the requests between collections, which are at least a third of the window's.
            let under_way = 3.0 * 2.0 * USERS / window.requests as f64;
            let wanted =
                ALLOCATED_KIB * (1.0 - under_way)..(ALLOCATED_KIB + HTTP_SERVER_KIB_MAX) * (1.0 + under_way);
            assert!(
                wanted.contains(kib),
                "{variant} on JDK {feature}: {kib} KiB a request, wanted {wanted:?}"
            );
        }
        let found = trial.trial.windows.iter().filter(|w| w.metrics.contains_key("garbage_kib_per_request"));
        assert!(found.count() > 0, "{variant} on JDK {feature}: no window has a value");
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
