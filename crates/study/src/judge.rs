//! `assay judge`: what a set of JVM flags does to a server. Comparison after comparison, each in pairs as `assay ab` makes them: all flags with
//! none, then with all but those of each group, then with all but one.

mod parts;

use crate::ab::{AbCommand, AbQuestion, OBSERVED, conditions, figures, problems};
use crate::check::checked::Checked;
use crate::error::StudyError;
use crate::file::study::{Factor, Level, Settings, Study};
use crate::plan::budget::Budget;
use crate::plan::prepare::{Prepared, VERSION};
use crate::runner::{RunOptions, Source, run_from};
use assay_host::provenance;
use assay_jdk::InstalledJvms;
use assay_jdk::options::{group_of, judge_here, options_in_words, prevents, set_the_same, words_of};
use assay_linux::ProcRoot;
use assay_model::{
    Design, FlagGroup, JudgeReport, JudgedFlag, JudgedPart, JvmFacts, NotMeasured, NotMeasuredReason,
    OptionRemark, Plan, Problem, RemarkOnOption, RunEvent, metric, schema,
};
use assay_results::load_run;
use assay_text::redact;
use parts::{Stages, parts_of};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// The factor, and its levels.
const FACTOR: &str = "flags";
const WITHOUT: &str = "without";
const WITH: &str = "with";
/// Stands where messages name a study file.
const NAME: &str = "assay judge";

/// The server that flags are judged on.
#[derive(Debug)]
pub enum JudgedServer {
    /// A command, without a study file: both sides of the question are the same.
    Command(Box<AbQuestion>),
    /// The server, load and settings of a study; of its factors the baseline alone.
    Study(Box<Checked>),
}

/// How flags are judged.
#[derive(Debug, Clone)]
pub struct JudgeOptions {
    /// The time for all comparisons.
    pub budget: Duration,
    /// A figure that is worse by more than this is of interest, percent.
    pub limit_percent: f64,
    /// Whether the servers get control groups of their own while they run.
    pub allow_host_changes: bool,
    /// Folder of the runs; it must not be there yet.
    pub out: PathBuf,
}

/// What happens meanwhile.
#[derive(Debug)]
pub enum JudgeEvent<'a> {
    /// A comparison begins: its number, of how many, the part, the plan of its run.
    Begins(usize, usize, &'a JudgedPart, &'a Plan),
    /// Something happened in its run.
    Run(&'a RunEvent),
    /// A part was measured, or could not be.
    Ended(&'a JudgedPart),
}

/// Gets what happens meanwhile.
type OnEvent<'a> = dyn FnMut(JudgeEvent<'_>) + 'a;

/// Flags that a JVM starts with, on a server.
#[derive(Debug)]
pub struct Judge {
    server: JudgedServer,
    /// As they are read: an option of two words is one text.
    options: Vec<String>,
    flags: Vec<JudgedFlag>,
    /// The JVM that is asked; none where the command starts it by other means.
    jvm: Option<JvmFacts>,
    settings: JudgeOptions,
    whole: Plan,
}

impl Judge {
    /// Looks the flags up, in tables and by starting the server's JVM with them.
    ///
    /// # Errors
    /// No flag, or one twice; a JVM that does not start with them, in its own words; what the server or the study lacks.
    pub fn new(
        server: JudgedServer,
        options: Vec<String>,
        settings: JudgeOptions,
        stop: &AtomicBool,
    ) -> Result<Judge, StudyError> {
        check_options(&options)?;
        let prepared = server.prepare(&[], &options)?;
        let jvm = prepared.plan().variants.first().and_then(|variant| variant.jvm.clone());
        let jvm = jvm.or_else(|| jvm_of_command(&prepared));
        let remarks = match &jvm {
            Some(jvm) => remarks(&prepared, &options, jvm, stop)?,
            None => Vec::new(),
        };
        let flags = options.iter().enumerate().map(|(at, option)| flag(option, at, &remarks)).collect();
        Ok(Judge { server, options, flags, jvm, settings, whole: prepared.plan })
    }

    /// The comparison of the whole set, bound by its share of the time.
    ///
    /// # Errors
    /// Time for fewer than three pairs, with the time that would do; what this machine lacks.
    pub fn first(&self) -> Result<Prepared, StudyError> {
        let parts = parts_of(&self.flags);
        let prepared = self.prepare(&parts[0])?;
        let budget_s = self.settings.budget.as_secs_f64();
        let share_s = Stages::new(&parts, budget_s).share_s(0, prepared.least_s());
        self.bind(prepared, share_s.unwrap_or(budget_s))
    }

