//! Two commands as a study: what `assay ab` runs, and what its run says.

use crate::check::checked::Checked;
use crate::counted::CountedForm;
use crate::error::StudyError;
use crate::file::program::{CommandLine, ServerTable};
use crate::file::study::{DesignTable, Factor, Level, LoadKind, LoadTable, Settings, Study, WarmUpTable};
use crate::file::units::{Seconds, Size};
use crate::plan::prepare::VERSION;
use assay_host::provenance;
use assay_launch::JVM_OPTIONS;
use assay_linux::ProcRoot;
use assay_measure::observers::Observe;
use assay_model::{
    AbCounted, AbFigure, AbReport, AbSide, AbVerdict, Better, Decision, Design, Estimate, Metric, Outcome,
    Problem, StoredRun, Variant, metric, schema,
};
use assay_results::Gate;
use assay_text::redact;
use std::collections::BTreeMap;
use std::time::Duration;

/// The factor, and its levels.
const FACTOR: &str = "build";
/// Name of the variant that is compared with.
const BEFORE: &str = "before";
/// Name of the variant that is compared.
const AFTER: &str = "after";
/// The variable by which a JVM gets options where the command starts it by other means.
const JVM_OPTIONS_VARIABLE: &str = "JAVA_TOOL_OPTIONS";
/// Stands where messages name a study file.
const NAME: &str = "assay ab";

/// How one of the two servers is started.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AbCommand {
    /// Its command.
    pub command: String,
    /// The folder in which it is started; the current one where there is none.
    pub directory: Option<String>,
    /// JVM options besides those in the command, before which they stand.
    pub jvm_options: Vec<String>,
}

/// What is asked of two builds.
#[derive(Debug, Clone)]
pub struct AbQuestion {
    /// Both servers, the earlier one first.
    pub sides: [AbCommand; 2],
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

/// What gives these figures.
pub(crate) const OBSERVED: [Observe; 6] =
    [Observe::Allocation, Observe::Gc, Observe::Memory, Observe::Host, Observe::Latency, Observe::Time];

impl AbQuestion {
    /// The study that answers it.
    ///
    /// # Errors
    /// Mistakes in commands, folders and scenario.
    pub fn checked(&self) -> Result<Checked, StudyError> {
        let study = Study {
            question: "How does the new build differ?".to_owned(),
            ..self.study("ab", FACTOR, [BEFORE, AFTER])
        };
        study.checked(NAME).map_err(StudyError::Diagnostics)
    }

