//! What can be typed after `assay ab`.

use super::number::{parse_count, parse_positive_number};
use super::{FormatArguments, GateFilesArguments};
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
    /// Path to request; the server is ready when it answers with success
    #[arg(long, value_name = "PATH", default_value = "/", value_parser = parse_path)]
    pub url_path: String,
    /// Send the requests of a scenario file (operations, sessions, checks) instead of requests for the path
    #[arg(long, value_name = "FILE")]
    pub scenario: Option<PathBuf>,
    /// Requests per second, open loop [default: a closed loop of --users]
    #[arg(short, long, value_parser = parse_positive_number, allow_negative_numbers = true)]
    pub rate: Option<f64>,
    /// Users of the closed loop; each sends the next request when the last one is answered [default: 4]
    #[arg(long, value_parser = parse_count, conflicts_with = "rate", allow_negative_numbers = true)]
    pub users: Option<u32>,
    /// Time for the whole comparison; it ends earlier when every figure is decided
    #[arg(long, value_name = "TIME", default_value = "10m", value_parser = duration::parse_positive, allow_negative_numbers = true)]
    pub budget: Duration,
    /// Exit with 1 if any figure of the new build is worse by more than this, and a second set of pairs confirms it; with 3 if the time is too
    /// short to decide
    #[arg(long, value_name = "CHANGE", default_value = "+3%", value_parser = parse_limit, allow_hyphen_values = true)]
    pub limit: f64,
    /// The JVM that `java` in the commands means: feature release or home folder [default: the java on the path]
    #[arg(long, value_name = "JVM")]
    pub java: Option<String>,
    /// Heap of both JVMs: -Xms and -Xmx, for example 512m
    #[arg(long, value_parser = assay_study::parse_size)]
    pub heap: Option<Size>,
    /// Length of a measured window, for example 10s
    #[arg(long, value_name = "TIME", default_value = "5s", value_parser = duration::parse_positive)]
    pub window: Duration,
    /// Folder for the run [default: runs/ab-TIME]
    #[arg(long)]
    pub out: Option<PathBuf>,
    /// Print what would run and which differences it would probably show, and run nothing
    #[arg(long, conflicts_with_all = ["junit", "summary", "html"])]
    pub plan: bool,
    /// Seed of every random draw
    #[arg(long)]
    pub seed: Option<u64>,
    /// What the limit comes to.
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
fn parse_limit(text: &str) -> Result<f64, String> {
    let number = text.trim().strip_prefix('+').unwrap_or(text.trim());
    let number = number.strip_suffix('%').unwrap_or(number).trim();
    let percent = number.parse().ok().filter(|percent: &f64| percent.is_finite() && 0.0 <= *percent);
    percent.ok_or_else(|| format!("`{text}` is not a limit: write a percentage, such as +3%"))
}

fn parse_path(text: &str) -> Result<String, String> {
    if text.starts_with('/') {
        Ok(text.to_owned())
    } else {
        Err(format!("`{text}` is not a URL path: start it with /, as in /orders"))
    }
}
