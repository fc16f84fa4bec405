//! What a run with a budget decided, with both sets of blocks where it looked whether a difference recurs.

use super::estimate::{interval, metric_title, shown_unit, times};
use super::grid::Grid;
use assay_kit::number::count;
use assay_kit::text::clean;
use assay_kit::{Cell, Table};
use assay_model::{BlockSet, Decision, Metric, Outcome};

/// How the intervals of such a run are to be read; absent of a run of so many blocks.
pub fn how_to_read(grid: &Grid) -> Option<String> {
    let budget = grid.run.plan.budget.as_ref()?;
    let titles: Vec<String> = budget.metrics.iter().map(|id| metric_title(id)).collect();
    Some(format!(
        "The run ended when everything asked was decided, or its time was over. Intervals of {} hold at every \
            number of blocks at once, so looking after each block does not invalidate them.",
        titles.join(", ")
    ))
}

/// A row for each question and variant; absent of a run without a budget.
pub fn table(grid: &Grid) -> Option<Table> {
    let decisions = &grid.run.summary.as_ref()?.decisions;
    let set = |decision: &Decision, set: Option<&BlockSet>, why: &'static str| {
        let Some(set) = set else { return Cell::absent(why) };
        let blocks = count(set.blocks.into());
        let measured =
            set.measured.map(|measured| match (&decision.baseline, Metric::by_id(&decision.metric)) {
                (None, Some(metric)) => {
                    let (unit, divisor) = shown_unit(&metric);
                    format!("{} {unit}", interval(&measured, divisor))
                }
                _ => times(&measured),
            });
        measured.map_or_else(
            || Cell::absent("fewer than 3 blocks"),
            |text| format!("{text}, {blocks} blocks").into(),
        )
    };
    Table::of("Decisions", decisions)
        .words("Question", |one| question(one))
        .words("Variant", |one| clean(&one.variant))
        .words("Answer", |one| outcome(one).to_owned())
        .words("First blocks", |one| set(one, Some(&one.first), ""))
        .words("Fresh blocks alone", |one| {
            set(one, one.second.as_ref(), "the first blocks show nothing that has to recur")
        })
        .table()
        .unless_empty()
}

fn question(decision: &Decision) -> String {
    let differs = || format!("{} differs", metric_title(&decision.metric));
    decision.condition.as_deref().map_or_else(differs, clean)
}

fn outcome(decision: &Decision) -> &'static str {
    match (decision.outcome, &decision.condition) {
        (Outcome::Shown, Some(_)) => "holds, and recurs",
        (Outcome::Shown, None) => "shown",
        (Outcome::NotSo, Some(_)) => "does not hold",
        (Outcome::NotSo, None) => "no difference of interest",
        (Outcome::OneServerEach, _) => "undecided: one server of each variant",
        (Outcome::Undecided, _) => "undecided",
    }
}
