//! From the results of a benchmark program to metrics: JMH's JSON (`-rf json`), format of JMH 1.9 to 1.37.
//!
//! A list of results. The reader takes from each `benchmark` (class and method with their package), `params`, `primaryMetric` with
//! its unit and the scores of all forks and iterations (`rawData`), and three of the `secondaryMetrics`. JMH writes numbers
//! that it does not have as the texts "NaN" and "Infinity". The file is the benchmark program's, so sizes, numbers and names
//! are bounded, and what cannot be used is reported.

use assay_model::{Problem, file, metric};
use serde::Deserialize;
use std::collections::BTreeMap;
use std::io::Read;
use std::ops::RangeInclusive;
use std::path::Path;

/// Largest file: results of a thousand benchmarks with a hundred iterations have 5 MB.
const FILE_BYTES_MAX: u64 = 64 << 20;
/// Most results of one launch: each becomes a column of the report.
const RESULTS_MAX: usize = 500;
/// Longest name of a benchmark with its parameters.
const NAME_CHARS_MAX: usize = 200;
/// Plausible times per operation, nanoseconds: from a fraction of a cycle to a day.
const NS_PER_OP: RangeInclusive<f64> = 1e-6..=8.64e13;
/// Possible shares.
const PERCENT: RangeInclusive<f64> = 0.0..=100.0;
/// Possible numbers of bytes: to the largest that is exact.
const BYTES: RangeInclusive<f64> = 0.0..=9.0e15;

/// Secondary metrics that become ours: JMH's name, unit, and the kind of metric.
/// `gc.alloc.rate.norm` is of JMH's `-prof gc` (with a dot before it until JMH 1.36), the others of `workloads/probes-jmh` and of the probes
const SECONDARY: [(&str, &str, &str, &RangeInclusive<f64>); 5] = [
    ("gc.alloc.rate.norm", "B/op", metric::ALLOCATED_BYTES_PER_OP, &BYTES),
    ("·gc.alloc.rate.norm", "B/op", metric::ALLOCATED_BYTES_PER_OP, &BYTES),
    ("live_bytes", "B", metric::LIVE_BYTES, &BYTES),
    ("cpu_ns_per_op", "ns/op", metric::CPU_NS_PER_OP, &NS_PER_OP),
    ("busiest_softirq_percent", "%", metric::BUSIEST_SOFTIRQ_PERCENT, &PERCENT),
];

#[derive(Deserialize)]
struct JmhResult {
    benchmark: String,
    #[serde(default)]
    params: BTreeMap<String, String>,
    #[serde(rename = "primaryMetric")]
    primary: JmhMetric,
    #[serde(rename = "secondaryMetrics", default)]
    secondary: BTreeMap<String, JmhMetric>,
}

#[derive(Deserialize)]
struct JmhMetric {
    #[serde(rename = "scoreUnit")]
    unit: String,
    /// By fork, by iteration.
    #[serde(rename = "rawData", default)]
    raw: Vec<Vec<serde_json::Value>>,
}

/// Values by metric identifier, and what could not be used.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Results {
    pub metrics: BTreeMap<String, f64>,
    /// Benchmarks that gave a time.
    pub benchmarks: usize,
    pub problems: Vec<Problem>,
}

/// Reads a results file.
///
/// # Errors
/// Why there are no results at all.
pub(crate) fn read(path: &Path) -> Result<Results, String> {
    let mut text = Vec::new();
    let read = std::fs::File::open(path).and_then(|f| f.take(FILE_BYTES_MAX + 1).read_to_end(&mut text));
    match read {
        Err(e) => Err(format!("the benchmark program wrote no {{results}}: {e}")),
        Ok(size) if FILE_BYTES_MAX < size as u64 => {
            Err(format!("{{results}} is larger than {FILE_BYTES_MAX} bytes"))
        }
        Ok(_) => parse(&text),
    }
}

