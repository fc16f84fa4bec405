//! The `[capacity]` table: its mistakes, its defaults, and its method in words.

use crate::file::document::Document;
use crate::file::study::{CapacityTable, DesignTable, Study};
use assay_measure::{budget_s_min, default_budget_s};
use assay_model::{CapacityMethod, Design, Metric, PlannedCapacity};
use std::collections::BTreeMap;

const LIMITS_MS: [f64; 5] = [10.0, 25.0, 50.0, 75.0, 100.0];
/// Most limits, and the longest one.
const LIMITS_MAX: usize = 16;
const LIMIT_MS_MAX: f64 = 600_000.0;

impl CapacityTable {
    /// Each key that `quick` names in its place.
    fn replaced_by(&self, quick: Option<&CapacityTable>) -> CapacityTable {
        let Some(quick) = quick else { return self.clone() };
        let or =
            |quick: &Option<Vec<String>>, own: &Option<Vec<String>>| quick.as_ref().or(own.as_ref()).cloned();
        CapacityTable {
            method: quick.method.or(self.method),
            limits_ms: quick.limits_ms.as_ref().or(self.limits_ms.as_ref()).cloned(),
            operation_limits_ms: quick
                .operation_limits_ms
                .as_ref()
                .or(self.operation_limits_ms.as_ref())
                .cloned(),
            percentile: quick.percentile.or(self.percentile),
            limited_operations: or(&quick.limited_operations, &self.limited_operations),
            budget: quick.budget.or(self.budget),
            connections: quick.connections.or(self.connections),
            users: quick.users.or(self.users),
            in_flight_max: quick.in_flight_max.or(self.in_flight_max),
            threads: quick.threads.or(self.threads),
            count_disturbed: quick.count_disturbed.or(self.count_disturbed),
        }
    }
}

/// The search of a study's trials, or of its short form's; none where they measure windows of load.
pub(crate) fn planned(study: &Study, is_quick: bool) -> Option<PlannedCapacity> {
    let quick = study.quick.as_ref().filter(|_| is_quick).and_then(|q| q.capacity.as_ref());
    let table = study.capacity.as_ref()?.replaced_by(quick);
    let method = table.method.unwrap_or(CapacityMethod::Search);
    let operation_limits_ms = table.operation_limits_ms.unwrap_or_default();
    let limited = table.limited_operations.unwrap_or_default();
    // Without limits of all, those of single operations are all there are.
    let is_usual = operation_limits_ms.is_empty() || !limited.is_empty();
    let limits_ms = table.limits_ms.unwrap_or_else(|| if is_usual { LIMITS_MS.to_vec() } else { Vec::new() });
    let limited_operations = match limits_ms.is_empty() {
        true => operation_limits_ms.keys().cloned().collect(),
        false => limited,
    };
    Some(PlannedCapacity {
        method,
        percentile: table.percentile.unwrap_or(99.0),
        limits_ms,
        operation_limits_ms,
        limited_operations,
        budget_s: table.budget.map_or_else(|| default_budget_s(method), |b| b.0),
        connections: table.connections.unwrap_or(256),
        users: table.users,
        in_flight_max: table.in_flight_max,
        threads: table.threads,
        count_disturbed: table.count_disturbed.unwrap_or(false),
    })
}

