//! A run in progress: its trials, its stored files, its events.

use super::budget::{self, SoFar};
use super::no_times;
use super::side_group;
use super::treatments::RunTreatments;
use crate::error::StudyError;
use crate::file::fault::group_of;
use crate::plan::prepare::{Prepared, VERSION};
use crate::plan::variant_launch::VariantLaunch;
use assay_host::{HostGauge, host_facts};
use assay_launch::{Local, Treatments};
use assay_linux::{ProcRoot, SysRoot};
use assay_load::{GeneratorConfig, LoadError, LoadSource};
use assay_model::{
    Design, Finding, JvmFacts, Metric, Plan, PlannedTrial, Problem, RunEvent, RunEventKind, Summary, Trial,
    TrialOutcome, Window, file, schema,
};
use assay_results::curves;
use assay_results::redacted::stored_plan;
use assay_results::run_dir::{RunDir, load_trials, read_json};
use assay_results::summary::summarise;
use assay_stats::BLOCKS_FOR_INTERVAL;
use hdrhistogram::Histogram;
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// The pace of a run, relative to the plan, is believed within these factors.
const PACE: (f64, f64) = (0.5, 10.0);
/// Planned seconds that must be done for the pace so far to count half: starts say little about windows, whose length is set.
const PACE_HALF_S: f64 = 60.0;

/// Number of windows after which repeats are given up if none of them counted: the machine will not be quiet.
const HOPELESS_WINDOWS: u32 = 6;

/// Makes the load source of a measurement, with load from so many threads.
pub type Source<'a> =
    dyn Fn(GeneratorConfig, u32) -> Result<Box<dyn LoadSource + Send>, LoadError> + Sync + 'a;

/// A run that came to its end.
#[derive(Debug, Clone, PartialEq)]
pub struct RunResult {
    /// The run directory, absolute.
    pub dir: PathBuf,
    /// Its result.
    pub summary: Summary,
}

/// Why a step of a run did not work.
#[derive(Debug)]
pub(super) enum Failure {
    /// This launch cannot be used; another one may.
    Trial(String),
    /// The variant cannot work at all here.
    Variant(String),
    /// The user stopped the run.
    Interrupted,
    /// The run cannot go on.
    Run(StudyError),
}

impl<E: Into<StudyError>> From<E> for Failure {
    fn from(error: E) -> Self {
        Failure::Run(error.into())
    }
}

/// How a launch ended, and whether its variant cannot work at all. An error that ends the run stays a failure.
pub(super) fn outcome_of(worked: Result<(), Failure>) -> Result<(TrialOutcome, bool), Failure> {
    match worked {
        Ok(()) => Ok((TrialOutcome::Completed, false)),
        Err(Failure::Trial(reason)) => Ok((TrialOutcome::Failed { reason }, false)),
        Err(Failure::Variant(reason)) => Ok((TrialOutcome::Failed { reason }, true)),
        Err(Failure::Interrupted) => Ok((TrialOutcome::Interrupted, false)),
        Err(failure) => Err(failure),
    }
}

/// A run in progress.
pub(super) struct Run<'a> {
    pub prepared: &'a Prepared,
    pub dir: RunDir,
    pub engine: Rc<Local>,
    pub source: &'a Source<'a>,
    /// Changes to the machine; absent where no variant asks for any.
    pub treatments: Option<RunTreatments>,
    /// Whether each side of a duet gets a control group of its own.
    pub groups_sides: bool,
    stop: &'a AtomicBool,
    on_event: &'a mut dyn FnMut(&RunEvent),
    begun: Instant,
    block_begun: Option<Instant>,
    /// The block that began last.
    block: u32,
    /// Trials that are whole, in order.
    trials: Vec<Trial>,
    /// Response times of trials that count, by number.
    histograms: BTreeMap<u32, Histogram<u64>>,
    /// Variants that cannot be measured, with the reason.
    pub given_up: BTreeMap<String, String>,
    last_number: u32,
    /// Windows that were measured since the start, and those of them that answer what is asked.
    windows: (u32, u32),
    /// The metrics that are asked about.
    asked: Vec<Metric>,
    /// Planned seconds of the steps that are done, and of those that are done when the current trial ends.
    done_s: f64,
    done_s_max: f64,
    /// When the last of these steps was done, seconds since the start.
    done_at_s: f64,
}

