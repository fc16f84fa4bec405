//! How long pauses, concurrent work and waits took: tables with percentiles, and the charts above them.

use super::{length_pictures, words};
use assay_kit::Table;
use assay_kit::document::{Block, Figure, Shown};
use assay_kit::number::{count, significant};
use assay_kit::page::{drawings_if_any, panels};
use assay_kit::text::clean;
use assay_model::{GcDurations, GcReport, GcRow};
use std::cmp::Reverse;

/// Rows of a table; the stored form has all.
pub const ROWS_MAX: usize = 400;

/// Pauses by kind and by cause.
pub fn blocks(report: &GcReport) -> Vec<Block> {
    if report.pauses.count == 0 {
        return vec![Block::text(format!("{}.", words::NO_PAUSE))];
    }
    let mut blocks = Vec::new();
    let pictures = length_pictures::histograms(&report.pauses_by_phase);
    if !pictures.is_empty() {
        let left = report.pauses_by_phase.len().saturating_sub(pictures.len());
        let more = if left > 0 { format!(" {left} more kinds are in the table.") } else { String::new() };
        let caption = format!("How long pauses of each kind took, all on the same logarithmic axis.{more}");
        let figure = Figure::new("lengths", "lengths of pauses of each kind", panels(pictures.into_iter()));
        blocks.push(figure.caption(caption).into());
    }
    blocks.push(lengths("Pauses by kind", "Kind", report, &report.pauses_by_phase, Some(&report.pauses)));
    blocks.push(lengths("Pauses by cause", "Cause", report, &report.pauses_by_cause, None));
    blocks.push(lengths("Full collections by cause", "Cause", report, &report.full_by_cause, None));
    let draw = |width: f64, id: &str| length_pictures::causes(&report.pauses_by_cause, width, id);
    blocks.extend(drawings_if_any("causes", draw).map(|drawings| {
        let figure = Figure::new("causes", "time in pauses by cause", drawings);
        figure.caption("Time in pauses by their cause, from zero.").into()
    }));
    blocks
}

/// Work beside the application, waits for memory and stops for other reasons.
pub fn beside(report: &GcReport) -> Vec<Block> {
    let mut triggers: Vec<(&String, &u64)> = report.triggers.iter().collect();
    triggers.sort_by_key(|(_, cycles)| Reverse(**cycles));
    let triggers = Table::of("Why cycles began", triggers)
        .words("Trigger", |(name, _)| clean(name))
        .figures("Cycles", |(_, cycles)| count(**cycles));
    let blocks = vec![
        lengths("Concurrent cycles", "Cycle", report, &report.cycles_by_phase, None),
        lengths("Concurrent phases", "Phase", report, &report.concurrent_by_phase, None),
        lengths("Threads that waited for memory", "Wait", report, &report.stalls_by_phase, None),
        lengths("Safepoints by operation", "Operation", report, &report.safepoints_by_operation, None),
        triggers.table().into(),
    ];
    if blocks.iter().all(Block::is_empty) {
        return vec![Block::absent("the log has no cycle, wait or safepoint")];
    }
    blocks
}

/// The share of time that is left to the application in windows of each length.
pub fn mmu(report: &GcReport) -> Block {
    let name = "minimum mutator utilisation by window";
    let draw = |width: f64, id: &str| length_pictures::mmu(&report.mmu, width, id);
    let Some(drawings) = drawings_if_any("mmu", draw) else {
        return Block::absent("the log has no times of pauses");
    };
    let caption = "Minimum mutator utilisation (MMU) by window: in every window of this length in the log, at \
        least this share was not spent in collection pauses. It is 0 if a pause was as long as the window. \
        Non-GC safepoints are not included.";
    let windows = Table::of("Minimum mutator utilisation", &report.mmu)
        .words("Any window of", |m| words::window(m.window_ms))
        .figures("is without pauses to at least (%)", |m| {
            m.utilisation_percent.is_finite().then(|| words::percent(m.utilisation_percent))
        });
    Figure::new("mmu-curve", name, drawings)
        .caption(caption)
        .behind([windows.table()], Shown::Everywhere)
        .into()
}

/// How many, their sum, percentiles, the longest and where it ended; `all` sums up the rows.
fn lengths(title: &str, first: &str, report: &GcReport, rows: &[GcRow], all: Option<&GcDurations>) -> Block {
    let left = rows.len().saturating_sub(ROWS_MAX);
    let caption = match left {
        0 => title.to_owned(),
        _ => format!("{title}: the first {ROWS_MAX}. {left} more are in the stored form (--json)"),
    };
    let scope = |row: &GcRow| row.scope.map_or("", words::scope);
    let rows = rows.iter().take(ROWS_MAX).map(|row| (clean(&row.name), scope(row), &row.durations));
    let mut table = Table::of(caption, rows.chain(all.map(|all| ("all".to_owned(), "", all))))
        .words(first, |r| r.0.clone())
        .words("Collects", |r| r.1)
        .if_wide()
        .figures("Count", |r| count(r.2.count))
        .figures("Total (ms)", |r| ms((r.2.without_length < r.2.count).then_some(r.2.total_ms)))
        .figures("Median (ms)", |r| ms(r.2.p50_ms))
        .figures("p90 (ms)", |r| ms(r.2.p90_ms))
        .if_wide()
        .figures("p95 (ms)", |r| ms(r.2.p95_ms))
        .if_room()
        .figures("p99 (ms)", |r| ms(r.2.p99_ms))
        .if_room()
        .figures("p99.9 (ms)", |r| ms(r.2.p999_ms))
        .if_wide()
        .figures("Longest (ms)", |r| ms(r.2.max_ms))
        .words("It ended at", |r| r.2.max_at.map_or_else(String::new, |at| words::place(report, at)))
        .if_room()
        .class("lengths");
    if let (Some(_), Some(sum)) = (all, table.rows.last_mut()) {
        sum.is_total = true;
    }
    table.into()
}

fn ms(value: Option<f64>) -> Option<String> {
    value.filter(|ms| ms.is_finite()).map(significant)
}
