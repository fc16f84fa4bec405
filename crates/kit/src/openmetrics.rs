//! Families and labels of OpenMetrics text (openmetrics.io, version 1.0).

use crate::text::clean;
use std::fmt::Write as _;

/// Type, unit and help of a family, which is written as name, type and unit.
pub fn head(out: &mut String, (name, kind, unit): (&str, &str, &str), help: &str) {
    let _ = writeln!(out, "# TYPE {name} {kind}");
    if !unit.is_empty() {
        let _ = writeln!(out, "# UNIT {name} {unit}");
    }
    let _ = writeln!(out, "# HELP {name} {help}");
}

/// A family with a sample for each set of labels; nothing without samples.
pub fn family(out: &mut String, of: (&str, &str, &str), help: &str, samples: &[(String, f64)]) {
    let samples: Vec<&(String, f64)> = samples.iter().filter(|(_, value)| value.is_finite()).collect();
    if samples.is_empty() {
        return;
    }
    head(out, of, help);
    let suffix = if of.1 == "counter" { "_total" } else { "" };
    for (labels, value) in samples {
        let labels = if labels.is_empty() { String::new() } else { format!("{{{labels}}}") };
        let _ = writeln!(out, "{}{suffix}{labels} {value}", of.0);
    }
}

/// A label with its value escaped as the standard wants it.
pub fn label(key: &str, value: &str) -> String {
    let escaped = clean(value).replace('\\', "\\\\").replace('"', "\\\"");
    format!("{key}=\"{escaped}\"")
}
