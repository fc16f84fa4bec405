//! Areas over the looks of a record, stacked.

use super::facts::to_the_second;
use super::tree::occurring;
use assay_kit::number::{MIB, bytes, tick};
use assay_kit::page::both;
use assay_kit::scale::{Scale, ticks_from_zero};
use assay_kit::stack::{self, Layer, fill_class};
use assay_kit::svg::Svg;
use assay_kit::{Table, key};
use assay_model::{Area, MemoryReport};
use std::collections::BTreeSet;

/// Looks that are drawn and listed.
const LOOKS_DRAWN: usize = 240;
const LOOKS_LISTED: usize = 60;

/// A jump that is none.
const DEPTHS_DIFFER: &str =
    " Not all looks looked for who owns malloc's blocks: where that changes, areas jump without growth.";

fn is_of_one_depth(looks: &[MemoryReport]) -> bool {
    looks.windows(2).all(|pair| pair[0].depth == pair[1].depth)
}

/// Key, drawings for screens and phones, and the figures behind them.
pub struct OverTime {
    /// Key of the areas, as HTML.
    pub key: String,
    /// Drawing for screens.
    pub wide: String,
    /// Drawing for phones.
    pub narrow: String,
    /// What the areas are not comparable for; empty where they are.
    pub caption: &'static str,
    /// RSS and areas of each look.
    pub table: Table,
}

impl OverTime {
    /// The section's content.
    pub fn html(&self) -> String {
        format!(
            "<figure id=\"over-time\" aria-labelledby=\"time-h\">\n{}\n{}\n\
             <figcaption>Areas stacked; their upper edge is the RSS.{}</figcaption>\n\
             <details><summary>Figures behind it: areas over time</summary>{}</details>\n</figure>",
            self.key,
            both(&self.wide, &self.narrow),
            self.caption,
            self.table.html()
        )
    }
}

/// Absent with fewer than two looks: one look has no time.
pub fn over_time(looks: &[MemoryReport]) -> Option<OverTime> {
    let (first, last) = (looks.first()?, looks.last()?);
    if looks.len() < 2 {
        return None;
    }
    let seconds = |look: &MemoryReport| look.monotonic_ns.saturating_sub(first.monotonic_ns) as f64 / 1e9;
    let (unit, unit_s) = if seconds(last) >= 180.0 { ("min", 60.0) } else { ("s", 1.0) };
    let drawn: Vec<&MemoryReport> = stack::thinned(looks.len(), LOOKS_DRAWN).map(|i| &looks[i]).collect();
    let positions: Vec<f64> = drawn.iter().map(|look| seconds(look) / unit_s).collect();
    let layers = Area::ALL.map(|area| Layer {
        look: area.look(),
        title: area.title(),
        heights: drawn.iter().map(|look| area.bytes_in(&look.areas) as f64 / MIB).collect(),
    });
    let highest = looks.iter().map(|l| l.rss_bytes as f64 / MIB).fold(0.0, f64::max);
    let words =
        format!("from {} to {} in {} looks", bytes(first.rss_bytes), bytes(last.rss_bytes), looks.len());
    let draw = |width: f64, height: f64, id: &str| {
        let mut svg = Svg::new(width, height);
        let plot = stack::plot(width, height);
        let x = Scale::linear((0.0, seconds(last) / unit_s), (plot.left, plot.right));
        let ticks = ticks_from_zero(highest, 4);
        let y = Scale::linear((0.0, ticks.last().copied().unwrap_or(1.0)), (plot.bottom, plot.top));
        plot.y_axis(&mut svg, &y, &ticks, "resident (MiB)");
        stack::stack(&mut svg, &positions, &layers, &x, &y);
        let ticks = ticks_from_zero(seconds(last) / unit_s, if width < 500.0 { 4 } else { 8 });
        let within = ticks.iter().filter(|t| **t <= seconds(last) / unit_s);
        let labels: Vec<(f64, String)> = within.map(|t| (x.at(*t), tick(*t))).collect();
        plot.x_axis(&mut svg, &labels, &format!("time since the first look ({unit})"));
        svg.finish(id, "Areas over time", &words)
    };
    let occurs = occurring(looks);
    Some(OverTime {
        key: key::fills(shown(&occurs).map(|area| (fill_class(area.look()), area.title()))),
        wide: draw(960.0, 340.0, "over-time-wide"),
        narrow: draw(344.0, 300.0, "over-time-narrow"),
        caption: if is_of_one_depth(looks) { "" } else { DEPTHS_DIFFER },
        table: table(looks, &seconds),
    })
}

/// In the order of pictures.
fn shown(occurs: &BTreeSet<Area>) -> impl Iterator<Item = Area> {
    Area::ALL.into_iter().filter(|area| occurs.contains(area))
}

fn table(looks: &[MemoryReport], seconds: &dyn Fn(&MemoryReport) -> f64) -> Table {
    let occurs = occurring(looks);
    let shown: Vec<Area> = shown(&occurs).collect();
    let caption = if looks.len() <= LOOKS_LISTED {
        format!("Resident memory by area in each of {} looks (MiB)", looks.len())
    } else {
        format!("Resident memory by area in some of {} looks (MiB)", looks.len())
    };
    let mut table = Table::new(caption, &["Look", "Taken at", "After (s)", "RSS"], 2);
    table.class = "dense";
    table.columns.extend(shown.iter().map(|a| a.title().to_owned()));
    for index in stack::thinned(looks.len(), LOOKS_LISTED) {
        let look = &looks[index];
        let mib = |value: f64| format!("{:.1}", value / MIB);
        let mut row = vec![
            (index + 1).to_string(),
            to_the_second(&look.taken_at),
            format!("{:.1}", seconds(look)),
            mib(look.rss_bytes as f64),
        ];
        row.extend(shown.iter().map(|area| mib(area.bytes_in(&look.areas) as f64)));
        table.rows.push(row);
    }
    table
}
