//! Resident memory by area as stacked bars, a row for each variant.

use super::super::grid::{Cell, Grid, Group};
use super::keys::area_key;
use assay_kit::Table;
use assay_kit::bar_rows::{self, Bar};
use assay_kit::figure::{Figure, PANEL_WIDTH, Panel};
use assay_kit::number::{MIB, mib, significant};
use assay_kit::stack::fill_class;
use assay_kit::text;
use assay_model::{Area, AreaBytes, MemorySample, Metric, StoredTrial, Window, metric};

const ID: &str = "memory";
const TITLE: &str = "Resident memory by area";

/// The figure.
pub fn figure(grid: &Grid) -> Figure {
    let looks = Looks::of(grid);
    let measured = |g: &Group| g.cells.iter().any(|c| looks.means(grid, c).is_some());
    if !grid.groups.iter().any(measured) {
        return Figure::absent(
            ID,
            TITLE,
            "not available: no trial that counts has a full snapshot, or samples inside a window that counts",
        );
    }
    let occurring = looks.occurring(grid);
    let groups = grid.groups.iter().enumerate().filter(|(_, g)| measured(g));
    let panels = groups.map(|(index, group)| Panel {
        heading: group.label.clone(),
        svg: panel(grid, looks, group, &format!("{ID}-{index}")),
        narrow: None,
    });
    Figure {
        caption: format!(
            "{}; the areas add up to the resident set size of the same snapshot. Each heap size has its own scale.",
            looks.words()
        ),
        key: area_key(|area| occurring.contains(area)),
        panels: panels.collect(),
        tables: vec![table(grid, looks)],
        ..Figure::new(ID, TITLE)
    }
}

/// Mean bytes of each of [`Area::ALL`]; absent for what is not told apart.
type Means = [Option<f64>; Area::ALL.len()];

/// Where the bytes are from: the same for all variants, so that they can be compared.
#[derive(Clone, Copy)]
enum Looks {
    /// A snapshot of every resident byte after the last window of a trial.
    Full,
    /// The mappings at the end of each window. They do not tell apart what malloc's heap and nameless memory hold.
    Mappings,
}

impl Looks {
    fn of(grid: &Grid) -> Looks {
        let counting = |cell: &Cell| grid.trials(cell.name).filter(|t| t.trial.counts()).collect::<Vec<_>>();
        let trials: Vec<_> = grid.cells().map(|(_, cell)| counting(cell)).filter(|t| !t.is_empty()).collect();
        let has_full = |trials: &Vec<&StoredTrial>| trials.iter().any(|t| t.memory_report.is_some());
        if trials.iter().all(has_full) { Looks::Full } else { Looks::Mappings }
    }

    fn words(self) -> &'static str {
        match self {
            Looks::Full => {
                "Mean over the trials that count of the full snapshot after the last window of each"
            }
            Looks::Mappings => {
                "Mean over the windows that count of the last sample of each, from the mappings alone (/proc/PID/smaps and \
                 the heap's range): what they do not tell apart is unknown, and areas without a figure are part of that"
            }
        }
    }

    /// Mean bytes by area of a variant.
    fn means(self, grid: &Grid, cell: &Cell) -> Option<Means> {
        let trials = grid.trials(cell.name).filter(|t| t.trial.counts());
        let seen: Vec<&[AreaBytes]> = match self {
            Looks::Full => trials.filter_map(|t| Some(&*t.memory_report.as_ref()?.areas)).collect(),
            Looks::Mappings => trials.flat_map(last_samples).map(|sample| &*sample.areas).collect(),
        };
        let mean = |area: Area| {
            // A full snapshot knows all areas; of what is not in it there is nothing.
            let is_told =
                matches!(self, Looks::Full) || seen.iter().any(|areas| areas.iter().any(|a| a.area == area));
            let sum: f64 = seen.iter().map(|areas| area.bytes_in(areas) as f64).sum();
            is_told.then_some(sum / seen.len() as f64)
        };
        (!seen.is_empty()).then(|| Area::ALL.map(mean))
    }

    /// Areas that any variant has.
    fn occurring(self, grid: &Grid) -> Vec<Area> {
        let measured: Vec<Means> = grid.cells().filter_map(|(_, cell)| self.means(grid, cell)).collect();
        let occurs =
            |index: usize| measured.iter().any(|means| means[index].is_some_and(|bytes| 0.0 < bytes));
        Area::ALL.into_iter().enumerate().filter(|(index, _)| occurs(*index)).map(|(_, area)| area).collect()
    }
}

/// The last sample of each counting window.
fn last_samples(stored: &StoredTrial) -> impl Iterator<Item = &MemorySample> {
    let counts = |w: &&Window| Metric::by_id(metric::RSS_BYTES).is_some_and(|rss| w.counts_for(&rss));
    stored.trial.windows.iter().filter(counts).filter_map(|window| {
        let inside = window.start_monotonic_ns..=window.end_monotonic_ns;
        stored.memory.iter().rfind(|s| inside.contains(&s.monotonic_ns))
    })
}

fn panel(grid: &Grid, looks: Looks, group: &Group, id: &str) -> String {
    let rows: Vec<Bar> = group.cells.iter().map(|cell| row(cell, looks.means(grid, cell))).collect();
    let title = format!("{TITLE}{}", group.place());
    bar_rows::bars(&rows, (Some("resident memory (MiB)"), None), PANEL_WIDTH, (id, &title))
}

fn row(cell: &Cell, areas: Option<Means>) -> Bar {
    let value = match areas {
        Some(areas) => mib(areas.iter().flatten().sum()),
        None if cell.skipped.is_some() => "skipped, see below".to_owned(),
        None => "not available, see table".to_owned(),
    };
    let part = |(bytes, area): (Option<f64>, Area)| {
        let bytes = bytes?;
        let tip = format!("{}, {}: {}", cell.label, area.title(), mib(bytes));
        Some((bytes / MIB, fill_class(area.look()), tip))
    };
    let parts = areas.into_iter().flat_map(|areas| areas.into_iter().zip(Area::ALL)).filter_map(part);
    Bar { name: cell.label.clone(), value, parts: parts.collect() }
}

fn table(grid: &Grid, looks: Looks) -> Table {
    let cells = grid.cells().filter(|(_, cell)| cell.variant.is_some());
    let told = |means: &Option<Means>, of: &dyn Fn(&Means) -> Option<f64>| match means {
        Some(means) => of(means).map_or_else(|| "not available".to_owned(), |bytes| significant(bytes / MIB)),
        None => "not available: no sample that counts".to_owned(),
    };
    let means = cells.map(|(_, cell)| (cell, looks.means(grid, cell)));
    let mut rows = Table::of("Resident memory by area (MiB)", means)
        .words("Variant", |(cell, _)| text::clean(cell.name))
        .figures("Sum", |(_, means)| told(means, &|means| Some(means.iter().flatten().sum())));
    let occurring = looks.occurring(grid);
    for (index, area) in Area::ALL.into_iter().enumerate().filter(|(_, area)| occurring.contains(area)) {
        rows = rows.figures(area.title(), |(_, means)| told(means, &|means| means[index]));
    }
    rows.table()
}
