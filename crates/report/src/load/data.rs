//! The raw figures of a load: a row for each. A figure that is not known has no row.

use assay_kit::document::{Data, Value};
use assay_model::{LatencySummary, LoadResult};

/// A row for each figure: of the whole, of each operation, interval, point of the percentile curve and of the rate, of each of the
/// slowest requests, of each injector.
pub fn data(result: &LoadResult) -> Data {
    let mut data = Data::new(["part", "name", "metric", "value"]);
    let mut row = |part: &str, name: &str, metric: &str, value: Value| {
        if value != Value::Absent {
            data.push([part.into(), name.into(), metric.into(), value]);
        }
    };
    let whole: [(&str, Value); 10] = [
        ("requests", result.requests.into()),
        ("errors", result.errors.into()),
        ("sent_again", result.sent_again.into()),
        ("offered_rate_per_s", result.offered_rate_per_s.into()),
        ("achieved_rate_per_s", result.achieved_rate_per_s.into()),
        ("generator_cpu_share", result.generator_cpu_share.into()),
        ("users", result.users.into()),
        ("session_starts", result.session_starts.as_ref().map(|of| of.count).into()),
        ("session_starts_failed", result.session_starts.as_ref().map(|of| of.failed).into()),
        ("valid", u64::from(result.valid).into()),
    ];
    whole.into_iter().for_each(|(metric, value)| row("load", "all", metric, value));
    let deliveries = result.deliveries.as_ref().map(|of| ("delivery_ms", &of.ms));
    let handshakes = result.handshakes.as_ref().map(|of| ("handshake_ms", &of.ms));
    let starts = result.session_starts.as_ref().map(|of| ("session_start_ms", &of.ms));
    let times = [
        ("response_ms", &result.response_ms),
        ("service_ms", &result.service_ms),
        ("send_lag_ms", &result.send_lag_ms),
    ];
    for (metric, of) in times.into_iter().chain(deliveries).chain(handshakes).chain(starts) {
        percentiles(of)
            .into_iter()
            .for_each(|(p, ms)| row("load", "all", &format!("{metric}_{p}"), ms.into()));
    }
    for of in &result.operations {
        row("operation", &of.name, "offered_share", of.planned_share.into());
        row("operation", &of.name, "requests", of.requests.into());
        row("operation", &of.name, "errors", of.errors.into());
        let Some(figures) = &of.figures else { continue };
        row("operation", &of.name, "achieved_rate_per_s", figures.achieved_rate_per_s.into());
        for (p, ms) in percentiles(&figures.response_ms) {
            row("operation", &of.name, &format!("response_ms_{p}"), ms.into());
        }
        row("operation", &of.name, "body_bytes", figures.body_bytes.into());
        if let Some(events) = &figures.events {
            row("operation", &of.name, "events", events.events.into());
            let times = [("first_event_ms", &events.first_event_ms), ("event_gap_ms", &events.event_gap_ms)];
            for (metric, (p, ms)) in
                times.into_iter().flat_map(|(metric, of)| percentiles(of).map(|one| (metric, one)))
            {
                row("operation", &of.name, &format!("{metric}_{p}"), ms.into());
            }
        }
        for one in &figures.errors_by_kind {
            row("operation", &of.name, &format!("errors_{}", one.kind), one.requests.into());
        }
        for one in &figures.statuses {
            let status = one.name.clone().unwrap_or_else(|| one.status.to_string());
            row("operation", &of.name, &format!("status_{status}"), one.answers.into());
        }
    }
    for one in &result.errors_by_kind {
        row("load", "all", &format!("errors_{}", one.kind), one.requests.into());
    }
    for of in &result.timeline {
        let name = format!("{} s to {} s", of.from_s, of.to_s);
        row("interval", &name, "requests", of.requests.into());
        row("interval", &name, "errors", of.errors.into());
        row("interval", &name, "achieved_rate_per_s", of.answered_per_s.into());
        row("interval", &name, "response_ms_p50", of.response_ms_p50.into());
        row("interval", &name, "response_ms_p99", of.response_ms_p99.into());
    }
    for point in &result.response_curve {
        row("curve", &format!("{}", point.percentile), "response_ms", point.ms.into());
    }
    for one in &result.slowest {
        let name = format!("{} at {} s", one.operation.as_deref().unwrap_or_default(), one.at_s);
        row("slowest", &name, "response_ms", one.response_ms.into());
        row("slowest", &name, "service_ms", one.service_ms.into());
    }
    for point in &result.rates {
        let name = format!("{} s to {} s", point.from_s, point.to_s);
        row("rate", &name, "offered_per_s", point.offered_per_s.into());
        row("rate", &name, "achieved_per_s", point.answered_per_s.into());
    }
    for of in &result.injectors {
        row("injector", &of.address, "requests", of.requests.into());
        row("injector", &of.address, "errors", of.errors.into());
        row("injector", &of.address, "send_lag_ms_p99", of.send_lag_ms.p99.into());
        row("injector", &of.address, "cpu_share", of.cpu_share.into());
    }
    data
}

fn percentiles(of: &LatencySummary) -> [(&'static str, Option<f64>); 5] {
    [("p50", of.p50), ("p95", of.p95), ("p99", of.p99), ("p99_9", of.p99_9), ("max", of.max)]
}
