//! Probes: fresh runs of a server in a container, one after the other, as long as there is time.

use super::event::{FitEvent, OnFitEvent};
use super::option;
use super::server::{Base, Container, Trials};
use super::verdict::judge;
use crate::error::StudyError;
use crate::plan::prepare::Prepared;
use crate::runner::{RunOptions, Source, run_from};
use assay_model::{FitLimits, FitProbe, FitPurpose, FitResource, FitVerdict, StoredRun, StoredTrial};
use assay_results::load_run;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// How often a size is tried again whose limit was missed while others used the machine. What is missed once more is counted: a machine that
/// is never quiet would never give an answer.
const TRIES_MAX: u32 = 3;
/// Blocks of a comparison of values.
const BLOCKS_MAX: u32 = 12;

/// A server that takes so many times as long as was planned hardly answers at all: a heap that is all but full is collected without an end.
const SLOW: f64 = 3.0;
/// And not less than this, seconds: a busy machine starts servers slowly.
const SLOW_S_MIN: f64 = 60.0;
/// How often the time is looked at.
const POLL_INTERVAL: Duration = Duration::from_millis(50);

/// A run, and after how many seconds it was stopped, where it was.
type Ran = (StoredRun, Option<f64>);

/// What a probe is to be.
#[derive(Debug, Clone, Copy)]
pub(super) struct Asked {
    pub resource: FitResource,
    pub purpose: FitPurpose,
    pub container: Container,
}

/// Probes so far, and what the next one needs.
pub(super) struct Probes<'a> {
    pub bases: &'a [Base],
    pub trials: Trials,
    pub limits: &'a FitLimits,
    pub out: &'a Path,
    pub source: &'a Source<'a>,
    pub stop: &'a AtomicBool,
    pub on_event: &'a mut OnFitEvent<'a>,
    pub begun: Instant,
    pub budget_s: f64,
    pub done: Vec<FitProbe>,
    /// The longest probe so far, seconds.
    pub longest_s: f64,
    /// Time for which other runs were waited for, seconds: it is not of the budget.
    pub waited_s: f64,
    /// Why no probe can follow, where some were made before.
    pub failed: Option<String>,
}

