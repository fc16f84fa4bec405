//! What can be typed after `assay judge`.

use super::ab::parse_limit;
use super::{FormatArguments, GateFilesArguments, PairArguments};
use assay_text::duration;
use clap::Args;
use std::path::PathBuf;
use std::time::Duration;

/// Arguments of `assay judge`.
#[derive(Debug, Args)]
pub struct JudgeArguments {
    /// The flags in one argument: '-XX:+UseZGC -Xmx2g'
    #[arg(allow_hyphen_values = true)]
    pub flags: String,
    /// Study file whose server, load and settings are used, with its baseline levels only
    #[arg(required_unless_present = "command", conflicts_with = "command")]
    pub study: Option<PathBuf>,
    /// Command that starts the server, with {port} in place of the port: 'java -jar shop.jar --server.port={port}'. The flags go after
    /// `java`, before its own
    #[arg(long, value_name = "COMMAND", required_unless_present = "study")]
    pub command: Option<String>,
    /// Working folder of the command [default: the current one]
    #[arg(long, value_name = "FOLDER", requires = "command")]
    pub dir: Option<PathBuf>,
    /// How the server is loaded and measured.
    #[command(flatten)]
    pub pair: PairArguments,
    /// Time for all comparisons: up to half for the whole set, half of the rest for groups, the remainder for single flags
    #[arg(long, value_name = "TIME", default_value = "30m", value_parser = duration::parse_positive, allow_negative_numbers = true)]
    pub budget: Duration,
    /// Exit with 1 if any figure with all flags is worse by more than this and a second set of pairs confirms it. Exit with 3 if the time
    /// is too short to decide
    #[arg(long, value_name = "CHANGE", default_value = "+3%", value_parser = parse_limit, allow_hyphen_values = true)]
    pub limit: f64,
    /// Folder for the runs [default: runs/judge-TIME]
    #[arg(long)]
    pub out: Option<PathBuf>,
    /// Print how the release treats the flags and the planned comparisons, and run nothing
    #[arg(long, conflicts_with_all = ["junit", "summary", "html"])]
    pub plan: bool,
    /// The verdict on the limit.
    #[command(flatten)]
    pub gate_files: GateFilesArguments,
    /// Write a page to FILE
    #[arg(long, value_name = "FILE")]
    pub html: Option<PathBuf>,
    /// Form of the result.
    #[command(flatten)]
    pub format: FormatArguments,
}
