//! Response time over the rate, with limits, crossings, and what the server sustains; and the rate reached over the rate asked.

use super::lines::{self, Group, Line, Step};
use super::words;
use assay_kit::axes::{EndLabel, LABEL_SIZE, Plot, labels};
use assay_kit::letters::text_width;
use assay_kit::number::{significant, tick};
use assay_kit::scale::Scale;
use assay_kit::svg::{Anchor, Svg};
use assay_model::{CapacityReport, Estimate, LimitRate};

/// Height of the rectangle with the curves.
const CURVE_HEIGHT: f64 = 260.0;
const REACHED_HEIGHT: f64 = 220.0;
const LEFT: f64 = 66.0;
/// Times beyond these ends, ms, are drawn there: no server of today has them, but a file may hold anything.
const TIMES: (f64, f64) = (1e-3, 1e6);
/// Room over the rectangle: the names of two rates and the axis' title.
const TOP: f64 = 54.0;
/// Room below it: ticks and title.
const BELOW: f64 = 42.0;
/// Room for the names of limits beside it, where there is any.
const NAMES: f64 = 208.0;
/// Pictures narrower than this have no room beside the curves.
const NARROW: f64 = 600.0;

fn is_narrow(width: f64) -> bool {
    width < NARROW
}

fn plot(width: f64, height: f64) -> Plot {
    let right = if is_narrow(width) { width - 14.0 } else { width - NAMES };
    Plot { left: LEFT, right, top: TOP, bottom: TOP + height }
}

/// The scale of rates, which both pictures share, and its ticks.
fn rates(report: &CapacityReport, plot: &Plot) -> (Scale, Vec<(f64, String)>) {
    let end = lines::rate_end(report);
    let x = Scale::linear((0.0, end), (plot.left, plot.right));
    let wanted = if plot.right < NARROW { 4 } else { 8 };
    // Right of the rectangle lies the edge of a narrow picture.
    let ticks = labels(&x, end, wanted, plot.right + 14.0);
    (x, ticks)
}

fn finite(estimate: &Estimate) -> Option<(f64, f64, f64)> {
    let (low, high) = (estimate.low.unwrap_or(estimate.estimate), estimate.high.unwrap_or(estimate.estimate));
    [estimate.estimate, low, high].iter().all(|v| v.is_finite()).then_some((estimate.estimate, low, high))
}

/// Vertical lines for critical and max rate, each with the band of its interval and its name over the picture.
fn marked_rates(svg: &mut Svg, report: &CapacityReport, plot: &Plot, x: &Scale, width: f64) {
    let rows =
        [("critical", report.critical_rate_per_s, "step", 13.0), ("max", report.max_rate_per_s, "one", 28.0)];
    for (name, rate, class, y) in rows {
        let Some((estimate, low, high)) = rate.as_ref().and_then(finite) else { continue };
        let tip = format!("{name} rate: {}", rate.as_ref().map(words::rate).unwrap_or_default());
        let (from, to) = (x.at(low), x.at(high));
        svg.rect((from, plot.top), ((to - from).max(1.0), plot.bottom - plot.top), "s5 band rate", &tip);
        let at = x.at(estimate);
        svg.line((at, y + 3.0), (at, plot.bottom), class);
        let label = format!("{name} {}/s", significant(estimate));
        let room = text_width(&label, LABEL_SIZE) + 7.0;
        // The lower rate is named on its left and the higher on its right, so that no line goes through a name.
        let (fits_left, fits_right) = (at >= room, at + room <= width);
        let (place, anchor) = match name {
            "critical" if fits_left => (at - 5.0, Anchor::End),
            "max" if !fits_right => (at - 5.0, Anchor::End),
            _ => (at + 5.0, Anchor::Start),
        };
        svg.text((place, y), anchor, "lab", &label);
    }
}

/// What lies beyond the rate that the server sustains.
fn beyond(svg: &mut Svg, report: &CapacityReport, plot: &Plot, x: &Scale) {
    if let Some((estimate, ..)) = report.max_rate_per_s.as_ref().and_then(finite) {
        let from = x.at(estimate);
        let tip = "beyond what the server sustains: queues grow, and response times with them";
        svg.rect((from, plot.top), (plot.right - from, plot.bottom - plot.top), "out", tip);
    }
}

/// Windows that are drawn.
fn up_to(end: f64, mut windows: Vec<Step>) -> Vec<Step> {
    windows.retain(|(_, step)| step.offered_rate_per_s <= end * 1.0001);
    windows
}

