//! `assay time` on servers under load, each alone in a control group: how far its total is off what the group was charged, and how much of
//! it has a name. Prints a table.
//!
//! `ASSAY_TIME_SERVERS` (words), `ASSAY_TIME_COLLECTORS` (words), `ASSAY_TIME_JAVA` (feature releases) and `ASSAY_TIME_SECONDS` choose less.

use assay_model::{Certainty, ThreadRole, TimeReport};
use assay_testkit::{find_java, skip};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::{env, fs};

const ASSAY: &str = env!("CARGO_BIN_EXE_assay");
const COLLECTORS: &str = "G1 Serial Parallel Z Shenandoah";
const SERVERS: &str = "brokerage supermarket tomcat";
const JAVA: &str = "17 21 25";

fn words(variable: &str, default: &str) -> Vec<String> {
    let words = env::var(variable).unwrap_or_else(|_| default.to_owned());
    words.split_whitespace().map(str::to_owned).collect()
}

/// A control group that counts CPU time (version 1); removed when dropped.
struct Group(PathBuf);

impl Group {
    fn make() -> Option<Group> {
        let path = Path::new("/sys/fs/cgroup/cpuacct").join(format!("assay-time-{}", std::process::id()));
        fs::create_dir(&path).ok().map(|()| Group(path))
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        for _ in 0..100 {
            // The kernel lets go of a member that has ended a little later.
            if fs::remove_dir(&self.0).is_ok() {
                return;
            }
            std::thread::sleep(std::time::Duration::from_millis(50));
        }
    }
}

/// A server of `workloads/servers`; stopped when dropped.
struct Server {
    scripts: PathBuf,
    dir: tempfile::TempDir,
    name: String,
}

impl Server {
    fn start(name: &str, java: &Path, collector: &str) -> Option<Server> {
        let scripts = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../workloads/servers");
        let server = Server { scripts, dir: tempfile::tempdir().expect("a folder"), name: name.to_owned() };
        let mut start = server.script("start");
        start.arg(name).arg(server.dir.path()).env("JAVA", java);
        start.env("JAVA_TOOL_OPTIONS", format!("-XX:+Use{collector}GC"));
        start.stdout(Stdio::null()).status().expect("bash").success().then_some(server)
    }

    fn script(&self, script: &str) -> Command {
        let mut command = Command::new(self.scripts.join(script));
        command.env("ASSAY", ASSAY);
        command
    }

    fn pid(&self) -> String {
        fs::read_to_string(self.dir.path().join("pid")).expect("it runs").trim().to_owned()
    }

    fn load(&self, seconds: u64) -> Command {
        let mut load = self.script("load");
        load.arg(&self.name).arg(self.dir.path()).arg(seconds.to_string()).stdout(Stdio::null());
        load
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.script("stop").arg(self.dir.path()).status();
    }
}

/// What one run came to.
struct Row {
    /// Total less what the control group was charged, of the latter.
    off: f64,
    /// Of the total, what has a role other than unknown, and is divided into user and kernel.
    named: f64,
    /// Of the kernel time by samples: what the programs in the kernel timed, and with what is inferred beside it.
    activities: Option<(f64, f64)>,
    /// System calls in a second of CPU time.
    calls_per_s: Option<f64>,
    coverage: Option<f64>,
}

