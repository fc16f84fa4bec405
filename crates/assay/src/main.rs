//! The program: arguments in, one of the other rooms does the work, results and exit code out.
//!
//! Only this crate writes to the terminal or exits. Data goes to standard output, diagnostics to standard error.
#![cfg_attr(not(target_os = "linux"), allow(dead_code, reason = "commands of Linux alone use the rest"))]

#[macro_use]
mod output;
mod arguments;
mod command;
mod completion;
mod failure;
mod forms;
#[cfg(target_os = "linux")]
mod live;
mod output_file;
mod progress;
mod screen;
mod seed;
mod slips;
mod stop;
mod version;

use arguments::{Arguments, Command};
use failure::Failure;
use std::process::ExitCode;

fn main() -> ExitCode {
    completion::answer();
    let arguments = match slips::parse(std::env::args_os().collect()) {
        Ok(arguments) => arguments,
        Err(code) => return code,
    };
    arguments.color.write_global();
    match run(arguments) {
        Ok(code) => code,
        Err(failure) => {
            say!("error: {}", failure.message);
            failure.exit_code()
        }
    }
}

fn run(arguments: Arguments) -> Result<ExitCode, Failure> {
    match arguments.command {
        #[cfg(target_os = "linux")]
        Command::Linux(command) => command::linux::run(command),
        Command::Report(report) => command::report::report(&report),
        Command::Compare(compare) => command::compare::compare(&compare),
        Command::Gc(gc) => command::gc::gc(&gc),
        Command::Heap(heap) => command::heap::heap(&heap),
        Command::Flags(flags) => command::flags::flags(&flags),
        Command::Completions(completions) => completion::completions(&completions),
    }
}
