//! The one way to lay out a table or a tree on a terminal.
//!
//! A table that is too wide first leaves out columns of less use, then wraps its columns of words, then leaves out columns that are marked so,
//! and says which; then it becomes several, each with the column of names (a short answer has the first), and at last a list of its rows. Figures are never wrapped or cut.
//! Long texts may stand below their row ([`crate::table::Rows::below`]).

use super::terminal_rows::{Line, ShownRows, Wanted};
use crate::ink::{Ink, bar, width, wrap};
use crate::number::count;
use crate::table::{Cell, ColumnKind, ColumnShown, Look, Table};
use crate::terminal::{Extent, Terminal};
use comfy_table::{
    Attribute, Cell as Field, CellAlignment, Color, ColumnConstraint, ContentArrangement, LineStyle,
    TableStyle, Width,
};

/// A rule under the heading and no other lines.
const STYLE: TableStyle = TableStyle::new().header_separator(LineStyle::new('─', '─', '─', '─'));
/// Between rows where something stands below them. No cell has it: control characters are made visible.
const BELOW: char = '\u{1}';
/// Columns of words are not wrapped to fewer, unless they have fewer.
const WORDS_MIN: usize = 18;
/// The same of the first column.
const NAME_MIN: usize = 26;
/// Columns of a bar.
const BAR: usize = 16;
/// Words that are longer are broken where there is little room.
const WORD_MAX: usize = 26;
/// Columns to which a heading is not wrapped, where there is room.
const HEADING: usize = 14;
/// Between columns: the padding of one, and the place of a vertical line, which is blank.
const GAP: usize = 2;
/// The same at both ends of a line; cut off.
const BORDERS: usize = 2;

/// Writes a table under its caption, as far as it is wanted.
pub fn write(out: &mut Terminal, table: &Table, wanted: Wanted) {
    out.paragraph(0, &crate::text::clean(&table.caption), Ink::dim);
    let rows = ShownRows::of(table, wanted);
    let widths = Widths::of(table, &rows);
    let mut columns = columns_with_room(table, &rows, &widths, out.width);
    match parts_that_fit(&widths, &columns, out.width) {
        Some(mut parts) => {
            if out.extent == Extent::Short {
                parts.truncate(1);
                columns = parts.concat();
            }
            for (number, part) in parts.iter().enumerate() {
                if number != 0 {
                    out.blank();
                }
                let layout = Layout {
                    table,
                    shown: &rows,
                    widths: &widths,
                    columns: part,
                    width: out.width,
                    ink: out.ink,
                };
                for (number, lines) in layout.lines().iter().enumerate() {
                    lines.iter().for_each(|line| out.line(line));
                    rows.rows
                        .get(number)
                        .filter(|_| wanted.has_below)
                        .into_iter()
                        .for_each(|row| below(out, table, row));
                }
            }
        }
        None => listed(out, table, &rows),
    }
    notes(out, table, &rows, &columns);
}

/// What is not shown, and why cells are absent.
fn notes(out: &mut Terminal, table: &Table, rows: &ShownRows, columns: &[usize]) {
    let left = (0..table.columns.len()).filter(|at| !columns.contains(at) && !rows.is_blank(table, *at));
    let left = left.map(|at| &table.columns[at]);
    let left: Vec<&str> = left
        .filter(|column| column.kind != ColumnKind::Bar && column.is_in_grid())
        .map(|column| column.brief())
        .collect();
    if !left.is_empty() {
        out.note(format!("Not in this width: {}.", left.join(", ")));
    }
    let only = table.columns.iter().filter(|column| column.shown == ColumnShown::PageOnly).count();
    if only != 0 {
        out.note(format!("{} more columns are on the page.", count(only as u64)));
    }
    out.more((rows.all, rows.rows.len()), "", "more rows");
    for (why, of) in rows.absent(table) {
        out.paragraph(0, &format!("not available: {of}: {why}"), Ink::dim);
    }
}

/// The columns that are shown. Where they do not fit, those of less use are left out: first all that need a wide terminal, then one after
/// the other, from the last, those that need room, until the rest fits.
fn columns_with_room(table: &Table, shown: &ShownRows, widths: &Widths, room: usize) -> Vec<usize> {
    let has_room = |at: &usize| {
        let column = &table.columns[*at];
        column.is_in_grid() && (*at == 0 || !shown.is_blank(table, *at))
    };
    let mut columns: Vec<usize> = (0..table.columns.len()).filter(has_room).collect();
    if !widths.fit(&columns, room) {
        columns.retain(|at| table.columns[*at].shown != ColumnShown::IfWide);
    }
    while !widths.fit(&columns, room) {
        let is_if_room = |at: &usize| table.columns[*at].shown == ColumnShown::IfRoom;
        let Some(last) = columns.iter().rposition(is_if_room) else { break };
        columns.remove(last);
    }
    columns
}

