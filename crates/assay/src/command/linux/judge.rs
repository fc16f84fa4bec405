//! `assay judge`: what does a set of JVM flags do to a server?

use super::budget;
use super::inject::on_threads;
use super::pair::{command_of, conclude, question_of};
use super::plan::plan_text;
use crate::arguments::{Format, JudgeArguments};
use crate::command::gate::{self, Usable};
use crate::command::report;
use crate::failure::Failure;
use crate::forms::{Described, show, write};
use crate::output_file::{can_be_written, write_file};
use crate::progress::Progress;
use crate::{output, stop};
use assay_jdk::options::options_in_words;
use assay_model::{AbVerdict, GateCase, JudgeReport, JudgedFlag, NotMeasuredReason, file};
use assay_results::load_run;
use assay_study::{
    Judge, JudgeEvent, JudgeOptions, JudgedServer, Study, StudyError, ab_conditions, judge_folder,
};
use assay_text::wrap::hanging;
use std::path::{Path, absolute};
use std::process::ExitCode;

/// Judges flags and prints what they do. The exit code is that of `assay ab` for the whole set.
pub fn judge(arguments: &JudgeArguments) -> Result<ExitCode, Failure> {
    gate::check_files(&arguments.gate_files)?;
    arguments.html.as_deref().map_or(Ok(()), can_be_written)?;
    let out = absolute(arguments.out.clone().unwrap_or_else(judge_folder))?;
    if out.exists() {
        return Err(Failure::input(format!(
            "{} is there already: choose another folder with --out",
            out.display()
        )));
    }
    let stop = stop::flag_on_signal()?;
    let settings = JudgeOptions {
        budget: arguments.budget,
        limit_percent: arguments.limit,
        allow_host_changes: arguments.pair.allow_host_changes,
        out: out.clone(),
    };
    let judge = Judge::new(server(arguments)?, options(&arguments.flags)?, settings, &stop)?;
    let first = judge.first()?;
    if arguments.plan {
        if arguments.format.is_json("--plan")? {
            output::print_json(&budget::plan(&first, None)?)?;
        } else {
            let lines = budget::lines(&first, None)?;
            let text = plan_text(&first, &[], &lines, output::width().into());
            output::print_text(&(text + &compared(&judge)))?;
        }
        return Ok(ExitCode::SUCCESS);
    }
    judge.flags().iter().filter_map(idle_line).for_each(|line| say!("{line}"));
    let mut progress: Option<Progress> = None;
    let ran = judge.run(&on_threads, &stop, &mut |event| match event {
        JudgeEvent::Begins(number, of, part, plan) => {
            say!("comparison {number} of {of}: {}", part.name);
            progress = Some(Progress::new(plan));
        }
        JudgeEvent::Run(event) => progress.iter().for_each(|progress| progress.show(event)),
        JudgeEvent::Ended(_) => progress = None,
    });
    drop(progress);
    let result = match ran {
        Ok(result) => result,
        // That run alone could be gone on with, and not the whole.
        Err(StudyError::Interrupted { .. }) => return Err(interrupted(&out)),
        Err(error) => return Err(error.into()),
    };
    write_file(&out.join(file::JUDGE), |out| write(&result, Format::Json, out))?;
    show(&result, arguments.format.form(), arguments.html.as_deref())?;
    for run in result.parts.iter().filter_map(|part| part.run.as_ref()) {
        report::write_page(&load_run(Path::new(run))?, Path::new(run))?;
    }
    let is_stopped = |of: &assay_model::JudgedPart| {
        of.not_measured.as_ref().is_some_and(|why| why.reason == NotMeasuredReason::Stopped)
    };
    if result.parts.iter().any(is_stopped) {
        return Err(interrupted(&out));
    }
    verdict(arguments, &result)
}

fn interrupted(out: &Path) -> Failure {
    Failure::interrupted(format!("interrupted; what was compared before is in {}", out.display()))
}

/// What the limit comes to, for the whole set.
fn verdict(arguments: &JudgeArguments, result: &JudgeReport) -> Result<ExitCode, Failure> {
    let Some(whole) = result.parts.first() else { return Ok(gate::exit_code(Usable::No, &[])) };
    let cases: Vec<GateCase> = match &whole.run {
        Some(run) => {
            let run = load_run(Path::new(run))?;
            ab_conditions(arguments.limit).iter().flat_map(|gate| gate.judge(&run)).collect()
        }
        None => Vec::new(),
    };
    // Both sides were the same: nothing was run, and that is an answer.
    let is_known = whole.run.is_none() || whole.figures.iter().any(|of| of.verdict != AbVerdict::Undecided);
    conclude("assay judge", &arguments.gate_files, (&cases, is_known), &|| result.document().markdown())
}

fn server(arguments: &JudgeArguments) -> Result<JudgedServer, Failure> {
    let pair = &arguments.pair;
    if let Some(study) = &arguments.study {
        if let Some(option) = pair.typed() {
            return Err(Failure::input(format!(
                "the study defines how its server is loaded and measured: leave {option} out, or write it in \
                    the study"
            )));
        }
        let checked = Study::read(study).map_err(StudyError::Diagnostics)?;
        return Ok(JudgedServer::Study(Box::new(checked)));
    }
    let command = arguments.command.as_deref().unwrap_or_default();
    let command = command_of("--command", command, arguments.dir.as_ref())?;
    let question = question_of([command.clone(), command], pair, None)?;
    Ok(JudgedServer::Command(Box::new(question)))
}

/// The flags as the JVM reads them.
fn options(text: &str) -> Result<Vec<String>, Failure> {
    let words = shell_words::split(text)
        .map_err(|e| Failure::input(format!("{text:?} cannot be split into flags: {e}")))?;
    options_in_words(&words).map_err(|word| {
        Failure::input(format!("{word:?} is not a JVM flag: write all flags in one argument\n  assay judge '-XX:+UseZGC -Xmx2g' ..."))
    })
}

fn idle_line(flag: &JudgedFlag) -> Option<String> {
    let why = flag.why.as_ref().filter(|_| flag.is_idle)?;
    Some(format!("{}: {}, {why}", flag.text, flag.remark?))
}

/// Flags that cost no trial, and the comparisons.
fn compared(judge: &Judge) -> String {
    let names: Vec<String> = judge.parts().into_iter().map(|part| part.name).collect();
    let compares = format!("compares, as long as there is time: {}", names.join(", "));
    let lines = judge.flags().iter().filter_map(idle_line).chain([compares]);
    lines.map(|line| hanging("  ", 4, &line, output::width().into()).trim_end().to_owned() + "\n").collect()
}
