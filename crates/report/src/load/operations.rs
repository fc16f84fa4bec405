//! Operations of a load: requests, rates and response times of each, and how their requests ended.

use assay_kit::Table;
use assay_kit::number::{count, percent_share, size};
use assay_kit::quantity::{figure, ms};
use assay_kit::text::clean;
use assay_model::{LatencySummary, LoadErrorKind, LoadResult, OperationCount, OperationFigures, StatusCount};

/// A row for each operation.
pub fn table(operations: &[OperationCount]) -> Table {
    let all = operations.iter().map(|of| of.requests).sum::<u64>().max(1) as f64;
    let figures = |of: &&OperationCount| of.figures.clone();
    let time = |of: &&OperationCount, time: fn(&LatencySummary) -> Option<f64>| {
        of.figures.as_ref().and_then(|figures| time(&figures.response_ms)).map(ms)
    };
    Table::of("Requests by operation", operations)
        .words("Operation", |of| clean(&of.name))
        .figures("Requests", |of| count(of.requests))
        .figures("Achieved (requests/s)", move |of| {
            figures(of).and_then(|of| of.achieved_rate_per_s).map(|rate| figure(Some(rate)))
        })
        .called("Per second")
        .if_room()
        .figures("p50", move |of| time(of, |of| of.p50))
        .figures("p95", move |of| time(of, |of| of.p95))
        .if_room()
        .figures("p99", move |of| time(of, |of| of.p99))
        .figures("Longest", move |of| time(of, |of| of.max))
        .if_room()
        .figures("Failed", |of| count(of.errors))
        .figures("Share sent", move |of| percent_share(of.requests as f64 / all))
        .if_room()
        .figures("Share in the scenario", |of| percent_share(of.planned_share))
        .called("Planned")
        .if_room()
        .figures("Bodies received", move |of| figures(of).map(|of| size(of.body_bytes)))
        .called("Bodies")
        .if_room()
        .figures("Redirects", |of| of.redirects.map(count))
        .if_room()
        .table()
}

/// One way in which requests of an operation ended.
struct Ending<'a> {
    operation: &'a str,
    what: String,
    requests: u64,
    failed: u64,
}

/// How the requests of each operation ended: a row for each status, and for each kind of error that is none of a status. Operations of
/// which nothing more is known than how many failed have none.
pub fn endings(result: &LoadResult) -> Table {
    let known = result.operations.iter().filter_map(|of| Some((of.name.as_str(), of.figures.as_ref()?)));
    let decided = known.flat_map(|(name, figures)| endings_of(name, figures));
    Table::of("Status codes and errors by operation", decided.chain(undecided(result)))
        .words("Operation", |of| clean(of.operation))
        .words("Status or error", |of| of.what.clone())
        .figures("Requests", |of| count(of.requests))
        .figures("Failed", |of| count(of.failed))
        .table()
}

fn endings_of<'a>(operation: &'a str, of: &OperationFigures) -> Vec<Ending<'a>> {
    let named = |of: &StatusCount| match &of.name {
        Some(name) => format!("{} ({})", clean(name), of.status),
        None => of.status.to_string(),
    };
    let statuses = of.statuses.iter().map(|of| (named(of), of.answers, of.unexpected));
    let others = of.errors_by_kind.iter().filter(|of| !matches!(of.kind, LoadErrorKind::Status));
    let others = others.map(|of| (error(of.kind).to_owned(), of.requests, of.requests));
    statuses
        .chain(others)
        .map(|(what, requests, failed)| Ending { operation, what, requests, failed })
        .collect()
}

/// Failed requests that never became an operation.
fn undecided(result: &LoadResult) -> Vec<Ending<'static>> {
    let of_operations = |kind| {
        let all = result.operations.iter().filter_map(|of| of.figures.as_ref());
        let counts = all.flat_map(|of| &of.errors_by_kind).filter(|of| of.kind == kind);
        counts.map(|of| of.requests).sum::<u64>()
    };
    let rest =
        result.errors_by_kind.iter().map(|of| (of.kind, of.requests.saturating_sub(of_operations(of.kind))));
    let rest = rest.filter(|(_, requests)| *requests > 0).map(|(kind, requests)| Ending {
        operation: "never decided",
        what: error(kind).to_owned(),
        requests,
        failed: requests,
    });
    rest.collect()
}

/// What went wrong.
fn error(kind: LoadErrorKind) -> &'static str {
    match kind {
        LoadErrorKind::Connect => "no connection",
        LoadErrorKind::Timeout => "timeout",
        LoadErrorKind::OverBound => "too many requests in flight",
        LoadErrorKind::Status => "unexpected status",
        LoadErrorKind::Content => "body without what it must contain",
        LoadErrorKind::Broken => "broken off",
        LoadErrorKind::Other => "another error",
    }
}

/// Server-sent events of the operations whose answers are streams of them.
pub fn events(operations: &[OperationCount]) -> Table {
    let of_streams =
        operations.iter().filter_map(|of| Some((&of.name, of.figures.as_ref()?.events.as_ref()?)));
    Table::of("Server-sent events by operation", of_streams)
        .words("Operation", |(name, _)| clean(name))
        .figures("Events", |(_, of)| count(of.events))
        .figures("Time to the first event, p50", |(_, of)| of.first_event_ms.p50.map(ms))
        .called("First p50")
        .figures("Time to the first event, p99", |(_, of)| of.first_event_ms.p99.map(ms))
        .called("First p99")
        .figures("Gap between events, p50", |(_, of)| of.event_gap_ms.p50.map(ms))
        .called("Gap p50")
        .figures("Gap between events, p99", |(_, of)| of.event_gap_ms.p99.map(ms))
        .called("Gap p99")
        .figures("Longest gap", |(_, of)| of.event_gap_ms.max.map(ms))
        .table()
}

/// The slowest requests.
pub fn slowest(result: &LoadResult) -> Table {
    Table::of("The slowest requests", &result.slowest)
        .words("Operation", |of| of.operation.as_deref().map_or_else(|| "never decided".to_owned(), clean))
        .figures("At (s)", |of| format!("{:.3}", of.at_s))
        .figures("Response time", |of| ms(of.response_ms))
        .figures("Service time", |of| of.service_ms.map(ms))
        .if_room()
        .words("Ended", |of| if of.failed { "failed" } else { "well" })
        .table()
}
