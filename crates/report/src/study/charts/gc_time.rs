//! Heap in use and collection pauses over the measured time, a small panel for each variant.

use super::super::grid::{Cell, Grid, Group};
use super::joined::{Drawn, drawn, joined, of_group};
use assay_kit::Table;
use assay_kit::axes::Plot;
use assay_kit::chart::{Chart, Panel, SMALL_WIDTH};
use assay_kit::number::{MIB, count, significant};
use assay_kit::sawtooth::{self, SawtoothDrop};
use assay_kit::svg::Svg;
use assay_kit::text;
use assay_model::{GcRecord, GcRecordKind, GcScope, StoredTrial};

const ID: &str = "gc-time";
const TITLE: &str = "Heap in use and collection pauses over time";
const HEAP: Plot = Plot { left: 42.0, right: SMALL_WIDTH - 8.0, top: 22.0, bottom: 104.0 };
const PAUSES: Plot = Plot { left: 42.0, right: SMALL_WIDTH - 8.0, top: 136.0, bottom: 176.0 };

/// The figure.
pub fn figure(grid: &Grid) -> Chart {
    let drawn = drawn(grid, in_windows);
    let shown = drawn.iter().filter_map(|(group, cell, found)| Some((group, cell, found.as_ref()?)));
    let panels = shown.enumerate().map(|(index, (group, cell, (stored, events)))| {
        let svg = panel(cell, stored, events, limits(&drawn, group), &format!("{ID}-{index}"));
        Panel { heading: text::clean(cell.name), svg, narrow: None }
    });
    let panels: Vec<Panel> = panels.collect();
    if panels.is_empty() {
        let why = "not available: no GC log gave a collection with a time stamp inside a measured window";
        return Chart::absent(ID, TITLE, why);
    }
    Chart {
        caption:
            "Above: heap in use in MiB, falling at each collection. If collections are too dense to draw \
            one by one, a band spans from before to after them. Below: length of each pause in ms, a \
            triangle marks a full collection. One trial for each variant. Dotted lines are the gaps between \
            its windows. From the GC log. Scales are the same in all panels of a heap size."
                .to_owned(),
        panels,
        size: "small",
        tables: vec![table(&drawn)],
        ..Chart::new(ID, TITLE)
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
    fn fall(&self) -> SawtoothDrop {
        let mib = |bytes: Option<u64>| bytes.map(|b| b as f64 / MIB);
        let heap = &self.event.heap;
        SawtoothDrop {
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
fn limits(drawn: &[Drawn<Placed>], group: &Group) -> (f64, f64) {
    of_group(drawn, group).fold((0.0, 0.0), |(used, pause_ms), placed| {
        let heap = &placed.event.heap;
        let bytes = heap.before_bytes.or(heap.after_bytes).unwrap_or(0);
        (used.max(bytes as f64 / MIB), pause_ms.max(placed.pause_ms()))
    })
}

fn panel(cell: &Cell, stored: &StoredTrial, events: &[Placed], limits: (f64, f64), id: &str) -> String {
    let joined = joined(&stored.trial);
    let time = joined.time();
    let mut svg = Svg::new(SMALL_WIDTH, PAUSES.bottom + time.below());
    let x = time.scale(&HEAP);
    let heap = HEAP.y_from_zero(&mut svg, limits.0, 3, "heap in use (MiB)");
    let pauses = PAUSES.y_from_zero(&mut svg, limits.1, 2, "pause (ms)");
    joined.note(&mut svg, &HEAP);
    let look = cell.look;
    let falls: Vec<SawtoothDrop> = events.iter().map(Placed::fall).collect();
    HEAP.timed(&mut svg, &time, &heap, "MiB", |svg| {
        joined.borders(svg, &HEAP, &x);
        sawtooth::falls(svg, &falls, &x, &heap, look);
    });
    let stems: Vec<(f64, f64, bool)> = events.iter().map(|p| (p.at_s, p.pause_ms(), p.is_full())).collect();
    PAUSES.timed(&mut svg, &time, &pauses, "ms", |svg| {
        joined.borders(svg, &PAUSES, &x);
        sawtooth::stems(svg, &stems, (&x, &pauses), PAUSES.bottom, look, |ms| {
            format!("full collection: {} ms", significant(ms))
        });
    });
    joined.axis(&mut svg, &PAUSES);
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

fn table(drawn: &[Drawn<Placed>]) -> Table {
    let told = |(.., found): &&Drawn<Placed>, of: &dyn Fn(&StoredTrial, &[Placed]) -> String| match found {
        Some((stored, events)) => of(stored, events),
        None => "not available: no collection with a time stamp in a window".to_owned(),
    };
    let sum = |events: &[Placed]| events.iter().map(Placed::pause_ms).sum();
    let highest = |events: &[Placed]| match events.iter().filter_map(|p| p.event.heap.after_bytes).max() {
        Some(bytes) => significant(bytes as f64 / MIB),
        None => "not available: the log gives none".to_owned(),
    };
    Table::of("Collections in the drawn trial, within its windows", drawn)
        .words("Variant", |(_, cell, _)| text::clean(cell.name))
        .words("Trial", |d| told(d, &|stored, _| stored.trial.number.to_string()))
        .figures("Pauses", |d| told(d, &|_, events| count(events.len() as u64)))
        .figures("Sum (ms)", |d| told(d, &|_, events| significant(sum(events))))
        .figures("Longest (ms)", |d| told(d, &|_, events| significant(longest_and_full(events).0)))
        .figures("Full collections", |d| told(d, &|_, events| count(longest_and_full(events).1)))
        .figures("Highest use after one (MiB)", |d| told(d, &|_, events| highest(events)))
        .table()
}
