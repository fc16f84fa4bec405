//! `assay run` and `assay demo`: a study from its file to its report.

use super::report;
use crate::arguments::{DemoArguments, RunArguments};
use crate::failure::Failure;
use crate::progress::Progress;
use crate::{output, stop};
use assay_model::{Design, Plan, PlannedProcedure};
use assay_study::{Prepared, RunOptions, RunResult, Study, StudyError};
use std::collections::VecDeque;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// The study of the demo, below the checkout's root.
const DEMO: &str = "studies/compressed-references.toml";

/// Runs the first study in its short form.
pub fn demo(arguments: &DemoArguments) -> Result<ExitCode, Failure> {
    let study = checkout().join(DEMO);
    if !study.is_file() {
        let what = format!("{} is not there: run the demo from a clone, by ./assay demo", study.display());
        return Err(Failure::environment(what));
    }
    let mut answers = true;
    for study in &prepare(&study, true)? {
        answers &= execute(
            study,
            &RunOptions { out: arguments.out.clone(), ..RunOptions::default() },
            arguments.json,
        )?;
    }
    Ok(exit_code(answers))
}

/// Runs a study, or says what it would run.
pub fn run(arguments: &RunArguments) -> Result<ExitCode, Failure> {
    let studies = prepare(&arguments.study, arguments.quick)?;
    if arguments.plan {
        for plan in studies.iter().map(Prepared::plan) {
            if arguments.json {
                output::print_json(plan)?;
            } else {
                output::print(|out| write_plan(out, plan))?;
            }
        }
        return Ok(ExitCode::SUCCESS);
    }
    let mut answers = true;
    for (number, study) in studies.iter().enumerate() {
        let name = &study.plan().study;
        let out = arguments.out.as_ref().map(|out| if number == 0 { out.clone() } else { beside(out, name) });
        // A run that was interrupted in its first part has no folder for the others yet.
        let resume = arguments.resume && (number == 0 || out.as_ref().is_some_and(|out| out.exists()));
        let options = RunOptions { out, resume, allow_host_changes: arguments.allow_host_changes };
        answers &= execute(study, &options, arguments.json)?;
    }
    Ok(exit_code(answers))
}

/// A study and its parts. All mistakes in all of them are reported before the first runs; each is read once, and what was read is run.
fn prepare(study: &Path, quick: bool) -> Result<Vec<Prepared>, StudyError> {
    let (mut files, mut studies, mut mistakes) = (VecDeque::from([study.to_owned()]), Vec::new(), Vec::new());
    while let Some(file) = files.pop_front() {
        let prepared = Study::read(&file).map_err(StudyError::Diagnostics).and_then(|checked| {
            files.extend(checked.parts());
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

fn exit_code(answers: bool) -> ExitCode {
    if answers { ExitCode::SUCCESS } else { ExitCode::from(1) }
}

/// The folder of a part: `runs/tuesday` and `non-java-memory-buffers` give `runs/tuesday-non-java-memory-buffers`.
fn beside(out: &Path, study: &str) -> PathBuf {
    let name = out.file_name().map_or_else(String::new, |name| name.to_string_lossy().into_owned());
    out.with_file_name(format!("{name}-{study}"))
}

/// Says whether the run answers anything: whether the metric that decides counts for any variant.
fn execute(study: &Prepared, options: &RunOptions, json: bool) -> Result<bool, Failure> {
    let (result, page) = carry_out(study, options)?;
    let run = assay_study::load_run(&result.dir)?;
    if json {
        output::print_json(&result.summary)?;
    } else {
        output::print_text(&report::table(&run))?;
    }
    say!("\nreport: {}", shown(&page).display());
    let answers = result.summary.has_answer(&run.plan.primary_metric);
    if !answers {
        say!("nothing counts: no variant has a value of {} that can be used", run.plan.primary_metric);
    }
    Ok(answers)
}

/// Runs a study, with its progress, and makes its page.
pub fn carry_out(study: &Prepared, options: &RunOptions) -> Result<(RunResult, PathBuf), Failure> {
    let stop = stop::flag_on_signal()?;
    let progress = Progress::new();
    let result = assay_study::run(study, options, &stop, &mut |event| progress.show(event));
    drop(progress);
    let result = result?;
    let page = report::write_page(&assay_study::load_run(&result.dir)?, &result.dir)?;
    Ok((result, page))
}

/// The root of the checkout: the program lies in its `target/release`.
fn checkout() -> PathBuf {
    let program = std::env::current_exe().ok();
    let root = program.as_deref().and_then(|p| p.ancestors().find(|folder| folder.join(DEMO).is_file()));
    root.map_or_else(|| PathBuf::from("."), Path::to_owned)
}

/// A path as short as it can be written from here.
fn shown(path: &Path) -> &Path {
    let here = std::env::current_dir().ok();
    here.and_then(|here| path.strip_prefix(here).ok()).unwrap_or(path)
}

fn write_plan(out: &mut dyn Write, plan: &Plan) -> io::Result<()> {
    let design = match plan.design {
        Design::Fresh => "a fresh process for each trial, in interleaved blocks",
        Design::Resident => "resident servers, measured in alternating windows",
    };
    writeln!(out, "{}: {}", plan.study, plan.question)?;
    // A benchmark program's options say how long it measures.
    let windows = match plan.procedure {
        PlannedProcedure::Windows => format!(", windows of {} s", plan.window_s),
        PlannedProcedure::Capacity(_) | PlannedProcedure::Benchmark => String::new(),
        PlannedProcedure::Emulated(_) => {
            format!(", {} s of an emulated guest's clock are counted", plan.window_s)
        }
    };
    writeln!(out, "  design    {design}; {} blocks{windows}", plan.blocks)?;
    writeln!(out, "  load      {}", plan.load)?;
    writeln!(out, "  warm-up   {}", plan.warm_up)?;
    writeln!(out, "  takes     about {:.0} min", (plan.expected_s / 60.0).ceil())?;
    let width = plan.variants.iter().map(|v| v.name.chars().count()).max().unwrap_or(0);
    for variant in &plan.variants {
        let jvm =
            variant.jvm.as_ref().map_or_else(String::new, |j| format!("{} ({} bit)  ", j.version, j.bits));
        writeln!(out, "  runs      {:width$}  {jvm}{}", variant.name, variant.jvm_options.join(" "))?;
        for change in &variant.treatments {
            let whose = if change.is_global { "of the whole machine" } else { "of the server" };
            writeln!(
                out,
                "  changes   {:width$}  {} = {}, {whose}",
                variant.name, change.setting, change.value
            )?;
        }
    }
    for skipped in &plan.skipped {
        writeln!(out, "  skips     {}: {}", skipped.name, skipped.reason)?;
    }
    for line in assay_report::claims_of_plan(plan, &assay_study::contradictions(plan)) {
        writeln!(out, "  claims    {line}")?;
    }
    Ok(())
}
