//! Programs with one trouble each (`testdata/gclog/Troubles.java`): what is named first in their logs, and whether the advice helps.
//!
//! A trouble is planted by the program and its options, and so is known. What helps is counted in collections, not in time: a busy machine
//! changes times. A program that waits for a processor has a second trouble, so these run before all others where that may be asked for.
//!
//! `ASSAY_TEST_PLANTED_LOGS=FOLDER` keeps the logs there. A log that is there already is read instead of made: another ranking is tried on
//! the same logs.

use crate::analysed;
use assay_model::{GcFigure, GcReport};
use assay_testkit::{each_java, find_tool, skip, testdata};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::LazyLock;

/// Of 47 planted troubles 42 are to be named first.
const FIRST_SHARE_MIN: f64 = 42.0 / 47.0;

const KEPT_LOGS: &str = "ASSAY_TEST_PLANTED_LOGS";

/// Whether a program may run before all others of the machine. Priorities of the usual kind do not reach beyond a session.
static IS_FIRST: LazyLock<bool> = LazyLock::new(|| {
    Command::new("chrt").args(["--rr", "1", "true"]).status().is_ok_and(|status| status.success())
});

/// A program, its options, and the rules of which one is to be first.
struct Plant {
    options: &'static [&'static str],
    /// Trouble, seconds, and its number.
    program: [&'static str; 3],
    first: &'static [&'static str],
    /// What the finding advises, and a figure that is to become smaller by that.
    advice: Option<Advice>,
}

struct Advice {
    /// An option that it leaves out or sets anew.
    without: &'static str,
    with: &'static [&'static str],
    figure: fn(&GcReport) -> f64,
}

const fn plant(
    options: &'static [&'static str],
    program: [&'static str; 3],
    first: &'static [&'static str],
) -> Plant {
    Plant { options, program, first, advice: None }
}

impl Plant {
    const fn helped(
        mut self,
        without: &'static str,
        with: &'static [&'static str],
        figure: fn(&GcReport) -> f64,
    ) -> Plant {
        self.advice = Some(Advice { without, with, figure });
        self
    }
}

fn pauses(report: &GcReport) -> f64 {
    report.pauses.count as f64
}

fn full(report: &GcReport) -> f64 {
    GcFigure::by_id("full_collections").and_then(|figure| figure.read(report)).unwrap_or(0.0)
}

fn cycles(report: &GcReport) -> f64 {
    report.triggers.values().sum::<u64>() as f64
}

const LEAK: &[&str] = &["live-set-grows"];
const SMALL: &[&str] = &["heap-too-small"];
const EXPLICIT: &[&str] = &["explicit-gc"];
const METASPACE: &[&str] = &["metaspace-full", "metaspace-threshold"];
const YOUNG: &[&str] = &["young-generation-small"];

