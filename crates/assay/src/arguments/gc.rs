//! What can be typed after `assay gc`.

use super::number::parse_positive_number;
use super::{FormatArguments, GateFilesArguments};
use assay_gcstudy::{Condition, LogTime};
use assay_text::duration;
use clap::{ArgGroup, Args, Subcommand};
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::PathBuf;
use std::time::Duration;

/// Arguments of `assay gc`.
#[derive(Debug, Args)]
#[command(subcommand_negates_reqs = true)]
pub struct GcArguments {
    /// A command on the logs. The default reads them.
    #[command(subcommand)]
    pub command: Option<GcCommand>,
    /// How they are read.
    #[command(flatten)]
    pub read: GcReadArguments,
}

/// Questions about several logs.
#[derive(Debug, Subcommand)]
pub enum GcCommand {
    /// Differences between two logs beyond noise
    #[command(after_help = "EXAMPLES:\n  assay gc diff before.log after.log\n  \
        assay gc diff before/ after/ --fail-if 'pause_p99_ms > +10%' --fail-if 'lines_not_understood > 0'")]
    Diff(GcDiffArguments),
}

/// Arguments of reading logs.
#[derive(Debug, Args)]
#[command(group = ArgGroup::new("requests_given").args(["requests", "requests_per_second"]))]
pub struct GcReadArguments {
    /// Files (also compressed, rotated or in archives), folders, - for standard input, or a JVM (PID or part of its name) for its current
    /// log. Several logs become a table, the worst first
    #[arg(value_name = "LOG|PID|NAME", required = true)]
    pub logs: Vec<PathBuf>,
    /// Read all LOGs as one, in chronological order: for logs of one server with unrelated names
    #[arg(long)]
    pub join: bool,
    /// Read only what ended at TIME or later: a date in UTC such as 2026-11-30T10:05, or a time since the first line such as 90s
    #[arg(long, value_name = "TIME", value_parser = LogTime::parse, conflicts_with = "follow")]
    pub from: Option<LogTime>,
    /// Read only what ended at TIME or before
    #[arg(long, value_name = "TIME", value_parser = LogTime::parse, conflicts_with = "follow")]
    pub to: Option<LogTime>,
    /// Requests that the server answered over the span of the log: gives garbage per request
    #[arg(long, value_name = "N", value_parser = parse_positive_number, allow_negative_numbers = true)]
    pub requests: Option<f64>,
    /// The same, as a rate
    #[arg(long, value_name = "R", value_parser = parse_positive_number, allow_negative_numbers = true)]
    pub requests_per_second: Option<f64>,
    /// The same as --format csv: every figure as a row
    #[arg(long, conflicts_with_all = ["format", "json"])]
    pub csv: bool,
    /// Form of the result, of each log.
    #[command(flatten)]
    pub format: FormatArguments,
    /// Write a page with pictures to FILE
    #[arg(long, value_name = "FILE")]
    pub html: Option<PathBuf>,
    /// Write every GC event to FILE, one JSON object per line. Objects of kind source and jvm name the log and the JVM
    #[arg(long, value_name = "FILE")]
    pub events: Option<PathBuf>,
    /// Exit with 1 if this holds, with 3 if the log lacks the figure. Repeatable. Misspelt names are corrected. --csv and --json show the
    /// names
    #[arg(long, value_name = "CONDITION", value_parser = parse_condition)]
    pub fail_if: Vec<Condition>,
    /// The verdicts on the conditions.
    #[command(flatten)]
    pub gate_files: GateFilesArguments,
    /// Keep reading the log as it grows, through rotation and restarts, until Ctrl-C
    #[arg(long)]
    pub follow: bool,
    /// Time between readings of a followed log
    #[arg(long, value_name = "DURATION", value_parser = duration::parse_positive, default_value = "2s", requires = "follow")]
    pub every: Duration,
    /// How long to follow [default: until Ctrl-C]
    #[arg(long = "for", value_name = "DURATION", value_parser = duration::parse_positive, requires = "follow")]
    pub duration: Option<Duration>,
    /// Serve the figures of a followed log as OpenMetrics at http://ADDRESS/metrics. A port alone means 127.0.0.1
    #[arg(long, value_name = "[ADDRESS:]PORT", value_parser = parse_address, requires = "follow")]
    pub openmetrics: Option<SocketAddr>,
}

/// Arguments of `assay gc diff`.
#[derive(Debug, Args)]
pub struct GcDiffArguments {
    /// The earlier log: a file, or a folder with one rotated set
    #[arg(value_name = "BEFORE")]
    pub before: PathBuf,
    /// The later log
    #[arg(value_name = "AFTER")]
    pub after: PathBuf,
    /// Form of the result.
    #[command(flatten)]
    pub format: FormatArguments,
    /// Write a page to FILE
    #[arg(long, value_name = "FILE")]
    pub html: Option<PathBuf>,
    /// Exit with 1 if this holds, with 3 if the logs cannot decide it. With a sign and %, it is the change beyond noise. Repeatable
    #[arg(long, value_name = "CONDITION", value_parser = parse_condition)]
    pub fail_if: Vec<Condition>,
    /// The verdicts on the conditions.
    #[command(flatten)]
    pub gate_files: GateFilesArguments,
}

fn parse_condition(text: &str) -> Result<Condition, String> {
    Condition::parse(text).map_err(|e| e.to_string())
}

fn parse_address(text: &str) -> Result<SocketAddr, String> {
    if let Ok(port) = text.parse::<u16>() {
        return Ok(SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), port));
    }
    text.parse().map_err(|_| {
        "write a port, such as 9400, or an address with a port, such as 10.0.0.7:9400".to_owned()
    })
}

#[cfg(test)]
mod tests {
    use super::super::{Arguments, Command};
    use super::*;
    use clap::Parser;

    fn gc(line: &str) -> Result<GcArguments, String> {
        match Arguments::try_parse_from(line.split(' ')).map_err(|e| e.to_string())?.command {
            Command::Gc(gc) => Ok(*gc),
            other => Err(format!("{other:?}")),
        }
    }

    #[test]
    fn logs_stand_beside_the_commands() {
        assert_eq!(gc("assay gc a.log b.log").expect("logs").read.logs.len(), 2);
        assert!(gc("assay gc diff a.log b.log").expect("a diff").command.is_some());
        assert!(gc("assay gc").is_err() && gc("assay gc diff a.log").is_err());
    }

    #[test]
    fn addresses_are_of_the_loopback_unless_told() {
        let at = |text: &str| parse_address(text).map(|a| a.to_string());
        assert_eq!(at("9400").as_deref(), Ok("127.0.0.1:9400"));
        assert_eq!(at("0.0.0.0:9400").as_deref(), Ok("0.0.0.0:9400"));
        assert_eq!(at("[::1]:1").as_deref(), Ok("[::1]:1"));
        assert!(at("host").is_err() && at("99999").is_err() && at("").is_err());
    }

    #[test]
    fn what_makes_no_sense_together_is_refused() {
        for wrong in [
            "assay gc a --json --csv",
            "assay gc a --every 1s",
            "assay gc a --openmetrics 9400",
            "assay gc a --requests 0",
            "assay gc a --from noon",
            "assay gc a --from 90s --follow",
            "assay gc a --requests 1 --requests-per-second 2",
            "assay gc a --fail-if nothing>1",
            "assay gc a --fail-if pause_p99_ms",
        ] {
            assert!(gc(wrong).is_err(), "{wrong}");
        }
    }
}