fn parse(text: &[u8]) -> Result<Results, String> {
    let read: Vec<JmhResult> =
        serde_json::from_slice(text).map_err(|e| format!("{{results}} is not JMH's JSON (-rf json): {e}"))?;
    let mut results = Results::default();
    if RESULTS_MAX < read.len() {
        results.report(format!("{} results, only the first {RESULTS_MAX} are used", read.len()));
    }
    let used = &read[..read.len().min(RESULTS_MAX)];
    for (name, result) in names(used).iter().zip(used) {
        results.add_result(name, result);
    }
    if results.benchmarks == 0 {
        let why = results.problems.first().map_or_else(|| "the list is empty".to_owned(), |p| p.text.clone());
        return Err(format!("{{results}} hold no benchmark that can be used: {why}"));
    }
    Ok(results)
}

impl Results {
    fn report(&mut self, what: String) {
        self.problems.push(Problem::new(file::BENCHMARK, what));
    }

    fn add_result(&mut self, name: &str, result: &JmhResult) {
        let unit = &result.primary.unit;
        match ns_of(unit) {
            Some(ns) => {
                let is_added = self.add(metric::NS_PER_OP, name, mean(&result.primary).map(|m| m * ns), &NS_PER_OP);
                self.benchmarks += usize::from(is_added);
            }
            None => self.report(format!(
                "ns_per_op/{name}: its unit {} is not a time per operation: use JMH's modes avgt or ss (-bm avgt)",
                shortened(unit, 20)
            )),
        }
        for (label, unit, kind, range) in SECONDARY {
            if let Some(metric) = result.secondary.get(label).filter(|metric| metric.unit == unit) {
                self.add(kind, name, mean(metric), range);
            }
        }
    }

    /// Adds a value if it is plausible; returns whether it did.
    fn add(&mut self, kind: &str, name: &str, value: Option<f64>, range: &RangeInclusive<f64>) -> bool {
        let id = format!("{kind}/{name}");
        match value.filter(|value| range.contains(value)) {
            None => self.report(format!("{id}: its raw data hold no scores, or such as cannot be")),
            Some(_) if self.metrics.contains_key(&id) => {
                self.report(format!("{id}: there are two results of this name; the first is used"));
            }
            Some(value) => {
                self.metrics.insert(id, value);
                return true;
            }
        }
        false
    }
}

/// Nanoseconds of a unit of time per operation.
fn ns_of(unit: &str) -> Option<f64> {
    Some(match unit {
        "ns/op" => 1.0,
        "us/op" => 1e3,
        "ms/op" => 1e6,
        "s/op" => 1e9,
        "min/op" => 60e9,
        _ => return None,
    })
}

/// Mean over all iterations of all forks; none if one of them is not a number.
fn mean(metric: &JmhMetric) -> Option<f64> {
    let scores: Option<Vec<f64>> = metric.raw.iter().flatten().map(serde_json::Value::as_f64).collect();
    let scores = scores.filter(|scores| !scores.is_empty())?;
    Some(scores.iter().sum::<f64>() / scores.len() as f64)
}

/// Class and method with the parameters, `PointerChase.follow(nodes=8192)`; with the packages where two would be the same.
fn names(results: &[JmhResult]) -> Vec<String> {
    let short = |result: &JmhResult| {
        let mut parts = result.benchmark.rsplit('.');
        match (parts.next(), parts.next()) {
            (Some(method), Some(class)) => format!("{class}.{method}"),
            _ => result.benchmark.clone(),
        }
    };
    let mut packages: BTreeMap<String, &str> = BTreeMap::new();
    let mut is_ambiguous = false;
    for result in results {
        let known = packages.entry(short(result)).or_insert(&result.benchmark);
        is_ambiguous |= *known != result.benchmark;
    }
    let name = |result: &JmhResult| {
        let name = if is_ambiguous { result.benchmark.clone() } else { short(result) };
        let params: Vec<String> = result.params.iter().map(|(key, value)| format!("{key}={value}")).collect();
        let params = if params.is_empty() { String::new() } else { format!("({})", params.join(",")) };
        shortened(&(name + &params), NAME_CHARS_MAX)
    };
    results.iter().map(name).collect()
}

