//! `assay run` and `assay demo`: a study from its file to its report.

mod guests;
mod hosts;
mod outcome;

use super::budget;
use super::gate::{self, Usable};
use super::inject::on_threads;
use super::plan::plan_text;
use super::report;
use super::what_file::{FileKind, kind_of, said_of};
use crate::arguments::{DemoArguments, FormatArguments, RunArguments};
use crate::failure::Failure;
use crate::forms;
use crate::output_file::can_be_written;
use crate::progress::Progress;
use crate::{output, stop};
use assay_model::{Plan, StoredRun};
use assay_study::{
    Checked, Diagnostic, Gate, Prepared, READY_MADE, ReadyMade, RunOptions, RunResult, Study, StudyError,
};
use assay_text::near::hint;
use outcome::{concluded, shown, usable_for};
use std::collections::VecDeque;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

pub use hosts::block_worker;

/// The study of the demo, below the checkout's root.
const DEMO: &str = "studies/compressed-references.toml";
/// The folder of the ready-made studies there.
const STUDIES: &str = "studies";

/// Runs the first study in its short form.
pub fn demo(arguments: &DemoArguments) -> Result<ExitCode, Failure> {
    let study = checkout().join(DEMO);
    if !study.is_file() {
        let what = "the demo's server comes with the sources of Assay, and no checkout was found from here. \
            Run `assay setup`, which fetches them, or ./assay demo in a clone";
        return Err(Failure::environment(what));
    }
    let mut usable = Usable::Yes;
    for study in &prepare(Source::File(study), true)? {
        let options = RunOptions { out: arguments.out.clone(), ..RunOptions::default() };
        usable = usable.max(usable_for(&execute(study, &options, &arguments.format)?).0);
    }
    Ok(gate::exit_code(usable, &[]))
}

/// Runs a study, or says what it would run.
pub fn run(arguments: &RunArguments) -> Result<ExitCode, Failure> {
    let source = source_of(&arguments.study)?;
    if let Some(place) = &arguments.on.on {
        return hosts::run(place, source, arguments);
    }
    // Mistakes in it are reported below.
    if let Some(checked) = source.read().ok().filter(Checked::is_for_guests) {
        return guests::run(checked, arguments);
    }
    let mut studies = prepare(source, arguments.quick)?;
    if let Some(first) = studies.first() {
        check_conditions(&arguments.fail_if, first.plan())?;
    }
    if let Some(first) = studies.first_mut() {
        // Its parts are studies of their own, about other metrics.
        first.ask(&arguments.fail_if);
    }
    let mut studies = budget::bind(studies, &arguments.budget, &arguments.fail_if)?;
    if let Some(blocks) = &arguments.blocks {
        studies.iter_mut().try_for_each(|study| study.take_blocks(blocks))?;
    }
    if arguments.plan {
        let is_json = arguments.format.is_json("--plan")?;
        // Its parts are studies of their own, about other metrics.
        let conditions = std::iter::once(&arguments.fail_if[..]).chain(std::iter::repeat(&[][..]));
        for (study, conditions) in studies.iter().zip(conditions) {
            if is_json {
                output::print_json(&budget::plan(study, arguments.budget.earlier.as_deref())?)?;
            } else {
                let budget = budget::lines(study, arguments.budget.earlier.as_deref())?;
                output::print_text(&plan_text(study, conditions, &budget, output::width().into()))?;
            }
        }
        return Ok(ExitCode::SUCCESS);
    }
    gate::check_files(&arguments.gate_files)?;
    arguments.html.as_deref().map_or(Ok(()), can_be_written)?;
    let (mut usable, mut cases) = (Usable::Yes, Vec::new());
    for (number, study) in studies.iter().enumerate() {
        let name = &study.plan().study;
        let out = arguments.out.as_ref().map(|out| if number == 0 { out.clone() } else { beside(out, name) });
        // A run that was interrupted in its first part has no folder for the others yet.
        let resume = arguments.resume && (number == 0 || out.as_ref().is_some_and(|out| out.exists()));
        let options = RunOptions { out, resume, allow_host_changes: arguments.allow_host_changes };
        for (label, text) in budget::lines(study, arguments.budget.earlier.as_deref())? {
            say!("{label}: {text}");
        }
        let run = execute(study, &options, &arguments.format)?;
        // Its parts are studies of their own, about other metrics.
        if number == 0 {
            let of_first;
            (of_first, cases) = concluded(&run, arguments)?;
            usable = usable.max(of_first);
        } else if !arguments.allow_invalid {
            usable = usable.max(usable_for(&run).0);
        }
    }
    Ok(gate::exit_code(usable, &cases))
}

/// Where a study comes from.
enum Source {
    File(PathBuf),
    /// The program itself.
    ReadyMade(ReadyMade),
}

impl Source {
    fn read(&self) -> Result<Checked, Vec<Diagnostic>> {
        match self {
            Source::File(path) => Study::read(path),
            // Paths in it begin at the current folder.
            Source::ReadyMade(study) => Study::check(Path::new(&format!("{}.toml", study.name)), study.text),
        }
    }

    /// A part lies beside the study that names it.
    fn part(&self, path: PathBuf) -> Source {
        let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        match (self, ReadyMade::of(&name)) {
            (Source::ReadyMade(_), Some(part)) => Source::ReadyMade(part),
            _ => Source::File(path),
        }
    }
}