static PLANTS: &[Plant] = &[
    plant(&["-XX:+UseSerialGC", "-Xmx96m"], ["leak", "14", "6"], LEAK),
    plant(&["-XX:+UseParallelGC", "-Xmx96m"], ["leak", "14", "6"], LEAK),
    plant(&["-XX:+UseG1GC", "-Xmx96m"], ["leak", "14", "6"], LEAK),
    plant(&["-XX:+UseZGC", "-Xmx128m"], ["leak", "14", "8"], LEAK),
    plant(&["-XX:+UseShenandoahGC", "-Xmx96m"], ["leak", "14", "6"], LEAK),
    plant(&["-XX:+UseSerialGC", "-Xmx64m"], ["live", "8", "50"], SMALL).helped("-Xmx", &["-Xmx101m"], full),
    plant(&["-XX:+UseParallelGC", "-Xmx64m"], ["live", "8", "37"], SMALL).helped("-Xmx", &["-Xmx101m"], full),
    plant(&["-XX:+UseG1GC", "-Xmx64m"], ["live", "8", "50"], SMALL).helped("-Xmx", &["-Xmx101m"], pauses),
    plant(&["-XX:+UseShenandoahGC", "-Xmx64m"], ["live", "8", "46"], SMALL),
    plant(&["-XX:+UseSerialGC", "-Xmx128m"], ["explicit", "6", "40"], EXPLICIT),
    plant(&["-XX:+UseG1GC", "-Xmx128m"], ["explicit", "6", "40"], EXPLICIT).helped(
        "-none",
        &["-XX:+ExplicitGCInvokesConcurrent"],
        full,
    ),
    plant(&["-XX:+UseParallelGC", "-Xmx128m"], ["explicit", "6", "40"], EXPLICIT).helped(
        "-none",
        &["-XX:+DisableExplicitGC"],
        full,
    ),
    plant(&["-XX:+UseZGC", "-Xmx256m"], ["explicit", "6", "10"], EXPLICIT).helped(
        "-none",
        &["-XX:+DisableExplicitGC"],
        cycles,
    ),
    plant(&["-XX:+UseShenandoahGC", "-Xmx128m"], ["explicit", "6", "10"], EXPLICIT).helped(
        "-none",
        &["-XX:+DisableExplicitGC"],
        cycles,
    ),
    plant(&["-XX:+UseG1GC", "-Xmx128m", "-XX:MaxDirectMemorySize=16m"], ["direct", "6", "400"], EXPLICIT)
        .helped("-XX:MaxDirectMemorySize", &["-XX:MaxDirectMemorySize=256m"], full),
    plant(&["-XX:+UseZGC", "-Xmx256m", "-XX:MaxDirectMemorySize=16m"], ["direct", "6", "400"], EXPLICIT)
        .helped("-XX:MaxDirectMemorySize", &["-XX:MaxDirectMemorySize=256m"], cycles),
    plant(
        &["-XX:+UseParallelGC", "-Xmx64m", "-XX:MaxMetaspaceSize=12m"],
        ["loaders", "8", "1000"],
        METASPACE,
    )
    .helped("-XX:MaxMetaspaceSize", &["-XX:MaxMetaspaceSize=96m"], full),
    plant(&["-XX:+UseG1GC", "-Xmx64m", "-XX:MaxMetaspaceSize=12m"], ["loaders", "8", "1000"], METASPACE),
    plant(&["-XX:+UseZGC", "-Xmx128m", "-XX:MaxMetaspaceSize=12m"], ["loaders", "8", "1000"], METASPACE),
    plant(&["-XX:+UseG1GC", "-Xmx128m"], ["large", "6", "700"], &["humongous-allocations"]),
    plant(&["-XX:+UseG1GC", "-Xmx512m", "-Xmn4m"], ["churn", "8", "2"], YOUNG).helped("-Xmn", &[], pauses),
    plant(&["-XX:+UseParallelGC", "-Xmx512m", "-Xmn2m"], ["churn", "8", "2"], YOUNG).helped(
        "-Xmn",
        &[],
        pauses,
    ),
    plant(&["-XX:+UseSerialGC", "-Xmx512m", "-Xmn2m"], ["churn", "8", "2"], YOUNG).helped(
        "-Xmn",
        &[],
        pauses,
    ),
    plant(
        &["-XX:+UseParallelGC", "-Xmx64m", "-XX:ParallelGCThreads=64"],
        ["churn", "8", "2"],
        &["gc-threads-many"],
    ),
    plant(&["-XX:+UseG1GC", "-Xmx256m"], ["finalizers", "8", "120"], &["reference-processing-long"]),
    plant(&["-XX:+UseG1GC", "-Xmx64m"], ["threads", "8", "400"], &["root-scan-long"]),
    plant(&["-XX:+UseParallelGC", "-Xmx128m"], ["histograms", "6", "40"], &["full-gc-by-tools"]),
    plant(&["-XX:+UseG1GC", "-Xmx128m"], ["dumps", "6", "0"], &["safepoints-other"]),
    plant(&["-XX:+UseZGC", "-Xmx48m"], ["churn", "6", "2"], &["allocation-stalls"]),
];

impl Plant {
    /// What is said of its log, with these options; `None` where the JVM does not know them.
    fn report(&self, java: &Path, classes: &Path, options: &[&str]) -> Option<GcReport> {
        Some(analysed::report(&self.log(java, classes, options)?))
    }

