//! A table as data, rendered to HTML or Markdown: every picture has one behind it.

use crate::text;
use std::fmt::Write as _;

/// Rows that are printed (`web/report.css`).
const ROWS_ON_PAPER: usize = 14;

/// A table. The first column heads its row; columns with figures are aligned right.
pub struct Table {
    /// What it shows.
    pub caption: String,
    /// Column headings, units included.
    pub columns: Vec<String>,
    /// Class for the styles; `dense` for a table with many columns of figures.
    pub class: &'static str,
    /// Index of the first column with figures.
    pub numeric_from: usize,
    /// Index of the first column behind the figures that holds text again.
    pub text_from: usize,
    /// Indices of rows that are too small to be of interest: the page folds them.
    pub small: Vec<usize>,
    /// Cells, one for each column, not escaped; a line break in a cell stays one.
    pub rows: Vec<Vec<String>>,
}

impl Table {
    /// An empty table.
    pub fn new(caption: impl Into<String>, columns: &[&str], numeric_from: usize) -> Self {
        let columns = columns.iter().map(|&c| c.to_owned()).collect();
        Table {
            caption: caption.into(),
            columns,
            class: "",
            numeric_from,
            text_from: usize::MAX,
            small: Vec::new(),
            rows: Vec::new(),
        }
    }

    /// A row for each thing, of which the columns say what stands in it.
    pub fn of<T>(caption: impl Into<String>, things: impl IntoIterator<Item = T>) -> Rows<T> {
        let things: Vec<T> = things.into_iter().collect();
        let rows = things.iter().map(|_| Vec::new()).collect();
        Rows { table: Table { rows, text_from: 0, ..Table::new(caption, &[], usize::MAX) }, things }
    }

    /// The table, if it has a row.
    pub fn unless_empty(self) -> Option<Table> {
        (!self.rows.is_empty()).then_some(self)
    }

    /// HTML with `scope` on every heading.
    pub fn html(&self) -> String {
        let mut out = format!(
            "<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"{0}\"><table class=\"{1}\"><caption>{0}</caption><thead><tr>",
            text::html(&self.caption),
            self.class
        );
        for (index, column) in self.columns.iter().enumerate() {
            let class = self.alignment(index);
            let _ = write!(out, "<th scope=\"col\"{class}>{}</th>", text::html(column));
        }
        out.push_str("</tr></thead><tbody>\n");
        for (number, row) in self.rows.iter().enumerate() {
            out.push_str(if self.small.contains(&number) { "<tr class=\"small\">" } else { "<tr>" });
            for (index, cell) in row.iter().enumerate() {
                let lines: Vec<String> = cell.split('\n').map(text::prose).collect();
                let absent = ["not available", "skipped"].iter().any(|word| cell.starts_with(word));
                let class = match (absent, cell.contains('\n'), self.alignment(index)) {
                    (true, ..) => " class=\"na\"",
                    (_, true, "") => " class=\"lines\"",
                    (.., alignment) => alignment,
                };
                let cell = lines.join("<br>");
                let _ = if index == 0 {
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
        let mut out = format!("**{}**\n\n", text::markdown(&self.caption));
        out += &line(&mut self.columns.iter().map(|c| text::markdown(c)));
        let rule = |index: usize| if self.is_numeric(index) { "---:" } else { "---" };
        out += &line(&mut (0..self.columns.len()).map(|i| rule(i).to_owned()));
        for row in &self.rows {
            out += &line(&mut row.iter().map(|c| lines(c)));
        }
        out
    }

    fn alignment(&self, index: usize) -> &'static str {
        if self.is_numeric(index) { " class=\"n\"" } else { "" }
    }

    fn is_numeric(&self, index: usize) -> bool {
        (self.numeric_from..self.text_from).contains(&index)
    }
}

/// A table that gets its columns one after the other.
pub struct Rows<T> {
    things: Vec<T>,
    table: Table,
}

impl<T> Rows<T> {
    /// The next column, of text.
    pub fn words(mut self, heading: impl Into<String>, cell: impl Fn(&T) -> String) -> Self {
        self.table.columns.push(heading.into());
        for (row, thing) in self.table.rows.iter_mut().zip(&self.things) {
            row.push(cell(thing));
        }
        self
    }

    /// The next column, of figures, which stand right.
    pub fn figures(mut self, heading: impl Into<String>, cell: impl Fn(&T) -> String) -> Self {
        let at = self.table.columns.len();
        self.table.numeric_from = self.table.numeric_from.min(at);
        self.table.text_from = at + 1;
        self.words(heading, cell)
    }

    /// Folds the rows of things that are small.
    pub fn folded(mut self, is_small: impl Fn(&T) -> bool) -> Self {
        let small = self.things.iter().enumerate().filter(|(_, thing)| is_small(thing));
        self.table.small = small.map(|(number, _)| number).collect();
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
