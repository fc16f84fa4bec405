//! `assay reference`: pages of the documentation that come from the program, and its man pages. Hidden: a test keeps the pages up to
//! date, and a release has the man pages.

mod commands;
mod findings;
mod metrics;

use crate::arguments::{Arguments, ReferenceArguments};
use crate::failure::Failure;
use crate::output;
use clap::CommandFactory;
use std::process::ExitCode;

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
