//! The one way to lay out a table or a tree on a terminal.
//!
//! A table that is too wide first wraps its columns of words, then leaves out columns that are marked so, and says which; then it becomes
//! several, each with the column of names, and at last a list of its rows. Figures are never wrapped or cut.

use crate::ink::{Ink, bar, width, wrap};
use crate::number::count;
use crate::table::{Cell, ColumnKind, Look, Row, Table};
use crate::terminal::Terminal;
use comfy_table::{
    Attribute, Cell as Field, CellAlignment, Color, ColumnConstraint, ContentArrangement, LineStyle,
    TableStyle, Width,
};

/// A rule under the heading and no other lines.
const STYLE: TableStyle = TableStyle::new().header_separator(LineStyle::new('─', '─', '─', '─'));
/// Columns of words are not wrapped to fewer, unless they have fewer.
const WORDS_MIN: usize = 18;
/// The same of the first column.
const NAME_MIN: usize = 26;
/// Columns of a bar.
const BAR: usize = 16;
/// Words that are longer are broken where there is little room.
const WORD_MAX: usize = 26;
/// Columns to which a heading is not wrapped, where there is room.
const HEADING: usize = 12;
/// Between columns: the padding of one, and the place of a vertical line, which is blank.
const GAP: usize = 2;
/// The same at both ends of a line; cut off on the left.
const BORDERS: usize = 2;

/// Writes a table under its caption; of a tree the `entries` that are biggest.
pub fn write(out: &mut Terminal, table: &Table, entries: usize) {
    out.paragraph(0, &crate::text::clean(&table.caption), Ink::dim);
    let rows = Shown::of(table, entries);
    let columns = columns_with_room(table, &rows, out.width);
    match parts_that_fit(table, &rows, &columns, out.width) {
        Some(parts) => {
            for (number, part) in parts.iter().enumerate() {
                if number != 0 {
                    out.blank();
                }
                out.text(&laid_out(out, table, &rows, part));
            }
        }
        None => listed(out, table, &rows),
    }
    let left = (0..table.columns.len()).filter(|at| !columns.contains(at)).map(|at| &table.columns[at]);
    let left: Vec<&str> = left
        .filter(|column| column.kind != ColumnKind::Bar && !column.is_page_only)
        .map(|column| column.brief())
        .collect();
    if !left.is_empty() {
        out.paragraph(0, &format!("Not in this width: {}.", left.join(", ")), Ink::dim);
    }
    let only = table.columns.iter().filter(|column| column.is_page_only).count();
    if only != 0 {
        out.paragraph(0, &format!("{} more columns are on the page.", count(only as u64)), Ink::dim);
    }
    out.more((rows.all, rows.rows.len()), "", "more rows (--json has them)");
    for (why, of) in rows.absent(table) {
        out.paragraph(0, &format!("not available: {of}: {why}"), Ink::dim);
    }
}

/// A row of the terminal.
enum Line<'a> {
    /// One of the table.
    Row(&'a Row),
    /// So many smaller ones of a level, with what they add up to.
    Folded { level: usize, rows: usize, weight: u64 },
}

struct Shown<'a> {
    rows: Vec<Line<'a>>,
    /// Rows that would be shown without a limit.
    all: usize,
}

impl<'a> Shown<'a> {
    fn of(table: &'a Table, entries: usize) -> Self {
        if table.weigh.is_some() {
            let rows = tree(table, entries);
            return Shown { all: rows.len(), rows };
        }
        let (totals, rows): (Vec<&Row>, Vec<&Row>) = table.rows.iter().partition(|row| row.is_total);
        // A single row more takes no more room than the line that says that it is left out.
        let most = table.rows_in_brief.max(1);
        let most = if rows.len() - rows.len().min(most) == 1 { rows.len() } else { most };
        let shown = rows.into_iter().take(most).chain(totals).map(Line::Row);
        Shown { all: table.rows.len(), rows: shown.collect() }
    }

    /// Why cells are absent, and which these are; each reason once.
    fn absent(&self, table: &Table) -> Vec<(String, String)> {
        let mut reasons: Vec<(String, Vec<String>)> = Vec::new();
        for row in
            self.rows.iter().filter_map(|line| if let Line::Row(row) = line { Some(row) } else { None })
        {
            for (cell, column) in row.cells.iter().zip(&table.columns) {
                let Cell::Absent { why, .. } = cell else { continue };
                if why.is_empty() {
                    continue;
                }
                let name = row.cells.first().map_or_else(String::new, Cell::brief);
                let of = format!("{} of {name}", column.brief().replace('\n', " "));
                match reasons.iter_mut().find(|(known, _)| known == why) {
                    Some((_, all)) => all.push(of),
                    None => reasons.push((why.clone(), vec![of])),
                }
            }
        }
        reasons.into_iter().map(|(why, of)| (why, of.join(", "))).collect()
    }
}

