//! Compilation: of a server that is warming up, and of one that never is warm.

use super::rule::{Found, Rule};
use super::words::{percent, seconds, share};
use assay_model::{RuleId, Severity, ThreadRole, Threshold, TimeReport};

pub(super) static RULES: &[&Rule] = &[&CLASSES_WITHOUT_END, &COMPILING_LATE, &STILL_COMPILING];

/// Share of CPU time in JIT compilers above which a server counts as warming up. A convention: compilers of a brokerage server (JDK 17, 2 processors,
/// 400 requests a second) used 45 to 54 % from 60 to 90 s after its start, and at most 21 % later.
const COMPILERS: Threshold = Threshold::percent("compilers", 20.0);
/// The same, for who judges a warm-up by it.
pub const COMPILERS_SHARE_MAX: f64 = COMPILERS.share();
/// Classes loaded in a second by a program that has started: one that is warm loads none.
const CLASSES: Threshold = Threshold::count("classes", 10);
/// CPU time since the start after which a program has loaded its classes. Large ones load 30,000 in as many seconds.
const STARTED: Threshold = Threshold::seconds("started", 60.0);
/// CPU time since the start after which a server is warm. By the clock it may take any time: one that is idle compiles nothing.
const WARM: Threshold = Threshold::seconds("warm", 300.0);

/// What the compilers used, and their part of the CPU time, if it is enough to matter.
fn compilers(report: &TimeReport) -> Option<(u64, f64)> {
    let compilers = report.roles.iter().filter(|role| ThreadRole::COMPILERS.contains(&role.role));
    let cpu_ns = compilers.map(|role| role.sums.cpu_ns).sum();
    let part = share(cpu_ns, report.process.cpu_ns);
    (COMPILERS.share() <= part).then_some((cpu_ns, part))
}

/// CPU time since the start, if it is as much as a threshold says.
fn since_start_ns(report: &TimeReport, least: Threshold) -> Option<u64> {
    report.process.cpu_since_start_ns.filter(|ns| least.value * 1e9 <= *ns as f64)
}

/// `compilers used 2.10 s of 4.20 s; counts from 20 % on`
fn used(report: &TimeReport, cpu_ns: u64) -> String {
    format!(
        "compilers used {} of {}; counts from {COMPILERS} on",
        seconds(cpu_ns),
        seconds(report.process.cpu_ns)
    )
}

static CLASSES_WITHOUT_END: Rule = Rule {
    id: RuleId::of("classes-without-end"),
    severity: Severity::Warning,
    thresholds: &[COMPILERS, CLASSES, STARTED],
    evidence: "CPU time of the compilers, from {compilers} of the process's on, and classes loaded per \
        second, from {classes} on. The program has used {started} of CPU time since its start.",
    cause: "Scripts, rules, expressions or proxies become new classes at each use. Each class begins in the \
        interpreter, and its methods are compiled again.",
    fix: "See whose class loaders grow: `jcmd PID VM.classloader_stats`.",
    alternatives: &[
        "Keep what was made for the next use.",
        "See what the class metadata takes: `assay memory PID`.",
    ],
    judge: classes_without_end,
};

/// Classes a second that are made long after the start.
fn classes_made(report: &TimeReport) -> Option<(f64, u64)> {
    let held = report.jvm_held?;
    let rate = held.classes_loaded? as f64 * 1e9 / held.duration_ns.max(1) as f64;
    (CLASSES.value <= rate).then_some((rate, since_start_ns(report, STARTED)?))
}

/// The JVM compiles the methods of classes that are made all the time.
fn classes_without_end(report: &TimeReport) -> Vec<Found> {
    let found = || {
        let (cpu_ns, part) = compilers(report)?;
        let (rate, age_ns) = classes_made(report)?;
        let claim = format!(
            "New classes are made all the time, {rate:.0} a second: {} of the CPU time is compilation",
            percent(part)
        );
        let evidence = format!(
            "{}; the JVM has used {} since it started, and should have its classes by then, a finding from \
                {CLASSES} classes/s on",
            used(report, cpu_ns),
            seconds(age_ns)
        );
        let step = format!("See whose class loaders grow: jcmd {} VM.classloader_stats", report.pid);
        let memory = format!("See what the class metadata takes: assay memory {}", report.pid);
        Some(
            CLASSES_WITHOUT_END
                .finding(claim, evidence)
                .of_cpu(cpu_ns)
                .to_do(step)
                .or("Keep what was made for the next use")
                .or(memory),
        )
    };
    found().into_iter().collect()
}

static COMPILING_LATE: Rule = Rule {
    id: RuleId::of("compiling-late"),
    severity: Severity::Warning,
    thresholds: &[COMPILERS, WARM],
    evidence: "CPU time of the compilers, from {compilers} of the process's on, of a program that has used {warm} of CPU time since its \
               start.",
    cause: "Methods are compiled again: their code was thrown away because the code cache is full, or because what it assumed proved \
            wrong. Or other work than before has begun.",
    fix: "See whether the code cache is full: `jcmd PID Compiler.codecache`.",
    alternatives: &["See which methods are compiled: `-XX:+PrintCompilation`."],
    judge: compiling_late,
};

/// The JVM compiles when it should be warm, and makes no classes.
fn compiling_late(report: &TimeReport) -> Vec<Found> {
    let found = || {
        let (cpu_ns, part) = compilers(report).filter(|_| classes_made(report).is_none())?;
        let age_ns = since_start_ns(report, WARM)?;
        let claim = format!(
            "{} of the CPU time is compilation, though the JVM has used {} since it started",
            percent(part),
            seconds(age_ns)
        );
        let step = format!("See whether the code cache is full: jcmd {} Compiler.codecache", report.pid);
        let evidence = format!("{}, and as late from {WARM} since the start on", used(report, cpu_ns));
        let methods = "See which methods are compiled: -XX:+PrintCompilation";
        Some(COMPILING_LATE.finding(claim, evidence).of_cpu(cpu_ns).to_do(step).or(methods))
    };
    found().into_iter().collect()
}

static STILL_COMPILING: Rule = Rule {
    id: RuleId::of("still-compiling"),
    severity: Severity::Note,
    thresholds: &[COMPILERS, WARM],
    evidence: "CPU time of the compilers, from {compilers} of the process's on, if the program has used less \
        than {warm} since its start.",
    cause: "The JVM is warming up.",
    fix: "Measure again when it has run longer: figures for each request are not yet those of a warm server.",
    alternatives: &[],
    judge: still_compiling,
};

/// The JVM still compiles.
fn still_compiling(report: &TimeReport) -> Vec<Found> {
    let found = || {
        let (cpu_ns, part) = compilers(report)?;
        if classes_made(report).is_some() || since_start_ns(report, WARM).is_some() {
            return None;
        }
        let effect = Some("figures for each request are not yet those of a warm server".to_owned());
        let claim = format!("The JVM is warming up: {} of the CPU time is compilation", percent(part));
        let finding = STILL_COMPILING.finding(claim, used(report, cpu_ns)).of_cpu(cpu_ns);
        Some(Found { effect, ..finding.to_do("Measure again when it has run longer") })
    };
    found().into_iter().collect()
}
