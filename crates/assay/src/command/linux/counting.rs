//! The count of instructions that `assay ab` makes first, in emulated guests, where that fits into the budget.

use super::run::carry_out;
use crate::failure::{Failure, Kind};
use assay_model::StoredRun;
use assay_results::load_run;
use assay_study::{Budget, Checked, Count, CountedForm, Prepared, RunOptions, condition_of_count};
use assay_text::duration::about;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// What is counted: the library's own numbers.
fn form() -> CountedForm {
    CountedForm::default()
}

/// The guests of both builds, with their share of the time; or why nothing is counted. Three guests of each give an interval, and three more
/// confirm it. Their share is half of the time, so that a busy machine, on which each takes longer, still ends with a count. What is measured
/// beside needs `least_s`.
pub fn fit(
    checked: &Checked,
    (time, least_s): (Duration, f64),
    limit_percent: f64,
) -> Result<Prepared, String> {
    let guests = checked.counted(form())?;
    let (needed_s, time_s) = (guests.least_s(), time.as_secs_f64());
    let share_s = (time_s / 2.0).min(time_s - least_s);
    if share_s < needed_s {
        let enough_s = (2.0 * needed_s).max(needed_s + least_s);
        return Err(format!(
            "three guests of each build take about {}, more than half of the budget, or they leave too little \
                for the pairs: --budget {}m",
            about(needed_s),
            (enough_s / 60.0).ceil()
        ));
    }
    let budget = Budget {
        time: Duration::from_secs_f64(share_s),
        conditions: condition_of_count(limit_percent),
        difference_percent: limit_percent,
    };
    budget.bind_one(guests).map_err(|error| error.to_string())
}

/// What counting may take.
pub fn share(guests: &Result<Prepared, String>) -> Duration {
    let budget = guests.as_ref().ok().and_then(|guests| guests.plan().budget.as_ref());
    budget.map_or(Duration::ZERO, |budget| Duration::from_secs_f64(budget.time_s))
}

/// Whether instructions are counted, in a line.
pub fn line(guests: &Result<Prepared, String>) -> String {
    match guests {
        Ok(of_each) => format!(
            "instructions first, in three emulated guests of each build, which take about {}, and {} at most",
            about(of_each.least_s()),
            about(share(guests).as_secs_f64())
        ),
        Err(why) => format!("no instructions: {why}"),
    }
}

/// Counts, beside the folder of the pairs. If a guest fails, the comparison goes on without a count.
pub fn count(
    guests: Result<Prepared, String>,
    out: Option<&Path>,
    limit_percent: f64,
) -> Result<(Count, Option<StoredRun>), Failure> {
    let guests = match guests {
        Ok(guests) => guests,
        Err(why) => return Ok((Count::none(form(), why), None)),
    };
    let (begun, out) = (Instant::now(), out.map(beside));
    match carry_out(&guests, &RunOptions { out, ..RunOptions::default() }) {
        Ok((result, _)) => {
            let run = load_run(&result.dir)?;
            let dir = result.dir.to_string_lossy();
            let took_s = begun.elapsed().as_secs_f64();
            Ok((Count::of(&run, &dir, form(), limit_percent, took_s), Some(run)))
        }
        Err(failure) if failure.kind == Kind::Interrupted => Err(Failure::interrupted(
            "interrupted while instructions were counted: start the comparison again",
        )),
        Err(failure) => {
            let why = failure.message.lines().collect::<Vec<&str>>().join("; ");
            say!("instructions: not counted: {why}");
            Ok((Count::none(form(), why), None))
        }
    }
}

/// The folder of the guests' run.
fn beside(out: &Path) -> PathBuf {
    let mut name = out.file_name().unwrap_or_default().to_owned();
    name.push("-counted");
    out.with_file_name(name)
}
