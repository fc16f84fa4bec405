//! Areas over the snapshots of a record, stacked.

use super::tree::occurring;
use assay_kit::axes::Plot;
use assay_kit::document::{Figure, Section, Shown};
use assay_kit::number::{MIB, bytes};
use assay_kit::page::drawings;
use assay_kit::stack::{self, Layer, fill_class};
use assay_kit::svg::Svg;
use assay_kit::text::to_the_second;
use assay_kit::time_axis::{Clock, TimeAxis};
use assay_kit::{Table, key};
use assay_model::{Area, MemoryReport};

/// Snapshots that are drawn.
const SNAPSHOTS_DRAWN: usize = 240;
/// Snapshots that are listed.
const SNAPSHOTS_LISTED: usize = 60;

/// How to read a jump between snapshots of two depths.
const DEPTHS_DIFFER: &str =
    " Not all samples attribute malloc's blocks to owners: where that changes, areas jump without growth.";

fn is_of_one_depth(snapshots: &[MemoryReport]) -> bool {
    snapshots.windows(2).all(|pair| pair[0].depth == pair[1].depth)
}

/// Areas stacked, and the figures behind them. Absent with fewer than two snapshots: one snapshot has no time.
pub fn over_time(snapshots: &[MemoryReport]) -> Option<Section> {
    let (first, last) = (snapshots.first()?, snapshots.last()?);
    if snapshots.len() < 2 {
        return None;
    }
    let seconds =
        |snapshot: &MemoryReport| snapshot.monotonic_ns.saturating_sub(first.monotonic_ns) as f64 / 1e9;
    let time = TimeAxis::new(seconds(last)).with_clocks(Clock::stored(&first.taken_at));
    let drawn: Vec<&MemoryReport> =
        stack::thinned(snapshots.len(), SNAPSHOTS_DRAWN).map(|i| &snapshots[i]).collect();
    let positions: Vec<f64> = drawn.iter().map(|snapshot| time.of_s(seconds(snapshot))).collect();
    let layers = Area::ALL.map(|area| Layer {
        look: area.look(),
        title: area.title(),
        heights: drawn.iter().map(|snapshot| area.bytes_in(&snapshot.areas) as f64 / MIB).collect(),
    });
    let highest = snapshots.iter().map(|l| l.rss_bytes as f64 / MIB).fold(0.0, f64::max);
    let words = format!(
        "from {} to {} in {} samples",
        bytes(first.rss_bytes),
        bytes(last.rss_bytes),
        snapshots.len()
    );
    let draw = |width: f64, id: &str| {
        let is_narrow = width < 500.0;
        let height = if is_narrow { 258.0 } else { 298.0 } + time.below();
        let mut svg = Svg::new(width, height);
        let plot = Plot { left: 52.0, right: width - 8.0, top: 22.0, bottom: height - time.below() };
        let x = time.scale(&plot);
        let y = plot.y_from_zero(&mut svg, highest, 4, "resident (MiB)");
        plot.timed(&mut svg, &time, &y, "MiB", |svg| stack::stack(svg, &positions, &layers, &x, &y));
        time.draw(&mut svg, &plot, (if is_narrow { 4 } else { 8 }, width), "time since the first sample");
        svg.finish(id, "Areas over time", &words)
    };
    let occurs = occurring(snapshots);
    let shown: Vec<Area> = Area::ALL.into_iter().filter(|area| occurs.contains(area)).collect();
    let depths = if is_of_one_depth(snapshots) { "" } else { DEPTHS_DIFFER };
    let figure = Figure::new("over-time", "areas over time", drawings("over-time", draw))
        .key(key::fills(shown.iter().map(|area| (fill_class(area.look()), area.title()))))
        .caption(format!("Areas stacked. Their upper edge is the RSS.{depths}"))
        .behind([table(snapshots, &shown, seconds)], Shown::PageOnly);
    Some(Section::new("time", "Over time", [figure.into()]))
}

fn table(snapshots: &[MemoryReport], shown: &[Area], seconds: impl Fn(&MemoryReport) -> f64) -> Table {
    let which = if snapshots.len() <= SNAPSHOTS_LISTED { "each" } else { "some" };
    let caption = format!("Resident memory by area in {which} of {} samples (MiB)", snapshots.len());
    let mib = |value: u64| format!("{:.1}", value as f64 / MIB);
    let listed = stack::thinned(snapshots.len(), SNAPSHOTS_LISTED).map(|index| (index, &snapshots[index]));
    let mut rows = Table::of(caption, listed)
        .words("Sample", |(index, _)| (index + 1).to_string())
        .words("Taken at", |(_, snapshot)| to_the_second(&snapshot.taken_at))
        .figures("After (s)", |(_, snapshot)| format!("{:.1}", seconds(snapshot)))
        .figures("RSS", |(_, snapshot)| mib(snapshot.rss_bytes));
    for area in shown {
        rows = rows.figures(area.title(), |(_, snapshot)| mib(area.bytes_in(&snapshot.areas)));
    }
    rows.class("dense")
}