/// Response time over the rate.
pub fn curve(report: &CapacityReport, width: f64, id: &str) -> String {
    let plot = plot(width, CURVE_HEIGHT);
    let mut svg = Svg::new(width, plot.bottom + BELOW);
    let (x, rate_ticks) = rates(report, &plot);
    let lines = lines::lines(report);
    let end = lines::rate_end(report);
    let counted = up_to(end, lines::counted(report));
    let y = plot.y_logarithmic(&mut svg, times(report, &lines, &counted), "response time (ms)");
    beyond(&mut svg, report, &plot, &x);
    marked_rates(&mut svg, report, &plot, &x, width);
    bands(&mut svg, report, &plot, (&x, &y));
    plot.x_axis(&mut svg, &rate_ticks, "offered rate (requests/s)");
    let groups = lines::groups(&counted);
    for line in &lines {
        draw_line(&mut svg, line, &groups, (&x, &y));
    }
    draw_left_out(&mut svg, report, end, (&x, &y));
    crossings(&mut svg, report, (&x, &y));
    limit_names(&mut svg, report, &plot, &y, width);
    svg.finish(id, "Response time by rate", &description(report))
}

/// All times that are drawn, and the limits, ms.
fn times<'a>(
    report: &'a CapacityReport,
    lines: &'a [Line],
    counted: &'a [Step],
) -> impl Iterator<Item = f64> + 'a {
    let times = counted.iter().flat_map(|of| lines.iter().filter_map(|l| (l.value)(*of)));
    let left_out = lines::left_out(report).into_iter().filter_map(|(_, step)| step.limited_ms);
    let limits = report.limits.iter().map(|l| l.limit_ms);
    times.chain(left_out).chain(limits).filter(|t| *t > 0.0).map(|t| t.clamp(TIMES.0, TIMES.1))
}

/// Limits that have a place on the axis, each with its look.
fn drawable(report: &CapacityReport) -> impl Iterator<Item = (usize, &LimitRate)> {
    let all = report.limits.iter().enumerate().map(|(index, limit)| (lines::look_of_limit(index), limit));
    all.filter(|(_, limit)| limit.limit_ms.is_finite() && limit.limit_ms > 0.0)
}

/// The line of a limit, and the band of rates at which the percentile crosses it.
fn bands(svg: &mut Svg, report: &CapacityReport, plot: &Plot, (x, y): (&Scale, &Scale)) {
    for (look, limit) in drawable(report) {
        let at = y.at(limit.limit_ms);
        svg.line((plot.left, at), (plot.right, at), &format!("s{look} limit"));
        if let Some((_, low, high)) = limit.rate_per_s.as_ref().and_then(finite) {
            let (from, to) = (x.at(low), x.at(high));
            let tip = crossing(limit);
            svg.rect(
                (from, at),
                ((to - from).max(1.0), plot.bottom - at),
                &format!("s{look} band crossing"),
                &tip,
            );
        }
    }
}

/// Where the percentile crosses a limit, and up to which rate it was kept.
fn crossing(limit: &LimitRate) -> String {
    let kept = limit
        .last_success_per_s
        .map_or_else(String::new, |kept| format!("; kept at {}/s", words::measured(kept)));
    format!("{} is crossed at {}{kept}", words::limit_with_rate(limit), rate_words(limit.rate_per_s))
}

fn rate_words(rate: Option<Estimate>) -> String {
    rate.as_ref().map_or_else(|| "no known rate".to_owned(), words::rate)
}

/// A line through the medians of the groups; a mark for each window.
fn draw_line(svg: &mut Svg, line: &Line, groups: &[Group], (x, y): (&Scale, &Scale)) {
    let look = line.look;
    let weight = if line.is_limited { " strong" } else { "" };
    let at = |rate: f64, ms: f64| (x.at(rate), y.at(ms));
    let middle: Vec<(f64, f64)> =
        groups.iter().filter_map(|g| Some(at(g.rate_per_s, g.median(line.value)?))).collect();
    if middle.len() > 1 {
        svg.polyline(&middle, &format!("s{look} ln d{look}{weight}"), &line.name);
    }
    for window in groups.iter().flat_map(|g| &g.windows) {
        let (_, step) = window;
        if let Some(ms) = (line.value)(*window).filter(|ms| ms.is_finite()) {
            let tip = format!(
                "{} at {}/s: {} ms ({})",
                line.name,
                tick(step.offered_rate_per_s),
                significant(ms),
                step.step
            );
            let radius = if line.is_limited { 3.5 } else { 2.2 };
            svg.marker(look, at(step.offered_rate_per_s, ms), radius, &format!("s{look} mk"), &tip);
        }
    }
}

