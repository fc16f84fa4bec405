//! Two commands as a study: what `assay ab` runs, and what its run says.

use crate::check::checked::Checked;
use crate::error::StudyError;
use crate::file::program::{CommandLine, ServerTable};
use crate::file::study::{DesignTable, Factor, Level, LoadKind, LoadTable, Settings, Study, WarmUpTable};
use crate::file::units::{Seconds, Size};
use crate::plan::prepare::VERSION;
use crate::result::gate::Gate;
use assay_host::provenance;
use assay_launch::JVM_OPTIONS;
use assay_linux::ProcRoot;
use assay_measure::observers::Observe;
use assay_model::{
    AbFigure, AbReport, AbSide, AbVerdict, Better, Decision, Design, Estimate, Metric, Outcome, Problem,
    StoredRun, Variant, metric, schema,
};
use assay_text::redact;
use std::collections::BTreeMap;
use std::time::Duration;

/// The factor, and its levels.
const FACTOR: &str = "build";
/// Name of the variant that is compared with.
pub const BEFORE: &str = "before";
/// Name of the variant that is compared.
pub const AFTER: &str = "after";
/// The variable by which a JVM gets options where the command starts it by other means.
const JVM_OPTIONS_VARIABLE: &str = "JAVA_TOOL_OPTIONS";
/// Stands where messages name a study file.
const NAME: &str = "assay ab";

/// What is asked of two builds.
#[derive(Debug, Clone)]
pub struct AbQuestion {
    /// The command of each, the earlier one first, and the folder in which it is started.
    pub sides: [(String, Option<String>); 2],
    /// Path that says that a server is ready, and is requested where there is no scenario.
    pub url_path: String,
    /// Scenario file.
    pub scenario: Option<String>,
    /// Requests per second; without it a closed loop of `users`.
    pub rate_per_s: Option<f64>,
    /// Users of a closed loop.
    pub users: u32,
    /// The JVM that `java` stands for.
    pub jvm: Option<String>,
    /// Heap of both.
    pub heap: Option<Size>,
    /// Length of a window.
    pub window: Duration,
    /// Seed of every random draw.
    pub seed: u64,
}

/// The figures that are read of two builds: what varies least comes first.
const FIGURES: [&str; 5] = [
    metric::ALLOCATED_KIB_PER_REQUEST,
    metric::CPU_WITHOUT_JIT_MS_PER_REQUEST,
    metric::CPU_MS_PER_REQUEST,
    metric::RSS_BYTES,
    metric::RESPONSE_P99_MS,
];

impl AbQuestion {
    /// The study that answers it.
    ///
    /// # Errors
    /// Mistakes in commands, folders and scenario.
    pub fn checked(&self) -> Result<Checked, StudyError> {
        let level = |name: &str, (command, directory): &(String, Option<String>)| {
            let (command, environment) = with_jvm_options(command);
            let settings = Settings {
                command: Some(CommandLine::Text(command)),
                directory: directory.clone(),
                environment,
                ..Settings::default()
            };
            Level { name: name.to_owned(), settings, ..Level::default() }
        };
        let [before, after] = &self.sides;
        let level = vec![level(BEFORE, before), level(AFTER, after)];
        let study = Study {
            question: "How does the new build differ?".to_owned(),
            server: Some(ServerTable {
                command: level[0].settings.command.clone(),
                ready_url: format!("http://127.0.0.1:{{port}}{}", self.url_path),
                ..ServerTable::default()
            }),
            scenario: self.scenario.clone(),
            primary_metric: Some(metric::CPU_WITHOUT_JIT_MS_PER_REQUEST.to_owned()),
            observe: Some(vec![
                Observe::Allocation,
                Observe::Gc,
                Observe::Memory,
                Observe::Host,
                Observe::Latency,
                Observe::Time,
            ]),
            seed: Some(self.seed),
            settings: Settings {
                jvm: self.jvm.clone(),
                heap: self.heap,
                load: Some(self.load()),
                ..Settings::default()
            },
            factor: vec![Factor { name: FACTOR.to_owned(), level, ..Factor::default() }],
            design: DesignTable {
                kind: Some(Design::Duet),
                window: Some(self.window.into()),
                warm_up: WarmUpTable { min: Some(Seconds(8.0)), cap: Some(Seconds(30.0)) },
                repeats_max: Some(1),
                ..DesignTable::default()
            },
            baseline: BTreeMap::from([(FACTOR.to_owned(), BEFORE.to_owned())]),
            ..Study::named("ab")
        };
        study.checked(NAME).map_err(StudyError::Diagnostics)
    }