    /// The flags, with what is known before anything is measured.
    pub fn flags(&self) -> &[JudgedFlag] {
        &self.flags
    }

    /// The comparisons, in the order in which they are made.
    pub fn parts(&self) -> Vec<JudgedPart> {
        parts_of(&self.flags)
    }

    /// Compares until all parts are, the time is over, or the user stops it: then the report has what was measured before.
    ///
    /// # Errors
    /// The whole set cannot be measured.
    pub fn run(
        &self,
        source: &Source<'_>,
        stop: &AtomicBool,
        on_event: &mut OnEvent<'_>,
    ) -> Result<JudgeReport, StudyError> {
        let begun = Instant::now();
        let mut report = self.blank();
        let mut stages = Stages::new(&report.parts, report.budget_s);
        for at in 0..report.parts.len() {
            stages.spent_s(at, begun.elapsed().as_secs_f64());
            let mut part = report.parts[at].clone();
            match self.compare(&mut part, (at, report.parts.len()), &stages, source, stop, on_event) {
                Ok(found) => {
                    let pairs = part.figures.iter().map(|figure| figure.pairs).max().unwrap_or(0);
                    stages.took_s(begun.elapsed().as_secs_f64() - stages.spent(), pairs);
                    report.problems.extend(found);
                }
                Err(Unmeasured::Error(error)) if at == 0 => return Err(error),
                Err(unmeasured) => part.not_measured = Some(unmeasured.stored()),
            }
            on_event(JudgeEvent::Ended(&part));
            report.parts[at] = part;
        }
        report.problems.dedup();
        report.took_s = begun.elapsed().as_secs_f64();
        Ok(report)
    }

    fn compare(
        &self,
        part: &mut JudgedPart,
        (at, count): (usize, usize),
        stages: &Stages,
        source: &Source<'_>,
        stop: &AtomicBool,
        on_event: &mut OnEvent<'_>,
    ) -> Result<Vec<Problem>, Unmeasured> {
        let not = |reason, detail| Err(Unmeasured::Reason(NotMeasured { reason, detail }));
        if stop.load(Ordering::Relaxed) {
            return not(NotMeasuredReason::Stopped, String::new());
        }
        let prepared = self.prepare(part)?;
        if has_equal_options(&prepared.plan) {
            return not(NotMeasuredReason::SameOptions, String::new());
        }
        let Some(share_s) = stages.share_s(at, prepared.least_s()).or_else(|| self.whole_share_s(at)) else {
            return not(NotMeasuredReason::NoTime, String::new());
        };
        if 0 < at
            && let Some(why) = self.refused_without(&prepared, stop)?
        {
            return not(NotMeasuredReason::DoesNotStart, why);
        }
        let prepared = self.bind(prepared, share_s)?;
        on_event(JudgeEvent::Begins(at + 1, count, part, prepared.plan()));
        let dir = self.settings.out.join(format!("{:02}-{}", at + 1, slug(&part.name)));
        let allow_host_changes = self.settings.allow_host_changes;
        let options = RunOptions { out: Some(dir.clone()), allow_host_changes, ..RunOptions::default() };
        run_from(&prepared, &options, source, stop, &mut |event| on_event(JudgeEvent::Run(event)))?;
        let run = load_run(&dir).map_err(StudyError::from)?;
        part.figures = figures(&run, self.settings.limit_percent);
        part.budget_s = Some(share_s);
        part.run = Some(dir.display().to_string());
        Ok(problems(&run))
    }

    fn bind(&self, prepared: Prepared, time_s: f64) -> Result<Prepared, StudyError> {
        let limit_percent = self.settings.limit_percent;
        let budget = Budget {
            time: Duration::try_from_secs_f64(time_s).unwrap_or(self.settings.budget),
            conditions: conditions(limit_percent),
            difference_percent: limit_percent,
        };
        budget.bind_one(prepared)
    }

    /// The whole set gets all of the time where that is too short: then the error names what would do.
    fn whole_share_s(&self, at: usize) -> Option<f64> {
        (at == 0).then_some(self.settings.budget.as_secs_f64())
    }

    /// All flags with all but those of a part.
    fn prepare(&self, part: &JudgedPart) -> Result<Prepared, StudyError> {
        let others = self.options.iter().enumerate().filter(|(at, _)| !part.flags.contains(at));
        let others: Vec<String> = others.map(|(_, option)| option.clone()).collect();
        self.server.prepare(&others, &self.options)
    }

