//! A table or a tree as data: what stands in its cells, which columns are figures, which rows may be folded. Its writers are in
//! [`crate::document`].

use crate::text;

pub use crate::cell::{Cell, Look};

use std::fmt::Write as _;

/// Rows that are printed (`web/report.css`).
const ROWS_ON_PAPER: usize = 14;

/// What a column holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ColumnKind {
    /// Words, which may be wrapped.
    Words,
    /// Figures, which stand right.
    Figures,
    /// Bars, on a terminal alone.
    Bar,
}

/// Where a column is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ColumnShown {
    /// In every form.
    #[default]
    Everywhere,
    /// A terminal that is too narrow leaves these out one after the other, the last ones first.
    IfRoom,
    /// A terminal that is too narrow leaves all of these out together, before those of [`ColumnShown::IfRoom`].
    IfWide,
    /// A terminal shows it below each row, as a text over the whole width.
    BelowRow,
    /// A page and Markdown alone have it.
    PageOnly,
}

/// A column.
#[derive(Debug, Clone, PartialEq)]
pub struct Column {
    /// Its heading, with the unit.
    pub heading: String,
    /// The same on a terminal; empty for the heading itself.
    pub short: String,
    /// What it holds.
    pub kind: ColumnKind,
    /// Where it is shown.
    pub shown: ColumnShown,
}

impl Column {
    /// The heading on a terminal.
    pub fn brief(&self) -> &str {
        if self.short.is_empty() { &self.heading } else { &self.short }
    }

    /// Whether a terminal that is wide enough shows it beside the others.
    pub fn is_in_grid(&self) -> bool {
        !matches!(self.shown, ColumnShown::BelowRow | ColumnShown::PageOnly)
    }
}

/// A row.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Row {
    /// A cell for each column; the first heads the row.
    pub cells: Vec<Cell>,
    /// Whether it is too small to be of interest: the page folds it.
    pub is_small: bool,
    /// Whether it sums up the others: it is shown in any case, and last.
    pub is_total: bool,
    /// Its number in the order of sizes, 0 for the biggest; of a branch that of its biggest entry. A terminal leaves out the last
    /// ones.
    pub rank: usize,
    /// What it weighs, in the unit of [`Table::weigh`].
    pub weight: u64,
}

impl Row {
    /// How deep it is in a tree, from 0.
    pub fn level(&self) -> usize {
        match self.cells.first() {
            Some(Cell::Path(path)) => path.len().saturating_sub(1),
            _ => 0,
        }
    }
}

/// A table.
pub struct Table {
    /// What it shows, the same in every form.
    pub caption: String,
    /// Columns.
    pub columns: Vec<Column>,
    /// Class for the styles; `dense` for a table with many columns of figures.
    pub class: &'static str,
    /// Rows that a terminal shows at most, even where it shows all of a result.
    pub rows_in_brief: usize,
    /// Of a tree: how the weight of folded rows is written. A table that has it is a tree.
    pub weigh: Option<fn(u64) -> String>,
    /// Rows.
    pub rows: Vec<Row>,
}

impl Table {
    /// A table with these columns, of figures from `numeric_from` on, and no row.
    pub fn new(caption: impl Into<String>, columns: &[&str], numeric_from: usize) -> Self {
        let kind = |at| if numeric_from <= at { ColumnKind::Figures } else { ColumnKind::Words };
        let columns = columns.iter().enumerate().map(|(at, heading)| column(*heading, kind(at)));
        Table { columns: columns.collect(), ..Table::empty(caption.into()) }
    }

    fn empty(caption: String) -> Self {
        Table {
            caption,
            columns: Vec::new(),
            class: "",
            rows_in_brief: usize::MAX,
            weigh: None,
            rows: Vec::new(),
        }
    }

    /// A row for each thing, of which the columns say what stands in it.
    pub fn of<T>(caption: impl Into<String>, things: impl IntoIterator<Item = T>) -> Rows<T> {
        let things: Vec<T> = things.into_iter().collect();
        let rows = things.iter().map(|_| Row::default()).collect();
        Rows { table: Table { rows, ..Table::empty(caption.into()) }, things }
    }

