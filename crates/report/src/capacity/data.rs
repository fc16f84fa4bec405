//! The raw figures of a capacity: its rates, and its windows.

use super::lines::{Step, highest_sustained};
use assay_kit::document::{Data, Value};
use assay_model::{CapacityReport, Estimate, LimitRate, OperationCount, metric};

/// A row for each limit, with the operation that it alone holds for, then the critical and the highest rate; at last a row for each
/// operation, with its figures in the window at the highest rate that was sustained. `valid` is `false` where the figures must not be used,
/// and absent where that is not known.
pub fn rates(report: &CapacityReport) -> Data {
    let names = [
        "name",
        "operation",
        "limit_ms",
        "percentile",
        "rate_per_s",
        "rate_low_per_s",
        "rate_high_per_s",
        "last_success_per_s",
        "first_failure_per_s",
        "valid",
    ];
    let mut data = Data::new(names.into_iter().chain(OPERATION_COLUMNS.iter().map(|(name, _)| *name)));
    let mut row = |name: &str, limit: Option<&LimitRate>, rate: Option<Estimate>, tried: [Option<f64>; 2]| {
        let of_rate = [rate.map(|r| r.estimate), rate.and_then(|r| r.low), rate.and_then(|r| r.high)];
        let operation = limit.and_then(|limit| limit.operation.as_deref());
        let limit_ms = limit.map(|limit| limit.limit_ms);
        let first = [name.into(), operation.into(), limit_ms.into(), limit.map(|_| report.percentile).into()];
        let figures = of_rate.into_iter().chain(tried).map(Value::from);
        let of_operation = OPERATION_COLUMNS.iter().map(|_| Value::Absent);
        data.push(first.into_iter().chain(figures).chain([report.valid.into()]).chain(of_operation));
    };
    for limit in &report.limits {
        let tried = [limit.last_success_per_s, limit.first_failure_per_s];
        row("limit", Some(limit), limit.rate_per_s, tried);
    }
    row("critical", None, report.critical_rate_per_s, [None; 2]);
    row("max", None, report.max_rate_per_s, [None; 2]);
    for (rate_per_s, of) in operations_at_most(report) {
        let first = ["operation".into(), of.name.as_str().into(), Value::Absent, Value::Absent];
        let absent = [Value::Absent, Value::Absent, Value::Absent, Value::Absent];
        let rate = [Value::from(rate_per_s)].into_iter().chain(absent).chain([report.valid.into()]);
        let figures = OPERATION_COLUMNS.iter().map(|(_, value)| value(of));
        data.push(first.into_iter().chain(rate).chain(figures));
    }
    data
}

/// Each operation in the window at the highest rate that was sustained, with that rate.
fn operations_at_most(report: &CapacityReport) -> impl Iterator<Item = (f64, &OperationCount)> {
    let most = highest_sustained(report);
    most.into_iter()
        .flat_map(|(window, step)| window.operations.iter().map(move |of| (step.offered_rate_per_s, of)))
}

