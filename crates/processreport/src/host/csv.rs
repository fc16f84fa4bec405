//! What rules say of a machine as CSV, and what differs between two: a row for each.

use assay_kit::csv_rows::{Rows, whole};
use assay_model::{HostComparison, HostReport};
use std::io::{self, Write};

/// A row for each rule and JVM that it was applied to, whatever it says.
///
/// # Errors
/// Those of the writer.
pub fn check(report: &HostReport, out: &mut dyn Write) -> io::Result<()> {
    let columns =
        ["rule", "verdict", "severity", "pid", "program", "value", "claim", "change", "alternatives"];
    let mut rows = Rows::new(out, columns)?;
    for ruling in &report.rulings {
        let finding = &ruling.finding;
        let alternatives = finding.ways().skip(1).collect::<Vec<_>>().join("; ");
        rows.row([
            finding.rule.word(),
            ruling.verdict.word(),
            finding.severity.word(),
            &whole(ruling.pid),
            ruling.program.as_deref().unwrap_or_default(),
            ruling.value.as_deref().unwrap_or_default(),
            &finding.claim,
            finding.command(),
            &alternatives,
        ])?;
    }
    rows.end()
}

/// A row for each difference in machine, verdicts and settings.
///
/// # Errors
/// Those of the writer.
pub fn comparison(comparison: &HostComparison, out: &mut dyn Write) -> io::Result<()> {
    let mut rows = Rows::new(out, ["about", "name", "before", "after"])?;
    for change in &comparison.rulings {
        let [before, after] = change.verdicts.map(|verdict| verdict.word());
        rows.row(["verdict", change.rule.word(), before, after])?;
    }
    for (about, changes) in [("machine", &comparison.machine), ("setting", &comparison.settings)] {
        for change in changes {
            let [before, after] = change.values.each_ref().map(|value| value.as_deref().unwrap_or_default());
            rows.row([about, &change.name, before, after])?;
        }
    }
    rows.end()
}