/// In words, for plan and report.
pub(crate) fn describe(planned: &PlannedCapacity) -> String {
    let limits = |limits_ms: &[f64]| limits_ms.iter().map(f64::to_string).collect::<Vec<_>>().join(", ");
    let of_all = match planned.limited_operations.as_slice() {
        _ if planned.limits_ms.is_empty() => None,
        [] => Some(format!("is at most {} ms", limits(&planned.limits_ms))),
        names => Some(format!("of {} is at most {} ms", names.join(", "), limits(&planned.limits_ms))),
    };
    let of_one =
        |(name, limits_ms): (&String, &Vec<f64>)| format!("of {name} is at most {} ms", limits(limits_ms));
    let threads = planned.threads.filter(|threads| 1 < *threads);
    let threads = threads.map_or_else(String::new, |threads| format!(", {threads} threads"));
    let keeps: Vec<String> =
        of_all.into_iter().chain(planned.operation_limits_ms.iter().map(of_one)).collect();
    let method = match planned.method {
        CapacityMethod::Search => "search",
        CapacityMethod::Sweep => "sweep",
    };
    format!(
        "{method} for the highest sustained rate and the highest rates at which the {}th percentile of the \
            response time {}, at most about {} s, {} connections{threads}",
        planned.percentile,
        keeps.join(", "),
        planned.budget_s,
        planned.connections
    )
}

/// The metrics of the limits that the study or its short form names.
pub(crate) fn limit_metrics(study: &Study) -> Vec<String> {
    let forms = [planned(study, false), planned(study, true)];
    let limits = forms.into_iter().flatten().flat_map(|planned| planned.limits());
    limits.map(|limit| Metric::rate_at_limit(&limit).id.into_owned()).collect()
}

/// Reports mistakes in the table, and keys that a study of capacities cannot have.
pub(crate) fn check(study: &Study, document: &mut Document) {
    let quick = study.quick.as_ref();
    let Some(table) = &study.capacity else {
        if quick.is_some_and(|q| q.capacity.is_some()) {
            document.add(
                "quick.capacity",
                "the short form replaces keys of [capacity], which the study does not have",
            );
        }
        return;
    };
    check_table("capacity", table, document);
    if let Some(table) = quick.and_then(|q| q.capacity.as_ref()) {
        check_table("quick.capacity", table, document);
        if table.budget.is_some() || table.method.is_some() {
            check_budget("quick.capacity", planned(study, true), document);
        }
        if table.threads.is_some() || table.connections.is_some() {
            check_threads_of("quick.capacity", planned(study, true).as_ref(), document);
        }
    }
    check_budget("capacity", planned(study, false), document);
    check_threads_of("capacity", planned(study, false).as_ref(), document);
    for (place, _) in study.loads() {
        document
            .add(&place, "a study has either [load], whose windows are measured, or [capacity], not both");
    }
    for (place, design) in [("design", Some(&study.design)), ("quick.design", quick.map(|q| &q.design))] {
        design.into_iter().for_each(|design| check_design(place, design, document));
    }
}

fn check_table(place: &str, table: &CapacityTable, document: &mut Document) {
    if let Some(limits_ms) = &table.limits_ms {
        check_limits(&format!("{place}.limits_ms"), "", limits_ms, document);
    }
    let at = format!("{place}.operation_limits_ms");
    for (operation, limits_ms) in table.operation_limits_ms.iter().flatten() {
        check_limits(&at, &format!("{operation}: "), limits_ms, document);
    }
    let all = table.limits_ms.iter().chain(table.operation_limits_ms.iter().flat_map(BTreeMap::values));
    if table.operation_limits_ms.is_some() && LIMITS_MAX < all.map(Vec::len).sum() {
        document.add(&at, format!("with those of all operations, use at most {LIMITS_MAX} limits"));
    }
}

/// Limits of all operations, or of one, whose name stands in front.
fn check_limits(at: &str, of: &str, limits_ms: &[f64], document: &mut Document) {
    if limits_ms.is_empty() || LIMITS_MAX < limits_ms.len() {
        document.add(at, format!("{of}name 1 to {LIMITS_MAX} limits"));
    }
    if let Some(bad) = limits_ms.iter().find(|limit| !(**limit > 0.0 && **limit <= LIMIT_MS_MAX)) {
        document.add(at, format!("{of}a limit of {bad} ms: use more than 0 and at most {LIMIT_MS_MAX} ms"));
    }
    if let Some(pair) = limits_ms.windows(2).find(|pair| pair[1] <= pair[0]) {
        let what = format!("{of}limits go upwards, each once: {} ms stands before {} ms", pair[0], pair[1]);
        document.add(at, what);
    }
}

