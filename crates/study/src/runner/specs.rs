//! The processes of a trial as they are asked for: server or benchmark program, and auxiliary processes.

use super::state::Run;
use crate::file::program::{CommandLine, ProcessTable, RunAs, ServerTable};
use crate::plan::prepare::Prepared;
use crate::plan::variant_launch::VariantLaunch;
use assay_jdk::Release;
use assay_launch::{ProcessSpec, ReadyWhen};
use assay_model::Variant;
use std::time::Duration;

/// Whether its JVM has `-Xlog`; a JVM that is not known counts as a newer release.
pub(super) fn has_unified_logging(variant: &Variant) -> bool {
    variant.jvm.as_ref().is_none_or(|jvm| Release::of(jvm.feature).jvm.has_unified_logging)
}

/// The server of a variant, with what its observers need.
pub(super) fn server_spec(
    run: &Run<'_>,
    launch: &VariantLaunch,
    table: &ServerTable,
    observers_options: Vec<String>,
) -> ProcessSpec {
    let ready = ReadyWhen::Url(table.ready_url.clone());
    let usual = variant_spec(run.prepared, launch, ready, observers_options);
    let seconds = |given: Option<f64>, usual| given.map_or(usual, Duration::from_secs_f64);
    ProcessSpec {
        ready_timeout: seconds(table.ready_timeout_s, usual.ready_timeout),
        template: table.template.clone(),
        stop_signal: table.stop_signal.unwrap_or_default(),
        stop_timeout: seconds(table.stop_timeout_s, usual.stop_timeout),
        ..usual
    }
}

/// The server or benchmark program of a variant.
pub(super) fn variant_spec(
    prepared: &Prepared,
    launch: &VariantLaunch,
    ready: ReadyWhen,
    observers_options: Vec<String>,
) -> ProcessSpec {
    let program = &prepared.workload.program;
    ProcessSpec {
        is_server: true,
        environment: program.environment().clone().into_iter().chain(launch.environment.clone()).collect(),
        directory: launch.directory.clone(),
        jvm_home: launch.variant.jvm.as_ref().map(|jvm| jvm.home.clone()),
        jvm_options: [launch.variant.jvm_options.clone(), observers_options].concat(),
        ..ProcessSpec::new(program.role(), launch.command.clone(), ready)
    }
}

/// Auxiliary JVMs that can be made to write a log: name of the table, and role.
pub(super) fn jvms_beside(run: &Run<'_>, launch: &VariantLaunch) -> Vec<(String, String)> {
    let variant = &launch.variant;
    let is_jvm =
        |p: &&ProcessTable| variant.jvm.is_some() && p.may_log() && p.is_wanted(&variant.workload_options);
    let tables = run.prepared.workload.processes.iter().filter(is_jvm);
    let options = &variant.workload_options;
    tables
        .flat_map(|table| table.roles_with(options).into_iter().map(|role| (table.name.clone(), role)))
        .collect()
}

/// An auxiliary process, on this variant's JVM and, where it takes them, with the variant's JVM options.
pub(super) fn process_spec(table: &ProcessTable, variant: &Variant) -> ProcessSpec {
    let jvm_home = variant.jvm.as_ref().map(|jvm| jvm.home.clone());
    let words = |line: &CommandLine| line.words().unwrap_or_default();
    let ready = match (&table.ready_url, &table.ready_command) {
        (Some(url), _) => ReadyWhen::Url(url.clone()),
        (None, Some(command)) => ReadyWhen::Command(words(command)),
        (None, None) => ReadyWhen::Started,
    };
    let usual = ProcessSpec::new(&table.name, words(&table.command), ready);
    let seconds = |given: Option<f64>, usual| given.map_or(usual, Duration::from_secs_f64);
    ProcessSpec {
        count: table.count_with(&variant.workload_options),
        prepare: table.prepare.as_ref().map(words).unwrap_or_default(),
        ready_timeout: seconds(table.ready_timeout_s, usual.ready_timeout),
        environment: table.environment.clone(),
        directory: table.directory.clone(),
        template: table.template.clone(),
        programs: table.programs.clone(),
        stop_signal: table.stop_signal.unwrap_or_default(),
        stop_timeout: seconds(table.stop_timeout_s, usual.stop_timeout),
        is_unprivileged: table.run_as == Some(RunAs::Unprivileged),
        jvm_home: jvm_home.filter(|_| table.uses_jvm()),
        jvm_options: variant.jvm_options.clone(),
        ..usual
    }
}
