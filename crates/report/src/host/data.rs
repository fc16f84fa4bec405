//! The raw figures of a check and of a comparison.

use assay_kit::document::{Data, Value};
use assay_model::{HostComparison, HostReport, HostRuling};

/// A column: its name, and its value of a ruling.
type Column = (&'static str, fn(&HostRuling) -> Value);

/// A row for each rule and JVM that it was applied to, whatever it says.
pub fn check(report: &HostReport) -> Data {
    let columns: [Column; 9] = [
        ("rule", |r| r.finding.rule.word().into()),
        ("verdict", |r| r.verdict.word().into()),
        ("severity", |r| r.finding.severity.word().into()),
        ("pid", |r| r.pid.into()),
        ("program", |r| r.program.clone().into()),
        ("value", |r| r.value.clone().into()),
        ("claim", |r| r.finding.claim.clone().into()),
        ("change", |r| r.finding.command().into()),
        ("alternatives", |r| r.finding.ways().skip(1).collect::<Vec<_>>().join("; ").into()),
    ];
    Data::of(&report.rulings, columns)
}

/// A row for each difference in machine, verdicts and settings.
pub fn comparison(comparison: &HostComparison) -> Data {
    let mut data = Data::new(["about", "name", "before", "after"]);
    for change in &comparison.rulings {
        let [before, after] = change.verdicts.map(|verdict| verdict.word());
        data.push(["verdict", change.rule.word(), before, after]);
    }
    for (about, changes) in [("machine", &comparison.machine), ("setting", &comparison.settings)] {
        for change in changes {
            let [before, after] = change.values.each_ref().map(|value| Value::from(value.clone()));
            data.push([about.into(), change.name.clone().into(), before, after]);
        }
    }
    data
}
