//! Observations between two instants, from samples.

use super::sample::Sample;
use crate::observation::{Observation, Span};
use assay_model::LateCause;

/// A smaller share is not worth a span: every thread waits microseconds.
const SHARE_MIN: f64 = 0.01;

/// A smaller part of the processors is not distinguished from rounding: the machine's time counts in ticks of 10 ms.
const OTHERS_SHARE_MIN: f64 = 0.1;

/// Observations between two instants. Samples are in the order of time.
pub(super) fn seen(samples: &[Sample], from_ns: u64, to_ns: u64, shares_group: bool) -> Observation {
    let first = samples.partition_point(|s| s.at_ns < from_ns);
    let end = samples.partition_point(|s| s.at_ns <= to_ns);
    // With one on each side, so that the interval is covered from end to end.
    let around = &samples[first.saturating_sub(1)..(end + 1).min(samples.len())];
    let inside = &samples[first..end.max(first)];
    let mut seen = Observation {
        restart: inside.iter().find_map(|s| s.restart.clone()),
        clock_step_s: clock_step_s(around),
        server_cpu_ns: between(around, from_ns, to_ns, |s| s.server_cpu_ns),
        compilers_cpu_ns: compilers_cpu_ns(around, from_ns, to_ns),
        ..Observation::default()
    };
    host(inside, shares_group, &mut seen);
    if around.iter().any(|s| s.threads.is_some()) {
        seen.watched.push(LateCause::RunQueue);
        add_spans(&mut seen, around, LateCause::RunQueue, run_queue);
    }
    if around.iter().any(|s| s.server_throttled_ns.is_some()) {
        let cpus = cpus(around);
        seen.watched.push(LateCause::Throttling);
        add_spans(&mut seen, around, LateCause::Throttling, |a, b| throttling(a, b, cpus));
    }
    let with_host: Vec<Sample> = around.iter().filter(|s| s.host.is_some()).cloned().collect();
    if with_host.iter().any(|s| s.host.as_ref().is_some_and(|h| h.cpu.is_some())) {
        seen.watched.push(LateCause::Steal);
        add_spans(&mut seen, &with_host, LateCause::Steal, steal);
    }
    if with_host.windows(2).any(|pair| foreign_share(&pair[0], &pair[1]).is_some()) {
        seen.watched.push(LateCause::OtherProcesses);
        add_spans(&mut seen, &with_host, LateCause::OtherProcesses, others);
    }
    seen
}

/// Adds a span for each pair of samples in which a cause took time; none begins before the one before it ends.
fn add_spans(
    seen: &mut Observation,
    samples: &[Sample],
    cause: LateCause,
    took: impl Fn(&Sample, &Sample) -> Option<Delay>,
) {
    let mut until_ns = 0;
    for pair in samples.windows(2) {
        let Some(taken) = took(&pair[0], &pair[1]).filter(|t| SHARE_MIN <= t.share) else { continue };
        let end_ns = pair[1].at_ns;
        let start_ns = pair[0].at_ns.min(end_ns.saturating_sub(taken.longest_ns)).max(until_ns);
        until_ns = end_ns;
        if start_ns < end_ns {
            seen.spans.push(Span { cause, start_ns, end_ns, share: taken.share.min(1.0) });
        }
    }
}

/// Time that a cause took between two samples.
struct Delay {
    /// Part of the time.
    share: f64,
    /// Longest piece, which may have begun before the first of the two: kernels count it when it ends.
    longest_ns: u64,
}

/// Of the time in which threads were ready or ran, the part in which they waited.
fn run_queue(before: &Sample, after: &Sample) -> Option<Delay> {
    let (before, after) = (before.threads?, after.threads?);
    let wait_ns = after.wait_ns.saturating_sub(before.wait_ns);
    let ready_ns = wait_ns.saturating_add(after.run_ns.saturating_sub(before.run_ns));
    let share = if ready_ns == 0 { 0.0 } else { wait_ns as f64 / ready_ns as f64 };
    Some(Delay { share, longest_ns: after.longest_wait_ns })
}

/// The kernel adds up the time over processors, so it is divided by their number: at least so long was the group held.
fn throttling(before: &Sample, after: &Sample, cpus: u64) -> Option<Delay> {
    let held_ns = after.server_throttled_ns?.saturating_sub(before.server_throttled_ns?) / cpus;
    let span_ns = after.at_ns.saturating_sub(before.at_ns).max(held_ns).max(1);
    Some(Delay { share: held_ns as f64 / span_ns as f64, longest_ns: held_ns })
}

