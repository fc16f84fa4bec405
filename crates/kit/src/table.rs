//! A table as data, rendered to HTML or Markdown: every picture has one behind it.

use crate::text;
use std::fmt::Write as _;

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
            rows: Vec::new(),
        }
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
        for row in &self.rows {
            out.push_str("<tr>");
            for (index, cell) in row.iter().enumerate() {
                let lines: Vec<String> = cell.split('\n').map(text::html).collect();
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
