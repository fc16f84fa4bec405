//! The rate along a schedule, the parts of injectors, and whatever else a load counts.

use assay_kit::Table;
use assay_kit::document::Block;
use assay_kit::number::{count, counted, percent_share, significant};
use assay_kit::quantity::{figure, ms};
use assay_kit::text::clean;
use assay_model::{InjectorPart, LoadResult, Protocol, RatePoint};

/// Intervals of the rate over time; the stored form has all.
const RATES_MAX: usize = 400;
/// More intervals than these are summed up in parts, of which there are at most so many.
const PARTS_MAX: usize = 12;

/// The rate over time, where it changes; of many intervals first their means in a few parts.
pub fn rates(result: &LoadResult) -> Vec<Block> {
    let points = &result.rates;
    let caption = match points.len().saturating_sub(RATES_MAX) {
        0 => "Offered and achieved rate over time".to_owned(),
        more => format!("The first {RATES_MAX} intervals. {more} more are in the stored form (--json)"),
    };
    let all = rates_table(caption, points.iter().take(RATES_MAX).copied());
    if points.len() <= PARTS_MAX {
        return vec![all.into()];
    }
    let each = points.len().div_ceil(PARTS_MAX);
    let caption = format!(
        "Offered and achieved rate, means of up to {}",
        counted(each as u64, "interval", "intervals")
    );
    vec![rates_table(caption, points.chunks(each).filter_map(mean)).into(), Block::from(all).page_only()]
}

/// Intervals that follow each other as one.
fn mean(points: &[RatePoint]) -> Option<RatePoint> {
    let (from_s, to_s) = (points.first()?.from_s, points.last()?.to_s);
    let mean = |of: fn(&RatePoint) -> f64| {
        points.iter().map(|point| of(point) * (point.to_s - point.from_s)).sum::<f64>() / (to_s - from_s)
    };
    let (offered_per_s, answered_per_s) =
        (mean(|point| point.offered_per_s), mean(|point| point.answered_per_s));
    Some(RatePoint { from_s, to_s, offered_per_s, answered_per_s })
}

fn rates_table(caption: String, points: impl Iterator<Item = RatePoint>) -> Table {
    Table::of(caption, points)
        .words("Seconds", |point| format!("{} to {}", significant(point.from_s), significant(point.to_s)))
        .figures("Offered (requests/s)", |point| figure(Some(point.offered_per_s)))
        .figures("Achieved (requests/s)", |point| figure(Some(point.answered_per_s)))
        .table()
}

/// The injectors, where several made the load.
pub fn injectors(result: &LoadResult) -> Table {
    let lost = |of: &&InjectorPart| of.lost.as_ref().map_or_else(String::new, |lost| clean(&lost.why));
    let ns = |ns: Option<u64>| ns.map(|ns| ms(ns as f64 / 1e6));
    Table::of("What each injector did", &result.injectors)
        .words("Address", |of| clean(&of.address))
        .words("Loaded", |of| clean(&of.base_url))
        .if_room()
        .figures("Requests", |of| of.requests.map(count))
        .figures("Failed", |of| of.errors.map(count))
        .figures("Delay p99", |of| of.send_lag_ms.p99.map(ms))
        .figures("CPU, of one core", |of| of.cpu_share.map(percent_share))
        .figures("Started late by", move |of| ns(of.start_late_ns))
        .if_room()
        .figures("Clock, ±", move |of| ns(of.clock_uncertainty_ns))
        .if_room()
        .words("Lost", lost)
        .table()
}

/// Counts of requests, connections and deliveries.
pub fn requests(result: &LoadResult) -> Table {
    let mut rows = vec![
        ("requests", Some(count(result.requests))),
        ("failed", Some(count(result.errors))),
        ("sent again, since the server had closed the connection", Some(count(result.sent_again))),
        ("CPU of the load generator, of one core", result.generator_cpu_share.map(percent_share)),
    ];
    rows.extend(result.users.map(|users| ("users", Some(count(users.into())))));
    if let Some(of) = &result.session_starts {
        rows.push(("sessions that users began, not among the requests", Some(count(of.count))));
        rows.push(("of them while requests were recorded", Some(count(of.in_window))));
        rows.push(("attempts of it that failed", Some(count(of.failed))));
        rows.push(("sessions that the server ended", Some(count(of.ended_by_server))));
    }
    if let Some(of) = &result.protocol {
        rows.push(("protocol", Some(of.name.to_string())));
        if of.name == Protocol::Http2 {
            rows.push(("streams on a connection", Some(count(of.streams.into()))));
            let allowed = of
                .streams_allowed_min
                .map(|streams| ("of them allowed by the server", Some(count(streams.into()))));
            rows.extend(allowed);
        }
        rows.push((
            "connections on which the server took no more requests",
            Some(count(of.closed_by_server)),
        ));
        rows.push(("requests that the server reset", Some(count(of.reset_by_server))));
        rows.extend(
            of.pushed_by_server.map(|pushed| ("messages that the server pushed", Some(count(pushed)))),
        );
    }
    if let Some(of) = &result.handshakes {
        rows.push(("TLS handshakes", Some(count(of.count))));
        rows.push(("of them resumed", Some(count(of.resumed))));
        rows.push(("CPU of the load generator for each", of.cpu_ms_mean.map(ms)));
    }
    if let Some(of) = &result.deliveries {
        rows.push(("deliveries due", Some(count(of.due))));
        rows.push(("of them delivered", Some(count(of.delivered))));
        rows.push(("of them lost", Some(count(of.lost))));
        rows.push(("of them open when a connection ended", Some(count(of.cut_off))));
        rows.push(("duplicated", Some(count(of.duplicated))));
        rows.push(("out of order", Some(count(of.out_of_order))));
        rows.push(("deliveries per second", figure(of.rate_per_s)));
    }
    Table::of("Requests and connections", rows)
        .words("What", |(name, _)| *name)
        .figures("Figure", |(_, value)| value.clone())
        .table()
}

/// Connections that the server closed, by its code; none where it closed none.
pub fn closed(result: &LoadResult) -> Option<Table> {
    let closed = result.protocol.as_ref().map(|of| of.closed_by_code.as_slice()).unwrap_or_default();
    let table = Table::of("Connections that the server closed", closed.to_vec())
        .words("Code", |of| of.code_and_name())
        .figures("Connections", |of| Some(count(of.connections)))
        .table();
    (!closed.is_empty()).then_some(table)
}
