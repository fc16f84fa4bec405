//! Resident memory by area as stacked bars, a row for each variant.

use super::super::grid::{Cell, Grid, Group};
use super::keys::area_key;
use assay_kit::Table;
use assay_kit::bar_rows::{self, Bar};
use assay_kit::figure::{Figure, PANEL_WIDTH, Panel};
use assay_kit::number::{MIB, mib, significant};
use assay_kit::stack::fill_class;
use assay_kit::text;
use assay_model::{Area, Metric, Window, metric};

const ID: &str = "memory";
const TITLE: &str = "Resident memory by area";

/// The figure.
pub fn figure(grid: &Grid) -> Figure {
    let measured = |g: &Group| g.cells.iter().any(|c| at_window_ends(grid, c).is_some());
    if !grid.groups.iter().any(measured) {
        return Figure::absent(
            ID,
            TITLE,
            "not available: no trial has memory samples inside a window that counts",
        );
    }
    let occurring = occurring(grid);
    let groups = grid.groups.iter().enumerate().filter(|(_, g)| measured(g));
    let panels = groups.map(|(index, group)| Panel {
        heading: group.label.clone(),
        svg: panel(grid, group, &format!("{ID}-{index}")),
        narrow: None,
    });
    Figure {
        caption: "Mean over the windows that count of the last sample of each; the areas add up to the resident set \
                  size of the same scan. From /proc/PID/smaps and the heap range in the JVM's log. Each heap size has its own scale."
            .to_owned(),
        key: area_key(|area| occurring.contains(area)),
        panels: panels.collect(),
        tables: vec![table(grid)],
        ..Figure::new(ID, TITLE)
    }
}

/// Mean bytes of each of [`Area::ALL`].
type Means = [f64; Area::ALL.len()];

/// Mean bytes by area over the counting windows' last samples.
fn at_window_ends(grid: &Grid, cell: &Cell) -> Option<Means> {
    let mut sums = [0.0; Area::ALL.len()];
    let mut samples = 0u32;
    for stored in grid.trials(cell.name).filter(|t| t.trial.counts()) {
        let counts = |w: &&Window| Metric::by_id(metric::RSS_BYTES).is_some_and(|rss| w.counts_for(&rss));
        for window in stored.trial.windows.iter().filter(counts) {
            let inside = window.start_monotonic_ns..=window.end_monotonic_ns;
            let Some(last) = stored.memory.iter().rfind(|s| inside.contains(&s.monotonic_ns)) else {
                continue;
            };
            samples += 1;
            for (sum, area) in sums.iter_mut().zip(Area::ALL) {
                *sum += area.bytes_in(&last.areas) as f64;
            }
        }
    }
    (samples > 0).then(|| sums.map(|s| s / f64::from(samples)))
}

/// Areas that any variant has.
fn occurring(grid: &Grid) -> Vec<Area> {
    let measured: Vec<Means> = grid.cells().filter_map(|(_, cell)| at_window_ends(grid, cell)).collect();
    let occurs = |index: usize| measured.iter().any(|means| means[index] > 0.0);
    Area::ALL.into_iter().enumerate().filter(|(index, _)| occurs(*index)).map(|(_, area)| area).collect()
}

fn panel(grid: &Grid, group: &Group, id: &str) -> String {
    let rows: Vec<Bar> = group.cells.iter().map(|cell| row(cell, at_window_ends(grid, cell))).collect();
    let title = format!("{TITLE}{}", group.place());
    bar_rows::bars(&rows, (Some("resident memory (MiB)"), None), PANEL_WIDTH, (id, &title))
}

fn row(cell: &Cell, areas: Option<Means>) -> Bar {
    let value = match areas {
        Some(areas) => mib(areas.iter().sum()),
        None if cell.skipped.is_some() => "skipped, see below".to_owned(),
        None => "not available, see table".to_owned(),
    };
    let part = |(bytes, area): (f64, Area)| {
        let tip = format!("{}, {}: {}", cell.label, area.title(), mib(bytes));
        (bytes / MIB, fill_class(area.look()), tip)
    };
    let parts = areas.into_iter().flat_map(|areas| areas.into_iter().zip(Area::ALL)).map(part);
    Bar { name: cell.label.clone(), value, parts: parts.collect() }
}

fn table(grid: &Grid) -> Table {
    let cells = grid.cells().filter(|(_, cell)| cell.variant.is_some());
    let told = |means: &Option<Means>, of: &dyn Fn(&Means) -> f64| match means {
        Some(means) => significant(of(means) / MIB),
        None => "not available: no sample in a window that counts".to_owned(),
    };
    let means = cells.map(|(_, cell)| (cell, at_window_ends(grid, cell)));
    let mut rows = Table::of("Resident memory by area (MiB)", means)
        .words("Variant", |(cell, _)| text::clean(cell.name))
        .figures("Sum", |(_, means)| told(means, &|means| means.iter().sum()));
    let occurring = occurring(grid);
    for (index, area) in Area::ALL.into_iter().enumerate().filter(|(_, area)| occurring.contains(area)) {
        rows = rows.figures(area.title(), |(_, means)| told(means, &|means| means[index]));
    }
    rows.table()
}