    /// Adds columns of figures.
    pub fn add_figures<'a>(&mut self, headings: impl IntoIterator<Item = &'a str>) {
        self.columns.extend(headings.into_iter().map(|heading| column(heading, ColumnKind::Figures)));
    }

    /// Adds a row, with a cell for each column.
    pub fn push<C: Into<Cell>>(&mut self, cells: impl IntoIterator<Item = C>) {
        let cells = cells.into_iter().map(Into::into).collect();
        self.rows.push(Row { cells, ..Row::default() });
    }

    /// Adds a row that sums up the others.
    pub fn push_total<C: Into<Cell>>(&mut self, cells: impl IntoIterator<Item = C>) {
        self.push(cells);
        if let Some(row) = self.rows.last_mut() {
            row.is_total = true;
        }
    }

    /// The table, if it has a row.
    pub fn unless_empty(self) -> Option<Table> {
        (!self.rows.is_empty()).then_some(self)
    }

    /// The same, of which a terminal shows at most so many rows.
    pub fn brief(self, rows: usize) -> Self {
        Table { rows_in_brief: rows, ..self }
    }

    /// Index of the first column of figures.
    pub fn first_figures(&self) -> Option<usize> {
        self.columns.iter().position(|column| column.kind == ColumnKind::Figures)
    }

    /// HTML with `scope` on every heading.
    pub fn html(&self) -> String {
        let mut out = format!(
            "<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"{0}\"><table class=\"{1}\"><caption>{0}</caption><thead><tr>",
            text::html(&self.caption),
            self.class
        );
        for column in self.drawn_columns().map(|at| &self.columns[at]) {
            let class = alignment(column);
            let heading = column.heading.replace('\n', " ");
            let _ = write!(out, "<th scope=\"col\"{class}>{}</th>", text::html(&heading));
        }
        out.push_str("</tr></thead><tbody>\n");
        for row in &self.rows {
            out.push_str(if row.is_small { "<tr class=\"small\">" } else { "<tr>" });
            for (at, cell) in self.drawn_columns().filter_map(|at| Some((at, row.cells.get(at)?))) {
                let full = cell.full();
                let lines: Vec<String> = full.split('\n').map(text::prose).collect();
                let is_absent = matches!(cell, Cell::Absent { why, .. } if !why.is_empty());
                let styled = match cell {
                    Cell::Styled { class, tip, .. } => {
                        format!(" class=\"{}\" title=\"{}\"", text::html(class), text::html(tip))
                    }
                    _ => String::new(),
                };
                let class = match (is_absent, full.contains('\n'), alignment(&self.columns[at])) {
                    _ if !styled.is_empty() => &styled,
                    (true, ..) => " class=\"na\"",
                    (_, true, "") => " class=\"lines\"",
                    (.., alignment) => alignment,
                };
                let cell = lines.join("<br>");
                let _ = if at == 0 {
                    write!(out, "<th scope=\"row\"><bdi>{cell}</bdi></th>")
                } else {
                    write!(out, "<td{class}><bdi>{cell}</bdi></td>")
                };
            }
            out.push_str("</tr>\n");
        }
        out.push_str("</tbody></table></div>");
        if self.rows.len() > ROWS_ON_PAPER {
            let _ = write!(
                out,
                "<p class=\"on-paper\">The first {ROWS_ON_PAPER} rows; the page has {}.</p>",
                self.rows.len()
            );
        }
        out
    }

    /// A Markdown table under its caption.
    pub fn markdown(&self) -> String {
        let line = |cells: &mut dyn Iterator<Item = String>| {
            format!("| {} |\n", cells.collect::<Vec<_>>().join(" | "))
        };
        let lines = |cell: &str| cell.split('\n').map(text::markdown).collect::<Vec<_>>().join("<br>");
        let columns: Vec<usize> = self.drawn_columns().collect();
        let mut out = format!("**{}**\n\n", text::markdown(&self.caption));
        let heading = |at: &usize| text::markdown(&self.columns[*at].heading.replace('\n', " "));
        out += &line(&mut columns.iter().map(heading));
        let rule = |at: &usize| if self.columns[*at].kind == ColumnKind::Figures { "---:" } else { "---" };
        out += &line(&mut columns.iter().map(|at| rule(at).to_owned()));
        for row in &self.rows {
            let cells = columns.iter().map(|at| row.cells.get(*at).map_or_else(String::new, Cell::full));
            out += &line(&mut cells.map(|cell| lines(&cell)));
        }
        out
    }

    /// Indices of the columns that pages and Markdown have.
    fn drawn_columns(&self) -> impl Iterator<Item = usize> + '_ {
        (0..self.columns.len()).filter(|at| self.columns[*at].kind != ColumnKind::Bar)
    }
}

fn column(heading: impl Into<String>, kind: ColumnKind) -> Column {
    Column { heading: heading.into(), short: String::new(), kind, shown: ColumnShown::Everywhere }
}

fn alignment(column: &Column) -> &'static str {
    if column.kind == ColumnKind::Figures { " class=\"n\"" } else { "" }
}

/// A table that gets its columns one after the other.
pub struct Rows<T> {
    things: Vec<T>,
    table: Table,
}

impl<T> Rows<T> {
    /// The next column, of words.
    pub fn words<C: Into<Cell>>(self, heading: impl Into<String>, cell: impl Fn(&T) -> C) -> Self {
        self.column(column(heading, ColumnKind::Words), cell)
    }

    /// The next column, of figures, which stand right.
    pub fn figures<C: Into<Cell>>(self, heading: impl Into<String>, cell: impl Fn(&T) -> C) -> Self {
        self.column(column(heading, ColumnKind::Figures), cell)
    }

