//! `assay reference`: pages of the documentation that come from the program, and its man pages. Hidden: a test keeps the pages up to
//! date, and a release has the man pages. `assay completions`: the same for shells.

mod commands;
mod findings;
mod metrics;

use crate::arguments::{Arguments, CompletionsArguments, ReferenceArguments};
use crate::failure::Failure;
use crate::{completion, output};
use clap::CommandFactory;
use std::process::ExitCode;

/// Prints the completions for a shell.
pub fn completions(arguments: &CompletionsArguments) -> Result<ExitCode, Failure> {
    output::print(|out| completion::write_script(&arguments.shell.to_string(), out))?;
    Ok(ExitCode::SUCCESS)
}

/// Prints a page, or writes the man pages.
pub fn reference(arguments: &ReferenceArguments) -> Result<ExitCode, Failure> {
    match &arguments.man {
        Some(folder) => {
            fs_err::create_dir_all(folder)?;
            clap_mangen::generate_to(Arguments::command(), folder)?;
        }
        None if arguments.findings => output::print_text(&findings::page())?,
        None if arguments.metrics => output::print_text(&metrics::page())?,
        None => output::print_text(&commands::page())?,
    }
    Ok(ExitCode::SUCCESS)
}
