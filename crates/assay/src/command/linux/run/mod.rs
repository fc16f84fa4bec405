//! `assay run` and `assay demo`: a study from its file to its report.

mod guests;
mod hosts;
mod outcome;
mod source;

use super::budget;
use super::inject::on_threads;
use super::plan::plan_text;
use crate::arguments::{DemoArguments, FormatArguments, RunArguments};
use crate::command::gate::{self, Usable};
use crate::command::report;
use crate::failure::{Failure, Kind};
use crate::forms;
use crate::output_file::can_be_written;
use crate::progress::Progress;
use crate::{output, stop};
use assay_model::StoredRun;
use assay_study::{Checked, Prepared, RunOptions, RunResult, StudyError};
use outcome::{check_conditions, concluded, shown, usable_for};
use source::{Source, checkout, source_of};
use std::collections::VecDeque;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

pub use hosts::block_worker;

/// The study of the demo, below the checkout's root.
const DEMO: &str = "studies/compressed-references.toml";

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
        let run = execute(study, &options, &arguments.format).map_err(with_command)?;
        usable = usable.max(usable_for(&run).0);
    }
    Ok(gate::exit_code(usable, &[]))
}

/// The demo has no option to go on with a run, and the command whose short form it is has one.
fn with_command(failure: Failure) -> Failure {
    match failure.kind {
        Kind::Interrupted => {
            Failure::interrupted(format!("{}\n  as options of: assay run {DEMO} --quick", failure.message))
        }
        _ => failure,
    }
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

/// The folder of a part: `runs/tuesday` and `non-java-memory-buffers` give `runs/tuesday-non-java-memory-buffers`.
fn beside(out: &Path, study: &str) -> PathBuf {
    let name = out.file_name().map_or_else(String::new, |name| name.to_string_lossy().into_owned());
    out.with_file_name(format!("{name}-{study}"))
}

/// Runs a study and shows what came out.
fn execute(study: &Prepared, options: &RunOptions, format: &FormatArguments) -> Result<StoredRun, Failure> {
    let (result, page) = carry_out(study, options)?;
    let run = assay_results::load_run(&result.dir)?;
    forms::print(&run, format.form())?;
    say!("\nreport: {}", shown(&page).display());
    Ok(run)
}

/// Runs a study, with its progress, and makes its page.
pub fn carry_out(study: &Prepared, options: &RunOptions) -> Result<(RunResult, PathBuf), Failure> {
    let result = attempt(study, options)??;
    let page = report::write_page(&assay_results::load_run(&result.dir)?, &result.dir)?;
    Ok((result, page))
}

/// Runs a study, with its progress. An interruption is a result, too: it names the folder with what is whole.
pub fn attempt(study: &Prepared, options: &RunOptions) -> Result<Result<RunResult, StudyError>, Failure> {
    let stop = stop::flag_on_signal()?;
    let progress = Progress::new(study.plan());
    Ok(assay_study::run_from(study, options, &on_threads, &stop, &mut |event| progress.show(event)))
}
