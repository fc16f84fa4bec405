//! Where every resident byte was at the end of a trial: a tree map for each variant whose trial was read in full.

use super::super::grid::Grid;
use super::super::inserts::Inserts;
use super::keys::area_key;
use assay_kit::Table;
use assay_kit::figure::{Figure, Panel};
use assay_kit::number::{bytes, percent};
use assay_kit::text;
use assay_model::{Area, MemoryReport};

const ID: &str = "memory-map";
const TITLE: &str = "Every resident byte after the last window";

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
        id: ID.to_owned(),
        title: TITLE.to_owned(),
        caption: "One trial for each variant, the last that counts; each map is as large as any other, whatever its \
                  RSS. The leaves add up to the RSS of the scan. From the process's page map and memory, after its \
                  last window."
            .to_owned(),
        key: area_key(occurs),
        notes: Vec::new(),
        panels: maps.collect(),
        size: "small",
        tables: vec![by_area(&looks, &occurs), biggest_leaves(&looks)],
        absent: None,
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
    let mut table = Table::new("Resident memory by area after the last window", &["Variant", "RSS"], 1);
    let shown: Vec<Area> = Area::ALL.into_iter().filter(occurs).collect();
    table.columns.extend(shown.iter().map(|a| a.title().to_owned()));
    for (name, look) in looks {
        let mut row = vec![name.clone(), bytes(look.rss_bytes)];
        row.extend(shown.iter().map(|a| bytes(a.bytes_in(&look.areas))));
        table.rows.push(row);
    }
    table
}

/// The biggest leaves of each variant: a picture this small has no room for their names.
fn biggest_leaves(looks: &[(String, &MemoryReport)]) -> Table {
    const LEAVES: usize = 15;
    let columns = ["Variant", "Leaf", "Resident", "Share of RSS", "Established by"];
    let mut table = Table::new(format!("The {LEAVES} biggest leaves of each variant"), &columns, 2);
    table.text_from = 4;
    for (name, look) in looks {
        let mut leaves: Vec<&assay_model::Leaf> = look.leaves.iter().collect();
        leaves.sort_by_key(|l| std::cmp::Reverse(l.resident_bytes));
        for leaf in leaves.into_iter().take(LEAVES) {
            let path: Vec<String> = leaf.path.iter().take(8).map(|p| text::clean(p)).collect();
            table.rows.push(vec![
                name.clone(),
                path.join(": "),
                bytes(leaf.resident_bytes),
                percent(leaf.resident_bytes, look.rss_bytes),
                leaf.tier.title().to_owned(),
            ]);
        }
    }
    table
}
