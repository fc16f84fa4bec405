//! No finding where nothing is wrong: several hundred logs of programs that are well, of every collector of each JDK that is here.
//!
//! What is well is said without any rule: a live set that is built at the start, stays as large and takes a small part of the heap, an
//! even rate of garbage, no collection that was asked for, and by the JVM's own beans less than a twentieth of the time in pauses.
//!
//! A program whose threads wait for a processor is not well: what is found in its log is true. By the scheduler's account of its
//! threads each log is of one kind or the other. In logs of those that never waited long findings are false alarms; in those of the
//! others, some of which are starved on purpose, what a wait brings about must name it.

use crate::analysed;
use assay_model::{Finding, RuleId};
use assay_testkit::{RunDelay, RunDelayWatch, SplitMix, each_java, find_tool, skip, testdata};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Mutex;
use std::time::Duration;

/// With none among so many, fewer than 1 % have one (the rule of three: 3/300, at 95 %).
const LOGS_MIN: usize = 300;
const FALSE_SHARE_MAX: f64 = 0.01;
/// Longest share of the time in pauses of a program that is well, percent.
const PAUSED_PERCENT_MAX: f64 = 5.0;
/// Longest time for which one of its threads waited for a processor.
const WAITED_MAX: Duration = Duration::from_millis(8);
/// Programs that share one processor with others that never sleep.
const STARVED: usize = 24;
const SPINNERS: usize = 4;
/// What a wait for a processor brings about as well as what the rule is named after.
const BROUGHT_ABOUT_BY_WAITING: [&str; 6] = [
    "time-to-safepoint-long",
    "safepoints-other",
    "pauses-long",
    "gc-threads-wait",
    "allocation-stalls",
    "degenerated-cycles",
];
/// Programs at once; they sleep most of the time.
const AT_ONCE: usize = 2;

const COLLECTORS: [(&str, &[&str]); 6] = [
    ("serial", &["-XX:+UseSerialGC"]),
    ("parallel", &["-XX:+UseParallelGC"]),
    ("g1", &["-XX:+UseG1GC"]),
    ("z", &["-XX:+UseZGC"]),
    ("shenandoah", &["-XX:+UseShenandoahGC"]),
    ("genshenandoah", &["-XX:+UseShenandoahGC", "-XX:ShenandoahGCMode=generational"]),
];
const LOGGED: [&str; 3] = ["gc", "gc*", "gc*,safepoint"];

/// A rule that reports missing data is not an alarm.
const SAYS_OF_THE_LOG: [&str; 1] = ["log-lacks-figures"];

/// One run of the program.
struct Run<'a> {
    name: String,
    java: &'a Path,
    collector: &'a [&'a str],
    logged: &'a str,
    heap_mib: u64,
    live_mib: u64,
    garbage_mib_per_s: u64,
    seconds: u64,
    seed: u64,
}

/// How a program gets its processors.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Share {
    /// Before all others of the machine, by a real-time priority.
    First,
    /// The least of them, with others that never sleep.
    Starved,
}

impl Run<'_> {
    /// The log and how long its threads waited, if the program was well but for that; why not otherwise.
    fn log(&self, share: Share, classes: &Path, folder: &Path) -> Result<(Vec<u8>, RunDelay), String> {
        let log = folder.join(format!("{}-{share:?}.log", self.name));
        let numbers = [self.live_mib, self.garbage_mib_per_s, self.seconds, self.seed];
        // Both replace themselves by the JVM, so that its number is the child's. Priorities of the usual kind do not reach beyond a
        // session (autogroups), and leave waits of tens of milliseconds.
        let before: &[&str] = match share {
            Share::First => &["chrt", "--rr", "1"],
            // With the same weight as the others it waits for a few milliseconds at a time, of which nothing comes.
            Share::Starved => &["taskset", "-c", "0", "nice", "-n", "10"],
        };
        let mut command = Command::new(before[0]);
        command.args(&before[1..]);
        let child = command
            .arg(self.java)
            .args(self.collector)
            .arg(format!("-Xlog:{}:file={}", self.logged, log.display()))
            .args([format!("-Xmx{}m", self.heap_mib), "-cp".to_owned(), classes.display().to_string()])
            .arg("Healthy")
            .args(numbers.map(|number| number.to_string()))
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .map_err(|e| e.to_string())?;
        let watch = RunDelayWatch::start(child.id());
        let output = child.wait_with_output().map_err(|e| e.to_string())?;
        let waited = watch.end().ok_or("the kernel keeps no account of threads that wait")?;
        let said = String::from_utf8_lossy(&output.stdout);
        let paused_percent: f64 = said.trim().parse().map_err(|_| {
            let all = format!("{said} {}", String::from_utf8_lossy(&output.stderr));
            all.lines().next().unwrap_or_default().to_owned()
        })?;
        if share == Share::First && PAUSED_PERCENT_MAX <= paused_percent {
            return Err(format!("paused {paused_percent:.1} % of the time"));
        }
        let bytes = std::fs::read(&log).map_err(|e| e.to_string())?;
        // A run of several hundred leaves nothing.
        let _ = std::fs::remove_file(&log);
        Ok((bytes, waited))
    }
}

