//! The server that is fitted, as a study of one variant whose limits a level sets.

use crate::ab::AbQuestion;
use crate::check::checked::Checked;
use crate::error::StudyError;
use crate::file::host::GroupTable;
use crate::file::program::CommandLine;
use crate::file::study::{DesignTable, Factor, Level, LoadKind, LoadTable, Settings, Study, WarmUpTable};
use crate::file::units::{Seconds, Size, Swap};
use crate::plan::prepare::Prepared;
use assay_measure::observers::Observe;
use assay_model::Design;
use assay_text::redact;
use std::collections::BTreeMap;
use std::time::Duration;

/// The factor whose only level is the container.
const FACTOR: &str = "container";
/// Stands where messages name a study file.
const NAME: &str = "assay fit";
/// In a command, where `--size` puts its value.
pub(super) const SIZE: &str = "{size}";
/// Options by which a JVM gets its largest heap.
const HEAP_OPTIONS: [&str; 6] =
    ["-Xmx", "-XX:MaxHeapSize=", "-XX:MaxRAMPercentage=", "-XX:MaxRAMFraction=", "-XX:MaxRAM=", "-mx"];

/// The server that is fitted.
#[derive(Debug)]
pub enum FitServer {
    /// A command, without a study file: both sides of the question are the same.
    Command(Box<AbQuestion>),
    /// The server, load and settings of a study; of its factors the baseline alone.
    Study(Box<Checked>),
    /// A ready-made workload.
    Workload(Box<FitWorkload>),
}

/// A ready-made workload and its load.
#[derive(Debug, Clone)]
pub struct FitWorkload {
    /// Its name.
    pub name: String,
    /// Options that it offers.
    pub options: BTreeMap<String, String>,
    /// The JVM.
    pub jvm: Option<String>,
    /// Requests per second; without it a closed loop of `users`.
    pub rate_per_s: Option<f64>,
    /// Users of a closed loop.
    pub users: u32,
    /// Seed of every random draw.
    pub seed: u64,
}

/// The container of one probe.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(super) struct Container {
    pub memory_bytes: Option<u64>,
    pub cpu_millicores: Option<f64>,
    /// Heap that is set; absent where the server has its own.
    pub heap_bytes: Option<u64>,
    /// All of the heap is touched at the start, so that its charge does not take hours to come.
    pub touches_heap: bool,
    /// The memory limit is only there so that a group counts: it is the machine's.
    pub is_unlimited: bool,
    /// No swap beside the memory: a server whose pages lie on a disk is neither killed nor fast.
    pub is_without_swap: bool,
}

/// A study that is tried in containers, and the name that messages have for it.
#[derive(Debug, Clone)]
pub(super) struct Base {
    study: Study,
    file: String,
}

/// How each trial is laid out.
#[derive(Debug, Clone, Copy)]
pub(super) struct Trials {
    pub window: Option<Duration>,
    pub blocks: u32,
}

impl FitServer {
    /// What it is called in results.
    pub(super) fn name(&self) -> String {
        match self {
            FitServer::Command(question) => redact::text(&question.sides[1].command).into_owned(),
            FitServer::Study(checked) => checked.name().to_owned(),
            FitServer::Workload(workload) => workload.name.clone(),
        }
    }

    /// Its study, once for each scenario; with its own load where none is named.
    pub(super) fn bases(&self, scenarios: &[String]) -> Vec<Base> {
        let (study, file) = match self {
            FitServer::Command(question) => {
                (question.study("fit", "server", ["server", "same"]), NAME.to_owned())
            }
            FitServer::Study(checked) => {
                (checked.study.clone(), checked.document.file.to_string_lossy().into_owned())
            }
            FitServer::Workload(workload) => (workload.study(), NAME.to_owned()),
        };
        if scenarios.is_empty() {
            return vec![Base { study, file }];
        }
        let with = |scenario: &String| {
            let study = Study { scenario: Some(scenario.clone()), ..study.clone() };
            Base { study, file: file.clone() }
        };
        scenarios.iter().map(with).collect()
    }
}

impl FitWorkload {
    fn study(&self) -> Study {
        let load = match self.rate_per_s {
            Some(rate_per_s) => LoadTable {
                kind: LoadKind::Open,
                rate_per_s: Some(rate_per_s),
                users: None,
                ..LoadTable::closed(1)
            },
            None => LoadTable::closed(self.users),
        };
        Study {
            workload: Some(self.name.clone()),
            seed: Some(self.seed),
            settings: Settings {
                jvm: self.jvm.clone(),
                load: Some(load),
                workload_options: self.options.clone(),
                ..Settings::default()
            },
            ..Study::named("fit")
        }
    }
}

