//! Conditions under which a run makes a build fail: `cpu_ms_per_request > +3 %`.

use assay_model::{
    Better, Comparison, Decision, Estimate, GateCase, GateVerdict, Metric, Outcome, Plan, PlannedBudget,
    StoredRun, Summary,
};
use assay_stats::BLOCKS_FOR_INTERVAL;
use assay_text::condition::{self, NoCondition, Parts, Relation};
use assay_text::duration::about;
use assay_text::near::hint;
use std::fmt;
use thiserror::Error;

/// A condition on a metric of each variant, or on its change against the variant's baseline.
#[derive(Debug, Clone)]
pub struct Gate {
    text: String,
    metric: Metric,
    relation: Relation,
    limit: f64,
    is_of_change: bool,
}

/// Why a condition could not be read.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum GateError {
    /// It is not a condition.
    #[error("{0}: write for example `cpu_ms_per_request > +3 %`")]
    Form(#[from] NoCondition),
    /// There is no such metric.
    #[error("there is no metric `{name}`{hint}")]
    NoSuchMetric {
        /// The name in the condition.
        name: String,
        /// The metric whose name is nearest.
        hint: String,
    },
    /// A measured value never equals a number.
    #[error("`{0}`: a measured value has an interval: compare it by > or <")]
    Equality(String),
}

impl fmt::Display for Gate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl Gate {
    /// Reads a condition: a metric, `>` or `<`, and a number; with a sign and `%`, the change against the variant's baseline.
    ///
    /// # Errors
    /// No relation, no such metric (the nearest one is named), no number.
    pub fn parse(text: &str) -> Result<Gate, GateError> {
        let Parts { name, relation, limit, is_of_change } = condition::parts(text)?;
        if matches!(relation, Relation::Equal | Relation::Unequal) {
            return Err(GateError::Equality(text.trim().to_owned()));
        }
        let metric = Metric::by_id(name).ok_or_else(|| GateError::NoSuchMetric {
            name: name.to_owned(),
            hint: hint(name, Metric::of_servers().map(|metric| &*metric.id)),
        })?;
        Ok(Gate { text: text.trim().to_owned(), metric, relation, limit, is_of_change })
    }

    /// That a metric of a variant is worse than its baseline's by more than so many percent.
    pub fn of_worse(metric: Metric, percent: f64) -> Gate {
        let (sign, relation, limit) = match metric.better {
            Better::Lower => ("> +", Relation::Above, percent),
            Better::Higher => ("< -", Relation::Below, -percent),
        };
        Gate { text: format!("{} {sign}{percent}%", metric.id), metric, relation, limit, is_of_change: true }
    }

    /// Whether it needs a variant with a baseline.
    pub fn is_of_change(&self) -> bool {
        self.is_of_change
    }

    /// Its metric.
    pub fn metric(&self) -> &Metric {
        &self.metric
    }

    /// The limit; of a change as a ratio to the baseline.
    pub fn limit(&self) -> f64 {
        if self.is_of_change { 1.0 + self.limit / 100.0 } else { self.limit }
    }

    /// What a measured ratio to the baseline, or a value, says.
    pub fn says(&self, measured: &Estimate) -> GateVerdict {
        self.verdict(Some(self.in_unit(*measured)))
    }

    fn in_unit(&self, measured: Estimate) -> Estimate {
        if self.is_of_change { in_percent(measured) } else { measured }
    }

    /// Judges a run, for each variant that the condition is about; a single undecided case where that is none. A run with a budget that was
    /// asked for the condition has decided it, or has not: then nothing is left open.
    pub fn judge(&self, run: &StoredRun) -> Vec<GateCase> {
        let decided = self.decided(run);
        if !decided.is_empty() {
            return decided;
        }
        let cases = run.summary.as_ref().map_or_else(Vec::new, |summary| {
            if self.is_of_change { self.changes(&run.plan, summary) } else { self.values(summary) }
        });
        if cases.is_empty() { vec![self.case(None, None, None)] } else { cases }
    }

    fn decided(&self, run: &StoredRun) -> Vec<GateCase> {
        let (Some(budget), Some(summary)) = (&run.plan.budget, &run.summary) else { return Vec::new() };
        let own = summary.decisions.iter().filter(|one| one.condition.as_ref() == Some(&self.text));
        own.map(|one| self.case_of(one, budget)).collect()
    }

