//! Values by maximum heap, with the steps at which a JVM's reference mode changes marked.

use super::super::estimate::{interval, shown_unit};
use super::super::grid::{Cell, Grid};
use super::keys::series_key;
use assay_kit::Table;
use assay_kit::axes::{EndLabel, Plot};
use assay_kit::chart::{Chart, curve_panel};
use assay_kit::number::tick;
use assay_kit::scale::{Scale, ticks_from_zero};
use assay_kit::svg::{Anchor, Svg};
use assay_kit::text;
use assay_model::{Estimate, Metric, metric};

const ID: &str = "by-heap";
const TITLE: &str = "By heap size";
const METRIC_IDS: [&str; 4] = [
    metric::GARBAGE_KIB_PER_REQUEST,
    metric::CPU_MS_PER_REQUEST,
    metric::THROUGHPUT_PER_S,
    metric::GC_PAUSE_MS_PER_S,
];

/// The figure; absent unless there are at least two heap sizes.
pub fn figure(grid: &Grid) -> Chart {
    let heaps = heaps(grid);
    if heaps.len() < 2 {
        let why = match heaps.len() {
            0 => "not available: the study does not set the heap",
            _ => "not available: the study has one heap size only, a curve needs two",
        };
        return Chart::absent(ID, TITLE, why);
    }
    if !(0..grid.series.len()).any(|series| line(grid, &heaps, series).len() > 1) {
        return Chart::absent(
            ID,
            TITLE,
            "not available: no level of the first factor has two heap sizes, see the bars",
        );
    }
    let steps = steps(grid, &heaps);
    let is_measured = |id: &&&str| !grid.run.plan.is_set_by_load(id);
    let metrics = METRIC_IDS.iter().filter(is_measured).filter_map(|id| Metric::by_id(id));
    let measured = metrics.filter(|m| grid.cells().any(|(_, c)| c.estimate(&m.id).is_some()));
    let panels = measured.enumerate().map(|(index, metric)| {
        curve_panel(metric.title.to_string(), &format!("{ID}-{index}"), |width, names, id| {
            panel(grid, &heaps, &metric, &steps, (width, names), id)
        })
    });
    Chart {
        caption:
            "Value by maximum heap. Whiskers are 95 % intervals. Heap sizes are at equal distances, not to \
                scale. A dashed line marks where JVMs changed their reference mode, as their logs show."
                .to_owned(),
        key: series_key(grid),
        notes: steps.iter().enumerate().map(|(i, s)| format!("Mode change {}: {}", i + 1, s.words)).collect(),
        panels: panels.collect(),
        size: "wide",
        tables: vec![table(grid)],
        ..Chart::new(ID, TITLE)
    }
}

/// Heap sizes of the variants that ran, in order.
fn heaps(grid: &Grid) -> Vec<u64> {
    let of = |cell: &Cell| cell.variant.and_then(|v| v.max_heap_bytes);
    let mut heaps: Vec<u64> = grid.cells().filter_map(|(_, c)| of(c)).collect();
    heaps.sort_unstable();
    heaps.dedup();
    heaps
}

/// Variants of a series by heap index. With factors beside mode and heap the first of each heap is drawn; the
/// result tables have all.
fn line<'g>(grid: &'g Grid, heaps: &[u64], series: usize) -> Vec<(usize, &'g Cell<'g>)> {
    let at = |bytes: u64| {
        let same =
            |c: &&Cell| c.series == series && c.variant.is_some_and(|v| v.max_heap_bytes == Some(bytes));
        grid.cells().map(|(_, c)| c).find(same)
    };
    heaps.iter().enumerate().filter_map(|(i, &bytes)| Some((i, at(bytes)?))).collect()
}

/// A place between two heap sizes where the mode read changes.
struct Step {
    /// Index of the heap before it.
    after: usize,
    words: String,
}

fn steps(grid: &Grid, heaps: &[u64]) -> Vec<Step> {
    let mut steps = Vec::new();
    for after in 0..heaps.len() - 1 {
        let mut changes: Vec<(String, Vec<&str>)> = Vec::new();
        for series in 0..grid.series.len() {
            let line = line(grid, heaps, series);
            let mode = |index: usize| {
                let cell = line.iter().find(|(i, _)| *i == index)?.1;
                cell.summary?.mode_read.as_deref()
            };
            let (Some(before), Some(behind)) = (mode(after), mode(after + 1)) else { continue };
            if before != behind {
                let change = format!("from {} to {}", text::clean(before), text::clean(behind));
                match changes.iter_mut().find(|(c, _)| *c == change) {
                    Some((_, names)) => names.push(&grid.series[series]),
                    None => changes.push((change, vec![&grid.series[series]])),
                }
            }
        }
        if !changes.is_empty() {
            let each = changes.iter().map(|(change, names)| format!("{} went {change}", names.join(", ")));
            let words = each.collect::<Vec<_>>().join("; ");
            let (low, high) = (heap_name(heaps[after]), heap_name(heaps[after + 1]));
            steps.push(Step { after, words: format!("between {low} and {high}, {}.", text::clean(&words)) });
        }
    }
    steps
}

