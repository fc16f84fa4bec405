//! `assay gc diff`: what differs between two logs beyond noise.

use super::named::{find, is_log};
use crate::arguments::GcDiffArguments;
use crate::command::gate;
use crate::failure::Failure;
use crate::forms::{Described, show};
use crate::output_file::can_be_written;
use assay_gclog::input;
use assay_gcstudy::{Analysis, diff as differences};
use assay_model::{GateCase, GcComparison, schema};
use std::path::PathBuf;
use std::process::ExitCode;

/// Compares two logs.
pub fn diff(arguments: &GcDiffArguments) -> Result<ExitCode, Failure> {
    gate::check_files(&arguments.gate_files)?;
    arguments.html.as_deref().map_or(Ok(()), can_be_written)?;
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
    show(&comparison, arguments.format.form(), arguments.html.as_deref())?;
    let after = after.report();
    let cases: Vec<GateCase> =
        arguments.fail_if.iter().map(|one| one.judge_change(&comparison, &after)).collect();
    gate::tell(&cases);
    gate::write_cases(&arguments.gate_files, (&comparison.after, None), &cases, &|| {
        comparison.document().markdown()
    })?;
    Ok(gate::exit_code(true, &cases))
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