    fn case_of(&self, decision: &Decision, budget: &PlannedBudget) -> GateCase {
        let measured = decision.first.measured.map(|of| self.in_unit(of));
        let (verdict, remedy) = match decision.outcome {
            Outcome::Shown => (GateVerdict::Holds, String::new()),
            Outcome::NotSo => (GateVerdict::Passes, String::new()),
            Outcome::OneServerEach => (GateVerdict::Undecided, ONE_SERVER_EACH.to_owned()),
            Outcome::Undecided => (GateVerdict::Undecided, still_needed(decision, budget)),
        };
        let again = decision.second.and_then(|set| set.measured).map(|of| self.in_unit(of));
        let case = self.case(Some(&decision.variant), decision.baseline.as_deref(), measured);
        GateCase { again, verdict, remedy: remedy.into(), ..case }
    }

    /// Where another start of the same variants could change the verdict, the condition is not shown.
    fn changes(&self, plan: &Plan, summary: &Summary) -> Vec<GateCase> {
        let of_metric = summary.comparisons.iter().filter(|one| one.metric == self.metric.id);
        let case = |one: &Comparison| {
            let measured = Some(in_percent(one.ratio));
            let case = self.case(Some(&one.variant), Some(&one.baseline), measured);
            match self.verdict(Some(in_percent(plan.over_starts(&self.metric, &one.ratio)))) {
                of_starts if of_starts == case.verdict => case,
                of_starts => GateCase { verdict: of_starts, remedy: ONE_SERVER_EACH.into(), ..case },
            }
        };
        of_metric.map(case).collect()
    }

    fn values(&self, summary: &Summary) -> Vec<GateCase> {
        let value = |variant: &assay_model::VariantSummary| {
            let value = variant.metrics.get(&*self.metric.id)?;
            Some(self.case(Some(&variant.name), None, Some(*value)))
        };
        summary.variants.iter().filter_map(value).collect()
    }

    fn case(&self, variant: Option<&str>, baseline: Option<&str>, measured: Option<Estimate>) -> GateCase {
        GateCase {
            condition: self.text.clone(),
            variant: variant.map(str::to_owned),
            baseline: baseline.map(str::to_owned),
            measured,
            again: None,
            unit: if self.is_of_change { "%" } else { self.metric.unit },
            verdict: self.verdict(measured),
            remedy: match measured.map(|measured| measured.ends()) {
                Some(Some(_)) => "the interval contains the threshold: more blocks would narrow it",
                Some(None) => "an interval takes more blocks",
                None => "the study measures what its `observe` names, a change only with two variants",
            }
            .into(),
        }
    }

    fn verdict(&self, measured: Option<Estimate>) -> GateVerdict {
        GateVerdict::of(measured, |value| self.relation.holds(value, self.limit))
    }
}

const ONE_SERVER_EACH: &str =
    "each variant was one server, and another may differ: design = \"fresh\" starts one for each block";

/// How much longer a run would take until it decides.
fn still_needed(decision: &Decision, budget: &PlannedBudget) -> String {
    let again = if decision.second.is_some() {
        "fresh blocks do not show it again yet"
    } else {
        "the budget did not decide it"
    };
    match decision.blocks_missing {
        Some(blocks) => {
            let time = about(f64::from(blocks) * budget.block_s);
            format!("{again}: about {blocks} more blocks would, in about {time}")
        }
        None if decision.first.blocks < BLOCKS_FOR_INTERVAL as u32 => {
            "an interval takes more blocks".to_owned()
        }
        None => format!("{again}, and the values so far do not say how many blocks would"),
    }
}

