//! The tables of a capacity.

use super::{lines, words};
use assay_kit::number::{count, half_width_percent, percent, significant, tick};
use assay_kit::quantity::figure;
use assay_kit::text::clean;
use assay_kit::{Cell, Table};
use assay_model::{
    AttributedCause, CapacityReport, Check, Estimate, LatencySummary, LimitAttribution, LimitRate,
    OperationCount, Window, metric,
};

/// Rows of the table of windows; CSV and the stored form have all.
const WINDOWS_MAX: usize = 1_500;

/// A row for each limit, for the critical and for the highest rate.
pub fn limits(report: &CapacityReport) -> Table {
    let row =
        |name: &str, rate: &Option<Estimate>, note: &str| (name.to_owned(), None, *rate, note.to_owned());
    let of_limit = |limit: &'_ LimitRate| {
        let note = match limit.rate_per_s {
            None => words::absent(report, limit),
            Some(_) if limit.limited_by_max => words::LIMITED_BY_MAX.to_owned(),
            Some(_) => words::end_at_estimate(limit).unwrap_or_default().to_owned(),
        };
        let tried = [limit.last_success_per_s, limit.first_failure_per_s];
        (words::limit_with_rate(limit), Some(tried), limit.rate_per_s, note)
    };
    let mean = "geometric mean of the rates above";
    let critical = row("critical rate", &report.critical_rate_per_s, mean);
    let highest = "highest sustained rate at any response time";
    let max = row("max rate", &report.max_rate_per_s, highest);
    let rows = report.limits.iter().map(of_limit).chain((report.limits.len() > 1).then_some(critical));
    let half = |rate: Estimate| half_width_percent(rate.estimate, rate.ends());
    let tried = |tried: &Option<[Option<f64>; 2]>, which: usize| {
        tried.map_or_else(|| Cell::from(""), |tried| tried[which].map(words::measured).into())
    };
    Table::of("Rates that keep the limits", rows.chain([max]))
        .words(format!("{} under", words::percentile(report)), |(name, ..)| name.clone())
        .figures("Kept at (requests/s)", |(_, at, ..)| tried(at, 0))
        .figures("Missed at", |(_, at, ..)| tried(at, 1))
        .if_room()
        .figures("Estimate (requests/s)", |(_, _, rate, _)| figure(rate.map(|rate| rate.estimate)))
        .figures("Interval", |(_, _, rate, _)| rate.as_ref().and_then(words::interval))
        .figures("± (%)", |(_, _, rate, _)| rate.and_then(half))
        .if_room()
        .words("Note", |(.., note)| note.clone())
        .class("rates")
}

/// Operations in the window at the highest rate that was sustained; absent where there is one alone.
pub fn operations(report: &CapacityReport) -> Option<Table> {
    let (window, step) = lines::highest_sustained(report)?;
    if window.operations.len() < 2 {
        return None;
    }
    let rate = significant(step.offered_rate_per_s);
    let ms = |of: &OperationCount, time: fn(&LatencySummary) -> Option<f64>| {
        of.figures.as_ref().and_then(|figures| time(&figures.response_ms)).map(significant)
    };
    let caption =
        format!("Operations in the window at {rate} requests/s, the highest rate that was sustained");
    let table = Table::of(caption, &window.operations)
        .words("Operation", |of| clean(&of.name))
        .figures("Requests", |of| count(of.requests))
        .figures("p50 (ms)", |of| ms(of, |of| of.p50))
        .figures("p95 (ms)", |of| ms(of, |of| of.p95))
        .if_room()
        .figures("p99 (ms)", |of| ms(of, |of| of.p99))
        .figures("Longest (ms)", |of| ms(of, |of| of.max))
        .if_room()
        .figures("Failed", |of| count(of.errors))
        .table();
    Some(table)
}

/// Causes of requests that took long, at last none of them.
pub fn causes(attribution: &LimitAttribution, caption: String) -> Table {
    let by_chance = |expected: f64| percent(expected.round().max(0.0) as u64, attribution.misses);
    let times = |c: &AttributedCause| c.expected.filter(|e| *e > 0.0).map(|e| c.overlapped as f64 / e);
    let explained = |c: &Option<&AttributedCause>| c.map_or(attribution.unexplained, |c| c.misses);
    Table::of(caption, attribution.causes.iter().map(Some).chain([None]))
        .words("Cause", |c| c.map_or(words::UNEXPLAINED, |c| words::cause(c.cause)).to_owned())
        .figures("Misses explained", |c| count(explained(c)))
        .figures("Share", |c| percent(explained(c), attribution.misses))
        .figures("Overlapped", |c| c.map(|c| count(c.overlapped)))
        .figures("Share overlapped", |c| c.map(|c| percent(c.overlapped, attribution.misses)))
        .figures("Expected by chance", |c| c.and_then(|c| c.expected).map(by_chance))
        .figures("Times chance", |c| figure(c.and_then(times)))
        .if_room()
        .table()
}