impl<'a> Run<'a> {
    pub fn begin(
        prepared: &'a Prepared,
        (dir, allow_host_changes): (RunDir, bool),
        source: &'a Source<'a>,
        stop: &'a AtomicBool,
        on_event: &'a mut dyn FnMut(&RunEvent),
    ) -> Result<Run<'a>, StudyError> {
        let engine = Rc::new(Local::begin()?);
        let by_levels = prepared.launches.iter().any(|launch| !launch.changes.is_empty());
        let groups_sides = allow_host_changes && side_group::is_possible(&prepared.plan);
        let changes = by_levels
            || groups_sides
            || prepared.plan.faults.iter().any(|fault| group_of(&fault.action).is_some());
        let treatments = changes.then(|| Treatments::begin_alone(engine.folder())).transpose();
        let treatments = treatments.map_err(StudyError::of_changes)?;
        let last_number = dir.last_number();
        Ok(Run {
            prepared,
            dir,
            engine,
            source,
            treatments: treatments.map(|treatments| Rc::new(RefCell::new(treatments))),
            groups_sides,
            stop,
            on_event,
            begun: Instant::now(),
            block_begun: None,
            block: 0,
            trials: Vec::new(),
            histograms: BTreeMap::new(),
            given_up: BTreeMap::new(),
            last_number,
            windows: (0, 0),
            asked: prepared.asked.clone(),
            done_s: 0.0,
            done_s_max: f64::INFINITY,
            done_at_s: 0.0,
        })
    }

    /// Writes the files that precede the first trial, so that a folder that cannot be written ends the run now.
    pub fn write_head(&mut self) -> Result<(), StudyError> {
        let mut jvms: Vec<JvmFacts> =
            self.prepared.plan.variants.iter().filter_map(|v| v.jvm.clone()).collect();
        jvms.sort_by(|a, b| a.home.cmp(&b.home));
        jvms.dedup();
        let mut problems = self.prepared.problems.clone();
        problems.extend_from_slice(HostGauge::new().problems());
        problems
            .extend(self.engine.cleaned().iter().map(|what| Problem::new("runtime folder", what.clone())));
        let host = host_facts(&ProcRoot::default(), &SysRoot::default(), VERSION, jvms, problems);
        self.dir.write_text(file::STUDY, &self.prepared.study_text)?;
        self.dir.write_json(file::HOST, &host)?;
        // Last: a folder with a plan is a run directory.
        Ok(self.dir.write_json(file::PLAN, &stored_plan(&self.prepared.plan))?)
    }

    /// Goes on with an earlier run, if its plan is this one.
    pub fn take_up(&mut self) -> Result<(), StudyError> {
        let stored: Plan = read_json(&self.dir.path().join(file::PLAN), schema::PLAN)?;
        let own = stored_plan(&self.prepared.plan);
        let comparable = |plan: &Plan| {
            let mut plan = plan.clone();
            plan.provenance = self.prepared.plan.provenance.clone();
            // More time adds blocks, and changes none.
            if let (Some(budget), Some(own_budget)) = (&mut plan.budget, &own.budget) {
                (budget.time_s, budget.blocks) = (own_budget.time_s, own_budget.blocks);
                (plan.blocks, plan.expected_s) = (own.blocks, own.expected_s);
                plan.trials.clone_from(&own.trials);
            }
            serde_json::to_value(plan).unwrap_or_default()
        };
        // A secret may have changed meanwhile.
        if comparable(&stored) != comparable(&self.dir.as_stored(&own)?) {
            let what = "the study, its form or the JVMs here differ from those of the run";
            return Err(StudyError::Use(format!(
                "cannot go on with {}: {what}; begin a new run with another --out",
                self.dir.path().display()
            )));
        }
        if stored.budget.as_ref().map(|budget| budget.time_s)
            != own.budget.as_ref().map(|budget| budget.time_s)
        {
            self.dir.write_json(file::PLAN, &own)?;
        }
        self.dir.redact_earlier()?;
        for (folder, trial) in load_trials(self.dir.path())? {
            self.keep_histogram(&trial, &folder);
            self.trials.push(trial);
        }
        Ok(())
    }

    pub fn announce(&mut self) -> Result<(), StudyError> {
        let plan = &self.prepared.plan;
        // With a budget there may be more, and there may be fewer.
        let blocks = plan.budget.as_ref().map_or(plan.blocks_here(), |budget| budget.blocks);
        let of_trial = plan.duet.as_ref().map_or(1, |duet| duet.windows);
        let launches = plan.variants.len() as u32 * blocks;
        let windows = launches * of_trial;
        let trials = if plan.design == Design::Resident { plan.trials.len() as u32 } else { launches };
        let skipped = plan.skipped.clone();
        self.emit(RunEventKind::RunStarted { trials, windows })?;
        if !self.trials.is_empty() {
            let trials_done = self.trials.iter().filter(|t| t.counts()).count() as u32;
            self.emit(RunEventKind::RunResumed { trials_done })?;
        }
        for s in skipped {
            self.emit(RunEventKind::VariantSkipped { variant: s.name, reason: s.reason })?;
        }
        Ok(())
    }

    pub fn emit(&mut self, kind: RunEventKind) -> Result<(), StudyError> {
        let elapsed_s = self.begun.elapsed().as_secs_f64();
        let event = RunEvent {
            at: jiff::Timestamp::now().to_string(),
            elapsed_s,
            remaining_s: Some(self.remaining_s(elapsed_s)),
            kind,
        };
        let event = self.dir.as_stored(&event)?;
        (self.on_event)(&event);
        Ok(self.dir.append_event(&event)?)
    }

    /// Expected time of the remaining steps, at the pace so far.
    fn remaining_s(&self, elapsed_s: f64) -> f64 {
        if let Some(budget) = &self.prepared.plan.budget {
            return (budget.time_s - elapsed_s).max(0.0);
        }
        let pace = pace(self.done_s, self.done_at_s);
        let undone_s = (self.prepared.plan.expected_s - self.done_s).max(0.0) * pace;
        // The step that is under way has used some of it.
        let left_s = (undone_s - (elapsed_s - self.done_at_s)).max(0.0);
        // No block begins after the time allowed, but what runs is stopped.
        let Prepared { launches, workload, layout, .. } = self.prepared;
        let stopping_s = layout.stopping_s(&VariantLaunch::auxiliary_counts(launches, workload)) * pace;
        match layout.time_max_s.filter(|_| BLOCKS_FOR_INTERVAL < self.block as usize) {
            Some(max) => left_s.min((max - elapsed_s).max(0.0) + stopping_s),
            None => left_s,
        }
    }

    /// A step of so many planned seconds is done. Repeated launches are not in the plan.
    pub fn advance(&mut self, planned_s: f64) {
        self.done_s = (self.done_s + planned_s).min(self.done_s_max);
        self.done_at_s = self.begun.elapsed().as_secs_f64();
    }

    /// Trial `index` of `count` planned ones begins: those before it are done, however long they took.
    pub fn begin_planned(&mut self, index: usize, count: usize) {
        let of_each_s = self.prepared.plan.expected_s / count as f64;
        self.done_s = of_each_s * index as f64;
        self.done_s_max = self.done_s + of_each_s;
        self.done_at_s = self.begun.elapsed().as_secs_f64();
    }

    pub fn is_stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }

    pub fn check_stop(&self) -> Result<(), Failure> {
        if self.is_stopped() { Err(Failure::Interrupted) } else { Ok(()) }
    }

    pub fn next_number(&mut self) -> u32 {
        self.last_number += 1;
        self.last_number
    }

    /// Whether a window counts for every metric that is asked about. One that was disturbed, but in nothing that is asked, is not
    /// measured again: the next one would be no better.
    pub fn answers(&self, window: &Window) -> bool {
        self.asked.iter().all(|metric| window.counts_for(metric.feels))
    }

    /// A window was measured; gives whether it answers.
    pub fn note_window(&mut self, window: &Window) -> bool {
        let answers = self.answers(window);
        self.windows.0 += 1;
        self.windows.1 += u32::from(answers);
        answers
    }

    /// Whether a disturbed window may be repeated: there is time left, and repeating has helped or may help.
    pub fn may_repeat(&self) -> bool {
        let (measured, counted) = self.windows;
        let has_time =
            self.prepared.layout.time_max_s.is_none_or(|max| self.begun.elapsed().as_secs_f64() < max);
        has_time && (0 < counted || measured < HOPELESS_WINDOWS)
    }

    /// Whether another block, as long as the last one, fits into the time; it begins now. The blocks that an interval
    /// needs are measured in any case: a run that ends without one has answered nothing.
    pub fn has_time_for_block(&mut self, block: u32) -> bool {
        self.block = block;
        let last = self.block_begun.replace(Instant::now()).map_or(Duration::ZERO, |begun| begun.elapsed());
        let (now_s, last_s) = (self.begun.elapsed().as_secs_f64(), last.as_secs_f64());
        self.prepared.layout.time_max_s.is_none_or(|max_s| match self.prepared.plan.budget {
            Some(_) => budget::fits(block, (now_s, last_s), max_s),
            None => block as usize <= BLOCKS_FOR_INTERVAL || now_s + last_s <= max_s,
        })
    }

    /// Whether a run with a budget has decided all that was asked before the block that begins, by whole trials and those under way. Says
    /// now and then what the rest of the time can show.
    pub fn is_decided(&mut self, under_way: &[Trial]) -> Result<bool, StudyError> {
        let plan = &self.prepared.plan;
        if plan.budget.is_none() {
            return Ok(false);
        }
        let trials: Vec<Trial> = self.trials.iter().chain(under_way).cloned().collect();
        let so_far = SoFar::of(plan, &trials, self.block.saturating_sub(1), &self.given_up);
        so_far.outlook.into_iter().try_for_each(|outlook| self.emit(RunEventKind::Outlook(outlook)))?;
        Ok(so_far.is_decided)
    }

    /// Whether a trial of an earlier start counts for this one.
    pub fn is_done(&self, planned: &PlannedTrial) -> bool {
        self.trials.iter().any(|t| t.variant == planned.variant && t.block == planned.block && t.counts())
    }

    /// Blocks of the resident design that every variant which could be measured has had, from the first on.
    pub fn blocks_done(&self) -> u32 {
        let measured = |variant: &str, block: Option<u32>| {
            let mut trials = self.trials.iter().filter(|t| t.variant == variant && t.counts());
            trials.any(|t| t.windows.iter().any(|w| block.is_none_or(|b| w.block == b)))
        };
        let names: Vec<&str> = self.prepared.plan.variants.iter().map(|v| v.name.as_str()).collect();
        let usable: Vec<&str> = names.into_iter().filter(|name| measured(name, None)).collect();
        if usable.is_empty() {
            return 0;
        }
        let is_done = |block: &u32| usable.iter().all(|name| measured(name, Some(*block)));
        (1..=self.prepared.layout.blocks).take_while(is_done).count() as u32
    }

    /// Stores a trial and the summary so far.
    pub fn store(&mut self, mut trial: Trial, folder_name: &str) -> Result<Trial, Failure> {
        let folder = self.dir.path().join(folder_name);
        self.dir.redact_files(&folder)?;
        let histogram = self.keep_histogram(&trial, &folder);
        trial.response_curve = histogram.map(curves::curve).unwrap_or_default();
        no_times::of_guest(&self.prepared.plan, &mut trial);
        self.dir.write_json(&format!("{folder_name}/{}", file::TRIAL), &trial)?;
        self.trials.push(trial.clone());
        self.dir.write_json(file::SUMMARY, &self.summary())?;
        let left_out: Vec<String> = trial.windows.iter().flat_map(Window::left_out).collect();
        let detail = if !trial.counts() {
            why_not(&trial)
        } else if !self.prepared.plan.procedure.measures_once() {
            format!("{} windows", trial.windows.len())
        } else if left_out.is_empty() {
            format!("{} values", trial.windows.iter().map(|w| w.metrics.len()).sum::<usize>())
        } else {
            format!("left out of times and rates: {}", left_out.join("; "))
        };
        let (number, variant, ok) = (trial.number, trial.variant.clone(), trial.counts());
        self.emit(RunEventKind::TrialEnded { number, variant, ok, detail })?;
        Ok(trial)
    }

    /// Response times of a trial that counts.
    fn keep_histogram(&mut self, trial: &Trial, folder: &Path) -> Option<&Histogram<u64>> {
        let histogram = trial.counts().then(|| curves::histogram_of(folder, trial))??;
        self.histograms.insert(trial.number, histogram);
        self.histograms.get(&trial.number)
    }

    fn summary(&self) -> Summary {
        let curves = curves::by_variant(&self.trials, &self.histograms);
        let mut summary = summarise(&self.prepared.plan, &self.trials, curves);
        summary.findings.extend(self.prepared.findings.iter().cloned());
        Finding::sort(&mut summary.findings);
        summary
    }

    /// Emits the last event and gives the result.
    pub fn end(mut self, worked: Result<(), Failure>) -> Result<RunResult, StudyError> {
        let dir = self.dir.path().to_owned();
        let failed = match worked {
            Ok(()) if !self.trials.iter().any(Trial::counts) => {
                let reason =
                    if self.given_up.is_empty() { self.first_failure() } else { reasons(&self.given_up) };
                Some(StudyError::NoTrial { dir: dir.clone(), reason })
            }
            Ok(()) => None,
            Err(Failure::Interrupted) => {
                let done = self.trials.iter().filter(|t| t.counts()).count();
                Some(StudyError::Interrupted {
                    dir: dir.clone(),
                    done,
                    trials: self.prepared.plan.trials.len(),
                })
            }
            Err(Failure::Run(error)) => Some(error),
            Err(Failure::Trial(reason) | Failure::Variant(reason)) => Some(StudyError::Internal(reason)),
        };
        let failed = failed.map(|error| error.redacted(self.dir.redactor()));
        let detail = match &failed {
            Some(error) => error.to_string(),
            None => budget::ended(&self.prepared.plan, &self.summary(), &self.given_up)
                .or_else(|| self.blocks_missing())
                .unwrap_or_else(|| "all that was planned is done".to_owned()),
        };
        let emitted = self.emit(RunEventKind::RunEnded { ok: failed.is_none(), detail });
        match failed {
            Some(error) => Err(error),
            None => {
                emitted.and_then(|()| Ok(RunResult { summary: self.dir.as_stored(&self.summary())?, dir }))
            }
        }
    }

    fn first_failure(&self) -> String {
        let failed = self.trials.iter().find(|t| !t.counts());
        let first = failed.map(|t| format!("{}: {}", t.variant, why_not(t)));
        first.unwrap_or_else(|| "the time was over before the first one".to_owned())
    }

    /// How many blocks are missing where the time allowed ended the run.
    fn blocks_missing(&self) -> Option<String> {
        let plan = &self.prepared.plan;
        let planned = plan.blocks_here();
        let done = match plan.design {
            Design::Resident => self.blocks_done(),
            Design::Fresh | Design::Duet => {
                let missing = plan.trials.iter().find(|p| {
                    !self.given_up.contains_key(&p.variant)
                        && !self.trials.iter().any(|t| t.variant == p.variant && t.block == p.block)
                });
                missing.map_or(planned, |p| plan.block_numbers().range(..p.block).count() as u32)
            }
        };
        (done < planned).then(|| format!("{done} of {planned} blocks were measured within the time allowed"))
    }
}