fn steal(before: &Sample, after: &Sample) -> Option<Delay> {
    let share = after.host.as_ref()?.since(before.host.as_ref()?).steal_share?;
    Some(Delay { share, longest_ns: 0 })
}

/// The CPU time of other processes is only known where the server's own is.
fn others(before: &Sample, after: &Sample) -> Option<Delay> {
    let share = foreign_share(before, after).filter(|share| OTHERS_SHARE_MIN <= *share)?;
    Some(Delay { share, longest_ns: 0 })
}

/// Of the processors, the part that was used by others than the server, its companions and this process.
fn foreign_share(before: &Sample, after: &Sample) -> Option<f64> {
    let interval = after.host.as_ref()?.since(before.host.as_ref()?);
    let used = |of: fn(&Sample) -> Option<u64>| Some(of(after)?.saturating_sub(of(before)?));
    // Less where one ended in between and nobody waited for it: then too much looks foreign.
    let companions_ns = after.companions_cpu_ns.saturating_sub(before.companions_cpu_ns);
    let (server_ns, own_ns) = used(|s| s.server_cpu_ns).zip(used(|s| s.own_cpu_ns))?;
    interval.foreign_cpu_share(server_ns.saturating_add(own_ns).saturating_add(companions_ns))
}

fn cpus(samples: &[Sample]) -> u64 {
    let counts = samples.iter().filter_map(|s| s.host.as_ref()?.cpu.as_ref().map(|cpu| cpu.each.len()));
    counts.max().and_then(|n| u64::try_from(n).ok()).unwrap_or(1).max(1)
}

/// The machine's gauges between the first and the last reading inside, and what of the processors was others'.
fn host(inside: &[Sample], shares_group: bool, seen: &mut Observation) {
    let mut with_host = inside.iter().filter_map(|s| Some((s, s.host.as_ref()?)));
    let (Some((first, before)), Some((last, after))) = (with_host.next(), with_host.next_back()) else {
        return;
    };
    let interval = after.since(before);
    seen.foreign_cpu_share = foreign_share(first, last);
    seen.own_throttled_share = interval.throttled_share.filter(|_| !shares_group);
    seen.host = Some(interval);
}

/// Largest change of the wall clock's offset between neighbours, with its sign.
fn clock_step_s(samples: &[Sample]) -> Option<f64> {
    let offsets: Vec<i128> = samples.iter().filter_map(|s| s.wall_offset_ns).collect();
    let steps = offsets.windows(2).map(|pair| (pair[1] - pair[0]) as f64 / 1e9);
    steps.max_by(|a, b| a.abs().total_cmp(&b.abs()))
}

/// What JIT compilers used, where one is known at the end: it had used nothing before it was there.
fn compilers_cpu_ns(samples: &[Sample], from_ns: u64, to_ns: u64) -> Option<u64> {
    samples.last()?.threads?.compilers_ns?;
    between(samples, from_ns, to_ns, |s| Some(s.threads?.compilers_ns.unwrap_or(0)))
}

/// How much a counter rose between two instants, by straight lines between samples.
fn between(samples: &[Sample], from_ns: u64, to_ns: u64, of: impl Fn(&Sample) -> Option<u64>) -> Option<u64> {
    let points: Vec<(u64, u64)> = samples.iter().filter_map(|s| Some((s.at_ns, of(s)?))).collect();
    let at = |at_ns: u64| -> Option<f64> {
        let after = points.partition_point(|point| point.0 < at_ns);
        let (t1, v1) = *points.get(after)?;
        let Some((t0, v0)) = after.checked_sub(1).map(|before| points[before]) else {
            return (t1 == at_ns).then_some(v1 as f64);
        };
        let part = (at_ns - t0) as f64 / (t1 - t0).max(1) as f64;
        Some(v0 as f64 + part * v1.saturating_sub(v0) as f64)
    };
    Some((at(to_ns)? - at(from_ns)?).max(0.0) as u64)
}

#[cfg(test)]
mod tests {
    use super::super::sample::ThreadTimes;
    use super::*;
    use assay_host::HostReading;
    use assay_linux::{CpuTicks, MachineCpu};

    const MS: u64 = 1_000_000;

    fn sample(at_ms: u64, run_ms: u64, wait_ms: u64, longest_ms: u64) -> Sample {
        let threads = ThreadTimes {
            run_ns: run_ms * MS,
            wait_ns: wait_ms * MS,
            longest_wait_ns: longest_ms * MS,
            compilers_ns: None,
        };
        Sample {
            at_ns: at_ms * MS,
            threads: Some(threads),
            server_cpu_ns: Some(run_ms * MS),
            wall_offset_ns: Some(7),
            ..Sample::default()
        }
    }

