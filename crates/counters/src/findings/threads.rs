//! What threads do with their time.

use super::rule::{Found, Rule};
use super::words::{cpus, per_cpu_s, percent, pool, seconds, share};
use assay_model::{RuleId, Severity, ThreadRole, Threshold, TimeGroup, TimeReport};

pub(super) static RULES: &[&Rule] = &[&BUSY_WAIT, &SHORT_RUNS, &STILL_COMPILING];

/// Part of the time in which a thread that never waits runs or is ready to.
const READY: Threshold = Threshold::percent("ready", 95.0);
/// Times a second that a thread which never waits gives its processor up all the same: the JVM stops it for a collection.
const STOPS: Threshold = Threshold::count("stops", 1);
/// Part of the CPU time of a thread that spins or computes that may be in the kernel.
const KERNEL: Threshold = Threshold::percent("kernel", 20.0);
/// Time that is long for a computation which waits for nothing.
const SPAN: Threshold = Threshold::seconds("span", 2.0);
/// Waits in a second of CPU time: it runs for less than 100 µs between two of them.
const WAITS: Threshold = Threshold::count("waits", 10_000);
/// Part of the CPU time that a pool must have to matter.
const POOL: Threshold = Threshold::percent("pool", 20.0);
/// Share of CPU time in JIT compilers above which a server counts as warming up. A convention: compilers of a brokerage server (JDK 17, 2 processors,
/// 400 requests a second) used 45 to 54 % from 60 to 90 s after its start, and at most 21 % later.
const COMPILERS: Threshold = Threshold::percent("compilers", 20.0);
/// The same, for who judges a warm-up by it.
pub const COMPILERS_SHARE_MAX: f64 = COMPILERS.share();

static BUSY_WAIT: Rule = Rule {
    id: RuleId::of("busy-wait"),
    severity: Severity::Warning,
    thresholds: &[READY, STOPS, KERNEL, SPAN],
    evidence: "A thread's CPU time and voluntary switches in {span} or more: it ran or was ready {ready} of the time, stopped at most \
               {stops} time a second, and had at most {kernel} of its CPU time in the kernel.",
    cause: "A busy-wait loop, or one long computation.",
    fix: "See what it runs: `jcmd PID Thread.print`.",
    alternatives: &[],
    judge: busy_wait,
};

/// A thread of the application that ran all the time and waited for nothing.
fn busy_wait(report: &TimeReport) -> Vec<Found> {
    if (report.duration_ns as f64) < SPAN.value * 1e9 {
        return Vec::new();
    }
    let may_wait = [ThreadRole::Application, ThreadRole::Carrier, ThreadRole::Poller, ThreadRole::Unknown];
    let is_one = |thread: &&assay_model::ThreadTime| {
        let ready_ns = thread.cpu_ns.saturating_add(thread.run_delay_ns.unwrap_or(0));
        may_wait.contains(&thread.role)
            && thread
                .voluntary_switches
                .is_some_and(|n| n as f64 <= STOPS.value * report.duration_ns as f64 / 1e9)
            && READY.share() <= share(ready_ns, report.duration_ns)
            && thread.kernel_share.is_some_and(|share| share.estimate <= KERNEL.share())
    };
    let found: Vec<_> = report.threads.iter().filter(is_one).collect();
    // More of them than there are processors are an overloaded run queue.
    let is_crowd = cpus(report).is_some_and(|cpus| cpus < found.len() as f64);
    let Some(first) = found.first().filter(|_| !is_crowd) else { return Vec::new() };
    let more = match found.len() {
        1 => String::new(),
        number => format!(" and {} more", number - 1),
    };
    let claim = format!(
        "{}{more} ran all the time and waited for nothing: a busy-wait loop, or one long computation",
        first.name
    );
    let evidence = format!(
        "thread {}: {} of CPU time and {} ready to run in {}, with {} voluntary switches; its stack shows which of the two it is",
        first.tid,
        seconds(first.cpu_ns),
        first.run_delay_ns.map_or("an unknown time".to_owned(), seconds),
        seconds(report.duration_ns),
        first.voluntary_switches.unwrap_or(0)
    );
    vec![
        BUSY_WAIT
            .finding(claim, evidence)
            .to_do(format!("See what it runs: jcmd {} Thread.print", report.pid)),
    ]
}

