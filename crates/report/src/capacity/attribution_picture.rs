//! What was going on while requests were late, a bar for each cause, as shares of the requests that were.

use super::words;
use assay_kit::axes::LABEL_SIZE;
use assay_kit::bar_rows::heading;
use assay_kit::key::{mark, marks};
use assay_kit::letters::text_width;
use assay_kit::number::percent;
use assay_kit::scale::Scale;
use assay_kit::svg::{Anchor, Svg};
use assay_model::{AttributedCause, LimitAttribution};

/// Width of a panel.
pub const WIDTH: f64 = 370.0;
const ROW: f64 = 40.0;
const AXIS: f64 = 40.0;
/// Causes drawn; the table has all.
const CAUSES_MAX: usize = 10;
const ALL: &str = "misses explained";

fn share(part: f64, whole: u64) -> f64 {
    let share = part / whole.max(1) as f64;
    if share.is_finite() { share.clamp(0.0, 1.0) } else { 0.0 }
}

/// What the bars are.
pub fn key() -> String {
    let items = [
        (
            mark("M0 3H30V9H0Z", "s1 bar"),
            "misses explained: without it they would have kept the limit".to_owned(),
        ),
        (mark("M0 1H30V11H0Z", "s1 bar pale"), "misses that it overlapped".to_owned()),
        (mark("M15 0V12", "one"), "overlap expected by chance".to_owned()),
        (mark("M0 3H30V9H0Z", "s5 bar"), "unexplained".to_owned()),
    ];
    marks(&items)
}

/// Where the grid is.
const QUARTERS: [f64; 5] = [0.0, 0.25, 0.5, 0.75, 1.0];

/// One panel; `id` must be unique in the page.
pub fn draw(attribution: &LimitAttribution, title: &str, id: &str) -> String {
    let drawn: Vec<&AttributedCause> = attribution.causes.iter().take(CAUSES_MAX).collect();
    let bottom = (drawn.len() + 1) as f64 * ROW;
    let mut svg = Svg::new(WIDTH, bottom + AXIS);
    let x = Scale::linear((0.0, 1.0), (4.0, WIDTH - 4.0));
    for tenth in QUARTERS {
        let at = x.at(tenth);
        // Behind the bars, and not through the names over them.
        for top in (0..=drawn.len()).map(|row| row as f64 * ROW) {
            svg.line((at, top + 18.0), (at, top + ROW), "g");
        }
        let half = text_width("100 %", LABEL_SIZE) / 2.0;
        let label = format!("{:.0} %", 100.0 * tenth);
        svg.text((at.clamp(half, WIDTH - half), bottom + 17.0), Anchor::Middle, "t", &label);
    }
    svg.line((4.0, bottom), (WIDTH - 4.0, bottom), "ax");
    svg.text((WIDTH / 2.0, bottom + 34.0), Anchor::Middle, "at", "share of these requests");
    let mut told = Vec::new();
    for (index, cause) in drawn.iter().enumerate() {
        told.push(row(&mut svg, &x, index as f64 * ROW, cause, attribution.misses));
    }
    let text = percent(attribution.unexplained, attribution.misses);
    let tip = format!("{}: {text}", words::UNEXPLAINED);
    let top = drawn.len() as f64 * ROW;
    heading(&mut svg, top, WIDTH, words::UNEXPLAINED, &text);
    let long = x.at(share(attribution.unexplained as f64, attribution.misses)) - x.at(0.0);
    svg.rect((x.at(0.0), top + 20.0), (long.max(1.0), 12.0), "s5 bar unexplained", &tip);
    told.push(tip);
    svg.finish(id, title, &told.join(". "))
}

/// A cause: what it explains solid, what it overlapped pale behind, what it would have overlapped by chance as a line.
fn row(svg: &mut Svg, x: &Scale, top: f64, cause: &AttributedCause, misses: u64) -> String {
    let name = words::cause(cause.cause).to_owned();
    let text = percent(cause.misses, misses);
    heading(svg, top, WIDTH, &name, &text);
    let chance = cause.expected.map_or_else(
        || "chance is not known".to_owned(),
        |expected| format!("by chance {}", percent(expected.round().max(0.0) as u64, misses)),
    );
    let tip = format!("{name}: {ALL} {text}, overlapped {}, {chance}", percent(cause.overlapped, misses));
    let from = x.at(0.0);
    let long = |part: f64| (x.at(share(part, misses)) - from).max(1.0);
    svg.rect((from, top + 20.0), (long(cause.overlapped as f64), 12.0), "s1 bar pale overlapped", &tip);
    svg.rect((from, top + 22.5), (long(cause.misses as f64), 7.0), "s1 bar explained", &tip);
    if let Some(expected) = cause.expected.filter(|e| e.is_finite()) {
        let at = x.at(share(expected, misses));
        svg.line((at, top + 18.0), (at, top + 34.0), "one");
    }
    tip
}