impl Container {
    fn level(&self) -> Level {
        let size = |bytes: u64| Size { bytes };
        let limits = GroupTable {
            cpus: self.cpu_millicores.map(|millicores| millicores / 1000.0),
            memory: self.memory_bytes.map(size),
            swap: self.is_without_swap.then_some(Swap::Off),
            memory_high: None,
        };
        Level {
            name: self.name(),
            settings: Settings {
                heap: self.heap_bytes.map(size),
                jvm_options: self
                    .touches_heap
                    .then(|| "-XX:+AlwaysPreTouch".to_owned())
                    .into_iter()
                    .collect(),
                ..Settings::default()
            },
            limits: Some(limits).filter(|limits| *limits != GroupTable::default()),
            ..Level::default()
        }
    }

    /// As a part of the name of a folder.
    pub fn name(&self) -> String {
        let memory =
            self.memory_bytes.filter(|_| !self.is_unlimited).map(|bytes| format!("{}m", bytes >> 20));
        let cpu = self.cpu_millicores.map(|millicores| format!("{millicores:.0}cpu"));
        let both: Vec<String> = memory.into_iter().chain(cpu).collect();
        if both.is_empty() { "no-limits".to_owned() } else { both.join("-") }
    }
}

impl Base {
    /// Its study in a container.
    pub fn within(&self, container: &Container, trials: Trials) -> Result<Prepared, StudyError> {
        prepare(self.study.clone(), &self.file, (FACTOR, vec![container.level()]), trials)
    }

    /// Its study with a level for each value of an option, which stands in the command or is one of the JVM.
    pub fn with_values(&self, option: &str, values: &[u64], trials: Trials) -> Result<Prepared, StudyError> {
        let level = |value: &u64| {
            let text = value.to_string();
            let settings = if option == SIZE {
                Settings { command: self.command_with(&text), ..Settings::default() }
            } else {
                Settings { jvm_options: vec![option.replace("{}", &text)], ..Settings::default() }
            };
            Level { name: text, settings, ..Level::default() }
        };
        let levels: Vec<Level> = values.iter().map(level).collect();
        let mut study = self.study.clone();
        if option == SIZE {
            // Commands of the study would take the place of those that hold the value.
            study.factor.iter_mut().flat_map(|of| &mut of.level).for_each(|of| of.settings.command = None);
            study.settings.command = None;
            let first = levels.first().and_then(|level| level.settings.command.clone());
            study.server.iter_mut().for_each(|server| server.command.clone_from(&first));
        }
        prepare(study, &self.file, (super::option::FACTOR, levels), trials)
    }

    fn command_with(&self, value: &str) -> Option<CommandLine> {
        let of_levels =
            self.study.factor.iter().filter_map(|factor| factor.level.first()?.settings.command.as_ref());
        let own = self
            .study
            .settings
            .command
            .iter()
            .chain(self.study.server.as_ref().and_then(|of| of.command.as_ref()));
        let filled = |command: &CommandLine| match command {
            CommandLine::Text(text) => CommandLine::Text(text.replace(SIZE, value)),
            CommandLine::Words(words) => {
                CommandLine::Words(words.iter().map(|of| of.replace(SIZE, value)).collect())
            }
        };
        of_levels.chain(own).next().map(filled)
    }
}

/// The study with these levels, each of a fresh process.
fn prepare(
    study: Study,
    file: &str,
    (factor, level): (&str, Vec<Level>),
    trials: Trials,
) -> Result<Prepared, StudyError> {
    let mut study = study.varied_by(Factor { name: factor.to_owned(), level, ..Factor::default() });
    let own = study.design;
    study.design = DesignTable {
        kind: Some(Design::Fresh),
        blocks: Some(trials.blocks),
        window: trials.window.map(Seconds::from).or(own.window),
        warm_up: WarmUpTable {
            min: own.warm_up.min.or(Some(Seconds(8.0))),
            cap: own.warm_up.cap.or(Some(Seconds(30.0))),
        },
        repeats_max: Some(0),
        windows: None,
        time_max: None,
    };
    study.question = "Which is the smallest container that keeps the limits?".to_owned();
    (study.quick, study.capacity, study.primary_metric) = (None, None, None);
    study.observe = Some(vec![Observe::Gc, Observe::Group, Observe::Memory, Observe::Host, Observe::Latency]);
    study.checked(file).map_err(StudyError::Diagnostics)?.prepare(false)
}

/// The option by which the command or the study gives the JVM its heap.
pub(super) fn given_heap(prepared: &Prepared) -> Option<String> {
    let launch = prepared.launches.first()?;
    let environment = launch.environment.values().flat_map(|text| text.split_whitespace().map(str::to_owned));
    let words = launch.variant.jvm_options.iter().chain(&launch.command).cloned().chain(environment);
    words.into_iter().find(|word| HEAP_OPTIONS.iter().any(|option| word.starts_with(option)))
}
