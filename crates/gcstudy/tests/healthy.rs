//! No finding where nothing is wrong: several hundred logs of programs that are well, of every collector of each JDK that is here.
//!
//! What is well is said without any rule: a live set that is built at the start, stays as large and takes a small part of the heap, an
//! even rate of garbage, no collection that was asked for, and by the JVM's own beans less than a twentieth of the time in pauses.
//! Nor is a program well that waits for a processor: where the machine kept a thread of this process waiting meanwhile, the log is put
//! aside.

mod analysed;

use assay_model::{GcFinding, GcRule};
use assay_testkit::{SplitMix, StandstillWatch, each_java, find_tool, skip, testdata};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Mutex;
use std::time::Duration;

/// With none among so many, fewer than 1 % have one (the rule of three: 3/300, at 95 %).
const LOGS_MIN: usize = 300;
const FALSE_SHARE_MAX: f64 = 0.01;
/// Longest share of the time in pauses of a program that is well, percent.
const PAUSED_PERCENT_MAX: f64 = 5.0;
/// Longest time for which a thread beside it waited for a processor.
const WAITED_MAX: Duration = Duration::from_millis(8);
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
const SAYS_OF_THE_LOG: [GcRule; 1] = [GcRule::LogLacksFigures];

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

impl Run<'_> {
    /// The log, if the program was well; why not otherwise.
    fn log(&self, classes: &Path, folder: &Path) -> Result<Vec<u8>, String> {
        let log = folder.join(format!("{}.log", self.name));
        let numbers = [self.live_mib, self.garbage_mib_per_s, self.seconds, self.seed];
        let watch = StandstillWatch::start();
        let output = Command::new(self.java)
            .args(self.collector)
            .arg(format!("-Xlog:{}:file={}", self.logged, log.display()))
            .args([format!("-Xmx{}m", self.heap_mib), "-cp".to_owned(), classes.display().to_string()])
            .arg("Healthy")
            .args(numbers.map(|number| number.to_string()))
            .output()
            .expect("the JVM starts");
        let waited = watch.end();
        let said = String::from_utf8_lossy(&output.stdout);
        let paused_percent: f64 = said.trim().parse().map_err(|_| {
            let all = format!("{said} {}", String::from_utf8_lossy(&output.stderr));
            all.lines().next().unwrap_or_default().to_owned()
        })?;
        if PAUSED_PERCENT_MAX <= paused_percent {
            return Err(format!("paused {paused_percent:.1} % of the time"));
        }
        if WAITED_MAX < waited {
            return Err(format!("the machine was busy for {waited:.0?}"));
        }
        let bytes = std::fs::read(&log).map_err(|e| e.to_string());
        // A run of several hundred leaves nothing.
        let _ = std::fs::remove_file(&log);
        bytes
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

fn told(finding: &GcFinding) -> String {
    format!("{}: {}", finding.claim, finding.evidence)
}

#[test]
#[ignore = "long: several hundred JVMs of some seconds each"]
fn no_rule_finds_anything_in_more_than_a_percent_of_healthy_logs() {
    let javas = each_java(64);
    let Some(javac) = find_tool("javac") else { skip!("no javac") };
    let folder = tempfile::tempdir().expect("a folder");
    let source = testdata("gclog/Healthy.java");
    let compiled =
        Command::new(javac).args(["--release", "17", "-d"]).arg(folder.path()).arg(source).status();
    assert!(compiled.is_ok_and(|status| status.success()));
    let runs = Mutex::new(runs(&javas));
    let all = Mutex::new((0, Vec::new(), BTreeMap::<String, Vec<String>>::new()));
    std::thread::scope(|scope| {
        for _ in 0..AT_ONCE {
            scope.spawn(|| {
                while let Some(run) = { runs.lock().expect("no panic").pop() } {
                    let log = run.log(folder.path(), folder.path());
                    let mut all = all.lock().expect("no panic");
                    match log {
                        Err(why) => all.1.push(format!("{}: {why}", run.name)),
                        Ok(log) => {
                            all.0 += 1;
                            let found = analysed::report(&log).findings.into_iter();
                            for finding in found.filter(|finding| !SAYS_OF_THE_LOG.contains(&finding.rule)) {
                                let told = format!("{} ({}): {}", run.name, run.logged, told(&finding));
                                let rule: GcRule = finding.rule;
                                all.2.entry(rule.word().to_owned()).or_default().push(told);
                            }
                        }
                    }
                }
            });
        }
    });
    let (logs, aside, found) = all.into_inner().expect("no panic");
    println!("{logs} healthy logs; {} runs put aside: {aside:?}", aside.len());
    for (rule, told) in &found {
        println!("{rule}: {} of {logs}, such as {}", told.len(), told[0]);
    }
    if logs < LOGS_MIN {
        skip!("the machine is busy: {logs} logs of programs that were well, {LOGS_MIN} are needed");
    }
    let often: Vec<&String> = found
        .iter()
        .filter(|(_, told)| FALSE_SHARE_MAX * logs as f64 <= told.len() as f64)
        .map(|(rule, _)| rule)
        .collect();
    assert!(often.is_empty(), "{often:?}");
}
