//! The faults that a study asked for, as they were done.

use super::grid::Grid;
use assay_kit::Table;
use assay_kit::number::{count, counted, significant};
use assay_kit::text::clean;
use assay_model::{FaultRecord, Trial, Window};

/// Rows that are shown; the rest is counted.
const ROWS_MAX: usize = 200;

type Done<'a> = (&'a Trial, &'a Window, &'a FaultRecord);

fn all<'a>(grid: &'a Grid<'_>) -> impl Iterator<Item = Done<'a>> {
    let windows = grid.run.trials.iter().flat_map(|t| t.trial.windows.iter().map(|w| (&t.trial, w)));
    windows.flat_map(|(trial, window)| window.faults.iter().map(move |fault| (trial, window, fault)))
}

/// Seconds from the start of the window.
fn at_s(window: &Window, at_ns: Option<u64>) -> Option<String> {
    at_ns.map(|at_ns| format!("{:.2}", (at_ns as f64 - window.start_monotonic_ns as f64) / 1e9))
}

/// Each fault with what came of it, and what its window saw; absent where none was asked for.
pub fn table(grid: &Grid) -> Option<Table> {
    let mut table = Table::of("Faults, as they were done", all(grid).take(ROWS_MAX))
        .words("Variant", |(trial, ..)| clean(&trial.variant))
        .words("Trial, block, attempt", |(trial, window, _)| {
            format!("{}, {}, {}", trial.number, window.block, window.attempt)
        })
        .words("Process", |(.., fault)| {
            let pid = fault.pid.map_or_else(String::new, |pid| format!(" (PID {pid})"));
            format!("{}{pid}", clean(&fault.role))
        })
        .words("Fault", |(.., fault)| fault.action.to_string())
        .words("What came of it", |(.., fault)| {
            let all: Vec<String> = fault.came_of_it().chain(fault.failed.clone()).collect();
            if all.is_empty() { "it stayed".to_owned() } else { clean(&all.join("; ")) }
        })
        .figures("At (s)", |(_, window, fault)| at_s(window, fault.done_monotonic_ns))
        .figures("Over (s)", |(_, window, fault)| at_s(window, fault.over_monotonic_ns))
        .figures("Ready again after (s)", |(.., fault)| fault.ready_after_s.map(significant))
        .figures("Failed requests of the window", |(_, window, _)| {
            format!("{} of {}", count(window.errors), count(window.requests))
        })
        .figures("p99 of the window (ms)", |(_, window, _)| window.response_ms.p99.map(significant))
        .class("dense");
    if let Some(audits) = audits(grid) {
        table.caption += &format!("; {audits}");
    }
    let total = all(grid).count();
    if table.rows.len() < total {
        table.caption += &format!(" (the first {} of {total})", table.rows.len());
    }
    table.unless_empty()
}

/// A line for each planned fault: how often it was done, and what came of it.
pub fn sentences(grid: &Grid) -> Vec<String> {
    let mut kinds: Vec<(String, Vec<Done<'_>>)> = Vec::new();
    for done in all(grid) {
        let (trial, _, fault) = done;
        let kind = format!("{}: {} of {}", clean(&trial.variant), fault.action, clean(&fault.role));
        match kinds.iter_mut().find(|(known, _)| *known == kind) {
            Some((_, of_kind)) => of_kind.push(done),
            None => kinds.push((kind, vec![done])),
        }
    }
    let sentence = |(kind, done): (String, Vec<Done<'_>>)| {
        let times = counted(done.len() as u64, "window", "windows");
        let ready_s: Vec<f64> = done.iter().filter_map(|(.., fault)| fault.ready_after_s).collect();
        let (low, high) = (
            ready_s.iter().copied().fold(f64::INFINITY, f64::min),
            ready_s.iter().copied().fold(0.0, f64::max),
        );
        let ready = match ready_s.len() {
            0 => String::new(),
            1 => format!("; ready again after {} s", significant(high)),
            _ => format!("; ready again after {} to {} s", significant(low), significant(high)),
        };
        let sum = |of: fn(&Window) -> u64| done.iter().map(|(_, window, _)| of(window)).sum::<u64>();
        let failed =
            format!("; {} of {} requests failed", count(sum(|w| w.errors)), count(sum(|w| w.requests)));
        let oom_kills: u64 = done.iter().filter_map(|(.., fault)| fault.oom_kills).sum();
        let of_memory = match oom_kills {
            0 => String::new(),
            kills => {
                format!("; {} ended by the kernel's OOM killer", counted(kills, "process", "processes"))
            }
        };
        let not_done = done.iter().filter(|(.., fault)| fault.failed.is_some()).count();
        let not_done =
            if not_done == 0 { String::new() } else { format!("; {not_done} were not done as planned") };
        format!("{kind} in {times}{of_memory}{ready}{failed}{not_done}")
    };
    kinds.into_iter().map(sentence).collect()
}

/// How many trials with faults had an audit that held at their end; absent where none was asked for.
pub fn audits(grid: &Grid) -> Option<String> {
    let has_faults = |trial: &&Trial| trial.windows.iter().any(|window| !window.faults.is_empty());
    let trials = grid.run.trials.iter().map(|t| &t.trial).filter(has_faults);
    let audits: Vec<bool> = trials.filter_map(|trial| Some(trial.audit.as_ref()?.passed)).collect();
    let held = audits.iter().filter(|held| **held).count();
    (!audits.is_empty()).then(|| format!("the audit held at the end of {held} of {} trials", audits.len()))
}
