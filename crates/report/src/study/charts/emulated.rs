//! What a request takes in an emulated guest, user and kernel stacked, a row for each variant.

use super::super::grid::{Cell, Grid, Group};
use assay_kit::bar_rows::{self, Bar};
use assay_kit::chart::{Chart, PANEL_WIDTH, Panel};
use assay_kit::number::{significant, times};
use assay_kit::stack::fill_class;
use assay_kit::{Table, key};
use assay_model::{Estimate, metric};

/// What is drawn: anchor, title, unit, metrics of user and of kernel.
const DRAWN: [(&str, &str, &str, [&str; 2]); 7] = [
    (
        "emulated-instructions",
        "Emulated: instructions per request",
        "instructions",
        [metric::EMULATED_USER_INSTRUCTIONS_PER_REQUEST, metric::EMULATED_KERNEL_INSTRUCTIONS_PER_REQUEST],
    ),
    (
        "emulated-branches-mispredicted",
        "Emulated: branches mispredicted per request",
        "branches",
        [
            metric::EMULATED_USER_BRANCHES_MISPREDICTED_PER_REQUEST,
            metric::EMULATED_KERNEL_BRANCHES_MISPREDICTED_PER_REQUEST,
        ],
    ),
    (
        "emulated-l1i-misses",
        "Emulated: L1 instruction cache misses per request",
        "misses",
        [metric::EMULATED_USER_L1I_MISSES_PER_REQUEST, metric::EMULATED_KERNEL_L1I_MISSES_PER_REQUEST],
    ),
    (
        "emulated-l1d-misses",
        "Emulated: L1 data cache misses per request",
        "misses",
        [metric::EMULATED_USER_L1D_MISSES_PER_REQUEST, metric::EMULATED_KERNEL_L1D_MISSES_PER_REQUEST],
    ),
    (
        "emulated-l2-misses",
        "Emulated: L2 cache misses per request",
        "misses",
        [metric::EMULATED_USER_L2_MISSES_PER_REQUEST, metric::EMULATED_KERNEL_L2_MISSES_PER_REQUEST],
    ),
    (
        "emulated-itlb-misses",
        "Emulated: instruction TLB misses per request",
        "misses",
        [metric::EMULATED_USER_ITLB_MISSES_PER_REQUEST, metric::EMULATED_KERNEL_ITLB_MISSES_PER_REQUEST],
    ),
    (
        "emulated-dtlb-misses",
        "Emulated: data TLB misses per request",
        "misses",
        [metric::EMULATED_USER_DTLB_MISSES_PER_REQUEST, metric::EMULATED_KERNEL_DTLB_MISSES_PER_REQUEST],
    ),
];

/// The modes' names and fills.
const MODES: [(&str, usize); 2] = [("user", 0), ("kernel", 1)];

/// A figure for each of what is drawn, of those that the run has.
pub fn figures(grid: &Grid) -> Vec<Chart> {
    DRAWN.iter().filter_map(|(id, title, unit, ids)| figure(grid, (id, title, unit), *ids)).collect()
}

fn value(cell: &Cell, id: &str) -> Option<Estimate> {
    cell.summary?.metrics.get(id).copied()
}

fn figure(grid: &Grid, (id, title, unit): (&str, &str, &str), ids: [&str; 2]) -> Option<Chart> {
    let is_known =
        |group: &Group| group.cells.iter().any(|cell| ids.iter().any(|id| value(cell, id).is_some()));
    let groups: Vec<&Group> = grid.groups.iter().filter(|group| is_known(group)).collect();
    if groups.is_empty() {
        return None;
    }
    let panels = groups.iter().enumerate().map(|(index, group)| {
        let bars: Vec<Bar> = group.cells.iter().map(|cell| bar(cell, ids)).collect();
        let names = (&*format!("{id}-{index}"), &*format!("{title}{}", group.place()));
        let svg = bar_rows::bars(&bars, (Some(unit), None), PANEL_WIDTH, names);
        Panel { heading: group.label.clone(), svg, narrow: None }
    });
    Some(Chart {
        caption: format!(
            "Cost of each request in the server's tasks, in {unit}: means over the trials that count. \
                Counted, not timed, between two marks in a guest under full-system emulation. Misses and \
                predictions are those of models with a stated geometry. Each panel has its own scale."
        ),
        key: key::fills(MODES.map(|(name, look)| (fill_class(look), name))),
        panels: panels.collect(),
        tables: vec![table(grid, title, ids)],
        ..Chart::new(id, title)
    })
}

fn bar(cell: &Cell, ids: [&str; 2]) -> Bar {
    let values = ids.map(|id| value(cell, id).map(|estimate| estimate.estimate));
    let parts = MODES.iter().zip(values).filter_map(|((name, look), value)| {
        let value = value?;
        let tip = format!("{}, {name}: {}", cell.label, significant(value));
        Some((value, fill_class(*look), tip))
    });
    let value = match values {
        [Some(user), Some(kernel)] => format!("{} + {}", significant(user), significant(kernel)),
        _ => "not available, see table".to_owned(),
    };
    Bar { name: cell.label.clone(), value, parts: parts.collect() }
}

fn table(grid: &Grid, title: &str, ids: [&str; 2]) -> Table {
    let told = |cell: &Cell, id: &str| match value(cell, id) {
        Some(estimate) => assay_kit::number::interval(estimate.estimate, estimate.ends()),
        None => "not available".to_owned(),
    };
    let ratio = |cell: &Cell, id: &str| {
        let comparison = grid.comparison(cell.name, id);
        comparison.map_or_else(|| "baseline".to_owned(), |c| times(c.ratio.estimate, c.ratio.ends()))
    };
    let mut table = Table::new(title, &["Variant", "user", "kernel", "user, ratio", "kernel, ratio"], 1);
    for (_, cell) in grid.cells() {
        let [user, kernel] = ids;
        let row = [
            cell.name.to_owned(),
            told(cell, user),
            told(cell, kernel),
            ratio(cell, user),
            ratio(cell, kernel),
        ];
        table.push(row.map(|text| assay_kit::text::clean(&text)));
    }
    table
}
