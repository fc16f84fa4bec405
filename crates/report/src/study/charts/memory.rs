//! Resident memory by area as stacked bars, a row for each variant.

use super::super::grid::{Cell, Grid, Group};
use super::bar_panel::inside_ticks;
use super::keys::area_key;
use assay_kit::Table;
use assay_kit::axes::{LABEL_SIZE, Plot};
use assay_kit::figure::{Figure, PANEL_WIDTH, Panel};
use assay_kit::number::{MIB, mib, significant};
use assay_kit::scale::{Scale, ticks_from_zero};
use assay_kit::stack::fill_class;
use assay_kit::svg::{Anchor, Svg, chars_that_fit, text_width};
use assay_kit::text::{self, shorten};
use assay_model::{Area, Metric, metric};

const ID: &str = "memory";
const TITLE: &str = "Resident memory by area";
const LEFT: f64 = 4.0;
const RIGHT: f64 = PANEL_WIDTH - 10.0;

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
        id: ID.to_owned(),
        title: TITLE.to_owned(),
        caption: "Mean over the windows that count of the last sample of each; the areas add up to the resident set \
                  size of the same scan. From /proc/PID/smaps and the heap range in the JVM's log. Each heap size has its own scale."
            .to_owned(),
        key: area_key(|area| occurring.contains(area)),
        notes: Vec::new(),
        panels: panels.collect(),
        size: "",
        tables: vec![table(grid)],
        absent: None,
    }
}

/// Mean bytes of each of [`Area::ALL`].
type Means = [f64; Area::ALL.len()];

/// Mean bytes by area over the counting windows' last samples.
fn at_window_ends(grid: &Grid, cell: &Cell) -> Option<Means> {
    let mut sums = [0.0; Area::ALL.len()];
    let mut samples = 0u32;
    for stored in grid.trials(cell.name).filter(|t| t.trial.counts()) {
        for window in stored
            .trial
            .windows
            .iter()
            .filter(|w| Metric::by_id(metric::RSS_BYTES).is_some_and(|rss| w.counts_for(&rss)))
        {
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
    const ROW: f64 = 42.0;
    let rows: Vec<(&Cell, Option<Means>)> =
        group.cells.iter().map(|c| (c, at_window_ends(grid, c))).collect();
    let largest = rows.iter().filter_map(|(_, r)| r.map(|r| r.iter().sum::<f64>() / MIB)).fold(0.0, f64::max);
    let ticks = ticks_from_zero(largest, 5);
    let height = rows.len() as f64 * ROW;
    let mut svg = Svg::new(PANEL_WIDTH, height + 44.0);
    let scale = Scale::linear((0.0, ticks.last().copied().unwrap_or(1.0)), (LEFT, RIGHT));
    for &value in &ticks {
        svg.line((scale.at(value), 2.0), (scale.at(value), height + 2.0), "g");
    }
    let plot = Plot { left: LEFT, right: RIGHT, top: 0.0, bottom: height + 2.0 };
    plot.x_axis(&mut svg, &inside_ticks(&scale, &ticks), "resident memory (MiB)");
    let mut words = Vec::new();
    for (index, (cell, areas)) in rows.iter().enumerate() {
        let top = index as f64 * ROW;
        let value = match areas {
            Some(areas) => mib(areas.iter().sum()),
            None if cell.skipped.is_some() => "skipped, see below".to_owned(),
            None => "not available, see table".to_owned(),
        };
        svg.text((RIGHT + 6.0, top + 15.0), Anchor::End, "val", &value);
        let room = RIGHT - LEFT - text_width(&value, LABEL_SIZE) - 8.0;
        svg.text(
            (LEFT, top + 15.0),
            Anchor::Start,
            "lab",
            &shorten(&cell.label, chars_that_fit(room, LABEL_SIZE)),
        );
        words.push(format!("{}: {value}", cell.label));
        if let Some(areas) = areas {
            stack(&mut svg, &cell.label, areas, &scale, top + 21.0);
        }
    }
    let place = if group.label.is_empty() { String::new() } else { format!(", {}", group.label) };
    svg.finish(id, &format!("{TITLE}{place}"), &words.join(". "))
}

fn stack(svg: &mut Svg, label: &str, areas: &Means, scale: &Scale, top: f64) {
    let mut sum = 0.0;
    for (bytes, area) in areas.iter().zip(Area::ALL) {
        let from = scale.at(sum / MIB);
        sum += bytes;
        let width = scale.at(sum / MIB) - from;
        if width > 0.0 {
            let tip = format!("{label}, {}: {}", area.title(), mib(*bytes));
            svg.rect((from, top), (width, 14.0), &fill_class(area.look()), &tip);
        }
    }
}

fn table(grid: &Grid) -> Table {
    let occurring = occurring(grid);
    let mut table = Table::new("Resident memory by area (MiB)", &["Variant", "Sum"], 1);
    table.columns.extend(occurring.iter().map(|a| a.title().to_owned()));
    for (_, cell) in grid.cells().filter(|(_, c)| c.variant.is_some()) {
        let mut row = vec![text::clean(cell.name)];
        match at_window_ends(grid, cell) {
            Some(areas) => {
                row.push(significant(areas.iter().sum::<f64>() / MIB));
                let shown = areas.iter().zip(Area::ALL).filter(|(_, area)| occurring.contains(area));
                row.extend(shown.map(|(bytes, _)| significant(bytes / MIB)));
            }
            None => {
                row.resize(
                    occurring.len() + 2,
                    "not available: no sample in a window that counts".to_owned(),
                );
            }
        }
        table.rows.push(row);
    }
    table
}
