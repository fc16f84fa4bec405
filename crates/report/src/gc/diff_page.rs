//! What differs between two logs, as a page.

use super::diff::differ;
use super::words;
use assay_kit::forest::{Effect, HOW_TO_READ, draw, first_screen, in_order};
use assay_kit::number::{bracketed, counted, significant};
use assay_kit::page::{absent, drawings, figure};
use assay_kit::text::clean;
use assay_kit::{Answer, Page, Section, Table};
use assay_model::{GcComparison, GcDifference, GcJvm, GcVerdict};
use std::io;

const STYLE: &str = include_str!("../../../../web/gc.css");
/// Figures that the first sentence names.
const NAMED_MAX: usize = 3;

/// What differs between two logs as one HTML file that opens without a network.
///
/// # Errors
/// Those of the writer.
pub fn render(comparison: &GcComparison, out: &mut impl io::Write) -> io::Result<()> {
    let sections = vec![
        answer(comparison).section(),
        Section::new("figures", "Every figure", table(comparison).html()),
        Section::new("jvms", "JVMs and options", jvms(comparison)),
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

/// Which figures differ, the largest difference first.
pub(super) fn headline(comparison: &GcComparison) -> String {
    let found = differing(comparison);
    if found.is_empty() {
        return "No figure differs by more than noise.".to_owned();
    }
    let told = |d: &&GcDifference| {
        let figure = |value| words::figure_of(&d.metric, value);
        format!("{} {} → {}", words::spoken(&d.metric), figure(d.before), figure(d.after))
    };
    let named: Vec<String> = found.iter().take(NAMED_MAX).map(told).collect();
    let more = found.len().saturating_sub(NAMED_MAX);
    let more = if more == 0 { String::new() } else { format!(", and {more} more") };
    let number = counted(found.len() as u64, "figure differs", "figures differ");
    format!("{number} by more than noise: {}{more}.", named.join(", "))
}

fn answer(comparison: &GcComparison) -> Answer {
    let action = if differ(comparison) {
        "→ Compare logs of the same JVM and options: here they differ, and that alone may make these differences."
    } else if differing(comparison).is_empty() {
        "→ To find a small difference, compare longer logs of the same load."
    } else {
        "→ Repeat both under the same load (assay run) before relying on a difference between two logs."
    };
    Answer {
        sentence: headline(comparison),
        action: action.to_owned(),
        chart: effects(comparison),
        ..Answer::default()
    }
}

fn effects(comparison: &GcComparison) -> String {
    let effect = |d: &GcDifference| {
        let ratio = d.ratio?;
        Some(Effect {
            name: words::spoken(&d.metric),
            look: usize::from(d.verdict == GcVerdict::Higher),
            ratio: ratio.estimate,
            ends: ratio.ends(),
            may_be_chance: d.verdict == GcVerdict::NoDifferenceShown,
        })
    };
    let effects = in_order(comparison.differences.iter().filter_map(effect).collect());
    if effects.is_empty() {
        return absent("no figure is in both logs");
    }
    let pictures = drawings("forest", |width, id| {
        let (axis, title) = ("after : before (1 = the same)", "Ratio of each figure, after to before");
        draw(first_screen(&effects, width), axis, width, (id, title))
    });
    let caption = "Of so many figures one may leave 1 out by chance: its dot is pale, too. Ratios of geometric means compare pauses of the \
                   same kind. The table has every figure.";
    figure("forest", "answer", "", &pictures, &format!("{HOW_TO_READ} {caption}"))
}

/// Every figure.
pub(super) fn table(comparison: &GcComparison) -> Table {
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
    let options = |jvm: Option<&GcJvm>| {
        let flags = jvm.map_or_else(String::new, |jvm| clean(&jvm.flags.join(" ")));
        if flags.is_empty() { "not in the log".to_owned() } else { flags }
    };
    let sides = [("before", comparison.before_jvm.as_ref()), ("after", comparison.after_jvm.as_ref())];
    Table::of("JVMs and options of the logs", sides)
        .words("Log", |(which, _)| (*which).to_owned())
        .words("JVM", |(_, jvm)| of(*jvm))
        .words("Options", |(_, jvm)| options(*jvm))
        .table()
        .html()
}
