//! What can be typed after `assay time`.

use super::FormatArguments;
use super::number::parse_positive_number;
use super::process_name::{ProcessName, parse_process};
use assay_text::duration;
use clap::{ArgGroup, Args, Subcommand};
use std::path::PathBuf;
use std::time::Duration;

/// Arguments of `assay time`.
#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true, subcommand_negates_reqs = true)]
pub struct TimeArguments {
    #[command(subcommand)]
    pub command: Option<TimeCommand>,
    #[command(flatten)]
    pub account: TimeAccountArguments,
}

/// Commands in place of the measurement.
#[derive(Debug, Subcommand)]
pub enum TimeCommand {
    /// Changes between two results, by role and by stack
    #[command(
        after_help = "EXAMPLES:\n  assay time 4242 --for 30s --requests-per-second 500 --json > before.json\n  \
        assay time diff before.json after.json --html change.html"
    )]
    Diff(TimeDiffArguments),
}

/// Arguments of `assay time diff`.
#[derive(Debug, Args)]
pub struct TimeDiffArguments {
    /// The earlier account: a file of --json
    pub before: PathBuf,
    /// The later account
    pub after: PathBuf,
    /// Form of the result.
    #[command(flatten)]
    pub format: FormatArguments,
    /// Write a page with differential flame graphs to FILE
    #[arg(long, value_name = "FILE")]
    pub html: Option<PathBuf>,
}

/// Arguments of an account of a process.
#[derive(Debug, Default, Args)]
#[command(group = ArgGroup::new("answered").args(["requests", "requests_per_second"]))]
// Whether there is an account at all says its group, which clap leaves empty where arguments are flattened into it.
#[group(args = ["pid"])]
pub struct TimeAccountArguments {
    /// Process: its number, or a part of its program's name. `assay memory` lists the running JVMs
    #[arg(value_name = "PID|NAME", value_parser = parse_process, allow_negative_numbers = true, required = true)]
    pub pid: Option<ProcessName>,
    /// How long to sample [default: 10s, with --watch until Ctrl-C or the end of the process]
    #[arg(long = "for", value_name = "DURATION", value_parser = duration::parse_positive)]
    pub duration: Option<Duration>,
    /// Requests that the process answers in that time, for CPU time per request
    #[arg(long, value_name = "N", value_parser = parse_positive_number, allow_negative_numbers = true, conflicts_with = "watch")]
    pub requests: Option<f64>,
    /// Requests that it answers per second
    #[arg(long, value_name = "N", value_parser = parse_positive_number, allow_negative_numbers = true)]
    pub requests_per_second: Option<f64>,
    /// Show the CPU time of each INTERVAL until Ctrl-C
    #[arg(long, value_name = "INTERVAL", num_args = 0..=1, require_equals = true, default_missing_value = "2s",
          value_parser = duration::parse_positive)]
    pub watch: Option<Duration>,
    /// Do not sample the processors. Kernel activity and code locations stay unknown
    #[arg(long)]
    pub no_samples: bool,
    /// Do not load BPF programs into the kernel. They time system calls, page faults, soft interrupts and waits, and slow every system call
    /// of the machine by some tenths of a microsecond
    #[arg(long)]
    pub no_bpf: bool,
    /// Have the JVM list its compiled methods (Compiler.perfmap, JDK 17 and later), so that stacks name them. This acts on the JVM. It
    /// stops its Java threads for some milliseconds, starts a thread that stays, and writes a file to its /tmp, which Assay removes
    #[arg(long, conflicts_with_all = ["watch", "no_samples"])]
    pub jcmd: bool,
    /// Java methods and allocation from the flight recording FILE, or from one that Assay starts in the JVM (8u262, 11 and later). The JVM
    /// then keeps the recorder's threads
    #[arg(long, value_name = "FILE", num_args = 0..=1, conflicts_with = "watch")]
    pub jfr: Option<Option<PathBuf>>,
    /// Use the processor's hardware counters (cycles, instructions, cache misses, branches, stalls), user mode and kernel separately, where
    /// available
    #[arg(long, conflicts_with = "watch")]
    pub counters: bool,
    /// Form of the result.
    #[command(flatten)]
    pub format: FormatArguments,
    /// Write a page to FILE
    #[arg(long, value_name = "FILE", conflicts_with = "watch")]
    pub html: Option<PathBuf>,
    /// Write the sampled stacks, or the Java methods of --jfr, to FILE in collapsed form for flamegraph.pl and inferno
    #[arg(long, value_name = "FILE", conflicts_with = "watch")]
    pub collapsed: Option<PathBuf>,
    /// Write all stacks to FILE for speedscope (www.speedscope.app)
    #[arg(long, value_name = "FILE", conflicts_with = "watch")]
    pub speedscope: Option<PathBuf>,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::arguments::{Arguments, Command, LinuxCommand};
    use clap::Parser;

    fn time(line: &str) -> Result<TimeAccountArguments, String> {
        match Arguments::try_parse_from(line.split(' ')).map_err(|e| e.to_string())?.command {
            Command::Linux(LinuxCommand::Time(TimeArguments { command: None, account })) => Ok(account),
            other => Err(format!("{other:?}")),
        }
    }

    #[test]
    fn a_process_is_needed_and_requests_are_told_in_one_way() {
        assert_eq!(time("assay time 7 --for 30s").map(|t| t.duration), Ok(Some(Duration::from_secs(30))));
        assert_eq!(time("assay time 7 --watch").map(|t| t.watch), Ok(Some(Duration::from_secs(2))));
        assert_eq!(time("assay time 7 --jfr").map(|t| t.jfr), Ok(Some(None)));
        assert_eq!(time("assay time 7 --jfr a.jfr").map(|t| t.jfr), Ok(Some(Some("a.jfr".into()))));
        let diff = Arguments::try_parse_from(["assay", "time", "diff", "a.json", "b.json"]).expect("a diff");
        assert!(matches!(
            diff.command,
            Command::Linux(LinuxCommand::Time(TimeArguments { command: Some(_), .. }))
        ));
        for wrong in [
            "assay time diff a.json",
            "assay time 7 diff a.json b.json",
            "assay time",
            "assay time 0",
            "assay time 7 --requests 5 --requests-per-second 5",
            "assay time 7 --requests 0",
            "assay time 7 --requests-per-second NaN",
            "assay time 7 --watch --requests 5",
            "assay time 7 --watch --html p.html",
            "assay time 7 --watch --collapsed p.txt",
            "assay time 7 --watch --speedscope p.json",
            "assay time 7 --watch --jcmd",
            "assay time 7 --no-samples --jcmd",
            "assay time 7 --watch --jfr",
            "assay time --jfr",
        ] {
            assert!(time(wrong).is_err(), "{wrong}");
        }
    }
}