/// Without control characters, and cut to its longest allowed length.
fn shortened(text: &str, chars_max: usize) -> String {
    text.chars().filter(|c| !c.is_control()).take(chars_max).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn result(benchmark: &str, unit: &str, raw: &str) -> String {
        format!(
            r#"{{"jmhVersion": "1.37", "benchmark": "{benchmark}", "mode": "avgt", "params": {{"nodes": "8192"}},
            "primaryMetric": {{"score": 1.0, "scoreError": "NaN", "scoreUnit": "{unit}", "rawData": {raw}}},
            "secondaryMetrics": {{"live_bytes": {{"scoreUnit": "B", "rawData": [[64.0, 64.0]]}}}}}}"#
        )
    }

    #[test]
    fn the_value_is_the_mean_over_all_forks_and_iterations_in_nanoseconds() {
        let text = format!("[{}]", result("a.b.Chase.follow", "us/op", "[[1.0, 2.0], [6.0]]"));
        let results = parse(text.as_bytes()).unwrap();
        let want =
            [("live_bytes/Chase.follow(nodes=8192)", 64.0), ("ns_per_op/Chase.follow(nodes=8192)", 3000.0)];
        assert_eq!(results.metrics, want.map(|(id, value)| (id.to_owned(), value)).into());
        assert_eq!((results.benchmarks, results.problems.len()), (1, 0));
    }

    #[test]
    fn benchmarks_of_the_same_class_name_keep_their_packages() {
        let two = [result("a.X.run", "ns/op", "[[1]]"), result("b.X.run", "ns/op", "[[2]]")].join(",");
        let results = parse(format!("[{two}]").as_bytes()).unwrap();
        assert_eq!(results.metrics["ns_per_op/b.X.run(nodes=8192)"], 2.0);
        assert_eq!(results.benchmarks, 2);
        let same = [result("a.X.run", "ns/op", "[[1]]"), result("a.X.run", "ns/op", "[[2]]")].join(",");
        let results = parse(format!("[{same}]").as_bytes()).unwrap();
        assert_eq!((results.metrics["ns_per_op/X.run(nodes=8192)"], results.problems.len()), (1.0, 2));
    }

    #[test]
    fn what_cannot_be_used_is_told_and_the_rest_is_used() {
        let good = result("a.X.run", "ns/op", "[[1]]");
        for (unit, raw, why) in [
            ("ops/s", "[[1]]", "is not a time per operation"),
            ("ns/op", "[]", "no scores"),
            ("ns/op", r#"[[1, "NaN"]]"#, "no scores"),
            ("ns/op", "[[-1]]", "cannot be"),
            ("ns/op", "[[1e300]]", "cannot be"),
            ("s/op", "[[1e300, 1e308]]", "cannot be"),
        ] {
            let bad = result("a.Y.run", unit, raw);
            let results = parse(format!("[{good},{bad}]").as_bytes()).unwrap();
            assert_eq!(results.benchmarks, 1, "{unit} {raw}");
            assert!(
                results.problems.iter().any(|p| p.text.contains(why)),
                "{unit} {raw}: {:?}",
                results.problems
            );
            assert!(parse(format!("[{bad}]").as_bytes()).unwrap_err().contains(why), "{unit} {raw}");
        }
    }

    #[test]
    fn hostile_files_give_an_error_and_long_names_are_cut() {
        let deep = "[".repeat(100_000);
        for text in ["", "{}", "[", "[1]", "[{}]", "null", "[]", deep.as_str(), "\u{0}"] {
            assert!(parse(text.as_bytes()).is_err());
        }
        let long = "x".repeat(100_000);
        let text = format!("[{}]", result(&format!("a.{long}.run\\n\\u0007"), "ns/op", "[[1]]"));
        let results = parse(text.as_bytes()).unwrap();
        assert!(results.metrics.keys().all(|id| id.chars().count() < 300 && !id.contains('\n')));
        let many: Vec<String> =
            (0..RESULTS_MAX + 5).map(|i| result(&format!("a.X.r{i}"), "ns/op", "[[1]]")).collect();
        let results = parse(format!("[{}]", many.join(",")).as_bytes()).unwrap();
        assert_eq!((results.benchmarks, results.problems.len()), (RESULTS_MAX, 1));
        let folder = tempfile::tempdir().unwrap();
        assert!(read(&folder.path().join("none")).unwrap_err().contains("wrote no {results}"));
    }
}
