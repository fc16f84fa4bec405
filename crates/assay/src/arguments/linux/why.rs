//! What can be typed after `assay why`.

use super::FormatArguments;
use assay_text::duration;
use clap::Args;
use std::path::PathBuf;
use std::time::Duration;

/// Arguments of `assay why`.
#[derive(Debug, Args)]
pub struct WhyArguments {
    /// A process (number or part of its name), a GC log, a record of `assay memory --record`, or a result of `assay memory`, `time`, `gc`
    /// or `host`
    #[arg(value_name = "PID|NAME|LOG|RECORD")]
    pub subject: PathBuf,
    /// How long to sample the CPU time of a process
    #[arg(long = "for", value_name = "DURATION", value_parser = duration::parse_positive, default_value = "5s")]
    pub duration: Duration,
    /// Write a page to FILE
    #[arg(long, value_name = "FILE")]
    pub html: Option<PathBuf>,
    /// Form of the result.
    #[command(flatten)]
    pub format: FormatArguments,
}