fn row(report: &TimeReport) -> Row {
    let total = report.process.cpu_ns as f64;
    let group = report.cgroup.as_ref().map_or(f64::NAN, |group| group.cpu_ns as f64);
    let is_named = |role: ThreadRole| ![ThreadRole::Unknown, ThreadRole::Other].contains(&role);
    let named = report.roles.iter().filter(|role| is_named(role.role) && role.sums.kernel_ns.is_some());
    let named: u64 = named.map(|role| role.sums.cpu_ns).sum();
    let sampled =
        report.samples.as_ref().and_then(|samples| samples.kernel_share).map(|share| share.estimate);
    let traced = report.traced.as_ref();
    let activities = traced.zip(sampled).map(|(traced, sampled)| {
        let whole = sampled * traced.cpu_ns as f64;
        let known = traced.kernel.iter().filter(|part| part.basis == Certainty::Known);
        let known: u64 = known.map(|part| part.cpu_ns).sum();
        (known as f64 / whole, traced.kernel_ns as f64 / whole)
    });
    let calls = traced.map(|traced| traced.roles.iter().map(|role| role.calls).sum::<u64>() as f64);
    Row {
        off: (total - group) / group,
        named: named as f64 / total,
        activities,
        calls_per_s: calls.map(|calls| calls * 1e9 / total),
        coverage: traced.and_then(|traced| traced.coverage),
    }
}

fn measure(server: &Server, group: &Group, seconds: u64) -> Option<TimeReport> {
    let pid = server.pid();
    fs::write(group.0.join("cgroup.procs"), &pid).expect("root may move its child");
    let mut load = server.load(seconds + 4).spawn().expect("bash");
    std::thread::sleep(std::time::Duration::from_secs(2));
    let output = Command::new(ASSAY)
        .args(["time", &pid, "--json", "--for", &format!("{seconds}s")])
        .output()
        .expect("assay starts");
    let _ = load.wait();
    if !output.status.success() {
        eprintln!("{}", String::from_utf8_lossy(&output.stderr));
        return None;
    }
    serde_json::from_slice(&output.stdout).ok()
}

#[test]
#[ignore = "long: three servers, five collectors and three JDKs, half a minute each; fetches Tomcat"]
fn the_total_is_that_of_the_control_group_and_nearly_all_of_it_has_a_name() {
    let Some(group) = Group::make() else { skip!("no cpuacct controller of version 1 that may be written") };
    let seconds = env::var("ASSAY_TIME_SECONDS").ok().and_then(|text| text.parse().ok()).unwrap_or(20);
    println!(
        "{:12} {:>4} {:11} {:>8} {:>8} {:>10} {:>10} {:>9} {:>9}",
        "server", "java", "collector", "off %", "named %", "timed %", "kernel %", "calls/s", "coverage"
    );
    let mut wrong = Vec::new();
    let mut measured = 0;
    for name in words("ASSAY_TIME_SERVERS", SERVERS) {
        for feature in words("ASSAY_TIME_JAVA", JAVA) {
            let Some(java) = find_java(feature.parse().expect("a number"), 64) else {
                println!("{name:12} {feature:>4} not here");
                continue;
            };
            for collector in words("ASSAY_TIME_COLLECTORS", COLLECTORS) {
                let Some(server) = Server::start(&name, &java, &collector) else {
                    println!("{name:12} {feature:>4} {collector:11} did not start");
                    continue;
                };
                let Some(report) = measure(&server, &group, seconds) else {
                    wrong.push(format!("{name} {feature} {collector}: no report"));
                    continue;
                };
                measured += 1;
                let row = row(&report);
                let percent =
                    |part: Option<f64>| part.map_or("-".to_owned(), |part| format!("{:.1}", 100.0 * part));
                println!(
                    "{name:12} {feature:>4} {collector:11} {:>8.3} {:>8.2} {:>10} {:>10} {:>9} {:>9}",
                    100.0 * row.off,
                    100.0 * row.named,
                    percent(row.activities.map(|parts| parts.0)),
                    percent(row.activities.map(|parts| parts.1)),
                    row.calls_per_s.map_or("-".to_owned(), |rate| format!("{rate:.0}")),
                    percent(row.coverage),
                );
                if !(row.off.abs() <= 0.01 && 0.99 <= row.named) {
                    wrong.push(format!(
                        "{name} {feature} {collector}: off {:.4}, named {:.4}",
                        row.off, row.named
                    ));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
    assert!(measured != 0, "no server started");
}
