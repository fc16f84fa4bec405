//! What shells complete: commands and options, JVMs that run, ready-made studies and scenarios, and metrics.
//!
//! A shell asks the program itself, by the variable [`VARIABLE`], so that what it offers is of this moment and of this version.

mod candidate;
#[cfg(target_os = "linux")]
mod linux;

use crate::arguments::{Arguments, CompletionsArguments};
use crate::failure::Failure;
use crate::output;
use assay_model::GC_FIGURES;
use candidate::candidate;
use clap::{Arg, Command, CommandFactory};
use clap_complete::env::Shells;
use clap_complete::{ArgValueCandidates, CompleteEnv, CompletionCandidate};
use std::io::{self, Write};
use std::process::ExitCode;

/// Names the shell that asks.
const VARIABLE: &str = "ASSAY_COMPLETE";
const PROGRAM: &str = "assay";

/// Answers a shell that asks, and ends the program then.
pub fn answer() {
    CompleteEnv::with_factory(command).var(VARIABLE).bin(PROGRAM).complete();
}

/// Prints the completions for a shell.
pub fn completions(arguments: &CompletionsArguments) -> Result<ExitCode, Failure> {
    output::print(|out| write_script(&arguments.shell.to_string(), out))?;
    Ok(ExitCode::SUCCESS)
}

/// The script by which a shell asks. Its name is one of those that `assay completions` takes.
fn write_script(shell: &str, out: &mut dyn Write) -> io::Result<()> {
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
    #[cfg(target_os = "linux")]
    let arg = linux::of_argument(command, arg);
    match (command, arg.get_id().as_str()) {
        ("gc" | "diff", "fail_if") => arg.add(ArgValueCandidates::new(figures_of_logs)),
        _ => arg,
    }
}

fn figures_of_logs() -> Vec<CompletionCandidate> {
    GC_FIGURES.iter().map(|figure| candidate(figure.id, figure.help)).collect()
}
