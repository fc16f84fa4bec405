//! Two runs side by side: what differs most, what else is not the same, and every figure.

use super::words;
use assay_kit::document::{Answer, Block, Document, Figure, Section};
use assay_kit::forest::{Effect, HOW_TO_READ, draw, first_screen, in_order};
use assay_kit::number::{bracketed, significant};
use assay_kit::page::drawings;
use assay_kit::table::Look;
use assay_kit::text::clean;
use assay_kit::{Cell, Table};
use assay_model::{Problem, RunChange, RunComparison};

/// Circumstances that are named, of those that differ.
const NAMED_MAX: usize = 3;

/// What differs between two runs.
pub fn document(comparison: &RunComparison) -> Document {
    let answer = Answer {
        sentence: words::headline(comparison),
        action: action(comparison),
        chart: Some(effects(comparison)),
        rest: vec![Block::explanation(words::CAUTION)],
        ..Answer::default()
    };
    let lines = [("before", &comparison.before), ("after", &comparison.after)];
    Document {
        lines: lines.map(|(which, run)| format!("{which}: {}", words::run(run)).into()).into(),
        sections: vec![
            Section::new("circumstances", "What is not the same", circumstances(comparison))
                .called("Circumstances"),
            Section::new("figures", "Every figure", [figures(comparison)]),
        ],
        ..Document::new(
            "Two runs compared, by Assay",
            format!("{}: what differs", clean(&comparison.after.study)),
            answer,
        )
        .with_problems(Problem::listed(&comparison.problems))
    }
}

fn action(comparison: &RunComparison) -> String {
    let circumstances = &comparison.circumstances;
    if circumstances.is_empty() {
        return "→ Machine, JVMs and study are the same: repeat the study with both variants to be sure of a difference.".to_owned();
    }
    let mut named: Vec<String> = circumstances.iter().map(|one| clean(&one.what)).collect();
    if NAMED_MAX < named.len() {
        named.splice(NAMED_MAX.., [format!("{} more", circumstances.len() - NAMED_MAX)]);
    }
    format!("→ Check what else differs between the runs before relying on it: {}.", named.join(", "))
}

fn name(change: &RunChange) -> String {
    format!("{}: {}", clean(&change.variant), words::metric(&change.metric).0)
}

fn effects(comparison: &RunComparison) -> Figure {
    let effect = |change: &RunChange| Effect {
        name: name(change),
        look: usize::from(1.0 < change.ratio.estimate),
        ratio: change.ratio.estimate,
        ends: change.ratio.ends(),
        may_be_chance: !change.verdict.is_shown(),
    };
    let (id, title) = ("forest", "ratio of each figure");
    let effects = in_order(comparison.changes.iter().map(effect).collect());
    if effects.is_empty() {
        return Figure::absent(id, title, "the runs have no figure in common");
    }
    let pictures = drawings("forest", |width, id| {
        let (axis, title) = ("after : before (1 = the same)", "Ratio of each figure, after to before");
        draw(first_screen(&effects, width), axis, width, (id, title))
    });
    Figure::new(id, title, pictures).caption(format!("{HOW_TO_READ} The table has every figure."))
}

/// What differs in machine, JVMs, options and settings, and the variants that one run alone has.
fn circumstances(comparison: &RunComparison) -> Vec<Block> {
    let side = |value: Option<&String>| value.map(|value| clean(value));
    let setups = Table::of("Machine, JVMs, options and settings", &comparison.circumstances)
        .words("What", |one| clean(&one.what))
        .words("Before", |one| side(one.before.as_ref()))
        .words("After", |one| side(one.after.as_ref()))
        .table();
    let mut blocks = vec![match setups.unless_empty() {
        Some(setups) => setups.into(),
        None => Block::text("Nothing that was stored: machine, JVMs and study are the same."),
    }];
    for (which, names) in [("before", &comparison.only_before), ("after", &comparison.only_after)] {
        if !names.is_empty() {
            let names: Vec<String> = names.iter().map(|name| clean(name)).collect();
            blocks.push(Block::text(format!("Only {which}: {}.", names.join(", "))));
        }
    }
    blocks
}

/// Every figure. A terminal has first room for those that differ, then for the metric that decides.
fn figures(comparison: &RunComparison) -> Block {
    let shown = |change: &RunChange, of_before: bool| {
        let (_, unit, divisor) = words::metric(&change.metric);
        let value = if of_before { &change.before } else { &change.after };
        format!("{} {unit}", significant(value.estimate / divisor))
    };
    Table::of("Every figure of both runs", &comparison.changes)
        .words("Figure", |change| name(change))
        .figures("Before", |change| shown(change, true))
        .if_wide()
        .figures("After", |change| shown(change, false))
        .if_wide()
        .figures("Ratio", |change| significant(change.ratio.estimate))
        // The verdict says why there is none.
        .figures("95 % interval", |change| change.ratio.ends().map(bracketed))
        .words("In words", |change| {
            let look = if change.verdict.is_shown() { Look::Strong } else { Look::Plain };
            Cell::looks(change.verdict.words(), look)
        })
        .if_room()
        .ranked(|change| match (change.verdict.is_shown(), words::is_primary(comparison, change)) {
            (true, _) => 0,
            (false, true) => 1,
            (false, false) => 2,
        })
        .table()
        .into()
}