/// The rows of a tree: branches whose biggest entry is among the `entries` biggest, and a line for what is folded of each branch.
fn tree(table: &Table, entries: usize) -> Vec<Line<'_>> {
    let mut lines = Vec::new();
    let mut folded: Vec<(usize, usize, u64)> = Vec::new();
    let mut hidden_below: Option<usize> = None;
    let flush = |folded: &mut Vec<(usize, usize, u64)>, level: usize, lines: &mut Vec<Line>| {
        while let Some((at, rows, weight)) = folded.pop_if(|(at, ..)| level < *at) {
            lines.push(Line::Folded { level: at, rows, weight });
        }
    };
    for row in &table.rows {
        let level = row.level();
        if hidden_below.is_some_and(|hidden| hidden < level) {
            continue;
        }
        hidden_below = None;
        if entries <= row.rank && level != 0 {
            hidden_below = Some(level);
            flush(&mut folded, level, &mut lines);
            match folded.last_mut().filter(|(at, ..)| *at == level) {
                Some((_, rows, weight)) => {
                    *rows += 1;
                    *weight = weight.saturating_add(row.weight);
                }
                None => folded.push((level, 1, row.weight)),
            }
            continue;
        }
        flush(&mut folded, level, &mut lines);
        lines.push(Line::Row(row));
    }
    flush(&mut folded, 0, &mut lines);
    lines
}

/// Indices of the columns without those that may be left out where there is no room, as far as need be.
fn columns_with_room(table: &Table, shown: &Shown, room: usize) -> Vec<usize> {
    let mut columns: Vec<usize> =
        (0..table.columns.len()).filter(|at| !table.columns[*at].is_page_only).collect();
    while !fits(table, shown, &columns, room) {
        let Some(last) = columns.iter().rposition(|at| table.columns[*at].is_if_room) else { break };
        columns.remove(last);
    }
    columns
}

fn fits(table: &Table, shown: &Shown, columns: &[usize], room: usize) -> bool {
    let least: usize = columns.iter().map(|at| least_width(table, shown, *at) + GAP).sum();
    least.saturating_sub(GAP) <= room
}

/// The columns in parts that fit when words are wrapped, each with the first column; `None` where a part of two does not.
fn parts_that_fit(table: &Table, shown: &Shown, columns: &[usize], room: usize) -> Option<Vec<Vec<usize>>> {
    let (&name, others) = columns.split_first()?;
    let mut parts = vec![vec![name]];
    for other in others {
        let last = parts.last_mut()?;
        last.push(*other);
        if fits(table, shown, last, room) {
            continue;
        }
        last.pop();
        if last.len() < 2 || !fits(table, shown, &[name, *other], room) {
            return None;
        }
        parts.push(vec![name, *other]);
    }
    Some(parts)
}

/// Columns that a column needs at least.
fn least_width(table: &Table, shown: &Shown, at: usize) -> usize {
    let column = &table.columns[at];
    if column.kind == ColumnKind::Bar {
        return BAR;
    }
    let cells = || shown.rows.iter().map(|line| cell_text(table, line, at));
    let natural = cells().map(|text| longest_line(&text)).max().unwrap_or(0);
    let word = cells().map(|text| longest_word(&text)).max().unwrap_or(0).min(WORD_MAX);
    let heading = column.brief().split(['\n', ' ']).map(width).max().unwrap_or(0);
    match (column.kind, at) {
        (ColumnKind::Words, 0) => natural.min(NAME_MIN.max(word)).max(heading),
        (ColumnKind::Words, _) => natural.min(WORDS_MIN.max(word)).max(heading),
        _ => natural.max(heading),
    }
}

fn longest_word(text: &str) -> usize {
    text.split_whitespace().map(width).max().unwrap_or(0)
}

fn longest_line(text: &str) -> usize {
    text.split('\n').map(width).max().unwrap_or(0)
}

