//! `assay load`: the generator alone.

mod recording;

use crate::arguments::{Arrivals, Format, LoadArguments, TlsArguments};
use crate::command::{inject, studies};
use crate::failure::Failure;
use crate::live::LiveLoad;
use crate::output::{self, Forms};
use crate::output_file::{can_be_written, write_result};
use crate::{seed, stop};
use assay_load::{
    ArrivalLaw, Generator, GeneratorConfig, IntervalLogs, Load, LoadSource, LoadWindow, Measured, Progress,
    TlsOptions,
};
use assay_model::{DeliverySummary, LatencySummary, LoadResult, Protocol, ProtocolSummary, RatePoint};
use assay_processreport::{render_load_csv, render_load_html, render_load_markdown};
use assay_scenario::RateSchedule;
use assay_text::redact;
use assay_text::wrap::message;
use std::io::{self, Write};
use std::path::Path;
use std::process::ExitCode;
use std::time::Duration;

/// How long a load is where nothing says it.
const DURATION: Duration = Duration::from_secs(10);
/// Columns of the name of a row.
const NAME: usize = 30;
/// Lines of a rate over time.
const RATES_SHOWN: usize = 12;
/// Samples of what went wrong that are shown as text; `--json` gives all that were kept.
const PROBLEMS_SHOWN: usize = 6;
pub(super) const STREAMS_OF_HTTP1: &str =
    "--streams is for HTTP/2: HTTP/1.1 carries one request at a time; add --http 2";

/// Loads a URL and prints what was measured. The exit code is 1 when the figures cannot be used, unless that is allowed; `problems` says why.
pub fn load(arguments: &LoadArguments) -> Result<ExitCode, Failure> {
    if arguments.recording.from_har.is_some() || arguments.recording.from_access_log.is_some() {
        return recording::scenario(&arguments.recording);
    }
    arguments.html.as_deref().map_or(Ok(()), can_be_written)?;
    let config = config(arguments)?;
    let duration = duration(arguments, config.rate.as_ref())?;
    let law = law(arguments, config.rate.as_ref(), duration)?;
    let rate = config.rate.clone();
    let scenario = redact::text(config.scenario.text()).into_owned();
    let group = inject::connect(&arguments.injectors, &config)?;
    let stop = stop::flag_on_signal()?;
    let mut live = LiveLoad::new(duration);
    let mut on_progress = |progress: Progress| live.show(&progress);
    let measured = match group {
        Some(mut group) => {
            let (settle, slow_above) = (Duration::ZERO, None);
            let window = LoadWindow { load: law, settle, length: duration, slow_above };
            group.window(&window, &stop, &mut on_progress)
        }
        None => {
            let mut generator = Generator::new(config)?;
            let logs = arguments.hlog.as_deref().map(create_log).transpose()?;
            generator.run(&law, duration, &stop, logs, &mut on_progress)
        }
    };
    drop(live);
    let measured = measured?;
    let result = LoadResult {
        scenario: Some(scenario),
        rate_schedule: rate.as_ref().map(|rate| rate.text().to_owned()),
        rates: rate.as_ref().map(|rate| measured.rates(rate)).unwrap_or_default(),
        ..measured.result()
    };
    let target = redact::text(&arguments.url);
    if let Some(path) = &arguments.html {
        write_result(path, |mut out| render_load_html(&result, &target, &mut out))?;
    }
    let forms = Forms {
        table: &|_| text(arguments, &measured, &result),
        csv: &|out| render_load_csv(&result, out),
        markdown: &|| render_load_markdown(&result, &target),
        problems: &result.problems,
    };
    let format = arguments.format.form_beside(arguments.html.is_some());
    output::print_as(format, &result, &forms)?;
    if !result.valid && !matches!(format, Some(Format::Table | Format::Md)) {
        say!("NOT VALID: do not use these figures");
        if format.is_none() {
            output::note(&result.problems);
        }
    }
    Ok(match (measured.stopped, result.valid) {
        (true, _) => ExitCode::from(stop::INTERRUPTED),
        (false, true) => ExitCode::SUCCESS,
        (false, false) if arguments.allow_invalid => ExitCode::SUCCESS,
        (false, false) => ExitCode::from(1),
    })
}

