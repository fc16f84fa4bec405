//! Two runs side by side on a terminal.

use super::words;
use assay_kit::ink::{Ink, fit};
use assay_kit::text::clean;
use assay_kit::{Terminal, TerminalView};
use assay_model::{Problem, RunChange, RunComparison};

const FIGURE: usize = 11;
const RATIO: usize = 22;
const NAME_MAX: usize = 44;

/// What differs, then what the runs were made with that is not the same.
pub fn render(comparison: &RunComparison, view: TerminalView) -> String {
    let mut out = Terminal::new(view);
    out.paragraph(0, &words::headline(comparison), Ink::bold);
    out.paragraph(0, &format!("before: {}", words::run(&comparison.before)), Ink::dim);
    out.paragraph(0, &format!("after:  {}", words::run(&comparison.after)), Ink::dim);
    let mut variants: Vec<&str> = Vec::new();
    for change in &comparison.changes {
        if !variants.contains(&&*change.variant) {
            variants.push(&change.variant);
        }
    }
    for variant in variants {
        out.heading(&clean(variant));
        let of_variant = comparison.changes.iter().filter(|change| change.variant == variant);
        let told =
            of_variant.filter(|change| change.verdict.is_shown() || words::is_primary(comparison, change));
        let rows: Vec<&RunChange> = told.collect();
        if rows.is_empty() {
            out.paragraph(2, "no difference shown", Ink::dim);
        } else {
            table(&mut out, &rows);
        }
    }
    if !comparison.circumstances.is_empty() {
        out.heading("Differences in setup");
        for one in &comparison.circumstances {
            out.paragraph(2, &words::circumstance(one), Ink::plain);
        }
    }
    for (which, names) in [("before", &comparison.only_before), ("after", &comparison.only_after)] {
        if !names.is_empty() {
            out.blank();
            out.paragraph(0, &clean(&format!("only {which}: {}", names.join(", "))), Ink::dim);
        }
    }
    out.blank();
    out.paragraph(0, words::CAUTION, Ink::dim);
    out.problems(&Problem::listed(&comparison.problems));
    out.finish()
}

fn table(out: &mut Terminal, rows: &[&RunChange]) {
    let name = out.width.saturating_sub(2 * FIGURE + RATIO + 4).clamp(12, NAME_MAX);
    let line = |name: String, before: &str, after: &str, ratio: &str, sign: &str| {
        format!("  {name}{before:>FIGURE$}{after:>FIGURE$}{ratio:>RATIO$} {sign}")
    };
    out.line(&out.ink.dim(&line(fit("", name), "before", "after", "ratio", "")));
    for change in rows {
        let (title, unit, divisor) = words::metric(&change.metric);
        let title = if unit.is_empty() { title } else { format!("{title}, {unit}") };
        let sign = change.verdict.sign();
        let sign = if change.verdict.is_shown() { out.ink.warn(sign) } else { out.ink.dim(sign) };
        let (before, after) = (words::value(&change.before, divisor), words::value(&change.after, divisor));
        out.line(&line(fit(&title, name), &before, &after, &words::ratio(change), &sign));
    }
}
