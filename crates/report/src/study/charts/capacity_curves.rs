//! Response time over the rate, of studies whose trials find capacities: one curve for each variant, over the limits.

use super::super::grid::{Cell, Grid, Group};
use super::keys::series_key;
use assay_kit::Table;
use assay_kit::axes::labels;
use assay_kit::chart::{Chart, curve_panel};
use assay_kit::curves::{self, Curve, Frame};
use assay_kit::number::{significant, tick};
use assay_kit::text;
use assay_model::{CapacityReport, LatencyLimit, PlannedCapacity};

const ID: &str = "rate-curve";
const TITLE: &str = "Response time by rate";
/// Windows of all trials of a variant whose rates differ by less than this share are one point of its line: trials search at rates
/// of their own, so a point needs some of them.
const SAME_RATE: f64 = 0.12;
/// Times outside are drawn at the edge: no server of today has them, but a file may hold anything.
const TIMES_MS: (f64, f64) = (1e-3, 1e6);
/// Windows of higher rates than so many times the highest known one are not drawn: a search brackets far beyond it.
const BEYOND_MAX: f64 = 1.5;
const POINTS_MAX: usize = 2_000;

/// The figure; none where the study finds no capacities.
pub fn figure(grid: &Grid) -> Option<Chart> {
    let planned = grid.run.plan.procedure.capacity()?;
    let end = rate_end(grid);
    let drawn = grid.groups.iter().enumerate();
    let drawn = drawn.filter(|(_, g)| g.cells.iter().any(|c| !points(grid, c, end).is_empty()));
    let panels: Vec<_> = drawn
        .map(|(index, group)| {
            curve_panel(group.label.clone(), &format!("{ID}-{index}"), |width, names, id| {
                panel(grid, group, planned, end, (width, names), id)
            })
        })
        .collect();
    if panels.is_empty() {
        return Some(Chart::absent(
            ID,
            TITLE,
            "not available: no window of load counts in a trial that does",
        ));
    }
    let of = match planned.limited_operations.as_slice() {
        [] => String::new(),
        names => format!(" of {}", text::clean(&names.join(", "))),
    };
    Some(Chart {
        caption: format!(
            "p{} of the response time{of}, from the intended start to the last byte, over the rate of Poisson \
                arrivals. The vertical axis is logarithmic. A mark is a window of load that counts, from any \
                trial that counts. A line goes through the medians of windows whose rates are within {:.0} \
                %. Broken lines are the limits. Measured by the load generator.",
            tick(planned.percentile),
            100.0 * SAME_RATE
        ),
        key: series_key(grid),
        panels,
        size: "wide",
        tables: vec![table(grid, end)],
        ..Chart::new(ID, TITLE)
    })
}

/// Capacities of the trials of a variant that count.
fn reports<'a>(grid: &Grid<'a>, cell: &Cell<'a>) -> impl Iterator<Item = &'a CapacityReport> {
    grid.trials(cell.name)
        .filter(|t| t.trial.counts())
        .filter_map(|t| t.capacity.as_ref())
        .filter(|c| c.valid != Some(false))
}

/// The highest rate that is drawn.
fn rate_end(grid: &Grid) -> f64 {
    let (mut tried, mut known) = (1.0_f64, 0.0_f64);
    for report in grid.cells().flat_map(|(_, cell)| reports(grid, cell)) {
        let rates = report.limits.iter().filter_map(|l| l.rate_per_s).chain(report.max_rate_per_s);
        known = rates.map(|r| r.estimate).filter(|r| r.is_finite()).fold(known, f64::max);
        let asked = report.steps().map(|(_, step)| step.offered_rate_per_s);
        tried = asked.filter(|r| r.is_finite()).fold(tried, f64::max);
    }
    if 0.0 < known { tried.min(BEYOND_MAX * known) } else { tried }
}

/// Rate and time of each window that counts and can be drawn, by rate.
fn points(grid: &Grid, cell: &Cell, end: f64) -> Vec<(f64, f64)> {
    let steps = reports(grid, cell).flat_map(CapacityReport::steps).filter(|(window, _)| window.counts());
    let drawn = steps.filter(|(_, step)| (0.0..=end).contains(&step.offered_rate_per_s));
    let mut points: Vec<(f64, f64)> = drawn
        .filter_map(|(_, s)| {
            Some((s.offered_rate_per_s, s.limited_ms.filter(|ms| *ms > 0.0 && ms.is_finite())?))
        })
        .map(|(rate, ms)| (rate, ms.clamp(TIMES_MS.0, TIMES_MS.1)))
        .take(POINTS_MAX)
        .collect();
    points.sort_by(|a, b| a.0.total_cmp(&b.0));
    points
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    let (low, high) = (values[(values.len() - 1) / 2], values[values.len() / 2]);
    low / 2.0 + high / 2.0
}