fn check_threads_of(place: &str, planned: Option<&PlannedCapacity>, document: &mut Document) {
    if let Some(PlannedCapacity { threads, connections, .. }) = planned {
        check_threads(place, *threads, *connections, document);
    }
}

/// Each thread needs a connection.
pub(crate) fn check_threads(place: &str, threads: Option<u32>, connections: u32, document: &mut Document) {
    if let Some(threads) = threads.filter(|threads| connections < *threads) {
        let what =
            format!("{threads} threads share {connections} connections: use at most one thread for each");
        document.add(&format!("{place}.threads"), what);
    }
}

/// The short form may have the method of the long one.
fn check_budget(place: &str, planned: Option<PlannedCapacity>, document: &mut Document) {
    let too_short = |of: &PlannedCapacity| of.budget_s < budget_s_min(of.method);
    let Some(PlannedCapacity { method, budget_s, .. }) = planned.filter(too_short) else { return };
    let method_word = match method {
        CapacityMethod::Search => "search",
        CapacityMethod::Sweep => "sweep",
    };
    let what = format!(
        "{budget_s} s are too short to find anything by a {method_word}: use at least {} s",
        budget_s_min(method)
    );
    document.add(&format!("{place}.budget"), what);
}

fn check_design(place: &str, design: &DesignTable, document: &mut Document) {
    if design.kind == Some(Design::Resident) {
        let what =
            "a capacity takes the whole machine for minutes: use kind = \"fresh\", a process for each trial";
        document.add(&format!("{place}.kind"), what);
    }
    if design.window.is_some() {
        let what = "a capacity has windows of its own: use budget in [capacity], and leave window away";
        document.add(&format!("{place}.window"), what);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn study(capacity: &str, quick: &str) -> Study {
        let text = format!(
            "schema = \"assay.study/1\"\nname = \"x\"\n[capacity]\n{capacity}\n[quick.capacity]\n{quick}"
        );
        toml::from_str(&text).unwrap()
    }

    #[test]
    fn the_short_form_replaces_the_keys_that_it_names() {
        let study = study("limits_ms = [5, 20]\npercentile = 95", "budget = \"30s\"\nlimits_ms = [20]");
        let long = planned(&study, false).unwrap();
        assert_eq!((long.limits_ms, long.percentile, long.budget_s), (vec![5.0, 20.0], 95.0, 300.0));
        let short = planned(&study, true).unwrap();
        assert_eq!((short.limits_ms, short.percentile, short.budget_s), (vec![20.0], 95.0, 30.0));
        let want = ["rate_at_5_ms_per_s", "rate_at_20_ms_per_s", "rate_at_20_ms_per_s"];
        assert_eq!(limit_metrics(&study), want);
    }

    #[test]
    fn limits_of_operations_stand_beside_those_of_all_or_for_themselves() {
        let alone = study("operation_limits_ms = { checkout = [100, 200], \"GET /\" = [50] }", "");
        let planned = planned(&alone, false).unwrap();
        assert_eq!(
            (planned.limits_ms.len(), planned.limited_operations),
            (0, vec!["GET /".to_owned(), "checkout".to_owned()])
        );
        let want =
            ["rate_at_50_ms_per_s/GET /", "rate_at_100_ms_per_s/checkout", "rate_at_200_ms_per_s/checkout"];
        assert_eq!(limit_metrics(&alone)[..3], want);
        let beside = study("limits_ms = [10]\noperation_limits_ms = { checkout = [200] }", "");
        let planned = super::planned(&beside, false).unwrap();
        assert!(planned.limited_operations.is_empty());
        let words = describe(&planned);
        assert!(words.contains("response time is at most 10 ms, of checkout is at most 200 ms"), "{words}");
    }
}
