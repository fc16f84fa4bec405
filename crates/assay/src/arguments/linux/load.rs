//! What can be typed after `assay load`.

use super::number::{parse_count, parse_positive_number};
use super::{
    FormatArguments, GateFilesArguments, HttpArguments, InjectorsArguments, RequestArguments, TlsArguments,
};
use assay_load::Condition;
use assay_text::duration;
use clap::{ArgGroup, Args, ValueEnum};
use std::path::PathBuf;
use std::time::Duration;

/// Arguments of `assay load`.
#[derive(Debug, Args)]
#[command(group = ArgGroup::new("law").args(["rate", "rate_schedule"]))]
#[command(group = ArgGroup::new("recording").args(["from_har", "from_access_log", "from_openapi", "from_postman", "from_jmeter"]))]
pub struct LoadArguments {
    /// Address to load. With --scenario, the base address of its paths
    #[arg(required_unless_present = "recording", default_value = "", hide_default_value = true)]
    pub url: String,
    /// Open loop: requests per second, sent whether or not earlier ones are answered. Overrides the scenario's [rate]
    #[arg(short, long, required_unless_present_any = ["users", "rate_schedule", "scenario", "recording"], value_parser = parse_positive_number, allow_negative_numbers = true)]
    pub rate: Option<f64>,
    /// Open loop with a changing rate. A ramp: "100 for 30s, 100 to 500 for 1m". Steps: "100 to 500 in 5 steps for 1m". Spikes: "100 for 1m
    /// spike 900 for 1s every 10s". A file of arrival times in seconds: "trace FILE"
    #[arg(long, value_name = "SCHEDULE")]
    pub rate_schedule: Option<String>,
    /// Number of users, each with its own session. If no rate is set, each user sends the next request after the last answer (closed loop).
    /// With a rate, these users share its requests, and a request waits while all are busy [default with a rate: as many as needed]
    #[arg(long, value_parser = parse_count, allow_negative_numbers = true)]
    pub users: Option<u32>,
    /// Duration, for example 30s or 2m. -z also works, as in hey and oha [default: 10s, or the length of the rate's schedule]
    #[arg(short = 'z', long, value_parser = duration::parse_positive, allow_negative_numbers = true)]
    pub duration: Option<Duration>,
    /// Maximum connections. Waiting for a free one counts as response time
    #[arg(short, long, default_value_t = 64, value_parser = parse_count, allow_negative_numbers = true)]
    pub connections: u32,
    /// Maximum requests in flight or waiting. Requests beyond it count as failed [default: 10000, or the capacity of the connections if
    /// that is more]
    #[arg(long, value_parser = parse_count, allow_negative_numbers = true)]
    pub in_flight: Option<u32>,
    /// Gaps between requests in open loop
    #[arg(long, value_enum, default_value_t = Arrivals::Constant)]
    pub arrivals: Arrivals,
    /// Scenario file (operations, sessions, checks), or the name of a ready-made scenario: assay studies
    #[arg(long)]
    pub scenario: Option<PathBuf>,
    /// The request to a URL without a scenario.
    #[command(flatten)]
    pub request: RequestArguments,
    /// Seed of every random draw [default: a new one, which the result shows]
    #[arg(long)]
    pub seed: Option<u64>,
    /// Say what would be sent, by operation and of how many users, and send nothing
    #[arg(long)]
    pub plan: bool,
    /// Exit with 0 even where the figures cannot be used
    #[arg(long)]
    pub allow_invalid: bool,
    /// Exit with 1 if this holds, with 3 if the load cannot decide it: p99_ms > 200, or for one operation p99_ms{operation=checkout} > 200.
    /// Repeatable
    #[arg(long, value_name = "CONDITION", value_parser = Condition::parse)]
    pub fail_if: Vec<Condition>,
    /// The verdicts on the conditions.
    #[command(flatten)]
    pub gate_files: GateFilesArguments,
    /// Write the response times to this file as an interval log that HdrHistogram tools read
    #[arg(long, conflicts_with_all = ["injectors", "threads"])]
    pub hlog: Option<PathBuf>,
    /// Threads that make the load together, each with its share of connections, users and rate, and a core of its own [default: 1]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=64), conflicts_with = "injectors")]
    pub threads: Option<u32>,
    /// HTTP.
    #[command(flatten)]
    pub http: HttpArguments,
    /// TLS.
    #[command(flatten)]
    pub tls: TlsArguments,
    /// Load from elsewhere.
    #[command(flatten)]
    pub injectors: InjectorsArguments,
    /// Scenarios from recordings.
    #[command(flatten)]
    pub recording: RecordingArguments,
    /// Write a page to FILE
    #[arg(long, value_name = "FILE", conflicts_with = "recording")]
    pub html: Option<PathBuf>,
    /// Form of the result.
    #[command(flatten)]
    pub format: FormatArguments,
}

