//! What became of a server within its limits, from its trial.

use assay_memory::beside_heap;
use assay_model::{FitLimits, FitProbe, FitVerdict, StoredTrial, TrialOutcome, Window, metric};
use assay_text::size;

/// From so large a share of the time on, collections are named as the cause of long response times, ms/s.
const COLLECTIONS_NAMED_MS_PER_S: f64 = 100.0;

/// Adds what a trial shows to its probe.
pub(super) fn judge(trial: &StoredTrial, limits: &FitLimits, probe: &mut FitProbe) {
    let window = trial.trial.windows.last();
    if let Some(window) = window {
        measured(window, probe);
    }
    probe.peak_bytes = trial.trial.group.and_then(|group| group.peak_bytes);
    let beside = trial.memory_report.as_ref().and_then(|report| beside_heap(report, &trial.memory));
    probe.needed_bytes = beside.map(|beside| beside.needed_bytes);
    (probe.verdict, probe.detail) = verdict(trial, window, limits);
    // A collector that hardly lets the server run has too small a heap, however busy the machine is.
    let is_of_heap =
        probe.verdict == FitVerdict::TooSlow && window.is_some_and(|of| collections(of).is_some());
    probe.counts = is_of_heap || !is_of_machine(probe.verdict) || probe.disturbed.is_empty();
}

/// Time for which collections stopped the server, where that explains long response times, ms/s.
fn collections(window: &Window) -> Option<f64> {
    window.metrics.get(metric::GC_PAUSE_MS_PER_S).copied().filter(|of| COLLECTIONS_NAMED_MS_PER_S <= *of)
}

/// Whether others who use the machine may have brought it about.
fn is_of_machine(verdict: FitVerdict) -> bool {
    use FitVerdict::{Errors, NotMeasured, Stalled, Throttled, TooSlow};
    matches!(verdict, Errors | NotMeasured | Stalled | Throttled | TooSlow)
}

fn measured(window: &Window, probe: &mut FitProbe) {
    let metric = |id: &str| window.metrics.get(id).copied();
    probe.response_ms = window.response_ms;
    (probe.requests, probe.errors) = (window.requests, window.errors);
    probe.cpu_ms_per_request = metric(metric::CPU_MS_PER_REQUEST);
    probe.cpu_used_millicores =
        probe.cpu_ms_per_request.map(|ms| ms * window.achieved_rate_per_s()).filter(|used| used.is_finite());
    probe.throttled_percent = metric(metric::THROTTLED_PERCENT);
    probe.stalled_percent = metric(metric::MEMORY_STALL_PERCENT);
    probe.disturbed = window.left_out();
}

fn verdict(trial: &StoredTrial, window: Option<&Window>, limits: &FitLimits) -> (FitVerdict, String) {
    let of = &trial.trial;
    if let Some((kills, group)) =
        of.group.and_then(|group| Some((group.oom_kills.filter(|kills| 0 < *kills)?, group)))
    {
        let processes = if kills == 1 { "the server".to_owned() } else { format!("{kills} processes") };
        let limit = size::rounded(group.limit_bytes);
        return (
            FitVerdict::Killed,
            format!("the kernel's OOM killer ended {processes} at the limit of {limit}"),
        );
    }
    if let TrialOutcome::Failed { reason } = &of.outcome {
        return (FitVerdict::Ended, first_lines(reason));
    }
    if let Some(audit) = of.audit.as_ref().filter(|audit| !audit.passed) {
        return (FitVerdict::WrongData, format!("its audit failed: {}", first_lines(&audit.detail)));
    }
    let Some(window) = window.filter(|window| 0 < window.requests) else {
        return (FitVerdict::NotMeasured, "no request was measured".to_owned());
    };
    let missed = errors(window, limits).or_else(|| held(window, limits)).or_else(|| latency(window, limits));
    missed.unwrap_or_else(|| (FitVerdict::Holds, kept(window, limits)))
}

fn errors(window: &Window, limits: &FitLimits) -> Option<(FitVerdict, String)> {
    let percent = 100.0 * window.errors as f64 / window.requests as f64;
    (limits.errors_percent_max < percent).then(|| {
        let (errors, requests, allowed) = (window.errors, window.requests, limits.errors_percent_max);
        (
            FitVerdict::Errors,
            format!("{errors} of {requests} requests failed ({percent:.1} %, allowed {allowed} %)"),
        )
    })
}

