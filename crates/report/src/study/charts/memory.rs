//! Resident memory by area as stacked bars, a row for each variant.

use super::super::grid::{Cell, Grid, Group};
use super::keys::area_key;
use assay_kit::Table;
use assay_kit::bar_rows::{self, Bar};
use assay_kit::chart::{Chart, PANEL_WIDTH, Panel};
use assay_kit::number::{MIB, mib, significant};
use assay_kit::stack::fill_class;
use assay_kit::text;
use assay_model::{Area, AreaBytes, file};

const ID: &str = "memory";
const TITLE: &str = "Resident memory by area";

/// The figure.
pub fn figure(grid: &Grid) -> Chart {
    let measured = |g: &Group| g.cells.iter().any(|c| means(grid, c).is_some());
    if !grid.groups.iter().any(measured) {
        let why =
            "not available: no trial that counts has a full snapshot of its memory after its last window";
        return Chart::absent(ID, TITLE, why);
    }
    let occurring = occurring(grid);
    let groups = grid.groups.iter().enumerate().filter(|(_, g)| measured(g));
    let panels = groups.map(|(index, group)| Panel {
        heading: group.label.clone(),
        svg: panel(grid, group, &format!("{ID}-{index}")),
        narrow: None,
    });
    Chart {
        caption: "Mean of the full snapshots after the last window of each trial that counts. The areas add \
            up to the resident set size of the same snapshot. Each heap size has its own scale."
            .to_owned(),
        notes: not_read(grid),
        key: area_key(|area| occurring.contains(area)),
        panels: panels.collect(),
        tables: vec![table(grid, &occurring)],
        ..Chart::new(ID, TITLE)
    }
}

/// Mean bytes of each of [`Area::ALL`]. A full snapshot knows all areas; of what is not in it there is nothing.
type Means = [f64; Area::ALL.len()];

/// Mean bytes by area of a variant; absent without a full snapshot. Figures from mappings alone are never shown beside it: mappings do
/// not separate malloc's heap from nameless memory.
fn means(grid: &Grid, cell: &Cell) -> Option<Means> {
    let trials = grid.trials(cell.name).filter(|t| t.trial.counts());
    let seen: Vec<&[AreaBytes]> = trials.filter_map(|t| Some(&*t.memory_report.as_ref()?.areas)).collect();
    let mean =
        |area: Area| seen.iter().map(|areas| area.bytes_in(areas) as f64).sum::<f64>() / seen.len() as f64;
    (!seen.is_empty()).then(|| Area::ALL.map(mean))
}

/// Why variants have a dash, for each reason one sentence.
fn not_read(grid: &Grid) -> Vec<String> {
    let mut by_reason: Vec<(String, Vec<String>)> = Vec::new();
    for (_, cell) in grid.cells().filter(|(_, cell)| cell.skipped.is_none() && means(grid, cell).is_none()) {
        let (reason, name) = (why_not_read(grid, cell), text::clean(cell.name));
        match by_reason.iter_mut().find(|(known, _)| *known == reason) {
            Some((_, names)) => names.push(name),
            None => by_reason.push((reason, vec![name])),
        }
    }
    let sentence =
        |(reason, names): (String, Vec<String>)| format!("No figures for {}: {reason}.", names.join(", "));
    by_reason.into_iter().map(sentence).collect()
}

fn why_not_read(grid: &Grid, cell: &Cell) -> String {
    let mut trials = grid.trials(cell.name).filter(|t| t.trial.counts()).peekable();
    if trials.peek().is_none() {
        return "no trial counts".to_owned();
    }
    let mut problems = trials.flat_map(|t| &t.trial.problems);
    let failed = problems.find(|problem| problem.about == file::MEMORY_REPORT);
    let why = failed.map_or_else(|| "its trials have none".to_owned(), |problem| text::clean(&problem.text));
    format!("no full snapshot ({why})")
}

/// Areas that any variant has.
fn occurring(grid: &Grid) -> Vec<Area> {
    let measured: Vec<Means> = grid.cells().filter_map(|(_, cell)| means(grid, cell)).collect();
    let occurs = |index: usize| measured.iter().any(|means| 0.0 < means[index]);
    Area::ALL.into_iter().enumerate().filter(|(index, _)| occurs(*index)).map(|(_, area)| area).collect()
}

fn panel(grid: &Grid, group: &Group, id: &str) -> String {
    let rows: Vec<Bar> = group.cells.iter().map(|cell| row(cell, means(grid, cell))).collect();
    let title = format!("{TITLE}{}", group.place());
    bar_rows::bars(&rows, (Some("resident memory (MiB)"), None), PANEL_WIDTH, (id, &title))
}

fn row(cell: &Cell, areas: Option<Means>) -> Bar {
    let value = match areas {
        Some(areas) => mib(areas.iter().sum()),
        None if cell.skipped.is_some() => "skipped, see below".to_owned(),
        None => "-".to_owned(),
    };
    let part = |(bytes, area): (f64, Area)| {
        let tip = format!("{}, {}: {}", cell.label, area.title(), mib(bytes));
        (bytes / MIB, fill_class(area.look()), tip)
    };
    let parts = areas.into_iter().flat_map(|areas| areas.into_iter().zip(Area::ALL)).map(part);
    Bar { name: cell.label.clone(), value, parts: parts.collect() }
}

fn table(grid: &Grid, occurring: &[Area]) -> Table {
    let cells = grid.cells().filter(|(_, cell)| cell.variant.is_some());
    let shown = |means: &Option<Means>, of: &dyn Fn(&Means) -> f64| {
        means.as_ref().map(|means| significant(of(means) / MIB))
    };
    let rows = cells.map(|(_, cell)| (cell, means(grid, cell)));
    let mut rows = Table::of("Resident memory by area (MiB)", rows)
        .words("Variant", |(cell, _)| text::clean(cell.name))
        .figures("Sum", |(_, means)| shown(means, &|means| means.iter().sum()));
    for (index, area) in Area::ALL.into_iter().enumerate().filter(|(_, area)| occurring.contains(area)) {
        rows = rows.figures(area.title(), |(_, means)| shown(means, &|means| means[index]));
    }
    rows.table()
}
