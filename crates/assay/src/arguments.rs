//! What can be typed. The doc comments here are the help texts.

use clap::{ArgGroup, Args, Parser, Subcommand, ValueEnum};
use std::path::PathBuf;
use std::time::Duration;

/// The laboratory for Java servers: where memory and time go, what load a server bears, which settings give more.
///
/// Results go to standard output, talk goes to standard error. Exit codes: 0 good, 1 findings beyond a threshold
/// that you set, 2 wrong use or bad input, 3 the environment lacks something, 70 our fault, 130 stopped by Ctrl-C.
#[derive(Debug, Parser)]
#[command(name = "assay", version, max_term_width = 110, arg_required_else_help = true)]
pub struct Arguments {
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

/// The commands.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Run the first study in its short form, and make its report
    ///
    /// Puts the brokerage server under load in every reference mode that this machine can run
    /// (studies/compressed-references.toml) and takes at most six minutes once everything is built.
    Demo(DemoArguments),
    /// Run a study and make its report
    #[command(after_help = "EXAMPLES:\n  assay run studies/compressed-references.toml --quick\n  \
        assay run my-server.toml --out runs/tuesday\n  assay run my-server.toml --out runs/tuesday --resume")]
    Run(RunArguments),
    /// Make the report of a run directory again
    #[command(after_help = "EXAMPLES:\n  assay report runs/tuesday\n  \
        assay report runs/tuesday --format csv > tuesday.csv")]
    Report(ReportArguments),
    /// Put a URL under load
    #[command(
        after_help = "EXAMPLES:\n  assay load http://127.0.0.1:8080/ --rate 200 --duration 30s --connections 10\n  \
        assay load http://127.0.0.1:8080/ --users 8 --duration 30s --scenario shop.toml --json"
    )]
    Load(LoadArguments),
}

/// Arguments of `assay demo`.
#[derive(Debug, Args)]
pub struct DemoArguments {
    /// Folder for the run [default: runs/<study>-<time>]
    #[arg(long)]
    pub out: Option<PathBuf>,
    /// Print the stored summary as JSON
    #[arg(long)]
    pub json: bool,
}

/// Arguments of `assay run`.
#[derive(Debug, Args)]
pub struct RunArguments {
    /// The study file
    pub study: PathBuf,
    /// The short form: the [quick] part of the study file
    #[arg(long)]
    pub quick: bool,
    /// Folder for the run [default: runs/<study>-<time>]
    #[arg(long)]
    pub out: Option<PathBuf>,
    /// Go on after the last whole trial of the folder given by --out
    #[arg(long, requires = "out")]
    pub resume: bool,
    /// Say what would be run, and run nothing
    #[arg(long, conflicts_with = "resume")]
    pub plan: bool,
    /// Print the stored summary as JSON
    #[arg(long)]
    pub json: bool,
}

/// Arguments of `assay report`.
#[derive(Debug, Args)]
pub struct ReportArguments {
    /// A run directory
    pub run: PathBuf,
    /// Form of the report
    #[arg(long, value_enum, default_value_t = ReportFormat::Html)]
    pub format: ReportFormat,
    /// Where to write it; `-` is standard output [default: report.html in the run directory, else standard output]
    #[arg(long)]
    pub out: Option<PathBuf>,
    /// The same as --format json
    #[arg(long, conflicts_with = "format")]
    pub json: bool,
}

/// Forms of a report.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ReportFormat {
    /// One file that opens offline in a browser
    Html,
    /// Markdown
    Md,
    /// One row for each variant and metric
    Csv,
    /// The stored summary
    Json,
    /// The table that `assay run` prints
    Table,
}

/// Arguments of `assay load`.
#[derive(Debug, Args)]
#[command(group = ArgGroup::new("law").required(true).args(["rate", "users"]))]
pub struct LoadArguments {
    /// Address to load; with --scenario, the address that its paths are appended to
    pub url: String,
    /// Open loop: requests per second, sent whether or not earlier ones are answered
    #[arg(long)]
    pub rate: Option<f64>,
    /// Closed loop: users who each send the next request once the last is answered
    #[arg(long)]
    pub users: Option<u32>,
    /// How long, for example 30s or 2m
    #[arg(long, default_value = "10s", value_parser = parse_duration)]
    pub duration: Duration,
    /// Connections at most; what waits for one waits in its response time
    #[arg(long, default_value_t = 64)]
    pub connections: u32,
    /// Requests under way or waiting at most; what exceeds this is counted as failed
    #[arg(long, default_value_t = 10_000)]
    pub in_flight: u32,
    /// Gaps between requests in open loop
    #[arg(long, value_enum, default_value_t = Arrivals::Constant)]
    pub arrivals: Arrivals,
    /// Scenario file: operations, sessions, checks
    #[arg(long)]
    pub scenario: Option<PathBuf>,
    /// Seed of every random draw
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
    /// Write the response times to this file as an interval log that HdrHistogram tools read
    #[arg(long)]
    pub hlog: Option<PathBuf>,
    /// Print the stored form as JSON
    #[arg(long)]
    pub json: bool,
}

/// Laws of the gaps between requests.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Arrivals {
    /// Equal gaps
    Constant,
    /// Exponential gaps, as from many independent users
    Poisson,
}

/// `500ms`, `30s`, `2m`, `1h`.
fn parse_duration(text: &str) -> Result<Duration, String> {
    const LONGEST_S: f64 = 7.0 * 24.0 * 3600.0;
    let split = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    let (number, unit) = text.split_at(split);
    let scale_s = match unit {
        "ms" => 0.001,
        "s" => 1.0,
        "m" | "min" => 60.0,
        "h" => 3600.0,
        "" => return Err(format!("no unit: write {text}s for seconds")),
        other => return Err(format!("unknown unit `{other}`: use ms, s, m or h")),
    };
    let seconds = number.parse::<f64>().map_err(|e| e.to_string())? * scale_s;
    if seconds > 0.0 && seconds <= LONGEST_S {
        Ok(Duration::from_secs_f64(seconds))
    } else {
        Err("must be longer than nothing and at most a week".to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn the_definition_holds_together() {
        Arguments::command().debug_assert();
    }

    #[test]
    fn durations_need_a_unit_and_a_sensible_length() {
        assert_eq!(parse_duration("500ms"), Ok(Duration::from_millis(500)));
        assert_eq!(parse_duration("1.5m"), Ok(Duration::from_secs(90)));
        for bad in ["30", "0s", "-1s", "nan s", "1e9s", "", "5 parsecs", "99999999h"] {
            assert!(parse_duration(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn load_needs_either_a_rate_or_users() {
        let parse = |line: &str| Arguments::try_parse_from(line.split(' '));
        assert!(parse("assay load http://127.0.0.1:1/").is_err());
        assert!(parse("assay load http://127.0.0.1:1/ --rate 5 --users 5").is_err());
        assert!(parse("assay load http://127.0.0.1:1/ --rate 5").is_ok());
        assert!(parse("assay load http://127.0.0.1:1/ --users 5").is_ok());
    }
}