/// Programs that keep the first processor busy until this goes.
struct Spinners(Vec<Child>);

impl Spinners {
    fn start() -> Spinners {
        let spin = || {
            let mut command = Command::new("taskset");
            command.args(["-c", "0", "sh", "-c", "while :; do :; done"]).spawn().expect("taskset")
        };
        Spinners((0..SPINNERS).map(|_| spin()).collect())
    }
}

impl Drop for Spinners {
    fn drop(&mut self) {
        for child in &mut self.0 {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

/// What the runs of one share showed.
#[derive(Default)]
struct Seen {
    /// Logs of programs that never waited long for a processor.
    well: usize,
    /// Logs of those that did.
    starved: usize,
    aside: Vec<String>,
    /// By rule, in logs of programs that were well, or of what no wait brings about.
    alarms: BTreeMap<String, Vec<String>>,
    /// In logs of the others, by rule: all, and those that do not name the processors.
    of_starved: BTreeMap<String, (usize, Vec<String>)>,
}

impl Seen {
    fn take(&mut self, run: &Run<'_>, log: Result<(Vec<u8>, RunDelay), String>) {
        let (log, waited) = match log {
            Ok(log) => log,
            Err(why) => return self.aside.push(format!("{}: {why}", run.name)),
        };
        let is_well = waited.longest <= WAITED_MAX;
        *(if is_well { &mut self.well } else { &mut self.starved }) += 1;
        let found = analysed::report(&log).findings.into_iter();
        for finding in found.filter(|finding| !SAYS_OF_THE_LOG.contains(&finding.rule.as_str())) {
            let told = format!("{} ({}), waited {waited:.0?}: {}", run.name, run.logged, told(&finding));
            let is_alarm = is_well || !BROUGHT_ABOUT_BY_WAITING.contains(&finding.rule.as_str());
            if is_alarm {
                self.alarms.entry(finding.rule.to_string()).or_default().push(told);
                continue;
            }
            let (all, nameless) = self.of_starved.entry(finding.rule.to_string()).or_default();
            *all += 1;
            let names_it = finding.ways().any(|way| way.contains("processors"));
            if !names_it {
                nameless.push(told);
            }
        }
    }

    /// Runs all, some at once.
    fn of(runs: Vec<Run<'_>>, share: Share, folder: &Path) -> Seen {
        let (runs, seen) = (Mutex::new(runs), Mutex::new(Seen::default()));
        std::thread::scope(|scope| {
            for _ in 0..AT_ONCE {
                scope.spawn(|| {
                    while let Some(run) = { runs.lock().expect("no panic").pop() } {
                        let log = run.log(share, folder, folder);
                        seen.lock().expect("no panic").take(&run, log);
                    }
                });
            }
        });
        seen.into_inner().expect("no panic")
    }

    fn print(&self, of: &str) {
        println!(
            "{of}: {} logs of programs that were well, {} of programs that waited for a processor; {} put aside: {:?}",
            self.well,
            self.starved,
            self.aside.len(),
            self.aside
        );
        for (rule, told) in &self.alarms {
            println!("  {rule}: {} alarms, such as {}", told.len(), told[0]);
        }
        for (rule, (all, nameless)) in &self.of_starved {
            println!(
                "  {rule}: {all} of {} that waited; not named by {}: {:?}",
                self.starved,
                nameless.len(),
                nameless.first()
            );
        }
    }

    /// Logs in which a rule could have raised a false alarm. One that waited counts as long as the rule found nothing in any such log:
    /// else it is not known whether it had found something without the wait.
    fn logs(&self, rule: &str) -> usize {
        self.well + if self.of_starved.contains_key(rule) { 0 } else { self.starved }
    }

    fn nameless(&self) -> impl Iterator<Item = &String> {
        self.of_starved.values().flat_map(|(_, nameless)| nameless)
    }
}

fn runs<'a>(javas: &'a BTreeMap<u32, PathBuf>) -> Vec<Run<'a>> {
    let mut random = SplitMix(1);
    let mut kinds = Vec::new();
    for (feature, java) in javas {
        let known = |(_, options): &&(&str, &'static [&str])| {
            let version = Command::new(java).args(*options).arg("-version").output();
            version.is_ok_and(|output| output.status.success())
        };
        kinds.extend(COLLECTORS.iter().filter(known).map(|(name, options)| (feature, java, *name, *options)));
    }
    // Some are put aside.
    let of_each = (11 * LOGS_MIN / 10).div_ceil(kinds.len().max(1)) as u64;
    let mut runs = Vec::new();
    for number in 0..of_each {
        for (feature, java, name, collector) in &kinds {
            let heap_mib = 64 << (number % 3);
            let live_mib = heap_mib * (5 + random.bits() % 25) / 100;
            let garbage_mib_per_s = heap_mib * (30 + random.bits() % 90) / 100;
            runs.push(Run {
                name: format!("{feature}-{name}-{number}"),
                java,
                collector,
                logged: LOGGED[(number / 3 % 3) as usize],
                heap_mib,
                live_mib,
                garbage_mib_per_s,
                seconds: 3 + number % 3,
                seed: number,
            });
        }
    }
    runs
}

fn told(finding: &Finding<RuleId>) -> String {
    format!("{}: {}", finding.claim, finding.evidence_line())
}

#[test]
#[ignore = "long: several hundred JVMs of some seconds each"]
fn no_rule_finds_anything_in_more_than_a_percent_of_healthy_logs() {
    let javas = each_java(64);
    let Some(javac) = find_tool("javac") else { skip!("no javac") };
    if !Command::new("chrt").args(["--rr", "1", "true"]).status().is_ok_and(|status| status.success()) {
        skip!("only root may give a real-time priority");
    }
    let folder = tempfile::tempdir().expect("a folder");
    let source = testdata("gclog/Healthy.java");
    let compiled =
        Command::new(javac).args(["--release", "17", "-d"]).arg(folder.path()).arg(source).status();
    assert!(compiled.is_ok_and(|status| status.success()));
    let mut starved = runs(&javas);
    starved.truncate(STARVED);
    let starved = {
        let _spinners = Spinners::start();
        Seen::of(starved, Share::Starved, folder.path())
    };
    starved.print("starved on purpose");
    let seen = Seen::of(runs(&javas), Share::First, folder.path());
    seen.print("before all others");
    assert!(0 < starved.starved, "nothing waited for a processor that was taken");
    assert!(!starved.of_starved.is_empty(), "a wait for a processor brought nothing about");
    let nameless: Vec<_> = starved.nameless().chain(seen.nameless()).collect();
    assert!(nameless.is_empty(), "findings that a wait brings about and that do not name it: {nameless:#?}");
    let is_often = |(rule, told): &(&String, &Vec<String>)| {
        FALSE_SHARE_MAX * seen.logs(rule) as f64 <= told.len() as f64
    };
    let often: Vec<_> = seen.alarms.iter().filter(is_often).collect();
    assert!(often.is_empty(), "{often:#?}");
    let logs = assay_gcstudy::rules().iter().map(|rule| seen.logs(&rule.id)).min().unwrap_or(0);
    if logs < LOGS_MIN {
        skip!("the machine is busy: {logs} logs of programs that were well, {LOGS_MIN} are needed");
    }
}