    fn load(&self) -> LoadTable {
        match self.rate_per_s {
            Some(rate_per_s) => LoadTable {
                kind: LoadKind::Open,
                rate_per_s: Some(rate_per_s),
                users: None,
                ..LoadTable::closed(1)
            },
            None => LoadTable::closed(self.users),
        }
    }

    /// Whether both sides are the same.
    pub fn is_a_a(&self) -> bool {
        self.sides[0] == self.sides[1]
    }
}

/// The limit as conditions: no figure may be worse by more than so many percent.
pub fn conditions(limit_percent: f64) -> Vec<Gate> {
    FIGURES.iter().filter_map(|id| Some(Gate::of_worse(Metric::by_id(id)?, limit_percent))).collect()
}

/// What a run of [`AbQuestion::checked`] says, which took so long.
pub fn judged(
    question: &AbQuestion,
    limit_percent: f64,
    run: &StoredRun,
    dir: &str,
    took_s: f64,
) -> AbReport {
    let plan = &run.plan;
    let of_variant = |name: &str| plan.variants.iter().find(|variant| variant.name == name);
    let [before, after] = [(BEFORE, &question.sides[0]), (AFTER, &question.sides[1])]
        .map(|(name, side)| side_of(of_variant(name), side));
    AbReport {
        schema: schema::AB.to_owned(),
        provenance: provenance(&ProcRoot::default(), VERSION),
        before,
        after,
        is_a_a: question.is_a_a(),
        load: plan.load.clone(),
        design: plan.design,
        budget_s: plan.budget.as_ref().map_or(0.0, |budget| budget.time_s),
        took_s,
        limit_percent,
        figures: FIGURES.iter().map(|id| figure(run, id, limit_percent)).collect(),
        seed: plan.seed,
        run: dir.to_owned(),
        problems: run.summary.iter().flat_map(|of| &of.problems).filter(is_of_a_figure).cloned().collect(),
    }
}

/// Others are of metrics that are not read here.
fn is_of_a_figure(problem: &&Problem) -> bool {
    FIGURES.contains(&problem.about.as_str())
}

fn side_of(variant: Option<&Variant>, (command, directory): &(String, Option<String>)) -> AbSide {
    AbSide {
        command: redact::text(command).into_owned(),
        directory: directory.clone().unwrap_or_else(|| ".".to_owned()),
        jvm: variant.and_then(|variant| variant.jvm.clone()),
    }
}

fn figure(run: &StoredRun, id: &str, limit_percent: f64) -> AbFigure {
    let summary = run.summary.as_ref();
    let value = |name: &str| {
        let variant = summary?.variants.iter().find(|variant| variant.name == name)?;
        variant.metrics.get(id).copied()
    };
    let comparison = summary
        .and_then(|summary| summary.comparisons.iter().find(|of| of.metric == id && of.variant == AFTER));
    let decision = summary
        .and_then(|summary| summary.decisions.iter().find(|of| of.metric == id && of.variant == AFTER));
    let ratio = comparison.map(|of| of.ratio);
    let of_trials = || {
        run.trials.iter().flat_map(|stored| {
            stored.trial.windows.iter().flat_map(|window| &window.problems).chain(&stored.trial.problems)
        })
    };
    let why = || of_trials().find(|problem| problem.about == id).map(|problem| problem.text.clone());
    AbFigure {
        metric: id.to_owned(),
        before: value(BEFORE),
        after: value(AFTER),
        ratio,
        again: decision.and_then(|of| of.second?.measured),
        pairs: comparison.map_or(0, |of| of.blocks),
        smallest_percent: decision
            .and_then(|of| of.smallest_difference_ratio)
            .map(|ratio| 100.0 * (ratio - 1.0)),
        verdict: verdict(id, ratio, decision, limit_percent),
        absent: if ratio.is_none() { why() } else { None },
    }
}

