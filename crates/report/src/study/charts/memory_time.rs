//! Resident memory by area over the measured time, a small panel for each variant.

use super::super::grid::{Cell, Grid, Group};
use super::joined::joined;
use super::keys::area_key;
use assay_kit::Table;
use assay_kit::axes::Plot;
use assay_kit::figure::{Figure, Panel, SMALL_WIDTH};
use assay_kit::number::{MIB, mib};
use assay_kit::scale::{Scale, ticks_from_zero};
use assay_kit::stack::{Layer, stack};
use assay_kit::svg::Svg;
use assay_kit::text;
use assay_model::{Area, MemorySample, StoredTrial};

const ID: &str = "memory-time";
const TITLE: &str = "Resident memory by area over time";
/// Samples drawn in one panel.
const SAMPLES_MAX: usize = 80;
const PLOT: Plot = Plot { left: 42.0, right: SMALL_WIDTH - 8.0, top: 22.0, bottom: 134.0 };

/// The figure.
pub fn figure(grid: &Grid) -> Figure {
    let mut panels = Vec::new();
    let columns = ["Variant", "Trial", "Samples", "First", "Highest", "Last"];
    let mut table = Table::new("Resident set size in the drawn trial, within its windows", &columns, 2);
    for group in &grid.groups {
        let highest = highest_mib(grid, group);
        for cell in group.cells.iter().filter(|c| c.variant.is_some()) {
            let found = grid.shown_trial(cell.name).map(|t| (t, in_windows(t)));
            match found.filter(|(_, samples)| !samples.is_empty()) {
                Some((stored, samples)) => {
                    let id = format!("{ID}-{}", panels.len());
                    let svg = panel(cell, stored, &samples, highest, &id);
                    panels.push(Panel { heading: text::clean(cell.name), svg, narrow: None });
                    table.rows.push(table_row(cell, stored, &samples));
                }
                None => {
                    let mut row = vec![text::clean(cell.name)];
                    row.resize(columns.len(), "not available: no sample in a window".to_owned());
                    table.rows.push(row);
                }
            }
        }
    }
    if panels.is_empty() {
        return Figure::absent(ID, TITLE, "not available: no trial has memory samples inside its windows");
    }
    Figure {
        id: ID.to_owned(),
        title: TITLE.to_owned(),
        caption: "Areas stacked as in the figure above, one trial for each variant; dotted lines are the gaps between its \
                  windows. From /proc/PID/smaps. Scales are the same in all panels of a heap size."
            .to_owned(),
        key: area_key(|area| occurs(grid, *area)),
        notes: Vec::new(),
        panels,
        size: "small",
        tables: vec![table],
        absent: None,
    }
}

/// Samples on the joined axis with their window, thinned.
fn in_windows(stored: &StoredTrial) -> Vec<(f64, usize, &MemorySample)> {
    let joined = joined(&stored.trial);
    let placed = stored.memory.iter().filter_map(|s| joined.at(s.monotonic_ns).map(|(at, w)| (at, w, s)));
    let all: Vec<_> = placed.collect();
    let step = all.len().div_ceil(SAMPLES_MAX).max(1);
    // The last of each window stays: the metric is read there.
    let last = |i: usize| all.get(i + 1).is_none_or(|next| next.1 != all[i].1);
    (0..all.len()).filter(|i| i % step == 0 || last(*i)).map(|i| all[i]).collect()
}

fn highest_mib(grid: &Grid, group: &Group) -> f64 {
    let trials = group.cells.iter().filter_map(|c| grid.shown_trial(c.name));
    let samples = trials.flat_map(in_windows);
    samples.map(|(_, _, s)| s.rss_bytes as f64 / MIB).fold(0.0, f64::max)
}

fn occurs(grid: &Grid, area: Area) -> bool {
    let trials = grid.cells().filter_map(|(_, cell)| grid.shown_trial(cell.name));
    trials.flat_map(in_windows).any(|(_, _, sample)| area.bytes_in(&sample.areas) > 0)
}

fn panel(
    cell: &Cell,
    stored: &StoredTrial,
    samples: &[(f64, usize, &MemorySample)],
    highest: f64,
    id: &str,
) -> String {
    let mut svg = Svg::new(SMALL_WIDTH, 176.0);
    let joined = joined(&stored.trial);
    let x = Scale::linear((0.0, joined.total_s), (PLOT.left, PLOT.right));
    let ticks = ticks_from_zero(highest, 3);
    let y = Scale::linear((0.0, ticks.last().copied().unwrap_or(1.0)), (PLOT.bottom, PLOT.top));
    PLOT.y_axis(&mut svg, &y, &ticks, "resident (MiB)");
    for window in samples.chunk_by(|a, b| a.1 == b.1) {
        let positions: Vec<f64> = window.iter().map(|(at, ..)| *at).collect();
        let layers = Area::ALL.map(|area| Layer {
            look: area.look(),
            title: area.title(),
            heights: window.iter().map(|(.., s)| area.bytes_in(&s.areas) as f64 / MIB).collect(),
        });
        stack(&mut svg, &positions, &layers, &x, &y);
    }
    joined.draw(&mut svg, &PLOT, &x);
    joined.note(&mut svg, &PLOT);
    let ends = samples.first().zip(samples.last());
    let words = ends.map_or_else(String::new, |(first, last)| {
        format!("from {} to {}", mib(first.2.rss_bytes as f64), mib(last.2.rss_bytes as f64))
    });
    svg.finish(id, &format!("{TITLE}, {}", text::clean(cell.name)), &words)
}

fn table_row(cell: &Cell, stored: &StoredTrial, samples: &[(f64, usize, &MemorySample)]) -> Vec<String> {
    let sizes = || samples.iter().map(|(_, _, s)| s.rss_bytes as f64);
    vec![
        text::clean(cell.name),
        stored.trial.number.to_string(),
        samples.len().to_string(),
        mib(sizes().next().unwrap_or_default()),
        mib(sizes().fold(0.0, f64::max)),
        mib(sizes().next_back().unwrap_or_default()),
    ]
}
