//! What the GC logs of the trials say, by variant, and by role where JVMs beside the server wrote logs too.

use super::grid::Grid;
use assay_kit::text::clean;
use assay_kit::{Cell, Table};
use assay_model::{GcReport, StoredTrial, file};

/// Figures and findings of each variant whose GC logs were analysed; empty where none was.
pub fn tables(grid: &Grid) -> Vec<Table> {
    let has_roles = grid.run.trials.iter().any(|stored| !stored.gc_beside.is_empty());
    let process: &[&str] = if has_roles { &["Process"] } else { &[] };
    let behind = ["In", "Severity", "Finding", "Evidence", "What to do"];
    let mut figures = Table::new(
        "GC logs, over the whole of each trial, warm-up included",
        &[&["Variant"], process, &["Trial"]].concat(),
        1 + process.len(),
    );
    let mut findings =
        Table::new("Findings in the GC logs", &[&["Variant"], process, &behind[..]].concat(), 9);
    for (_, cell) in grid.cells() {
        for role in roles(grid, cell.name) {
            let read: Vec<(&StoredTrial, &GcReport)> =
                grid.trials(cell.name).filter_map(|t| Some((t, report_of(t, &role)?))).collect();
            let Some((shown, report)) = read.iter().rfind(|(t, _)| t.trial.counts()).or_else(|| read.last())
            else {
                continue;
            };
            let mut name = vec![clean(cell.name)];
            name.extend(has_roles.then(|| clean(&role)));
            let (of_log, _) = crate::gc::digest(report);
            if figures.rows.is_empty() {
                let headings = of_log.iter().map(|(name, _)| *name);
                figures.add_figures(headings);
            }
            let of_log = of_log.into_iter().map(|(_, value)| value);
            let row =
                name.iter().cloned().chain([shown.trial.number.to_string()]).map(Cell::from).chain(of_log);
            figures.push(row);
            for (trials, [_, severity, claim, evidence, to_do]) in by_rule(&read) {
                let of_all = assay_kit::number::counted(read.len() as u64, "trial", "trials");
                let found = [format!("{trials} of {of_all}"), severity, claim, evidence, to_do];
                findings.push(name.clone().into_iter().chain(found));
            }
        }
    }
    [figures, findings].into_iter().filter(|table| !table.rows.is_empty()).collect()
}

/// The processes of a variant that wrote a log, the server first.
fn roles(grid: &Grid, variant: &str) -> Vec<String> {
    let mut roles = vec![file::SERVER.to_owned()];
    for of_process in grid.trials(variant).flat_map(|t| &t.gc_beside) {
        if !roles.contains(&of_process.role) {
            roles.push(of_process.role.clone());
        }
    }
    roles
}

fn report_of<'a>(stored: &'a StoredTrial, role: &str) -> Option<&'a GcReport> {
    let beside = || stored.gc_beside.iter().find(|of| of.role == role).map(|of| &of.report);
    if role == file::SERVER { stored.gc_report.as_ref() } else { beside() }
}

/// Each rule's finding as the last trial has it, with the number of trials that have it; in the order of the last trials.
fn by_rule(read: &[(&StoredTrial, &GcReport)]) -> Vec<(usize, [String; 5])> {
    let mut found: Vec<(usize, [String; 5])> = Vec::new();
    for (_, report) in read.iter().rev() {
        let mut seen: Vec<String> = Vec::new();
        for finding in crate::gc::digest(report).1 {
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
