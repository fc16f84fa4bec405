//! The processes of a trial side by side: what each role takes, and all together.

use super::estimate::shown_unit;
use super::grid::{ALL_ROLES, Cell, Grid, Group, role_of};
use super::results::{result_cell, shown_metrics};
use assay_kit::Table;
use assay_kit::number::significant;
use assay_kit::text::clean;
use assay_model::{Metric, PER_PROCESS, file, metric};

/// A variant's processes of one role.
struct Row<'a> {
    cell: &'a Cell<'a>,
    role: String,
}

/// What the tables of a run show.
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
                _ => "-".to_owned(),
            });
        }
        table.class("dense")
    };
    grid.groups.iter().map(table).collect()
}

/// What a terminal has room for: kinds of metrics and their headings in two lines.
const ON_TERMINAL: [(&str, &str); 5] = [
    (metric::PROCESS_CPU_MS_PER_REQUEST, "CPU\nms/req"),
    (metric::PROCESS_KERNEL_MS_PER_REQUEST, "kernel\nms/req"),
    (metric::PROCESS_MINOR_FAULTS_PER_REQUEST, "faults\n/req"),
    (metric::PROCESS_COLLECTOR_CPU_PERCENT, "collector\n% of CPU"),
    (metric::PROCESS_PSS_BYTES, "PSS\nMiB"),
];

/// The same for a terminal: the headings of the figures, and for each process that a variant has its variant, its role and its figures.
pub struct Lines {
    /// In two lines each.
    pub headings: Vec<&'static str>,
    /// The variant's label only in the first of its lines.
    pub lines: Vec<Vec<String>>,
}

/// The processes of a group of variants; `None` where no metric is of a role.
pub fn lines(grid: &Grid, group: &Group) -> Option<Lines> {
    let shown = Shown::of(grid)?;
    let kinds: Vec<(&Metric, &str)> = ON_TERMINAL
        .iter()
        .filter_map(|(id, heading)| Some((*shown.kinds.iter().find(|kind| kind.id == *id)?, *heading)))
        .collect();
    let figures = |row: &Row| -> Vec<Option<String>> {
        let of = |(kind, _): &(&Metric, &str)| {
            let estimate = row.cell.estimate(&shown.metric(kind, &row.role)?.id)?;
            Some(significant(estimate.estimate / shown_unit(kind).1))
        };
        kinds.iter().map(of).collect()
    };
    let mut lines: Vec<Vec<String>> = Vec::new();
    let mut variant = None;
    for row in shown.rows(group) {
        let figures = figures(&row);
        // A variant need not have each process.
        if figures.iter().all(Option::is_none) {
            continue;
        }
        let is_first = variant.replace(row.cell.name) != Some(row.cell.name);
        let label = if is_first { row.cell.label.clone() } else { String::new() };
        let figures = figures.into_iter().map(|figure| figure.unwrap_or_else(|| "-".to_owned()));
        lines.push([label, clean(&row.role)].into_iter().chain(figures).collect());
    }
    Some(Lines { headings: kinds.into_iter().map(|(_, heading)| heading).collect(), lines })
}
