//! Where every resident byte was at the end of a trial: a tree map for each variant whose trial was read in full.

use super::super::grid::Grid;
use super::super::inserts::Inserts;
use super::keys::area_key;
use assay_kit::Table;
use assay_kit::figure::{Figure, Panel};
use assay_kit::number::{bytes, percent};
use assay_kit::text;
use assay_model::{Area, Leaf, MemoryReport};

const ID: &str = "memory-map";
const TITLE: &str = "Every resident byte after the last window";
/// Leaves of each variant that are listed.
const LEAVES: usize = 15;

/// The figure; none in a study that did not ask for full looks, which is no lack of it.
pub fn figure(grid: &Grid, inserts: &Inserts) -> Option<Figure> {
    let looks = looks(grid);
    if looks.is_empty() {
        return None;
    }
    let maps = looks.iter().enumerate().map(|(index, (name, look))| {
        let title = format!("{TITLE}, {name}: {}", bytes(look.rss_bytes));
        let svg = (inserts.memory_map)(look, &format!("{ID}-{index}"), &title);
        Panel { heading: format!("{name}: {}", bytes(look.rss_bytes)), svg, narrow: None }
    });
    let occurs = |area: &Area| looks.iter().any(|(_, look)| area.bytes_in(&look.areas) > 0);
    Some(Figure {
        caption: "One trial for each variant, the last that counts; each map is as large as any other, whatever its \
                  RSS. The leaves add up to the RSS of the scan. From the process's page map and memory, after its \
                  last window."
            .to_owned(),
        key: area_key(occurs),
        panels: maps.collect(),
        size: "small",
        tables: vec![by_area(&looks, &occurs), biggest_leaves(&looks)],
        ..Figure::new(ID, TITLE)
    })
}

/// Name of each variant, and the last full look at it.
fn looks<'a>(grid: &Grid<'a>) -> Vec<(String, &'a MemoryReport)> {
    let look = |name: &str| {
        let counting = grid.trials(name).filter(|t| t.trial.counts() && t.memory_report.is_some()).last();
        let trial = counting.or_else(|| grid.trials(name).filter(|t| t.memory_report.is_some()).last());
        trial.and_then(|t| t.memory_report.as_ref())
    };
    let cells = grid.cells().filter(|(_, c)| c.variant.is_some());
    cells.filter_map(|(_, cell)| Some((text::clean(cell.name), look(cell.name)?))).collect()
}

fn by_area(looks: &[(String, &MemoryReport)], occurs: &dyn Fn(&Area) -> bool) -> Table {
    let mut rows = Table::of("Resident memory by area after the last window", looks)
        .words("Variant", |(name, _)| name.clone())
        .figures("RSS", |(_, look)| bytes(look.rss_bytes));
    for area in Area::ALL.into_iter().filter(occurs) {
        rows = rows.figures(area.title(), |(_, look)| bytes(area.bytes_in(&look.areas)));
    }
    rows.table()
}

fn biggest(look: &MemoryReport) -> Vec<&Leaf> {
    let mut leaves: Vec<&Leaf> = look.leaves.iter().collect();
    leaves.sort_by_key(|leaf| std::cmp::Reverse(leaf.resident_bytes));
    leaves.truncate(LEAVES);
    leaves
}

/// The biggest leaves of each variant: a picture this small has no room for their names.
fn biggest_leaves(looks: &[(String, &MemoryReport)]) -> Table {
    let rows = looks.iter().flat_map(|(name, look)| biggest(look).into_iter().map(move |l| (name, look, l)));
    Table::of(format!("The {LEAVES} biggest entries of each variant"), rows)
        .words("Variant", |(name, ..)| (*name).clone())
        .words("Leaf", |(.., leaf)| {
            leaf.path.iter().take(8).map(|p| text::clean(p)).collect::<Vec<_>>().join(": ")
        })
        .figures("Resident", |(.., leaf)| bytes(leaf.resident_bytes))
        .figures("Share of RSS", |(_, look, leaf)| percent(leaf.resident_bytes, look.rss_bytes))
        .words("Source", |(.., leaf)| leaf.tier.title().to_owned())
        .table()
}
