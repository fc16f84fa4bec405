//! What an injector recorded, as its controller takes it: checked, and on the controller's clock.
//!
//! Nothing in it is trusted. Its histograms have the buckets of this program's, so that no size is taken from the message, and its
//! counts must agree with each other.

use assay_load::{CompletionTimeline, Load, Measured, SLOW_REQUESTS_MAX, SlowRequest, WindowDetail};
use assay_model::{OperationCount, Problem};
use hdrhistogram::Histogram;

/// Problems that are taken from one injector.
const PROBLEMS_MAX: usize = 64;
/// Characters of a problem.
const PROBLEM_CHARS_MAX: usize = 1_000;
/// Counts beyond this would saturate in a sum, and the sum would not be exact.
const REQUESTS_MAX: u64 = u64::MAX >> 16;

/// What is known of a window before its result.
pub(crate) struct Expected<'a> {
    pub load: Load,
    pub seed: u64,
    /// Lengths that were asked for.
    pub settle_ns: u64,
    pub length_ns: u64,
    /// Start by the controller's clock.
    pub start_ns: u64,
    /// Names and asked shares of the operations.
    pub operations: &'a [OperationCount],
    /// How many of them have limits of their own.
    pub limited_apart: usize,
}

/// Checks all and puts it on the controller's clock.
pub(crate) fn accepted(result: Measured, expected: &Expected) -> Result<Measured, String> {
    let Expected { load, seed, settle_ns, length_ns, start_ns, operations, limited_apart } = *expected;
    let theirs_ns = result.start_monotonic_ns;
    let ours = |ns: u64| start_ns.saturating_add(ns.saturating_sub(theirs_ns));
    let moved = |timeline: CompletionTimeline, start_ns: u64, length_ns: u64| {
        timeline.moved(start_ns, length_ns).ok_or("completions outside the window")
    };
    let detail = result.detail;
    let measured = Measured {
        start_monotonic_ns: start_ns,
        end_monotonic_ns: ours(result.end_monotonic_ns).min(start_ns.saturating_add(length_ns)),
        load,
        seed,
        operations: counted(&result.operations, operations)?,
        completions: moved(result.completions, start_ns, length_ns)?,
        settling: moved(result.settling, start_ns.saturating_sub(settle_ns), settle_ns)?,
        problems: result.problems.into_iter().take(PROBLEMS_MAX).map(shortened).collect(),
        detail: WindowDetail { slow: slow(detail.slow, ours, operations.len())?, ..detail },
        ..result
    };
    agree(&measured)?;
    if measured.detail.apart.len() != limited_apart {
        return Err("another number of operations with limits of their own".to_owned());
    }
    measured.breakdown.agree(operations.len(), length_ns, measured.requests)?;
    Ok(measured)
}

/// Counts that say the same must be the same: a message that was made wrongly must not become a figure.
fn agree(measured: &Measured) -> Result<(), String> {
    let sum = |mut counts: &mut dyn Iterator<Item = u64>| (&mut counts).try_fold(0_u64, u64::checked_add);
    let at_most = |count: Option<u64>, most: u64| count.is_some_and(|count| count <= most);
    let requests = measured.requests;
    let few = |histogram: &Histogram<u64>| histogram.len() <= requests;
    let detail = &measured.detail;
    let mut limited = std::iter::once(&detail.limited).chain(&detail.apart);
    let checks = [
        (requests <= REQUESTS_MAX, "a possible number of requests"),
        (measured.response.len() == requests, "as many response times as requests"),
        (
            at_most(sum(&mut measured.errors_by_kind.iter().copied()), requests),
            "no more errors than requests",
        ),
        (measured.sent_again <= requests, "no more requests sent again than requests"),
        (few(&measured.service), "no more service times than requests"),
        (few(&measured.send_lag), "no more send lags than requests"),
        (
            at_most(sum(&mut measured.operations.iter().map(|of| of.requests)), requests),
            "no more requests by operation than in all",
        ),
        (
            at_most(sum(&mut measured.operations.iter().filter_map(|of| of.selected)), requests),
            "no more operations drawn than requests",
        ),
        (
            at_most(sum(&mut measured.operations.iter().filter_map(|of| of.redirects)), REQUESTS_MAX),
            "a possible number of redirects",
        ),
        (
            limited.all(|of| at_most(of.right.len().checked_add(of.failed), requests)),
            "no more limited requests than in all",
        ),
        (few(&detail.gaps), "no more gaps than requests"),
        (detail.connection_waits <= requests, "no more waits for a connection than requests"),
        (measured.completions.total() <= measured.completed, "no more completions than answers"),
    ];
    match checks.iter().find(|(holds, _)| !holds) {
        None => Ok(()),
        Some((_, rule)) => Err(format!("its counts contradict each other: not {rule}")),
    }
}

fn counted(counts: &[OperationCount], known: &[OperationCount]) -> Result<Vec<OperationCount>, &'static str> {
    if counts.len() != known.len() {
        return Err("another number of operations");
    }
    let pairs = counts.iter().zip(known);
    Ok(pairs
        .map(|(of, known)| OperationCount {
            name: known.name.clone(),
            planned_share: known.planned_share,
            ..of.clone()
        })
        .collect())
}

fn slow(
    requests: Vec<SlowRequest>,
    ours: impl Fn(u64) -> u64,
    operations: usize,
) -> Result<Vec<SlowRequest>, &'static str> {
    if requests.len() > SLOW_REQUESTS_MAX {
        return Err("too many slow requests");
    }
    if requests.iter().any(|of| of.operation.is_some_and(|operation| operation as usize >= operations)) {
        return Err("a slow request of an unknown operation");
    }
    let moved = requests.into_iter().map(|of| SlowRequest {
        operation: of.operation,
        intended_ns: ours(of.intended_ns),
        sendable_ns: ours(of.sendable_ns),
        sent_ns: of.sent_ns.map(&ours),
        done_ns: ours(of.done_ns),
    });
    Ok(moved.collect())
}

fn shortened(problem: Problem) -> Problem {
    let cut = |text: String| text.chars().filter(|c| !c.is_control()).take(PROBLEM_CHARS_MAX).collect();
    Problem { about: cut(problem.about), text: cut(problem.text), ..problem }
}

#[cfg(test)]
#[path = "accept_tests.rs"]
mod tests;