/// The file that was named, or the ready-made study of that name: the checkout's, which may have been changed, before the program's own.
fn source_of(named: &Path) -> Result<Source, Failure> {
    if named.is_dir() {
        let name = named.display();
        return Err(Failure::input(format!(
            "{name} is a folder: name a study file in it\n  assay run {name}/STUDY.toml"
        )));
    }
    let kind = kind_of(named);
    // A checkout has a program `check`, and a study.
    let is_script_of_that_name =
        kind == Some(FileKind::Script) && named.to_str().is_some_and(|name| ReadyMade::of(name).is_some());
    let is_study = |kind: &FileKind| matches!(kind, FileKind::Study | FileKind::Text);
    if let Some(kind) = kind.filter(|kind| !is_study(kind) && !is_script_of_that_name) {
        let said = said_of(named).filter(|_| kind != FileKind::Log).unwrap_or_default();
        let what = if said.is_empty() { "a study is a TOML file" } else { said.as_str() };
        return Err(Failure::input(format!(
            "{} is not a study: {what}\n  an example: studies/own-server.toml",
            named.display()
        )));
    }
    if named.exists() && !is_script_of_that_name {
        return Ok(Source::File(named.to_owned()));
    }
    let name = named.to_string_lossy();
    let name = name.strip_suffix(".toml").unwrap_or(&name);
    let of_checkout = checkout().join(STUDIES).join(format!("{name}.toml"));
    let is_name = named.components().count() == 1;
    if is_name && of_checkout.is_file() {
        say!("note: the ready-made study {}", shown(&of_checkout).display());
        return Ok(Source::File(of_checkout));
    }
    if let Some(study) = ReadyMade::of(name).filter(|_| is_name) {
        say!("note: the ready-made study {name}; assay studies {name} prints it");
        return Ok(Source::ReadyMade(study));
    }
    let hint = hint(name, READY_MADE.iter().map(|study| study.name));
    Err(Failure::input(format!(
        "there is no study file {}, nor a ready-made study of that name{hint}",
        named.display()
    )))
}

/// A study and its parts. All mistakes in all of them are reported before the first runs; each is read once, and what was read is run.
fn prepare(study: Source, quick: bool) -> Result<Vec<Prepared>, StudyError> {
    let (mut sources, mut studies, mut mistakes) = (VecDeque::from([study]), Vec::new(), Vec::new());
    while let Some(source) = sources.pop_front() {
        let prepared = source.read().map_err(StudyError::Diagnostics).and_then(|checked| {
            sources.extend(checked.parts().into_iter().map(|part| source.part(part)));
            checked.prepare(quick)
        });
        match prepared {
            Ok(study) => studies.push(study),
            Err(StudyError::Diagnostics(found)) => mistakes.extend(found),
            Err(error) => return Err(error),
        }
    }
    if mistakes.is_empty() { Ok(studies) } else { Err(StudyError::Diagnostics(mistakes)) }
}

/// Names conditions that the run could never decide, before it begins.
fn check_conditions(conditions: &[Gate], plan: &Plan) -> Result<(), Failure> {
    let has_baseline = plan.variants.iter().any(|variant| variant.baseline.is_some());
    match conditions.iter().find(|condition| condition.is_of_change() && !has_baseline) {
        Some(condition) => Err(Failure::input(format!(
            "`{condition}` is about a change, and no variant of {} has a baseline\n  the value itself is compared without a sign: > 25",
            plan.study
        ))),
        None => Ok(()),
    }
}

/// The folder of a part: `runs/tuesday` and `non-java-memory-buffers` give `runs/tuesday-non-java-memory-buffers`.
fn beside(out: &Path, study: &str) -> PathBuf {
    let name = out.file_name().map_or_else(String::new, |name| name.to_string_lossy().into_owned());
    out.with_file_name(format!("{name}-{study}"))
}

/// Runs a study and shows what came out.
fn execute(study: &Prepared, options: &RunOptions, format: &FormatArguments) -> Result<StoredRun, Failure> {
    let (result, page) = carry_out(study, options)?;
    let run = assay_study::load_run(&result.dir)?;
    forms::print(&run, format.form())?;
    say!("\nreport: {}", shown(&page).display());
    Ok(run)
}

/// Runs a study, with its progress, and makes its page.
pub fn carry_out(study: &Prepared, options: &RunOptions) -> Result<(RunResult, PathBuf), Failure> {
    let result = attempt(study, options)??;
    let page = report::write_page(&assay_study::load_run(&result.dir)?, &result.dir)?;
    Ok((result, page))
}

/// Runs a study, with its progress. An interruption is a result, too: it names the folder with what is whole.
pub fn attempt(study: &Prepared, options: &RunOptions) -> Result<Result<RunResult, StudyError>, Failure> {
    let stop = stop::flag_on_signal()?;
    let progress = Progress::new(study.plan());
    Ok(assay_study::run_from(study, options, &on_threads, &stop, &mut |event| progress.show(event)))
}

/// The root of the checkout: the program lies in its `target/release`, or `assay setup` fetched it.
fn checkout() -> PathBuf {
    assay_study::sources().unwrap_or_else(|| PathBuf::from("."))
}
