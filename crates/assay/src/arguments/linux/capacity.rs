//! What can be typed after `assay capacity`.

use super::key_value::key_value;
use super::number::parse_count;
use super::process_name::{ProcessName, parse_process};
use super::{
    FormatArguments, GateFilesArguments, HttpArguments, InjectorsArguments, RequestArguments, TlsArguments,
};
use assay_model::LatencyLimit;
use assay_text::duration;
use clap::{Args, ValueEnum};
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

/// Most limits, and the longest one.
const LIMITS_MAX: usize = 16;
const LIMIT_MS_MAX: f64 = 600_000.0;

/// Arguments of `assay capacity`.
#[derive(Debug, Args)]
pub struct CapacityArguments {
    /// Address to load. With --scenario, the base address of its paths
    #[arg(required_unless_present = "workload")]
    pub url: Option<String>,
    /// Start the server of a ready-made workload, such as supermarket, in place of a URL
    #[arg(long, value_name = "NAME", conflicts_with_all = ["url", "pid", "gc_log", "audit_url", "reset_url", "injectors"])]
    pub workload: Option<String>,
    /// The workload's JVM: a feature release such as 25, or its home folder [default: the java on the path]
    #[arg(long, value_name = "JAVA", conflicts_with = "url")]
    pub java: Option<String>,
    /// The workload's heap, such as 2g
    #[arg(long, value_name = "SIZE", conflicts_with = "url", value_parser = assay_study::parse_size)]
    pub heap: Option<assay_study::Size>,
    /// Option of the workload's JVM. Repeatable
    #[arg(long, value_name = "OPTION", conflicts_with = "url", allow_hyphen_values = true)]
    pub jvm_option: Vec<String>,
    /// Option of the workload, such as data=small. Repeatable
    #[arg(long, value_name = "KEY=VALUE", conflicts_with = "url", value_parser = key_value)]
    pub option: Vec<(String, String)>,
    /// Scenario file (operations, sessions, checks), or the name of a ready-made scenario: assay studies
    #[arg(long, value_name = "FILE")]
    pub scenario: Option<PathBuf>,
    /// The request to a URL without a scenario
    #[command(flatten)]
    pub request: RequestArguments,
    /// Limits of the response time, in ms, or with a unit: 10ms,0.5s. A limit of one operation follows its name: 25,checkout=200ms
    #[arg(long, value_name = "LIMIT,...", default_value = "10,25,50,75,100", value_parser = parse_limits)]
    pub limits: Limits,
    /// The percentile that must keep them
    #[arg(long, default_value_t = 99.0, value_parser = parse_percentile)]
    pub percentile: f64,
    /// Operations that the limits without a name hold for, together [default: all]
    #[arg(long, value_name = "OPERATION,...", value_delimiter = ',')]
    pub limited: Vec<String>,
    /// How to search for the rates
    #[arg(long, value_enum, default_value_t = MethodName::Search)]
    pub method: MethodName,
    /// Approximate maximum time without the warm-up [default: 5m for a search, 150m for a sweep, as published. A shorter time shortens the
    /// phases]
    #[arg(long, value_name = "DURATION", value_parser = duration::parse_positive)]
    pub budget: Option<Duration>,
    /// Maximum time of the warm-up. It ends when the server is steady
    #[arg(long, default_value = "2m", value_parser = duration::parse_positive)]
    pub warm_up: Duration,
    /// The server is warm already
    #[arg(long, conflicts_with = "warm_up")]
    pub no_warm_up: bool,
    /// Server process to watch (number or part of its name) for waits for processors, throttling, restarts, and other users of the machine
    #[arg(long, value_name = "PID|NAME", value_parser = parse_process, allow_negative_numbers = true)]
    pub pid: Option<ProcessName>,
    /// Auxiliary processes of the server, with their children, such as a database, other servers, or injectors on its machine: what they
    /// use is not foreign
    #[arg(long, value_name = "PID|NAME,...", value_delimiter = ',', requires = "pid", value_parser = parse_process, allow_negative_numbers = true)]
    pub companion: Vec<ProcessName>,
    /// The server's GC log, to attribute slow requests to pauses. The decorators uptime,timenanos work best
    #[arg(long, value_name = "FILE")]
    pub gc_log: Option<PathBuf>,
    /// Path of the server's own check of its data, 2xx if it is right. Requested at the end and after each level of a sweep
    #[arg(long, value_name = "URL")]
    pub audit_url: Option<String>,
    /// Called by POST before each level of a sweep: sets the server's data back, 2xx if it is
    #[arg(long, value_name = "URL")]
    pub reset_url: Option<String>,
    /// Maximum connections. Waiting for a free one counts as response time
    #[arg(short, long, default_value_t = 256, value_parser = parse_count, allow_negative_numbers = true)]
    pub connections: u32,
    /// Users, exactly so many, each with a session of its own [default: as many as each rate needs, and more when all are busy]
    #[arg(long, value_parser = parse_count, allow_negative_numbers = true)]
    pub users: Option<u32>,
    /// Maximum requests in flight or waiting. Requests beyond it count as failed [default: 10000, or the capacity of the connections if
    /// that is more]
    #[arg(long, value_parser = parse_count, allow_negative_numbers = true)]
    pub in_flight: Option<u32>,
    /// Seed of every random draw [default: a new one, which the result shows]
    #[arg(long)]
    pub seed: Option<u64>,
    /// Exit with 1 if the rate within a limit is below this beyond noise, with 3 if undecided. Repeatable. 500@25 means 500/s
    /// within 25 ms. 500@checkout=200ms has the limit of one operation
    #[arg(long, value_name = "RATE@LIMIT", value_parser = parse_at_least)]
    pub at_least: Vec<AtLeast>,
    /// Say what would be searched for and sent, by operation, and send nothing
    #[arg(long)]
    pub plan: bool,
    /// Exit with 0 even if the result is not valid. --at-least is still decided
    #[arg(long)]
    pub allow_invalid: bool,
    /// Let windows count in which others used the machine: the only way to a figure where that never ends. With such windows the
    /// result is not valid
    #[arg(long)]
    pub count_disturbed: bool,
    /// Threads that make the load together, each with its share of connections, users and rate, and a core of its own [default: 1]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=64), conflicts_with = "injectors")]
    pub threads: Option<u32>,
    /// HTTP
    #[command(flatten)]
    pub http: HttpArguments,
    /// TLS
    #[command(flatten)]
    pub tls: TlsArguments,
    /// Injectors that make the load instead of this process
    #[command(flatten)]
    pub injectors: InjectorsArguments,
    /// The verdict on --at-least
    #[command(flatten)]
    pub gate_files: GateFilesArguments,
    /// Form of the result
    #[command(flatten)]
    pub format: FormatArguments,
    /// Folder for the stored form, capacity.json
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// Write a page with pictures to FILE
    #[arg(long, value_name = "FILE")]
    pub html: Option<PathBuf>,
}

