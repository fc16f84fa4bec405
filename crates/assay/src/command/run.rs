//! `assay run` and `assay demo`: a study from its file to its report.

use super::report;
use super::what_file::{FileKind, kind_of, said_of};
use crate::arguments::{DemoArguments, RunArguments};
use crate::failure::Failure;
use crate::output_file::{can_be_written, write_result};
use crate::progress::Progress;
use crate::{output, stop};
use assay_model::{Design, GateCase, GateVerdict, Plan, PlannedProcedure, StoredRun};
use assay_study::{
    Checked, Diagnostic, Prepared, READY_MADE, ReadyMade, RunOptions, RunResult, Study, StudyError,
};
use assay_text::near::hint;
use std::collections::VecDeque;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// The study of the demo, below the checkout's root.
const DEMO: &str = "studies/compressed-references.toml";
/// Exit code where a run does not decide a condition of `--fail-if`.
const UNDECIDED: u8 = 3;
/// The folder of the ready-made studies there.
const STUDIES: &str = "studies";

/// Runs the first study in its short form.
pub fn demo(arguments: &DemoArguments) -> Result<ExitCode, Failure> {
    let study = checkout().join(DEMO);
    if !study.is_file() {
        let what = "the demo's server comes with the sources of Assay, and no checkout of them was found from here: run `assay setup`, which \
                    fetches them, or ./assay demo in a clone";
        return Err(Failure::environment(what));
    }
    let mut is_good = true;
    for study in &prepare(Source::File(study), true)? {
        let options = RunOptions { out: arguments.out.clone(), ..RunOptions::default() };
        is_good &= answers(&execute(study, &options, arguments.json)?);
    }
    Ok(exit_code(is_good, &[]))
}

/// Runs a study, or says what it would run.
pub fn run(arguments: &RunArguments) -> Result<ExitCode, Failure> {
    let studies = prepare(source_of(&arguments.study)?, arguments.quick)?;
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
    arguments.junit.as_deref().map_or(Ok(()), can_be_written)?;
    let (mut is_good, mut verdicts) = (true, Vec::new());
    for (number, study) in studies.iter().enumerate() {
        let name = &study.plan().study;
        let out = arguments.out.as_ref().map(|out| if number == 0 { out.clone() } else { beside(out, name) });
        // A run that was interrupted in its first part has no folder for the others yet.
        let resume = arguments.resume && (number == 0 || out.as_ref().is_some_and(|out| out.exists()));
        let options = RunOptions { out, resume, allow_host_changes: arguments.allow_host_changes };
        let run = execute(study, &options, arguments.json)?;
        is_good &= answers(&run) || arguments.allow_invalid;
        // Its parts are studies of their own, about other metrics.
        if number == 0 {
            verdicts = judged(&run, arguments)?;
        }
    }
    Ok(exit_code(is_good, &verdicts))
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
    if let Some(kind) = kind_of(named).filter(|kind| !matches!(kind, FileKind::Study | FileKind::Text)) {
        let said = said_of(named).filter(|_| kind != FileKind::Log).unwrap_or_default();
        let what = if said.is_empty() { "a study is a TOML file" } else { said.as_str() };
        return Err(Failure::input(format!(
            "{} is not a study: {what}\n  an example: studies/own-server.toml",
            named.display()
        )));
    }
    if named.exists() {
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

/// What fails counts more than what the run does not decide.
fn exit_code(is_good: bool, verdicts: &[GateVerdict]) -> ExitCode {
    let any = |verdict| verdicts.contains(&verdict);
    match (is_good && !any(GateVerdict::Holds), any(GateVerdict::Undecided)) {
        (false, _) => ExitCode::from(1),
        (true, true) => ExitCode::from(UNDECIDED),
        (true, false) => ExitCode::SUCCESS,
    }
}

/// The folder of a part: `runs/tuesday` and `non-java-memory-buffers` give `runs/tuesday-non-java-memory-buffers`.
fn beside(out: &Path, study: &str) -> PathBuf {
    let name = out.file_name().map_or_else(String::new, |name| name.to_string_lossy().into_owned());
    out.with_file_name(format!("{name}-{study}"))
}

/// Runs a study and shows what came out.
fn execute(study: &Prepared, options: &RunOptions, json: bool) -> Result<StoredRun, Failure> {
    let (result, page) = carry_out(study, options)?;
    let run = assay_study::load_run(&result.dir)?;
    if json {
        output::print_json(&result.summary)?;
    } else {
        output::print_text(&report::table(&run))?;
    }
    say!("\nreport: {}", shown(&page).display());
    Ok(run)
}

/// Whether the metric that decides counts for any variant.
fn answers(run: &StoredRun) -> bool {
    let answers = run.has_answer();
    if !answers {
        say!("nothing counts: no variant has a value of {} that can be used", run.plan.primary_metric);
    }
    answers
}

/// What the run says to the conditions of a build: a line each, and all of them in a file where one was named.
fn judged(run: &StoredRun, arguments: &RunArguments) -> Result<Vec<GateVerdict>, Failure> {
    let gates = arguments.fail_if.iter();
    let cases: Vec<GateCase> = gates.flat_map(|gate| gate.judge(run.summary.as_ref())).collect();
    cases.iter().for_each(|case| say!("{}", assay_findings::line_of_gate(case)));
    if let Some(path) = &arguments.junit {
        write_result(path, |out| assay_findings::render_junit(run, &cases, out))?;
    }
    Ok(cases.into_iter().map(|case| case.verdict).collect())
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

/// The root of the checkout: the program lies in its `target/release`, or `assay setup` fetched it.
fn checkout() -> PathBuf {
    assay_study::sources().unwrap_or_else(|| PathBuf::from("."))
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
            let whose = if change.is_global { "of the whole machine" } else { "of these processes alone" };
            writeln!(
                out,
                "  changes   {:width$}  {} = {}, {whose}",
                variant.name, change.setting, change.value
            )?;
        }
    }
    for fault in &plan.faults {
        let number = fault.instance.map_or_else(String::new, |number| format!("-{number}"));
        let at = fault.at_s.map_or_else(|| "at random".to_owned(), |at_s| format!("at {at_s} s"));
        let restart = if fault.restart { ", what ended is started again" } else { "" };
        writeln!(out, "  fault     {}{number}: {} {at}{restart}", fault.role, fault.action)?;
    }
    for skipped in &plan.skipped {
        writeln!(out, "  skips     {}: {}", skipped.name, skipped.reason)?;
    }
    for line in assay_report::claims_of_plan(plan, &assay_study::contradictions(plan)) {
        writeln!(out, "  claims    {line}")?;
    }
    Ok(())
}
