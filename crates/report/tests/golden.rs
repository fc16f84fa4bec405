//! The forms of a document as kept files: every kind of result goes through [`expect`].

use assay_kit::document::Block;
use assay_report::{Document, EntriesShown, TerminalView};
use expect_test::expect_file;

/// The document on a terminal of so many columns.
pub fn terminal(document: &Document, width: u16) -> String {
    terminal_with(document, width, EntriesShown::All)
}

fn terminal_with(document: &Document, width: u16, entries: EntriesShown) -> String {
    document.terminal(TerminalView { width, color: false, entries })
}

/// Its page.
pub fn page(document: &Document) -> String {
    let mut out = Vec::new();
    document.write_html(&mut out).expect("a vector takes all bytes");
    String::from_utf8(out).expect("UTF-8")
}

/// The text for terminals of 60, 80 and 120 columns, of which each line fits, and Markdown; each has every section of the page, or names it.
#[track_caller]
pub fn expect(name: &str, document: &Document) {
    expect_with(name, document, EntriesShown::All);
}

/// The same, with so many entries of a tree on the terminal.
#[track_caller]
pub fn expect_with(name: &str, document: &Document, entries: EntriesShown) {
    for width in [60, 80, 120] {
        let text = terminal_with(document, width, entries);
        fits(&text, width);
        has_sections(&text, document);
        expect_file![format!("golden/{name}-{width}.txt")].assert_eq(&text);
    }
    let markdown = document.markdown();
    has_sections(&markdown, document);
    expect_file![format!("golden/{name}.md")].assert_eq(&markdown);
}

/// Whether each section of the page is in this form, or named as left out: one that is a chart alone by the chart, which is named within
/// a sentence.
#[track_caller]
fn has_sections(text: &str, document: &Document) {
    let words = text.split_whitespace().collect::<Vec<_>>().join(" ");
    for section in document.sections.iter().filter(|of| !of.blocks.iter().all(Block::is_empty)) {
        let is_chart = section.blocks.iter().all(|block| matches!(block, Block::Figure(_)));
        let is_there =
            words.contains(section.title) || (is_chart && words.contains(&section.title.to_lowercase()));
        assert!(is_there, "{} in {text}", section.title);
    }
}

/// Whether each line is at most so wide, and without styles.
#[track_caller]
pub fn fits(text: &str, width: u16) {
    let widest = text.lines().max_by_key(|line| line.chars().count()).unwrap_or_default();
    assert!(widest.chars().count() <= usize::from(width), "{widest:?} at {width}");
    assert!(!text.contains('\u{1b}'), "escape sequences without colour");
}
