//! A load as CSV: a row for each figure, in full. A figure that is not known has no row.

use assay_kit::csv_rows::{Rows, figure};
use assay_model::{LatencySummary, LoadResult};
use std::io::{self, Write};

/// The columns, in order.
const COLUMNS: [&str; 4] = ["part", "name", "metric", "value"];

/// A row for each figure: of the whole, of each operation, of each interval of the rate, of each injector.
///
/// # Errors
/// Those of the writer.
pub fn render(result: &LoadResult, out: &mut dyn Write) -> io::Result<()> {
    let mut rows = Rows::new(out, COLUMNS)?;
    let mut row = |part: &str, name: &str, metric: &str, value: Option<f64>| match figure(value) {
        value if value.is_empty() => Ok(()),
        value => rows.row([part, name, metric, &value]),
    };
    let number = |value: u64| Some(value as f64);
    let whole = [
        ("requests", number(result.requests)),
        ("errors", number(result.errors)),
        ("sent_again", number(result.sent_again)),
        ("offered_rate_per_s", result.offered_rate_per_s),
        ("achieved_rate_per_s", Some(result.achieved_rate_per_s)),
        ("generator_cpu_share", result.generator_cpu_share),
        ("valid", number(u64::from(result.valid))),
    ];
    whole.into_iter().try_for_each(|(metric, value)| row("load", "all", metric, value))?;
    let deliveries = result.deliveries.as_ref().map(|of| ("delivery_ms", &of.ms));
    let handshakes = result.handshakes.as_ref().map(|of| ("handshake_ms", &of.ms));
    let times = [
        ("response_ms", &result.response_ms),
        ("service_ms", &result.service_ms),
        ("send_lag_ms", &result.send_lag_ms),
    ];
    for (metric, of) in times.into_iter().chain(deliveries).chain(handshakes) {
        let values = percentiles(of);
        values.into_iter().try_for_each(|(p, value)| row("load", "all", &format!("{metric}_{p}"), value))?;
    }
    for of in &result.operations {
        row("operation", &of.name, "offered_share", Some(of.planned_share))?;
        row("operation", &of.name, "requests", number(of.requests))?;
        row("operation", &of.name, "errors", number(of.errors))?;
    }
    for point in &result.rates {
        let name = format!("{} s to {} s", point.from_s, point.to_s);
        row("rate", &name, "offered_per_s", Some(point.offered_per_s))?;
        row("rate", &name, "achieved_per_s", Some(point.answered_per_s))?;
    }
    for of in &result.injectors {
        row("injector", &of.address, "requests", of.requests.and_then(number))?;
        row("injector", &of.address, "errors", of.errors.and_then(number))?;
        row("injector", &of.address, "send_lag_ms_p99", of.send_lag_ms.p99)?;
        row("injector", &of.address, "cpu_share", of.cpu_share)?;
    }
    rows.end()
}

fn percentiles(of: &LatencySummary) -> [(&'static str, Option<f64>); 5] {
    [("p50", of.p50), ("p95", of.p95), ("p99", of.p99), ("p99_9", of.p99_9), ("max", of.max)]
}
