//! `assay time` on servers under load, each alone in a control group: how far its total is off what the group was charged, how much of
//! it has a name, and what the command costs the server. Prints tables.
//!
//! `ASSAY_TIME_SERVERS` (words), `ASSAY_TIME_COLLECTORS` (words), `ASSAY_TIME_JAVA` (feature releases) and `ASSAY_TIME_SECONDS` choose less.

use assay_model::{Certainty, ThreadRole, TimeReport};
use assay_testkit::{Turn, find_java, skip, turn};
use serde_json::json;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};
use std::{env, fs};

const ASSAY: &str = env!("CARGO_BIN_EXE_assay");
const COLLECTORS: &str = "G1 Serial Parallel Z Shenandoah";
const SERVERS: &str = "brokerage supermarket tomcat";
const JAVA: &str = "17 21 25";

fn words(variable: &str, default: &str) -> Vec<String> {
    let words = env::var(variable).unwrap_or_else(|_| default.to_owned());
    words.split_whitespace().map(str::to_owned).collect()
}

/// A control group that counts CPU time (version 1), for one test at a time: the server of one would take processors from that of
/// another. Removed when dropped.
struct Group(PathBuf, #[expect(dead_code, reason = "held until the group is dropped")] Turn);

impl Group {
    fn make() -> Option<Group> {
        let turn = turn("time-acceptance");
        let path = Path::new("/sys/fs/cgroup/cpuacct").join(format!("assay-time-{}", std::process::id()));
        fs::create_dir(&path).ok().map(|()| Group(path, turn))
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        for _ in 0..100 {
            // The kernel lets go of a member that has ended a little later.
            if fs::remove_dir(&self.0).is_ok() {
                return;
            }
            std::thread::sleep(Duration::from_millis(50));
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

    /// As many requests a second as [`rate`] says.
    fn load_at_rate(&self, seconds: u64) -> Command {
        let port = fs::read_to_string(self.dir.path().join("port")).expect("it runs");
        let mut load = Command::new(ASSAY);
        load.args(["load", &format!("http://127.0.0.1:{}/", port.trim()), "--rate", rate(&self.name)]);
        load.args(["--duration", &format!("{seconds}s"), "--allow-invalid"]).stdout(Stdio::null());
        let scenario = self.scripts.join(format!("../{}/scenario-small.toml", self.name));
        if scenario.exists() {
            load.arg("--scenario").arg(scenario);
        }
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
    std::thread::sleep(Duration::from_secs(2));
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

fn has_collector(java: &Path, collector: &str) -> bool {
    let version = Command::new(java).args([&format!("-XX:+Use{collector}GC"), "-version"]).output();
    version.is_ok_and(|output| output.status.success())
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
                if !has_collector(&java, &collector) {
                    println!("{name:12} {feature:>4} {collector:11} is not in this JVM");
                    continue;
                }
                let Some(server) = Server::start(&name, &java, &collector) else {
                    wrong.push(format!("{name} {feature} {collector}: did not start"));
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
    assert!(measured != 0, "no JVM of these has one of these collectors");
}

/// Requests a second that leave two processors time to spare.
fn rate(server: &str) -> &'static str {
    match server {
        "tomcat" => "5000",
        "supermarket" => "2000",
        _ => "200",
    }
}

/// CPU time of the group in a second of those that `during` takes, nanoseconds.
fn cpu_ns_per_s(group: &Group, during: impl FnOnce()) -> f64 {
    let usage = || -> f64 {
        let text = fs::read_to_string(group.0.join("cpuacct.usage")).expect("the group counts");
        text.trim().parse().expect("nanoseconds")
    };
    let (before, begun) = (usage(), Instant::now());
    during();
    (usage() - before) / begun.elapsed().as_secs_f64()
}

/// CPU time of a server while it is looked at and otherwise, in pairs; and system calls in a second of CPU time.
fn costs(server: &Server, group: &Group, pairs: u64, seconds: u64) -> (Vec<(f64, f64)>, f64) {
    let wait = || cpu_ns_per_s(group, || std::thread::sleep(Duration::from_secs(seconds)));
    let mut calls = Vec::new();
    let mut look = || {
        let mut said = Vec::new();
        let cpu_ns = cpu_ns_per_s(group, || {
            let mut time = Command::new(ASSAY);
            time.args(["time", &server.pid(), "--json", "--for", &format!("{seconds}s")]);
            said = time.output().expect("assay starts").stdout;
        });
        let report: TimeReport = serde_json::from_slice(&said).expect("a report");
        calls.extend(row(&report).calls_per_s);
        cpu_ns
    };
    let compared = (0..pairs).map(|pair| {
        // Which comes first changes from pair to pair: a server that still compiles becomes cheaper all the time.
        if pair % 2 == 0 {
            let with = look();
            (with, wait())
        } else {
            let without = wait();
            (look(), without)
        }
    });
    let compared = compared.collect();
    (compared, calls.iter().sum::<f64>() / calls.len() as f64)
}

#[test]
#[ignore = "long: a dozen pairs for each of two servers, 4 minutes each"]
fn what_the_command_costs_a_server() {
    // Those that make most system calls: each is an event of the programs in the kernel.
    const CALLING: &str = "supermarket tomcat";
    const PAIRS: u64 = 12;
    const SECONDS: u64 = 6;
    const WARM_S: u64 = 45;
    let Some(group) = Group::make() else { skip!("no cpuacct controller of version 1 that may be written") };
    let mut shown_dearer = Vec::new();
    for name in words("ASSAY_TIME_SERVERS", CALLING) {
        let java = find_java(25, 64).expect("a JDK 25");
        let server = Server::start(&name, &java, "G1").expect("it starts");
        fs::write(group.0.join("cgroup.procs"), server.pid()).expect("root may move its child");
        server.load(WARM_S).status().expect("bash");
        let mut load = server.load_at_rate(2 * PAIRS * (SECONDS + 2)).spawn().expect("assay starts");
        std::thread::sleep(Duration::from_secs(5));
        let (pairs, calls) = costs(&server, &group, PAIRS, SECONDS);
        assert!(load.try_wait().expect("our child").is_none(), "the load ended before the last pair");
        let _ = load.kill();
        let _ = load.wait();
        let ratio = assay_stats::compare_paired(&pairs, 1).expect("CPU time").ratio;
        let what = format!("{name}, JDK 25");
        println!("{}", json!({ "what": what, "ratio": ratio, "pairs": PAIRS, "calls_per_cpu_s": calls }));
        if ratio.low.is_some_and(|low| 1.03 < low) {
            shown_dearer.push(name);
        }
    }
    assert!(shown_dearer.is_empty(), "{shown_dearer:?}");
}