/// Checks with one verdict; absent without any.
pub fn checks(report: &CapacityReport, passed: Option<bool>) -> Option<Table> {
    let (caption, class) = match passed {
        Some(true) => ("Passed", "checks"),
        Some(false) => ("Failed", "checks failed"),
        None => ("Without a verdict", "checks"),
    };
    Table::of(caption, report.checks.iter().filter(|c| c.passed == passed))
        .words("Check", |c| c.check.to_string())
        .words("What was found", |c| clean(&c.evidence))
        .class(class)
        .unless_empty()
}

/// Every window in the order of time.
pub fn windows(report: &CapacityReport) -> Table {
    let caption = match report.windows.len().saturating_sub(WINDOWS_MAX) {
        0 => "Windows in the order of time".to_owned(),
        more => format!("The first {WINDOWS_MAX} windows. {more} more are in the CSV"),
    };
    let rate = words::measured;
    let numbered = (1_u64..).zip(report.steps()).map(|(number, (window, step))| (number, window, step));
    let mut rows = Table::of(caption, numbered.take(WINDOWS_MAX))
        .words("Window", |(number, ..)| number.to_string())
        .words("For", |(.., s)| s.step.to_string())
        .figures("Length (s)", |(_, w, _)| tick(w.seconds()))
        .figures("Offered (1/s)", |(.., s)| rate(s.offered_rate_per_s))
        .figures("Sent (1/s)", |(.., s)| rate(s.sent_rate_per_s))
        .figures("Achieved (1/s)", |(_, w, _)| rate(w.achieved_rate_per_s()))
        .figures("Requests", |(_, w, _)| count(w.requests))
        .figures("Errors", |(_, w, _)| count(w.errors))
        .figures("Min (ms)", |(.., s)| figure(s.response_ms_min))
        .figures("Median (ms)", |(_, w, _)| figure(w.response_ms.p50))
        .figures("p90 (ms)", |(.., s)| figure(s.response_ms_p90))
        .figures("p95 (ms)", |(_, w, _)| figure(w.response_ms.p95))
        .figures("p99 (ms)", |(_, w, _)| figure(w.response_ms.p99))
        .figures("p99.9 (ms)", |(_, w, _)| figure(w.response_ms.p99_9))
        .figures("Max (ms)", |(_, w, _)| figure(w.response_ms.max))
        .figures(format!("{} of limited operations (ms)", words::percentile(report)), |(.., s)| {
            figure(s.limited_ms)
        });
    for (index, limit) in report.limits.iter().enumerate() {
        rows = rows.figures(format!("Beyond {}", words::limit_with_rate(limit)), |(.., s)| {
            s.misses.get(index).map(|m| count(*m))
        });
    }
    let cpu = |w: &Window| figure(w.metrics.get(metric::CPU_MS_PER_REQUEST).copied());
    rows.figures("Send lag p99 (ms)", |(_, w, _)| figure(w.send_lag_ms.p99))
        .figures("Generator CPU (%)", |(_, w, _)| figure(w.generator_cpu_share.map(|share| 100.0 * share)))
        .figures("Server CPU an answer (ms)", |(_, w, _)| cpu(w))
        .figures("Machine: arithmetic (ns)", |(_, w, _)| figure(w.machine.and_then(|m| m.arithmetic_ns)))
        .figures("Machine: memory (ns)", |(_, w, _)| figure(w.machine.map(|m| m.memory_ns)))
        .words("Kept up", |(.., s)| if s.is_sustained { "yes" } else { "no" }.to_owned())
        .words("Left out", |(_, w, _)| clean(&w.left_out().join("; ")))
        .class("dense windows")
}

/// What windows were left out for, the most frequent first. Versions before `assay.capacity/3` did not store the check: `other`.
pub fn left_out(report: &CapacityReport) -> Option<Table> {
    let mut reasons: Vec<(Check, u64)> = Vec::new();
    for kind in report.windows.iter().flat_map(|w| &w.disturbances).map(|d| d.kind) {
        match reasons.iter_mut().find(|(known, _)| *known == kind) {
            Some((_, times)) => *times += 1,
            None => reasons.push((kind, 1)),
        }
    }
    reasons.sort_by_key(|(_, times)| std::cmp::Reverse(*times));
    Table::of("Why windows were left out", reasons)
        .words("Check that failed", |(kind, _)| kind.to_string())
        .figures("Times", |(_, times)| count(*times))
        .table()
        .unless_empty()
}
