//! What the GC logs of the trials say, by variant.

use super::grid::Grid;
use super::inserts::Inserts;
use assay_kit::Table;
use assay_kit::text::clean;
use assay_model::{GcReport, StoredTrial};

/// Figures and findings of each variant whose GC logs were analysed; empty where none was.
pub fn tables(grid: &Grid, inserts: &Inserts) -> Vec<Table> {
    let mut figures =
        Table::new("GC logs, over the whole of each trial, warm-up included", &["Variant", "Trial"], 1);
    let columns = ["Variant", "In", "Severity", "Finding", "Evidence", "What to change"];
    let mut findings = Table::new("Findings in the GC logs", &columns, 9);
    for (_, cell) in grid.cells() {
        let read: Vec<(&StoredTrial, &GcReport)> =
            grid.trials(cell.name).filter_map(|t| Some((t, t.gc_report.as_ref()?))).collect();
        let Some((shown, report)) = read.iter().rfind(|(t, _)| t.trial.counts()).or_else(|| read.last())
        else {
            continue;
        };
        let name = clean(cell.name);
        let (of_log, _) = (inserts.gc_digest)(report);
        if figures.rows.is_empty() {
            figures.columns.extend(of_log.iter().map(|(name, _)| (*name).to_owned()));
        }
        let mut row = vec![name.clone(), shown.trial.number.to_string()];
        row.extend(of_log.into_iter().map(|(_, value)| value));
        figures.rows.push(row);
        for (trials, [_, severity, claim, evidence, change]) in by_rule(&read, inserts) {
            let within =
                format!("{trials} of {}", assay_kit::number::counted(read.len() as u64, "trial", "trials"));
            findings.rows.push(vec![name.clone(), within, severity, claim, evidence, change]);
        }
    }
    [figures, findings].into_iter().filter(|table| !table.rows.is_empty()).collect()
}

/// Each rule's finding as the last trial has it, with the number of trials that have it; in the order of the last trials.
fn by_rule(read: &[(&StoredTrial, &GcReport)], inserts: &Inserts) -> Vec<(usize, [String; 5])> {
    let mut found: Vec<(usize, [String; 5])> = Vec::new();
    for (_, report) in read.iter().rev() {
        let mut seen: Vec<String> = Vec::new();
        for finding in (inserts.gc_digest)(report).1 {
            if seen.contains(&finding[0]) {
                continue;
            }
            seen.push(finding[0].clone());
            match found.iter_mut().find(|(_, known)| known[0] == finding[0]) {
                Some((trials, _)) => *trials += 1,
                None => found.push((1, finding)),
            }
        }
    }
    found
}
