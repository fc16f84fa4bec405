//! What differs between two logs, as a page.

use super::diff::differ;
use super::words;
use assay_kit::forest::{Effect, HOW_TO_READ, draw, in_order};
use assay_kit::number::{bracketed, counted, significant};
use assay_kit::page::{absent, drawings, figure};
use assay_kit::text::{clean, html};
use assay_kit::{Page, Section, Table};
use assay_model::{GcComparison, GcDifference, GcJvm, GcVerdict};
use std::io;

const STYLE: &str =
    concat!(include_str!("../../../../web/memory.css"), include_str!("../../../../web/gc.css"));
/// Figures that the first sentence names.
const NAMED_MAX: usize = 3;

/// What differs between two logs as one HTML file that opens without a network.
///
/// # Errors
/// Those of the writer.
pub fn render(comparison: &GcComparison, out: &mut impl io::Write) -> io::Result<()> {
    let sections = vec![
        Section::answer(answer(comparison)),
        Section::new("effects", "Ratios", effects(comparison)),
        Section::new("figures", "Every figure", table(comparison).html()),
        Section::new("jvms", "Who wrote them", jvms(comparison)),
    ];
    let side = |which: &str, name: &str| format!("{which}: {}", clean(name));
    Page {
        style: STYLE,
        lines: vec![("", side("before", &comparison.before)), ("", side("after", &comparison.after))],
        sections,
        ..Page::new("Two GC logs compared, by Assay", "What differs between two GC logs")
    }
    .write(out)
}

fn differing(comparison: &GcComparison) -> Vec<&GcDifference> {
    let is_shown = |d: &&GcDifference| matches!(d.verdict, GcVerdict::Higher | GcVerdict::Lower);
    let mut found: Vec<&GcDifference> = comparison.differences.iter().filter(is_shown).collect();
    let size = |d: &GcDifference| d.ratio.map_or(0.0, |ratio| ratio.estimate.ln().abs());
    found.sort_by(|a, b| size(b).total_cmp(&size(a)));
    found
}

fn answer(comparison: &GcComparison) -> String {
    let found = differing(comparison);
    let told = |d: &&GcDifference| {
        let figure = |value| words::figure_of(&d.metric, value);
        let ratio = d.ratio.map_or_else(String::new, |r| format!(", {} times", significant(r.estimate)));
        format!("{}: {} before, {} after{ratio}", clean(&d.metric), figure(d.before), figure(d.after))
    };
    let headline = match found.len() {
        0 => "No figure differs by more than noise.".to_owned(),
        n => format!("{} by more than noise.", counted(n as u64, "figure differs", "figures differ")),
    };
    let mut text = format!("<p class=\"headline\">{headline}</p>");
    for one in found.iter().take(NAMED_MAX) {
        text += &format!("<p class=\"sum\"><bdi>{}</bdi>.</p>", html(&told(one)));
    }
    if differ(comparison) {
        text += "<p class=\"sum\"><strong>The JVMs or their settings differ</strong>: these differences may come from that alone.</p>";
    }
    text
}

fn effects(comparison: &GcComparison) -> String {
    let effect = |d: &GcDifference| {
        let ratio = d.ratio?;
        Some(Effect {
            name: clean(&d.metric),
            look: usize::from(d.verdict == GcVerdict::Higher),
            ratio: ratio.estimate,
            ends: ratio.ends(),
        })
    };
    let effects = in_order(comparison.differences.iter().filter_map(effect).collect());
    if effects.is_empty() {
        return absent("no figure is in both logs");
    }
    let pictures = drawings("forest", |width, id| {
        draw(&effects, "after : before (1 = the same)", width, (id, "Ratio of every figure, after to before"))
    });
    figure("forest", "effects", "", &pictures, HOW_TO_READ)
}

fn table(comparison: &GcComparison) -> Table {
    let figure = |d: &GcDifference, value| words::figure_of(&d.metric, value);
    Table::of("Every figure of both logs", &comparison.differences)
        .words("Figure", |d| clean(&d.metric))
        .figures("Before", |d| figure(d, d.before))
        .figures("After", |d| figure(d, d.after))
        .figures("Ratio", |d| d.ratio.map_or_else(|| "-".to_owned(), |ratio| significant(ratio.estimate)))
        .figures("95 % interval", |d| d.ratio.map_or_else(|| "-".to_owned(), |ratio| bracketed(ratio.ends())))
        .words("In words", |d| words::verdict(d.verdict).to_owned())
        .table()
}

fn jvms(comparison: &GcComparison) -> String {
    let of = |jvm: Option<&GcJvm>| {
        jvm.map_or_else(
            || "not available: the log does not say".to_owned(),
            |jvm| words::jvm(jvm).join(" · "),
        )
    };
    let sides = [("before", comparison.before_jvm.as_ref()), ("after", comparison.after_jvm.as_ref())];
    Table::of("Who wrote the logs", sides)
        .words("Log", |(which, _)| (*which).to_owned())
        .words("JVM", |(_, jvm)| of(*jvm))
        .words("Options", |(_, jvm)| jvm.map_or_else(String::new, |jvm| clean(&jvm.flags.join(" "))))
        .table()
        .html()
}
