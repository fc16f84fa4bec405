//! What came of a run: what it can be used for, and what it says to conditions.

use crate::arguments::RunArguments;
use crate::command::gate::{self, Usable};
use crate::failure::Failure;
use crate::forms::{self, Described};
use crate::output_file::write_result;
use assay_model::{GateCase, Plan, StoredRun};
use assay_results::Gate;
use std::path::Path;
use std::process::ExitCode;

/// What the run can be used for, and why not for everything: no variant, or only one of several, has a usable value of the primary metric.
pub(super) fn usable_for(run: &StoredRun) -> (Usable, Option<String>) {
    let metric = &run.plan.primary_metric;
    if !run.has_answer() {
        let why = format!("no variant has a value of {metric} that can be used");
        say!("nothing counts: {why}");
        return (Usable::No, Some(why));
    }
    let mut why = match (run.answer_without_another(), run.plan.variants.as_slice()) {
        (Some(only), _) => format!("{only} alone has a value of {metric} that can be used"),
        (None, [only]) if !run.plan.skipped.is_empty() => format!("{} alone can run here", only.name),
        _ => return (Usable::Yes, None),
    };
    for skipped in &run.plan.skipped {
        why += &format!("; {}: {}", skipped.name, skipped.reason);
    }
    say!("nothing is compared: {why}");
    (Usable::OneSide, Some(why))
}

/// Shows a run, its verdicts and where its page is, and writes the files that were asked for.
pub(super) fn finish(run: &StoredRun, page: &Path, arguments: &RunArguments) -> Result<ExitCode, Failure> {
    forms::print(run, arguments.format.form())?;
    say!("\nreport: {}", shown(page).display());
    let (usable, cases) = concluded(run, arguments)?;
    Ok(gate::exit_code(usable, &cases))
}

/// What a run can be used for, its verdicts, and the page that was asked for.
pub(super) fn concluded(
    run: &StoredRun,
    arguments: &RunArguments,
) -> Result<(Usable, Vec<GateCase>), Failure> {
    let (usable, why) = if arguments.allow_invalid { (Usable::Yes, None) } else { usable_for(run) };
    let cases = judged(run, why, arguments)?;
    if let Some(path) = &arguments.html {
        write_result(path, |out| assay_report::study::document(run).write_html(out))?;
    }
    Ok((usable, cases))
}

/// What the run says to the conditions of a build: a line each, and all of them in files where they were named.
fn judged(run: &StoredRun, bad: Option<String>, arguments: &RunArguments) -> Result<Vec<GateCase>, Failure> {
    let gates = arguments.fail_if.iter();
    let cases: Vec<GateCase> = gates.flat_map(|gate| gate.judge(run)).collect();
    gate::tell(&cases);
    gate::write_cases(&arguments.gate_files, (&run.plan.study, bad), &cases, &|| run.document().markdown())?;
    Ok(cases)
}

/// A path as short as it can be written from here.
pub(super) fn shown(path: &Path) -> &Path {
    let here = std::env::current_dir().ok();
    here.and_then(|here| path.strip_prefix(here).ok()).unwrap_or(path)
}

/// Names conditions that the run could never decide, before it begins.
pub(super) fn check_conditions(conditions: &[Gate], plan: &Plan) -> Result<(), Failure> {
    let has_baseline = plan.variants.iter().any(|variant| variant.baseline.is_some());
    match conditions.iter().find(|condition| condition.is_of_change() && !has_baseline) {
        Some(condition) => Err(Failure::input(format!(
            "`{condition}` is about a change, and no variant of {} has a baseline\n  the value itself is compared without a sign: > 25",
            plan.study
        ))),
        None => Ok(()),
    }
}
