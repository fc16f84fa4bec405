//! What can be typed after `assay time`.

use assay_text::duration;
use clap::{ArgGroup, Args};
use std::path::PathBuf;
use std::time::Duration;

/// Arguments of `assay time`.
#[derive(Debug, Args)]
#[command(group = ArgGroup::new("answered").args(["requests", "requests_per_second"]))]
pub struct TimeArguments {
    /// The process; `assay memory` lists the JVMs that run here
    #[arg(value_parser = clap::value_parser!(u32).range(1..))]
    pub pid: u32,
    /// How long to look [default: 10s; with --watch until Ctrl-C, or until the process ends]
    #[arg(long = "for", value_name = "DURATION", value_parser = duration::parse_positive)]
    pub duration: Option<Duration>,
    /// Requests that the process answers in that time, for CPU time per request
    #[arg(long, value_name = "N", value_parser = positive, conflicts_with = "watch")]
    pub requests: Option<f64>,
    /// Requests that it answers each second
    #[arg(long, value_name = "N", value_parser = positive)]
    pub requests_per_second: Option<f64>,
    /// Show the CPU time of each INTERVAL until Ctrl-C
    #[arg(long, value_name = "INTERVAL", num_args = 0..=1, require_equals = true, default_missing_value = "2s",
          value_parser = duration::parse_positive)]
    pub watch: Option<Duration>,
    /// Do not sample the processors: what the kernel did, and where in the code, stays unknown
    #[arg(long)]
    pub no_samples: bool,
    /// Have the JVM list its compiled methods (Compiler.perfmap, JDK 17 and later), so that stacks name them. This acts on the JVM: it
    /// stops its Java threads for some milliseconds, starts a thread, which stays, and writes a file in its /tmp, which is removed again
    #[arg(long, conflicts_with_all = ["watch", "no_samples"])]
    pub jcmd: bool,
    /// Print the stored form as JSON; with --watch one line for each interval
    #[arg(long)]
    pub json: bool,
    /// Write a page to FILE
    #[arg(long, value_name = "FILE", conflicts_with = "watch")]
    pub html: Option<PathBuf>,
}

fn positive(text: &str) -> Result<f64, String> {
    let number: f64 = text.parse().map_err(|_| "not a number".to_owned())?;
    if number.is_finite() && 0.0 < number { Ok(number) } else { Err("must be above 0".to_owned()) }
}

#[cfg(test)]
mod tests {
    use super::super::{Arguments, Command};
    use super::*;
    use clap::Parser;

    fn time(line: &str) -> Result<TimeArguments, String> {
        match Arguments::try_parse_from(line.split(' ')).map_err(|e| e.to_string())?.command {
            Command::Time(time) => Ok(time),
            other => Err(format!("{other:?}")),
        }
    }

    #[test]
    fn a_process_is_needed_and_requests_are_told_in_one_way() {
        assert_eq!(time("assay time 7 --for 30s").map(|t| t.duration), Ok(Some(Duration::from_secs(30))));
        assert_eq!(time("assay time 7 --watch").map(|t| t.watch), Ok(Some(Duration::from_secs(2))));
        for wrong in [
            "assay time",
            "assay time 0",
            "assay time kafka",
            "assay time 7 --requests 5 --requests-per-second 5",
            "assay time 7 --requests 0",
            "assay time 7 --requests-per-second NaN",
            "assay time 7 --watch --requests 5",
            "assay time 7 --watch --html p.html",
            "assay time 7 --watch --jcmd",
            "assay time 7 --no-samples --jcmd",
        ] {
            assert!(time(wrong).is_err(), "{wrong}");
        }
    }
}
