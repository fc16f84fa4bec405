//! The forms of a document as kept files: every kind of result goes through [`expect`].

use super::cells;
use assay_kit::document::Block;
use assay_report::{Document, Extent, TerminalView};
use expect_test::expect_file;

/// Lines of an answer that was not asked to be whole.
const LINES_SHORT: usize = 40;
/// Columns of the terminals.
pub const WIDTHS: [u16; 3] = [60, 80, 120];

/// The whole document on a terminal of so many columns.
pub fn terminal(document: &Document, width: u16) -> String {
    terminal_with(document, width, Extent::All)
}

fn terminal_with(document: &Document, width: u16, extent: Extent) -> String {
    document.terminal(TerminalView { width, color: false, extent })
}

/// Its page.
pub fn page(document: &Document) -> String {
    let mut out = Vec::new();
    document.write_html(&mut out).expect("a vector takes all bytes");
    String::from_utf8(out).expect("UTF-8")
}

/// The text for terminals of 60, 80 and 120 columns, of which each line fits, the short one of 80 columns, and Markdown; each has every
/// section of the page, or names it.
#[track_caller]
pub fn expect(name: &str, document: &Document) {
    expect_with(name, document, Extent::All);
}

/// The same, with so many entries on the terminal.
#[track_caller]
pub fn expect_with(name: &str, document: &Document, extent: Extent) {
    for width in WIDTHS {
        let text = terminal_with(document, width, extent);
        fits(&text, width);
        cells::are_apart(&text, document);
        has_sections(&text, document, |block| !matches!(block, Block::Findings(..)));
        expect_file![format!("golden/{name}-{width}.txt")].assert_eq(&text);
        let short = terminal_with(document, width, Extent::Short);
        fits(&short, width);
        cells::are_apart(&short, document);
        let lines = short.lines().count();
        assert!(lines <= LINES_SHORT, "{lines} lines at {width} columns: {short}");
    }
    expect_file![format!("golden/{name}-short.txt")].assert_eq(&terminal_with(document, 80, Extent::Short));
    let markdown = document.markdown();
    has_sections(&markdown, document, |_| true);
    expect_file![format!("golden/{name}.md")].assert_eq(&markdown);
}

/// Whether each section of the page with such a block is in this form, or named as left out: one that is a chart alone by the chart, which
/// is named within a sentence. Findings stand below the answer of a terminal.
#[track_caller]
fn has_sections(text: &str, document: &Document, has_place: fn(&Block) -> bool) {
    let words = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let has_content = |block: &Block| has_place(block) && !block.is_empty();
    for section in document.sections.iter().filter(|of| of.blocks.iter().any(has_content)) {
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
