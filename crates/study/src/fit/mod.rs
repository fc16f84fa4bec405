//! `assay fit`: the smallest memory limit, then the smallest CPU limit, at which a server keeps its limits under load. Each size is tried with a
//! fresh process in a control group of its own; `stats` says which is tried next, `memory` how much of a limit is left for the heap.

mod checks;
mod event;
mod formulas;
mod heap;
mod option;
mod probes;
mod server;
mod verdict;

pub use event::{FitEvent, OnFitEvent};
pub use option::FitOption;
pub use server::{FitServer, FitWorkload};

use crate::error::StudyError;
use crate::plan::prepare::{Prepared, VERSION};
use crate::runner::Source;
use assay_host::provenance;
use assay_launch::swap_on_disk;
use assay_linux::{ProcRoot, Processors};
use assay_memory::{advise, unseen_limit};
use assay_model::{
    Estimate, FitBelow, FitLimits, FitOutcome, FitProbe, FitPurpose, FitReport, FitResource, FitVerdict,
    FittedHeap, FittedLimit, Problem, StoredTrial, schema,
};
use assay_stats::{SizeSearch, SmallestSize};
use checks::{check_given, check_groups, check_option, no_heap_fits};
use heap::HeapState;
use probes::{Asked, Probes};
use server::{Base, Container, Trials, given_heap};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

const MIB: f64 = 1_048_576.0;
/// Memory limits are multiples of it.
const MEMORY_STEP_BYTES: f64 = MIB;
/// CPU limits are multiples of it, and the least that is tried.
const CPU_STEP_MILLICORES: f64 = 5.0;
const CPU_MILLICORES_MIN: f64 = 20.0;
/// The search for the memory limit may take this part of the time where one for the CPU limit follows.
const MEMORY_SHARE: f64 = 0.65;

/// How a server is fitted.
#[derive(Debug, Clone)]
pub struct FitOptions {
    /// What must hold.
    pub limits: FitLimits,
    /// Scenario files that it must hold under; none: the server's own load.
    pub scenarios: Vec<String>,
    /// A heap that is kept, so that limits alone are fitted.
    pub heap_bytes: Option<u64>,
    /// Only this one.
    pub only: Option<FitResource>,
    /// An option whose value is fitted instead.
    pub option: Option<FitOption>,
    /// Length of a window; absent: the study's.
    pub window: Option<Duration>,
    /// The time for all.
    pub budget: Duration,
    /// Folder of the runs; it must not be there yet.
    pub out: PathBuf,
}

/// A server that is to be fitted.
#[derive(Debug)]
pub struct Fit {
    name: String,
    bases: Vec<Base>,
    options: FitOptions,
    /// The study without limits, by which all is checked before anything runs.
    first: Prepared,
    /// The option by which the command or the study sets the heap.
    given: Option<String>,
    is_without_swap: bool,
    machine_bytes: u64,
    problems: Vec<Problem>,
}

impl Fit {
    /// Checks what was asked for, and whether control groups can be made here. Nothing is started.
    ///
    /// # Errors
    /// What the server, the option or the machine lacks, with what mends it.
    pub fn new(server: &FitServer, options: FitOptions) -> Result<Fit, StudyError> {
        let bases = server.bases(&options.scenarios);
        let memory = ProcRoot::default().read_meminfo().ok().and_then(|of| of.total_bytes);
        let machine_bytes =
            memory.ok_or_else(|| StudyError::Environment("/proc/meminfo has no MemTotal".to_owned()))?;
        if let Some(heap) = options.heap_bytes.filter(|heap| machine_bytes <= *heap) {
            return Err(no_heap_fits(heap, machine_bytes));
        }
        let swap = swap_on_disk()?;
        let is_without_swap = !swap.is_empty();
        let container = Container {
            memory_bytes: Some(machine_bytes),
            is_unlimited: true,
            heap_bytes: options.heap_bytes,
            touches_heap: options.heap_bytes.is_some(),
            is_without_swap,
            ..Container::default()
        };
        if options.option.is_none() {
            check_groups(&container)?;
        }
        let trials = Trials { window: options.window, blocks: 1 };
        let first = match &options.option {
            None => bases[0].within(&container, trials)?,
            Some(of) => {
                check_option(of)?;
                bases[0].with_values(&of.option, &option::first_values(&of.between), trials)?
            }
        };
        let given =
            given_heap(&first).filter(|word| options.heap_bytes.is_none_or(|_| !word.starts_with("-Xmx")));
        check_given(given.as_deref(), machine_bytes)?;
        let mut problems = Vec::new();
        if is_without_swap {
            let devices = swap.join(", ");
            problems.push(Problem::new("swap", format!("{devices} is on a disk: the control groups get no swap, since a container that waits for a disk is neither killed nor fast")));
        }
        Ok(Fit {
            name: server.name(),
            bases,
            options,
            first,
            given,
            is_without_swap,
            machine_bytes,
            problems,
        })
    }

