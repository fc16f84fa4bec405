//! Swap over the measured time, a small panel for each variant: pages that come back and pages that go, and the memory that lies in swap.

use super::super::grid::{Cell, Grid};
use super::joined::{Drawn, drawn, joined, of_group};
use assay_kit::Table;
use assay_kit::axes::Plot;
use assay_kit::chart::{Chart, Panel, SMALL_WIDTH};
use assay_kit::key::{mark, marks};
use assay_kit::number::{MIB, mib};
use assay_kit::svg::Svg;
use assay_kit::text;
use assay_model::{StoredTrial, SwapSample};

const PLOT: Plot = Plot { left: 52.0, right: SMALL_WIDTH - 8.0, top: 22.0, bottom: 134.0 };
/// Samples drawn of one trial.
const SAMPLES_MAX: usize = 240;

/// A line of a picture.
struct Line {
    style: &'static str,
    title: &'static str,
    height: fn(&SwapSample) -> Option<f64>,
}

/// One of the pictures.
struct Picture {
    id: &'static str,
    title: &'static str,
    /// Of the vertical axis.
    label: &'static str,
    unit: &'static str,
    caption: &'static str,
    lines: &'static [Line],
}

const PICTURES: [Picture; 2] = [
    Picture {
        id: "swap-traffic",
        title: "Pages in and out over time",
        label: "pages per second",
        unit: "pages/s",
        caption: "Pages that the machine read back from swap and wrote to it, each second.",
        lines: &[
            Line { style: "s0 ln", title: "swapped in", height: |of| Some(of.in_pages_per_s) },
            Line { style: "s1 ln", title: "swapped out", height: |of| Some(of.out_pages_per_s) },
        ],
    },
    Picture {
        id: "swapped-time",
        title: "Memory in swap over time",
        label: "in swap (MiB)",
        unit: "MiB",
        caption: "Memory of the server and its auxiliary processes in swap.",
        lines: &[Line {
            style: "s0 ln",
            title: "in swap",
            height: |of| of.swapped_bytes.map(|bytes| bytes as f64 / MIB),
        }],
    },
];

/// A sample with its place on the joined axis and its window.
type Placed<'a> = (f64, usize, &'a SwapSample);

/// Both figures; none where swap was not observed.
pub fn figures(grid: &Grid) -> Vec<Chart> {
    let drawn = drawn(grid, in_windows);
    if drawn.iter().all(|(.., found)| found.is_none()) {
        return Vec::new();
    }
    let mut charts: Vec<Chart> = PICTURES.iter().map(|picture| figure(picture, &drawn)).collect();
    if let Some(first) = charts.first_mut() {
        first.tables = vec![table(&drawn)];
    }
    charts
}

/// Samples on the joined axis with their window, thinned.
fn in_windows(stored: &StoredTrial) -> Vec<Placed<'_>> {
    let joined = joined(&stored.trial);
    let samples = stored.trial.windows.iter().flat_map(|window| &window.swap);
    let all: Vec<_> = samples.filter_map(|s| joined.at(s.monotonic_ns).map(|(at, w)| (at, w, s))).collect();
    let step = all.len().div_ceil(SAMPLES_MAX).max(1);
    all.into_iter().step_by(step).collect()
}

fn figure(picture: &Picture, drawn: &[Drawn<Placed>]) -> Chart {
    let shown = drawn.iter().filter_map(|(group, cell, found)| Some((group, cell, found.as_ref()?)));
    let panels = shown.enumerate().map(|(index, (group, cell, (stored, samples)))| {
        let heights =
            of_group(drawn, group).flat_map(|(.., s)| picture.lines.iter().filter_map(|l| (l.height)(s)));
        let svg = panel(picture, cell, (stored, samples), heights.fold(0.0, f64::max), index);
        Panel { heading: text::clean(cell.name), svg, narrow: None }
    });
    let caption = picture.caption;
    let key: Vec<_> =
        picture.lines.iter().map(|line| (mark("M1 6H29", line.style), line.title.to_owned())).collect();
    Chart {
        caption: format!(
            "{caption} One trial for each variant. Dotted lines are the gaps between its windows. Scales are the same in all \
             panels of a group."
        ),
        key: marks(&key),
        panels: panels.collect(),
        size: "small",
        ..Chart::new(picture.id, picture.title)
    }
}

fn panel(
    picture: &Picture,
    cell: &Cell,
    (stored, samples): (&StoredTrial, &[Placed]),
    highest: f64,
    index: usize,
) -> String {
    let joined = joined(&stored.trial);
    let time = joined.time();
    let mut svg = Svg::new(SMALL_WIDTH, PLOT.bottom + time.below());
    let x = time.scale(&PLOT);
    let y = PLOT.y_from_zero(&mut svg, highest, 3, picture.label);
    let windows = |svg: &mut Svg| {
        for window in samples.chunk_by(|a, b| a.1 == b.1) {
            for line in picture.lines {
                let place = |(at, _, s): &Placed| Some((x.at(*at), y.at((line.height)(s)?)));
                svg.polyline(&window.iter().filter_map(place).collect::<Vec<_>>(), line.style, line.title);
            }
        }
        joined.borders(svg, &PLOT, &x);
    };
    PLOT.timed(&mut svg, &time, &y, picture.unit, windows);
    joined.axis(&mut svg, &PLOT);
    joined.note(&mut svg, &PLOT);
    let heights = samples.iter().filter_map(|(.., s)| (picture.lines[0].height)(s));
    let words =
        format!("{} at most {:.0} {}", picture.lines[0].title, heights.fold(0.0, f64::max), picture.unit);
    svg.finish(
        &format!("{}-{index}", picture.id),
        &format!("{}, {}", picture.title, text::clean(cell.name)),
        &words,
    )
}

fn table(drawn: &[Drawn<Placed>]) -> Table {
    let told = |(.., found): &&Drawn<Placed>, of: &dyn Fn(&[Placed]) -> Option<String>| {
        let shown = found.as_ref().and_then(|(_, samples)| of(samples));
        shown.unwrap_or_else(|| "not available".to_owned())
    };
    let most = |samples: &[Placed], of: fn(&SwapSample) -> Option<f64>| {
        samples.iter().filter_map(|(.., s)| of(s)).reduce(f64::max)
    };
    Table::of("Swap in the drawn trial, within its windows", drawn)
        .words("Variant", |(_, cell, _)| text::clean(cell.name))
        .figures("Most pages in per second", |d| {
            told(d, &|of| most(of, |s| Some(s.in_pages_per_s)).map(|rate| format!("{rate:.0}")))
        })
        .figures("Most pages out per second", |d| {
            told(d, &|of| most(of, |s| Some(s.out_pages_per_s)).map(|rate| format!("{rate:.0}")))
        })
        .figures("Most in swap", |d| told(d, &|of| most(of, |s| s.swapped_bytes.map(|b| b as f64)).map(mib)))
        .figures("Most time waiting for memory", |d| {
            told(d, &|of| most(of, |s| s.stalled_percent).map(|percent| format!("{percent:.1} %")))
        })
        .table()
}