    /// The same with its own options, of a log that is kept where that is asked for.
    fn kept_report(&self, (feature, java): (u32, &Path), classes: &Path) -> Option<GcReport> {
        let Some(folder) = std::env::var_os(KEPT_LOGS) else {
            return self.report(java, classes, self.options);
        };
        let name = self.name(feature).replace(|c: char| !c.is_ascii_alphanumeric(), "_");
        let path = Path::new(&folder).join(format!("{name}.log"));
        if !path.exists() {
            std::fs::write(&path, self.log(java, classes, self.options)?).expect("a folder for logs");
        }
        Some(analysed::report(&std::fs::read(&path).expect("the log")))
    }

    fn log(&self, java: &Path, classes: &Path, options: &[&str]) -> Option<Vec<u8>> {
        let folder = tempfile::tempdir().expect("a folder");
        let log = folder.path().join("gc.log");
        let tags = "gc*,gc+phases=debug,gc+heap=debug,safepoint";
        let mut command = Command::new(if *IS_FIRST { "chrt".as_ref() } else { java.as_os_str() });
        if *IS_FIRST {
            command.args(["--rr", "1"]).arg(java);
        }
        let status = command
            .args(options)
            // Whole: the last file of a log that went round lacks the beginning.
            .arg(format!("-Xlog:{tags}:file={}::filecount=0", log.display()))
            .arg("-cp")
            .arg(classes)
            .arg("Troubles")
            .args(self.program)
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .status();
        status.is_ok_and(|status| status.success()).then_some(())?;
        Some(std::fs::read(&log).expect("the log"))
    }

    fn name(&self, feature: u32) -> String {
        format!("{feature} {} {}", self.options.join(" "), self.program.join(" "))
    }
}

/// The programs, compiled, and the JVMs that run them.
fn prepared() -> Option<(tempfile::TempDir, Vec<(u32, PathBuf)>)> {
    let javac = find_tool("javac")?;
    let folder = tempfile::tempdir().expect("a folder");
    let source = testdata("gclog/Troubles.java");
    let compiled = Command::new(javac)
        .args(["--release", "17", "-nowarn", "-d"])
        .arg(folder.path())
        .arg(source)
        .status();
    assert!(compiled.is_ok_and(|status| status.success()));
    Some((folder, each_java(64).into_iter().collect()))
}

#[test]
#[ignore = "long: sixty JVMs of some seconds each"]
fn the_planted_trouble_is_named_first() {
    let Some((classes, javas)) = prepared() else { skip!("no javac") };
    let (mut all, mut first) = (0, 0);
    for (feature, java) in &javas {
        for plant in PLANTS {
            let Some(report) = plant.kept_report((*feature, java), classes.path()) else { continue };
            let rules: Vec<&str> = report.findings.iter().map(|found| found.rule.as_str()).collect();
            let is_first = rules.first().is_some_and(|rule| plant.first.contains(rule));
            println!("{} {}: {rules:?}", if is_first { "first" } else { "NOT  " }, plant.name(*feature));
            all += 1;
            first += u32::from(is_first);
        }
    }
    println!("{first} of {all} named first");
    assert!(FIRST_SHARE_MIN * f64::from(all) <= f64::from(first), "{first} of {all}");
}

#[test]
#[ignore = "long: thirty JVMs of some seconds each, once without the advice and once with it"]
fn the_advice_on_a_planted_trouble_helps() {
    let Some((classes, javas)) = prepared() else { skip!("no javac") };
    let Some((feature, java)) = javas.last() else { skip!("no JVM") };
    let mut worse = Vec::new();
    for plant in PLANTS {
        let Some(advice) = &plant.advice else { continue };
        let kept = plant.options.iter().filter(|option| !option.starts_with(advice.without));
        let mended: Vec<&str> = kept.chain(advice.with).copied().collect();
        let run = |options: &[&str]| plant.report(java, classes.path(), options).map(|r| (advice.figure)(&r));
        let (Some(before), Some(after)) = (run(plant.options), run(&mended)) else { continue };
        println!("{}: {before} before, {after} with {:?}", plant.name(*feature), advice.with);
        if before <= after {
            worse.push(plant.name(*feature));
        }
    }
    assert!(worse.is_empty(), "the advice did not help: {worse:#?}");
}
