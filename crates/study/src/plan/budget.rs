//! A plan that is bound by time instead of a number of blocks.

use crate::check::layout::Layout;
use crate::error::StudyError;
use crate::plan::planned::trials;
use crate::plan::prepare::Prepared;
use crate::plan::variant_launch::VariantLaunch;
use assay_model::{Outlook, Plan, PlannedBudget, PlannedProcedure, StoredRun};
use assay_results::{Gate, outlooks};
use assay_stats::BLOCKS_FOR_INTERVAL;
use assay_text::duration::spoken;
use std::time::Duration;

/// Steps may take less time than expected: so many times the blocks that fit are planned.
const FASTER: u32 = 2;
/// As in the study file.
const BLOCKS_MAX: u32 = 1_000;

/// How long a run may take, and what it is to decide in that time besides the study's own question.
#[derive(Debug, Clone)]
pub struct Budget {
    /// The time of a start of the run; of a study and its parts, together.
    pub time: Duration,
    /// Conditions of a build. Of a study with parts they are about the study itself.
    pub conditions: Vec<Gate>,
    /// A smaller difference is of no interest, percent.
    pub difference_percent: f64,
}

impl Budget {
    /// A difference that few would act on, percent.
    pub const DIFFERENCE_PERCENT: f64 = 2.0;

    /// Of a study about its own question alone.
    pub fn of(time: Duration) -> Budget {
        Budget { time, conditions: Vec::new(), difference_percent: Budget::DIFFERENCE_PERCENT }
    }

    /// Binds a study, the first, and its parts. Each gets a share of the time by what three blocks of it take.
    ///
    /// # Errors
    /// Time for fewer than three blocks of each, with the time that would do.
    pub fn bind(&self, studies: Vec<Prepared>) -> Result<Vec<Prepared>, StudyError> {
        let all_s: f64 = studies.iter().map(Prepared::least_s).sum();
        let given_s = self.time.as_secs_f64();
        if let Some(first) = studies.first().filter(|_| given_s < all_s) {
            return Err(too_short(first, given_s, all_s));
        }
        let bind = |(number, study): (usize, Prepared)| {
            let conditions = if number == 0 { self.conditions.as_slice() } else { &[] };
            let share = study.least_s() / all_s;
            study.within(given_s * share, conditions, self.difference_percent)
        };
        Ok(studies.into_iter().enumerate().map(bind).collect())
    }

    /// Binds a study without parts.
    ///
    /// # Errors
    /// Time for fewer than three blocks, with the time that would do.
    pub fn bind_one(&self, study: Prepared) -> Result<Prepared, StudyError> {
        let mut bound = self.bind(vec![study])?;
        bound.pop().ok_or_else(|| StudyError::Internal("a study was lost".to_owned()))
    }
}

fn too_short(study: &Prepared, given_s: f64, needed_s: f64) -> StudyError {
    let minutes = (needed_s / 60.0).ceil();
    let short = if study.has_short_form && !study.plan.quick {
        ", or --quick, the short form, which takes less"
    } else {
        ""
    };
    StudyError::Use(format!(
        "a budget of {} is too short for {}: three blocks, which an interval takes, need about {}: --budget {minutes}m{short}",
        spoken(given_s.round() as u64),
        study.plan.study,
        spoken(needed_s.ceil() as u64)
    ))
}

impl Prepared {
    /// What three blocks take, seconds: with fewer there is no interval.
    pub fn least_s(&self) -> f64 {
        least_s(&self.layout, &self.auxiliary(), &self.plan.procedure)
    }

    /// What the run will probably be able to show, by the scatter of an earlier run of the same study; nothing without a budget.
    pub fn outlook(&self, earlier: &StoredRun) -> Vec<Outlook> {
        let blocks = self.plan.budget.as_ref().map_or(0, |budget| budget.blocks);
        outlooks(&self.plan, &earlier.trials.iter().map(|stored| &stored.trial), blocks)
    }

    fn auxiliary(&self) -> Vec<u32> {
        VariantLaunch::auxiliary_counts(&self.launches, &self.workload)
    }

    fn within(mut self, time_s: f64, conditions: &[Gate], difference_percent: f64) -> Prepared {
        self.ask(conditions);
        let (auxiliary, procedure) = (self.auxiliary(), &self.plan.procedure);
        let block_s = block_s(&self.layout, &auxiliary, procedure);
        let least = BLOCKS_FOR_INTERVAL as u32;
        let more = ((time_s - self.least_s()).max(0.0) / block_s).floor();
        let fit = least.saturating_add(more as u32).min(BLOCKS_MAX);
        // Where nothing is compared, no block would decide anything: the study's own number stays.
        let is_asked =
            !conditions.is_empty() || self.plan.variants.iter().any(|variant| variant.baseline.is_some());
        let blocks =
            if is_asked { fit.saturating_mul(FASTER).min(BLOCKS_MAX) } else { fit.min(self.layout.blocks) };
        self.layout = Layout { blocks, time_max_s: Some(time_s), ..self.layout };
        let expected_s = self.layout.expected_s(&auxiliary, procedure).min(time_s);
        self.plan = Plan {
            blocks,
            expected_s,
            trials: trials(&self.launches, &self.layout, self.plan.seed),
            budget: Some(PlannedBudget {
                time_s,
                block_s,
                blocks: fit.min(blocks),
                difference_percent,
                metrics: asked(&self.plan, conditions),
                conditions: conditions.iter().map(Gate::to_string).collect(),
                outlook: Vec::new(),
            }),
            ..self.plan
        };
        self
    }
}

/// What three blocks take, seconds.
pub(crate) fn least_s(layout: &Layout, auxiliary: &[u32], procedure: &PlannedProcedure) -> f64 {
    let three = Layout { blocks: BLOCKS_FOR_INTERVAL as u32, time_max_s: None, ..*layout };
    three.expected_s(auxiliary, procedure)
}

/// What another block takes, seconds.
fn block_s(layout: &Layout, auxiliary: &[u32], procedure: &PlannedProcedure) -> f64 {
    let of = |blocks| Layout { blocks, time_max_s: None, ..*layout }.expected_s(auxiliary, procedure);
    (of(2) - of(1)).max(f64::MIN_POSITIVE)
}

/// Metrics that are asked for, each once: the one that decides, those of conditions, and those of claims about a change.
fn asked(plan: &Plan, conditions: &[Gate]) -> Vec<String> {
    let of_claims =
        plan.claims.iter().filter(|claim| claim.value.is_none()).map(|claim| claim.about.metric.clone());
    let of_conditions = conditions.iter().map(|gate| gate.metric().id.to_string());
    let mut metrics: Vec<String> =
        std::iter::once(plan.primary_metric.clone()).chain(of_conditions).chain(of_claims).collect();
    let mut known = std::collections::BTreeSet::new();
    metrics.retain(|metric| known.insert(metric.clone()));
    metrics
}

#[cfg(test)]
mod tests;