/// The columns in parts that fit when words are wrapped, each with the first column; `None` where a part of two does not.
fn parts_that_fit(widths: &Widths, columns: &[usize], room: usize) -> Option<Vec<Vec<usize>>> {
    let (&name, others) = columns.split_first()?;
    let mut parts = vec![vec![name]];
    for other in others {
        let last = parts.last_mut()?;
        last.push(*other);
        if widths.fit(last, room) {
            continue;
        }
        last.pop();
        if last.len() < 2 || !widths.fit(&[name, *other], room) {
            return None;
        }
        parts.push(vec![name, *other]);
    }
    Some(parts)
}

/// Terminal columns that each column of a table takes.
struct Widths {
    /// Columns that it needs when its words are wrapped.
    least: Vec<usize>,
    /// Columns that it takes when no cell is wrapped.
    natural: Vec<usize>,
}

impl Widths {
    fn of(table: &Table, shown: &ShownRows) -> Self {
        let both = |at: usize| {
            let column = &table.columns[at];
            if column.kind == ColumnKind::Bar {
                return (BAR, BAR);
            }
            let cells: Vec<String> = shown.rows.iter().map(|line| line.text(table, at)).collect();
            let longest = cells.iter().map(|text| longest_line(text)).max().unwrap_or(0);
            let word = cells.iter().map(|text| longest_word(text)).max().unwrap_or(0).min(WORD_MAX);
            let heading = column.brief().split(['\n', ' ']).map(width).max().unwrap_or(0);
            let cell = match (column.kind, at) {
                (ColumnKind::Words, 0) => longest.min(NAME_MIN.max(word)),
                (ColumnKind::Words, _) => longest.min(WORDS_MIN.max(word)),
                _ => longest,
            };
            (cell.max(heading), longest.max(heading))
        };
        let (least, natural) = (0..table.columns.len()).map(both).unzip();
        Widths { least, natural }
    }

    /// Whether these columns stand beside each other when their words are wrapped.
    fn fit(&self, columns: &[usize], room: usize) -> bool {
        let least: usize = columns.iter().map(|at| self.least[*at] + GAP).sum();
        least.saturating_sub(GAP) <= room
    }
}

fn longest_word(text: &str) -> usize {
    text.split_whitespace().map(width).max().unwrap_or(0)
}

fn longest_line(text: &str) -> usize {
    text.split('\n').map(width).max().unwrap_or(0)
}

/// Some columns of a table, and what they have room for.
struct Layout<'a> {
    table: &'a Table,
    shown: &'a ShownRows<'a>,
    widths: &'a Widths,
    columns: &'a [usize],
    width: usize,
    ink: Ink,
}

