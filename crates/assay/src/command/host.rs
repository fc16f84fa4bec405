//! `assay host`: what rules say of the machine and of the JVMs on it.

use crate::arguments::{HostArguments, HostCommand, HostDiffArguments, Severity};
use crate::command::read_stored;
use crate::failure::Failure;
use crate::output;
use crate::output_file::{can_be_written, write_result};
use assay_model::{HostSnapshot, HostVerdict, schema};
use std::path::Path;
use std::process::ExitCode;

/// Checks the machine or a snapshot, or compares two.
pub fn host(arguments: &HostArguments) -> Result<ExitCode, Failure> {
    if let Some(HostCommand::Diff(arguments)) = &arguments.command {
        return diff(arguments);
    }
    arguments.snapshot.as_deref().map_or(Ok(()), can_be_written)?;
    let snapshot = match &arguments.from {
        Some(path) => read(path)?,
        None => assay_host::take_snapshot(env!("CARGO_PKG_VERSION"))?,
    };
    if let Some(path) = &arguments.snapshot {
        write_result(path, |out| Ok(serde_json::to_writer_pretty(out, &snapshot)?))?;
    }
    let report = assay_host::check(&snapshot);
    if arguments.json {
        output::print_json(&report)?;
    } else {
        output::print_text(&assay_processreport::render_host_terminal(
            &report,
            arguments.all,
            output::view(),
        ))?;
    }
    let fails = arguments.fail_on.is_some_and(|least| {
        let is_bad = |verdict| verdict == HostVerdict::Bad;
        report.rulings.iter().any(|ruling| is_bad(ruling.verdict) && stored(least) <= ruling.severity)
    });
    Ok(if fails { ExitCode::from(1) } else { ExitCode::SUCCESS })
}

fn diff(arguments: &HostDiffArguments) -> Result<ExitCode, Failure> {
    let (before, after) = (read(&arguments.before)?, read(&arguments.after)?);
    let comparison = assay_host::compare(&before, &after);
    if arguments.json {
        output::print_json(&comparison)?;
    } else {
        output::print_text(&assay_processreport::render_host_comparison_terminal(
            &comparison,
            output::view(),
        ))?;
    }
    Ok(ExitCode::SUCCESS)
}

fn read(path: &Path) -> Result<HostSnapshot, Failure> {
    let schema_of = |snapshot: &HostSnapshot| snapshot.schema.clone();
    read_stored(path, schema::HOST_SNAPSHOT, schema_of, "a snapshot of `assay host --snapshot`")
}

fn stored(severity: Severity) -> assay_model::Severity {
    match severity {
        Severity::Note => assay_model::Severity::Note,
        Severity::Warning => assay_model::Severity::Warning,
        Severity::Error => assay_model::Severity::Error,
    }
}
