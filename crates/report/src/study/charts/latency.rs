//! Response time by percentile, on an axis that gives each further nine the same room.

use super::super::grid::{Cell, Grid, Group};
use super::keys::series_key;
use assay_kit::Table;
use assay_kit::chart::{Chart, curve_panel};
use assay_kit::number::significant;
use assay_kit::percentile_curve::{PERCENTILES, PercentileCurve, at, draw};
use assay_kit::text;

const ID: &str = "latency";
const TITLE: &str = "Response time by percentile";

/// The figure.
pub fn figure(grid: &Grid) -> Chart {
    let curves = || grid.cells().filter_map(|(_, c)| c.summary).filter(|s| !s.response_curve.is_empty());
    if curves().next().is_none() {
        return Chart::absent(ID, TITLE, "not available: no window that counts recorded response times");
    }
    let drawn = grid.groups.iter().enumerate().map(|(i, group)| (i, group, drawn(group)));
    Chart {
        caption: "Response time from the intended start to the last byte, over the windows that count. Both \
            axes are logarithmic. The lower one shows the share of slower requests: 1 in 100 took longer \
            than the value at 99. Measured by the load generator."
            .to_owned(),
        key: series_key(grid),
        panels: drawn
            .filter(|(.., curves)| !curves.is_empty())
            .map(|(i, group, curves)| {
                let title = format!("{TITLE}{}", group.place());
                curve_panel(group.label.clone(), &format!("{ID}-{i}"), |width, names, id| {
                    draw(&curves, (width, names), (id, &title))
                })
            })
            .collect(),
        size: "wide",
        tables: vec![table(grid)],
        ..Chart::new(ID, TITLE)
    }
}

/// Percentiles and times of a variant, upwards.
fn points(cell: &Cell) -> impl Iterator<Item = (f64, f64)> {
    let curve = cell.summary.map_or(&[][..], |s| &s.response_curve);
    curve.iter().map(|point| (point.percentile, point.ms))
}

fn drawn(group: &Group) -> Vec<PercentileCurve> {
    let cells = group.cells.iter();
    cells.filter_map(|cell| PercentileCurve::new(&cell.label, cell.look, points(cell))).collect()
}

fn table(grid: &Grid) -> Table {
    let cells = grid.cells().map(|(_, cell)| cell).filter(|cell| cell.variant.is_some());
    let mut rows =
        Table::of("Response time by percentile (ms)", cells).words("Variant", |cell| text::clean(cell.name));
    for percentile in PERCENTILES {
        rows = rows.figures(format!("{percentile} %"), |cell| {
            at(points(cell), percentile).map_or_else(|| "not available: not reached".to_owned(), significant)
        });
    }
    rows.table()
}