/// A scenario made from a recording, instead of a load.
#[derive(Debug, Args)]
pub struct RecordingArguments {
    /// Load nothing: make a scenario of an HTTP archive (HAR 1.2) that a browser saved, and print it
    #[arg(long, value_name = "FILE", conflicts_with_all = ["law", "users", "scenario", "injectors"])]
    pub from_har: Option<PathBuf>,
    /// Load nothing: make a scenario of an access log (common, combined, NGINX's, JSON lines), and print it
    #[arg(long, value_name = "FILE", conflicts_with_all = ["law", "users", "scenario", "injectors"])]
    pub from_access_log: Option<PathBuf>,
    /// Load nothing: make a draft of an OpenAPI 3 description (JSON or YAML), with its examples, and print it
    #[arg(long, value_name = "FILE", conflicts_with_all = ["law", "users", "scenario", "injectors"])]
    pub from_openapi: Option<PathBuf>,
    /// Load nothing: make a scenario of a Postman collection (v2.1), and print it
    #[arg(long, value_name = "FILE", conflicts_with_all = ["law", "users", "scenario", "injectors"])]
    pub from_postman: Option<PathBuf>,
    /// Load nothing: make a scenario of a JMeter plan (.jmx), and print it
    #[arg(long, value_name = "FILE", conflicts_with_all = ["law", "users", "scenario", "injectors"])]
    pub from_jmeter: Option<PathBuf>,
    /// Write the scenario to this file, and the arrivals of an access log to FILE.arrivals
    #[arg(long, value_name = "FILE", requires = "recording")]
    pub out: Option<PathBuf>,
    /// Host whose requests are taken from the archive [default: that of its first request]
    #[arg(long, requires = "from_har", conflicts_with_all = ["from_access_log", "from_openapi", "from_postman", "from_jmeter"])]
    pub host: Option<String>,
    /// Include the archive's scripts, styles, images and fonts
    #[arg(long, requires = "from_har", conflicts_with_all = ["from_access_log", "from_openapi", "from_postman", "from_jmeter"])]
    pub with_static: bool,
}

impl RecordingArguments {
    /// Whether a scenario is to be made, and nothing loaded.
    pub fn is_given(&self) -> bool {
        let all = [
            &self.from_har,
            &self.from_access_log,
            &self.from_openapi,
            &self.from_postman,
            &self.from_jmeter,
        ];
        all.iter().any(|file| file.is_some())
    }
}

/// Laws of the gaps between requests.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Arrivals {
    /// Equal gaps
    Constant,
    /// Exponential gaps, as from many independent users
    Poisson,
}

#[cfg(test)]
mod tests {
    use crate::arguments::Arguments;
    use clap::Parser;

    #[test]
    fn load_needs_either_a_rate_or_users() {
        let parse = |line: &str| Arguments::try_parse_from(line.split(' '));
        assert!(parse("assay load http://127.0.0.1:1/").is_err());
        assert!(
            parse("assay load http://127.0.0.1:1/ --rate 5 --users 5").is_ok(),
            "five users at that rate"
        );
        assert!(parse("assay load http://127.0.0.1:1/ --rate 5").is_ok());
        assert!(parse("assay load http://127.0.0.1:1/ --users 5").is_ok());
        assert!(parse("assay load http://127.0.0.1:1/ --scenario s.toml").is_ok(), "it may say the rate");
        assert!(parse("assay load http://127.0.0.1:1/ --rate-schedule x").is_ok());
        assert!(parse("assay load http://127.0.0.1:1/ --rate-schedule x --rate 5").is_err());
    }

    #[test]
    fn a_recording_needs_no_address_and_no_rate() {
        let parse = |line: &str| Arguments::try_parse_from(line.split(' '));
        assert!(parse("assay load --from-har a.har --out s.toml --host h --with-static").is_ok());
        for good in ["access-log a.log", "openapi a.yaml", "postman a.json", "jmeter a.jmx --out s.toml"] {
            assert!(parse(&format!("assay load --from-{good}")).is_ok(), "{good}");
        }
        for bad in [
            "assay load",
            "assay load --from-har a --from-access-log b",
            "assay load --from-har a --rate 5",
            "assay load --from-access-log a --host h",
            "assay load --from-jmeter a --with-static",
            "assay load --from-jmeter a --from-postman b",
            "assay load http://h/ --rate 5 --out s.toml",
        ] {
            assert!(parse(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn injectors_need_a_token_and_an_address_each() {
        let parse = |more: &str| {
            Arguments::try_parse_from(format!("assay load http://h/ --rate 5 {more}").split_whitespace())
        };
        assert!(parse("--injectors a:1,b:2=http://c --token-file t --go-on-without").is_ok());
        for bad in ["--injectors a:1", "--token-file t", "--go-on-without", "--injectors a --token-file t"] {
            assert!(parse(bad).is_err(), "{bad}");
        }
        assert!(parse("--injectors a:1 --token-file t --hlog h").is_err());
    }

    #[test]
    fn short_options_are_those_of_other_load_generators() {
        let parse = |words: &[&str]| {
            let words = ["assay", "load", "http://h/"].iter().chain(words);
            Arguments::try_parse_from(words).map(|arguments| format!("{:?}", arguments.command))
        };
        let short =
            parse(&["-c", "10", "-r", "200", "-z", "30s", "-H", "A: b", "-X", "PUT", "-d", "a=1", "-k"]);
        let long = parse(&[
            "--connections",
            "10",
            "--rate",
            "200",
            "--duration",
            "30s",
            "--header",
            "A: b",
            "--request",
            "PUT",
            "--data",
            "a=1",
            "--insecure",
        ]);
        assert_eq!(short.expect("right"), long.expect("right"));
        assert!(parse(&["--rate", "5", "--fail-if", "p99_ms{operation=a} > 5", "--junit", "x.xml"]).is_ok());
        assert!(parse(&["--rate", "5", "--fail-if", "p98_ms > 5"]).is_err());
    }
}
