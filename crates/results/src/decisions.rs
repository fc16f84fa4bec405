//! How far the answer to each question of a run with a budget is, and whether the run has decided everything. Pure.

use crate::gate::Gate;
use crate::measured::{Measured, log_ratios, values};
use assay_model::{
    BlockSet, ClaimVerdict, Decision, Design, Estimate, GateVerdict, Metric, Outcome, Plan, Summary, Variant,
};
use assay_stats::BLOCKS_FOR_INTERVAL;
use assay_stats::sequential::{Looks, deviation, pairs_needed};

/// What is asked of one metric.
struct Question<'a> {
    metric: &'a Metric,
    /// Absent where the study asks whether the metric differs.
    condition: Option<&'a Gate>,
}

/// What an interval says to a question; none where it does not decide.
type Says = Option<bool>;

/// All questions, for each variant that they are about; none of a run without a budget.
pub(super) fn decisions(
    plan: &Plan,
    metrics: &[Metric],
    measured: &Measured<'_>,
    looks: &Looks,
) -> Vec<Decision> {
    let Some(budget) = &plan.budget else { return Vec::new() };
    let conditions: Vec<Gate> = budget.conditions.iter().filter_map(|text| Gate::parse(text).ok()).collect();
    let is_asked =
        |metric: &Metric| conditions.iter().any(|gate| gate.is_of_change() && gate.metric().id == metric.id);
    let is_primary = |metric: &&Metric| {
        let kind = metric.id.split_once('/').map_or(&*metric.id, |(kind, _)| kind);
        [&*metric.id, kind].contains(&plan.primary_metric.as_str()) && !plan.is_set_by_load(&metric.id)
    };
    // A condition on the change of the metric that decides says more exactly what is asked of it.
    let primary = metrics.iter().filter(is_primary).filter(|metric| !is_asked(metric));
    let of_study = primary.map(|metric| Question { metric, condition: None });
    let of_build = conditions.iter().map(|gate| Question { metric: gate.metric(), condition: Some(gate) });
    let held = Held { plan, measured, looks, difference_ratio: 1.0 + budget.difference_percent / 100.0 };
    of_study.chain(of_build).flat_map(|question| held.each_variant(&question)).collect()
}

/// Whether nothing that was asked is left to decide. What is about variants that cannot be measured is not waited for.
pub fn is_decided(plan: &Plan, summary: &Summary, is_lost: impl Fn(&str) -> bool) -> bool {
    let asked = summary
        .decisions
        .iter()
        .filter(|one| !is_lost(&one.variant) && !one.baseline.as_deref().is_some_and(&is_lost));
    let sources: Vec<&str> = plan.claims.iter().map(|claim| claim.about.source.as_str()).collect();
    let mut claims = summary.claims.judged.iter().filter(|judged| {
        judged.is_ratio && judged.measured.is_some() && sources.contains(&judged.about.source.as_str())
    });
    let mut asked = asked.peekable();
    asked.peek().is_some()
        && asked.all(|one| one.outcome != Outcome::Undecided)
        && claims.all(|judged| match judged.verdict {
            ClaimVerdict::Undecided | ClaimVerdict::NotMeasured => false,
            // More blocks tell the size, but not what another start would give.
            ClaimVerdict::SameDirection => judged.direction.is_some() || plan.design == Design::Resident,
            _ => true,
        })
}

/// The values and looks by which questions are decided.
struct Held<'a> {
    plan: &'a Plan,
    measured: &'a Measured<'a>,
    looks: &'a Looks,
    /// A smaller ratio is of no interest.
    difference_ratio: f64,
}