/// Windows that do not count, hollow, at the percentile that the limits hold for.
fn draw_left_out(svg: &mut Svg, report: &CapacityReport, end: f64, (x, y): (&Scale, &Scale)) {
    for (window, step) in up_to(end, lines::left_out(report)) {
        if let Some(ms) = step.limited_ms.filter(|ms| ms.is_finite()) {
            let why = window.left_out().join("; ");
            let tip = format!("left out at {}/s: {why}", tick(step.offered_rate_per_s));
            svg.marker(0, (x.at(step.offered_rate_per_s), y.at(ms)), 3.5, "pub left-out", &tip);
        }
    }
}

/// A mark where the percentile crosses a limit.
fn crossings(svg: &mut Svg, report: &CapacityReport, (x, y): (&Scale, &Scale)) {
    for (look, limit) in drawable(report) {
        if let Some((estimate, ..)) = limit.rate_per_s.as_ref().and_then(finite) {
            svg.marker(
                3,
                (x.at(estimate), y.at(limit.limit_ms)),
                5.0,
                &format!("s{look} cross"),
                &crossing(limit),
            );
        }
    }
}

/// Names of the limits beside the picture, with their rates; where there is no room beside it, the key alone names them.
fn limit_names(svg: &mut Svg, report: &CapacityReport, plot: &Plot, y: &Scale, width: f64) {
    if is_narrow(width) {
        return;
    }
    let label = |limit: &LimitRate| match words::kept(limit) {
        Some(kept) => format!("{}: {}/s", words::limit_with_rate(limit), words::measured(kept)),
        None => format!("{}: no rate known", words::limit_with_rate(limit)),
    };
    let end = |(look, limit): (usize, &LimitRate)| EndLabel {
        at: (plot.right, y.at(limit.limit_ms)),
        look,
        label: label(limit),
    };
    let names: Vec<EndLabel> = drawable(report).map(end).collect();
    plot.end_labels(svg, &names, NAMES);
}

fn description(report: &CapacityReport) -> String {
    let limits: Vec<String> = report.limits.iter().map(crossing).collect();
    format!("{}. Sustained: {}", limits.join(". "), rate_words(report.max_rate_per_s))
}

/// Rate reached over the rate asked for, on the same axis.
pub fn reached(report: &CapacityReport, width: f64, id: &str) -> String {
    let plot = plot(width, REACHED_HEIGHT);
    let mut svg = Svg::new(width, plot.bottom + BELOW);
    let (x, rate_ticks) = rates(report, &plot);
    let end = lines::rate_end(report);
    let y = plot.y_from_zero(&mut svg, end, 4, "right answers (1/s)");
    beyond(&mut svg, report, &plot, &x);
    marked_rates(&mut svg, report, &plot, &x, width);
    plot.x_axis(&mut svg, &rate_ticks, "offered rate (requests/s)");
    svg.line((x.at(0.0), y.at(0.0)), (x.at(end), y.at(end)), "step");
    let counted = up_to(end, lines::counted(report));
    let groups = lines::groups(&counted);
    let value = |(window, _): Step| Some(window.achieved_rate_per_s());
    let middle: Vec<(f64, f64)> =
        groups.iter().filter_map(|g| Some((x.at(g.rate_per_s), y.at(g.median(value)?)))).collect();
    if middle.len() > 1 {
        svg.polyline(&middle, "s0 ln", "achieved");
    }
    let tip = |(window, step): Step| {
        let (asked, reached) = (tick(step.offered_rate_per_s), significant(window.achieved_rate_per_s()));
        let kept = if step.is_sustained { "" } else { "; answers did not keep up" };
        format!("offered {asked}/s, achieved {reached}/s{kept}")
    };
    let at = |(window, step): Step| (x.at(step.offered_rate_per_s), y.at(window.achieved_rate_per_s()));
    for of in counted {
        let (shape, class) = if of.1.is_sustained { (0, "s0 mk") } else { (7, "s7 mk") };
        svg.marker(shape, at(of), 3.5, class, &tip(of));
    }
    for of in up_to(end, lines::left_out(report)) {
        svg.marker(0, at(of), 3.5, "pub left-out", &format!("left out: {}", of.0.left_out().join("; ")));
    }
    if !is_narrow(width) {
        let names =
            [EndLabel { at: (plot.right, y.at(end)), look: 5, label: "all that was offered".to_owned() }];
        plot.end_labels(&mut svg, &names, NAMES);
    }
    let words = format!("Sustained: {}", rate_words(report.max_rate_per_s));
    svg.finish(id, "Achieved rate by offered rate", &words)
}
