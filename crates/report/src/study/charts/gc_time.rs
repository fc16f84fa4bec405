//! Heap in use and collection pauses over the measured time, a small panel for each variant.

use super::super::grid::{Cell, Grid, Group, LOOKS};
use super::joined::joined;
use assay_kit::Table;
use assay_kit::axes::Plot;
use assay_kit::figure::{Figure, Panel, SMALL_WIDTH};
use assay_kit::number::{count, significant};
use assay_kit::scale::{Scale, ticks_from_zero};
use assay_kit::svg::{Svg, points_path};
use assay_kit::text;
use assay_model::{GcRecord, GcRecordKind, GcScope, StoredTrial};
use std::fmt::Write as _;

const ID: &str = "gc-time";
const TITLE: &str = "Heap in use and collection pauses over time";
const MIB: f64 = 1_048_576.0;
/// Collections that are drawn one by one; more are drawn as a band, one column for each unit of width.
const SINGLE_MAX: usize = 90;
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
    if events.len() <= SINGLE_MAX {
        sawtooth(&mut svg, events, &x, &heap, look);
    } else {
        band(&mut svg, events, &x, &heap, look);
    }
    stems(&mut svg, events, &x, &pauses, look);
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

/// Before and after of each collection, a line of its own in each window.
fn sawtooth(svg: &mut Svg, events: &[Placed], x: &Scale, y: &Scale, look: usize) {
    for window in events.chunk_by(|a, b| a.window == b.window) {
        let mut points = Vec::with_capacity(window.len() * 2);
        for placed in window {
            let values = [placed.event.heap.before_bytes, placed.event.heap.after_bytes];
            points.extend(values.iter().flatten().map(|b| (x.at(placed.at_s), y.at(*b as f64 / MIB))));
        }
        svg.polyline(&points, &format!("s{look} thin"), "");
    }
}

/// The span from the lowest after to the highest before in each column.
fn band(svg: &mut Svg, events: &[Placed], x: &Scale, y: &Scale, look: usize) {
    for window in events.chunk_by(|a, b| a.window == b.window) {
        let mut upper: Vec<(f64, f64)> = Vec::new();
        let mut lower: Vec<(f64, f64)> = Vec::new();
        for placed in window {
            let (Some(before), Some(after)) = (placed.event.heap.before_bytes, placed.event.heap.after_bytes)
            else {
                continue;
            };
            let column = (x.at(placed.at_s) / 2.0).round() * 2.0;
            let (top, bottom) = (y.at(before as f64 / MIB), y.at(after as f64 / MIB));
            match (upper.last_mut(), lower.last_mut()) {
                (Some(u), Some(l)) if u.0 == column => (u.1, l.1) = (u.1.min(top), l.1.max(bottom)),
                _ => {
                    upper.push((column, top));
                    lower.push((column, bottom));
                }
            }
        }
        svg.polyline(&lower, &format!("s{look} thin"), "");
        upper.extend(lower.into_iter().rev());
        svg.path(&format!("{}Z", points_path(&upper)), &format!("s{look} band"), "");
    }
}

/// The longest pause of each column as a stem; full collections with a mark.
fn stems(svg: &mut Svg, events: &[Placed], x: &Scale, y: &Scale, look: usize) {
    let mut columns: Vec<(f64, f64, bool)> = Vec::new();
    for placed in events {
        let column = x.at(placed.at_s).round();
        let ms = placed.pause_ms();
        let full = placed.event.scope == Some(GcScope::Full);
        match columns.last_mut() {
            Some(last) if last.0 == column => (last.1, last.2) = (last.1.max(ms), last.2 || full),
            _ => columns.push((column, ms, full)),
        }
    }
    let mut d = String::new();
    for (column, ms, _) in &columns {
        let _ = write!(d, "M{column} {}V{:.1}", PAUSES.bottom, y.at(*ms));
    }
    svg.path(&d, &format!("s{look} stem"), "");
    for (column, ms, _) in columns.iter().filter(|c| c.2) {
        svg.marker(
            2,
            (*column, y.at(*ms)),
            3.0,
            &format!("s{look} mk"),
            &format!("full collection: {} ms", significant(*ms)),
        );
    }
}

fn longest_and_full(events: &[Placed]) -> (f64, u64) {
    let longest = events.iter().map(|p| p.pause_ms()).fold(0.0, f64::max);
    (longest, events.iter().filter(|p| p.event.scope == Some(GcScope::Full)).count() as u64)
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
