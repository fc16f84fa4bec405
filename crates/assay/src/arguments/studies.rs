//! What can be typed after `assay studies`.

use clap::{Args, ValueEnum};

/// Arguments of `assay studies`.
#[derive(Debug, Args)]
pub struct StudiesArguments {
    /// Print this study or scenario
    pub name: Option<String>,
    /// Print the list as JSON
    #[arg(long, conflicts_with = "name")]
    pub json: bool,
    /// Print the JSON schema of such files, from which editors complete keys: the printed studies and scenarios name it in their first line
    #[arg(long, value_name = "KIND", conflicts_with_all = ["name", "json"])]
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
