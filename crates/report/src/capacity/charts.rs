//! The charts of a capacity: response time and throughput over the rate, and why requests were late.

use super::{attribution_picture, curve_picture, lines, tables, words};
use assay_kit::document::{Figure, Shown};
use assay_kit::key::{line_mark, mark, marks};
use assay_kit::number::count;
use assay_kit::page::{drawings, panels};
use assay_kit::svg::marker_path;
use assay_model::{CapacityReport, LimitAttribution};
use std::fmt::Write as _;

const NO_WINDOW: &str = "no window was measured";

fn has_no_window(report: &CapacityReport) -> bool {
    lines::counted(report).is_empty() && lines::left_out(report).is_empty()
}

/// Response time over the rate.
pub fn curve(report: &CapacityReport) -> Figure {
    let (id, name) = ("response-curve", "response time over the rate");
    if has_no_window(report) {
        return Figure::absent(id, name, NO_WINDOW);
    }
    let counted = lines::counted(report);
    let mut items: Vec<(String, String)> = lines::lines(report)
        .iter()
        .filter(|line| counted.iter().any(|step| (line.value)(*step).is_some()))
        .map(|line| {
            let note = if line.is_limited { ": the limits hold for it" } else { "" };
            (line_mark(line.look, line.is_limited), format!("{}{note}", line.name))
        })
        .collect();
    let diamond = marker_path(3, (15.0, 6.0), 4.5);
    for (index, limit) in report.limits.iter().enumerate() {
        let look = lines::look_of_limit(index);
        let marks = format!(
            "{}{}",
            mark("M1 6H29", &format!("s{look} limit")),
            limit.rate_per_s.map_or_else(String::new, |_| mark(&diamond, &format!("s{look} cross")))
        );
        items.push((marks, format!("limit {}", words::limit_with_rate(limit))));
    }
    items.extend(rate_keys(report));
    let mut caption =
        "Response time, on a logarithmic axis, from the intended start of a request to the last \
        byte of its answer. A mark is a window of load. A line goes through the medians of windows of the \
        same rate. A diamond marks the rate that crosses a limit, its band the interval of that rate. Each \
        limit shows the highest rate within it."
            .to_owned();
    if !lines::left_out(report).is_empty() {
        let hollow = marker_path(0, (15.0, 6.0), 4.0);
        items.push((mark(&hollow, "pub"), "window that was left out".to_owned()));
        caption += " Windows that were left out are hollow and on no line.";
    }
    if let Some(note) = lines::not_drawn(report) {
        let _ = write!(caption, " {note}");
    }
    let pictures = drawings("curve", |width, id| curve_picture::curve(report, width, id));
    Figure::new(id, name, pictures).key(marks(&items)).caption(caption)
}

/// Keys of the rates that were found, and of what lies beyond the highest.
fn rate_keys(report: &CapacityReport) -> Vec<(String, String)> {
    let mut keys = Vec::new();
    if report.critical_rate_per_s.is_some() {
        keys.push((mark("M1 6H29", "step"), "critical rate".to_owned()));
    }
    if report.max_rate_per_s.is_some() {
        keys.push((mark("M1 6H29", "one"), "max rate".to_owned()));
        keys.push((mark("M1 0H29V12H1Z", "out"), "more than the server sustains".to_owned()));
    }
    keys
}

/// Throughput over the rate.
pub fn reached(report: &CapacityReport) -> Figure {
    let (id, name) = ("reached-rate", "throughput over the rate");
    if has_no_window(report) {
        return Figure::absent(id, name, NO_WINDOW);
    }
    let (dot, cross) = (marker_path(0, (15.0, 6.0), 4.0), marker_path(7, (15.0, 6.0), 4.0));
    let mut items = vec![
        (mark(&dot, "s0 mk"), "answers kept up with requests".to_owned()),
        (mark(&cross, "s7 mk"), "answers did not keep up".to_owned()),
        (mark("M1 6H29", "step"), "slanted: all that was offered".to_owned()),
    ];
    items.extend(rate_keys(report));
    let caption = "Successful responses/s over offered requests/s. On the slanted line every request was \
        answered in its window. Marks below it are requests that waited, failed, or were not sent.";
    let pictures = drawings("reached", |width, id| curve_picture::reached(report, width, id));
    Figure::new(id, name, pictures).key(marks(&items)).caption(caption)
}

/// What was going on while requests were late, a panel for each limit.
pub fn late(report: &CapacityReport) -> Figure {
    let (id, name) = ("causes", "causes of slow requests");
    let with_misses: Vec<&LimitAttribution> = report.attribution.iter().filter(|b| b.misses > 0).collect();
    if with_misses.is_empty() {
        let why = match report.attribution.is_empty() {
            true => "no possible cause was observed",
            false => "no request took longer than a limit in windows that the server kept up with",
        };
        return Figure::absent(id, name, why);
    }
    let limit = |of: &LimitAttribution| words::limit_of(of.limit_ms, of.operation.as_deref());
    let of_limit = |of: &LimitAttribution| format!("{} requests beyond {}", count(of.misses), limit(of));
    let panel = |(index, attribution): (usize, &&LimitAttribution)| {
        let title = format!("Why requests took longer than {}", limit(attribution));
        (of_limit(attribution), attribution_picture::draw(attribution, &title, &format!("late-{index}")))
    };
    let pictures = panels(with_misses.iter().enumerate().map(panel));
    let tables = with_misses.iter().map(|attribution| tables::causes(attribution, of_limit(attribution)));
    let caption = "Causes of the requests that took longer than a limit, in windows that the server kept up \
        with. One request may have several causes, so shares may add up to more than 100 %.";
    Figure::new(id, name, pictures)
        .key(attribution_picture::key())
        .caption(caption)
        .behind(tables, Shown::Everywhere)
}