impl Layout<'_> {
    /// The lines, up to each row below which something stands.
    fn lines(&self) -> Vec<Vec<String>> {
        let mut grid = self.grid(usize::MAX);
        for heading_min in [HEADING, 0] {
            if self.is_too_wide(&grid) {
                grid = self.grid(heading_min);
            }
        }
        if self.is_too_wide(&grid) {
            self.wrap_words(&mut grid);
        }
        let lines: Vec<String> = grid.lines().map(|line| self.line(&line)).collect();
        lines.split(|line| line.starts_with(BELOW)).map(<[String]>::to_vec).collect()
    }

    /// The grid, with headings wrapped to at least so many columns.
    fn grid(&self, heading_min: usize) -> comfy_table::Table {
        let mut grid = comfy_table::Table::new();
        let has_below = self.table.columns.iter().any(|column| column.shown == ColumnShown::BelowRow);
        let style = if has_below { STYLE.row_separator(LineStyle::none().fill(BELOW)) } else { STYLE };
        grid.load_style(style)
            .set_width((self.width + BORDERS) as u16)
            .set_content_arrangement(ContentArrangement::Disabled);
        if self.ink.0 {
            grid.enforce_styling();
        } else {
            grid.force_no_tty();
        }
        let heading = |at: &usize| self.heading(*at, heading_min);
        grid.set_header(self.columns.iter().map(heading).collect::<Vec<_>>());
        let room_of_names = self.room_of_names();
        for line in &self.shown.rows {
            let fields = self.columns.iter().map(|at| self.field(line, *at, room_of_names));
            grid.add_row(fields.collect::<Vec<_>>());
        }
        for (number, _) in self.columns.iter().enumerate() {
            let is_last = number + 1 == self.columns.len();
            let padding = if is_last { 0 } else { GAP as u16 - 1 };
            grid.column_mut(number).into_iter().for_each(|column| {
                column.set_padding((0, padding));
            });
        }
        grid
    }

    fn heading(&self, at: usize, least: usize) -> Field {
        let column = &self.table.columns[at];
        let heading = column.brief().replace('\n', " ");
        let room = self.widths.natural[at].max(least.min(width(&heading)));
        aligned(Field::new(wrap(&heading, room).join("\n")), column.kind)
    }

    /// Columns for the names of a tree, beside all others as wide as they are.
    fn room_of_names(&self) -> usize {
        let others = self.columns.iter().filter(|at| **at != 0).map(|at| self.widths.natural[*at] + GAP);
        self.width.saturating_sub(others.sum()).max(self.widths.least[0])
    }

    fn field(&self, line: &Line, at: usize, room_of_names: usize) -> Field {
        let kind = self.table.columns[at].kind;
        if let (ColumnKind::Bar, Line::Row(row)) = (kind, line) {
            let share = row.cells.get(at).and_then(Cell::share);
            return Field::new(share.map_or_else(String::new, |share| bar(share, BAR)));
        }
        let text = match (at, self.table.weigh) {
            (0, Some(_)) => branch_name(self.table, line, room_of_names),
            _ => line.text(self.table, at),
        };
        let field = aligned(Field::new(text), kind);
        match self.look(line, at) {
            Look::Plain => field,
            Look::Strong => field.add_attribute(Attribute::Bold),
            Look::Dim => field.add_attribute(Attribute::Dim),
            Look::Good => field.fg(Color::Green),
            Look::Bad => field.fg(Color::Yellow),
        }
    }

    fn look(&self, line: &Line, at: usize) -> Look {
        match line {
            Line::Folded { .. } => Look::Dim,
            Line::Row(row) if row.is_total => Look::Strong,
            Line::Row(row) if at == 0 && row.level() == 0 && self.table.weigh.is_some() => Look::Strong,
            Line::Row(row) => row.cells.get(at).map_or(Look::Plain, Cell::look),
        }
    }

    /// The rule under the headings is as wide as the grid, with what is cut off at both ends.
    fn is_too_wide(&self, grid: &comfy_table::Table) -> bool {
        grid.lines().any(|line| self.width + BORDERS < width(line.trim_end()))
    }

    fn wrap_words(&self, grid: &mut comfy_table::Table) {
        grid.set_content_arrangement(ContentArrangement::Dynamic);
        for (number, at) in self.columns.iter().enumerate() {
            let least = self.widths.least[*at] + GAP - 1;
            grid.column_mut(number).into_iter().for_each(|column| {
                column.set_constraint(ColumnConstraint::LowerBoundary(Width::Fixed(least as u16)));
            });
        }
    }

    /// A line without the place of the left border.
    fn line(&self, line: &str) -> String {
        // With styles a line has more letters than columns.
        let most = if line.contains('\x1b') { usize::MAX } else { self.width };
        line.chars().skip(1).take(most).collect()
    }
}

/// The name of a row of a tree, wrapped behind its indent.
fn branch_name(table: &Table, line: &Line, room: usize) -> String {
    let text = line.text(table, 0);
    if width(&text) <= room {
        return text;
    }
    let indent = 2 * line.level();
    let lines = wrap(&line.cell(table, 0), room.saturating_sub(indent + 2).max(1));
    let lines = lines.iter().enumerate().map(|(number, line)| {
        let indent = if number == 0 { indent } else { indent + 2 };
        format!("{}{line}", " ".repeat(indent))
    });
    lines.collect::<Vec<_>>().join("\n")
}

/// What stands below a row, over the whole width.
fn below(out: &mut Terminal, table: &Table, line: &Line) {
    for at in (0..table.columns.len()).filter(|at| table.columns[*at].shown == ColumnShown::BelowRow) {
        out.paragraph(2 * (line.level() + 1), &line.cell(table, at), Ink::dim);
    }
}

fn aligned(field: Field, kind: ColumnKind) -> Field {
    match kind {
        ColumnKind::Figures => field.set_alignment(CellAlignment::Right),
        ColumnKind::Words | ColumnKind::Bar => field,
    }
}

/// Each row as a list of its cells.
fn listed(out: &mut Terminal, table: &Table, shown: &ShownRows) {
    for line in &shown.rows {
        out.paragraph(0, &line.text(table, 0), Ink::bold);
        for (at, column) in table.columns.iter().enumerate().skip(1) {
            let text = line.cell(table, at);
            if column.kind == ColumnKind::Bar || column.shown == ColumnShown::PageOnly || text.is_empty() {
                continue;
            }
            let heading = column.brief().replace('\n', " ");
            let text = text.replace('\n', "; ");
            out.hanging("  - ", 4, &format!("{heading}: {text}"), Ink::plain);
        }
    }
}