impl Held<'_> {
    fn each_variant(&self, question: &Question<'_>) -> Vec<Decision> {
        let is_of_change = question.condition.is_none_or(Gate::is_of_change);
        let variants =
            self.plan.variants.iter().filter(|variant| !is_of_change || variant.baseline.is_some());
        variants.map(|variant| self.decision(question, variant)).collect()
    }

    fn decision(&self, question: &Question<'_>, variant: &Variant) -> Decision {
        let baseline =
            variant.baseline.as_deref().filter(|_| question.condition.is_none_or(Gate::is_of_change));
        let series = Series {
            values: match baseline {
                Some(baseline) => log_ratios(self.measured, &question.metric.id, &variant.name, baseline),
                None => values(self.measured, &question.metric.id, &variant.name),
            },
            is_of_logs: baseline.is_some(),
        };
        let judge =
            |measured: &Estimate| self.says(question, &self.plan.over_starts(question.metric, measured));
        let (first, found) = series.decided_from(0, self.looks, judge);
        let recurs = question.condition.is_some() && found == Some(true);
        let again = recurs.then(|| series.decided_from(first.blocks as usize, self.looks, judge));
        let outcome = match (found, &again) {
            (Some(true), None | Some((_, Some(true)))) => Outcome::Shown,
            (Some(false), _) | (_, Some((_, Some(false)))) => Outcome::NotSo,
            (Some(true), Some((_, None))) => Outcome::Undecided,
            (None, _) if self.is_of_one_server(question, &first) => Outcome::OneServerEach,
            (None, _) => Outcome::Undecided,
        };
        let scatter = series.scatter();
        let smallest = scatter
            .filter(|_| series.is_of_logs)
            .map(|(_, deviation)| self.looks.smallest_difference(deviation, series.values.len()));
        Decision {
            metric: question.metric.id.to_string(),
            variant: variant.name.clone(),
            baseline: baseline.map(str::to_owned),
            condition: question.condition.map(Gate::to_string),
            second: again.map(|(set, _)| set),
            outcome,
            smallest_difference_ratio: smallest.filter(|ratio| ratio.is_finite()),
            blocks_missing: scatter.filter(|_| outcome == Outcome::Undecided).and_then(|scatter| {
                self.missing(question, scatter, &first, again.as_ref().map(|(set, _)| set))
            }),
            first,
        }
    }

    /// What an interval of a ratio, or of a value, says.
    fn says(&self, question: &Question<'_>, measured: &Estimate) -> Says {
        let Some(gate) = question.condition else {
            let (low, high) = measured.ends()?;
            let is_of_no_interest = 1.0 / self.difference_ratio < low && high < self.difference_ratio;
            return if 1.0 < low || high < 1.0 { Some(true) } else { is_of_no_interest.then_some(false) };
        };
        match gate.says(measured) {
            GateVerdict::Holds => Some(true),
            GateVerdict::Passes => Some(false),
            GateVerdict::NotShown | GateVerdict::Undecided => None,
        }
    }

    /// Whether the interval would decide if another start of the same variants could not differ by any amount.
    fn is_of_one_server(&self, question: &Question<'_>, set: &BlockSet) -> bool {
        let over_starts = set.measured.map(|measured| self.plan.over_starts(question.metric, &measured));
        let is_unbounded = over_starts.is_some_and(|over| over.high == Some(f64::INFINITY));
        is_unbounded && set.measured.is_some_and(|measured| self.says(question, &measured).is_some())
    }

    /// How many more blocks would probably decide, by the mean and the scatter so far.
    fn missing(
        &self,
        question: &Question<'_>,
        (middle, deviation): (f64, f64),
        first: &BlockSet,
        second: Option<&BlockSet>,
    ) -> Option<u32> {
        let limit = question.condition.map_or(1.0, Gate::limit);
        let needed = pairs_needed(deviation, middle.exp() / limit);
        let needed = match question.condition {
            Some(_) => needed?,
            None => needed.into_iter().chain(pairs_needed(deviation, self.difference_ratio)).min()?,
        };
        let exactly = Estimate::exact(middle.exp());
        let is_to_recur = second.is_none()
            && question.condition.is_some_and(|gate| gate.says(&exactly) == GateVerdict::Holds);
        let have = second.unwrap_or(first).blocks as usize;
        let missing = needed.saturating_sub(have).max(1) + if is_to_recur { needed } else { 0 };
        u32::try_from(missing).ok()
    }
}

/// What was measured, in the order of the blocks.
struct Series {
    /// Logarithms of ratios, or values.
    values: Vec<f64>,
    is_of_logs: bool,
}

impl Series {
    /// The blocks from an index on up to the first interval that decides, and what it says; all of them where none does.
    fn decided_from(
        &self,
        start: usize,
        looks: &Looks,
        says: impl Fn(&Estimate) -> Says,
    ) -> (BlockSet, Says) {
        let rest = self.values.get(start..).unwrap_or_default();
        let measured = |blocks: usize| match self.is_of_logs {
            true => looks.interval(&rest[..blocks]),
            false => looks.mean(&rest[..blocks]),
        };
        let set = |blocks: usize| BlockSet { blocks: blocks as u32, measured: measured(blocks) };
        let decided =
            |blocks: usize| Some((set(blocks), Some(measured(blocks).and_then(|found| says(&found))?)));
        (BLOCKS_FOR_INTERVAL..=rest.len()).find_map(decided).unwrap_or_else(|| (set(rest.len()), None))
    }

    /// Mean and standard deviation of logarithms; none of fewer than 3 blocks, or of values that have no logarithm.
    fn scatter(&self) -> Option<(f64, f64)> {
        let logs: Vec<f64> = match self.is_of_logs {
            true => self.values.clone(),
            false => self.values.iter().map(|value| value.ln()).collect(),
        };
        let deviation = deviation(&logs)
            .filter(|deviation| deviation.is_finite() && BLOCKS_FOR_INTERVAL <= logs.len())?;
        Some((assay_stats::mean(&logs)?, deviation))
    }
}

#[cfg(test)]
mod tests;
