//! `assay bisect`: the first commit that made a server slower, found by comparisons of one commit after the other with a good one.
//!
//! Each comparison is a run of the user's study with two levels, the good commit and the one where the comparison splits the posterior best
//! (`assay_stats::Bisection`). Its pairs of trials give log ratios, whose spread is pooled over all comparisons.

use crate::check::checked::Checked;
use crate::check::commits::repository_folder;
use crate::error::StudyError;
use crate::file::program::CommandLine;
use crate::file::study::{Factor, Level, Settings, Study};
use crate::plan::prepare::{Prepared, VERSION};
use crate::runner::{RunOptions, Source, run_from};
use crate::source::repository::{Commit, Repository};
use assay_host::provenance;
use assay_linux::ProcRoot;
use assay_model::{
    Better, BisectCommit, BisectComparison, BisectReport, BisectVerdict, Metric, Plan, Problem, RunEvent,
    RunEventKind, StoredRun, schema,
};
use assay_results::load_run;
use assay_results::summary::values_by_block;
use assay_stats::{Bisection, Compared, FirstSlow, mean};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

/// The factor of the two commits.
const FACTOR: &str = "commit";
/// How probable an answer has to be.
pub const PROBABILITY: f64 = 0.95;
/// Comparisons after which a bisection ends undecided.
const COMPARISONS_MAX: usize = 1_000;
/// Comparisons without a pair that counts, one after the other, after which the machine is taken for too busy.
const EMPTY_MAX: usize = 3;

/// What is bisected.
#[derive(Debug, Clone)]
pub struct BisectOptions {
    /// A commit before the change.
    pub good: String,
    /// One with it.
    pub bad: String,
    /// The command that builds a commit, in place of that of the study.
    pub build: Option<CommandLine>,
    /// The short form of the study.
    pub quick: bool,
    /// Pairs of trials of each comparison; 2 or more.
    pub pairs: u32,
    /// The least change for the worse that is looked for, percent.
    pub least_percent: f64,
    /// No comparison begins after this time.
    pub budget: Option<Duration>,
    /// Folder of the runs; it must not be there yet.
    pub out: PathBuf,
}

/// What happens meanwhile.
#[derive(Debug)]
pub enum BisectEvent<'a> {
    /// A comparison begins: its number, the commit, the plan of its run.
    Begins(usize, &'a BisectCommit, &'a Plan),
    /// Something happened in its run.
    Run(&'a RunEvent),
    /// The posterior after it, or after its commit was left out.
    Compared(&'a BisectReport),
}

/// A study whose commits are compared.
#[derive(Debug)]
pub struct Bisect {
    study: Study,
    file: PathBuf,
    options: BisectOptions,
    commits: Vec<Commit>,
    repository: PathBuf,
}

/// Gets what happens meanwhile.
pub type OnEvent<'a> = dyn FnMut(BisectEvent<'_>) + 'a;

