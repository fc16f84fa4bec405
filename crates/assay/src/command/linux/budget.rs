//! A study that is bound by time: its plan, and what it will probably be able to show.

use crate::arguments::BudgetArguments;
use crate::failure::Failure;
use crate::progress::outlook_line;
use assay_model::{Outlook, Plan, PlannedBudget};
use assay_results::{Gate, earlier_run, load_run};
use assay_study::{Budget, Prepared};
use assay_text::duration::about;
use std::path::{Path, PathBuf};

/// Where runs lie whose folder nobody named.
const RUNS: &str = "runs";

/// A label and its text.
pub type Line = (&'static str, String);

/// Binds a study and its parts, where a budget is given.
pub fn bind(
    studies: Vec<Prepared>,
    arguments: &BudgetArguments,
    conditions: &[Gate],
) -> Result<Vec<Prepared>, Failure> {
    let Some(time) = arguments.budget else { return Ok(studies) };
    let difference_percent = arguments.difference.unwrap_or(Budget::DIFFERENCE_PERCENT);
    let budget = Budget { time, conditions: conditions.to_vec(), difference_percent };
    Ok(budget.bind(studies)?)
}

/// What a budget means for a study, before it begins; nothing without one. `earlier` is a run of it that was named.
pub fn lines(study: &Prepared, earlier: Option<&Path>) -> Result<Vec<Line>, Failure> {
    let plan = study.plan();
    let Some(budget) = &plan.budget else { return Ok(Vec::new()) };
    let (outlook, found) = outlook(study, earlier)?;
    let mut lines = vec![("budget", bounds(budget)), ("decides", asked(plan, budget))];
    lines.extend(shows(&outlook, found.as_ref()).into_iter().map(|line| ("can show", line)));
    Ok(lines)
}

/// The plan for `--plan --json`: with what its budget will probably be able to show.
pub fn plan(study: &Prepared, earlier: Option<&Path>) -> Result<Plan, Failure> {
    let mut plan = study.plan().clone();
    if let Some(budget) = &mut plan.budget {
        budget.outlook = outlook(study, earlier)?.0;
    }
    Ok(plan)
}

/// What the budget can show, and the run that says so: the one that was named, or else one that is laid out alike.
fn outlook(study: &Prepared, earlier: Option<&Path>) -> Result<(Vec<Outlook>, Option<PathBuf>), Failure> {
    let found = earlier.map(Path::to_owned).or_else(|| earlier_run(Path::new(RUNS), study.plan()));
    let outlook = match &found {
        Some(dir) => study.outlook(&load_run(dir)?),
        None => Vec::new(),
    };
    Ok((outlook, found))
}

fn bounds(budget: &PlannedBudget) -> String {
    let PlannedBudget { time_s, block_s, blocks, .. } = *budget;
    format!(
        "{}, or less where everything is decided before: about {blocks} blocks of {}",
        about(time_s),
        about(block_s)
    )
}

fn asked(plan: &Plan, budget: &PlannedBudget) -> String {
    let claims = if plan.claims.is_empty() { "" } else { ", and the claims" };
    let conditions = if budget.conditions.is_empty() { "" } else { ", or its condition holds" };
    format!(
        "{}: whether it differs, by {} % or more{conditions}{claims}",
        budget.metrics.join(", "),
        budget.difference_percent
    )
}

fn shows(outlook: &[Outlook], earlier: Option<&PathBuf>) -> Vec<String> {
    let Some(earlier) = earlier else {
        return vec![format!(
            "not known before the third block: {RUNS} has no run of this study with the same layout"
        )];
    };
    let by = earlier.display();
    if outlook.is_empty() {
        return vec![format!("not known before the third block: {by} has too few blocks")];
    }
    outlook.iter().map(|one| format!("{} (by {by})", outlook_line(one))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn outlook() -> Outlook {
        Outlook {
            metric: "cpu_ms_per_request".into(),
            variant: "new".into(),
            baseline: "old".into(),
            blocks: 22,
            difference_ratio: 1.0312,
        }
    }

    #[test]
    fn what_the_time_can_show_is_a_percentage_and_where_it_is_known_from() {
        let run = PathBuf::from("runs/shop-1");
        assert_eq!(
            shows(&[outlook()], Some(&run)),
            [
                "cpu_ms_per_request of new against old: differences of 3.1 % and more in 4 of 5 runs, with 22 blocks (by runs/shop-1)"
            ]
        );
        assert!(shows(&[], Some(&run))[0].contains("too few blocks"));
        assert!(shows(&[], None)[0].contains("not known before the third block"));
    }

    #[test]
    fn the_bounds_are_the_time_and_the_blocks_that_fit() {
        let budget = PlannedBudget {
            time_s: 3_600.0,
            block_s: 160.0,
            blocks: 22,
            difference_percent: 2.0,
            metrics: vec!["cpu_ms_per_request".into()],
            conditions: Vec::new(),
            outlook: Vec::new(),
        };
        assert_eq!(
            bounds(&budget),
            "60 min, or less where everything is decided before: about 22 blocks of 3 min"
        );
    }
}
