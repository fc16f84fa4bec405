//! `assay bisect`: which commit made a server slower.

use super::inject::on_threads;
use super::plan::plan_text;
use crate::arguments::BisectArguments;
use crate::failure::Failure;
use crate::forms::show_as_asked;
use crate::output_file::can_be_written;
use crate::progress::Progress;
use crate::{output, stop};
use assay_model::{BisectReport, BisectVerdict};
use assay_study::{BisectEvent, BisectOptions, Study, StudyError, bisect_folder};
use std::path::absolute;
use std::process::ExitCode;

/// No commit is probable enough.
const UNDECIDED: u8 = 3;

/// Bisects, or says what would be compared first.
pub fn bisect(arguments: &BisectArguments) -> Result<ExitCode, Failure> {
    arguments.html.as_deref().map_or(Ok(()), can_be_written)?;
    let checked = Study::read(&arguments.study).map_err(StudyError::Diagnostics)?;
    let out = arguments.out.clone().unwrap_or_else(|| bisect_folder(checked.name()));
    let out = absolute(out)?;
    if out.exists() {
        return Err(Failure::input(format!(
            "{} is there already: choose another folder with --out",
            out.display()
        )));
    }
    let bisect = checked.bisect(BisectOptions {
        good: arguments.good.clone(),
        bad: arguments.bad.clone(),
        build: arguments.build(),
        quick: arguments.quick,
        pairs: arguments.pairs,
        least_percent: arguments.least,
        budget: arguments.budget,
        out: out.clone(),
    })?;
    if arguments.plan {
        let first = bisect.first()?;
        if arguments.format.is_json("--plan")? {
            output::print_json(first.plan())?;
        } else {
            output::print_text(&plan_text(&first, &[], &[], output::width().into()))?;
        }
        return Ok(ExitCode::SUCCESS);
    }
    let stop = stop::flag_on_signal()?;
    say!("{} commits may be the first slow one", bisect.commits());
    let mut progress: Option<Progress> = None;
    let ran = bisect.run(&on_threads, &stop, &mut |event| match event {
        BisectEvent::Begins(number, commit, plan) => {
            say!("comparison {number}: {} ({})", commit.short, commit.subject);
            progress = Some(Progress::new(plan));
        }
        BisectEvent::Run(event) => progress.iter().for_each(|progress| progress.show(event)),
        BisectEvent::Compared(report) => {
            progress = None;
            say!("{}", so_far(report));
        }
    });
    drop(progress);
    let report = match ran {
        Ok(report) => report,
        // That run alone could be gone on with, and not the bisection.
        Err(StudyError::Interrupted { .. }) => {
            return Err(Failure::interrupted(format!(
                "interrupted; the runs so far are in {}",
                out.display()
            )));
        }
        Err(error) => return Err(error.into()),
    };
    show_as_asked(&report, &arguments.format, arguments.html.as_deref())?;
    Ok(match report.verdict {
        BisectVerdict::Undecided | BisectVerdict::Other => ExitCode::from(UNDECIDED),
        BisectVerdict::Commit | BisectVerdict::Range | BisectVerdict::NoChange => ExitCode::SUCCESS,
    })
}

/// What the comparisons so far come to.
fn so_far(report: &BisectReport) -> String {
    let no_change = report.no_change_probability * 100.0;
    let likely = report.commits.iter().max_by(|a, b| a.probability.total_cmp(&b.probability));
    let likely = likely.map_or_else(String::new, |commit| {
        format!("; most probable: {} ({}), {:.0} %", commit.short, commit.subject, commit.probability * 100.0)
    });
    format!("no change: {no_change:.0} %{likely}")
}