    /// The first run: without limits, or with the first values of the option.
    pub fn first(&self) -> &Prepared {
        &self.first
    }

    /// About how long one probe takes.
    pub fn probe_s(&self) -> f64 {
        self.first.plan().expected_s * self.bases.len() as f64
    }

    /// Tries until the answer is known, the time is over, or the user stops it: then the report has what was found before.
    ///
    /// # Errors
    /// The server cannot be measured at all.
    pub fn run(
        &self,
        source: &Source<'_>,
        stop: &AtomicBool,
        on_event: &mut OnFitEvent<'_>,
    ) -> Result<FitReport, StudyError> {
        let begun = Instant::now();
        let mut report = self.blank();
        let trials = Trials { window: self.options.window, blocks: 1 };
        let budget_s = self.options.budget.as_secs_f64();
        let mut probes = Probes {
            bases: &self.bases,
            trials,
            limits: &self.options.limits,
            out: &self.options.out,
            source,
            stop,
            on_event,
            begun,
            budget_s,
            done: Vec::new(),
            longest_s: 0.0,
            waited_s: 0.0,
            failed: None,
        };
        let outcome = match &self.options.option {
            Some(option) => self.fit_option(option, &mut probes, &mut report)?,
            None => self.fit_limits(&mut probes, &mut report)?,
        };
        report.outcome = if stop.load(Ordering::Relaxed) { FitOutcome::Stopped } else { outcome };
        if let Some(why) = probes.failed {
            let what = format!("the search ended before it was decided: {why}");
            report.problems.push(Problem::new("search", what));
            report.outcome = FitOutcome::Undecided;
        }
        report.probes = probes.done;
        report.took_s = begun.elapsed().as_secs_f64();
        Ok(report)
    }

    fn fit_limits(&self, probes: &mut Probes<'_>, report: &mut FitReport) -> Result<FitOutcome, StudyError> {
        let without = Container {
            memory_bytes: Some(self.machine_bytes),
            is_unlimited: true,
            heap_bytes: self.options.heap_bytes,
            touches_heap: self.options.heap_bytes.is_some(),
            is_without_swap: self.is_without_swap,
            ..Container::default()
        };
        let asked =
            Asked { resource: FitResource::Memory, purpose: FitPurpose::Unlimited, container: without };
        let Some((first, trial)) = probes.run(asked)? else { return Ok(FitOutcome::Stopped) };
        if first.verdict == FitVerdict::Ended {
            let what = format!("the server does not run, even without limits: {}", first.detail);
            return Err(StudyError::Environment(what));
        }
        if first.verdict != FitVerdict::Holds {
            return Ok(if first.counts { FitOutcome::NothingHolds } else { FitOutcome::Undecided });
        }
        let mut container = without;
        let mut outcome = FitOutcome::Found;
        let is_given = self.given.is_some() || self.options.heap_bytes.is_some();
        let mut heap = HeapState::new(&trial, self.options.heap_bytes, is_given);
        if self.options.only != Some(FitResource::Cpu) {
            let until = if self.options.only.is_none() { MEMORY_SHARE } else { 1.0 };
            let found = match self.search_memory(probes, &mut heap, until)? {
                Searched::Limit(found) => found,
                Searched::NothingHolds => return Ok(FitOutcome::NothingHolds),
                Searched::NothingCounts => return Ok(FitOutcome::Undecided),
            };
            (container.memory_bytes, container.is_unlimited) = (Some(found.limit.estimate as u64), false);
            (container.heap_bytes, container.touches_heap) = (heap.within(found.limit.estimate as u64), true);
            outcome = if found.is_proved { FitOutcome::Found } else { FitOutcome::Undecided };
            self.describe(report, &found, &mut heap, (&first, &trial));
            report.problems.extend(heap.in_limit().and_then(unseen_limit));
            report.memory = Some(found);
        }
        if self.options.only != Some(FitResource::Memory) && !probes.is_stopped() {
            let (found, unseen) = search_cpu(probes, &container, &first)?;
            report.problems.extend(unseen.filter(|problem| !report.problems.contains(problem)));
            let found = match found {
                Searched::Limit(found) => Some(found),
                Searched::NothingHolds | Searched::NothingCounts => None,
            };
            if !found.as_ref().is_some_and(|of| of.is_proved) {
                outcome = FitOutcome::Undecided;
            }
            report.cpu = found;
        }
        Ok(outcome)
    }

