//! What can be typed after `assay flags`.

use super::FormatArguments;
use clap::Args;
use std::path::PathBuf;

/// Arguments of `assay flags`.
#[derive(Debug, Args)]
pub struct FlagsArguments {
    /// A running JVM, by its number or a part of its program's name, or options in one argument: '-Xmx4g -XX:+UseZGC'
    #[arg(value_name = "PID|NAME|OPTIONS", allow_hyphen_values = true)]
    pub what: String,
    /// Releases to ask, such as 21,25 [default: the JVM's release; for options every known release]
    #[arg(long = "for", value_name = "RELEASES", value_delimiter = ',', value_parser = clap::value_parser!(u32).range(8..=99))]
    pub releases: Vec<u32>,
    /// Write a page to FILE
    #[arg(long, value_name = "FILE")]
    pub html: Option<PathBuf>,
    /// Form of the result.
    #[command(flatten)]
    pub format: FormatArguments,
}