    /// The study of this name whose factor has a level for each side.
    pub(crate) fn study(&self, name: &str, factor: &str, levels: [&str; 2]) -> Study {
        let level = |(name, side): (&str, &AbCommand)| {
            let (command, environment) = with_jvm_options(&side.command);
            let settings = Settings {
                command: Some(CommandLine::Text(command)),
                directory: side.directory.clone(),
                jvm_options: side.jvm_options.clone(),
                environment,
                ..Settings::default()
            };
            Level { name: name.to_owned(), settings, ..Level::default() }
        };
        let level: Vec<Level> = levels.into_iter().zip(&self.sides).map(level).collect();
        Study {
            server: Some(ServerTable {
                command: level[0].settings.command.clone(),
                ready_url: format!("http://127.0.0.1:{{port}}{}", self.url_path),
                ..ServerTable::default()
            }),
            scenario: self.scenario.clone(),
            primary_metric: Some(metric::CPU_WITHOUT_JIT_MS_PER_REQUEST.to_owned()),
            observe: Some(OBSERVED.to_vec()),
            seed: Some(self.seed),
            settings: Settings {
                jvm: self.jvm.clone(),
                heap: self.heap,
                load: Some(self.load()),
                ..Settings::default()
            },
            factor: vec![Factor { name: factor.to_owned(), level, ..Factor::default() }],
            design: DesignTable {
                kind: Some(Design::Duet),
                window: Some(self.window.into()),
                warm_up: WarmUpTable { min: Some(Seconds(8.0)), cap: Some(Seconds(30.0)) },
                repeats_max: Some(1),
                ..DesignTable::default()
            },
            baseline: BTreeMap::from([(factor.to_owned(), levels[0].to_owned())]),
            ..Study::named(name)
        }
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

/// Instructions of two builds as a figure beside those that were measured, and how they were counted.
#[derive(Debug)]
pub struct Count {
    figure: Option<AbFigure>,
    how: AbCounted,
}

impl Count {
    /// Of a run of [`Checked::counted`] of two builds, which took so long.
    pub fn of(run: &StoredRun, dir: &str, form: CountedForm, limit_percent: f64, took_s: f64) -> Count {
        let figure = figure(run, metric::EMULATED_USER_INSTRUCTIONS_WITHOUT_JIT_PER_REQUEST, limit_percent);
        let how = AbCounted { took_s, run: Some(dir.to_owned()), ..Count::none(form, None).how };
        Count { figure: Some(figure), how }
    }

    /// That nothing was counted, and why.
    pub fn none(form: CountedForm, why: impl Into<Option<String>>) -> Count {
        let requests = [form.warm_up_requests, form.window_requests];
        let jvm_options = form.jvm_options.iter().map(|option| (*option).to_owned()).collect();
        let how = AbCounted { requests, jvm_options, took_s: 0.0, run: None, not_counted: why.into() };
        Count { figure: None, how }
    }
}

/// The limit as a condition of the count.
pub fn condition_of_count(limit_percent: f64) -> Vec<Gate> {
    let metric = Metric::by_id(metric::EMULATED_USER_INSTRUCTIONS_WITHOUT_JIT_PER_REQUEST);
    metric.map(|metric| Gate::of_worse(metric, limit_percent)).into_iter().collect()
}

/// Figures in the order of what varies least: instructions stand before CPU time.
fn with_count(mut figures: Vec<AbFigure>, count: Option<AbFigure>) -> Vec<AbFigure> {
    let at = figures.iter().position(|figure| figure.metric.starts_with("cpu_")).unwrap_or(figures.len());
    figures.splice(at..at, count);
    figures
}

/// What a run of [`AbQuestion::checked`] says, which took so long, beside the count of its instructions.
pub fn judged(
    question: &AbQuestion,
    limit_percent: f64,
    (run, dir): (&StoredRun, &str),
    counted: Count,
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
        figures: with_count(figures(run, limit_percent), counted.figure),
        counted: Some(counted.how),
        seed: plan.seed,
        run: dir.to_owned(),
        problems: problems(run),
    }
}

/// Every figure of a run of two variants, of which one is the baseline of the other.
pub(crate) fn figures(run: &StoredRun, limit_percent: f64) -> Vec<AbFigure> {
    FIGURES.iter().map(|id| figure(run, id, limit_percent)).collect()
}

/// What could not be read of the figures; other problems are of metrics that are not read here.
pub(crate) fn problems(run: &StoredRun) -> Vec<Problem> {
    let is_of_a_figure = |problem: &&Problem| FIGURES.contains(&problem.about.as_str());
    run.summary.iter().flat_map(|of| &of.problems).filter(is_of_a_figure).cloned().collect()
}

fn side_of(variant: Option<&Variant>, side: &AbCommand) -> AbSide {
    AbSide {
        command: redact::text(&side.command).into_owned(),
        directory: side.directory.clone().unwrap_or_else(|| ".".to_owned()),
        jvm: variant.and_then(|variant| variant.jvm.clone()),
    }
}

/// A figure of such a run.
fn figure(run: &StoredRun, id: &str, limit_percent: f64) -> AbFigure {
    let summary = run.summary.as_ref();
    let value = |is_baseline: bool| {
        let of_side = |variant: &&Variant| variant.baseline.is_none() == is_baseline;
        let name = &run.plan.variants.iter().find(of_side)?.name;
        let variant = summary?.variants.iter().find(|variant| variant.name == *name)?;
        variant.metrics.get(id).copied()
    };
    let comparison = summary.and_then(|summary| summary.comparisons.iter().find(|of| of.metric == id));
    let decision = summary.and_then(|summary| summary.decisions.iter().find(|of| of.metric == id));
    let ratio = comparison.map(|of| of.ratio);
    let of_trials = || {
        run.trials.iter().flat_map(|stored| {
            stored.trial.windows.iter().flat_map(|window| &window.problems).chain(&stored.trial.problems)
        })
    };
    let why = || of_trials().find(|problem| problem.about == id).map(|problem| problem.text.clone());
    AbFigure {
        metric: id.to_owned(),
        before: value(true),
        after: value(false),
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
    let limit = 1.0 + limit_percent / 100.0;
    match () {
        () if limit < low => AbVerdict::Unconfirmed,
        () if 1.0 < low => AbVerdict::WorseWithinLimit,
        () if high < 1.0 => AbVerdict::Better,
        () if high < limit => AbVerdict::Same,
        () => AbVerdict::NotShown,
    }
}

/// A command that takes the options of its JVM: behind `java`, or in a variable where the command starts it by other means. Variables that `env`
/// sets before it are the server's.
fn with_jvm_options(command: &str) -> (String, BTreeMap<String, String>) {
    let (command, mut environment) = without_env(command);
    if command.contains(JVM_OPTIONS) {
        return (command.to_owned(), environment);
    }
    let begin = command.len() - command.trim_start().len();
    let end = command[begin..].find(char::is_whitespace).map_or(command.len(), |end| begin + end);
    let program = &command[begin..end];
    if program == "java" || program.ends_with("/java") {
        return (format!("{} {JVM_OPTIONS}{}", &command[..end], &command[end..]), environment);
    }
    environment.insert(JVM_OPTIONS_VARIABLE.to_owned(), JVM_OPTIONS.to_owned());
    (command.to_owned(), environment)
}

/// Takes `env NAME=VALUE ...` off a command, where all of it is plain words; any other stays as it is.
fn without_env(command: &str) -> (&str, BTreeMap<String, String>) {
    let (mut rest, mut environment) =
        (command.trim_start().strip_prefix("env ").unwrap_or_default(), BTreeMap::new());
    let is_plain = |text: &str| text.chars().all(|c| c.is_ascii_alphanumeric() || "_./:,+-".contains(c));
    while let Some((word, behind)) = rest.trim_start().split_once(char::is_whitespace) {
        let Some((name, value)) = word.split_once('=') else {
            let is_program = !word.starts_with('-') && is_plain(word);
            return if is_program { (rest.trim_start(), environment) } else { (command, BTreeMap::new()) };
        };
        if !is_plain(name) || !is_plain(value) {
            break;
        }
        environment.insert(name.to_owned(), value.to_owned());
        rest = behind;
    }
    (command, BTreeMap::new())
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
        assert_eq!(of(1.12, Outcome::Undecided, 3.0), AbVerdict::Unconfirmed);
        assert_eq!(of(1.04, Outcome::Undecided, 3.0), AbVerdict::WorseWithinLimit);
        assert_eq!(of(0.9, Outcome::NotSo, 3.0), AbVerdict::Better);
        assert_eq!(of(1.0, Outcome::NotSo, 3.0), AbVerdict::Same);
        assert_eq!(of(1.0, Outcome::Undecided, 1.0), AbVerdict::NotShown);
        assert_eq!(verdict(id, None, None, 3.0), AbVerdict::Undecided);
    }

    #[test]
    fn instructions_stand_behind_bytes_and_before_cpu_time() {
        let figure = |id: &str| AbFigure {
            metric: id.to_owned(),
            before: None,
            after: None,
            ratio: None,
            again: None,
            pairs: 3,
            smallest_percent: None,
            verdict: AbVerdict::Undecided,
            absent: None,
        };
        let counted = figure(metric::EMULATED_USER_INSTRUCTIONS_WITHOUT_JIT_PER_REQUEST);
        let all = with_count(FIGURES.map(figure).into(), Some(counted));
        let ids: Vec<&str> = all.iter().map(|figure| figure.metric.as_str()).collect();
        assert_eq!(
            ids[..3],
            [FIGURES[0], metric::EMULATED_USER_INSTRUCTIONS_WITHOUT_JIT_PER_REQUEST, FIGURES[1]]
        );
        assert_eq!(with_count(FIGURES.map(figure).into(), None).len(), FIGURES.len());
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
        let (command, environment) = of("env WORK=4 SIZE=a.b java -jar a.jar");
        assert_eq!(command, "java {jvm_options} -jar a.jar");
        assert_eq!(
            environment.into_iter().map(|(n, v)| format!("{n}={v}")).collect::<Vec<_>>(),
            ["SIZE=a.b", "WORK=4"]
        );
        for whole in ["env -i java -jar a.jar", "env A='b c' java", "env A=b"] {
            assert_eq!(of(whole).0, whole);
            assert_eq!(of(whole).1[JVM_OPTIONS_VARIABLE], JVM_OPTIONS);
        }
        let (command, environment) = of("./start --port={port}");
        assert_eq!(command, "./start --port={port}");
        assert_eq!(environment[JVM_OPTIONS_VARIABLE], JVM_OPTIONS);
    }
}
