//! The one way to lay out a table or a tree on a terminal.
//!
//! A table that is too wide first wraps its columns of words, then leaves out columns that are marked so, and says which; what is too wide
//! even then becomes a list of its rows. Figures are never wrapped or cut.

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
/// Between columns: the padding of one, and the place of a vertical line, which is blank.
const GAP: usize = 2;
/// The same at both ends of a line; cut off on the left.
const BORDERS: usize = 2;

/// Writes a table under its caption; of a tree the `entries` that are biggest.
pub fn write(out: &mut Terminal, table: &Table, entries: usize) {
    out.line(&out.ink.dim(&crate::text::clean(&table.caption)));
    let rows = Shown::of(table, entries);
    let columns = columns_that_fit(table, &rows, out.width);
    match columns {
        Some(columns) => {
            out.text(&laid_out(out, table, &rows, &columns));
            let left: Vec<&str> = (0..table.columns.len())
                .filter(|at| !columns.contains(at) && table.columns[*at].kind != ColumnKind::Bar)
                .map(|at| table.columns[at].heading.as_str())
                .collect();
            if !left.is_empty() {
                out.paragraph(0, &format!("Not in this width: {}.", left.join(", ")), Ink::dim);
            }
        }
        None => listed(out, table, &rows),
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
                let of = format!("{} of {name}", column.heading.replace('\n', " "));
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

/// Indices of the columns that fit when words are wrapped; `None` where even those that must not be left out do not.
fn columns_that_fit(table: &Table, shown: &Shown, room: usize) -> Option<Vec<usize>> {
    let mut columns: Vec<usize> =
        (0..table.columns.len()).filter(|at| !table.columns[*at].is_page_only).collect();
    loop {
        let least: usize = columns.iter().map(|at| least_width(table, shown, *at) + GAP).sum();
        if least.saturating_sub(GAP) <= room {
            return Some(columns);
        }
        let last = columns.iter().rposition(|at| table.columns[*at].is_if_room)?;
        columns.remove(last);
    }
}

/// Columns that a column needs at least.
fn least_width(table: &Table, shown: &Shown, at: usize) -> usize {
    let column = &table.columns[at];
    if column.kind == ColumnKind::Bar {
        return BAR;
    }
    let cells = shown.rows.iter().map(|line| longest_line(&cell_text(table, line, at)));
    let natural = cells.max().unwrap_or(0);
    let heading = column.heading.split(['\n', ' ']).map(width).max().unwrap_or(0);
    match (column.kind, at) {
        (ColumnKind::Words, 0) => natural.min(NAME_MIN).max(heading),
        (ColumnKind::Words, _) => natural.min(WORDS_MIN).max(heading),
        _ => natural.max(heading),
    }
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

fn laid_out(out: &Terminal, table: &Table, shown: &Shown, columns: &[usize]) -> String {
    let mut grid = comfy_table::Table::new();
    grid.load_style(STYLE)
        .set_width((out.width + BORDERS) as u16)
        .set_content_arrangement(ContentArrangement::Disabled);
    if out.ink.0 {
        grid.enforce_styling();
    } else {
        grid.force_no_tty();
    }
    let least: Vec<usize> = columns.iter().map(|at| least_width(table, shown, *at)).collect();
    let headings = columns.iter().zip(&least).map(|(at, least)| {
        let column = &table.columns[*at];
        let natural = shown.rows.iter().map(|line| longest_line(&cell_text(table, line, *at))).max();
        let heading = wrap(&column.heading.replace('\n', " "), natural.unwrap_or(0).max(*least)).join("\n");
        aligned(Field::new(heading), column.kind)
    });
    grid.set_header(headings.collect::<Vec<_>>());
    for line in &shown.rows {
        let cells = columns.iter().map(|at| {
            let kind = table.columns[*at].kind;
            if let (ColumnKind::Bar, Line::Row(row)) = (kind, line) {
                return Field::new(row.cells[*at].share().map_or_else(String::new, |share| bar(share, BAR)));
            }
            let field = aligned(Field::new(cell_text(table, line, *at)), kind);
            let look = match line {
                Line::Row(row) if row.is_total || (*at == 0 && row.level() == 0 && table.weigh.is_some()) => {
                    Look::Strong
                }
                Line::Row(row) => row.cells.get(*at).map_or(Look::Plain, Cell::look),
                Line::Folded { .. } => Look::Dim,
            };
            match look {
                Look::Plain => field,
                Look::Strong => field.add_attribute(Attribute::Bold),
                Look::Dim => field.add_attribute(Attribute::Dim),
                Look::Good => field.fg(Color::Green),
                Look::Bad => field.fg(Color::Yellow),
            }
        });
        grid.add_row(cells.collect::<Vec<_>>());
    }
    for at in 0..columns.len() {
        if let Some(column) = grid.column_mut(at) {
            column.set_padding((0, if at + 1 == columns.len() { 0 } else { GAP as u16 - 1 }));
        }
    }
    if grid.lines().any(|line| out.width + 1 < width(line.trim_end())) {
        grid.set_content_arrangement(ContentArrangement::Dynamic);
        for (at, least) in least.iter().enumerate() {
            if let Some(column) = grid.column_mut(at) {
                column
                    .set_constraint(ColumnConstraint::LowerBoundary(Width::Fixed((*least + GAP - 1) as u16)));
            }
        }
    }
    // With styles a line has more letters than columns.
    let most = if out.ink.0 { usize::MAX } else { out.width };
    grid.lines().map(|line| line.chars().skip(1).take(most).chain(['\n']).collect::<String>()).collect()
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
            let heading = column.heading.replace('\n', " ");
            for (number, part) in text.split('\n').enumerate() {
                let head = if number == 0 { format!("  {heading}: ") } else { "    ".to_owned() };
                out.hanging(&head, 4, part, Ink::plain);
            }
        }
    }
}
