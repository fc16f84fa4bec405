//! What threads do with their time.

use super::pools::{POOL, WAITS, has_many_faults, has_short_runs};
use super::rule::{Found, Rule};
use super::stacks::cleans_up;
use super::words::{cpus, per_cpu_s, percent, pool, seconds, share};
use assay_model::{
    Estimate, RuleId, Severity, ThreadRole, ThreadTime, Threshold, TimeGroup, TimeReport, TimeSums,
};

pub(super) static RULES: &[&Rule] =
    &[&BUSY_WAIT, &CALLS_WITHOUT_WAITS, &SHORT_RUNS, &JDK_THREADS, &JVM_THREADS];

/// Part of the time in which a thread that never waits runs or is ready to.
const READY: Threshold = Threshold::percent("ready", 95.0);
/// Times a second that a thread which never waits gives its processor up all the same: the JVM stops it for a collection.
const STOPS: Threshold = Threshold::count("stops", 1);
/// Part of the CPU time of a thread that spins or computes that may be in the kernel; one that polls a selector has 26 % there.
const KERNEL: Threshold = Threshold::percent("kernel", 10.0);
/// Time that is long for a computation which waits for nothing.
const SPAN: Threshold = Threshold::seconds("span", 2.0);
/// Part of the CPU time of threads of the JDK or the JVM, from which on they stand out.
const ROLE: Threshold = Threshold::percent("role", 20.0);
/// The thread that runs finalizers.
const FINALIZER: &str = "Finalizer";

static BUSY_WAIT: Rule = Rule {
    id: RuleId::of("busy-wait"),
    severity: Severity::Warning,
    thresholds: &[READY, STOPS, KERNEL, SPAN],
    evidence: "A thread's CPU time and voluntary switches in {span} or more. It ran or was ready {ready} of \
        the time and stopped at most {stops} time per second. At most {kernel} of its CPU time was in the \
        kernel.",
    cause: "A busy-wait loop, or one long computation.",
    fix: "See what it runs: `jcmd PID Thread.print`.",
    alternatives: &[],
    judge: busy_wait,
};

/// Threads of the application that ran all the time, or were ready to, and waited for nothing. More of them than there are processors are
/// an overloaded run queue, and none of these.
fn never_waiting(report: &TimeReport, is_one: impl Fn(Estimate) -> bool) -> Vec<&ThreadTime> {
    if (report.duration_ns as f64) < SPAN.value * 1e9 {
        return Vec::new();
    }
    let may_wait = [ThreadRole::Application, ThreadRole::Carrier, ThreadRole::Poller, ThreadRole::Unknown];
    let never_waits = |thread: &&ThreadTime| {
        let ready_ns = thread.cpu_ns.saturating_add(thread.run_delay_ns.unwrap_or(0));
        let stops_max = STOPS.value * report.duration_ns as f64 / 1e9;
        may_wait.contains(&thread.role)
            && thread.voluntary_switches.is_some_and(|n| n as f64 <= stops_max)
            && READY.share() <= share(ready_ns, report.duration_ns)
    };
    let all: Vec<&ThreadTime> = report.threads.iter().filter(never_waits).collect();
    let is_crowd = cpus(report).is_some_and(|cpus| cpus < all.len() as f64);
    all.into_iter().filter(|thread| !is_crowd && thread.kernel_share.is_some_and(&is_one)).collect()
}

/// A finding on threads that never wait: what they do, and how that was seen.
fn of_never_waiting(
    report: &TimeReport,
    rule: &Rule,
    threads: &[&ThreadTime],
    [does, shows]: [&str; 2],
) -> Option<Found> {
    let first = threads.first()?;
    let more = match threads.len() {
        1 => String::new(),
        number => format!(" and {} more", number - 1),
    };
    let claim = format!("{}{more} {does}", first.name);
    let evidence = format!(
        "thread {}: {} of CPU time, {} of it in the kernel, and {} ready to run in {}, with {} voluntary switches; {shows}",
        first.tid,
        seconds(first.cpu_ns),
        first.kernel_share.map_or("an unknown part".to_owned(), |share| percent(share.estimate)),
        first.run_delay_ns.map_or("an unknown time".to_owned(), seconds),
        seconds(report.duration_ns),
        first.voluntary_switches.unwrap_or(0)
    );
    let cpu_ns = threads.iter().map(|thread| thread.cpu_ns).sum();
    let finding = rule.finding(claim, evidence).of_cpu(cpu_ns);
    Some(finding.to_do(format!("See what it runs: jcmd {} Thread.print", report.pid)))
}