/// A column of the windows: its name, and its value.
type Column = (&'static str, fn(Step) -> Value);

/// The columns, in order; misses of each limit and why a window was left out follow.
const COLUMNS: [Column; 24] = [
    ("step", |(_, s)| s.step.to_string().into()),
    ("start_monotonic_ns", |(w, _)| w.start_monotonic_ns.into()),
    ("cool_down_s", |(_, s)| s.cool_down_s.into()),
    ("settle_s", |(_, s)| s.settle_s.into()),
    ("window_s", |(w, _)| w.seconds().into()),
    ("offered_rate_per_s", |(_, s)| s.offered_rate_per_s.into()),
    ("sent_rate_per_s", |(_, s)| s.sent_rate_per_s.into()),
    ("achieved_rate_per_s", |(w, _)| w.achieved_rate_per_s().into()),
    ("requests", |(w, _)| w.requests.into()),
    ("errors", |(w, _)| w.errors.into()),
    ("response_ms_min", |(_, s)| Value::from(s.response_ms_min)),
    ("response_ms_p50", |(w, _)| Value::from(w.response_ms.p50)),
    ("response_ms_p90", |(_, s)| Value::from(s.response_ms_p90)),
    ("response_ms_p95", |(w, _)| Value::from(w.response_ms.p95)),
    ("response_ms_p99", |(w, _)| Value::from(w.response_ms.p99)),
    ("response_ms_p99_9", |(w, _)| Value::from(w.response_ms.p99_9)),
    ("response_ms_max", |(w, _)| Value::from(w.response_ms.max)),
    ("limited_ms", |(_, s)| Value::from(s.limited_ms)),
    ("send_lag_ms_p99", |(w, _)| Value::from(w.send_lag_ms.p99)),
    ("generator_cpu_share", |(w, _)| Value::from(w.generator_cpu_share)),
    ("server_cpu_ms", |(w, _)| Value::from(w.metrics.get(metric::CPU_MS_PER_REQUEST).copied())),
    ("machine_arithmetic_ns", |(w, _)| Value::from(w.machine.and_then(|m| m.arithmetic_ns))),
    ("machine_memory_ns", |(w, _)| Value::from(w.machine.map(|m| m.memory_ns))),
    ("is_sustained", |(_, s)| s.is_sustained.into()),
];

/// A column of an operation: its name, and its value. In the windows it names the operation: `response_ms_p99{operation=buy}`.
type OperationColumn = (&'static str, fn(&OperationCount) -> Value);
const OPERATION_COLUMNS: [OperationColumn; 6] = [
    ("requests", |of| of.requests.into()),
    ("errors", |of| of.errors.into()),
    ("response_ms_p50", |of| of.figures.as_ref().and_then(|of| of.response_ms.p50).into()),
    ("response_ms_p95", |of| of.figures.as_ref().and_then(|of| of.response_ms.p95).into()),
    ("response_ms_p99", |of| of.figures.as_ref().and_then(|of| of.response_ms.p99).into()),
    ("response_ms_max", |of| of.figures.as_ref().and_then(|of| of.response_ms.max).into()),
];

/// A row for each window, with a column of misses for each limit, those of each of several operations, and why it was left out at the end.
pub fn windows(report: &CapacityReport) -> Data {
    let limits = report.limits.iter().map(|limit| {
        let of = limit.operation.as_ref().map_or_else(String::new, |of| format!("{{operation={of}}}"));
        format!("misses_{}_ms{of}", limit.limit_ms)
    });
    let names = COLUMNS.iter().map(|(name, _)| (*name).to_owned());
    let operations = operations(report);
    let of_operations = operations.iter().flat_map(|operation| {
        OPERATION_COLUMNS.iter().map(move |(name, _)| format!("{name}{{operation={operation}}}"))
    });
    let names = ["window".to_owned()].into_iter().chain(names).chain(limits);
    let names = names.chain(of_operations).chain(["left_out".to_owned()]);
    let mut data = Data::new(names);
    for (number, (window, step)) in (1_usize..).zip(report.steps()) {
        let mut row = vec![Value::from(number)];
        row.extend(COLUMNS.iter().map(|(_, value)| value((window, step))));
        row.extend((0..report.limits.len()).map(|index| Value::from(step.misses.get(index).copied())));
        row.extend(operations.iter().flat_map(|name| {
            let of = window.operations.iter().find(|of| of.name == *name);
            OPERATION_COLUMNS.iter().map(move |(_, value)| of.map_or(Value::Absent, value))
        }));
        row.push(window.left_out().join("; ").into());
        data.push(row);
    }
    data
}

/// Names of the operations, where there are several.
fn operations(report: &CapacityReport) -> Vec<&str> {
    let first = report.windows.first().map_or(&[][..], |window| &window.operations);
    if first.len() > 1 { first.iter().map(|of| of.name.as_str()).collect() } else { Vec::new() }
}
