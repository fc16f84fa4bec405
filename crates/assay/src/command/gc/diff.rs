//! `assay gc diff`: what differs between two logs beyond noise.

use super::named::{find, is_log};
use super::shown::fails;
use crate::arguments::GcDiffArguments;
use crate::failure::Failure;
use crate::output;
use crate::output_file::write_result;
use assay_gclog::input;
use assay_gcstudy::{Analysis, diff as differences};
use assay_model::{GcComparison, schema};
use assay_report::{render_gc_diff_html, render_gc_diff_terminal};
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
    if let Some(path) = &arguments.html {
        write_result(path, |mut out| render_gc_diff_html(&comparison, &mut out))?;
    }
    if arguments.json {
        output::print_json(&comparison)?;
    } else {
        output::print_text(&render_gc_diff_terminal(&comparison, output::view()))?;
    }
    let (before, after) = (before.report(), after.report());
    let has_failed = fails(&arguments.fail_if, &comparison.after, (Some(&before), &after));
    Ok(if has_failed { ExitCode::from(1) } else { ExitCode::SUCCESS })
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
