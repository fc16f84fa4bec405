//! How two servers that run at the same time are loaded and measured: the same for `assay ab` and `assay judge`.

use super::number::{parse_count, parse_positive_number};
use assay_text::duration;
use clap::Args;
use std::path::PathBuf;
use std::time::Duration;

/// The load of a server that Assay starts: so many requests per second, or users who wait for each answer.
#[derive(Debug, Args)]
pub struct LawArguments {
    /// Requests per second, open loop [default: a closed loop of --users]
    #[arg(short, long, value_parser = parse_positive_number, allow_negative_numbers = true)]
    pub rate: Option<f64>,
    /// Users of the closed loop. Each sends the next request after the last answer [default: 4]
    #[arg(long, value_parser = parse_count, conflicts_with = "rate", allow_negative_numbers = true)]
    pub users: Option<u32>,
}

/// How both servers of a pair are loaded and measured.
#[derive(Debug, Args)]
pub struct PairArguments {
    /// Path to request. The server is ready when it answers with success [default: /]
    #[arg(long, value_name = "PATH", value_parser = parse_path)]
    pub url_path: Option<String>,
    /// Send the requests of a scenario file (operations, sessions, checks) instead of requests for the path
    #[arg(long, value_name = "FILE")]
    pub scenario: Option<PathBuf>,
    /// Open or closed loop.
    #[command(flatten)]
    pub law: LawArguments,
    /// The JVM that `java` in a command means: feature release or home folder [default: the java on the path]
    #[arg(long, value_name = "JVM")]
    pub java: Option<String>,
    /// Length of a measured window, for example 10s [default: 5s]
    #[arg(long, value_name = "TIME", value_parser = duration::parse_positive)]
    pub window: Option<Duration>,
    /// Keep each server on its processors by a control group, made for each trial and removed after it. Needs root. Affinity
    /// alone keeps it there otherwise
    #[arg(long)]
    pub allow_host_changes: bool,
    /// Seed of every random draw
    #[arg(long)]
    pub seed: Option<u64>,
}

impl PairArguments {
    /// The first option that was typed, of those whose values a study has.
    pub fn typed(&self) -> Option<&'static str> {
        let typed = [
            ("--url-path", self.url_path.is_some()),
            ("--scenario", self.scenario.is_some()),
            ("--rate", self.law.rate.is_some()),
            ("--users", self.law.users.is_some()),
            ("--java", self.java.is_some()),
            ("--window", self.window.is_some()),
            ("--seed", self.seed.is_some()),
        ];
        typed.into_iter().find_map(|(option, is_typed)| is_typed.then_some(option))
    }
}

pub fn parse_path(text: &str) -> Result<String, String> {
    if text.starts_with('/') {
        Ok(text.to_owned())
    } else {
        Err(format!("`{text}` is not a URL path: start it with /, as in /orders"))
    }
}