/// Ways to search for the rates.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum MethodName {
    /// Windows at the most informative rates, until the intervals are narrow
    Search,
    /// Level by level, after the published rules of SPECjbb2015. No intervals
    Sweep,
}

/// Limits upwards, each once, in milliseconds.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Limits {
    /// Limits of all operations, or of those that are limited together.
    pub of_all: Vec<f64>,
    /// Limits of single operations, by their names.
    pub of_operations: BTreeMap<String, Vec<f64>>,
}

impl Limits {
    /// Whether this is one of them.
    pub fn contain(&self, limit: &LatencyLimit) -> bool {
        let limits_ms = match &limit.operation {
            None => Some(&self.of_all),
            Some(operation) => self.of_operations.get(operation),
        };
        limits_ms.is_some_and(|limits_ms| limits_ms.contains(&limit.limit_ms))
    }
}

/// A rate that a limit should be kept up to.
#[derive(Debug, Clone, PartialEq)]
pub struct AtLeast {
    /// Per second.
    pub rate_per_s: f64,
    /// One of the limits.
    pub limit: LatencyLimit,
}

/// `25`, `0.5s`, `checkout=200ms`: a name may hold a sign like that, too.
fn parse_limit(text: &str) -> Result<LatencyLimit, String> {
    let (operation, time) = match text.rsplit_once('=') {
        Some((operation, time)) => (Some(operation.trim().to_owned()), time),
        None => (None, text),
    };
    if operation.as_ref().is_some_and(String::is_empty) {
        return Err(format!("`{text}` names no operation: write it like checkout=200ms"));
    }
    Ok(LatencyLimit { limit_ms: parse_limit_ms(time)?, operation })
}

fn parse_limit_ms(text: &str) -> Result<f64, String> {
    let limit = milliseconds(text.trim()).ok_or_else(|| {
        format!(
            "`{text}` is not a response time: write a number of milliseconds, or a unit: 10, 10ms or 0.5s"
        )
    })?;
    if limit > 0.0 && limit <= LIMIT_MS_MAX {
        Ok(limit)
    } else {
        Err(format!("{text} ms: use more than 0 and at most {LIMIT_MS_MAX} ms"))
    }
}

