//! A load over time: requests that were to start and that were answered, response times, failed requests.

use assay_kit::Table;
use assay_kit::axes::{EndLabel, Plot};
use assay_kit::document::{Block, Figure, Shown};
use assay_kit::key::{line_mark, marks};
use assay_kit::number::{count, counted, significant};
use assay_kit::page::drawings;
use assay_kit::quantity::{figure, ms};
use assay_kit::svg::Svg;
use assay_kit::time_axis::{Clock, TimeAxis};
use assay_model::{LoadInterval, LoadResult};

/// More intervals than these are summed up in parts, of which a terminal shows at most so many.
const PARTS_MAX: usize = 12;
const BOTTOM: f64 = 220.0;
/// Room for names at the right, where a picture is wide.
const NAMES_WIDTH: f64 = 110.0;
const WIDE: f64 = 600.0;

/// A line: its name, its look, and its value in an interval.
type Line = (&'static str, usize, fn(&LoadInterval) -> Option<f64>);

const TIMES: [Line; 2] =
    [("p50", 0, |of: &LoadInterval| of.response_ms_p50), ("p99", 1, |of: &LoadInterval| of.response_ms_p99)];
const RATES: [Line; 2] = [
    ("started", 0, |of: &LoadInterval| per_second(of.requests, of)),
    ("answered", 1, |of: &LoadInterval| Some(of.answered_per_s)),
];
const FAILED: [Line; 1] = [("failed", 7, |of: &LoadInterval| per_second(of.errors, of))];

fn per_second(requests: u64, of: &LoadInterval) -> Option<f64> {
    (of.to_s > of.from_s).then(|| requests as f64 / (of.to_s - of.from_s))
}

/// Response times over time; absent where there are too few intervals for a line.
pub fn times(result: &LoadResult) -> Option<Figure> {
    let caption = "Response time by intended start, on a logarithmic axis, from the intended start to the \
        last byte of the answer. Failed requests count with the time until the failure.";
    figure_of(result, ("times-over-time", "response time over time"), &TIMES, "ms", caption)
}

/// Rates over time, and failed requests where any failed. Forms without drawings get parts of many intervals with them.
pub fn rates(result: &LoadResult) -> Vec<Figure> {
    let caption = "Requests by intended start, and successful responses, per second.";
    let rates = figure_of(result, ("rate-over-time", "Rate over time"), &RATES, "requests/s", caption);
    let caption = "Failed requests by intended start, per second.";
    let failed =
        figure_of(result, ("failed-over-time", "Failed requests over time"), &FAILED, "requests/s", caption);
    let failed = failed.filter(|_| result.timeline.iter().any(|of| of.errors > 0)).map(Figure::titled);
    let rates = rates.map(|figure| figure.titled().behind(parts(result), Shown::OtherForms));
    rates.into_iter().chain(failed).collect()
}

fn figure_of(
    result: &LoadResult,
    (id, name): (&'static str, &'static str),
    lines: &'static [Line],
    unit: &'static str,
    caption: &str,
) -> Option<Figure> {
    let points = &result.timeline;
    let drawn: Vec<Line> =
        lines.iter().copied().filter(|(.., value)| points.iter().any(|of| value(of).is_some())).collect();
    if points.len() < 2 || drawn.is_empty() {
        return None;
    }
    let begun = result.started_at.as_deref().and_then(Clock::stored);
    let time = TimeAxis::seconds(points.last().map_or(1.0, |of| of.to_s)).with_clocks(begun);
    let pictures = drawings(id, |width, id| draw(points, &drawn, unit, (&time, width), (id, name)));
    let items: Vec<(String, String)> =
        drawn.iter().map(|(name, look, _)| (line_mark(*look, false), (*name).to_owned())).collect();
    Some(Figure::new(id, name, pictures).key(marks(&items)).caption(caption))
}

/// Lines through the middles of intervals; an interval without a value breaks them.
fn draw(
    points: &[LoadInterval],
    lines: &[Line],
    unit: &str,
    (time, width): (&TimeAxis, f64),
    (id, name): (&str, &str),
) -> String {
    let names_width = if width < WIDE { 0.0 } else { NAMES_WIDTH };
    let plot = Plot { left: 56.0, right: width - names_width.max(18.0), top: 32.0, bottom: BOTTOM };
    let mut svg = Svg::new(width, BOTTOM + time.below());
    let values = || lines.iter().flat_map(|(.., value)| points.iter().filter_map(value));
    let is_logarithmic = unit == "ms";
    let y = if is_logarithmic {
        plot.y_logarithmic(&mut svg, values().filter(|ms| *ms > 0.0), "response time (ms)")
    } else {
        plot.y_from_zero(&mut svg, values().fold(1.0, f64::max), 4, unit)
    };
    let x = time.scale(&plot);
    let wanted = if width < WIDE { 4 } else { 8 };
    time.draw(&mut svg, &plot, (wanted, width), "time since the beginning");
    let (mut names, mut words) = (Vec::new(), Vec::new());
    let at = |of: &LoadInterval, value: Option<f64>| Some((x.at((of.from_s + of.to_s) / 2.0), y.at(value?)));
    plot.timed(&mut svg, time, &y, unit, |svg| {
        for (name, look, value) in lines {
            let placed: Vec<Option<(f64, f64)>> = points.iter().map(|of| at(of, value(of))).collect();
            for part in placed.split(Option::is_none) {
                let path: Vec<(f64, f64)> = part.iter().flatten().copied().collect();
                match path.as_slice() {
                    [] => {}
                    [one] => svg.marker(*look, *one, 3.0, &format!("s{look} mk"), name),
                    path => svg.polyline(path, &format!("s{look} ln d{look}"), name),
                }
            }
            names.extend(placed.iter().rev().flatten().next().map(|at| EndLabel {
                at: *at,
                look: *look,
                label: (*name).to_owned(),
            }));
            let known = || points.iter().filter_map(value);
            let (low, high) = (known().fold(f64::INFINITY, f64::min), known().fold(0.0, f64::max));
            words.push(format!("{name}: {} to {} {unit}", significant(low), significant(high)));
        }
    });
    plot.end_labels(&mut svg, &names, names_width);
    svg.finish(id, name, &words.join(". "))
}

/// Every interval; of many the page alone has each.
pub fn table(result: &LoadResult) -> Block {
    let all =
        table_of("Rate, response time and errors over time".to_owned(), result.timeline.iter().copied());
    let is_long = PARTS_MAX < result.timeline.len();
    if is_long { Block::from(all).page_only() } else { all.into() }
}

/// Of many intervals a few parts, in which the highest percentile stands for all.
fn parts(result: &LoadResult) -> Option<Table> {
    let points = &result.timeline;
    let each = points.len().div_ceil(PARTS_MAX);
    let of = counted(each as u64, "interval", "intervals");
    let caption = format!("Over time: percentiles are the highest of up to {of} each");
    (1 < each).then(|| table_of(caption, points.chunks(each).filter_map(part)))
}

/// Intervals that follow each other as one. Percentiles of several cannot be made of theirs: the highest says most.
fn part(points: &[LoadInterval]) -> Option<LoadInterval> {
    let (from_s, to_s) = (points.first()?.from_s, points.last()?.to_s);
    let highest = |of: fn(&LoadInterval) -> Option<f64>| points.iter().filter_map(of).reduce(f64::max);
    let answered = points.iter().map(|of| of.answered_per_s * (of.to_s - of.from_s)).sum::<f64>();
    Some(LoadInterval {
        from_s,
        to_s,
        requests: points.iter().map(|of| of.requests).sum(),
        errors: points.iter().map(|of| of.errors).sum(),
        answered_per_s: answered / (to_s - from_s),
        response_ms_p50: highest(|of| of.response_ms_p50),
        response_ms_p99: highest(|of| of.response_ms_p99),
    })
}

fn table_of(caption: String, points: impl Iterator<Item = LoadInterval>) -> Table {
    let second = |s: f64| if s.fract() == 0.0 { format!("{s:.0}") } else { format!("{s:.1}") };
    Table::of(caption, points)
        .words("Seconds", move |of| format!("{} to {}", second(of.from_s), second(of.to_s)))
        .figures("Requests", |of| count(of.requests))
        .figures("Answered (requests/s)", |of| figure(Some(of.answered_per_s)))
        .called("Answered/s")
        .figures("p50", |of| of.response_ms_p50.map(ms))
        .figures("p99", |of| of.response_ms_p99.map(ms))
        .figures("Failed", |of| count(of.errors))
        .table()
}
