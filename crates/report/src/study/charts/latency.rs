//! Response time by percentile, on an axis that gives each further nine the same room.

use super::super::grid::{Cell, Grid, Group};
use super::keys::series_key;
use assay_kit::Table;
use assay_kit::chart::{Chart, curve_panel};
use assay_kit::curves::{self, Curve, Frame};
use assay_kit::number::significant;
use assay_kit::scale::Scale;
use assay_kit::text;
use assay_model::LatencyPoint;

const ID: &str = "latency";
const TITLE: &str = "Response time by percentile";
/// Beyond this many nines a run of minutes has too few requests to say anything.
const NINES_MAX: f64 = 6.0;
/// Points of a curve that are drawn.
const POINTS_MAX: usize = 120;
/// Percentiles with a tick and a row in the data table.
const TICKS: [f64; 6] = [50.0, 90.0, 99.0, 99.9, 99.99, 99.999];

/// The figure.
pub fn figure(grid: &Grid) -> Chart {
    let curves = || grid.cells().filter_map(|(_, c)| c.summary).filter(|s| !s.response_curve.is_empty());
    if curves().next().is_none() {
        return Chart::absent(ID, TITLE, "not available: no window that counts recorded response times");
    }
    let drawn = grid.groups.iter().enumerate().filter(|(_, g)| g.cells.iter().any(|c| !points(c).is_empty()));
    Chart {
        caption: "Response time from the intended start to the last byte, over the windows that count; both axes \
                  are logarithmic, the lower one in the share of slower requests: 99 stands where 1 in 100 took \
                  longer. Measured by the load generator."
            .to_owned(),
        key: series_key(grid),
        panels: drawn
            .map(|(i, g)| {
                curve_panel(g.label.clone(), &format!("{ID}-{i}"), |width, names, id| panel(g, (width, names), id))
            })
            .collect(),
        size: "wide",
        tables: vec![table(grid)],
        ..Chart::new(ID, TITLE)
    }
}

/// Number of nines: 90 % is 1, 99 % is 2.
fn nines(percentile: f64) -> f64 {
    -(1.0 - percentile / 100.0).log10()
}

/// The curve's points that can be drawn on these axes, thinned.
fn points(cell: &Cell) -> Vec<LatencyPoint> {
    let curve = cell.summary.map_or(&[][..], |s| &s.response_curve);
    let drawable = |p: &&LatencyPoint| {
        p.ms > 0.0
            && p.ms.is_finite()
            && (0.0..100.0).contains(&p.percentile)
            && nines(p.percentile) <= NINES_MAX
    };
    let all: Vec<LatencyPoint> = curve.iter().filter(drawable).copied().collect();
    let step = all.len().div_ceil(POINTS_MAX).max(1);
    let last = all.len().saturating_sub(1);
    all.iter().enumerate().filter(|(i, _)| i % step == 0 || *i == last).map(|(_, p)| *p).collect()
}

fn panel(group: &Group, (width, names_width): (f64, f64), id: &str) -> String {
    let drawn: Vec<(&Cell, Vec<LatencyPoint>)> =
        group.cells.iter().map(|c| (c, points(c))).filter(|(_, p)| !p.is_empty()).collect();
    let all = || drawn.iter().flat_map(|(_, points)| points);
    let end = all().map(|p| nines(p.percentile)).fold(1.0, f64::max);
    let curves: Vec<Curve> = drawn.iter().map(|(cell, points)| curve(cell, points)).collect();
    let frame = Frame {
        left: 48.0,
        bottom: 280.0,
        width,
        names_width,
        end,
        title: "percentile of requests (%)",
        times: all().map(|p| p.ms).collect(),
        limits: &[],
    };
    let ticks = |x: &Scale| {
        let within = TICKS.iter().filter(|p| nines(**p) <= end + 0.01);
        within.map(|p| (x.at(nines(*p)), format!("{p}"))).collect()
    };
    curves::draw(&frame, ticks, &curves, (id, &format!("{TITLE}{}", group.place())))
}

fn curve(cell: &Cell, points: &[LatencyPoint]) -> Curve {
    let mark = |percentile: f64| {
        let p = at(points, percentile)?;
        let tip = format!("{}: {} % within {} ms", cell.label, percentile, significant(p.ms));
        Some((nines(percentile), p.ms, tip))
    };
    let last_ms = points.last().map_or(0.0, |p| p.ms);
    Curve {
        label: cell.label.clone(),
        look: cell.look,
        points: points.iter().map(|p| (nines(p.percentile), p.ms)).collect(),
        marks: TICKS.into_iter().filter_map(mark).collect(),
        radius: 3.5,
        words: format!("{}: up to {} ms", cell.label, significant(last_ms)),
    }
}

/// The point for a percentile: the first that reaches it.
fn at(points: &[LatencyPoint], percentile: f64) -> Option<LatencyPoint> {
    points.iter().find(|p| p.percentile >= percentile - 1e-9).copied()
}

fn table(grid: &Grid) -> Table {
    let cells = grid.cells().map(|(_, cell)| cell).filter(|cell| cell.variant.is_some());
    let mut rows =
        Table::of("Response time by percentile (ms)", cells).words("Variant", |cell| text::clean(cell.name));
    for percentile in TICKS {
        rows = rows.figures(format!("{percentile} %"), |cell| {
            let curve = cell.summary.map_or(&[][..], |s| &s.response_curve);
            let point = at(curve, percentile);
            point.map_or_else(|| "not available: not reached".to_owned(), |p| significant(p.ms))
        });
    }
    rows.table()
}
