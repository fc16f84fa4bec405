//! Heaps as Markdown: the answer, then the tables of the page.

use super::mode_words::{self, Proof, mode_of, short};
use super::{modes_page, page, totals, words};
use assay_findings::{next_step, table, told};
use assay_kit::number::xmx;
use assay_kit::text::clean;
use assay_kit::{MarkdownDocument, Table};
use assay_model::{HeapLayouts, HeapModes, HeapPrediction, Problem};

/// A prediction: size by layout, break-even heap sizes, garbage.
pub fn prediction(heap: &HeapPrediction) -> String {
    let evidence = words::evidence(heap).map(|e| format!("Evidence for the current layout: {e}."));
    let answer = [Some(format!("{}.", words::headline(heap))), Some(words::next_step(heap)), evidence];
    MarkdownDocument {
        lines: vec![words::subject(heap)],
        tables: vec![totals::table(heap), page::cross_overs(heap), page::garbage(heap)],
        problems: Problem::listed(&heap.problems),
        ..MarkdownDocument::new(format!("Heap of {}", clean(&heap.source)), answer.into_iter().flatten())
    }
    .markdown()
}

/// An object in every layout.
pub fn layouts(layouts: &HeapLayouts) -> String {
    let class = layouts.layouts.first().map_or("no class".to_owned(), |layout| clean(&layout.class));
    MarkdownDocument {
        lines: vec![format!("Found in {}", clean(&layouts.source))],
        tables: vec![page::layout_table(&layouts.layouts, &class)],
        problems: Problem::listed(&layouts.problems),
        ..MarkdownDocument::new(class.clone(), [format!("{}.", page::layouts_headline(layouts))])
    }
    .markdown()
}

/// Which mode each heap size gets.
pub fn modes(modes: &HeapModes) -> String {
    let advice = told(&modes.advice, "");
    let read = modes.read.iter().map(mode_words::read_sentence);
    let answer =
        [format!("{}.", mode_words::headline(modes)), next_step(&advice, mode_words::next_step(modes))];
    let mut tables = vec![table("What to do", &advice), modes_page::thresholds_table(modes)];
    tables.extend(mode_words::matrices(modes).into_iter().map(matrix));
    MarkdownDocument {
        tables,
        problems: Problem::listed(&modes.problems),
        ..MarkdownDocument::new("Reference modes of this host", answer.into_iter().chain(read))
    }
    .markdown()
}

/// A row for each heap size, a column for each collector, with a mark for how well a mode is known.
fn matrix(of: mode_words::Matrix<'_>) -> Table {
    let mut rows = Table::of(of.title, &of.rows).words("-Xmx", |(max_heap_bytes, _)| xmx(*max_heap_bytes));
    for (at, collector) in of.collectors.iter().enumerate() {
        rows = rows.words(collector, move |(_, cells)| {
            let cell = cells.get(at).copied().flatten();
            let mode =
                |cell| format!("{} {}", mode_of(cell).map_or("not known", short), Proof::of(cell).mark());
            cell.map_or_else(|| "-".to_owned(), |cell| mode(cell).trim_end().to_owned())
        });
    }
    rows.table()
}