/// How many times longer than planned steps take, when steps of `done_s` planned seconds were done after `done_at_s`.
fn pace(done_s: f64, done_at_s: f64) -> f64 {
    let measured = if done_s > 0.0 { (done_at_s / done_s).clamp(PACE.0, PACE.1) } else { 1.0 };
    1.0 + (measured - 1.0) * done_s / (done_s + PACE_HALF_S)
}

/// Why variants were given up, each reason once.
pub(super) fn reasons(given_up: &BTreeMap<String, String>) -> String {
    let mut variants: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    given_up.iter().for_each(|(variant, why)| variants.entry(why).or_default().push(variant));
    let line = |(why, variants): (&str, Vec<&str>)| format!("{}: {why}", variants.join(", "));
    variants.into_iter().map(line).collect::<Vec<String>>().join("\n")
}

/// Why a trial does not count.
pub(super) fn why_not(trial: &Trial) -> String {
    match (&trial.outcome, &trial.audit) {
        (TrialOutcome::Failed { reason }, _) => reason.clone(),
        (_, Some(audit)) => format!("its audit failed: {}", audit.detail),
        _ => "it was interrupted".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slow_starts_say_little_of_what_is_left_and_slow_blocks_much() {
        assert_eq!(pace(0.0, 20.0), 1.0, "nothing is done");
        assert!(pace(9.0, 30.0) < 1.4, "three starts in 30 s instead of 9");
        assert!(pace(600.0, 1_200.0) > 1.9, "ten minutes that took twenty");
        assert!(pace(600.0, 450.0) < 0.8);
    }

    #[test]
    fn launches_that_fail_alike_are_one_message() {
        let given_up = |pairs: &[(&str, &str)]| {
            reasons(&pairs.iter().map(|(v, why)| ((*v).to_owned(), (*why).to_owned())).collect())
        };
        assert_eq!(given_up(&[("a", "no"), ("b", "no"), ("c", "never")]), "c: never\na, b: no");
    }
}
