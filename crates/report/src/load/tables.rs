//! The tables of a load, on its page and in Markdown.

use super::words::ms;
use assay_kit::Table;
use assay_kit::number::{count, percent_share};
use assay_kit::quantity::figure;
use assay_kit::text::clean;
use assay_model::{InjectorPart, LatencySummary, LoadResult};

/// Rows of the rate over time; the stored form has all.
const RATES_MAX: usize = 400;

/// All times that were measured, each with what it counts from.
pub fn measured(result: &LoadResult) -> Vec<(&'static str, &LatencySummary)> {
    let mut times = vec![
        ("response time, from the intended start", &result.response_ms),
        ("service time, from the send", &result.service_ms),
        ("delay of the load generator", &result.send_lag_ms),
    ];
    let deliveries = result.deliveries.as_ref().map(|of| ("delivery, from the intended start", &of.ms));
    let handshakes = result.handshakes.as_ref().map(|of| ("TLS handshake, not in a request's time", &of.ms));
    let opening = result.protocol.as_ref().and_then(|of| of.opening_ms.as_ref());
    let opening = opening.map(|of| ("opening a connection, not in a request's time", of));
    times.extend(deliveries.into_iter().chain(handshakes).chain(opening));
    times
}

/// Percentiles of every time.
pub fn times(result: &LoadResult) -> Table {
    Table::of("Times by percentile", measured(result))
        .words("Time", |(name, _)| (*name).to_owned())
        .figures("p50", |(_, of)| ms(of.p50))
        .figures("p95", |(_, of)| ms(of.p95))
        .figures("p99", |(_, of)| ms(of.p99))
        .figures("p99.9", |(_, of)| ms(of.p99_9))
        .figures("Longest", |(_, of)| ms(of.max))
        .table()
}

/// Requests by operation.
pub fn operations(result: &LoadResult) -> Table {
    let all = result.operations.iter().map(|of| of.requests).sum::<u64>().max(1) as f64;
    let optional = |number: Option<u64>| number.map_or_else(|| "-".to_owned(), count);
    Table::of("Requests by operation", &result.operations)
        .words("Operation", |of| clean(&of.name))
        .figures("Share in the scenario", |of| percent_share(of.planned_share))
        .figures("Share sent", |of| percent_share(of.requests as f64 / all))
        .figures("Requests", |of| count(of.requests))
        .figures("Failed", |of| count(of.errors))
        .figures("Redirects", |of| optional(of.redirects))
        .table()
}

/// The rate over time, where it changes.
pub fn rates(result: &LoadResult) -> Table {
    let caption = match result.rates.len().saturating_sub(RATES_MAX) {
        0 => "Offered and achieved rate over time".to_owned(),
        more => format!("The first {RATES_MAX} intervals; {more} more are in the stored form (--json)"),
    };
    Table::of(caption, result.rates.iter().take(RATES_MAX))
        .words("Seconds", |point| format!("{} to {}", figure(Some(point.from_s)), figure(Some(point.to_s))))
        .figures("Offered (requests/s)", |point| figure(Some(point.offered_per_s)))
        .figures("Achieved (requests/s)", |point| figure(Some(point.answered_per_s)))
        .table()
}

/// The injectors, where several made the load.
pub fn injectors(result: &LoadResult) -> Table {
    let optional = |number: Option<u64>| number.map_or_else(|| "-".to_owned(), count);
    let lost = |of: &&InjectorPart| of.lost.as_ref().map_or_else(String::new, |lost| clean(&lost.why));
    Table::of("What each injector did", &result.injectors)
        .words("Address", |of| clean(&of.address))
        .words("Loaded", |of| clean(&of.base_url))
        .figures("Requests", |of| optional(of.requests))
        .figures("Failed", |of| optional(of.errors))
        .figures("Delay p99", |of| ms(of.send_lag_ms.p99))
        .figures("CPU, of one core", |of| of.cpu_share.map_or_else(|| "-".to_owned(), percent_share))
        .words("Lost", lost)
        .table()
}

/// Single figures.
pub fn figures(result: &LoadResult) -> Table {
    let share = |value: Option<f64>| value.map_or_else(|| "-".to_owned(), percent_share);
    let mut rows = vec![
        ("requests", count(result.requests)),
        ("failed", count(result.errors)),
        ("sent again, since the server had closed the connection", count(result.sent_again)),
        ("CPU of the load generator, of one core", share(result.generator_cpu_share)),
    ];
    if let Some(of) = &result.protocol {
        rows.push(("protocol", of.name.to_string()));
        rows.push(("connections on which the server took no more requests", count(of.closed_by_server)));
        rows.push(("requests that the server reset", count(of.reset_by_server)));
    }
    if let Some(of) = &result.handshakes {
        rows.push(("TLS handshakes", count(of.count)));
        rows.push(("of them resumed", count(of.resumed)));
    }
    if let Some(of) = &result.deliveries {
        rows.push(("deliveries due", count(of.due)));
        rows.push(("of them lost", count(of.lost)));
        rows.push(("duplicated", count(of.duplicated)));
        rows.push(("out of order", count(of.out_of_order)));
    }
    Table::of("Requests and connections", rows)
        .words("What", |(name, _)| (*name).to_owned())
        .figures("Figure", |(_, value)| value.clone())
        .table()
}