fn panel(
    grid: &Grid,
    heaps: &[u64],
    metric: &Metric,
    steps: &[Step],
    (width, names_width): (f64, f64),
    id: &str,
) -> String {
    let (unit, divisor) = shown_unit(metric);
    let plot = Plot { left: 48.0, right: width - names_width.max(12.0), top: 36.0, bottom: 250.0 };
    let mut svg = Svg::new(width, 294.0);
    let ticks = ticks(grid, metric, divisor);
    let ends = (ticks.first().copied().unwrap_or(0.0), ticks.last().copied().unwrap_or(1.0));
    let y = Scale::linear(ends, (plot.bottom, plot.top));
    let start = if ends.0 > 0.0 { format!("; axis starts at {}", tick(ends.0)) } else { String::new() };
    plot.y_axis(&mut svg, &y, &ticks, &format!("{unit}{start}"));
    let inset = width / 16.0;
    let x = Scale::linear((0.0, (heaps.len() - 1) as f64), (plot.left + inset, plot.right - inset));
    let labels: Vec<(f64, String)> =
        heaps.iter().enumerate().map(|(i, &b)| (x.at(i as f64), heap_name(b))).collect();
    plot.x_axis(&mut svg, &labels, "maximum heap");
    for (index, step) in steps.iter().enumerate() {
        let at = x.at(step.after as f64 + 0.5);
        svg.line((at, plot.top), (at, plot.bottom), "step");
        let (x, anchor) =
            if at + 96.0 > plot.right { (at - 5.0, Anchor::End) } else { (at + 5.0, Anchor::Start) };
        // Steps that are near each other get their names at different heights.
        let y = plot.top + 10.0 + (index % 3) as f64 * 15.0;
        svg.text((x, y), anchor, "tag", &format!("mode change {}", index + 1));
    }
    let mut names = Vec::new();
    let mut words = Vec::new();
    for series in 0..grid.series.len() {
        let drawn = series_line(&mut svg, grid, heaps, series, metric, (&x, &y, divisor));
        if let Some((end, told)) = drawn {
            names.push(end);
            words.push(told);
        }
    }
    plot.end_labels(&mut svg, &names, names_width);
    svg.finish(id, &format!("{} by maximum heap", metric.title), &words.join(". "))
}

/// Ticks of the value axis. It starts at zero unless that would leave more than half of it empty: lines, unlike
/// bars, do not stand for their length.
fn ticks(grid: &Grid, metric: &Metric, divisor: f64) -> Vec<f64> {
    let estimates = || grid.cells().filter_map(|(_, c)| c.estimate(&metric.id));
    let highest =
        estimates().map(|e| e.high.unwrap_or(e.estimate).max(e.estimate) / divisor).fold(0.0, f64::max);
    let lowest = estimates().map(|e| e.low.unwrap_or(e.estimate).min(e.estimate) / divisor);
    let lowest = lowest.fold(f64::INFINITY, f64::min);
    if lowest <= highest / 2.0 {
        return ticks_from_zero(highest, 5);
    }
    let all = ticks_from_zero(highest, (6.0 * highest / (highest - lowest).max(highest / 20.0)) as usize);
    let first = all.iter().rposition(|t| *t <= lowest).unwrap_or(0);
    all[first..].to_vec()
}

fn series_line(
    svg: &mut Svg,
    grid: &Grid,
    heaps: &[u64],
    series: usize,
    metric: &Metric,
    (x, y, divisor): (&Scale, &Scale, f64),
) -> Option<(EndLabel, String)> {
    let look = grid.looks[series];
    // A few units aside, so that whiskers of equal values stay apart.
    let aside = (series as f64 - (grid.series.len() as f64 - 1.0) / 2.0) * 3.0;
    let estimates: Vec<(usize, Estimate)> =
        line(grid, heaps, series).iter().filter_map(|(i, c)| Some((*i, c.estimate(&metric.id)?))).collect();
    let place = |i: usize, value: f64| (x.at(i as f64) + aside, y.at(value / divisor));
    let points: Vec<(f64, f64)> = estimates.iter().map(|(i, e)| place(*i, e.estimate)).collect();
    let end = *points.last()?;
    svg.polyline(&points, &format!("s{look} ln d{look}"), "");
    let label = text::clean(&grid.series[series]);
    let mut told = Vec::new();
    for ((i, estimate), at) in estimates.iter().zip(&points) {
        if let (Some(low), Some(high)) = (estimate.low, estimate.high) {
            svg.whisker_vertical(at.0, y.at(low / divisor), y.at(high / divisor), &format!("s{look} whs"));
        }
        let unit = shown_unit(metric).0;
        let words = format!("{} {unit} at {}", interval(estimate, divisor), heap_name(heaps[*i]));
        svg.marker(look, *at, 4.0, &format!("s{look} mk"), &format!("{label}: {words}"));
        told.push(words);
    }
    Some((EndLabel { at: end, look, label: label.clone() }, format!("{label}: {}", told.join(", "))))
}

fn heap_name(bytes: u64) -> String {
    const GIB: u64 = 1 << 30;
    if bytes >= GIB && bytes.is_multiple_of(GIB / 4) {
        format!("{} GiB", tick(bytes as f64 / GIB as f64))
    } else {
        format!("{} MiB", tick(bytes as f64 / f64::from(1 << 20)))
    }
}

fn table(grid: &Grid) -> Table {
    let cells = grid.cells().filter_map(|(_, cell)| Some((cell, cell.variant?)));
    let mode = |cell: &Cell| cell.summary.and_then(|s| s.mode_read.as_deref().map(text::clean));
    let mut rows = Table::of("Values by maximum heap", cells)
        .words("Variant", |(cell, _)| text::clean(cell.name))
        .words("Maximum heap", |(_, v)| v.max_heap_bytes.map_or_else(|| "not set".to_owned(), heap_name))
        .words("Mode read", |(cell, _)| mode(cell).unwrap_or_else(|| "not available".to_owned()));
    for metric in METRIC_IDS.iter().filter_map(|id| Metric::by_id(id)) {
        let (unit, divisor) = shown_unit(&metric);
        rows =
            rows.figures(format!("{} ({unit})", metric.title), |(cell, _)| match cell.estimate(&metric.id) {
                Some(e) => interval(&e, divisor),
                None => format!("not available: {}", grid.why_absent(cell, &metric)),
            });
    }
    rows.table()
}