fn config(arguments: &LoadArguments) -> Result<GeneratorConfig, Failure> {
    let (base_url, scenario) = match &arguments.scenario {
        Some(named) => (arguments.url.clone(), studies::scenario(named)?),
        None if arguments.follow_redirects => assay_load::for_url_and_redirects(&arguments.url)?,
        None => assay_load::for_url(&arguments.url)?,
    };
    let tls = TlsOptions {
        server_name: arguments.tls.server_name.clone(),
        resumption: !arguments.tls.no_resumption,
        ..TlsOptions::default()
    };
    let TlsArguments { trust, client_cert, client_key, .. } = &arguments.tls;
    let http = arguments.http.http().ok_or_else(|| Failure::input(STREAMS_OF_HTTP1))?;
    // Each user of a chat has a connection of its own.
    let connections = match arguments.users {
        Some(users) if scenario.is_chat() => users,
        _ => arguments.connections,
    };
    let config = GeneratorConfig::new(base_url, scenario, connections);
    let rate = match &arguments.rate_schedule {
        Some(text) => {
            let schedule = RateSchedule::parse(text, Path::new(""));
            Some(schedule.map_err(|what| Failure::input(format!("--rate-schedule: {what}")))?)
        }
        None if arguments.rate.or(arguments.users.map(f64::from)).is_some() => None,
        None => config.rate.clone(),
    };
    Ok(GeneratorConfig {
        rate,
        tls: tls.with_files(trust.as_deref(), (client_cert.as_deref(), client_key.as_deref()))?,
        http,
        in_flight_max: arguments.in_flight,
        seed: arguments.seed.unwrap_or_else(seed::any),
        ..config
    })
}

fn law(arguments: &LoadArguments, rate: Option<&RateSchedule>, duration: Duration) -> Result<Load, Failure> {
    let open = |rate_per_s| Load::Open { arrivals: law_of(arguments.arrivals), rate_per_s };
    match (arguments.rate, arguments.users, rate) {
        (Some(rate_per_s), ..) => Ok(open(rate_per_s)),
        (None, Some(users), _) => Ok(Load::Closed { users, think: None }),
        (None, None, Some(rate)) => Ok(open(rate.mean_rate_per_s(0.0, duration.as_secs_f64()))),
        (None, None, None) => {
            Err(Failure::input("give --rate, --users or --rate-schedule; the scenario has no [rate]"))
        }
    }
}

/// As long as is asked for, or as the schedule is, which a load can cut short and not go beyond.
fn duration(arguments: &LoadArguments, rate: Option<&RateSchedule>) -> Result<Duration, Failure> {
    let length = rate.map(RateSchedule::length);
    match (arguments.duration, length) {
        (Some(asked), Some(length)) if length < asked => Err(Failure::input(format!(
            "--duration {}: the schedule of the rate ends after {}; leave --duration out, or add a phase",
            assay_text::duration::exact(asked),
            assay_text::duration::exact(length)
        ))),
        (asked, length) => Ok(asked.or(length).unwrap_or(DURATION)),
    }
}

fn law_of(arrivals: Arrivals) -> ArrivalLaw {
    match arrivals {
        Arrivals::Constant => ArrivalLaw::Constant,
        Arrivals::Poisson => ArrivalLaw::Poisson,
    }
}

fn create_log(path: &Path) -> Result<IntervalLogs, Failure> {
    let file = fs_err::File::create(path)
        .map_err(|e| Failure::input(format!("{e}; give --hlog a path that can be written")))?;
    Ok(IntervalLogs::each_second(io::BufWriter::new(file)))
}

/// The text for a terminal.
fn text(arguments: &LoadArguments, measured: &Measured, result: &LoadResult) -> String {
    let mut text = Vec::new();
    // A text in memory takes every line.
    let _ = write_text(&mut text, arguments, measured, result);
    message(&String::from_utf8_lossy(&text), output::width().into())
}

fn write_text(
    out: &mut dyn Write,
    arguments: &LoadArguments,
    measured: &Measured,
    result: &LoadResult,
) -> io::Result<()> {
    let seconds = (measured.end_monotonic_ns - measured.start_monotonic_ns) as f64 / 1e9;
    writeln!(out, "{} for {seconds:.1} s, seed {}", arguments.url, result.seed)?;
    let offered = result.asked_rate_per_s.map_or_else(String::new, |rate| format!(" of {rate} offered"));
    writeln!(
        out,
        "  {:.1} requests/s achieved{offered}; {} requests, {} failed",
        result.reached_rate_per_s, result.requests, result.errors
    )?;
    writeln!(
        out,
        "\n  {:<NAME$}{:>9}{:>9}{:>9}{:>9}{:>9}",
        "milliseconds", "p50", "p95", "p99", "p99.9", "max"
    )?;
    write_times(out, "response, from intended start", &result.response_ms)?;
    write_times(out, "service, from the send", &result.service_ms)?;
    write_times(out, "send lag of the generator", &result.send_lag_ms)?;
    if let Some(deliveries) = &result.deliveries {
        write_times(out, "delivery, from intended start", &deliveries.ms)?;
        let rate = deliveries.rate_per_s.map_or_else(String::new, |rate| format!("{rate:.1} deliveries/s; "));
        let DeliverySummary { due, delivered, lost, duplicated, out_of_order, cut_off, .. } = deliveries;
        writeln!(
            out,
            "    {rate}{delivered} of {due} due; {lost} lost, {duplicated} twice, {out_of_order} out of order, {cut_off} open when a \
             connection ended"
        )?;
    }
    if let Some(handshakes) = &result.handshakes {
        write_times(out, "TLS handshakes", &handshakes.ms)?;
        let cpu =
            handshakes.cpu_ms_mean.map_or_else(String::new, |ms| format!(", {ms:.3} ms of its CPU each"));
        writeln!(out, "    {} handshakes, {} of them resumed{cpu}", handshakes.count, handshakes.resumed)?;
    }
    if let Some(protocol) = &result.protocol {
        write_protocol(out, protocol)?;
    }
    if result.operations.len() > 1 {
        write_mix(out, result)?;
    }
    write_redirects(out, result)?;
    write_rates(out, result)?;
    inject::write_injectors(out, &result.injectors)?;
    if !result.valid {
        writeln!(out, "\n  NOT VALID: do not use these figures")?;
    }
    for problem in result.problems.iter().take(PROBLEMS_SHOWN) {
        writeln!(out, "  - {}: {}", problem.about, problem.text)?;
    }
    let more = result.problems.len().saturating_sub(PROBLEMS_SHOWN);
    if more > 0 {
        writeln!(out, "  - and {more} more (--json shows them)")?;
    }
    Ok(())
}

