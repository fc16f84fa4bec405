//! Percentiles of the times of a load.

use assay_kit::Table;
use assay_kit::bar_rows::{self, Bar};
use assay_kit::document::Figure;
use assay_kit::page::drawings;
use assay_kit::percentile_curve::{self, PercentileCurve};
use assay_kit::quantity::ms;
use assay_model::{LatencySummary, LoadResult};

/// All times that were measured, each with what it counts from.
fn measured(result: &LoadResult) -> Vec<(&'static str, &LatencySummary)> {
    let mut times = vec![
        ("response time, from the intended start", &result.response_ms),
        ("service time, from the send", &result.service_ms),
        ("delay of the load generator", &result.send_lag_ms),
    ];
    let deliveries = result.deliveries.as_ref().map(|of| ("delivery, from the intended start", &of.ms));
    let handshakes = result.handshakes.as_ref().map(|of| ("TLS handshake, not in a request's time", &of.ms));
    let opening = result.protocol.as_ref().and_then(|of| of.opening_ms.as_ref());
    let opening = opening.map(|of| ("opening a connection, not in a request's time", of));
    let starts = result.session_starts.as_ref();
    let starts = starts.map(|of| ("start of a session, not in a request's time", &of.ms));
    times.extend(starts);
    times.extend(deliveries.into_iter().chain(handshakes).chain(opening));
    times
}

/// Percentiles of every time.
pub fn table(result: &LoadResult) -> Table {
    Table::of("Times by percentile", measured(result))
        .words("Time", |(name, _)| *name)
        .figures("p50", |(_, of)| of.p50.map(ms))
        .figures("p95", |(_, of)| of.p95.map(ms))
        .if_room()
        .figures("p99", |(_, of)| of.p99.map(ms))
        .figures("p99.9", |(_, of)| of.p99_9.map(ms))
        .if_room()
        .figures("Longest", |(_, of)| of.max.map(ms))
        .table()
}

/// The response times as a curve; absent where the result has none.
pub fn curve(result: &LoadResult) -> Option<Figure> {
    let (id, name) = ("response-curve", "Response time by percentile, as a curve");
    let points = result.response_curve.iter().map(|point| (point.percentile, point.ms));
    let curve = PercentileCurve::new("response time", 0, points)?;
    let pictures = drawings(id, |width, id| {
        percentile_curve::draw(std::slice::from_ref(&curve), (width, 0.0), (id, name))
    });
    Some(Figure::new(id, name, pictures).titled().caption(
        "Response time from the intended start to the last byte. Both axes are logarithmic. The lower one \
            shows the share of slower requests: 1 in 100 took longer than the value at 99.",
    ))
}

/// A bar for each percentile of the response time that is known.
pub fn chart(result: &LoadResult) -> Figure {
    let (response, service) = (&result.response_ms, &result.service_ms);
    let percentiles = [
        ("p50", response.p50, service.p50),
        ("p95", response.p95, service.p95),
        ("p99", response.p99, service.p99),
        ("p99.9", response.p99_9, service.p99_9),
        ("longest", response.max, service.max),
    ];
    let bar = |(name, response, service): (&str, Option<f64>, Option<f64>)| {
        let service = service.map_or_else(String::new, |service| format!("; service time {}", ms(service)));
        Some(Bar::whole(name, format!("{}{service}", ms(response?)), response?, "bar s0"))
    };
    let bars: Vec<Bar> = percentiles.into_iter().filter_map(bar).collect();
    let (anchor, name) = ("percentiles-figure", "response time by percentile");
    if bars.is_empty() {
        return Figure::absent(anchor, name, "no request was answered");
    }
    let pictures = drawings("percentiles", |width, id| {
        let title = "Response time by percentile";
        bar_rows::bars(&bars, (Some("response time, ms"), None), width, (id, title))
    });
    Figure::new(anchor, name, pictures).caption(
        "Response time by percentile, from the intended start of a request to the last byte of its answer. Service time \
         counts from the send: what lies between the two is time that requests waited to be sent.",
    )
}
