//! Resident memory over the measured time, a small panel for each variant: by area where full snapshots were sampled, the sum of
//! the mappings where only they were.

use super::super::grid::{Cell, Grid};
use super::joined::{Drawn, drawn, joined, of_group};
use super::keys::area_key;
use assay_kit::Table;
use assay_kit::axes::Plot;
use assay_kit::chart::{Chart, Panel, SMALL_WIDTH};
use assay_kit::key::{mark, marks};
use assay_kit::number::{MIB, mib};
use assay_kit::stack::{Layer, stack};
use assay_kit::svg::Svg;
use assay_kit::text;
use assay_model::{Area, MemorySample, StoredTrial};

const ID: &str = "memory-time";
const TITLE: &str = "Resident memory over time";
/// The picture of samples that are of the mappings alone.
const RSS: &str = "resident set size";
const RSS_LINE: &str = "s0 ln rss";
/// Samples drawn in one panel.
const SAMPLES_MAX: usize = 80;
const PLOT: Plot = Plot { left: 42.0, right: SMALL_WIDTH - 8.0, top: 22.0, bottom: 134.0 };

/// The figure.
pub fn figure(grid: &Grid) -> Chart {
    let drawn = drawn(grid, in_windows);
    let shown = drawn.iter().filter_map(|(group, cell, found)| Some((group, cell, found.as_ref()?)));
    let panels = shown.enumerate().map(|(index, (group, cell, (stored, samples)))| {
        let highest = of_group(&drawn, group).map(|(.., s)| s.rss_bytes as f64 / MIB).fold(0.0, f64::max);
        let svg = panel(cell, stored, samples, highest, &format!("{ID}-{index}"));
        Panel { heading: text::clean(cell.name), svg, narrow: None }
    });
    let panels: Vec<Panel> = panels.collect();
    if panels.is_empty() {
        return Chart::absent(ID, TITLE, "not available: no trial has memory samples inside its windows");
    }
    let all = || drawn.iter().filter_map(|(.., found)| found.as_ref()).flat_map(|(_, samples)| samples);
    let by_area = all().filter(|(.., sample)| is_attributed(sample));
    let attributed: Vec<&MemorySample> = by_area.map(|(.., sample)| *sample).collect();
    let sampled = match (attributed.is_empty(), attributed.len() == all().count()) {
        (true, _) => {
            "The samples are of the mappings, which do not distinguish areas: the line is their sum."
        }
        (false, true) => "The samples are full snapshots. Areas are stacked as in the figure above.",
        (false, false) => {
            "Full snapshots show areas, stacked as in the figure above. Samples of the mappings alone do not \
                distinguish areas: the line is their sum."
        }
    };
    let mut key = String::new();
    if !attributed.is_empty() {
        key += &area_key(|area| attributed.iter().any(|sample| area.bytes_in(&sample.areas) > 0));
    }
    if attributed.len() < all().count() {
        key += &marks(&[(mark("M1 6H29", RSS_LINE), RSS.to_owned())]);
    }
    Chart {
        caption: format!(
            "One trial for each variant. Dotted lines are the gaps between its windows. {sampled} Scales are \
                the same in all panels of a heap size."
        ),
        key,
        panels,
        size: "small",
        tables: vec![table(&drawn)],
        ..Chart::new(ID, TITLE)
    }
}

/// Whether a sample is a full snapshot. Work of the JVM lies in malloc's heap, which mappings do not tell apart.
fn is_attributed(sample: &MemorySample) -> bool {
    sample.areas.iter().any(|seen| seen.area == Area::JvmWork)
}

/// A sample with its place on the joined axis and its window.
type Placed<'a> = (f64, usize, &'a MemorySample);

/// Samples on the joined axis with their window, thinned.
fn in_windows(stored: &StoredTrial) -> Vec<Placed<'_>> {
    let joined = joined(&stored.trial);
    let placed = stored.memory.iter().filter_map(|s| joined.at(s.monotonic_ns).map(|(at, w)| (at, w, s)));
    let all: Vec<_> = placed.collect();
    let step = all.len().div_ceil(SAMPLES_MAX).max(1);
    // The last of each window stays: the metric is read there.
    let last = |i: usize| all.get(i + 1).is_none_or(|next| next.1 != all[i].1);
    (0..all.len()).filter(|i| i % step == 0 || last(*i)).map(|i| all[i]).collect()
}

fn panel(cell: &Cell, stored: &StoredTrial, samples: &[Placed], highest: f64, id: &str) -> String {
    let joined = joined(&stored.trial);
    let time = joined.time();
    let mut svg = Svg::new(SMALL_WIDTH, PLOT.bottom + time.below());
    let x = time.scale(&PLOT);
    let y = PLOT.y_from_zero(&mut svg, highest, 3, "resident (MiB)");
    let windows = |svg: &mut Svg| {
        for window in samples.chunk_by(|a, b| a.1 == b.1) {
            let positions: Vec<f64> = window.iter().map(|(at, ..)| *at).collect();
            if !window.iter().all(|(.., sample)| is_attributed(sample)) {
                let rss = |(at, _, s): &Placed| (x.at(*at), y.at(s.rss_bytes as f64 / MIB));
                svg.polyline(&window.iter().map(rss).collect::<Vec<_>>(), RSS_LINE, RSS);
                continue;
            }
            let layers = Area::ALL.map(|area| Layer {
                look: area.look(),
                title: area.title(),
                heights: window.iter().map(|(.., s)| area.bytes_in(&s.areas) as f64 / MIB).collect(),
            });
            stack(svg, &positions, &layers, &x, &y);
        }
        joined.borders(svg, &PLOT, &x);
    };
    PLOT.timed(&mut svg, &time, &y, "MiB", windows);
    joined.axis(&mut svg, &PLOT);
    joined.note(&mut svg, &PLOT);
    let ends = samples.first().zip(samples.last());
    let words = ends.map_or_else(String::new, |(first, last)| {
        format!("from {} to {}", mib(first.2.rss_bytes as f64), mib(last.2.rss_bytes as f64))
    });
    svg.finish(id, &format!("{TITLE}, {}", text::clean(cell.name)), &words)
}

fn table(drawn: &[Drawn<Placed>]) -> Table {
    let told = |(.., found): &&Drawn<Placed>, of: &dyn Fn(&StoredTrial, &[Placed]) -> String| match found {
        Some((stored, samples)) => of(stored, samples),
        None => "not available: no sample in a window".to_owned(),
    };
    let rss = |sample: Option<&Placed>| {
        sample.map_or_else(|| "not available".to_owned(), |(.., s)| mib(s.rss_bytes as f64))
    };
    let highest = |samples: &[Placed]| rss(samples.iter().max_by_key(|(.., s)| s.rss_bytes));
    Table::of("Resident set size in the drawn trial, within its windows", drawn)
        .words("Variant", |(_, cell, _)| text::clean(cell.name))
        .words("Trial", |d| told(d, &|stored, _| stored.trial.number.to_string()))
        .figures("Samples", |d| told(d, &|_, samples| samples.len().to_string()))
        .figures("First", |d| told(d, &|_, samples| rss(samples.first())))
        .figures("Highest", |d| told(d, &|_, samples| highest(samples)))
        .figures("Last", |d| told(d, &|_, samples| rss(samples.last())))
        .table()
}