/// Time for which a limit held the server.
fn held(window: &Window, limits: &FitLimits) -> Option<(FitVerdict, String)> {
    let metric = |id: &str| window.metrics.get(id).copied();
    let refaults_per_s = metric(metric::REFAULTS_PER_S);
    // Of version 1 the time is the machine's: pages of the group that came back show that it is the group's, too.
    let stalled = metric(metric::MEMORY_STALL_PERCENT).filter(|percent| {
        limits.stalled_percent_max < *percent && refaults_per_s.is_none_or(|per_s| 0.0 < per_s)
    });
    if let Some(percent) = stalled {
        let again = refaults_per_s
            .map_or_else(String::new, |per_s| format!("; {per_s:.0} pages per second were needed again"));
        let allowed = limits.stalled_percent_max;
        let detail = format!("waited for memory {percent:.1} % of the time (allowed {allowed} %){again}");
        return Some((FitVerdict::Stalled, detail));
    }
    let throttled =
        metric(metric::THROTTLED_PERCENT).filter(|percent| limits.throttled_percent_max < *percent)?;
    let allowed = limits.throttled_percent_max;
    let detail =
        format!("the CPU limit held it in {throttled:.1} % of the scheduling periods (allowed {allowed} %)");
    Some((FitVerdict::Throttled, detail))
}

fn latency(window: &Window, limits: &FitLimits) -> Option<(FitVerdict, String)> {
    let missed = limits.latency.iter().find_map(|limit| {
        let ms = limit.percentile.of(&window.response_ms)?;
        (limit.limit_ms < ms).then_some((limit, ms))
    });
    let (limit, ms) = missed?;
    let stopped = collections(window);
    let why = stopped
        .map_or_else(String::new, |of| format!("; collections stopped it {:.0} % of the time", of / 10.0));
    Some((FitVerdict::TooSlow, format!("{} {ms:.1} ms, limit {} ms{why}", limit.percentile, limit.limit_ms)))
}

fn kept(window: &Window, limits: &FitLimits) -> String {
    let of = |limit: &assay_model::FitLatency| {
        let ms = limit.percentile.of(&window.response_ms)?;
        Some(format!("{} {ms:.1} ms, limit {} ms", limit.percentile, limit.limit_ms))
    };
    limits.latency.iter().filter_map(of).collect::<Vec<_>>().join("; ")
}