/// Medians of rate and time over neighbours.
fn line(points: &[(f64, f64)]) -> Vec<(f64, f64)> {
    let mut rest = points;
    let mut line = Vec::new();
    while let Some((first, _)) = rest.first() {
        let count = rest.partition_point(|(rate, _)| *rate <= first * (1.0 + SAME_RATE)).max(1);
        let (near, far) = rest.split_at(count);
        let of = |value: fn(&(f64, f64)) -> f64| median(near.iter().map(value).collect());
        line.push((of(|p| p.0), of(|p| p.1)));
        rest = far;
    }
    line
}

fn panel(
    grid: &Grid,
    group: &Group,
    planned: &PlannedCapacity,
    end: f64,
    (width, names_width): (f64, f64),
    id: &str,
) -> String {
    let drawn: Vec<(&Cell, Vec<(f64, f64)>)> =
        group.cells.iter().map(|c| (c, points(grid, c, end))).filter(|(_, p)| !p.is_empty()).collect();
    // The line is of what is limited together: of single operations where nothing else is.
    let is_drawn = |limit: &LatencyLimit| planned.limits_ms.is_empty() || limit.operation.is_none();
    let limits = planned.limits().into_iter().filter(is_drawn).map(|limit| limit.limit_ms);
    let limits: Vec<f64> = limits.filter(|l| *l > 0.0 && l.is_finite()).collect();
    let times = drawn.iter().flat_map(|(_, points)| points).map(|p| p.1).chain(limits.iter().copied());
    let curves: Vec<Curve> = drawn.iter().map(|(cell, points)| curve(cell, points)).collect();
    let frame = Frame {
        left: 52.0,
        bottom: 300.0,
        width,
        names_width,
        end,
        title: "offered rate (requests/s)",
        y_title: "response time (ms)",
        times: times.collect(),
        limits: &limits,
    };
    curves::draw(&frame, |x| labels(x, end, 5, width), &curves, (id, &format!("{TITLE}{}", group.place())))
}

fn curve(cell: &Cell, points: &[(f64, f64)]) -> Curve {
    let mark = |(rate, ms): &(f64, f64)| {
        (*rate, *ms, format!("{}: {} ms at {}/s", cell.label, significant(*ms), tick(rate.round())))
    };
    let middle = line(points);
    let (rate, ms) = middle.last().copied().unwrap_or_default();
    Curve {
        label: cell.label.clone(),
        look: cell.look,
        marks: points.iter().map(mark).collect(),
        radius: 2.2,
        words: format!("{}: up to {} ms at {}/s", cell.label, significant(ms), significant(rate)),
        points: middle,
    }
}

fn table(grid: &Grid, end: f64) -> Table {
    let points = |cell: &Cell| match line(&points(grid, cell, end)) {
        line if line.is_empty() => vec![None],
        line => line.into_iter().map(Some).collect(),
    };
    let cells = grid.cells().filter(|(_, cell)| cell.variant.is_some());
    let rows = cells.flat_map(|(_, cell)| points(cell).into_iter().map(move |point| (cell, point)));
    let told =
        |value: Option<f64>| value.map_or_else(|| "not available: no window counts".to_owned(), significant);
    Table::of("Points of the lines", rows)
        .words("Variant", |(cell, _)| text::clean(cell.name))
        .figures("Requests/s", |(_, point)| told(point.map(|(rate, _)| rate)))
        .figures("Response time (ms)", |(_, point)| told(point.map(|(_, ms)| ms)))
        .table()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_goes_through_the_medians_of_neighbouring_rates() {
        let points = [(100.0, 3.0), (105.0, 1.0), (110.0, 2.0), (200.0, 9.0)];
        assert_eq!(line(&points), [(105.0, 2.0), (200.0, 9.0)]);
        assert_eq!(line(&[]), []);
        assert_eq!(line(&[(0.0, 1.0), (0.0, 3.0)]), [(0.0, 2.0)]);
    }
}
