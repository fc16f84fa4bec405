//! What can be typed after `assay studies`.

use super::FormatArguments;
use clap::{Args, ValueEnum};

/// Arguments of `assay studies`.
#[derive(Debug, Args)]
pub struct StudiesArguments {
    /// Print this study or scenario
    #[arg(conflicts_with_all = ["format", "json"])]
    pub name: Option<String>,
    /// Form of the list.
    #[command(flatten)]
    pub format: FormatArguments,
    /// Print the JSON schema of such files, from which editors complete keys: the printed studies and scenarios name it in their first line
    #[arg(long, value_name = "KIND", conflicts_with_all = ["name", "format", "json"])]
    pub schema: Option<FileKind>,
}

/// Files that users write.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum FileKind {
    /// A study: a question and how it is answered
    Study,
    /// A scenario: what simulated users do
    Scenario,
    /// workload.toml: a server or benchmark program that is ready to be studied
    Workload,
}
