//! What a load came to, as text for a terminal.

use assay_model::{
    DeliverySummary, InjectorPart, LatencySummary, LoadResult, Protocol, ProtocolSummary, RatePoint,
};
use assay_report::TerminalView;
use assay_text::wrap::message;
use std::io::{self, Write};

/// Columns of the name of a row.
const NAME: usize = 30;
/// Lines of a rate over time.
const RATES_SHOWN: usize = 12;
/// Samples of what went wrong that are shown as text; `--json` gives all that were kept.
const PROBLEMS_SHOWN: usize = 6;

/// Shows a load of a target; `measured_s` is how long it took, where that is known.
pub fn render(result: &LoadResult, target: &str, measured_s: Option<f64>, view: TerminalView) -> String {
    let mut text = Vec::new();
    // A text in memory takes every line.
    let _ = write_text(&mut text, result, target, measured_s);
    message(&String::from_utf8_lossy(&text), view.width.into())
}

fn write_text(
    out: &mut dyn Write,
    result: &LoadResult,
    target: &str,
    measured_s: Option<f64>,
) -> io::Result<()> {
    let length = measured_s.map_or_else(String::new, |seconds| format!(" for {seconds:.1} s"));
    writeln!(out, "{target}{length}, seed {}", result.seed)?;
    let offered = result.offered_rate_per_s.map_or_else(String::new, |rate| format!(" of {rate} offered"));
    writeln!(
        out,
        "  {:.1} requests/s achieved{offered}; {} requests, {} failed",
        result.achieved_rate_per_s, result.requests, result.errors
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
    write_injectors(out, &result.injectors)?;
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
    let ProtocolSummary { name, streams, streams_allowed_min, closed_by_server, reset_by_server, opening_ms } =
        protocol;
    if let Some(ms) = opening_ms {
        write_times(out, "opening connections", ms)?;
    }
    if *name == Protocol::Http2 {
        let allowed = streams_allowed_min
            .map_or_else(String::new, |streams| format!(", of which the server allowed {streams}"));
        writeln!(
            out,
            "    {name}, {streams} streams on a connection{allowed}; the server left {closed_by_server} connections (GOAWAY) and reset \
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
        let planned = 100.0 * operation.planned_share;
        writeln!(
            out,
            "  {:<24}{planned:>10.2}{sent:>10.2}{:>12}{:>10}",
            operation.name, operation.requests, operation.errors
        )?;
    }
    Ok(())
}

/// One line for each injector.
fn write_injectors(out: &mut dyn Write, injectors: &[InjectorPart]) -> io::Result<()> {
    if injectors.is_empty() {
        return Ok(());
    }
    writeln!(
        out,
        "\n  {:<28}{:>10}{:>8}{:>8}{:>13}{:>12}{:>12}",
        "injector", "requests", "failed", "CPU %", "late p99 ms", "start ms", "clock ± ms"
    )?;
    let ms = |ns: Option<u64>| ns.map(|ns| ns as f64 / 1e6);
    for one in injectors {
        write!(out, "  {:<28}{:>10}{:>8}", one.address, count(one.requests), count(one.errors))?;
        write!(out, "{:>8}", number(one.cpu_share.map(|share| 100.0 * share), 0))?;
        write!(out, "{:>13}", number(one.send_lag_ms.p99, 3))?;
        write!(out, "{:>12}", number(ms(one.start_late_ns), 3))?;
        writeln!(out, "{:>12}", number(ms(one.clock_uncertainty_ns), 3))?;
    }
    Ok(())
}

fn count(value: Option<u64>) -> String {
    value.map_or_else(|| "unknown".to_owned(), |count| count.to_string())
}

fn number(value: Option<f64>, digits: usize) -> String {
    value.map_or_else(|| "-".to_owned(), |value| format!("{value:.digits$}"))
}