/// What happened, in one line.
fn first_lines(text: &str) -> String {
    let words: Vec<&str> = text.split_whitespace().collect();
    let line = words.join(" ");
    match line.char_indices().nth(240) {
        Some((end, _)) => format!("{}...", &line[..end]),
        None => line,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use assay_model::{Audit, Check, Disturbance, FitLatency, FitPercentile, GroupEnd, LatencySummary};
    use assay_testkit::planned;

    fn limits() -> FitLimits {
        FitLimits {
            latency: vec![FitLatency { percentile: FitPercentile::P99, limit_ms: 50.0 }],
            errors_percent_max: 1.0,
            stalled_percent_max: 1.0,
            throttled_percent_max: 5.0,
        }
    }

    fn trial() -> StoredTrial {
        let mut trial = planned::trial("container", metric::CPU_MS_PER_REQUEST, &[2.0]);
        let window = &mut trial.windows[0];
        (window.requests, window.completed) = (1000, 1000);
        window.response_ms = LatencySummary { p99: Some(20.0), ..LatencySummary::default() };
        trial.group =
            Some(GroupEnd { limit_bytes: 100 << 20, oom_kills: Some(0), peak_bytes: Some(90 << 20) });
        StoredTrial {
            trial,
            gc_events: Vec::new(),
            gc_report: None,
            gc_beside: Vec::new(),
            memory: Vec::new(),
            memory_report: None,
            capacity: None,
        }
    }

    fn of(change: impl FnOnce(&mut StoredTrial)) -> FitProbe {
        let (mut trial, mut probe) = (trial(), FitProbe::default());
        change(&mut trial);
        judge(&trial, &limits(), &mut probe);
        probe
    }

    fn with(id: &'static str, value: f64) -> impl FnOnce(&mut StoredTrial) {
        move |trial| {
            trial.trial.windows[0].metrics.insert(id.to_owned(), value);
        }
    }

    #[test]
    fn each_thing_that_may_go_wrong_has_its_verdict_with_figures() {
        let fine = of(|_| ());
        assert_eq!((fine.verdict, fine.counts, fine.peak_bytes), (FitVerdict::Holds, true, Some(90 << 20)));
        let killed = of(|trial| {
            trial.trial.outcome = TrialOutcome::Failed { reason: "the server ended".to_owned() };
            trial.trial.group =
                Some(GroupEnd { limit_bytes: 100 << 20, oom_kills: Some(1), peak_bytes: None });
        });
        assert_eq!(killed.verdict, FitVerdict::Killed);
        assert!(killed.detail.contains("100") && killed.counts, "{}", killed.detail);
        let ended = of(|trial| {
            trial.trial.outcome = TrialOutcome::Failed { reason: "exit code 1\nOutOfMemoryError".to_owned() }
        });
        assert_eq!((ended.verdict, &*ended.detail), (FitVerdict::Ended, "exit code 1 OutOfMemoryError"));
        let wrong =
            of(|trial| trial.trial.audit = Some(Audit { passed: false, detail: "7 lost".to_owned() }));
        assert_eq!(wrong.verdict, FitVerdict::WrongData);
        assert_eq!(of(|trial| trial.trial.windows[0].errors = 20).verdict, FitVerdict::Errors);
        assert_eq!(of(|trial| trial.trial.windows.clear()).verdict, FitVerdict::NotMeasured);
        assert_eq!(of(with(metric::MEMORY_STALL_PERCENT, 4.0)).verdict, FitVerdict::Stalled);
        let throttled = of(with(metric::THROTTLED_PERCENT, 30.0));
        assert_eq!(throttled.verdict, FitVerdict::Throttled);
        assert!(
            throttled.detail.contains("30.0 %") && throttled.detail.contains("allowed 5 %"),
            "{}",
            throttled.detail
        );
        let slow = of(|trial| {
            trial.trial.windows[0].response_ms.p99 = Some(812.0);
            trial.trial.windows[0].metrics.insert(metric::GC_PAUSE_MS_PER_S.to_owned(), 430.0);
        });
        assert_eq!(slow.verdict, FitVerdict::TooSlow);
        assert_eq!(slow.detail, "p99 812.0 ms, limit 50 ms; collections stopped it 43 % of the time");
    }

    #[test]
    fn time_that_the_machine_waited_is_the_groups_only_where_its_pages_came_back() {
        let machine = of(|trial| {
            with(metric::MEMORY_STALL_PERCENT, 4.0)(trial);
            with(metric::REFAULTS_PER_S, 0.0)(trial);
        });
        assert_eq!(machine.verdict, FitVerdict::Holds);
    }

    #[test]
    fn a_limit_that_is_missed_while_others_use_the_machine_does_not_count_and_a_kill_does() {
        let disturbed = |trial: &mut StoredTrial| {
            let evidence = "others used 40 %".to_owned();
            trial.trial.windows[0].disturbances = vec![Disturbance { kind: Check::CpuPressure, evidence }];
        };
        let slow = of(|trial| {
            disturbed(trial);
            trial.trial.windows[0].response_ms.p99 = Some(80.0);
        });
        assert!(slow.verdict == FitVerdict::TooSlow && !slow.counts);
        let thrashing = of(|trial| {
            disturbed(trial);
            trial.trial.windows[0].response_ms.p99 = Some(80.0);
            trial.trial.windows[0].metrics.insert(metric::GC_PAUSE_MS_PER_S.to_owned(), 430.0);
        });
        assert!(thrashing.verdict == FitVerdict::TooSlow && thrashing.counts, "its collector is its own");
        let killed = of(|trial| {
            disturbed(trial);
            trial.trial.group = Some(GroupEnd { limit_bytes: 1 << 20, oom_kills: Some(1), peak_bytes: None });
        });
        assert!(killed.verdict == FitVerdict::Killed && killed.counts);
        assert!(of(disturbed).counts, "what holds in spite of it holds");
    }
}
