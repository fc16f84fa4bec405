//! Two runs side by side as a page.

use super::words;
use assay_kit::forest::{Effect, HOW_TO_READ, draw, first_screen, in_order};
use assay_kit::number::{bracketed, significant};
use assay_kit::page::{absent, drawings, figure};
use assay_kit::text::{clean, html};
use assay_kit::{Answer, Page, Section, Table};
use assay_model::{Problem, RunChange, RunComparison};
use std::io;

/// What differs between two runs as one HTML file that opens without a network.
///
/// # Errors
/// Those of the writer.
pub fn render(comparison: &RunComparison, out: &mut impl io::Write) -> io::Result<()> {
    let sections = vec![
        answer(comparison).section(),
        Section::new("circumstances", "What is not the same", circumstances(comparison))
            .called("Circumstances"),
        Section::new("figures", "Every figure", table(comparison).html()),
        Section::problems(&Problem::listed(&comparison.problems)),
    ];
    let lines = [("before", &comparison.before), ("after", &comparison.after)];
    Page {
        lines: lines.map(|(which, run)| ("", format!("{which}: {}", words::run(run)))).into(),
        sections,
        ..Page::new(
            "Two runs compared, by Assay",
            format!("{}: what differs", clean(&comparison.after.study)),
        )
    }
    .write(out)
}

/// What else differs is named, so many.
const NAMED_MAX: usize = 3;

fn answer(comparison: &RunComparison) -> Answer {
    let circumstances = &comparison.circumstances;
    let action = if circumstances.is_empty() {
        "→ Machine, JVMs and study are the same: repeat the study with both variants to be sure of a difference.".to_owned()
    } else {
        let mut named: Vec<String> = circumstances.iter().map(|one| clean(&one.what)).collect();
        if NAMED_MAX < named.len() {
            named.splice(NAMED_MAX.., [format!("{} more", circumstances.len() - NAMED_MAX)]);
        }
        format!("→ Check what else differs between the runs before relying on it: {}.", named.join(", "))
    };
    Answer {
        sentence: words::headline(comparison),
        action,
        chart: effects(comparison),
        rest: format!("<p class=\"how\">{}</p>", html(words::CAUTION)),
        ..Answer::default()
    }
}

fn name(change: &RunChange) -> String {
    format!("{}: {}", clean(&change.variant), words::metric(&change.metric).0)
}

fn effects(comparison: &RunComparison) -> String {
    let effect = |change: &RunChange| Effect {
        name: name(change),
        look: usize::from(1.0 < change.ratio.estimate),
        ratio: change.ratio.estimate,
        ends: change.ratio.ends(),
        may_be_chance: !change.verdict.is_shown(),
    };
    let effects = in_order(comparison.changes.iter().map(effect).collect());
    if effects.is_empty() {
        return absent("the runs have no figure in common");
    }
    let pictures = drawings("forest", |width, id| {
        let (axis, title) = ("after : before (1 = the same)", "Ratio of each figure, after to before");
        draw(first_screen(&effects, width), axis, width, (id, title))
    });
    figure("forest", "answer", "", &pictures, &format!("{HOW_TO_READ} The table has every figure."))
}

/// What was not the same in machine, JVMs, options and settings.
pub(super) fn setups(comparison: &RunComparison) -> Table {
    Table::of("Machine, JVMs, options and settings", &comparison.circumstances)
        .words("What", |one| clean(&one.what))
        .words("Before", |one| words::side(one.before.as_ref()))
        .words("After", |one| words::side(one.after.as_ref()))
        .table()
}

fn circumstances(comparison: &RunComparison) -> String {
    let mut text = if comparison.circumstances.is_empty() {
        "<p>Nothing that was stored: machine, JVMs and study are the same.</p>".to_owned()
    } else {
        setups(comparison).html()
    };
    for (which, names) in [("before", &comparison.only_before), ("after", &comparison.only_after)] {
        if !names.is_empty() {
            let names: Vec<String> = names.iter().map(|name| clean(name)).collect();
            text += &format!("<p>Only {which}: {}.</p>", html(&names.join(", ")));
        }
    }
    text
}

/// Every figure.
pub(super) fn table(comparison: &RunComparison) -> Table {
    let shown = |change: &RunChange, of_before: bool| {
        let (_, unit, divisor) = words::metric(&change.metric);
        let value = if of_before { &change.before } else { &change.after };
        format!("{} {unit}", words::value(value, divisor))
    };
    Table::of("Every figure of both runs", &comparison.changes)
        .words("Figure", |change| name(change))
        .figures("Before", |change| shown(change, true))
        .figures("After", |change| shown(change, false))
        .figures("Ratio", |change| significant(change.ratio.estimate))
        .figures("95 % interval", |change| bracketed(change.ratio.ends()))
        .words("In words", |change| change.verdict.words().to_owned())
        .table()
}