/// A thread of the application that ran all the time and waited for nothing.
fn busy_wait(report: &TimeReport) -> Vec<Found> {
    let found = never_waiting(report, |kernel| kernel.estimate <= KERNEL.share());
    let texts = [
        "ran all the time and waited for nothing: a busy-wait loop, or one long computation",
        "its stack shows which of the two it is",
    ];
    of_never_waiting(report, &BUSY_WAIT, &found, texts).into_iter().collect()
}

static CALLS_WITHOUT_WAITS: Rule = Rule {
    id: RuleId::of("calls-without-waits"),
    severity: Severity::Warning,
    thresholds: &[READY, STOPS, KERNEL, SPAN],
    evidence: "A thread's CPU time and voluntary switches in {span} or more. It ran or was ready {ready} of \
        the time and stopped at most {stops} time per second. More than {kernel} of its CPU time was in the \
        kernel.",
    cause: "A selector or a socket is polled in a loop, or calls always find something to do.",
    fix: "See what it runs: `jcmd PID Thread.print`.",
    alternatives: &["Wait in the call: `select()` in place of `selectNow()`, a timeout above zero."],
    judge: calls_without_waits,
};

/// A thread of the application that makes system calls all the time and waits in none.
fn calls_without_waits(report: &TimeReport) -> Vec<Found> {
    let mut found = never_waiting(report, |kernel| KERNEL.share() < kernel.estimate);
    // Page faults are kernel time too, and not calls. They are counted by pool, not by thread.
    let has_faults = |role| report.groups.iter().any(|group| group.role == role && has_many_faults(group));
    found.retain(|thread| !has_faults(thread.role));
    let texts = [
        "makes system calls all the time and waits in none: a selector or socket polled in a loop, or calls \
            that always find work",
        "its stack shows which of the two it is",
    ];
    let found = of_never_waiting(report, &CALLS_WITHOUT_WAITS, &found, texts);
    found
        .map(|found| found.or("Wait in the call: select() in place of selectNow(), a timeout above zero"))
        .into_iter()
        .collect()
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
            "{rate:.0} voluntary switches per second of its {} of CPU time; a finding from {WAITS} on. /proc \
                does not show the reason for a wait",
            percent(share(group.sums.cpu_ns, report.process.cpu_ns))
        );
        SHORT_RUNS
            .finding(claim, evidence)
            .of_cpu(group.sums.cpu_ns)
            .to_do(format!("See what they are parked on: jcmd {} Thread.print several times", report.pid))
    };
    report.groups.iter().filter(|group| has_short_runs(report, group)).map(finding).collect()
}

static JDK_THREADS: Rule = Rule {
    id: RuleId::of("jdk-threads"),
    severity: Severity::Warning,
    thresholds: &[ROLE],
    evidence: "CPU time of the JDK's own threads, from {role} of the process's on, and the thread with most \
        of it. If samples or a recording have it, also the method that they run most often for dead objects.",
    cause: "Objects with a finalizer, a cleaner or a reference queue die as fast as one thread can follow, or \
        one of them takes long.",
    fix: "See its class: `jcmd PID Thread.print`, several times.",
    alternatives: &[
        "For the finalizer: `jcmd PID GC.finalizer_info` counts waiting objects by class.",
        "Close such objects in the program.",
    ],
    judge: jdk_threads,
};

