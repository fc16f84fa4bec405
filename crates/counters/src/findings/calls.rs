//! System calls of one kind: as programs in the kernel timed them, or else as the samples say.

use super::rule::{Found, Rule};
use super::words::{percent, seconds, share};
use assay_model::{
    KernelActivity, RuleId, SampledPart, Severity, Threshold, TimeReport, TimeSamples, TimeTraced,
    TracedCall, TracedPart,
};

pub(super) static RULES: &[&Rule] = &[&ONE_KIND_OF_CALL];

/// Part of all CPU time in one kind of system call, from which on it stands out. A convention: a server that only moves bytes has more.
const CALLS: Threshold = Threshold::percent("calls", 20.0);
/// Least part of the CPU time that the programs must have traced for their figures to be those of the process.
const COVERAGE: Threshold = Threshold::percent("coverage", 90.0);
/// Calls that are named.
const NAMED: usize = 3;

static ONE_KIND_OF_CALL: Rule = Rule {
    id: RuleId::of("one-kind-of-call"),
    severity: Severity::Note,
    thresholds: &[CALLS, COVERAGE],
    evidence: "CPU time, rate and waits of one kind of system call, from {calls} of the CPU time on. If \
        programs in the kernel have not timed {coverage} of the CPU time, samples are used.",
    cause: "Many small calls: messages, locks, mappings, connections.",
    fix: "Make fewer and larger calls (buffers, batches, keep-alive). The finding names the remedy for the \
        kind of call.",
    alternatives: &[],
    judge: one_kind,
};

/// One kind of system call has much of the CPU time. Timed figures are better than sampled ones, and one claim is enough.
fn one_kind(report: &TimeReport) -> Vec<Found> {
    let sees_all =
        |traced: &&TimeTraced| traced.coverage.is_some_and(|coverage| COVERAGE.share() <= coverage);
    match (report.traced.as_ref().filter(sees_all), &report.samples) {
        (Some(traced), _) => {
            traced.kernel.iter().filter_map(|part| of_traced(report, traced, part)).collect()
        }
        (None, Some(samples)) => {
            samples.kernel.iter().filter_map(|part| of_sampled(report, samples, part)).collect()
        }
        (None, None) => Vec::new(),
    }
}

fn of_traced(report: &TimeReport, traced: &TimeTraced, part: &TracedPart) -> Option<Found> {
    // Entering and leaving belongs to the calls, too.
    let whole = |count: u64, cpu_ns: u64| {
        cpu_ns.saturating_add((count as f64 * traced.crossing_call_ns) as u64).min(traced.cpu_ns)
    };
    let cpu_ns = whole(part.count, part.cpu_ns);
    let part_of_all = share(cpu_ns, traced.cpu_ns);
    if !is_call(part.activity) || part_of_all < CALLS.share() {
        return None;
    }
    let rate = part.count as f64 * 1e9 / report.duration_ns.max(1) as f64;
    let mut most: Vec<&TracedCall> = traced.calls.iter().collect();
    most.sort_by_key(|call| std::cmp::Reverse(whole(call.count, call.cpu_ns)));
    let named: Vec<String> = most
        .iter()
        .take(NAMED)
        .map(|call| format!("{} ({})", call.name, seconds(whole(call.count, call.cpu_ns))))
        .collect();
    let evidence = format!(
        "{rate:.0} calls/s, each timed in the kernel: {:.2} µs of CPU time each, including entry and exit, {} \
            waits, {} in total; the most expensive calls: {}, a finding from {CALLS} on",
        cpu_ns as f64 / 1e3 / part.count.max(1) as f64,
        part.waits,
        seconds(part.blocked_ns),
        named.join(", ")
    );
    Some(finding(report, part.activity, part_of_all, evidence))
}

fn of_sampled(report: &TimeReport, samples: &TimeSamples, part: &SampledPart) -> Option<Found> {
    let activity = part.activity.filter(|activity| is_call(*activity))?;
    let (low, high) = part.share.ends()?;
    let evidence = format!(
        "{} of {} samples, {} to {}, about {}; a finding if the interval is above {CALLS}",
        part.samples,
        samples.samples,
        percent(low),
        percent(high),
        seconds(part.cpu_ns)
    );
    (CALLS.share() <= low).then(|| finding(report, activity, part.share.estimate, evidence))
}

fn finding(report: &TimeReport, activity: KernelActivity, part: f64, evidence: String) -> Found {
    let claim = format!("{} of the CPU time is {} in the kernel", percent(part), activity.title());
    let found = ONE_KIND_OF_CALL.finding(claim, evidence);
    match activity {
        KernelActivity::NetworkSend | KernelActivity::NetworkReceive => {
            found.to_do("Exchange fewer and larger messages: buffers, batches, keep-alive")
        }
        KernelActivity::Futex => {
            found.to_do("Let fewer threads wait for each other").or("Give threads work in larger pieces")
        }
        KernelActivity::MemoryMappings => found.to_do(format!(
            "Keep and reuse buffers: assay memory {} shows what is mapped and unmapped",
            report.pid
        )),
        KernelActivity::NetworkConnections => found.to_do("Keep connections open (keep-alive, a pool)"),
        _ if report.traced.is_some() => {
            let callers = "the flame graph of assay time --html shows who makes them";
            found.to_do(format!("{LARGER_CALLS}: {callers}"))
        }
        _ => found.to_do(count_calls(report)).or(LARGER_CALLS),
    }
}

/// What makes the kernel's part of most calls smaller.
pub(super) const LARGER_CALLS: &str = "Make fewer and larger calls (buffers, batches)";

/// How calls are counted that nobody traced.
pub(super) fn count_calls(report: &TimeReport) -> String {
    format!("Count the calls: perf trace -s -p {}", report.pid)
}

fn is_call(activity: KernelActivity) -> bool {
    !matches!(
        activity,
        KernelActivity::PageFaults
            | KernelActivity::Scheduling
            | KernelActivity::Softirq
            | KernelActivity::Interrupts
            | KernelActivity::Crossing
            | KernelActivity::Unknown
            | KernelActivity::Other
    )
}