impl Probes<'_> {
    /// Whether a probe can end before this part of the time is over.
    pub fn has_time(&self, part: f64) -> bool {
        self.worked_s() + self.longest_s <= self.budget_s * part && !self.is_stopped()
    }

    /// No probe follows: the user stopped it, or none can be made any more.
    pub fn is_stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed) || self.failed.is_some()
    }

    fn worked_s(&self) -> f64 {
        self.begun.elapsed().as_secs_f64() - self.waited_s
    }

    /// An error ends the first probe with nothing; later ones end the search with what was found before.
    fn kept<T>(&mut self, result: Result<Option<T>, StudyError>) -> Result<Option<T>, StudyError> {
        match result {
            Err(error) if !self.done.is_empty() => {
                self.failed.get_or_insert(error.to_string());
                Ok(None)
            }
            other => other,
        }
    }

    /// A probe that counts, where one can be had within some tries; none where the user stopped it.
    pub fn run(&mut self, asked: Asked) -> Result<Option<(FitProbe, StoredTrial)>, StudyError> {
        for attempt in 1..=TRIES_MAX {
            let before_s = self.worked_s();
            let once = self.once(asked);
            let Some((mut probe, trial)) = self.kept(once)? else { return Ok(None) };
            self.longest_s = self.longest_s.max(self.worked_s() - before_s);
            let is_last = attempt == TRIES_MAX || !self.has_time(1.0);
            if is_last && probe.verdict != FitVerdict::NotMeasured {
                probe.counts = true;
            }
            (self.on_event)(FitEvent::Ended(&probe));
            self.done.push(probe.clone());
            if probe.counts || is_last {
                return Ok(Some((probe, trial)));
            }
        }
        Ok(None)
    }

    /// A size whose limit has no room for a heap.
    pub fn below_minimum(&mut self, asked: Asked) {
        let probe = FitProbe {
            verdict: FitVerdict::BelowMinimum,
            detail: "the JVM's own needs leave no room for a heap of 8 MiB".to_owned(),
            counts: true,
            ..self.blank(asked)
        };
        (self.on_event)(FitEvent::Ended(&probe));
        self.done.push(probe);
    }

    /// One fresh process for each scenario; the first that does not hold decides.
    fn once(&mut self, asked: Asked) -> Result<Option<(FitProbe, StoredTrial)>, StudyError> {
        let mut probe = self.blank(asked);
        let mut last = None;
        let bases = self.bases;
        for base in bases {
            let prepared = base.within(&asked.container, self.trials)?;
            let dir = self.folder(&asked.container.name());
            let Some((run, stopped_s)) = self.measure(&prepared, &probe, &dir)? else { return Ok(None) };
            let mut of_one = FitProbe { runs: Vec::new(), ..probe.clone() };
            let Some(trial) = run.trials.into_iter().next_back() else {
                let why = run.plan.skipped.first().map_or_else(String::new, |skipped| skipped.reason.clone());
                return Err(StudyError::Environment(format!("no trial was begun: {why}")));
            };
            judge(&trial, self.limits, &mut of_one);
            if let Some(seconds) = stopped_s.filter(|_| of_one.verdict == FitVerdict::NotMeasured) {
                of_one.verdict = FitVerdict::TooSlow;
                of_one.detail =
                    format!("hardly an answer: it did not get through load and window in {seconds:.0} s");
                of_one.counts = true;
            }
            of_one.runs = probe.runs;
            of_one.runs.push(dir.display().to_string());
            let is_first = last.is_none();
            let is_slower = is_first || probe.response_ms.p99 < of_one.response_ms.p99;
            let holds = of_one.verdict == FitVerdict::Holds;
            probe = if is_slower || !holds { of_one } else { FitProbe { runs: of_one.runs, ..probe } };
            last = Some(trial);
            if !holds {
                break;
            }
        }
        Ok(last.map(|trial| (probe, trial)))
    }

    /// A run of one trial, finished or not; none where the user stopped it.
    fn measure(
        &mut self,
        prepared: &Prepared,
        probe: &FitProbe,
        dir: &Path,
    ) -> Result<Option<Ran>, StudyError> {
        (self.on_event)(FitEvent::Begins(probe, prepared.plan()));
        let options =
            RunOptions { out: Some(dir.to_owned()), allow_host_changes: true, ..RunOptions::default() };
        let on_event = &mut self.on_event;
        let (source, limit_s) = (self.source, (SLOW * prepared.plan().expected_s).max(SLOW_S_MIN));
        let mut is_told = false;
        let (ran, was_too_slow) = loop {
            let begun = Instant::now();
            let (ran, was_too_slow) = bounded(self.stop, Duration::from_secs_f64(limit_s), |stop| {
                run_from(prepared, &options, source, stop, &mut |event| on_event(FitEvent::Run(event)))
            });
            // Another fit, for example. The start itself waits a moment for the other's lock.
            if !matches!(ran, Err(StudyError::Busy(_))) || self.stop.load(Ordering::Relaxed) {
                break (ran, was_too_slow);
            }
            if !std::mem::replace(&mut is_told, true) {
                on_event(FitEvent::Waits);
            }
            self.waited_s += begun.elapsed().as_secs_f64();
        };
        match ran {
            Ok(_) | Err(StudyError::NoTrial { .. }) => Ok(Some((load_run(dir)?, None))),
            Err(StudyError::Interrupted { .. }) if was_too_slow => Ok(Some((load_run(dir)?, Some(limit_s)))),
            Err(StudyError::Interrupted { .. } | StudyError::Busy(_)) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// A comparison of values, in as many blocks as there is time for; none where there is not enough for three.
    pub fn compare(
        &mut self,
        base: &Base,
        option: &str,
        values: &[u64],
        before: &[StoredRun],
    ) -> Result<Option<StoredRun>, StudyError> {
        let left_s = self.budget_s - self.worked_s();
        // Of the first comparison some time is left for the next.
        let left_s = if before.is_empty() { 0.6 * left_s } else { left_s };
        let one = base.with_values(option, values, Trials { blocks: 1, ..self.trials })?;
        let blocks = (left_s / one.plan().expected_s.max(1.0)).floor();
        let blocks = (blocks.max(0.0) as u32).min(BLOCKS_MAX);
        if blocks < option::BLOCKS_MIN {
            if before.is_empty() {
                let wanted_s = one.plan().expected_s * f64::from(option::BLOCKS_MIN) / 0.6;
                return Err(StudyError::Use(format!(
                    "the time is too short for {} values in {} blocks: --budget {:.0}m would do, or fewer values",
                    values.len(),
                    option::BLOCKS_MIN,
                    (wanted_s / 60.0).ceil()
                )));
            }
            return Ok(None);
        }
        let prepared = base.with_values(option, values, Trials { blocks, ..self.trials })?;
        let dir = self.folder("values");
        let asked = Asked {
            resource: FitResource::Option,
            purpose: FitPurpose::Compare,
            container: Container::default(),
        };
        let probe = self.blank(asked);
        let ran = self.measure(&prepared, &probe, &dir);
        let run = self.kept(ran)?.map(|(run, _)| run);
        let probe = FitProbe {
            verdict: if run.is_some() { FitVerdict::Holds } else { FitVerdict::NotMeasured },
            detail: values.iter().map(u64::to_string).collect::<Vec<_>>().join(", "),
            counts: run.is_some(),
            runs: vec![dir.display().to_string()],
            ..probe
        };
        (self.on_event)(FitEvent::Ended(&probe));
        self.done.push(probe);
        Ok(run)
    }

    fn blank(&self, asked: Asked) -> FitProbe {
        let Asked { resource, purpose, container } = asked;
        FitProbe {
            number: self.done.len() as u32 + 1,
            resource,
            purpose,
            memory_bytes: container.memory_bytes.filter(|_| purpose != FitPurpose::Unlimited),
            cpu_millicores: container.cpu_millicores,
            heap_bytes: container.heap_bytes,
            ..FitProbe::default()
        }
    }

    /// A folder of a run that is not there yet.
    fn folder(&self, name: &str) -> PathBuf {
        let number = self.done.len() + 1;
        let plain = |at: u32| {
            let again = if at == 1 { String::new() } else { format!("-{at}") };
            self.out.join(format!("{number:02}-{name}{again}"))
        };
        (1..).map(plain).find(|dir| !dir.exists()).unwrap_or_else(|| plain(1))
    }
}

/// Works with a flag that is set when the user stops it, or so much time is over: then the second value says so.
fn bounded<T>(stop: &AtomicBool, limit: Duration, work: impl FnOnce(&AtomicBool) -> T) -> (T, bool) {
    let (own, is_done, was_too_slow) =
        (AtomicBool::new(false), AtomicBool::new(false), AtomicBool::new(false));
    let begun = Instant::now();
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !is_done.load(Ordering::Relaxed) {
                let is_stopped = stop.load(Ordering::Relaxed);
                if is_stopped || limit <= begun.elapsed() {
                    was_too_slow.store(!is_stopped, Ordering::Relaxed);
                    own.store(true, Ordering::Relaxed);
                    return;
                }
                std::thread::sleep(POLL_INTERVAL);
            }
        });
        // In this thread: servers die with the one that starts them.
        let done = work(&own);
        is_done.store(true, Ordering::Relaxed);
        (done, was_too_slow.load(Ordering::Relaxed))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn work_is_stopped_by_the_user_or_when_its_time_is_over_and_else_by_nobody() {
        let wait = |stop: &AtomicBool| {
            while !stop.load(Ordering::Relaxed) {
                std::thread::sleep(POLL_INTERVAL);
            }
        };
        assert_eq!(bounded(&AtomicBool::new(false), Duration::ZERO, wait), ((), true));
        assert_eq!(bounded(&AtomicBool::new(true), Duration::from_secs(3600), wait), ((), false));
        assert_eq!(bounded(&AtomicBool::new(false), Duration::from_secs(3600), |_| 7), (7, false));
    }
}
