//! The processes of a trial side by side: what each role takes, and all together.

use super::estimate::shown_unit;
use super::grid::{ALL_ROLES, Cell, Grid, Group, role_of};
use super::results::{is_usual_kind, result_cell, short_heading, shown_metrics};
use assay_kit::text::clean;
use assay_kit::{Cell as Field, Table};
use assay_model::{Metric, PER_PROCESS, file};

/// A variant's processes of one role.
struct Row<'a> {
    cell: &'a Cell<'a>,
    role: String,
}

/// Roles and metrics of the tables of a run.
struct Shown<'a> {
    /// The server first, all together last.
    roles: Vec<String>,
    /// Metrics of roles that any variant has.
    metrics: Vec<&'a Metric>,
    /// Of these the kinds, in the order of reports.
    kinds: Vec<&'static Metric>,
}

impl<'a> Shown<'a> {
    /// Absent where no metric is of a role.
    fn of(grid: &'a Grid) -> Option<Shown<'a>> {
        let metrics: Vec<&Metric> =
            shown_metrics(grid).into_iter().filter(|m| role_of(m).is_some()).collect();
        let mut roles: Vec<String> = Vec::new();
        for (_, role) in metrics.iter().filter_map(|metric| role_of(metric)) {
            if !roles.iter().any(|known| known == role) {
                roles.push(role.to_owned());
            }
        }
        roles.sort_by_key(|role| (role == ALL_ROLES, role != file::SERVER));
        let has = |kind: &&Metric| metrics.iter().any(|m| role_of(m).is_some_and(|(of, _)| of == kind.id));
        let kinds = PER_PROCESS.iter().filter(has).collect();
        (!roles.is_empty()).then_some(Shown { roles, metrics, kinds })
    }

    fn rows<'g>(&self, group: &'g Group<'g>) -> Vec<Row<'g>> {
        let cells = group.cells.iter().filter(|cell| cell.skipped.is_none());
        cells.flat_map(|cell| self.roles.iter().map(move |role| Row { cell, role: role.clone() })).collect()
    }

    fn metric(&self, kind: &Metric, role: &str) -> Option<&'a Metric> {
        self.metrics.iter().find(|metric| role_of(metric) == Some((&*kind.id, role))).copied()
    }
}

/// A table for each group of variants; none where no metric is of a role.
pub fn tables(grid: &Grid) -> Vec<Table> {
    let Some(shown) = Shown::of(grid) else { return Vec::new() };
    let table = |group: &Group| {
        let mut table = Table::of(format!("Processes side by side{}", group.place()), shown.rows(group))
            .words("Variant", |row| row.cell.label.clone())
            .words("Process", |row| clean(&row.role));
        for kind in &shown.kinds {
            let heading = format!("{} ({})", kind.title, shown_unit(kind).0);
            table = table.figures(heading, |row| match shown.metric(kind, &row.role) {
                Some(metric) if row.cell.estimate(&metric.id).is_some() => {
                    result_cell(grid, row.cell, metric)
                }
                // Databases and proxies collect no garbage.
                _ => Field::absent(""),
            });
            table = if is_usual_kind(kind) { table.called(short_heading(kind)) } else { table.page_only() };
        }
        table.class("dense")
    };
    grid.groups.iter().map(table).collect()
}
