//! Heap in use and collection pauses over the measured time, a small panel for each variant.

use super::super::grid::{Cell, Grid, Group, LOOKS};
use super::joined::joined;
use assay_kit::Table;
use assay_kit::axes::Plot;
use assay_kit::figure::{Figure, Panel, SMALL_WIDTH};
use assay_kit::number::{MIB, count, significant};
use assay_kit::scale::{Scale, ticks_from_zero};
use assay_kit::svg::Svg;
use assay_kit::teeth::{self, Fall};
use assay_kit::text;
use assay_model::{GcRecord, GcRecordKind, GcScope, StoredTrial};

const ID: &str = "gc-time";
const TITLE: &str = "Heap in use and collection pauses over time";
const HEAP: Plot = Plot { left: 42.0, right: SMALL_WIDTH - 8.0, top: 22.0, bottom: 104.0 };
const PAUSES: Plot = Plot { left: 42.0, right: SMALL_WIDTH - 8.0, top: 136.0, bottom: 176.0 };

/// The figure.
pub fn figure(grid: &Grid) -> Figure {
    let mut panels = Vec::new();
    let mut table = Table::new(
        "Collections in the drawn trial, within its windows",
        &[
            "Variant",
            "Trial",
            "Pauses",
            "Sum (ms)",
            "Longest (ms)",
            "Full collections",
            "Highest use after one (MiB)",
        ],
        2,
    );
    for group in &grid.groups {
        let limits = limits(grid, group);
        for cell in group.cells.iter().filter(|c| c.variant.is_some()) {
            let found = grid.shown_trial(cell.name).map(|t| (t, in_windows(t)));
            match found.filter(|(_, events)| !events.is_empty()) {
                Some((stored, events)) => {
                    let id = format!("{ID}-{}", panels.len());
                    let heading = text::clean(cell.name);
                    panels.push(Panel {
                        heading,
                        narrow: None,
                        svg: panel(cell, stored, &events, limits, &id),
                    });
                    table.rows.push(table_row(cell, stored, &events));
                }
                None => {
                    let mut row = vec![text::clean(cell.name)];
                    row.resize(7, "not available: no collection with a time stamp in a window".to_owned());
                    table.rows.push(row);
                }
            }
        }
    }
    if panels.is_empty() {
        let why = "not available: no GC log gave a collection with a time stamp inside a measured window";
        return Figure::absent(ID, TITLE, why);
    }
    Figure {
        id: ID.to_owned(),
        title: TITLE.to_owned(),
        caption: "Above: heap in use in MiB, falling at each collection; where collections are too dense to draw one by \
                  one a band spans from before to after them. Below: length of each pause in ms, a triangle marks a full collection. One \
                  trial for each variant; dotted lines are the gaps between its windows. From the GC log. Scales \
                  are the same in all panels of a heap size."
            .to_owned(),
        key: String::new(),
        notes: Vec::new(),
        panels,
        size: "small",
        tables: vec![table],
        absent: None,
    }
}

/// An event on the joined axis.
struct Placed<'a> {
    at_s: f64,
    window: usize,
    event: &'a GcRecord,
}

impl Placed<'_> {
    fn pause_ms(&self) -> f64 {
        self.event.duration_ns.unwrap_or(0) as f64 / 1e6
    }

    fn is_full(&self) -> bool {
        self.event.scope == Some(GcScope::Full)
    }

    /// Heap in use before and after, MiB.
    fn fall(&self) -> Fall {
        let mib = |bytes: Option<u64>| bytes.map(|b| b as f64 / MIB);
        let heap = &self.event.heap;
        Fall {
            at: self.at_s,
            part: self.window,
            before: mib(heap.before_bytes),
            after: mib(heap.after_bytes),
        }
    }
}

fn in_windows(stored: &StoredTrial) -> Vec<Placed<'_>> {
    let joined = joined(&stored.trial);
    let place = |event| {
        let event: &GcRecord = event;
        let (at_s, window) = joined.at(event.end.monotonic_ns?)?;
        Some(Placed { at_s, window, event })
    };
    let pauses = stored.gc_events.iter().filter(|record| record.kind == GcRecordKind::Pause);
    pauses.filter_map(place).collect()
}

/// Highest heap use (MiB) and longest pause (ms) of a group.
fn limits(grid: &Grid, group: &Group) -> (f64, f64) {
    let mut limits = (0.0f64, 0.0f64);
    for stored in group.cells.iter().filter_map(|c| grid.shown_trial(c.name)) {
        for placed in in_windows(stored) {
            let used = placed.event.heap.before_bytes.or(placed.event.heap.after_bytes).unwrap_or(0);
            limits = (limits.0.max(used as f64 / MIB), limits.1.max(placed.pause_ms()));
        }
    }
    limits
}

fn panel(cell: &Cell, stored: &StoredTrial, events: &[Placed], limits: (f64, f64), id: &str) -> String {
    let mut svg = Svg::new(SMALL_WIDTH, 218.0);
    let joined = joined(&stored.trial);
    let x = Scale::linear((0.0, joined.total_s), (HEAP.left, HEAP.right));
    let (heap_ticks, pause_ticks) = (ticks_from_zero(limits.0, 3), ticks_from_zero(limits.1, 2));
    let end = |ticks: &[f64]| ticks.last().copied().unwrap_or(1.0);
    let heap = Scale::linear((0.0, end(&heap_ticks)), (HEAP.bottom, HEAP.top));
    let pauses = Scale::linear((0.0, end(&pause_ticks)), (PAUSES.bottom, PAUSES.top));
    joined.draw(&mut svg, &Plot { top: HEAP.top, ..PAUSES }, &x);
    HEAP.y_axis(&mut svg, &heap, &heap_ticks, "heap in use (MiB)");
    PAUSES.y_axis(&mut svg, &pauses, &pause_ticks, "pause (ms)");
    joined.note(&mut svg, &HEAP);
    let look = cell.series % LOOKS;
    let falls: Vec<Fall> = events.iter().map(Placed::fall).collect();
    teeth::falls(&mut svg, &falls, &x, &heap, look);
    let stems: Vec<(f64, f64, bool)> = events.iter().map(|p| (p.at_s, p.pause_ms(), p.is_full())).collect();
    teeth::stems(&mut svg, &stems, (&x, &pauses), PAUSES.bottom, look, |ms| {
        format!("full collection: {} ms", significant(ms))
    });
    let (longest, full) = longest_and_full(events);
    let words = format!(
        "{} pauses in {} measured seconds, the longest {} ms, {} full collections",
        count(events.len() as u64),
        significant(joined.total_s),
        significant(longest),
        count(full)
    );
    svg.finish(id, &format!("Heap and pauses over time, {}", text::clean(cell.name)), &words)
}

fn longest_and_full(events: &[Placed]) -> (f64, u64) {
    let longest = events.iter().map(|p| p.pause_ms()).fold(0.0, f64::max);
    (longest, events.iter().filter(|p| p.is_full()).count() as u64)
}

fn table_row(cell: &Cell, stored: &StoredTrial, events: &[Placed]) -> Vec<String> {
    let (longest, full) = longest_and_full(events);
    let sum: f64 = events.iter().map(|p| p.pause_ms()).sum();
    let highest = events.iter().filter_map(|p| p.event.heap.after_bytes).max();
    vec![
        text::clean(cell.name),
        stored.trial.number.to_string(),
        count(events.len() as u64),
        significant(sum),
        significant(longest),
        count(full),
        highest
            .map_or_else(|| "not available: the log gives none".to_owned(), |b| significant(b as f64 / MIB)),
    ]
}