    /// The smallest memory limit.
    fn search_memory(
        &self,
        probes: &mut Probes<'_>,
        heap: &mut HeapState,
        until: f64,
    ) -> Result<Searched, StudyError> {
        let (low, high) = heap.range(self.machine_bytes);
        let Some(mut search) = SizeSearch::of(low, high, MEMORY_STEP_BYTES) else {
            return Ok(Searched::NothingCounts);
        };
        let before = probes.done.len();
        while let Some(size) = search.next().filter(|_| probes.has_time(until)) {
            let heap_bytes = heap.within(size as u64);
            let container = Container {
                memory_bytes: Some(size as u64),
                heap_bytes,
                touches_heap: true,
                is_without_swap: self.is_without_swap,
                ..Container::default()
            };
            let asked = Asked { resource: FitResource::Memory, purpose: purpose(&search, size), container };
            if !heap.is_given && heap_bytes.is_none() {
                probes.below_minimum(asked);
                search.add(size, false);
                continue;
            }
            let Some((probe, trial)) = probes.run(asked)? else { break };
            if probe.counts {
                search.add(size, probe.verdict == FitVerdict::Holds);
            }
            heap.learn(size as u64, probe.verdict, &trial);
        }
        let of_search = &probes.done[before..];
        let size = |probe: &FitProbe| probe.memory_bytes.map(|bytes| bytes as f64);
        let Searched::Limit(found) = fitted(&search, of_search, size) else {
            return Ok(fitted(&search, of_search, size));
        };
        let at = |probe: &&FitProbe| {
            size(probe) == Some(found.limit.estimate) && probe.verdict == FitVerdict::Holds
        };
        let needed = of_search.iter().filter(at).filter_map(|probe| probe.needed_bytes).max();
        let margin_bytes = needed.map(|needed| (found.limit.estimate as u64).saturating_sub(needed));
        Ok(Searched::Limit(FittedLimit { margin_bytes, ..found }))
    }

    /// The heap within the limit, and what formulas would have set.
    fn describe(
        &self,
        report: &mut FitReport,
        found: &FittedLimit,
        heap: &mut HeapState,
        (first, trial): (&FitProbe, &StoredTrial),
    ) {
        let max_bytes = heap.within(found.limit.estimate as u64);
        let last = heap.snapshot.as_ref();
        let of_jvm = last.and_then(|of| of.jvm.as_ref()?.heap_bytes_max);
        let max_bytes = max_bytes.or(of_jvm).unwrap_or(0);
        let advised_bytes = last.map(|snapshot| advise(std::slice::from_ref(snapshot)).limit_bytes);
        report.heap = Some(FittedHeap {
            max_bytes,
            is_given: heap.is_given,
            beside_bytes: heap.beside_bytes,
            charged_elsewhere_bytes: heap.charged_elsewhere_bytes,
            advised_bytes,
        });
        let group = trial.memory_report.as_ref().and_then(|of| of.cgroup.as_ref());
        let rss = trial.memory.iter().map(|sample| sample.rss_bytes);
        let observed = formulas::Observed {
            heap_bytes: max_bytes,
            classes: last.and_then(|of| of.jvm.as_ref()?.classes),
            usage_bytes: first.peak_bytes,
            working_set_bytes: group
                .and_then(|of| Some(of.current_bytes?.saturating_sub(of.inactive_file_bytes?))),
            spike_bytes: rss.clone().max().zip(rss.min()).map(|(most, least)| most - least),
            used_millicores: first.cpu_used_millicores,
            advised_bytes,
        };
        report.formulas = formulas::formulas(&observed, found.limit);
    }

    /// The smallest value of an option.
    fn fit_option(
        &self,
        option: &FitOption,
        probes: &mut Probes<'_>,
        report: &mut FitReport,
    ) -> Result<FitOutcome, StudyError> {
        let metric = check_option(option)?;
        let mut values = Some(option::first_values(&option.between));
        let mut runs = Vec::new();
        while let Some(of_run) = values.filter(|_| !probes.is_stopped()) {
            let Some(run) = probes.compare(&self.bases[0], &option.option, &of_run, &runs)? else { break };
            runs.push(run);
            let fitted = option::fitted(option, &metric, &runs);
            values = option::next_values(&fitted);
            report.option = Some(fitted);
        }
        let is_found =
            report.option.as_ref().is_some_and(|of| of.value.is_some() && option::next_values(of).is_none());
        Ok(if is_found { FitOutcome::Found } else { FitOutcome::Undecided })
    }

