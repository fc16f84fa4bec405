//! What can be typed after `assay fit`.

use super::FormatArguments;
use super::key_value::key_value;
use super::pair::{LawArguments, parse_path};
use assay_model::{FitLatency, FitPercentile, metric};
use assay_study::Size;
use assay_text::duration;
use clap::{Args, ValueEnum};
use std::ops::RangeInclusive;
use std::path::PathBuf;
use std::time::Duration;

/// Longest limit of a response time: an hour.
const LIMIT_MS_MAX: f64 = 3_600_000.0;

/// Arguments of `assay fit`.
#[derive(Debug, Args)]
pub struct FitArguments {
    /// Study file whose server, load and settings are used, with its baseline levels only
    #[arg(required_unless_present_any = ["command", "workload"], conflicts_with_all = ["command", "workload"])]
    pub study: Option<PathBuf>,
    /// Command that starts the server, with {port} in place of the port: 'java -jar shop.jar --server.port={port}'
    #[arg(long, value_name = "COMMAND", conflicts_with = "workload")]
    pub command: Option<String>,
    /// Working folder of the command [default: the current one]
    #[arg(long, value_name = "FOLDER", requires = "command")]
    pub dir: Option<PathBuf>,
    /// A ready-made workload: brokerage, kiosk, supermarket
    #[arg(long, value_name = "NAME")]
    pub workload: Option<String>,
    /// Option of the workload, as NAME=VALUE. Repeatable
    #[arg(long, value_name = "NAME=VALUE", requires = "workload", value_parser = key_value)]
    pub option: Vec<(String, String)>,
    /// Percentile of the response time and its limit. Repeatable: --limit p99=50ms --limit p50=5ms
    #[arg(long, value_name = "PERCENTILE=TIME", value_parser = parse_limit, required_unless_present = "size")]
    pub limit: Vec<FitLatency>,
    /// Path to request. The server is ready when it answers with success [default: /]
    #[arg(long, value_name = "PATH", value_parser = parse_path, requires = "command")]
    pub url_path: Option<String>,
    /// Scenario file to load the server with. Repeatable: the limits must hold under each
    #[arg(long, value_name = "FILE")]
    pub scenario: Vec<PathBuf>,
    /// Open or closed loop.
    #[command(flatten)]
    pub law: LawArguments,
    /// The JVM that `java` in the command means: feature release or home folder [default: the java on the path]
    #[arg(long, value_name = "JVM")]
    pub java: Option<String>,
    /// Keep this heap (-Xms and -Xmx) and fit the limits alone, for example 512m
    #[arg(long, value_name = "SIZE", value_parser = assay_study::parse_size)]
    pub heap: Option<Size>,
    /// Fit this limit alone
    #[arg(long, value_name = "RESOURCE")]
    pub only: Option<FitOnly>,
    /// Fit an option instead of limits: a JVM option with {} in place of its value, '-XX:ParallelGCThreads={}', or {size}, which is then in
    /// the command
    #[arg(long, value_name = "OPTION", allow_hyphen_values = true, requires = "between", conflicts_with_all = ["limit", "heap", "only"])]
    pub size: Option<String>,
    /// The values of --size, as 1..16
    #[arg(long, value_name = "FROM..TO", value_parser = parse_between, requires = "size")]
    pub between: Option<RangeInclusive<u64>>,
    /// The metric that decides about --size
    #[arg(long, default_value = metric::CPU_MS_PER_REQUEST, requires = "size")]
    pub metric: String,
    /// How far from the best the value of --size may be
    #[arg(long, value_name = "PERCENT", default_value = "3%", value_parser = parse_percent, requires = "size")]
    pub within: f64,
    /// Requests that may fail
    #[arg(long, value_name = "PERCENT", default_value = "1%", value_parser = parse_percent)]
    pub errors: f64,
    /// Time for which the server may wait for memory
    #[arg(long, value_name = "PERCENT", default_value = "1%", value_parser = parse_percent)]
    pub stalled: f64,
    /// Scheduling periods (100 ms) in which the CPU limit may hold the server
    #[arg(long, value_name = "PERCENT", default_value = "5%", value_parser = parse_percent)]
    pub throttled: f64,
    /// Length of a measured window [default: 20s, or that of the study]
    #[arg(long, value_name = "TIME", value_parser = duration::parse_positive)]
    pub window: Option<Duration>,
    /// Time for the whole search. It ends earlier if both limits are proved
    #[arg(long, value_name = "TIME", default_value = "30m", value_parser = duration::parse_positive, allow_negative_numbers = true)]
    pub budget: Duration,
    /// Seed of every random draw
    #[arg(long)]
    pub seed: Option<u64>,
    /// Folder for the runs [default: runs/fit-TIME]
    #[arg(long)]
    pub out: Option<PathBuf>,
    /// Print the first run and the time of a probe, and run nothing
    #[arg(long, conflicts_with = "html")]
    pub plan: bool,
    /// Write a page to FILE
    #[arg(long, value_name = "FILE")]
    pub html: Option<PathBuf>,
    /// Form of the result.
    #[command(flatten)]
    pub format: FormatArguments,
}

