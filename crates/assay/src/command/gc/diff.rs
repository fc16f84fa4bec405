//! `assay gc diff`: what differs between two logs beyond noise.

use super::{fails, find, is_log, view};
use crate::arguments::GcDiffArguments;
use crate::failure::Failure;
use crate::output;
use assay_gclog::input;
use assay_gcstudy::{Analysis, Condition, diff as differences};
use assay_model::{GcComparison, GcReport, schema};
use assay_report::render_gc_diff_terminal;
use std::path::PathBuf;
use std::process::ExitCode;

/// Compares two logs.
pub fn diff(arguments: &GcDiffArguments) -> Result<ExitCode, Failure> {
    let (before_name, before) = read(&arguments.before)?;
    let (after_name, after) = read(&arguments.after)?;
    let comparison = GcComparison {
        schema: schema::GC_COMPARISON.to_owned(),
        before: before_name,
        after: after_name,
        before_jvm: before.report().jvms.pop(),
        after_jvm: after.report().jvms.pop(),
        differences: differences(&before, &after),
    };
    if arguments.json {
        output::print_json(&comparison)?;
    } else {
        let text = render_gc_diff_terminal(&comparison, view());
        output::print(|out| out.write_all(text.as_bytes()))?;
    }
    let (before, after) = (before.report(), after.report());
    let holds = |c: &Condition| c.holds_between(&before, &after);
    let has_failed = fails(&arguments.fail_if, &comparison.after, holds, &|c| value(c, &before, &after));
    Ok(if has_failed { ExitCode::from(1) } else { ExitCode::SUCCESS })
}

/// The figure, or its change in percent.
fn value(condition: &Condition, before: &GcReport, after: &GcReport) -> Option<f64> {
    let (old, new) = (condition.figure().read(before), condition.figure().read(after)?);
    if condition.is_of_change() { Some(100.0 * (new / old? - 1.0)) } else { Some(new) }
}

fn read(path: &PathBuf) -> Result<(String, Analysis), Failure> {
    let found = find(std::slice::from_ref(path), false)?;
    let [set] = found.sets.as_slice() else {
        return Err(Failure::input(format!(
            "{} holds {} logs of different names: name one of them",
            path.display(),
            found.sets.len()
        )));
    };
    let mut analysis = Analysis::default();
    input::read_set(set, &mut analysis);
    is_log(&analysis.report(), &set.name)?;
    Ok((set.name.clone(), analysis))
}