    /// Why no JVM starts with the flags that the first side has.
    fn refused_without(&self, prepared: &Prepared, stop: &AtomicBool) -> Result<Option<String>, StudyError> {
        let Some(jvm) = &self.jvm else { return Ok(None) };
        let without = prepared.launches.iter().find(|launch| launch.variant.baseline.is_none());
        let options = without.map(|launch| launch.variant.jvm_options.clone()).unwrap_or_default();
        let options = options_in_words(&options).unwrap_or_default();
        let (verdict, _) = judge_here(&options, jvm.feature, Some(Path::new(&jvm.home)), stop)
            .map_err(|e| StudyError::Environment(e.to_string()))?;
        Ok((verdict.starts == Some(false)).then(|| {
            let texts = verdict.remarks.iter().filter(|of| prevents(of.remark)).map(|of| of.why.clone());
            redacted(&verdict.refusal.or_else(|| texts.into_iter().next()).unwrap_or_default())
        }))
    }

    fn blank(&self) -> JudgeReport {
        JudgeReport {
            schema: schema::JUDGE.to_owned(),
            provenance: provenance(&ProcRoot::default(), VERSION),
            server: self.server.name(),
            jvm: self.jvm.clone(),
            flags: self.flags.clone(),
            load: self.whole.load.clone(),
            budget_s: self.settings.budget.as_secs_f64(),
            took_s: 0.0,
            limit_percent: self.settings.limit_percent,
            parts: parts_of(&self.flags),
            seed: self.whole.seed,
            runs: self.settings.out.display().to_string(),
            problems: Vec::new(),
        }
    }
}

/// Why a part has no figures.
enum Unmeasured {
    Reason(NotMeasured),
    Error(StudyError),
}

impl From<StudyError> for Unmeasured {
    fn from(error: StudyError) -> Self {
        Unmeasured::Error(error)
    }
}

impl Unmeasured {
    fn stored(self) -> NotMeasured {
        let (reason, detail) = match self {
            Unmeasured::Reason(known) => return known,
            Unmeasured::Error(StudyError::Interrupted { .. }) => (NotMeasuredReason::Stopped, String::new()),
            Unmeasured::Error(StudyError::NoTrial { reason, .. }) => (NotMeasuredReason::Failed, reason),
            Unmeasured::Error(error) => (NotMeasuredReason::Failed, error.to_string()),
        };
        NotMeasured { reason, detail: first_line(&detail) }
    }
}

impl JudgedServer {
    fn name(&self) -> String {
        match self {
            JudgedServer::Command(question) => redacted(&question.sides[1].command),
            JudgedServer::Study(checked) => checked.name().to_owned(),
        }
    }

    /// A study of two levels, with these options and with those.
    fn prepare(&self, without: &[String], with: &[String]) -> Result<Prepared, StudyError> {
        let words =
            |options: &[String]| -> Vec<String> { options.iter().flat_map(|of| words_of(of)).collect() };
        let of = [words(without), words(with)];
        let (study, file) = match self {
            JudgedServer::Command(question) => {
                let sides = of.map(|jvm_options| AbCommand { jvm_options, ..question.sides[1].clone() });
                let question = AbQuestion { sides, ..(**question).clone() };
                (question.study("judge", FACTOR, [WITHOUT, WITH]), NAME.to_owned())
            }
            JudgedServer::Study(checked) => {
                let file = checked.document.file.to_string_lossy().into_owned();
                (in_duets(checked.study.clone(), of), file)
            }
        };
        let study = Study { question: "What do these flags do?".to_owned(), ..study };
        study.checked(&file).map_err(StudyError::Diagnostics)?.prepare(false)
    }
}

/// A user's study with both sets of flags as its levels.
fn in_duets(study: Study, of: [Vec<String>; 2]) -> Study {
    let level = |(name, jvm_options): (&str, Vec<String>)| Level {
        name: name.to_owned(),
        settings: Settings { jvm_options, ..Settings::default() },
        ..Level::default()
    };
    let level = [WITHOUT, WITH].into_iter().zip(of).map(level).collect();
    let mut study = study.varied_by(Factor { name: FACTOR.to_owned(), level, ..Factor::default() });
    study.design.kind = Some(Design::Duet);
    study.quick = None;
    study.primary_metric = Some(metric::CPU_WITHOUT_JIT_MS_PER_REQUEST.to_owned());
    study.observe = Some(OBSERVED.to_vec());
    study
}

fn check_options(options: &[String]) -> Result<(), StudyError> {
    if options.is_empty() {
        return Err(StudyError::Use(
            "no flag is given\n  assay judge '-XX:+UseZGC -Xmx2g' --command 'java -jar shop.jar --port={port}'".to_owned(),
        ));
    }
    for (at, option) in options.iter().enumerate() {
        if let Some(first) = options[..at].iter().find(|first| set_the_same(first, option)) {
            return Err(StudyError::Use(format!(
                "{} and {} set the same, and the JVM takes the last one: leave one of them out",
                redacted(first),
                redacted(option)
            )));
        }
    }
    Ok(())
}