fn write_protocol(out: &mut dyn Write, protocol: &ProtocolSummary) -> io::Result<()> {
    let ProtocolSummary { name, streams, streams_allowed_min, left_by_server, reset_by_server, opening_ms } =
        protocol;
    if let Some(ms) = opening_ms {
        write_times(out, "opening connections", ms)?;
    }
    if *name == Protocol::Http2 {
        let allowed = streams_allowed_min
            .map_or_else(String::new, |streams| format!(", of which the server allowed {streams}"));
        writeln!(
            out,
            "    {name}, {streams} streams on a connection{allowed}; the server left {left_by_server} connections (GOAWAY) and reset \
             {reset_by_server} requests"
        )?;
    }
    Ok(())
}

fn write_redirects(out: &mut dyn Write, result: &LoadResult) -> io::Result<()> {
    for operation in
        result.operations.iter().filter(|operation| operation.redirects.is_some_and(|count| count > 0))
    {
        let count = operation.redirects.unwrap_or(0);
        writeln!(
            out,
            "  {count} redirects followed in {} requests of {}",
            operation.requests, operation.name
        )?;
    }
    Ok(())
}

/// The offered rate over time, in a few lines; `--json` has them all.
fn write_rates(out: &mut dyn Write, result: &LoadResult) -> io::Result<()> {
    if result.rates.is_empty() {
        return Ok(());
    }
    writeln!(out, "\n  {:<24}{:>14}{:>14}", "seconds", "offered/s", "answered/s")?;
    let each = result.rates.len().div_ceil(RATES_SHOWN);
    for part in result.rates.chunks(each) {
        let (Some(first), Some(last)) = (part.first(), part.last()) else { continue };
        let length_s = last.to_s - first.from_s;
        let mean = |of: fn(&RatePoint) -> f64| {
            part.iter().map(|point| of(point) * (point.to_s - point.from_s)).sum::<f64>() / length_s
        };
        let [offered, answered] = [mean(|point| point.offered_per_s), mean(|point| point.answered_per_s)];
        let span = format!("{:.1} to {:.1}", first.from_s, last.to_s);
        writeln!(out, "  {span:<24}{offered:>14.1}{answered:>14.1}")?;
    }
    Ok(())
}

fn write_times(out: &mut dyn Write, what: &str, times: &LatencySummary) -> io::Result<()> {
    write!(out, "  {what:<NAME$}")?;
    for value in [times.p50, times.p95, times.p99, times.p99_9, times.max] {
        match value {
            Some(ms) => write!(out, "{ms:>9.3}")?,
            None => write!(out, "{:>9}", "-")?,
        }
    }
    writeln!(out)
}

fn write_mix(out: &mut dyn Write, result: &LoadResult) -> io::Result<()> {
    writeln!(
        out,
        "\n  {:<24}{:>10}{:>10}{:>12}{:>10}",
        "operation", "planned %", "sent %", "requests", "failed"
    )?;
    let all = result.operations.iter().map(|o| o.requests).sum::<u64>().max(1) as f64;
    for operation in &result.operations {
        let sent = 100.0 * operation.requests as f64 / all;
        let planned = 100.0 * operation.asked_share;
        writeln!(
            out,
            "  {:<24}{planned:>10.2}{sent:>10.2}{:>12}{:>10}",
            operation.name, operation.requests, operation.errors
        )?;
    }
    Ok(())
}
