//! What can be typed after `assay ab`.

use super::{FormatArguments, GateFilesArguments, PairArguments};
use assay_study::Size;
use assay_text::duration;
use clap::Args;
use std::path::PathBuf;
use std::time::Duration;

/// Arguments of `assay ab`.
#[derive(Debug, Args)]
pub struct AbArguments {
    /// The command that starts the old build, with {port} in place of the port: 'java -jar old.jar --server.port={port}'
    #[arg(long, value_name = "COMMAND")]
    pub before: String,
    /// The command that starts the new build
    #[arg(long, value_name = "COMMAND")]
    pub after: String,
    /// Working folder of the old build [default: the current one]
    #[arg(long, value_name = "FOLDER")]
    pub before_dir: Option<PathBuf>,
    /// Working folder of the new build [default: the current one]
    #[arg(long, value_name = "FOLDER")]
    pub after_dir: Option<PathBuf>,
    /// How both servers are loaded and measured.
    #[command(flatten)]
    pub pair: PairArguments,
    /// Time for the whole comparison. It ends earlier if every figure is decided
    #[arg(long, value_name = "TIME", default_value = "10m", value_parser = duration::parse_positive, allow_negative_numbers = true)]
    pub budget: Duration,
    /// Exit with 1 if any figure of the new build is worse by more than this and a second set of pairs confirms it. Exit with 3 if the time
    /// is too short to decide
    #[arg(long, value_name = "CHANGE", default_value = "+3%", value_parser = parse_limit, allow_hyphen_values = true)]
    pub limit: f64,
    /// Heap of both JVMs: -Xms and -Xmx, for example 512m
    #[arg(long, value_parser = assay_study::parse_size)]
    pub heap: Option<Size>,
    /// Folder for the run [default: runs/ab-TIME]
    #[arg(long)]
    pub out: Option<PathBuf>,
    /// Print what would run and which differences it would probably show, and run nothing
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

/// A change for the worse, in percent.
pub fn parse_limit(text: &str) -> Result<f64, String> {
    let number = text.trim().strip_prefix('+').unwrap_or(text.trim());
    let number = number.strip_suffix('%').unwrap_or(number).trim();
    let percent = number.parse().ok().filter(|percent: &f64| percent.is_finite() && 0.0 <= *percent);
    percent.ok_or_else(|| format!("`{text}` is not a limit: write a percentage, such as +3%"))
}