fn verdict(id: &str, ratio: Option<Estimate>, decision: Option<&Decision>, limit_percent: f64) -> AbVerdict {
    let Some((low, high)) = ratio.and_then(|ratio| ratio.ends()) else { return AbVerdict::Undecided };
    if decision.is_some_and(|of| of.outcome == Outcome::Shown) {
        return AbVerdict::Worse;
    }
    let is_lower_better = Metric::by_id(id).is_none_or(|metric| metric.better == Better::Lower);
    // As a ratio of which more is worse.
    let (low, high) = if is_lower_better { (low, high) } else { (1.0 / high, 1.0 / low) };
    match () {
        () if 1.0 < low => AbVerdict::WorseWithinLimit,
        () if high < 1.0 => AbVerdict::Better,
        () if high < 1.0 + limit_percent / 100.0 => AbVerdict::Same,
        () => AbVerdict::NotShown,
    }
}

/// A command that takes the options of its JVM: behind `java`, or in a variable where the command starts it by other means.
fn with_jvm_options(command: &str) -> (String, BTreeMap<String, String>) {
    if command.contains(JVM_OPTIONS) {
        return (command.to_owned(), BTreeMap::new());
    }
    let begin = command.len() - command.trim_start().len();
    let end = command[begin..].find(char::is_whitespace).map_or(command.len(), |end| begin + end);
    let program = &command[begin..end];
    if program == "java" || program.ends_with("/java") {
        return (format!("{} {JVM_OPTIONS}{}", &command[..end], &command[end..]), BTreeMap::new());
    }
    (command.to_owned(), BTreeMap::from([(JVM_OPTIONS_VARIABLE.to_owned(), JVM_OPTIONS.to_owned())]))
}

#[cfg(test)]
mod tests {
    use super::*;
    use assay_model::BlockSet;

    #[test]
    fn a_figure_is_worse_only_where_its_limit_is_shown_to_be_passed() {
        let id = metric::CPU_WITHOUT_JIT_MS_PER_REQUEST;
        let ratio = |estimate: f64| {
            Some(Estimate { estimate, low: Some(estimate - 0.02), high: Some(estimate + 0.02) })
        };
        let decided = |outcome| Decision {
            metric: id.to_owned(),
            variant: AFTER.to_owned(),
            baseline: Some(BEFORE.to_owned()),
            condition: Some(format!("{id} > +3%")),
            first: BlockSet { blocks: 4, measured: ratio(1.12) },
            second: None,
            outcome,
            smallest_difference_ratio: Some(1.05),
            blocks_missing: None,
        };
        let of = |estimate, outcome, limit| verdict(id, ratio(estimate), Some(&decided(outcome)), limit);
        assert_eq!(of(1.12, Outcome::Shown, 3.0), AbVerdict::Worse);
        assert_eq!(of(1.12, Outcome::Undecided, 3.0), AbVerdict::WorseWithinLimit);
        assert_eq!(of(0.9, Outcome::NotSo, 3.0), AbVerdict::Better);
        assert_eq!(of(1.0, Outcome::NotSo, 3.0), AbVerdict::Same);
        assert_eq!(of(1.0, Outcome::Undecided, 1.0), AbVerdict::NotShown);
        assert_eq!(verdict(id, None, None, 3.0), AbVerdict::Undecided);
    }

    #[test]
    fn the_limit_is_a_condition_of_each_figure() {
        let texts: Vec<String> = conditions(3.0).iter().map(Gate::to_string).collect();
        assert_eq!(texts.len(), FIGURES.len());
        assert_eq!(texts[0], "allocated_kib_per_request > +3%");
        for text in texts {
            assert_eq!(Gate::parse(&text).map(|gate| gate.to_string()).as_deref(), Ok(text.as_str()));
        }
    }

    #[test]
    fn a_java_command_takes_options_behind_java_and_another_one_in_a_variable() {
        let of = |command: &str| with_jvm_options(command);
        assert_eq!(of("java -jar a.jar").0, "java {jvm_options} -jar a.jar");
        assert_eq!(of(" /opt/jdk/bin/java -jar a.jar").0, " /opt/jdk/bin/java {jvm_options} -jar a.jar");
        assert_eq!(of("java {jvm_options} A"), ("java {jvm_options} A".to_owned(), BTreeMap::new()));
        let (command, environment) = of("./start --port={port}");
        assert_eq!(command, "./start --port={port}");
        assert_eq!(environment[JVM_OPTIONS_VARIABLE], JVM_OPTIONS);
    }
}
