//! Two builds side by side: the answer in a sentence, each figure with its interval, and the smallest change that would have been seen.

use super::words;
use assay_kit::document::{Answer, Block, Document, Figure, Section};
use assay_kit::forest::{Effect, draw};
use assay_kit::number::{bracketed, counted, significant};
use assay_kit::page::drawings;
use assay_kit::table::Look;
use assay_kit::text::clean;
use assay_kit::{Cell, Table};
use assay_model::{AbFigure, AbReport, AbSide, AbVerdict, Design, Problem};

/// What the intervals are, and what they are not.
const HOW_TO_READ: &str = "An interval is that of the ratio after : before over pairs of processes. It holds \
    at every number of pairs, so stopping as soon as it decides is valid. Under \"visible\" is the smallest \
    change that four of five such comparisons would have shown. The result holds for these two builds on \
    this machine under this load.";

/// How two builds of a server differ.
pub fn document(report: &AbReport) -> Document {
    let answer = Answer {
        sentence: words::answer(report),
        chart: Some(effects(&report.figures, "after : before (1 = the same)")),
        rest: vec![
            Block::from(figures("Every figure of both builds", ["Before", "After"], &report.figures)),
            Block::explanation(HOW_TO_READ),
            Block::explanation(words::counted(report)),
        ],
        ..Answer::default()
    };
    let lines = [("before", &report.before), ("after", &report.after)];
    Document {
        lines: lines.map(|(which, side)| format!("{which}: {}", named(side)).into()).into(),
        sections: vec![Section::new("conditions", "How it was measured", [conditions(report)])],
        ..Document::new("Two builds compared, by Assay", "Before and after", answer)
            .with_problems(Problem::listed(&report.problems))
    }
}

fn named(side: &AbSide) -> String {
    format!("{} (in {})", clean(&side.command), clean(&side.directory))
}

/// The ratio of each figure, as a forest; `axis` says of what by what.
pub(crate) fn effects(figures: &[AbFigure], axis: &str) -> Figure {
    let effect = |figure: &AbFigure| {
        let ratio = figure.ratio?;
        Some(Effect {
            name: words::metric(&figure.metric).0,
            look: usize::from(1.0 < ratio.estimate),
            ratio: ratio.estimate,
            ends: ratio.ends(),
            may_be_chance: matches!(
                figure.verdict,
                AbVerdict::Same | AbVerdict::NotShown | AbVerdict::Undecided
            ),
        })
    };
    let (id, title) = ("forest", "ratio of each figure");
    let effects: Vec<Effect> = figures.iter().filter_map(effect).collect();
    if effects.is_empty() {
        return Figure::absent(id, title, "no figure has a ratio: no pair of windows counts");
    }
    let pictures = drawings("forest", |width, id| draw(&effects, axis, width, (id, "Ratio of each figure")));
    Figure::new(id, title, pictures).caption(
        "The figure with the least variation comes first. A whisker is \
        the interval of the ratio. A pale dot shows no difference.",
    )
}

/// A row for each figure of two sides.
pub(crate) fn figures(caption: &str, [before, after]: [&str; 2], figures: &[AbFigure]) -> Table {
    let shown = |figure: &AbFigure, value: Option<assay_model::Estimate>| {
        let (_, unit, divisor) = words::metric(&figure.metric);
        let why = figure.absent.clone().unwrap_or_else(|| "no window that counts gave it".to_owned());
        value.map_or_else(
            || Cell::absent(clean(&why)),
            |value| format!("{} {unit}", significant(value.estimate / divisor)).into(),
        )
    };
    Table::of(caption, figures)
        .words("Figure", |figure| words::metric(&figure.metric).0)
        .figures(before, |figure| shown(figure, figure.before))
        .if_wide()
        .figures(after, |figure| shown(figure, figure.after))
        .if_wide()
        .figures("Ratio", |figure| figure.ratio.map(|ratio| significant(ratio.estimate)))
        .figures("95 % interval", |figure| figure.ratio.and_then(|ratio| ratio.ends()).map(bracketed))
        .figures("Again, fresh pairs", |figure| figure.again.and_then(|again| again.ends()).map(bracketed))
        .if_room()
        .figures("Visible", |figure| {
            figure.smallest_percent.map(|percent| format!("{} %", significant(percent)))
        })
        .figures("Pairs", |figure| figure.pairs.to_string())
        .if_room()
        .words("In words", |figure| {
            let is_bad = figure.verdict == AbVerdict::Worse;
            Cell::looks(words::verdict(figure.verdict), if is_bad { Look::Strong } else { Look::Plain })
        })
        .table()
}

fn conditions(report: &AbReport) -> Block {
    let design = match report.design {
        Design::Duet => {
            "duet: both servers run at the same time. Each has its load generator on its own half of the \
                processors. Halves are swapped in every window"
        }
        Design::Fresh => "one after the other, in interleaved order",
        Design::Resident => "both servers up, measured in turn",
    };
    let jvm =
        |side: &AbSide| side.jvm.as_ref().map_or_else(|| "not known".to_owned(), |jvm| clean(&jvm.version));
    let pairs = report.figures.iter().map(|figure| figure.pairs).max().unwrap_or(0);
    Block::terms([
        ("Load", clean(&report.load)),
        ("Design", design.to_owned()),
        ("Pairs of processes", counted(pairs.into(), "pair", "pairs")),
        ("Time", format!("{} of {} s", significant(report.took_s), significant(report.budget_s))),
        ("JVM before", jvm(&report.before)),
        ("JVM after", jvm(&report.after)),
        ("Seed", report.seed.to_string()),
        ("Run", clean(&report.run)),
    ])
}
