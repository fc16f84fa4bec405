//! Cells of a table on a terminal stand apart: between two of a row there is a blank.

use super::golden::WIDTHS;
use assay_kit::Table;
use assay_kit::document::{Block, Document, Figure};
use assay_kit::ink::Ink;
use std::collections::BTreeSet;

/// Whether no two cells of a row touch.
#[track_caller]
pub fn are_apart(text: &str, document: &Document) {
    assert_eq!(touching(text, document), None, "{text}");
}

/// A word of the text that is a word of one cell with one of a cell right of it, in a table of the document. Markdown, where a line stands
/// between cells, and drawings tell which words there are.
fn touching(text: &str, document: &Document) -> Option<(String, String)> {
    let (mut tables, mut figures) = (Vec::new(), Vec::from_iter(&document.answer.chart));
    let blocks = document.answer.rest.iter().chain(document.sections.iter().flat_map(|of| &of.blocks));
    blocks.for_each(|block| add(block, &mut tables, &mut figures));
    tables.extend(figures.iter().flat_map(|figure| &figure.behind));
    let mut known = words(&document.markdown().replace('\\', ""));
    tables.iter().for_each(|table| known.extend(cells(table).flatten().flat_map(|cell| words(&cell))));
    for draw in figures.iter().filter_map(|figure| figure.in_text.as_ref()) {
        known
            .extend(WIDTHS.iter().flat_map(|width| words(&draw(usize::from(*width), Ink(false)).join("\n"))));
    }
    // The line that says how many more there are.
    let written = text.lines().filter(|line| !line.ends_with(" has them)"));
    let written = words(&written.collect::<Vec<_>>().join("\n"));
    let foreign: BTreeSet<String> = written.difference(&known).cloned().collect();
    let rows = tables.iter().flat_map(|table| cells(table));
    let pairs = rows.flat_map(|row| neighbours(&row).into_iter().collect::<Vec<_>>());
    pairs.into_iter().find(|(one, other)| foreign.contains(&format!("{one}{other}")))
}

/// Words of each cell with those of all cells right of it: which of these are next to it depends on the columns that are shown.
fn neighbours(row: &[String]) -> BTreeSet<(String, String)> {
    let right = |at: usize| row[at + 1..].iter().flat_map(|cell| words(cell));
    let of_cell = |(at, cell): (usize, &String)| {
        let words = words(cell).into_iter();
        words.flat_map(|one| right(at).map(move |other| (one.clone(), other))).collect::<Vec<_>>()
    };
    row.iter().enumerate().flat_map(of_cell).collect()
}

fn words(text: &str) -> BTreeSet<String> {
    text.split_whitespace().map(str::to_owned).collect()
}

/// Texts of the cells of each row.
fn cells(table: &Table) -> impl Iterator<Item = Vec<String>> + '_ {
    table.rows.iter().map(|row| row.cells.iter().map(|cell| cell.brief()).collect())
}

fn add<'a>(block: &'a Block, tables: &mut Vec<&'a Table>, figures: &mut Vec<&'a Figure>) {
    match block {
        Block::Table(table) => tables.push(table),
        Block::Figure(figure) => figures.push(figure),
        Block::Folded(_, within) | Block::InFull(within) => {
            within.iter().for_each(|block| add(block, tables, figures));
        }
        _ => {}
    }
}

#[test]
fn cells_that_touch_are_found() {
    let mut table = Table::new("Figures", &["Name", "Rate", "Time"], 1);
    table.push(["one two", "12.3", "4.56 ms"]);
    let section = assay_kit::document::Section::new("figures", "Figures", [table.into()]);
    let document = Document { sections: vec![section], ..Document::new("Test", "Test", Default::default()) };
    assert_eq!(touching("one two  12.3  4.56 ms", &document), None);
    for text in ["one two12.3  4.56 ms", "one two  12.34.56 ms"] {
        assert!(touching(text, &document).is_some(), "{text}");
    }
}
