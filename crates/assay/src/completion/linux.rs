//! Values of commands that exist on Linux alone.

use super::candidate::candidate;
use assay_host::running_jvms;
use assay_linux::ProcRoot;
use assay_model::METRICS;
use clap::Arg;
use clap_complete::{ArgValueCandidates, ArgValueCompleter, CompletionCandidate, PathCompleter};
use std::ffi::OsStr;

/// An argument of a command, by the names of both.
pub fn of_argument(command: &str, arg: Arg) -> Arg {
    match (command, arg.get_id().as_str()) {
        (_, "pid") => arg.add(ArgValueCandidates::new(jvms)),
        ("run" | "bisect" | "judge", "study") => arg.add(ArgValueCompleter::new(study_or_path)),
        ("studies", "name") => {
            arg.add(ArgValueCandidates::new(|| studies().into_iter().chain(scenarios()).collect()))
        }
        ("load" | "capacity" | "ab" | "judge", "scenario") => {
            arg.add(ArgValueCompleter::new(scenario_or_path))
        }
        ("run", "fail_if") => arg.add(ArgValueCandidates::new(metrics)),
        _ => arg,
    }
}

/// By number, with the program's name.
fn jvms() -> Vec<CompletionCandidate> {
    let Ok((found, _)) = running_jvms(&ProcRoot::default()) else { return Vec::new() };
    found.jvms.iter().map(|jvm| candidate(&jvm.pid.to_string(), &jvm.program)).collect()
}

fn studies() -> Vec<CompletionCandidate> {
    assay_study::READY_MADE.iter().map(|study| candidate(study.name, "")).collect()
}

fn scenarios() -> Vec<CompletionCandidate> {
    assay_scenario::READY_MADE.iter().map(|scenario| candidate(scenario.name, "")).collect()
}

fn metrics() -> Vec<CompletionCandidate> {
    METRICS.iter().map(|metric| candidate(&metric.id, &metric.title)).collect()
}

fn study_or_path(current: &OsStr) -> Vec<CompletionCandidate> {
    or_path(studies(), current)
}

fn scenario_or_path(current: &OsStr) -> Vec<CompletionCandidate> {
    or_path(scenarios(), current)
}

/// Those that begin so, and the paths that do.
fn or_path(known: Vec<CompletionCandidate>, current: &OsStr) -> Vec<CompletionCandidate> {
    use clap_complete::engine::ValueCompleter as _;
    let begins = current.to_string_lossy();
    let known = known.into_iter().filter(|of| of.get_value().to_string_lossy().starts_with(&*begins));
    known.chain(PathCompleter::any().complete(current)).collect()
}
