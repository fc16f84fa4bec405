//! Why the slowest requests took long, by variant: over the windows that count, and of searches over those that the server kept up with.

use super::grid::{Cell, Grid};
use crate::capacity;
use assay_kit::chart::{Chart, Panel};
use assay_kit::number::{counted, tick};
use assay_kit::text::clean;
use assay_model::{Check, LimitAttribution, Window};

const ID: &str = "late";
const TITLE: &str = "Why the slowest requests took long";

/// The slowest requests of a variant.
struct Slowest {
    /// How many, and from what on a request is one of them.
    heading: String,
    /// Over all of them.
    causes: LimitAttribution,
}

impl Slowest {
    /// Absent where no window that counts tells.
    fn of(grid: &Grid, cell: &Cell) -> Option<Self> {
        let trials: Vec<_> = grid.trials(cell.name).filter(|t| t.trial.counts()).collect();
        let mut found: Vec<&LimitAttribution> = match grid.finds_capacity() {
            true => trials.iter().flat_map(|t| &t.capacity).flat_map(|c| &c.attribution).collect(),
            false => {
                let windows = trials.iter().flat_map(|t| &t.trial.windows).filter(|w| w.counts());
                windows.filter_map(|w| w.attribution.as_ref()).collect()
            }
        };
        found.retain(|of| 0 < of.misses);
        if grid.finds_capacity() {
            // Of all requests, where they have a limit.
            let is_of_all = found.iter().any(|of| of.operation.is_none());
            found.retain(|of| of.operation.is_none() == is_of_all);
            let lowest_ms = found.iter().map(|of| of.limit_ms).fold(f64::INFINITY, f64::min);
            found.retain(|of| of.limit_ms <= lowest_ms);
        }
        let limits = || found.iter().map(|of| of.limit_ms);
        let (low, high) = (limits().fold(f64::INFINITY, f64::min), limits().fold(0.0, f64::max));
        let (first, rest) = found.split_first()?;
        let mut causes = (*first).clone();
        rest.iter().for_each(|of| add(&mut causes, of));
        causes.causes.sort_by_key(|cause| std::cmp::Reverse(cause.misses));
        let ms = |ms: f64| tick((10.0 * ms).round() / 10.0);
        let from = if low < high { format!("{} to {}", ms(low), ms(high)) } else { ms(low) };
        let number = counted(causes.misses, "request", "requests");
        Some(Slowest { heading: format!("{}: {number} beyond {from} ms", clean(cell.name)), causes })
    }
}

fn add(sum: &mut LimitAttribution, of: &LimitAttribution) {
    sum.misses = sum.misses.saturating_add(of.misses);
    sum.unexplained = sum.unexplained.saturating_add(of.unexplained);
    for cause in &of.causes {
        match sum.causes.iter_mut().find(|known| known.cause == cause.cause) {
            Some(known) => {
                known.misses = known.misses.saturating_add(cause.misses);
                known.overlapped = known.overlapped.saturating_add(cause.overlapped);
                known.expected = known.expected.zip(cause.expected).map(|(a, b)| a + b);
            }
            None => sum.causes.push(cause.clone()),
        }
    }
}

/// A panel for each variant; none of benchmark programs, whose requests are not observed.
pub fn figure(grid: &Grid) -> Option<Chart> {
    let all: Vec<Slowest> = grid.cells().filter_map(|(_, cell)| Slowest::of(grid, cell)).collect();
    if all.is_empty() {
        let why =
            "not available: no window that counts has 100 requests and kept the slowest of them one by one";
        return (!grid.is_benchmark()).then(|| Chart::absent(ID, TITLE, why));
    }
    let which = match grid.finds_capacity() {
        true => "the requests that took longer than the lowest limit that any exceeded",
        false => "the slowest hundredth of the requests of each window that counts",
    };
    let panel = |(index, of): (usize, &Slowest)| Panel {
        heading: of.heading.clone(),
        svg: capacity::late_picture(&of.causes, &of.heading, &format!("{ID}-{index}")),
        narrow: None,
    };
    Some(Chart {
        id: ID.to_owned(),
        title: TITLE.to_owned(),
        caption: format!(
            "Causes of the delays of {which}. One request may have several causes, so shares may add up to \
                more than 100 %."
        ),
        key: capacity::late_key(),
        notes: Vec::new(),
        panels: all.iter().enumerate().map(panel).collect(),
        size: "",
        tables: all.iter().map(|of| capacity::late_table(&of.causes, of.heading.clone())).collect(),
        absent: None,
    })
}

/// What is to be known of windows that count: variant, check that failed, of how many windows, and what was found in the last of them.
/// Warm-up is of a trial, and the answer's cautions say it once for all.
pub fn marks(grid: &Grid) -> Vec<[String; 4]> {
    let mut rows = Vec::new();
    for (_, cell) in grid.cells() {
        let trials = grid.trials(cell.name).filter(|t| t.trial.counts());
        let windows: Vec<&Window> = trials.flat_map(|t| &t.trial.windows).filter(|w| w.counts()).collect();
        let mut found: Vec<(Check, u64, &str)> = Vec::new();
        let marks = windows.iter().rev().flat_map(|w| w.marks()).filter(|mark| mark.check != Check::WarmUp);
        for mark in marks {
            match found.iter_mut().find(|(check, ..)| *check == mark.check) {
                Some((_, times, _)) => *times += 1,
                None => found.push((mark.check, 1_u64, &mark.evidence)),
            }
        }
        let of_all = |times| format!("{times} of {}", counted(windows.len() as u64, "window", "windows"));
        rows.extend(found.into_iter().map(|(check, times, evidence)| {
            [clean(cell.name), check.to_string(), of_all(times), clean(evidence)]
        }));
    }
    rows
}