fn in_percent(ratio: Estimate) -> Estimate {
    let percent = |ratio: f64| 100.0 * (ratio - 1.0);
    let Estimate { estimate, low, high } = ratio;
    Estimate { estimate: percent(estimate), low: low.map(percent), high: high.map(percent) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use assay_model::{Design, Verdict};

    fn kept_run() -> StoredRun {
        let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/formats/run");
        crate::run_dir::load_run(&folder).expect("a run")
    }

    fn verdict(text: &str, low: f64, high: f64) -> GateVerdict {
        let measured = Estimate { estimate: (low + high) / 2.0, low: Some(low), high: Some(high) };
        Gate::parse(text).expect(text).verdict(Some(measured))
    }

    #[test]
    fn a_condition_holds_only_beyond_noise() {
        let rise = "cpu_ms_per_request > +3 %";
        assert_eq!(verdict(rise, 3.1, 6.0), GateVerdict::Holds);
        assert_eq!(verdict(rise, -1.5, 2.5), GateVerdict::Passes);
        assert_eq!(verdict(rise, -4.0, 5.0), GateVerdict::NotShown);
        let fall = "throughput_per_s < -3%";
        assert_eq!(verdict(fall, -9.0, -3.5), GateVerdict::Holds);
        assert_eq!(verdict(fall, -2.0, 1.0), GateVerdict::Passes);
        assert_eq!(verdict(fall, -5.0, 1.0), GateVerdict::NotShown);
        assert_eq!(verdict("cpu_ms_per_request > +0 %", -1.0, 5.0), GateVerdict::NotShown);
        assert_eq!(verdict("response_p99_ms > 25", 24.0, 26.0), GateVerdict::NotShown);
        assert_eq!(verdict("response_p99_ms > 25", 25.5, 26.0), GateVerdict::Holds);
        assert_eq!(verdict("ns_per_op/Follow.chain > +5 %", 6.0, 7.0), GateVerdict::Holds);
    }

    #[test]
    fn what_another_start_may_change_decides_no_condition() {
        let kept = kept_run();
        let judged = |design, metric: &str, (low, high): (f64, f64)| {
            let comparison = Comparison {
                metric: metric.to_owned(),
                variant: "new".to_owned(),
                baseline: "old".to_owned(),
                blocks: 4,
                ratio: Estimate { estimate: 1.09, low: Some(low), high: Some(high) },
                shown: true,
                verdict: Verdict::Higher,
            };
            let summary = kept.summary.clone().expect("it was finished");
            let run = StoredRun {
                plan: Plan { design, ..kept.plan.clone() },
                summary: Some(Summary { comparisons: vec![comparison], ..summary }),
                ..kept.clone()
            };
            let gate = Gate::parse(&format!("{metric} > +6 %")).expect("a condition");
            let case = gate.judge(&run).remove(0);
            (case.verdict, case.remedy.contains("fresh"))
        };
        let (cpu, garbage) = ("cpu_ms_per_request", "garbage_kib_per_request");
        let (rise, none) = ((1.08, 1.1), (1.0, 1.02));
        assert_eq!(judged(Design::Fresh, cpu, rise), (GateVerdict::Holds, false));
        assert_eq!(judged(Design::Fresh, cpu, none), (GateVerdict::Passes, false));
        assert_eq!(judged(Design::Resident, cpu, rise), (GateVerdict::NotShown, true));
        assert_eq!(judged(Design::Resident, cpu, none), (GateVerdict::NotShown, true));
        // Garbage of another start differs by 5 % at most.
        assert_eq!(judged(Design::Resident, garbage, rise), (GateVerdict::NotShown, true));
        assert_eq!(judged(Design::Resident, garbage, (1.12, 1.14)), (GateVerdict::Holds, false));
        assert_eq!(judged(Design::Resident, garbage, (0.9, 1.0)), (GateVerdict::Passes, false));
    }

    #[test]
    fn without_an_interval_or_a_value_nothing_is_decided() {
        let gate = Gate::parse("cpu_ms_per_request > 3").expect("a condition");
        assert_eq!(gate.verdict(None), GateVerdict::Undecided);
        let alone = Estimate { estimate: 50.0, low: None, high: None };
        assert_eq!(gate.verdict(Some(alone)), GateVerdict::Undecided);
        let cases = gate.judge(&StoredRun { summary: None, ..kept_run() });
        assert!(cases.len() == 1 && cases[0].verdict == GateVerdict::Undecided, "{cases:?}");
    }

    #[test]
    fn what_cannot_be_read_is_named_with_what_would_be_right() {
        let error = |text: &str| Gate::parse(text).expect_err(text).to_string();
        assert!(error("cpu_per_request > +3 %").contains("did you mean `cpu_ms_per_request`?"));
        assert!(error("cpu_ms_per_request > 3 %").contains("is not a number"));
        assert!(error("cpu_ms_per_request").contains("write for example"));
        assert!(error("cpu_ms_per_request == 3").contains("has an interval"));
    }
}
