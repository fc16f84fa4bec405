//! `assay load`: the generator alone.

use crate::arguments::{Arrivals, LoadArguments, TlsArguments};
use crate::command::inject;
use crate::failure::Failure;
use crate::progress::bar;
use crate::{output, seed, stop};
use assay_load::{
    ArrivalLaw, Generator, GeneratorConfig, IntervalLogs, Load, LoadError, LoadSource, LoadWindow, Measured,
    Progress, Scenario, TlsOptions,
};
use assay_model::{DeliverySummary, LatencySummary, LoadResult, Protocol, ProtocolSummary};
use assay_text::redact;
use std::io::{self, Write};
use std::process::ExitCode;
use std::time::Duration;

/// Samples of what went wrong that are shown as text; `--json` gives all that were kept.
const PROBLEMS_SHOWN: usize = 6;
pub(super) const STREAMS_OF_HTTP1: &str =
    "--streams is for HTTP/2: HTTP/1.1 carries one request at a time; add --http 2";

/// Loads a URL and prints what was measured. The exit code is 1 when the figures cannot be used; `problems` says why.
pub fn load(arguments: &LoadArguments) -> Result<ExitCode, Failure> {
    let law = law(arguments)?;
    let config = config(arguments)?;
    let scenario = redact::text(config.scenario.text()).into_owned();
    let group = inject::connect(&arguments.injectors, &config)?;
    let stop = stop::flag_on_signal()?;
    let milliseconds = arguments.duration.as_millis().min(u128::from(u64::MAX)) as u64;
    let bar = bar(Some(milliseconds), "{bar:30} {elapsed_precise}  {msg}");
    let mut on_progress = |progress: Progress| {
        bar.set_position(progress.elapsed.as_millis().min(u128::from(u64::MAX)) as u64);
        bar.set_message(format!("{} answered, {} failed", progress.completed, progress.errors));
    };
    let measured = match group {
        Some(mut group) => {
            let (settle, slow_above) = (Duration::ZERO, None);
            let window = LoadWindow { load: law, settle, length: arguments.duration, slow_above };
            group.window(&window, &stop, &mut on_progress)
        }
        None => {
            let mut generator = Generator::new(config)?;
            let logs = arguments.hlog.as_deref().map(create_log).transpose()?;
            generator.run(&law, arguments.duration, &stop, logs, &mut on_progress)
        }
    };
    drop(bar);
    let measured = measured?;
    let result = LoadResult { scenario: Some(scenario), ..measured.result() };
    if arguments.json {
        output::print_json(&result)?;
    } else {
        output::print(|out| write_text(out, arguments, &measured, &result))?;
    }
    Ok(match (measured.stopped, result.valid) {
        (true, _) => ExitCode::from(stop::INTERRUPTED),
        (false, true) => ExitCode::SUCCESS,
        (false, false) => ExitCode::from(1),
    })
}

fn config(arguments: &LoadArguments) -> Result<GeneratorConfig, Failure> {
    let (base_url, scenario) = match &arguments.scenario {
        Some(path) => (arguments.url.clone(), Scenario::read(path).map_err(LoadError::from)?),
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
    Ok(GeneratorConfig {
        tls: tls.with_files(trust.as_deref(), (client_cert.as_deref(), client_key.as_deref()))?,
        http,
        in_flight_max: arguments.in_flight,
        seed: arguments.seed.unwrap_or_else(seed::any),
        ..GeneratorConfig::new(base_url, scenario, connections)
    })
}

fn law(arguments: &LoadArguments) -> Result<Load, Failure> {
    match (arguments.rate, arguments.users) {
        (Some(rate_per_s), _) => Ok(Load::Open { arrivals: law_of(arguments.arrivals), rate_per_s }),
        (None, Some(users)) => Ok(Load::Closed { users, think: None }),
        (None, None) => Err(Failure::input("give either --rate or --users")),
    }
}

fn law_of(arrivals: Arrivals) -> ArrivalLaw {
    match arrivals {
        Arrivals::Constant => ArrivalLaw::Constant,
        Arrivals::Poisson => ArrivalLaw::Poisson,
    }
}

fn create_log(path: &std::path::Path) -> Result<IntervalLogs, Failure> {
    let file = fs_err::File::create(path)
        .map_err(|e| Failure::input(format!("{e}; give --hlog a path that can be written")))?;
    Ok(IntervalLogs::each_second(io::BufWriter::new(file)))
}

fn write_text(
    out: &mut dyn Write,
    arguments: &LoadArguments,
    measured: &Measured,
    result: &LoadResult,
) -> io::Result<()> {
    let seconds = (measured.end_monotonic_ns - measured.start_monotonic_ns) as f64 / 1e9;
    writeln!(out, "{} for {seconds:.1} s, seed {}", arguments.url, result.seed)?;
    let asked = result.asked_rate_per_s.map_or_else(String::new, |rate| format!(" of {rate} asked"));
    writeln!(
        out,
        "  {:.1} requests/s answered{asked}; {} requests, {} failed",
        result.reached_rate_per_s, result.requests, result.errors
    )?;
    writeln!(
        out,
        "\n  {:<44}{:>10}{:>10}{:>10}{:>10}{:>10}",
        "milliseconds", "p50", "p95", "p99", "p99.9", "max"
    )?;
    write_times(out, "response time, from the intended start", &result.response_ms)?;
    write_times(out, "service time, from the send", &result.service_ms)?;
    write_times(out, "lateness of the generator", &result.send_lag_ms)?;
    if let Some(deliveries) = &result.deliveries {
        write_times(out, "delivery, from the intended start", &deliveries.ms)?;
        let rate = deliveries.rate_per_s.map_or_else(String::new, |rate| format!("{rate:.1} deliveries/s; "));
        let DeliverySummary { due, delivered, lost, duplicated, out_of_order, cut_off, .. } = deliveries;
        writeln!(
            out,
            "    {rate}{delivered} of {due} due; {lost} lost, {duplicated} twice, {out_of_order} out of order, {cut_off} open when a \
             connection ended"
        )?;
    }
    if let Some(handshakes) = &result.handshakes {
        write_times(out, "TLS handshakes, apart from requests", &handshakes.ms)?;
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
        write_times(out, "opening connections, apart from requests", ms)?;
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

fn write_times(out: &mut dyn Write, what: &str, times: &LatencySummary) -> io::Result<()> {
    write!(out, "  {what:<44}")?;
    for value in [times.p50, times.p95, times.p99, times.p99_9, times.max] {
        match value {
            Some(ms) => write!(out, "{ms:>10.3}")?,
            None => write!(out, "{:>10}", "-")?,
        }
    }
    writeln!(out)
}

fn write_mix(out: &mut dyn Write, result: &LoadResult) -> io::Result<()> {
    writeln!(
        out,
        "\n  {:<24}{:>10}{:>10}{:>12}{:>10}",
        "operation", "asked %", "sent %", "requests", "failed"
    )?;
    let all = result.operations.iter().map(|o| o.requests).sum::<u64>().max(1) as f64;
    for operation in &result.operations {
        let sent = 100.0 * operation.requests as f64 / all;
        let asked = 100.0 * operation.asked_share;
        writeln!(
            out,
            "  {:<24}{asked:>10.2}{sent:>10.2}{:>12}{:>10}",
            operation.name, operation.requests, operation.errors
        )?;
    }
    Ok(())
}
