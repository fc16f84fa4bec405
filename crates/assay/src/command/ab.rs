//! `assay ab`: is the new build of a server slower?

use super::budget;
use super::gate::{self, Usable};
use super::plan::plan_text;
use super::run::carry_out;
use crate::arguments::{AbArguments, Format};
use crate::failure::Failure;
use crate::forms::{Described, show, write};
use crate::output_file::{can_be_written, write_file};
use crate::{output, seed};
use assay_model::{AbVerdict, GateCase};
use assay_study::{AbQuestion, Budget, Prepared, RunOptions, ab_conditions, ab_judged, load_run};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Instant;

/// Name of the stored form in the run directory.
pub const STORED: &str = "ab.json";
/// Users of a closed loop: enough to keep a server busy, few enough that none waits long.
const USERS: u32 = 4;

/// Compares two commands and prints how the second differs. The exit code is 1 where it is worse beyond the limit and fresh pairs say so,
/// and 3 where the time does not suffice.
pub fn ab(arguments: &AbArguments) -> Result<ExitCode, Failure> {
    let question = question(arguments)?;
    let conditions = ab_conditions(arguments.limit);
    let bound = Budget {
        time: arguments.budget,
        conditions: conditions.clone(),
        difference_percent: arguments.limit,
    };
    let [study]: [Prepared; 1] = bound
        .bind(vec![question.checked()?.prepare(false)?])?
        .try_into()
        .map_err(|_| Failure::internal("one study became several".to_owned()))?;
    let lines = budget::lines(&study, None)?;
    if arguments.plan {
        if arguments.format.is_json("--plan")? {
            output::print_json(study.plan())?;
        } else {
            output::print_text(&plan_text(&study, &conditions, &lines, output::width().into()))?;
        }
        return Ok(ExitCode::SUCCESS);
    }
    gate::check_files(&arguments.gate_files)?;
    arguments.html.as_deref().map_or(Ok(()), can_be_written)?;
    if question.is_a_a() {
        say!("note: both commands are the same (A/A): a difference would be an error");
    }
    lines.iter().for_each(|(label, text)| say!("{label}: {text}"));
    let begun = Instant::now();
    let options = RunOptions { out: arguments.out.clone(), ..RunOptions::default() };
    let (result, page) = carry_out(&study, &options)?;
    let run = load_run(&result.dir)?;
    let report = ab_judged(
        &question,
        arguments.limit,
        &run,
        &result.dir.to_string_lossy(),
        begun.elapsed().as_secs_f64(),
    );
    write_file(&result.dir.join(STORED), |out| write(&report, Format::Json, out))?;
    show(&report, arguments.format.form(), arguments.html.as_deref())?;
    say!("\nevery window: {}", page.display());
    let cases: Vec<GateCase> = conditions.iter().flat_map(|gate| gate.judge(&run)).collect();
    gate::tell(&cases);
    let is_known = report.figures.iter().any(|figure| figure.verdict != AbVerdict::Undecided);
    let bad = (!is_known).then(|| "no figure has an interval".to_owned());
    gate::write_cases(&arguments.gate_files, ("assay ab", bad), &cases, &|| report.document().markdown())?;
    Ok(gate::exit_code(if is_known { Usable::Yes } else { Usable::OneSide }, &cases))
}

fn question(arguments: &AbArguments) -> Result<AbQuestion, Failure> {
    let absolute = |path: &Path| -> Result<String, Failure> {
        let path = std::path::absolute(path).map_err(|e| Failure::input(e.to_string()))?;
        Ok(path.to_string_lossy().into_owned())
    };
    let folder = |folder: &Option<PathBuf>| match folder {
        Some(folder) if !folder.is_dir() => {
            Err(Failure::input(format!("there is no folder {}", folder.display())))
        }
        Some(folder) => absolute(folder),
        None => absolute(Path::new(".")),
    };
    let sides = [
        (arguments.before.clone(), Some(folder(&arguments.before_dir)?)),
        (arguments.after.clone(), Some(folder(&arguments.after_dir)?)),
    ];
    for (option, (command, _)) in ["--before", "--after"].iter().zip(&sides) {
        if !command.contains("{port}") {
            return Err(Failure::input(format!(
                "the command of {option} has no {{port}}: each server gets a free port of its own\n  for example: java -jar shop.jar --server.port={{port}}"
            )));
        }
    }
    Ok(AbQuestion {
        sides,
        url_path: arguments.url_path.clone(),
        scenario: arguments.scenario.as_deref().map(absolute).transpose()?,
        rate_per_s: arguments.rate,
        users: arguments.users.unwrap_or(USERS),
        jvm: arguments.java.clone(),
        heap: arguments.heap,
        window: arguments.window,
        seed: arguments.seed.unwrap_or_else(seed::any),
    })
}
