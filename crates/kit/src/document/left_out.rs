//! What a form without drawings leaves out, by name, so that it can be listed there.

use super::{Block, Document, Figure, Shown};

/// Names of what only the page has: charts, and blocks or sections that are shown there alone.
pub fn names(document: &Document) -> Vec<String> {
    let mut names: Vec<String> = document.answer.chart.iter().filter_map(chart).collect();
    for block in &document.answer.rest {
        of_block(block, "", &mut names);
    }
    for section in &document.sections {
        let is_whole = section.blocks.iter().all(|block| matches!(block, Block::PageOnly(_)));
        if is_whole && !section.blocks.iter().all(Block::is_empty) {
            names.push(section.title.to_owned());
            continue;
        }
        section.blocks.iter().for_each(|block| of_block(block, section.title, &mut names));
    }
    names.dedup();
    names
}

/// A sentence that lists them; absent where nothing is left out.
pub fn sentence(document: &Document) -> Option<String> {
    let names = names(document);
    (!names.is_empty()).then(|| format!("Only on the page: {}.", names.join("; ")))
}

fn chart(figure: &Figure) -> Option<String> {
    let is_left_out = figure.absent.is_none() && figure.in_text.is_none();
    is_left_out.then(|| format!("chart: {}", figure.name))
}

fn of_block(block: &Block, place: &str, names: &mut Vec<String>) {
    match block {
        Block::Figure(figure) => names.extend(chart(figure)),
        Block::Folded(_, blocks) => blocks.iter().for_each(|block| of_block(block, place, names)),
        Block::PageOnly(blocks) => blocks.iter().for_each(|block| of_page_only(block, place, names)),
        _ => {}
    }
}

fn of_page_only(block: &Block, place: &str, names: &mut Vec<String>) {
    if block.is_empty() {
        return;
    }
    match block {
        Block::Table(table) => names.push(table.caption.clone()),
        Block::Figure(figure) => names.extend(chart(figure)),
        Block::Heading(text) | Block::Folded(text, _) => names.push(text.clone()),
        Block::Verbatim { name, .. } => names.push(name.clone()),
        Block::PageOnly(blocks) => blocks.iter().for_each(|block| of_page_only(block, place, names)),
        // What explains a table or a chart goes with it.
        Block::Text(super::Tone::Explanation | super::Tone::Absent, _) => {}
        Block::Text(..) | Block::Items(..) | Block::Terms(_) | Block::Findings(..) => {
            names.extend((!place.is_empty()).then(|| format!("{place}, in full")));
        }
    }
}

/// Whether other forms show the numbers behind a figure.
pub fn shows_behind(figure: &Figure) -> bool {
    figure.absent.is_none() && figure.behind_shown == Shown::Everywhere
}
