//! What can be typed after `assay flags`.

use super::{FormatArguments, GateFilesArguments};
use clap::{Args, ValueEnum};
use std::path::PathBuf;

/// Arguments of `assay flags`.
#[derive(Debug, Args)]
pub struct FlagsArguments {
    /// A running JVM, by its number or a part of its program's name; options or a whole command in one argument: '-Xmx4g -XX:+UseZGC',
    /// 'java -Xmx4g -jar shop.jar'; or a file with options
    #[arg(
        value_name = "PID|NAME|OPTIONS|FILE",
        allow_hyphen_values = true,
        required_unless_present = "file"
    )]
    pub what: Option<String>,
    /// A file with options: jvm.options with versions (8-13:-XX:...), a file of arguments, an environment file, a script, a Dockerfile
    #[arg(long, value_name = "FILE", conflicts_with = "what")]
    pub file: Option<PathBuf>,
    /// Releases to ask, such as 21,25 [default: the JVM's release; for options every known release]
    #[arg(long = "for", value_name = "RELEASES", value_delimiter = ',', value_parser = clap::value_parser!(u32).range(8..=99))]
    pub releases: Vec<u32>,
    /// End with exit code 1 if on one of the releases no JVM starts with the options (fails), or a JVM would warn of one (warns); with 3 where
    /// that is not known
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

/// What a build may be made to fail on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum FlagsCondition {
    /// No JVM of the release starts with the options.
    Fails,
    /// A JVM of the release warns of an option: deprecated or ignored.
    Warns,
}