/// Makes one comparison.
type Compare<'a> =
    dyn FnMut((usize, &BisectCommit), usize, &mut OnEvent<'_>) -> Result<Outcome, StudyError> + 'a;

/// One comparison came to its end.
enum Outcome {
    /// With log ratios, above 0 for the worse.
    Pairs(BisectComparison, Vec<f64>),
    /// The commit cannot be built or started.
    CannotBe(String),
}

impl Checked {
    /// Prepares to bisect with this study: both commits exist, the second follows the first, and they can be compared here.
    ///
    /// # Errors
    /// The condition that does not hold.
    pub fn bisect(self, options: BisectOptions) -> Result<Bisect, StudyError> {
        let file = self.document.file.clone();
        let folder = repository_folder(&self.study, &file);
        let repository = Repository::of(&folder).map_err(StudyError::Use)?;
        let commits = repository.commits(&options.good, &options.bad).map_err(StudyError::Use)?;
        let bisect =
            Bisect { study: self.study, file, options, commits, repository: repository.root().to_owned() };
        bisect.posterior()?;
        let plan = bisect.prepare(bisect.commits.len() - 1)?;
        bisect.metric(plan.plan())?;
        Ok(bisect)
    }
}

impl Bisect {
    /// The plan of the first comparison: the bad commit with the good one.
    ///
    /// # Errors
    /// What this machine lacks.
    pub fn first(&self) -> Result<Prepared, StudyError> {
        self.prepare(self.commits.len() - 1)
    }

    /// How many commits may be the first slow one.
    pub fn commits(&self) -> usize {
        self.commits.len() - 1
    }

    /// Compares until the answer is known, the time is over, or the user stops it.
    ///
    /// # Errors
    /// The good or the bad commit cannot be measured; the machine was too busy for any pair; an interruption.
    pub fn run(
        &self,
        source: &Source<'_>,
        stop: &AtomicBool,
        on_event: &mut OnEvent<'_>,
    ) -> Result<BisectReport, StudyError> {
        let metric = self.metric(self.first()?.plan())?;
        self.search(&metric, on_event, &mut |next, number, on_event| {
            let prepared = self.prepare(next.0 + 1)?;
            on_event(BisectEvent::Begins(number, next.1, prepared.plan()));
            self.compare(&prepared, (next.0, number), source, stop, on_event)
        })
    }

    /// The same with comparisons by `compare`, which gets index and facts of a commit, and the number of its run.
    fn search(
        &self,
        metric: &Metric,
        on_event: &mut OnEvent<'_>,
        compare: &mut Compare<'_>,
    ) -> Result<BisectReport, StudyError> {
        let begun = Instant::now();
        let (mut report, mut logs, mut empty) = (self.blank(metric), Vec::new(), 0);
        for number in 1..=COMPARISONS_MAX {
            let bisection = self.conclude(&logs, &mut report)?;
            if 1 < number {
                on_event(BisectEvent::Compared(&report));
            }
            let is_over = self.options.budget.is_some_and(|budget| budget <= begun.elapsed());
            let next = bisection.next().filter(|_| report.verdict == BisectVerdict::Undecided && !is_over);
            let Some(next) = next else { return Ok(report) };
            match compare((next, &report.commits[next]), number, on_event)? {
                Outcome::Pairs(comparison, of_pairs) => {
                    empty = if of_pairs.is_empty() { empty + 1 } else { 0 };
                    report.comparisons.push(comparison);
                    logs.push(of_pairs);
                }
                Outcome::CannotBe(why) if next + 1 == self.commits() => {
                    let bad = &report.commits[next].short;
                    return Err(StudyError::Environment(format!(
                        "the bad commit {bad} cannot be measured: {why}"
                    )));
                }
                Outcome::CannotBe(why) => {
                    let commit = &mut report.commits[next];
                    report.problems.push(Problem::new(commit.short.clone(), format!("left out: {why}")));
                    commit.left_out = Some(why);
                }
            }
            if EMPTY_MAX <= empty {
                let what = "no pair of trials counts in three comparisons one after the other: the reports of the runs say why";
                let dir = self.options.out.display();
                return Err(StudyError::Environment(format!("{what} ({dir})")));
            }
        }
        Ok(report)
    }

    /// The study with the good commit and another one.
    fn prepare(&self, index: usize) -> Result<Prepared, StudyError> {
        let level = |commit: &Commit| Level {
            name: commit.short.clone(),
            settings: Settings {
                commit: Some(commit.id.clone()),
                build: self.options.build.clone(),
                ..Settings::default()
            },
            ..Level::default()
        };
        let levels = [&self.commits[0], &self.commits[index]].map(level);
        let factor = Factor { name: FACTOR.to_owned(), level: levels.into(), ..Factor::default() };
        let mut study = self.study.clone();
        // A commit of theirs would take the place of the one that is compared.
        study.factor.retain(|factor| factor.level.iter().all(|level| level.settings.commit.is_none()));
        let mut study = study.varied_by(factor);
        study.design.blocks = Some(self.options.pairs);
        if let Some(quick) = &mut study.quick {
            quick.design.blocks = None;
        }
        let checked = study.checked(&self.file.to_string_lossy()).map_err(StudyError::Diagnostics)?;
        checked.prepare(self.options.quick)
    }

    /// The metric that decides, which must be one.
    fn metric(&self, plan: &Plan) -> Result<Metric, StudyError> {
        Metric::by_id(&plan.primary_metric).filter(|_| !plan.is_set_by_load(&plan.primary_metric)).ok_or_else(|| {
            StudyError::Use(format!(
                "{} cannot decide between commits: name one metric that does in the study, primary_metric = \"cpu_ms_per_request\"",
                plan.primary_metric
            ))
        })
    }

    fn blank(&self, metric: &Metric) -> BisectReport {
        let commit = |commit: &Commit| BisectCommit {
            id: commit.id.clone(),
            short: commit.short.clone(),
            subject: commit.subject.clone(),
            probability: 0.0,
            left_out: None,
        };
        BisectReport {
            schema: schema::BISECT.to_owned(),
            provenance: provenance(&ProcRoot::default(), VERSION),
            study: self.study.name.clone(),
            metric: metric.id.to_string(),
            repository: self.repository.display().to_string(),
            good: commit(&self.commits[0]),
            commits: self.commits[1..].iter().map(commit).collect(),
            comparisons: Vec::new(),
            least_percent: self.options.least_percent,
            probability: PROBABILITY,
            no_change_probability: 0.0,
            verdict: BisectVerdict::Undecided,
            first: None,
            last: None,
            change_percent: None,
            runs: self.options.out.display().to_string(),
            problems: Vec::new(),
        }
    }

    fn posterior(&self) -> Result<Bisection, StudyError> {
        let least = self.options.least_percent;
        Bisection::of(self.commits(), (least / 100.0).ln_1p())
            .ok_or_else(|| StudyError::Use(format!("{least} % is not between 0 and 100 %")))
    }

    /// The posterior after all comparisons, with the spread that all of them show together.
    fn weighed(&self, report: &BisectReport, logs: &[Vec<f64>]) -> Result<Bisection, StudyError> {
        let mut bisection = self.posterior()?;
        let left_out = report.commits.iter().enumerate().filter(|(_, commit)| commit.left_out.is_some());
        left_out.for_each(|(index, _)| bisection.leave_out(index));
        let (deviation, freedom) = pooled(logs);
        for (comparison, logs) in report.comparisons.iter().zip(logs).filter(|(_, logs)| !logs.is_empty()) {
            bisection.add(&Compared {
                commit: comparison.commit as usize,
                log_ratio: mean(logs).unwrap_or(f64::NAN),
                standard_error: deviation / (logs.len() as f64).sqrt(),
                freedom,
            });
        }
        Ok(bisection)
    }

    /// Puts what is known into the report.
    fn conclude(&self, logs: &[Vec<f64>], report: &mut BisectReport) -> Result<Bisection, StudyError> {
        let bisection = self.weighed(report, logs)?;
        let (of_commits, no_change) = bisection.posterior();
        report.no_change_probability = no_change;
        report.commits.iter_mut().zip(of_commits).for_each(|(commit, of_one)| commit.probability = of_one);
        let (verdict, row) = match bisection.answer(PROBABILITY) {
            Some(FirstSlow::Commit(commit)) => (BisectVerdict::Commit, Some(commit..=commit)),
            Some(FirstSlow::Range(range)) => (BisectVerdict::Range, Some(range)),
            Some(FirstSlow::NoChange) => (BisectVerdict::NoChange, None),
            None => (BisectVerdict::Undecided, bisection.narrowest(PROBABILITY)),
        };
        report.verdict = verdict;
        report.first = row.as_ref().map(|row| *row.start() as u32);
        report.last = row.as_ref().map(|row| *row.end() as u32);
        let from = report.last.filter(|_| verdict != BisectVerdict::Undecided);
        let slow =
            report.comparisons.iter().zip(logs).filter(|(of, _)| from.is_some_and(|from| from <= of.commit));
        let slow: Vec<f64> = slow.flat_map(|(_, logs)| logs).copied().collect();
        report.change_percent = mean(&slow).map(|log| log.exp_m1() * 100.0);
        Ok(bisection)
    }

    /// One run of the study with both commits.
    fn compare(
        &self,
        prepared: &Prepared,
        (index, number): (usize, usize),
        source: &Source<'_>,
        stop: &AtomicBool,
        on_event: &mut OnEvent<'_>,
    ) -> Result<Outcome, StudyError> {
        let (good, other) = (&self.commits[0].short, &self.commits[index + 1].short);
        let dir = self.options.out.join(format!("{number:03}-{other}"));
        let options = RunOptions { out: Some(dir.clone()), ..RunOptions::default() };
        let mut failed = Failed::default();
        let ran = run_from(prepared, &options, source, stop, &mut |event| {
            failed.note(&event.kind);
            on_event(BisectEvent::Run(event));
        });
        let run = match ran {
            Ok(_) => Some(load_run(&dir)?),
            Err(StudyError::NoTrial { .. }) if !failed.why.is_empty() => None,
            Err(error) => return Err(error),
        };
        let (ratios, logs) = run.map_or((Vec::new(), Vec::new()), |run| self.pairs(&run, (good, other)));
        if ratios.is_empty()
            && let Some(why) = failed.why.get(good)
        {
            return Err(StudyError::Environment(format!("the good commit {good} cannot be measured: {why}")));
        }
        if ratios.is_empty()
            && let Some(why) = failed.why.get(other)
        {
            return Ok(Outcome::CannotBe(why.clone()));
        }
        let run = dir.display().to_string();
        Ok(Outcome::Pairs(BisectComparison { commit: index as u32, ratios, run }, logs))
    }

    /// Ratio to the good one in each block in which both count, and its logarithm, above 0 for the worse.
    fn pairs(&self, run: &StoredRun, (good, other): (&str, &str)) -> (Vec<f64>, Vec<f64>) {
        let Ok(metric) = self.metric(&run.plan) else { return Default::default() };
        let sign = if metric.better == Better::Lower { 1.0 } else { -1.0 };
        let of = |commit: &str| -> BTreeMap<u32, f64> {
            let variant = run
                .plan
                .variants
                .iter()
                .find(|variant| variant.levels.get(FACTOR).is_some_and(|level| level == commit));
            let trials = || run.trials.iter().map(|stored| &stored.trial);
            let values = variant.map(|variant| {
                values_by_block(run.plan.design, &variant.name, trials(), std::slice::from_ref(&metric))
            });
            values.and_then(|mut values| values.remove(&*metric.id)).unwrap_or_default().into_iter().collect()
        };
        let (good, other) = (of(good), of(other));
        let ratios = other.iter().filter_map(|(block, value)| Some(value / good.get(block)?));
        let ratios: Vec<f64> = ratios.filter(|ratio| ratio.is_finite() && 0.0 < *ratio).collect();
        let logs = ratios.iter().map(|ratio| sign * ratio.ln()).collect();
        (ratios, logs)
    }
}

/// Commits that failed in a run, and why.
#[derive(Default)]
struct Failed {
    building: Vec<String>,
    why: BTreeMap<String, String>,
}

impl Failed {
    fn note(&mut self, kind: &RunEventKind) {
        match kind {
            RunEventKind::BuildStarted { variants, .. } => self.building.clone_from(variants),
            RunEventKind::BuildEnded { ok: false, detail, .. } => {
                let all = self.building.drain(..).map(|variant| (commit_of(&variant), detail.clone()));
                self.why.extend(all);
            }
            RunEventKind::TrialEnded { variant, ok: false, detail, .. } => {
                self.why.insert(commit_of(variant), detail.clone());
            }
            _ => {}
        }
    }
}

/// The level of the first factor, which a variant's name begins with.
fn commit_of(variant: &str) -> String {
    variant.split('/').next().unwrap_or(variant).to_owned()
}

/// Standard deviation of the log ratios around the mean of their comparison, over all comparisons, and its degrees of freedom.
fn pooled(logs: &[Vec<f64>]) -> (f64, f64) {
    let squares = |logs: &Vec<f64>| {
        let middle = mean(logs).unwrap_or(0.0);
        logs.iter().map(|log| (log - middle).powi(2)).sum::<f64>()
    };
    let freedom: usize = logs.iter().map(|logs| logs.len().saturating_sub(1)).sum();
    let sum: f64 = logs.iter().map(squares).sum();
    ((sum / freedom as f64).sqrt(), freedom as f64)
}

/// A folder for the runs of a bisection that is not there yet.
pub fn default_folder(study: &str) -> PathBuf {
    let time = jiff::Timestamp::now().strftime("%Y%m%dT%H%M%SZ").to_string();
    Path::new("runs").join(format!("{study}-bisect-{time}"))
}

#[cfg(test)]
mod tests;
