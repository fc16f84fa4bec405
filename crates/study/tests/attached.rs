//! Studies of a server that runs already: it is loaded, watched and asked, and runs on as it was.

use crate::support::{Fixture, example};
use assay_model::{CapacityReport, Check, RunEventKind, TrialOutcome};
use assay_study::{
    CapacityTable, DesignTable, Seconds, ServerTable, Study, StudyError, WarmUpTable, generator,
    run_for_value,
};
use std::io::{BufRead, BufReader};
use std::net::{TcpListener, TcpStream};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};

/// A server of somebody else's.
struct Theirs {
    child: Child,
    url: String,
}

impl Theirs {
    fn start() -> Theirs {
        let port = TcpListener::bind("127.0.0.1:0").and_then(|l| l.local_addr()).expect("a port").port();
        let mut child = Command::new(example("fake_server"))
            .args(["--port", &port.to_string()])
            .env("FAKE_HOLD_US", "5000")
            .stdout(Stdio::piped())
            .spawn()
            .expect("a server");
        let mut line = String::new();
        let stdout = child.stdout.as_mut().expect("piped");
        BufReader::new(stdout).read_line(&mut line).expect("it tells its port");
        while TcpStream::connect(("127.0.0.1", port)).is_err() {
            std::thread::sleep(std::time::Duration::from_millis(10));
        }
        Theirs { child, url: format!("http://127.0.0.1:{port}/work") }
    }

    /// It lives, its clock was never stopped for good, and it answers.
    fn runs_on(&mut self) -> bool {
        let stat = std::fs::read_to_string(format!("/proc/{}/stat", self.child.id())).unwrap_or_default();
        let state = stat.rsplit_once(") ").and_then(|(_, rest)| rest.chars().next());
        self.child.try_wait().is_ok_and(|ended| ended.is_none()) && !matches!(state, None | Some('T' | 'Z'))
    }
}

impl Drop for Theirs {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn study(server: &Theirs) -> Study {
    let root = server.url.trim_end_matches("/work");
    Study {
        server: Some(ServerTable {
            url: Some(server.url.clone()),
            pid: Some(server.child.id()),
            audit_url: Some(format!("{root}/audit")),
            ..ServerTable::default()
        }),
        design: DesignTable {
            blocks: Some(1),
            repeats_max: Some(0),
            warm_up: WarmUpTable { min: None, cap: Some(Seconds(0.0)) },
            ..DesignTable::default()
        },
        capacity: Some(CapacityTable {
            limits_ms: Some(vec![40.0]),
            budget: Some(Seconds(10.0)),
            count_disturbed: Some(true),
            ..CapacityTable::default()
        }),
        ..Study::named("theirs")
    }
}

fn prepared(study: &Study) -> Result<assay_study::Prepared, StudyError> {
    study.checked("a test").map_err(StudyError::Diagnostics)?.prepare(false)
}

#[test]
fn its_capacity_is_found_and_it_runs_on() {
    let mut theirs = Theirs::start();
    let prepared = prepared(&study(&theirs)).expect("it is there");
    let run = run_for_value(&prepared, &generator, &AtomicBool::new(false), &mut |_| ()).expect("a run");
    let stored = &run.trials[0];
    assert_eq!(stored.trial.outcome, TrialOutcome::Completed);
    assert!(stored.trial.processes.is_empty() && stored.trial.start_to_ready_ms.is_none());
    let found = stored.capacity.as_ref().expect("a capacity");
    assert_eq!(found.target, theirs.url);
    let check = |found: &CapacityReport, wanted| found.checks.iter().find(|c| c.check == wanted).cloned();
    assert_eq!(check(found, Check::Audit).and_then(|c| c.passed), Some(true));
    assert_eq!(check(found, Check::Restart).and_then(|c| c.passed), Some(true), "its process is watched");
    // One worker that takes 5 ms for each request.
    assert!(found.windows.iter().all(|w| w.achieved_rate_per_s() < 1.02 * 200.0), "{:?}", found.windows);
    assert!(theirs.runs_on());
}

#[test]
fn an_interrupted_search_gives_what_was_found_and_leaves_it_running() {
    let mut theirs = Theirs::start();
    let mut study = study(&theirs);
    // It ends with its first window, however late that comes on a busy machine.
    study.capacity.as_mut().expect("a search").budget = Some(Seconds(300.0));
    let prepared = prepared(&study).expect("it is there");
    let stop = AtomicBool::new(false);
    let run = run_for_value(&prepared, &generator, &stop, &mut |event| {
        let has_window = matches!(event.kind, RunEventKind::CapacityWindowEnded { .. });
        stop.fetch_or(has_window, Ordering::Relaxed);
    });
    let found = run.expect("what was found").trials.remove(0).capacity.expect("a capacity");
    assert!(found.valid == Some(false) && !found.windows.is_empty());
    assert!(theirs.runs_on());
}

#[test]
fn windows_of_one_load_are_measured_on_it_too() {
    let mut theirs = Theirs::start();
    let fixture = Fixture::new("", "");
    let (pid, url) = (theirs.child.id(), &theirs.url);
    let text = format!(
        r#"
schema = "assay.study/1"
name = "theirs"
load = {{ kind = "closed", users = 2 }}
limits = {{ foreign_cpu_share = 1.0, steal_share = 1.0, throttled_share = 1.0 }}
design = {{ kind = "resident", blocks = 2, window = "300ms", warm_up = {{ cap = "0s" }}, repeats_max = 0 }}
[server]
url = "{url}"
pid = {pid}
"#
    );
    std::fs::write(&fixture.study, text).expect("a study file");
    let summary = fixture.run(false, |_, _| ()).0.expect("a run").summary;
    assert_eq!(summary.variants[0].windows, 2);
    let trial = &fixture.load().trials[0].trial;
    assert!(trial.excluded_observers.is_empty(), "{:?}", trial.excluded_observers);
    assert!(trial.windows.iter().all(|w| w.metrics.contains_key("rss_bytes")), "its process is watched");
    assert!(theirs.runs_on());
    assert_eq!(fixture.left_over(), Vec::<String>::new());
}

#[test]
fn what_cannot_be_is_told_before_anything_is_loaded() {
    let theirs = Theirs::start();
    let told = |change: &dyn Fn(&mut Study)| {
        let mut study = study(&theirs);
        change(&mut study);
        prepared(&study).expect_err("it cannot be").to_string()
    };
    let of_server = |change: fn(&mut ServerTable)| told(&|study| study.server.iter_mut().for_each(change));
    assert!(of_server(|s| s.pid = Some(4_194_305)).contains("4194305"));
    assert!(of_server(|s| s.gc_log = Some("/nowhere/gc.log".to_owned())).contains("/nowhere/gc.log"));
    assert!(of_server(|s| s.url = Some("ftp://127.0.0.1/".to_owned())).contains("URL"));
    assert!(of_server(|s| s.ready_url = "http://127.0.0.1:1/".to_owned()).contains("runs already"));
    assert!(told(&|s| s.settings.jvm_options.push("-Xint".to_owned())).contains("means nothing"));
    assert!(told(&|s| s.design.blocks = Some(3)).contains("blocks = 1"));
    assert!(of_server(|s| s.url = None).contains("no command"));
}
