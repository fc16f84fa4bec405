//! `assay capacity --workload` as it is typed: Ctrl-C leaves no process, and tells what was found by then.

use assay_model::{CapacityReport, Check};
use assay_testkit::skip;
use rustix::process::{Pid, Signal, kill_process};
use std::io::{BufRead, BufReader, Read};
use std::path::Path;
use std::process::{Command, Stdio};

const ASSAY: &str = env!("CARGO_BIN_EXE_assay");
/// What `./assay setup` builds.
const JAR: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../.assay/supermarket/lib/supermarket.jar");

/// Children of a process, and theirs.
fn descendants(pid: u32) -> Vec<u32> {
    let tasks = std::fs::read_dir(format!("/proc/{pid}/task")).into_iter().flatten().flatten();
    let texts = tasks.filter_map(|task| std::fs::read_to_string(task.path().join("children")).ok());
    let children: Vec<u32> = texts
        .flat_map(|text| text.split_whitespace().filter_map(|pid| pid.parse().ok()).collect::<Vec<_>>())
        .collect();
    children.iter().flat_map(|child| std::iter::once(*child).chain(descendants(*child))).collect()
}

/// Nice value and policy of a process: fields 19 and 41 of its `stat`, behind the name in parentheses.
fn scheduling_of(pid: u32) -> Option<(String, String)> {
    let text = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    let fields: Vec<&str> = text.rsplit_once(')')?.1.split_ascii_whitespace().collect();
    Some(((*fields.get(16)?).to_owned(), (*fields.get(38)?).to_owned()))
}

#[test]
fn ctrl_c_stops_the_server_and_gives_what_is_known_so_far() {
    if !Path::new(JAR).exists() {
        skip!("the supermarket is not built: ./assay setup");
    }
    let mut child = Command::new(ASSAY)
        .args(["capacity", "--workload", "supermarket", "--option", "data=small", "--no-warm-up", "--json"])
        // C2 would take most of the CPU time.
        .arg("--jvm-option=-XX:TieredStopAtLevel=1")
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("assay starts");
    let mut talk = BufReader::new(child.stderr.take().expect("piped"));
    let mut said = String::new();
    while !said.contains("/s answered") {
        assert!(0 < talk.read_line(&mut said).expect("text"), "it ended: {said}");
    }
    let started = descendants(child.id());
    assert!(!started.is_empty(), "the server is its child");
    let usual = scheduling_of(std::process::id());
    assert!(
        started.iter().all(|pid| scheduling_of(*pid) == usual),
        "the server has not the generator's priority"
    );
    let pid = i32::try_from(child.id()).ok().and_then(Pid::from_raw).expect("a process");
    kill_process(pid, Signal::INT).expect("it runs");
    let mut json = String::new();
    child.stdout.take().expect("piped").read_to_string(&mut json).expect("text");
    assert_eq!(child.wait().expect("it ends").code(), Some(130));
    for pid in started {
        assert!(!Path::new(&format!("/proc/{pid}")).exists(), "process {pid} is left");
    }
    let report: CapacityReport = serde_json::from_str(&json).expect("the stored form");
    assert!(report.valid == Some(false) && !report.windows.is_empty());
    let complete = report.checks.iter().find(|check| check.check == Check::Complete).expect("listed");
    assert!(complete.passed == Some(false) && complete.evidence.contains("stopped after"), "{complete:?}");
}
