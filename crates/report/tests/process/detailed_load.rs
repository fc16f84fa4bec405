//! A load with everything that is measured by operation and over time, made of one that has none of it.

use assay_model::{
    ErrorCount, LatencyPoint, LatencySummary, LoadErrorKind, LoadInterval, LoadResult, OperationCount,
    OperationFigures, SlowestRequest, StatusCount,
};

/// A load of two operations of which one fails now and then, with all that is measured by operation and over time.
pub fn detailed(stored: LoadResult) -> LoadResult {
    let figures =
        |p50: f64, statuses: &[(u16, u64, u64)], errors: &[(LoadErrorKind, u64)]| OperationFigures {
            achieved_rate_per_s: Some(p50),
            response_ms: LatencySummary {
                p50: Some(p50),
                p95: Some(2.0 * p50),
                p99: Some(3.0 * p50),
                p99_9: None,
                max: Some(12_345.0),
            },
            errors_by_kind: errors.iter().map(|&(kind, requests)| ErrorCount { kind, requests }).collect(),
            statuses: statuses
                .iter()
                .map(|&(status, answers, unexpected)| StatusCount { status, name: None, answers, unexpected })
                .collect(),
            body_bytes: 5_000_000,
            events: None,
        };
    let errors = [(LoadErrorKind::Timeout, 3), (LoadErrorKind::Status, 20)];
    let buy = OperationCount {
        requests: 1_000,
        errors: 23,
        figures: Some(figures(40.0, &[(200, 977, 0), (503, 20, 20)], &errors)),
        ..OperationCount::planned("buy <now>", 0.5)
    };
    let browse = OperationCount {
        requests: 1_005,
        figures: Some(figures(4.5, &[(200, 1_005, 0)], &[])),
        ..OperationCount::planned("browse", 0.5)
    };
    let interval = |second: u32| LoadInterval {
        from_s: second.into(),
        to_s: f64::from(second + 1),
        requests: 100,
        errors: u64::from(second % 7),
        answered_per_s: 100.0 - f64::from(second % 7),
        response_ms_p50: (second != 5).then(|| 4.0 + f64::from(second)),
        response_ms_p99: (second != 5).then(|| 40.0 * f64::from(second + 1)),
    };
    let slow = |at_s: f64| SlowestRequest {
        operation: Some("buy <now>".to_owned()),
        at_s,
        response_ms: 12_345.0 - at_s,
        service_ms: (at_s > 1.0).then_some(200.0),
        failed: at_s < 2.0,
    };
    LoadResult {
        requests: 2_006,
        errors: 24,
        errors_by_kind: [errors.as_slice(), &[(LoadErrorKind::OverBound, 1)]]
            .concat()
            .into_iter()
            .map(|(kind, requests)| ErrorCount { kind, requests })
            .collect(),
        operations: vec![buy, browse],
        timeline: (0..20).map(interval).collect(),
        response_curve: (1..40)
            .map(|at| LatencyPoint { percentile: 100.0 * (1.0 - 0.9_f64.powi(at)), ms: f64::from(at * at) })
            .collect(),
        slowest: (0..8).map(|at| slow(f64::from(at))).collect(),
        ..stored
    }
}