    fn blank(&self) -> FitReport {
        let plan = self.first.plan();
        let load = &plan.load;
        let of_scenario = |scenario: &String| format!("{load}, {scenario}");
        let loads = match &self.options.scenarios[..] {
            [] => vec![load.clone()],
            scenarios => scenarios.iter().map(of_scenario).collect(),
        };
        let mut problems = self.problems.clone();
        if let Some(given) = &self.given {
            let what = format!(
                "{given} is set by the command or the study and was kept: without it, -Xmx is fitted, too"
            );
            problems.push(Problem::new("heap", what));
        }
        FitReport {
            schema: schema::FIT.to_owned(),
            provenance: provenance(&ProcRoot::default(), VERSION),
            server: self.name.clone(),
            jvm: plan.variants.first().and_then(|variant| variant.jvm.clone()),
            loads,
            limits: self.options.limits.clone(),
            window_s: plan.window_s,
            outcome: FitOutcome::Undecided,
            memory: None,
            cpu: None,
            option: None,
            heap: None,
            formulas: Vec::new(),
            probes: Vec::new(),
            budget_s: self.options.budget.as_secs_f64(),
            took_s: 0.0,
            seed: plan.seed,
            runs: self.options.out.display().to_string(),
            problems,
        }
    }
}

/// What a search came to.
enum Searched {
    Limit(FittedLimit),
    NothingHolds,
    /// No trial counts, or there was no time for one.
    NothingCounts,
}

/// The smallest CPU limit within a memory limit, and what the JVM did not see of it.
fn search_cpu(
    probes: &mut Probes<'_>,
    container: &Container,
    first: &FitProbe,
) -> Result<(Searched, Option<Problem>), StudyError> {
    let machine = Processors::allowed().map_or(1, |of| of.count()) as f64 * 1000.0;
    let used = first.cpu_used_millicores.unwrap_or(machine / 2.0);
    let low = (used * 0.5).max(CPU_MILLICORES_MIN);
    let high = machine.max(2.0 * low);
    let Some(mut search) = SizeSearch::of(low, high, CPU_STEP_MILLICORES) else {
        return Ok((Searched::NothingCounts, None));
    };
    let (before, mut unseen) = (probes.done.len(), None);
    while let Some(size) = search.next().filter(|_| probes.has_time(1.0)) {
        let container = Container { cpu_millicores: Some(size), ..*container };
        let asked = Asked { resource: FitResource::Cpu, purpose: purpose(&search, size), container };
        let Some((probe, trial)) = probes.run(asked)? else { break };
        unseen = trial.memory_report.as_ref().and_then(unseen_limit).or(unseen);
        if probe.counts {
            search.add(size, probe.verdict == FitVerdict::Holds);
        }
    }
    Ok((fitted(&search, &probes.done[before..], |probe| probe.cpu_millicores), unseen))
}

fn purpose(search: &SizeSearch, size: f64) -> FitPurpose {
    let held = search.tried().iter().any(|of| of.size.total_cmp(&size).is_eq() && 0 < of.holds);
    if held { FitPurpose::Prove } else { FitPurpose::Search }
}

/// What a search found.
fn fitted(search: &SizeSearch, probes: &[FitProbe], size: impl Fn(&FitProbe) -> Option<f64>) -> Searched {
    let tried = search.tried();
    let Some(smallest) = tried.first() else { return Searched::NothingCounts };
    let (limit, is_proved, is_smallest_tried) = match search.answer() {
        SmallestSize::Found(limit) => (limit, true, false),
        SmallestSize::Undecided(limit) => (limit, false, false),
        SmallestSize::AllHold => (Estimate { estimate: smallest.size, low: None, high: None }, true, true),
        SmallestSize::NoneHolds => return Searched::NothingHolds,
    };
    let holds = tried.iter().find(|of| of.size.total_cmp(&limit.estimate).is_eq()).map_or(0, |of| of.holds);
    let is_below = |probe: &&FitProbe| {
        probe.verdict != FitVerdict::Holds
            && probe.counts
            && size(probe).is_some_and(|of| of < limit.estimate)
    };
    let below = probes
        .iter()
        .filter(is_below)
        .max_by(|a, b| size(a).unwrap_or(0.0).total_cmp(&size(b).unwrap_or(0.0)));
    let below = below.map(|probe| FitBelow {
        size: size(probe).unwrap_or(0.0),
        verdict: probe.verdict,
        detail: probe.detail.clone(),
    });
    Searched::Limit(FittedLimit {
        limit,
        is_proved,
        is_smallest_tried,
        holds,
        below,
        probes: probes.len() as u32,
        margin_bytes: None,
    })
}

/// A folder for the runs that is not there yet.
pub fn default_folder() -> PathBuf {
    let time = jiff::Timestamp::now().strftime("%Y%m%dT%H%M%SZ").to_string();
    Path::new("runs").join(format!("fit-{time}"))
}
