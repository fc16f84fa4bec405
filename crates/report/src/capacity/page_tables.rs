//! The tables of a capacity's page.

use super::lines::Step;
use super::words;
use assay_kit::Table;
use assay_kit::number::{count, half_width_percent, percent, significant, tick};
use assay_kit::text::clean;
use assay_model::{CapacityReport, Check, Estimate, LimitBlame, ValidityCheck, metric};

/// Rows of the table of windows; CSV and the stored form have all.
const WINDOWS_MAX: usize = 1_500;

fn optional(value: Option<f64>) -> String {
    value.map_or_else(|| "-".to_owned(), significant)
}

/// A row for each limit, for the critical and for the highest rate.
pub fn limits(report: &CapacityReport) -> Table {
    let name = format!("{} under", words::percentile(report));
    let columns = [name.as_str(), "Rate (requests/s)", "Interval", "± (%)", "Kept at", "Missed at", "Note"];
    let mut table = Table::new("Rates that keep the limits", &columns, 1);
    table.class = "rates";
    table.text_from = 6;
    for limit in &report.limits {
        let note = if limit.rate_per_s.is_none() { words::absent(report, limit) } else { String::new() };
        let tried = [limit.last_success_per_s, limit.first_failure_per_s].map(optional);
        table.rows.push(row(words::limit(limit.limit_ms), limit.rate_per_s.as_ref(), tried, note));
    }
    let none = || [String::new(), String::new()];
    if report.limits.len() > 1 {
        let note = "geometric mean of the rates above".to_owned();
        table.rows.push(row("critical rate".to_owned(), report.critical_rate_per_s.as_ref(), none(), note));
    }
    let note = "highest that is sustained, whatever the response time".to_owned();
    table.rows.push(row("max rate".to_owned(), report.max_rate_per_s.as_ref(), none(), note));
    table
}

fn row(name: String, rate: Option<&Estimate>, [kept, missed]: [String; 2], note: String) -> Vec<String> {
    let dash = || "-".to_owned();
    vec![
        name,
        rate.map_or_else(dash, |r| significant(r.estimate)),
        rate.and_then(words::interval).unwrap_or_else(dash),
        rate.and_then(|r| half_width_percent(r.estimate, r.ends())).unwrap_or_else(dash),
        kept,
        missed,
        note,
    ]
}

/// Causes of the requests beyond one limit.
pub fn causes(blame: &LimitBlame) -> Table {
    let caption = format!("{} requests beyond {}", count(blame.misses), words::limit(blame.limit_ms));
    let columns = ["Cause", "Misses explained", "Share", "Met", "Share met", "Met by chance", "Times chance"];
    let mut table = Table::new(caption, &columns, 1);
    for cause in &blame.causes {
        let times = cause.expected.filter(|e| *e > 0.0).map(|e| cause.touched as f64 / e);
        table.rows.push(vec![
            words::cause(cause.cause).to_owned(),
            count(cause.misses),
            percent(cause.misses, blame.misses),
            count(cause.touched),
            percent(cause.touched, blame.misses),
            cause
                .expected
                .map_or_else(|| "-".to_owned(), |e| percent(e.round().max(0.0) as u64, blame.misses)),
            optional(times),
        ]);
    }
    let none = || "-".to_owned();
    let share = percent(blame.unexplained, blame.misses);
    let unexplained = count(blame.unexplained);
    table.rows.push(vec![
        "nothing that was watched".to_owned(),
        unexplained,
        share,
        none(),
        none(),
        none(),
        none(),
    ]);
    table
}

/// Checks with one verdict; absent without any.
pub fn checks(report: &CapacityReport, passed: Option<bool>) -> Option<Table> {
    let caption = match passed {
        Some(true) => "Passed",
        Some(false) => "Failed",
        None => "Without a verdict",
    };
    let mut table = Table::new(caption, &["Check", "What was found"], 2);
    table.class = match passed {
        Some(false) => "checks failed",
        _ => "checks",
    };
    let of = report.checks.iter().filter(|c: &&ValidityCheck| c.passed == passed);
    table.rows = of.map(|c| vec![c.check.to_string(), clean(&c.evidence)]).collect();
    (!table.rows.is_empty()).then_some(table)
}

/// Every window in the order of time.
pub fn windows(report: &CapacityReport) -> Table {
    let columns = [
        "Window",
        "For",
        "Length (s)",
        "Asked (1/s)",
        "Sent (1/s)",
        "Reached (1/s)",
        "Requests",
        "Errors",
        "Min (ms)",
        "Median (ms)",
        "p90 (ms)",
        "p95 (ms)",
        "p99 (ms)",
        "p99.9 (ms)",
        "Max (ms)",
    ];
    let mut table = Table::new("Windows in the order of time", &columns, 2);
    table.class = "dense windows";
    table.columns.push(format!("Limited {} (ms)", words::percentile(report)));
    table.columns.extend(report.limits.iter().map(|l| format!("Beyond {}", words::limit(l.limit_ms))));
    table.columns.extend(
        [
            "Send lag p99 (ms)",
            "Generator CPU (%)",
            "Server CPU an answer (ms)",
            "Machine: arithmetic (ns)",
            "Machine: memory (ns)",
            "Kept up",
            "Left out",
        ]
        .map(str::to_owned),
    );
    table.text_from = table.columns.len() - 2;
    for (number, window) in (1..).zip(report.steps()).take(WINDOWS_MAX) {
        table.rows.push(window_row(report, number, window));
    }
    let more = report.windows.len().saturating_sub(WINDOWS_MAX);
    if more > 0 {
        table.caption = format!("The first {WINDOWS_MAX} windows; {more} more are in the CSV");
    }
    table
}

fn window_row(report: &CapacityReport, number: u64, (w, step): Step) -> Vec<String> {
    let of = &w.response_ms;
    let rate = |value: f64| tick((10.0 * value).round() / 10.0);
    let mut row = vec![
        number.to_string(),
        step.step.to_string(),
        tick(w.seconds()),
        rate(step.asked_rate_per_s),
        rate(step.sent_rate_per_s),
        rate(w.reached_rate_per_s()),
        count(w.requests),
        count(w.errors),
    ];
    let times = [
        step.response_ms_min,
        of.p50,
        step.response_ms_p90,
        of.p95,
        of.p99,
        of.p99_9,
        of.max,
        step.limited_ms,
    ];
    row.extend(times.map(optional));
    row.extend(
        (0..report.limits.len()).map(|i| step.misses.get(i).map_or_else(|| "-".to_owned(), |m| count(*m))),
    );
    row.push(optional(w.send_lag_ms.p99));
    row.push(optional(w.generator_cpu_share.map(|share| 100.0 * share)));
    row.push(optional(w.metrics.get(metric::CPU_MS_PER_REQUEST).copied()));
    row.push(optional(w.machine.and_then(|machine| machine.arithmetic_ns)));
    row.push(optional(w.machine.map(|machine| machine.memory_ns)));
    row.push(if step.is_sustained { "yes" } else { "no" }.to_owned());
    row.push(clean(&w.left_out().join("; ")));
    row
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
    let mut table = Table::new("Why windows were left out", &["Check that failed", "Times"], 1);
    table.rows = reasons.into_iter().map(|(kind, times)| vec![kind.to_string(), count(times)]).collect();
    (!table.rows.is_empty()).then_some(table)
}