/// Threads that follow up dead objects are busy.
fn jdk_threads(report: &TimeReport) -> Vec<Found> {
    let Some((sums, most)) = role_that_stands_out(report, &[ThreadRole::Jdk]) else { return Vec::new() };
    let part = percent(share(sums.cpu_ns, report.process.cpu_ns));
    let method = cleans_up(report);
    let works_in = method.map_or_else(String::new, |method| format!(", in {method}"));
    let claim =
        format!("The JDK's own threads have {part} of the CPU time, most of it {}{works_in}", most.name);
    let evidence = format!(
        "{} used {} of {}; a finding from {ROLE} on",
        pool(most),
        seconds(most.sums.cpu_ns),
        seconds(report.process.cpu_ns)
    );
    let found = JDK_THREADS.finding(claim, evidence).of_cpu(sums.cpu_ns);
    let stacks = match method {
        Some(method) => format!("Look at {method}, which runs for each dead object"),
        None => format!("See its class: jcmd {} Thread.print several times", report.pid),
    };
    let found = if most.name == FINALIZER {
        let waiting = format!("See what waits for it, by class: jcmd {} GC.finalizer_info", report.pid);
        if method.is_some() { found.to_do(stacks).or(waiting) } else { found.to_do(waiting).or(stacks) }
    } else {
        found.to_do(stacks)
    };
    vec![found.or("Close such objects in the program")]
}

static JVM_THREADS: Rule = Rule {
    id: RuleId::of("jvm-threads"),
    severity: Severity::Note,
    thresholds: &[ROLE],
    evidence: "CPU time of the largest role without another finding, from {role} of the process's on. Such \
        roles are the VM's own threads, pollers of virtual threads, native agents, and threads that the JVM \
        does not list.",
    cause: "Operations in safepoints, an agent, or native code of the program.",
    fix: "See where it spends its time: the flame graph of `assay time PID --html FILE`.",
    alternatives: &[
        "For the VM thread: `-Xlog:safepoint*` names its operations.",
        "With Serial the VM thread collects: `assay gc` on a log (`-Xlog:gc*`) says how much of it that is.",
    ],
    judge: jvm_threads,
};

/// A role of threads that are not the application's has much of the CPU time, and nothing else is known of it.
fn jvm_threads(report: &TimeReport) -> Vec<Found> {
    let others = [ThreadRole::Vm, ThreadRole::Poller, ThreadRole::Agent, ThreadRole::Unknown];
    let found = role_that_stands_out(report, &others).filter(|_| report.jvm.is_some());
    let Some((sums, most)) = found else { return Vec::new() };
    let part = percent(share(sums.cpu_ns, report.process.cpu_ns));
    let claim = format!("{part} of the CPU time is that of {}", most.role.title());
    let evidence = format!(
        "most of it, {} of {}, is that of {}; counts from {ROLE} on",
        seconds(most.sums.cpu_ns),
        seconds(sums.cpu_ns),
        pool(most)
    );
    let found = JVM_THREADS.finding(claim, evidence).of_cpu(sums.cpu_ns);
    let flames = format!("See where it spends its time: assay time {} --html FILE", report.pid);
    let collector = report.jvm.as_ref().and_then(|jvm| jvm.collector.as_deref());
    let operations = "See the VM thread's operations: -Xlog:safepoint*";
    vec![match (most.role, collector) {
        (ThreadRole::Vm, Some("Serial")) => found
            .to_do("See how much of it is collections, which are the VM thread's with Serial: assay gc on a log of -Xlog:gc*")
            .or(operations)
            .or(flames),
        (ThreadRole::Vm, _) => found.to_do(flames).or(operations),
        _ => found.to_do(flames),
    }]
}

/// The sums of the one of these roles that has most, if that is much, and its largest pool.
fn role_that_stands_out<'a>(
    report: &'a TimeReport,
    roles: &[ThreadRole],
) -> Option<(TimeSums, &'a TimeGroup)> {
    let those = report.roles.iter().filter(|role| roles.contains(&role.role));
    let role = those.max_by_key(|role| role.sums.cpu_ns)?;
    let groups = report.groups.iter().filter(|group| group.role == role.role);
    let most = groups.max_by_key(|group| group.sums.cpu_ns)?;
    (ROLE.share() <= share(role.sums.cpu_ns, report.process.cpu_ns)).then_some((role.sums, most))
}