fn milliseconds(text: &str) -> Option<f64> {
    let of = |number: &str, ms: f64| number.parse::<f64>().ok().map(|number| number * ms);
    match (text.strip_suffix("ms"), text.strip_suffix('s')) {
        (Some(number), _) => of(number, 1.0),
        (None, Some(number)) => of(number, 1e3),
        (None, None) => of(text, 1.0),
    }
}

fn parse_limits(text: &str) -> Result<Limits, String> {
    let mut limits = Limits::default();
    for limit in text.split(',').map(parse_limit) {
        let LatencyLimit { limit_ms, operation } = limit?;
        let same = match operation {
            None => &mut limits.of_all,
            Some(operation) => limits.of_operations.entry(operation).or_default(),
        };
        same.push(limit_ms);
        same.sort_by(f64::total_cmp);
        same.dedup();
    }
    let count = limits.of_all.len() + limits.of_operations.values().map(Vec::len).sum::<usize>();
    if count > LIMITS_MAX {
        return Err(format!("{count} limits: use at most {LIMITS_MAX}"));
    }
    Ok(limits)
}

fn parse_percentile(text: &str) -> Result<f64, String> {
    let percentile: f64 = text.parse().map_err(|_| "not a number: write 99 for p99".to_owned())?;
    if (50.0..=99.9).contains(&percentile) {
        Ok(percentile)
    } else {
        Err("use 50 to 99.9: beyond, a window has too few requests".to_owned())
    }
}

fn parse_at_least(text: &str) -> Result<AtLeast, String> {
    let (rate, limit) = text.split_once('@').ok_or("write it like 500@25: rate, at, limit in ms")?;
    let rate_per_s: f64 = rate.parse().map_err(|_| format!("`{rate}` is not a rate"))?;
    if !(rate_per_s > 0.0 && rate_per_s.is_finite()) {
        return Err(format!("`{rate}` is not a rate"));
    }
    Ok(AtLeast { rate_per_s, limit: parse_limit(limit)? })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_are_sorted_and_each_stands_once() {
        let of_all = |limits_ms: &[f64]| Ok(Limits { of_all: limits_ms.to_vec(), ..Limits::default() });
        assert_eq!(parse_limits("100, 10,25,10"), of_all(&[10.0, 25.0, 100.0]));
        assert_eq!(parse_limits("10ms,0.5s,50"), of_all(&[10.0, 50.0, 500.0]));
        for bad in [
            "",
            "10,",
            "0",
            "-1",
            "nan",
            "inf",
            "1e9",
            "10min",
            "ms",
            "s",
            "1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17",
        ] {
            assert!(parse_limits(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn a_limit_may_name_the_operation_that_it_holds_for() {
        let limits = parse_limits("10, checkout=0.2s,25,GET /?a=b=50,checkout=100").expect("limits");
        let of = |name: &str, limits_ms: &[f64]| (name.to_owned(), limits_ms.to_vec());
        let of_operations = BTreeMap::from([of("GET /?a=b", &[50.0]), of("checkout", &[100.0, 200.0])]);
        assert_eq!(limits, Limits { of_all: vec![10.0, 25.0], of_operations });
        let checkout = |limit_ms| LatencyLimit { limit_ms, operation: Some("checkout".to_owned()) };
        assert!(limits.contain(&checkout(200.0)) && limits.contain(&LatencyLimit::of_all(25.0)));
        assert!(!limits.contain(&checkout(25.0)) && !limits.contain(&LatencyLimit::of_all(200.0)));
        assert!(parse_limits("checkout=200ms").is_ok_and(|limits| limits.of_all.is_empty()));
        for bad in ["=200ms", "checkout=", "checkout=x", "checkout"] {
            assert!(parse_limits(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn a_percentile_that_no_window_can_show_is_refused() {
        assert_eq!(parse_percentile("99.9"), Ok(99.9));
        for bad in ["100", "49", "nan", "p99", "0.99"] {
            assert!(parse_percentile(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn a_wanted_rate_names_its_limit() {
        let of = |limit| Ok(AtLeast { rate_per_s: 500.0, limit });
        assert_eq!(parse_at_least("500@25"), of(LatencyLimit::of_all(25.0)));
        let operation = Some("checkout".to_owned());
        assert_eq!(parse_at_least("500@checkout=0.2s"), of(LatencyLimit { limit_ms: 200.0, operation }));
        for bad in ["500", "@25", "0@25", "nan@25", "inf@25", "500@", "500@0"] {
            assert!(parse_at_least(bad).is_err(), "{bad}");
        }
    }
}
