//! What differs between two logs: how many figures by more than noise, then every figure with its ratio, and who wrote the logs.

use super::log::STYLE;
use super::words;
use assay_kit::document::{Answer, Block, Document, Figure, PageParts, Section};
use assay_kit::forest::{Effect, draw, first_screen, in_order};
use assay_kit::number::{bracketed, counted, significant};
use assay_kit::page::drawings;
use assay_kit::table::Look;
use assay_kit::text::clean;
use assay_kit::{Cell, Table};
use assay_model::{Estimate, GcComparison, GcDifference, GcJvm, GcVerdict};

/// Figures that the first sentence names.
const NAMED_MAX: usize = 3;

/// What differs between two logs.
pub fn document(comparison: &GcComparison) -> Document {
    let answer = Answer {
        sentence: headline(comparison),
        action: action(comparison).to_owned(),
        chart: Some(effects(comparison)),
        ..Answer::default()
    };
    let side = |which: &str, name: &str| format!("{which}: {}", clean(name)).into();
    Document {
        lines: vec![side("before", &comparison.before), side("after", &comparison.after)],
        sections: vec![
            Section::new("figures", "Every figure", [figures(comparison)]),
            Section::new("jvms", "JVMs and options", [jvms(comparison)]),
        ],
        page: PageParts { style: STYLE, ..PageParts::default() },
        ..Document::new("Two GC logs compared, by Assay", "What differs between two GC logs", answer)
    }
}

/// Figures that differ by more than noise, the largest difference first.
fn differing(comparison: &GcComparison) -> Vec<&GcDifference> {
    let is_shown = |d: &&GcDifference| matches!(d.verdict, GcVerdict::Higher | GcVerdict::Lower);
    let mut found: Vec<&GcDifference> = comparison.differences.iter().filter(is_shown).collect();
    let size = |d: &GcDifference| d.ratio.map_or(0.0, |ratio| ratio.estimate.ln().abs());
    found.sort_by(|a, b| size(b).total_cmp(&size(a)));
    found
}

fn headline(comparison: &GcComparison) -> String {
    let found = differing(comparison);
    if found.is_empty() {
        return "No figure differs by more than noise.".to_owned();
    }
    let change = |d: &&GcDifference| {
        let figure = |value| Cell::from(words::figure_of(&d.metric, value)).brief();
        format!("{} {} → {}", words::spoken(&d.metric), figure(d.before), figure(d.after))
    };
    let named: Vec<String> = found.iter().take(NAMED_MAX).map(change).collect();
    let more = found.len().saturating_sub(NAMED_MAX);
    let more = if more == 0 { String::new() } else { format!(", and {more} more") };
    let number = counted(found.len() as u64, "figure differs", "figures differ");
    format!("{number} by more than noise: {}{more}.", named.join(", "))
}

fn action(comparison: &GcComparison) -> &'static str {
    if differ(comparison) {
        "→ Compare logs of the same JVM and options: here they differ, and that alone may make these differences."
    } else if differing(comparison).is_empty() {
        "→ To find a small difference, compare longer logs of the same load."
    } else {
        "→ Repeat both under the same load (assay run) before relying on a difference between two logs."
    }
}

/// Whether the logs say of their JVMs what differs.
fn differ(comparison: &GcComparison) -> bool {
    let (Some(before), Some(after)) = (&comparison.before_jvm, &comparison.after_jvm) else { return false };
    words::jvm(before) != words::jvm(after) || before.flags != after.flags
}

fn effects(comparison: &GcComparison) -> Figure {
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
    let (id, name) = ("forest", "ratio of each figure");
    let effects = in_order(comparison.differences.iter().filter_map(effect).collect());
    if effects.is_empty() {
        return Figure::absent(id, name, "no figure is in both logs");
    }
    let pictures = drawings("forest", |width, id| {
        let (axis, title) = ("after : before (1 = the same)", "Ratio of each figure, after to before");
        draw(first_screen(&effects, width), axis, width, (id, title))
    });
    let caption = "The largest and surest effects come first, on one logarithmic scale. A whisker is an interval wide enough for all \
                   figures together: it leaves 1 out where a difference is shown, and only there. A pale dot shows none. Ratios of geometric \
                   means compare pauses of the same kind. The table has every figure.";
    Figure::new(id, name, pictures).caption(caption)
}

fn figures(comparison: &GcComparison) -> Block {
    Table::of("Every figure of both logs", &comparison.differences)
        .words("Figure", |d| clean(&d.metric))
        .figures("Before", |d| words::figure_of(&d.metric, d.before))
        .if_room()
        .figures("After", |d| words::figure_of(&d.metric, d.after))
        .if_room()
        .figures("Ratio", |d| d.ratio.map(|ratio| significant(ratio.estimate)))
        .figures("Interval", |d| interval(d.ratio.as_ref()))
        .words("In words", |d| {
            let is_shown = matches!(d.verdict, GcVerdict::Higher | GcVerdict::Lower);
            Cell::looks(words::verdict(d.verdict), if is_shown { Look::Strong } else { Look::Plain })
        })
        .if_wide()
        .table()
        .into()
}

/// The ends of the interval of a ratio; the verdict says why there is none.
fn interval(ratio: Option<&Estimate>) -> Option<String> {
    ratio?.ends().map(bracketed)
}

fn jvms(comparison: &GcComparison) -> Block {
    let of = |jvm: Option<&GcJvm>| {
        jvm.map_or_else(
            || Cell::absent("the log does not say"),
            |jvm| Cell::from(words::jvm(jvm).join(" · ")),
        )
    };
    let options = |jvm: Option<&GcJvm>| {
        let flags = jvm.map_or_else(String::new, |jvm| clean(&jvm.flags.join(" ")));
        if flags.is_empty() { "not in the log".to_owned() } else { flags }
    };
    let sides = [("before", comparison.before_jvm.as_ref()), ("after", comparison.after_jvm.as_ref())];
    Table::of("JVMs and options of the logs", sides)
        .words("Log", |(which, _)| *which)
        .words("JVM", |(_, jvm)| of(*jvm))
        .words("Options", |(_, jvm)| options(*jvm))
        .table()
        .into()
}
