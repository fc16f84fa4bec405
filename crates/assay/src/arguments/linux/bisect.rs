//! Arguments of `assay bisect`.

use super::FormatArguments;
use super::number::parse_positive_number;
use assay_study::CommandLine;
use assay_text::duration;
use clap::Args;
use std::path::PathBuf;
use std::time::Duration;

/// Arguments of `assay bisect`.
#[derive(Debug, Args)]
pub struct BisectArguments {
    /// A commit, branch or tag before the change
    pub good: String,
    /// One that follows it and has the change
    pub bad: String,
    /// Study file that starts, loads and measures the server. Its folder, or its `directory`, is in the repository
    pub study: PathBuf,
    /// Command that builds a commit in a clean copy of it, run without a shell [default: `build` of the study]
    #[arg(long, value_name = "COMMAND")]
    pub build: Option<String>,
    /// The short form: the [quick] part of the study file
    #[arg(long)]
    pub quick: bool,
    /// Smallest regression to look for, in percent. A smaller one takes longer
    #[arg(long, value_name = "PERCENT", default_value = "3", value_parser = parse_positive_number)]
    pub least: f64,
    /// Pairs of trials in each comparison
    #[arg(long, default_value_t = 3, value_parser = clap::value_parser!(u32).range(2..=100))]
    pub pairs: u32,
    /// Start no comparison after this time, even if no answer is reached [default: no limit]
    #[arg(long, value_name = "DURATION", value_parser = duration::parse_positive)]
    pub budget: Option<Duration>,
    /// Folder for the runs [default: runs/<study>-bisect-<time>]
    #[arg(long, value_name = "FOLDER")]
    pub out: Option<PathBuf>,
    /// Print what would be compared first, and run nothing
    #[arg(long, conflicts_with = "html")]
    pub plan: bool,
    /// Write a page to FILE
    #[arg(long, value_name = "FILE")]
    pub html: Option<PathBuf>,
    /// Form of the result.
    #[command(flatten)]
    pub format: FormatArguments,
}

impl BisectArguments {
    /// The command that builds a commit, where one was named.
    pub fn build(&self) -> Option<CommandLine> {
        self.build.clone().map(CommandLine::Text)
    }
}
