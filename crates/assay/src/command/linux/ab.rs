//! `assay ab`: is the new build of a server slower?

use super::budget;
use super::counting;
use super::pair::{command_of, conclude, question_of};
use super::plan::plan_text;
use super::run::attempt;
use crate::arguments::{AbArguments, Format};
use crate::command::{gate, report};
use crate::failure::Failure;
use crate::forms::{Described, show, write};
use crate::output;
use crate::output_file::{can_be_written, write_file};
use assay_model::{AbReport, AbVerdict, GateCase, StoredRun, file};
use assay_results::{Gate, load_run};
use assay_study::{
    AbQuestion, Budget, Prepared, RunOptions, StudyError, ab_conditions, ab_judged, condition_of_count,
};
use std::process::ExitCode;
use std::time::{Duration, Instant};

/// What is asked of two builds, and how much time there is.
struct Asked<'a> {
    arguments: &'a AbArguments,
    question: AbQuestion,
    conditions: Vec<Gate>,
}

/// Compares two commands and prints how the second differs. The exit code is 1 where it is worse beyond the limit and fresh pairs say so,
/// and 3 where the time does not suffice.
pub fn ab(arguments: &AbArguments) -> Result<ExitCode, Failure> {
    let conditions = ab_conditions(arguments.limit);
    let asked = Asked { arguments, question: question(arguments)?, conditions };
    let least_s = asked.pairs(arguments.budget)?.least_s();
    let guests = counting::fit(&asked.question.checked()?, (arguments.budget, least_s), arguments.limit);
    let study = asked.pairs(arguments.budget.saturating_sub(counting::share(&guests)))?;
    let mut lines = budget::lines(&study, None)?;
    lines.push(("counts", counting::line(&guests)));
    if arguments.plan {
        if arguments.format.is_json("--plan")? {
            output::print_json(&budget::plan(&study, None)?)?;
        } else {
            output::print_text(&plan_text(&study, &asked.conditions, &lines, output::width().into()))?;
        }
        return Ok(ExitCode::SUCCESS);
    }
    gate::check_files(&arguments.gate_files)?;
    arguments.html.as_deref().map_or(Ok(()), can_be_written)?;
    if asked.question.is_a_a() {
        say!("note: both commands are the same (A/A): a difference would be an error");
    }
    lines.iter().for_each(|(label, text)| say!("{label}: {text}"));
    asked.compare(guests, Duration::from_secs_f64(least_s))
}

impl Asked<'_> {
    /// The study of pairs, bound by a time.
    fn pairs(&self, time: Duration) -> Result<Prepared, Failure> {
        let (conditions, difference_percent) = (self.conditions.clone(), self.arguments.limit);
        let study = self.question.checked()?.prepare(false)?;
        Ok(Budget { time, conditions, difference_percent }.bind_one(study)?)
    }

    /// Counts where that fits, then runs pairs in the time that is left, of which there is at least so much.
    fn compare(&self, guests: Result<Prepared, String>, least: Duration) -> Result<ExitCode, Failure> {
        let (arguments, begun) = (self.arguments, Instant::now());
        let (count, counted) = counting::count(guests, arguments.out.as_deref(), arguments.limit)?;
        let study = self.pairs(arguments.budget.saturating_sub(begun.elapsed()).max(least))?;
        let allow_host_changes = arguments.pair.allow_host_changes;
        let options = RunOptions { out: arguments.out.clone(), allow_host_changes, ..RunOptions::default() };
        let (dir, is_whole) = match attempt(&study, &options)? {
            Ok(result) => (result.dir, true),
            // What its pairs say so far is worth reading.
            Err(StudyError::Interrupted { dir, done: 1.., .. }) => (dir, false),
            Err(StudyError::Interrupted { .. }) => {
                let text = "interrupted before the first pair was whole: start the comparison again";
                return Err(Failure::interrupted(text));
            }
            Err(error) => return Err(error.into()),
        };
        let run = load_run(&dir)?;
        let page = report::write_page(&run, &dir)?;
        let (took_s, of_run) = (begun.elapsed().as_secs_f64(), (&run, &*dir.to_string_lossy()));
        let result = AbReport {
            budget_s: arguments.budget.as_secs_f64(),
            ..ab_judged(&self.question, arguments.limit, of_run, count, took_s)
        };
        let kept = dir.join(file::AB);
        write_file(&kept, |out| write(&result, Format::Json, out))?;
        show(&result, arguments.format.form(), arguments.html.as_deref())?;
        say!("\nevery window: {}", page.display());
        if !is_whole {
            let text = format!("interrupted; what the pairs so far say is in {}", kept.display());
            return Err(Failure::interrupted(text));
        }
        self.conclude(&result, &run, counted.as_ref())
    }

    /// What the limit comes to.
    fn conclude(
        &self,
        result: &AbReport,
        run: &StoredRun,
        counted: Option<&StoredRun>,
    ) -> Result<ExitCode, Failure> {
        let of_count = counted.map(|run| (condition_of_count(self.arguments.limit), run));
        let of_count = of_count.iter().flat_map(|(gates, run)| gates.iter().flat_map(|gate| gate.judge(run)));
        let of_pairs = self.conditions.iter().flat_map(|gate| gate.judge(run));
        let cases: Vec<GateCase> = of_count.chain(of_pairs).collect();
        let is_known = result.figures.iter().any(|figure| figure.verdict != AbVerdict::Undecided);
        conclude("assay ab", &self.arguments.gate_files, (&cases, is_known), &|| result.document().markdown())
    }
}

fn question(arguments: &AbArguments) -> Result<AbQuestion, Failure> {
    let sides = [
        command_of("--before", &arguments.before, arguments.before_dir.as_ref())?,
        command_of("--after", &arguments.after, arguments.after_dir.as_ref())?,
    ];
    question_of(sides, &arguments.pair, arguments.heap)
}
