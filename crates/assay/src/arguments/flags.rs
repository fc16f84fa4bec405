//! What can be typed after `assay flags`.

use super::number::parse_release;
use super::{FormatArguments, GateFilesArguments};
use clap::{Args, ValueEnum};
use std::path::PathBuf;

/// Arguments of `assay flags`.
#[derive(Debug, Args)]
pub struct FlagsArguments {
    /// A JVM (number or part of its name), a file, or options or a command as one argument: '-Xmx4g -XX:+UseZGC', 'java -Xmx4g
    /// -jar shop.jar'
    #[arg(
        value_name = "PID|NAME|OPTIONS|FILE",
        allow_hyphen_values = true,
        required_unless_present = "file"
    )]
    pub what: Option<String>,
    /// A file with options: jvm.options with versions (8-13:-XX:...), a file of arguments, an environment file, a script, a Dockerfile
    #[arg(long, value_name = "FILE", conflicts_with = "what")]
    pub file: Option<PathBuf>,
    /// Releases to ask, such as 21,25 [default: the JVM's release, or every known release for options]
    #[arg(long = "for", value_name = "RELEASES", value_delimiter = ',', value_parser = parse_release)]
    pub releases: Vec<u32>,
    /// Exit with 1 if no JVM of a release starts with the options (fails), or a JVM would warn of one (warns). Exit with 3 if that is
    /// unknown
    #[arg(long, value_name = "CONDITION")]
    pub fail_if: Vec<FlagsCondition>,
    /// Files for the verdicts.
    #[command(flatten)]
    pub gate_files: GateFilesArguments,
    /// Write the remarks on options to FILE as SARIF 2.1.0, for lists of alerts
    #[arg(long, value_name = "FILE")]
    pub sarif: Option<PathBuf>,
    /// Write a page to FILE
    #[arg(long, value_name = "FILE")]
    pub html: Option<PathBuf>,
    /// Form of the result.
    #[command(flatten)]
    pub format: FormatArguments,
}

/// Verdicts that can fail a build.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum FlagsCondition {
    /// No JVM of the release starts with the options.
    Fails,
    /// A JVM of the release warns of an option: deprecated or ignored.
    Warns,
}