/// What stands in a cell, without styles.
fn cell_text(table: &Table, line: &Line, at: usize) -> String {
    match line {
        Line::Row(row) => {
            let Some(cell) = row.cells.get(at) else { return String::new() };
            let indent = if at == 0 { "  ".repeat(row.level()) } else { String::new() };
            format!("{indent}{}", cell.brief())
        }
        Line::Folded { level, rows, weight } => match at {
            0 => format!("{}{} more", "  ".repeat(*level), count(*rows as u64)),
            _ if table.first_figures() == Some(at) => {
                table.weigh.map_or_else(String::new, |weigh| weigh(*weight))
            }
            _ => String::new(),
        },
    }
}

/// Lines of a table with these columns.
fn laid_out(out: &Terminal, table: &Table, shown: &Shown, columns: &[usize]) -> String {
    let layout = Layout { table, shown, columns, width: out.width, ink: out.ink };
    let mut grid = layout.grid(HEADING);
    if layout.is_too_wide(&grid) {
        grid = layout.grid(0);
    }
    if layout.is_too_wide(&grid) {
        layout.wrap_words(&mut grid);
    }
    grid.lines().map(|line| layout.line(&line) + "\n").collect()
}

/// A table, and what it has room for.
struct Layout<'a> {
    table: &'a Table,
    shown: &'a Shown<'a>,
    columns: &'a [usize],
    width: usize,
    ink: Ink,
}

impl Layout<'_> {
    /// The grid, with headings wrapped to at least so many columns.
    fn grid(&self, heading_min: usize) -> comfy_table::Table {
        let mut grid = comfy_table::Table::new();
        grid.load_style(STYLE)
            .set_width((self.width + BORDERS) as u16)
            .set_content_arrangement(ContentArrangement::Disabled);
        if self.ink.0 {
            grid.enforce_styling();
        } else {
            grid.force_no_tty();
        }
        let heading = |at: &usize| self.heading(*at, heading_min);
        grid.set_header(self.columns.iter().map(heading).collect::<Vec<_>>());
        for line in &self.shown.rows {
            grid.add_row(self.columns.iter().map(|at| self.field(line, *at)).collect::<Vec<_>>());
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
        let natural = self.shown.rows.iter().map(|line| longest_line(&cell_text(self.table, line, at))).max();
        let room = natural.unwrap_or(0).max(least_width(self.table, self.shown, at)).max(least);
        aligned(Field::new(wrap(&column.brief().replace('\n', " "), room).join("\n")), column.kind)
    }

    fn field(&self, line: &Line, at: usize) -> Field {
        let kind = self.table.columns[at].kind;
        if let (ColumnKind::Bar, Line::Row(row)) = (kind, line) {
            let share = row.cells.get(at).and_then(Cell::share);
            return Field::new(share.map_or_else(String::new, |share| bar(share, BAR)));
        }
        let field = aligned(Field::new(cell_text(self.table, line, at)), kind);
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

    fn is_too_wide(&self, grid: &comfy_table::Table) -> bool {
        grid.lines().any(|line| self.width + 1 < width(line.trim_end()))
    }

    fn wrap_words(&self, grid: &mut comfy_table::Table) {
        grid.set_content_arrangement(ContentArrangement::Dynamic);
        for (number, at) in self.columns.iter().enumerate() {
            let least = least_width(self.table, self.shown, *at) + GAP - 1;
            grid.column_mut(number).into_iter().for_each(|column| {
                column.set_constraint(ColumnConstraint::LowerBoundary(Width::Fixed(least as u16)));
            });
        }
    }

    /// A line without the place of the left border. Rules are as wide as the grid, which may be wider by the right one.
    fn line(&self, line: &str) -> String {
        let most = if line.contains('\x1b') { usize::MAX } else { self.width };
        line.chars().skip(1).take(most).collect()
    }
}

fn aligned(field: Field, kind: ColumnKind) -> Field {
    match kind {
        ColumnKind::Figures => field.set_alignment(CellAlignment::Right),
        ColumnKind::Words | ColumnKind::Bar => field,
    }
}

/// Each row as a list of its cells.
fn listed(out: &mut Terminal, table: &Table, shown: &Shown) {
    for line in &shown.rows {
        let name = cell_text(table, line, 0);
        out.paragraph(0, &name, Ink::bold);
        for (at, column) in table.columns.iter().enumerate().skip(1) {
            let text = cell_text(table, line, at);
            if column.kind == ColumnKind::Bar || column.is_page_only || text.is_empty() {
                continue;
            }
            let heading = column.brief().replace('\n', " ");
            let text = text.replace('\n', "; ");
            out.hanging("  - ", 4, &format!("{heading}: {text}"), Ink::plain);
        }
    }
}