/// Whether threads of the application wait after each few microseconds.
pub(super) fn has_short_runs(report: &TimeReport, group: &TimeGroup) -> bool {
    [ThreadRole::Application, ThreadRole::Carrier].contains(&group.role)
        && 1 < group.sums.threads
        && POOL.share() <= share(group.sums.cpu_ns, report.process.cpu_ns)
        && group.sums.voluntary_switches.is_some_and(|n| WAITS.value <= per_cpu_s(n, group.sums.cpu_ns))
}

static SHORT_RUNS: Rule = Rule {
    id: RuleId::of("short-runs"),
    severity: Severity::Warning,
    thresholds: &[WAITS, POOL],
    evidence: "Voluntary switches in a second of CPU time, from {waits} on, of a pool with {pool} of the CPU time.",
    cause: "A lock that is handed from thread to thread, or I/O in tiny pieces.",
    fix: "See what they are parked on: `jcmd PID Thread.print`, several times.",
    alternatives: &[],
    judge: hand_over,
};

/// Threads of a pool that stop after each few microseconds: a lock that is handed over, or very small I/O.
fn hand_over(report: &TimeReport) -> Vec<Found> {
    let finding = |group: &TimeGroup| {
        let rate = per_cpu_s(group.sums.voluntary_switches.unwrap_or(0), group.sums.cpu_ns);
        let claim = format!(
            "{} wait after each {:.0} µs of CPU time: a lock that is handed from thread to thread, or I/O in tiny pieces",
            pool(group),
            1e6 / rate
        );
        let evidence = format!(
            "{rate:.0} voluntary switches in each second of CPU time, of which it has {}; counts from {WAITS} on. /proc does not \
                 say what a thread waits for",
            percent(share(group.sums.cpu_ns, report.process.cpu_ns))
        );
        SHORT_RUNS
            .finding(claim, evidence)
            .to_do(format!("See what they are parked on: jcmd {} Thread.print several times", report.pid))
    };
    report.groups.iter().filter(|group| has_short_runs(report, group)).map(finding).collect()
}

static STILL_COMPILING: Rule = Rule {
    id: RuleId::of("still-compiling"),
    severity: Severity::Note,
    thresholds: &[COMPILERS],
    evidence: "CPU time of the compilers, from {compilers} of the process's on.",
    cause: "The JVM is warming up.",
    fix: "Measure again when it has run longer: figures for each request are not yet those of a warm server.",
    alternatives: &[],
    judge: still_compiling,
};

/// The JVM still compiles.
fn still_compiling(report: &TimeReport) -> Vec<Found> {
    let of = |role: &assay_model::RoleTime| role.sums.cpu_ns;
    let compilers = report.roles.iter().filter(|role| ThreadRole::COMPILERS.contains(&role.role));
    let compilers_ns: u64 = compilers.map(of).sum();
    let part = share(compilers_ns, report.process.cpu_ns);
    if part < COMPILERS.share() {
        return Vec::new();
    }
    let effect = Some("figures for each request are not yet those of a warm server".to_owned());
    vec![Found {
        effect,
        ..STILL_COMPILING
            .finding(
                format!("The JVM is warming up: {} of the CPU time is compilation", percent(part)),
                format!(
                    "compilers used {} of {}; counts from {COMPILERS} on",
                    seconds(compilers_ns),
                    seconds(report.process.cpu_ns)
                ),
            )
            .to_do("Measure again when it has run longer")
    }]
}
