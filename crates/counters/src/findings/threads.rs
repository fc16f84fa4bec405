//! What threads do with their time.

use super::words::{cpus, per_cpu_s, percent, pool, seconds, share};
use assay_model::{Finding, Severity, ThreadRole, TimeGroup, TimeReport, TimeRule};

/// Part of the time in which a thread that never waits runs or is ready to.
const ALWAYS_READY: f64 = 0.95;
/// Times a second that a thread which never waits gives its processor up all the same: the JVM stops it for a collection.
const STOPS_PER_S: f64 = 1.0;
/// Part of the CPU time of a thread that spins or computes that may be in the kernel.
const KERNEL_PART_MAX: f64 = 0.2;
/// Time that is long for a computation which waits for nothing.
const BUSY_NS_MIN: u64 = 2_000_000_000;
/// Waits in a second of CPU time: it runs for less than 100 µs between two of them.
const WAITS_PER_CPU_S: f64 = 10_000.0;
/// Part of the CPU time that a pool must have to matter.
const POOL_PART: f64 = 0.2;
/// Share of CPU time in JIT compilers above which a server counts as warming up. A convention: compilers of a brokerage server (JDK 17, 2 processors,
/// 400 requests a second) used 45 to 54 % from 60 to 90 s after its start, and at most 21 % later.
pub const COMPILERS_SHARE_MAX: f64 = 0.2;

/// A thread of the application that ran all the time and waited for nothing.
pub(super) fn busy_wait(report: &TimeReport) -> Vec<Finding<TimeRule>> {
    if report.duration_ns < BUSY_NS_MIN {
        return Vec::new();
    }
    let may_wait = [ThreadRole::Application, ThreadRole::Carrier, ThreadRole::Poller, ThreadRole::Unknown];
    let is_one = |thread: &&assay_model::ThreadTime| {
        let ready_ns = thread.cpu_ns.saturating_add(thread.run_delay_ns.unwrap_or(0));
        may_wait.contains(&thread.role)
            && thread
                .voluntary_switches
                .is_some_and(|n| n as f64 <= STOPS_PER_S * report.duration_ns as f64 / 1e9)
            && ALWAYS_READY <= share(ready_ns, report.duration_ns)
            && thread.kernel_share.is_some_and(|share| share.estimate <= KERNEL_PART_MAX)
    };
    let found: Vec<_> = report.threads.iter().filter(is_one).collect();
    // More of them than there are processors are an overloaded run queue.
    let is_crowd = cpus(report).is_some_and(|cpus| cpus < found.len() as f64);
    let Some(first) = found.first().filter(|_| !is_crowd) else { return Vec::new() };
    let more = match found.len() {
        1 => String::new(),
        number => format!(" and {} more", number - 1),
    };
    vec![Finding::measured(TimeRule::BusyWait, Severity::Warning, format!(
            "{}{more} ran all the time and waited for nothing: a busy-wait loop, or one long computation",
            first.name
        ), format!(
            "thread {}: {} of CPU time and {} ready to run in {}, with {} voluntary switches; its stack shows which of the two it is",
            first.tid,
            seconds(first.cpu_ns),
            first.run_delay_ns.map_or("an unknown time".to_owned(), seconds),
            seconds(report.duration_ns),
            first.voluntary_switches.unwrap_or(0)
        )).to_do(format!("See what it runs: jcmd {} Thread.print", report.pid))]
}

/// Whether threads of the application wait after each few microseconds.
pub(super) fn has_short_runs(report: &TimeReport, group: &TimeGroup) -> bool {
    [ThreadRole::Application, ThreadRole::Carrier].contains(&group.role)
        && 1 < group.sums.threads
        && POOL_PART <= share(group.sums.cpu_ns, report.process.cpu_ns)
        && group.sums.voluntary_switches.is_some_and(|n| WAITS_PER_CPU_S <= per_cpu_s(n, group.sums.cpu_ns))
}

/// Threads of a pool that stop after each few microseconds: a lock that is handed over, or very small I/O.
pub(super) fn hand_over(report: &TimeReport) -> Vec<Finding<TimeRule>> {
    let finding = |group: &TimeGroup| {
        let rate = per_cpu_s(group.sums.voluntary_switches.unwrap_or(0), group.sums.cpu_ns);
        Finding::measured(TimeRule::ShortRuns, Severity::Warning, format!(
                "{} wait after each {:.0} µs of CPU time: a lock that is handed from thread to thread, or I/O in tiny pieces",
                pool(group),
                1e6 / rate
            ), format!(
                "{rate:.0} voluntary switches in each second of CPU time, of which it has {}; counts from {WAITS_PER_CPU_S} on. /proc does not \
                 say what a thread waits for",
                percent(share(group.sums.cpu_ns, report.process.cpu_ns))
            )).to_do(format!("See what they are parked on: jcmd {} Thread.print several times", report.pid))
    };
    report.groups.iter().filter(|group| has_short_runs(report, group)).map(finding).collect()
}

/// The JVM still compiles.
pub(super) fn still_compiling(report: &TimeReport) -> Vec<Finding<TimeRule>> {
    let of = |role: &assay_model::RoleTime| role.sums.cpu_ns;
    let compilers = report.roles.iter().filter(|role| ThreadRole::COMPILERS.contains(&role.role));
    let compilers_ns: u64 = compilers.map(of).sum();
    let part = share(compilers_ns, report.process.cpu_ns);
    if part < COMPILERS_SHARE_MAX {
        return Vec::new();
    }
    let effect = Some("figures for each request are not yet those of a warm server".to_owned());
    vec![Finding {
        effect,
        ..Finding::measured(
            TimeRule::StillCompiling,
            Severity::Note,
            format!("The JVM is warming up: {} of the CPU time is compilation", percent(part)),
            format!(
                "compilers used {} of {}; counts from {} on",
                seconds(compilers_ns),
                seconds(report.process.cpu_ns),
                percent(COMPILERS_SHARE_MAX)
            ),
        )
        .to_do("Measure again when it has run longer")
    }]
}