    #[test]
    fn waits_of_threads_become_spans_that_reach_back_to_where_they_began() {
        let samples = [
            sample(0, 0, 0, 0),
            sample(20, 20, 0, 0),
            sample(40, 40, 0, 0),
            sample(60, 50, 30, 30),
            sample(80, 70, 30, 0),
        ];
        let seen = seen(&samples, 10 * MS, 70 * MS, true);
        let span = Span { cause: LateCause::RunQueue, start_ns: 30 * MS, end_ns: 60 * MS, share: 0.75 };
        assert_eq!(seen.spans, [span]);
        assert_eq!(seen.watched, [LateCause::RunQueue]);
        assert_eq!(seen.server_cpu_ns, Some(50 * MS), "10 at 10 ms, 60 at 70 ms");
        assert_eq!((seen.restart, seen.clock_step_s, seen.host), (None, Some(0.0), None));
    }

    #[test]
    fn throttling_is_told_when_it_ends_and_lies_before() {
        let held = |at_ms, held_ms: u64| Sample {
            server_throttled_ns: Some(held_ms * MS),
            ..sample(at_ms, 0, 0, 0)
        };
        let samples = [held(0, 0), held(20, 0), held(40, 0), held(60, 50), held(80, 50)];
        let seen = seen(&samples, 0, 80 * MS, true);
        let span = Span { cause: LateCause::Throttling, start_ns: 10 * MS, end_ns: 60 * MS, share: 1.0 };
        assert_eq!(seen.spans, [span]);
    }

    #[test]
    fn a_step_of_the_wall_clock_and_another_process_are_seen() {
        let mut samples = [sample(0, 0, 0, 0), sample(20, 0, 0, 0), sample(40, 0, 0, 0)];
        samples[1].wall_offset_ns = None;
        samples[2].wall_offset_ns = Some(7 - 3_000_000_000);
        samples[1].restart = Some("process 5 has ended".to_owned());
        let seen = seen(&samples, MS, 39 * MS, true);
        assert_eq!(seen.clock_step_s, Some(-3.0));
        assert_eq!(seen.restart.as_deref(), Some("process 5 has ended"));
    }

    /// Two processors for a tenth of a second: 20 ticks, of which all were used, 4 by the server.
    #[test]
    fn what_other_processes_used_is_a_cause_where_the_server_s_own_use_is_known() {
        let with_host = |at_ms: u64, ticks: u64, server_ms: u64| {
            let each = CpuTicks { user: ticks, ..CpuTicks::default() };
            let all = CpuTicks { user: 2 * ticks, ..CpuTicks::default() };
            let cpu = Some(MachineCpu { all, each: vec![each; 2] });
            let (monotonic_ns, cpu_some_us, throttling) = (at_ms * MS, None, None);
            Sample {
                host: Some(HostReading { monotonic_ns, cpu_some_us, cpu, throttling }),
                own_cpu_ns: Some(0),
                ..sample(at_ms, server_ms, 0, 0)
            }
        };
        let mut samples = [with_host(0, 0, 0), with_host(100, 10, 40), with_host(200, 20, 235)];
        let of = |samples: &[Sample]| {
            let seen = seen(samples, 0, 200 * MS, true);
            let spans: Vec<Span> =
                seen.spans.into_iter().filter(|span| span.cause == LateCause::OtherProcesses).collect();
            (seen.watched.contains(&LateCause::OtherProcesses), spans)
        };
        let (is_watched, spans) = of(&samples);
        assert!(is_watched && spans.len() == 1, "in the second tenth the server used nearly all: {spans:?}");
        assert!((spans[0].start_ns, spans[0].end_ns) == (0, 100 * MS) && (spans[0].share - 0.8).abs() < 1e-6);
        samples.iter_mut().for_each(|sample| sample.server_cpu_ns = None);
        assert_eq!(of(&samples), (false, Vec::new()));
    }

    #[test]
    fn without_samples_nothing_is_known() {
        assert_eq!(seen(&[], 0, MS, true), Observation::default());
        let seen = seen(&[sample(5, 1, 1, 1)], 10 * MS, 20 * MS, true);
        assert_eq!((seen.server_cpu_ns, seen.foreign_cpu_share, seen.clock_step_s), (None, None, None));
    }
}
