//! Where every resident byte was at the end of a trial: a tree map for each variant whose trial was read in full.

use super::super::grid::Grid;
use super::keys::area_key;
use assay_kit::Table;
use assay_kit::chart::{Chart, Panel};
use assay_kit::number::{bytes, percent};
use assay_kit::text;
use assay_model::{Area, MemoryEntry, MemoryReport};

const ID: &str = "memory-map";
const TITLE: &str = "Every resident byte after the last window";
/// Entries of each variant that are listed.
const ENTRIES: usize = 15;

/// The figure; absent, and not missed, in a study that did not ask for full snapshots.
pub fn figure(grid: &Grid) -> Option<Chart> {
    let snapshots = snapshots(grid);
    if snapshots.is_empty() {
        return None;
    }
    let maps = snapshots.iter().enumerate().map(|(index, (name, snapshot))| {
        let title = format!("{TITLE}, {name}: {}", bytes(snapshot.rss_bytes));
        let svg = crate::memory::small_map(snapshot, &format!("{ID}-{index}"), &title);
        Panel { heading: format!("{name}: {}", bytes(snapshot.rss_bytes)), svg, narrow: None }
    });
    let occurs = |area: &Area| snapshots.iter().any(|(_, snapshot)| area.bytes_in(&snapshot.areas) > 0);
    Some(Chart {
        caption: "One trial for each variant, the last that counts. All maps have the same size, regardless \
            of RSS. The entries add up to the RSS of the scan. From the process's page map and memory, after \
            its last window."
            .to_owned(),
        key: area_key(occurs),
        panels: maps.collect(),
        size: "small",
        tables: vec![by_area(&snapshots, &occurs), biggest_entries(&snapshots)],
        ..Chart::new(ID, TITLE)
    })
}

/// Name of each variant, and the last full snapshot of it.
fn snapshots<'a>(grid: &Grid<'a>) -> Vec<(String, &'a MemoryReport)> {
    let snapshot = |name: &str| {
        let counting = grid.trials(name).filter(|t| t.trial.counts() && t.memory_report.is_some()).last();
        let trial = counting.or_else(|| grid.trials(name).filter(|t| t.memory_report.is_some()).last());
        trial.and_then(|t| t.memory_report.as_ref())
    };
    let cells = grid.cells().filter(|(_, c)| c.variant.is_some());
    cells.filter_map(|(_, cell)| Some((text::clean(cell.name), snapshot(cell.name)?))).collect()
}

fn by_area(snapshots: &[(String, &MemoryReport)], occurs: &dyn Fn(&Area) -> bool) -> Table {
    let mut rows = Table::of("Resident memory by area after the last window", snapshots)
        .words("Variant", |(name, _)| name.clone())
        .figures("RSS", |(_, snapshot)| bytes(snapshot.rss_bytes));
    for area in Area::ALL.into_iter().filter(occurs) {
        rows = rows.figures(area.title(), |(_, snapshot)| bytes(area.bytes_in(&snapshot.areas)));
    }
    rows.table()
}

fn biggest(snapshot: &MemoryReport) -> Vec<&MemoryEntry> {
    let mut entries: Vec<&MemoryEntry> = snapshot.entries.iter().collect();
    entries.sort_by_key(|entry| std::cmp::Reverse(entry.resident_bytes));
    entries.truncate(ENTRIES);
    entries
}

/// The biggest entries of each variant: a picture this small has no room for their names.
fn biggest_entries(snapshots: &[(String, &MemoryReport)]) -> Table {
    let rows = snapshots
        .iter()
        .flat_map(|(name, snapshot)| biggest(snapshot).into_iter().map(move |l| (name, snapshot, l)));
    Table::of(format!("The {ENTRIES} biggest entries of each variant"), rows)
        .words("Variant", |(name, ..)| (*name).clone())
        .words("Entry", |(.., entry)| {
            entry.path.iter().take(8).map(|part| text::clean(part)).collect::<Vec<_>>().join(": ")
        })
        .figures("Resident", |(.., entry)| bytes(entry.resident_bytes))
        .figures("Share of RSS", |(_, snapshot, entry)| percent(entry.resident_bytes, snapshot.rss_bytes))
        .words("Source", |(.., entry)| entry.source.title().to_owned())
        .table()
}
