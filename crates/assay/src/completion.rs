//! What shells complete: commands and options, JVMs that run, ready-made studies and scenarios, and metrics.
//!
//! A shell asks the program itself, by the variable [`VARIABLE`], so that what it offers is of this moment and of this version.

use crate::arguments::Arguments;
use assay_host::running_jvms;
use assay_linux::ProcRoot;
use assay_model::{GC_FIGURES, METRICS};
use clap::{Arg, Command, CommandFactory};
use clap_complete::env::Shells;
use clap_complete::{ArgValueCandidates, ArgValueCompleter, CompleteEnv, CompletionCandidate, PathCompleter};
use std::ffi::OsStr;
use std::io::{self, Write};

/// Names the shell that asks.
const VARIABLE: &str = "ASSAY_COMPLETE";
const PROGRAM: &str = "assay";

/// Answers a shell that asks, and ends the program then.
pub fn answer() {
    CompleteEnv::with_factory(command).var(VARIABLE).bin(PROGRAM).complete();
}

/// The script by which a shell asks. Its name is one of those that `assay completions` takes.
pub fn write_script(shell: &str, out: &mut dyn Write) -> io::Result<()> {
    let shells = Shells::builtins();
    let shell =
        shells.completer(shell).ok_or_else(|| io::Error::other(format!("no completions for {shell}")))?;
    shell.write_registration(VARIABLE, PROGRAM, PROGRAM, PROGRAM, out)
}

/// The arguments, with what their values may be here and now.
fn command() -> Command {
    with_values(Arguments::command())
}

fn with_values(command: Command) -> Command {
    let name = command.get_name().to_owned();
    command.mut_args(|arg| of_argument(&name, arg)).mut_subcommands(with_values)
}

/// An argument of a command, by the names of both.
fn of_argument(command: &str, arg: Arg) -> Arg {
    match (command, arg.get_id().as_str()) {
        (_, "pid") => arg.add(ArgValueCandidates::new(jvms)),
        ("run" | "bisect" | "judge", "study") => arg.add(ArgValueCompleter::new(study_or_path)),
        ("studies", "name") => {
            arg.add(ArgValueCandidates::new(|| studies().into_iter().chain(scenarios()).collect()))
        }
        ("load" | "capacity" | "ab" | "judge", "scenario") => {
            arg.add(ArgValueCompleter::new(scenario_or_path))
        }
        ("gc" | "diff", "fail_if") => arg.add(ArgValueCandidates::new(figures_of_logs)),
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

fn figures_of_logs() -> Vec<CompletionCandidate> {
    GC_FIGURES.iter().map(|figure| candidate(figure.id, figure.help)).collect()
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

fn candidate(value: &str, help: &str) -> CompletionCandidate {
    CompletionCandidate::new(value).help((!help.is_empty()).then(|| help.to_owned().into()))
}