/// A limit of a container.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum FitOnly {
    /// The memory limit
    Memory,
    /// The CPU limit
    Cpu,
}

impl FitArguments {
    /// The first option that was typed, of those whose values a study has.
    pub fn typed(&self) -> Option<&'static str> {
        let typed = [
            ("--url-path", self.url_path.is_some()),
            ("--rate", self.law.rate.is_some()),
            ("--users", self.law.users.is_some()),
            ("--java", self.java.is_some()),
            ("--seed", self.seed.is_some()),
        ];
        typed.into_iter().find_map(|(option, is_typed)| is_typed.then_some(option))
    }
}

fn parse_limit(text: &str) -> Result<FitLatency, String> {
    let wrong =
        || format!("`{text}` is not a limit: write p50, p95, p99, p99.9 or max and a time, as in p99=50ms");
    let (name, time) = text.split_once('=').ok_or_else(wrong)?;
    let percentile =
        FitPercentile::ALL.iter().copied().find(|of| of.word() == name.trim()).ok_or_else(wrong)?;
    let limit_ms = duration::parse_positive(time.trim()).map_err(|_| wrong())?.as_secs_f64() * 1e3;
    if LIMIT_MS_MAX < limit_ms {
        return Err(format!("`{text}`: a limit is at most an hour"));
    }
    Ok(FitLatency { percentile, limit_ms })
}

fn parse_between(text: &str) -> Result<RangeInclusive<u64>, String> {
    let ends = text
        .split_once("..")
        .and_then(|(from, to)| Some((from.trim().parse().ok()?, to.trim().parse().ok()?)));
    match ends {
        Some((from, to)) if from < to => Ok(from..=to),
        _ => Err(format!("`{text}` is not a range of whole numbers: write it like 1..16")),
    }
}

fn parse_percent(text: &str) -> Result<f64, String> {
    let number = text.trim().strip_suffix('%').unwrap_or(text.trim()).trim().parse::<f64>().ok();
    let percent = number.filter(|of| (0.0..=100.0).contains(of));
    percent.ok_or_else(|| format!("`{text}` is not a percentage from 0 to 100, such as 5%"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_limit_is_a_percentile_and_a_time() {
        let of = |percentile, limit_ms| Ok(FitLatency { percentile, limit_ms });
        assert_eq!(parse_limit("p99=50ms"), of(FitPercentile::P99, 50.0));
        assert_eq!(parse_limit("p99.9=2s"), of(FitPercentile::P999, 2000.0));
        for bad in ["p98=50ms", "50ms", "p99=", "p99=0s", "p99=-1ms", "p99=2h", "other=5ms"] {
            assert!(parse_limit(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn a_range_rises_and_a_percentage_is_one() {
        assert_eq!(parse_between("1..16"), Ok(1..=16));
        assert_eq!((parse_percent("5%"), parse_percent("0.5")), (Ok(5.0), Ok(0.5)));
        assert!(["4..4", "5..1", "1-4", "a..b", "..", "-1..4"].iter().all(|bad| parse_between(bad).is_err()));
        assert!(["x", "-1%", "101", "nan"].iter().all(|bad| parse_percent(bad).is_err()));
    }
}