/// The JVM that a command names behind other words, as in `env A=1 java -jar shop.jar`.
fn jvm_of_command(prepared: &Prepared) -> Option<JvmFacts> {
    let words = &prepared.launches.first()?.command;
    let word = words.iter().find(|word| *word == "java" || word.ends_with("/bin/java"))?;
    match Path::new(word).parent().and_then(Path::parent) {
        Some(home) if word.contains('/') => assay_jdk::jvm_at(home).ok(),
        _ => InstalledJvms::find(&prepared.workload.cache).choose(assay_jdk::JvmWish::default()).ok(),
    }
}

/// What the JVM makes of the flags, beside all other options that it gets, by the flag's index.
fn remarks(
    prepared: &Prepared,
    flags: &[String],
    jvm: &JvmFacts,
    stop: &AtomicBool,
) -> Result<Vec<RemarkOnOption>, StudyError> {
    let with = prepared.launches.iter().find(|launch| launch.variant.baseline.is_some());
    let (given, command) =
        with.map(|launch| (&launch.variant.jvm_options[..], &launch.command[..])).unwrap_or_default();
    let mut options = options_in_words(given).unwrap_or_default();
    let first = options.windows(flags.len()).position(|of| of == flags).unwrap_or(0);
    let java = command.iter().position(|word| word == "java" || word.ends_with("/java"));
    let own = options_in_words(&command[java.unwrap_or(command.len())..]).unwrap_or_default();
    options.extend(own.into_iter().filter(|option| !option.contains('{')));
    let (verdict, _) = judge_here(&options, jvm.feature, Some(Path::new(&jvm.home)), stop)
        .map_err(|e| StudyError::Environment(e.to_string()))?;
    if verdict.starts == Some(false) {
        let text = |of: &RemarkOnOption| {
            let option = options.get(of.option).map_or("", String::as_str);
            let instead =
                of.instead.as_ref().map_or_else(String::new, |instead| format!("; in its place: {instead}"));
            format!("\n  {}: {}{instead}", redacted(option), of.why)
        };
        let texts: String = verdict.remarks.iter().filter(|of| prevents(of.remark)).map(text).collect();
        let said =
            verdict.refusal.map_or_else(String::new, |said| format!("\n  it says: {}", redacted(&said)));
        return Err(StudyError::Use(format!(
            "JDK {} does not start with these flags{texts}{said}",
            jvm.version
        )));
    }
    let own = |of: RemarkOnOption| {
        let option = of.option.checked_sub(first).filter(|at| *at < flags.len())?;
        Some(RemarkOnOption { option, ..of })
    };
    Ok(verdict.remarks.into_iter().filter_map(own).collect())
}

fn flag(option: &str, at: usize, remarks: &[RemarkOnOption]) -> JudgedFlag {
    let of = remarks.iter().find(|of| of.option == at);
    let group = group_of(option);
    JudgedFlag {
        text: redacted(option),
        group,
        remark: of.map(|of| of.remark),
        why: of.map(|of| redacted(&of.why)),
        is_idle: group == FlagGroup::Unlock || of.is_some_and(|of| is_idle(of.remark)),
    }
}

/// Whether a flag with this remark does nothing.
fn is_idle(remark: OptionRemark) -> bool {
    use OptionRemark::{AlreadyDefault, Ignored, NoEffect, OtherRelease, Overridden};
    matches!(remark, AlreadyDefault | Ignored | NoEffect | OtherRelease | Overridden)
}

/// Whether both sides get the same options, in whatever order.
fn has_equal_options(plan: &Plan) -> bool {
    let mut all = plan.variants.iter().map(|variant| {
        let mut options = variant.jvm_options.clone();
        options.sort_unstable();
        options
    });
    let first = all.next();
    all.all(|options| Some(&options) == first.as_ref())
}

/// A folder for the runs that is not there yet.
pub fn default_folder() -> PathBuf {
    let time = jiff::Timestamp::now().strftime("%Y%m%dT%H%M%SZ").to_string();
    Path::new("runs").join(format!("judge-{time}"))
}

fn redacted(text: &str) -> String {
    redact::text(text).into_owned()
}

fn first_line(text: &str) -> String {
    text.lines().next().unwrap_or_default().to_owned()
}

/// A name as a part of a path.
fn slug(name: &str) -> String {
    let plain = name.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '-' });
    plain.collect::<String>().trim_matches('-').chars().take(40).collect()
}

#[cfg(test)]
mod tests;