    /// The next column, of bars for shares from 0 to 1; only a terminal has it.
    pub fn bars(self, cell: impl Fn(&T) -> Option<f64>) -> Self {
        self.column(column("", ColumnKind::Bar), |thing| {
            cell(thing).map_or_else(|| Cell::from(""), Cell::Bar)
        })
        .if_room()
    }

    fn column<C: Into<Cell>>(mut self, column: Column, cell: impl Fn(&T) -> C) -> Self {
        self.table.columns.push(column);
        for (row, thing) in self.table.rows.iter_mut().zip(&self.things) {
            row.cells.push(cell(thing).into());
        }
        self
    }

    /// The last column has a shorter heading on a terminal.
    pub fn called(mut self, short: impl Into<String>) -> Self {
        if let Some(column) = self.table.columns.last_mut() {
            column.short = short.into();
        }
        self
    }

    /// The last column is left out where a terminal is too narrow.
    pub fn if_room(self) -> Self {
        self.shown(ColumnShown::IfRoom)
    }

    /// The last column is of less use than others: all of these are left out together, before those that are there if there is room.
    pub fn if_wide(self) -> Self {
        self.shown(ColumnShown::IfWide)
    }

    /// The last column, of long texts, stands below each row on a terminal.
    pub fn below(self) -> Self {
        self.shown(ColumnShown::BelowRow)
    }

    /// The last column is on the page and in Markdown alone.
    pub fn page_only(self) -> Self {
        self.shown(ColumnShown::PageOnly)
    }

    fn shown(mut self, shown: ColumnShown) -> Self {
        if let Some(column) = self.table.columns.last_mut() {
            column.shown = shown;
        }
        self
    }

    /// Folds the rows of things that are small.
    pub fn folded(mut self, is_small: impl Fn(&T) -> bool) -> Self {
        for (row, thing) in self.table.rows.iter_mut().zip(&self.things) {
            row.is_small = is_small(thing);
        }
        self
    }

    /// Where a terminal has no room for all rows, it shows those of the lowest rank, in the order of the table.
    pub fn ranked(mut self, rank: impl Fn(&T) -> usize) -> Self {
        for (row, thing) in self.table.rows.iter_mut().zip(&self.things) {
            row.rank = rank(thing);
        }
        self
    }

    /// Makes a tree of it, whose first column holds paths: rank and weight of each row, and how the weight of folded ones is written.
    pub fn tree(mut self, rank_and_weight: impl Fn(&T) -> (usize, u64), weigh: fn(u64) -> String) -> Self {
        self.table.weigh = Some(weigh);
        for (row, thing) in self.table.rows.iter_mut().zip(&self.things) {
            (row.rank, row.weight) = rank_and_weight(thing);
        }
        self
    }

    /// The table with all of them, of this class.
    pub fn class(self, class: &'static str) -> Table {
        Table { class, ..self.table }
    }

    /// The table with all of them.
    pub fn table(self) -> Table {
        self.table
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::document::{Answer, Document, Section};
    use crate::terminal::{Extent, TerminalView};

    fn text(tables: impl IntoIterator<Item = Table>, width: u16) -> String {
        let section = Section::new("tables", "Tables", tables.into_iter().map(Into::into));
        let document =
            Document { sections: vec![section], ..Document::new("A test", "Tables", Answer::default()) };
        document.terminal(TerminalView { width, color: false, extent: Extent::All })
    }

    #[test]
    fn columns_of_less_use_go_first_and_two_tables_alike_say_so_once() {
        let tables = || {
            let rows = || Table::of("Widths", ["a name of more than twenty-six letters"]);
            let rows = || rows().words("Name", |name| *name).figures("One", |_| "1".repeat(16)).if_wide();
            let rows = || rows().figures("Two", |_| "2".repeat(16)).if_room();
            [0; 2].map(|_| rows().figures("Three", |_| "3".repeat(4)).if_wide().words("None", |_| "").table())
        };
        let wide = text(tables(), 120);
        assert!(
            wide.contains("One")
                && wide.contains("Two")
                && !wide.contains("Not in")
                && !wide.contains("None"),
            "{wide}"
        );
        let narrow = text(tables(), 60);
        assert_eq!(narrow.matches("Not in this width: One, Three.").count(), 1, "{narrow}");
        assert!(narrow.contains("2222") && !narrow.contains("1111"), "{narrow}");
    }

    #[test]
    fn rows_of_the_lowest_rank_are_shown_in_the_order_of_the_table() {
        let rows = Table::of("Ranks", [3, 1, 2, 0]).words("Rank", |rank| format!("r{rank}"));
        let shown = text([rows.ranked(|rank| *rank).table().brief(2)], 80);
        let at = |part: &str| shown.find(part).unwrap_or_else(|| panic!("{part} in {shown}"));
        assert!(at("r1") < at("r0") && !shown.contains("r3") && !shown.contains("r2"), "{shown}");
        assert!(shown.contains("2 more rows (--json has them)"), "{shown}");
    }
}
