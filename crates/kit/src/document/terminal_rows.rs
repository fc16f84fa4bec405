//! Which rows of a table or a tree a terminal shows, and what stands in their cells.

use crate::number::count;
use crate::table::{Cell, ColumnKind, ColumnShown, Row, Table};
use crate::terminal::Extent;

/// A row of the terminal.
pub enum Line<'a> {
    /// One of the table.
    Row(&'a Row),
    /// So many smaller ones of a level, with what they add up to.
    Folded { level: usize, rows: usize, weight: u64 },
}

impl Line<'_> {
    /// How deep it is in a tree, from 0.
    pub fn level(&self) -> usize {
        match self {
            Line::Row(row) => row.level(),
            Line::Folded { level, .. } => *level,
        }
    }

    /// What stands in a cell, without styles; the name of a row of a tree without its indent.
    pub fn cell(&self, table: &Table, at: usize) -> String {
        match self {
            Line::Row(row) => row.cells.get(at).map_or_else(String::new, Cell::brief),
            Line::Folded { rows, .. } if at == 0 => format!("{} more", count(*rows as u64)),
            Line::Folded { weight, .. } if table.first_figures() == Some(at) => {
                table.weigh.map_or_else(String::new, |weigh| weigh(*weight))
            }
            Line::Folded { .. } => String::new(),
        }
    }

    /// The same with the indent of a tree.
    pub fn text(&self, table: &Table, at: usize) -> String {
        let indent = if at == 0 { "  ".repeat(self.level()) } else { String::new() };
        format!("{indent}{}", self.cell(table, at))
    }
}

/// What of a table or a tree is to be shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Wanted {
    /// Entries, at most.
    pub entries: usize,
    /// Whether the roots of a tree may be folded as other rows are.
    pub folds_roots: bool,
    /// Whether long texts stand below their rows.
    pub has_below: bool,
}

impl Wanted {
    /// What a terminal with this extent shows.
    pub fn of(extent: Extent) -> Self {
        Wanted { entries: extent.entries(), folds_roots: extent == Extent::Short, has_below: true }
    }
}

/// The rows that are shown.
pub struct ShownRows<'a> {
    /// In the order of the table, totals last.
    pub rows: Vec<Line<'a>>,
    /// Rows that would be shown without a limit.
    pub all: usize,
}

impl<'a> ShownRows<'a> {
    /// Of a tree the `entries` that are biggest; of a table as many rows, unless it has fewer in brief: those of the lowest rank.
    pub fn of(table: &'a Table, wanted: Wanted) -> Self {
        if table.weigh.is_some() {
            let rows = tree(table, wanted);
            return ShownRows { all: rows.len(), rows };
        }
        let (totals, rows): (Vec<&Row>, Vec<&Row>) = table.rows.iter().partition(|row| row.is_total);
        // A single row more takes no more room than the line that says that it is left out.
        let most = table.rows_in_brief.min(wanted.entries).max(1);
        let most = if rows.len() - rows.len().min(most) == 1 { rows.len() } else { most };
        let mut by_rank: Vec<usize> = (0..rows.len()).collect();
        by_rank.sort_by_key(|at| rows[*at].rank);
        let mut shown: Vec<usize> = by_rank.into_iter().take(most).collect();
        shown.sort_unstable();
        let shown = shown.into_iter().map(|at| rows[at]).chain(totals).map(Line::Row);
        ShownRows { all: table.rows.len(), rows: shown.collect() }
    }

    /// Whether no row has anything in a column but for its heading.
    pub fn is_blank(&self, table: &Table, at: usize) -> bool {
        let is_empty = |line: &Line| line.cell(table, at).is_empty();
        table.columns[at].kind != ColumnKind::Bar && self.rows.iter().all(is_empty)
    }

    /// Why cells are absent, and which these are; each reason once.
    pub fn absent(&self, table: &Table) -> Vec<(String, String)> {
        let mut reasons: Vec<(String, Vec<String>)> = Vec::new();
        for row in
            self.rows.iter().filter_map(|line| if let Line::Row(row) = line { Some(row) } else { None })
        {
            for (cell, column) in row.cells.iter().zip(&table.columns) {
                let Cell::Absent { why, .. } = cell else { continue };
                if why.is_empty() || column.shown == ColumnShown::PageOnly {
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

/// The rows of a tree: branches whose biggest entry is among the `entries` biggest, and a line for what is folded of each branch. A
/// single row is not folded where others of its branch are shown: the line would take as much room. Where all rows of a branch are small,
/// the branch itself says what they add up to.
fn tree(table: &Table, wanted: Wanted) -> Vec<Line<'_>> {
    let mut lines = Vec::new();
    let mut folded: Vec<(usize, usize, u64)> = Vec::new();
    let mut hidden_below: Option<usize> = None;
    let flush = |folded: &mut Vec<(usize, usize, u64)>, level: usize, lines: &mut Vec<Line>| {
        while let Some((at, rows, weight)) = folded.pop_if(|(at, ..)| level < *at) {
            lines.push(Line::Folded { level: at, rows, weight });
        }
    };
    for (row, (rows, small)) in table.rows.iter().zip(siblings(table, wanted)) {
        let level = row.level();
        if hidden_below.is_some_and(|hidden| hidden < level) {
            continue;
        }
        hidden_below = None;
        let is_alone = small == 1 && 1 < rows;
        if is_small(row, wanted) && !is_alone {
            hidden_below = Some(level);
            flush(&mut folded, level, &mut lines);
            if small == rows {
                continue;
            }
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
    // The roots that a short answer folds.
    lines.extend(folded.pop().map(|(level, rows, weight)| Line::Folded { level, rows, weight }));
    lines
}

fn is_small(row: &Row, wanted: Wanted) -> bool {
    wanted.entries <= row.rank && (wanted.folds_roots || row.level() != 0)
}

/// For each row of a tree how many rows its branch has, and how many of them are small.
fn siblings(table: &Table, wanted: Wanted) -> Vec<(usize, usize)> {
    let (mut branches, mut branch_of): (Vec<(usize, usize)>, Vec<usize>) = (vec![(0, 0)], Vec::new());
    // The branch that the rows of each level belong to.
    let mut open = vec![0];
    for row in &table.rows {
        open.truncate(row.level() + 1);
        let branch = open.last().copied().unwrap_or(0);
        branches[branch].0 += 1;
        branches[branch].1 += usize::from(is_small(row, wanted));
        branch_of.push(branch);
        open.push(branches.len());
        branches.push((0, 0));
    }
    branch_of.into_iter().map(|branch| branches[branch]).collect()
}
