//! CPU time, load, host and flags: pages, texts, CSV and Markdown.

mod flags;
mod host;
mod load;
mod recorded;
mod time;

use assay_kit::document::Block;
use assay_model::*;
use assay_report::*;
use expect_test::expect_file;
use serde::de::DeserializeOwned;
use std::path::Path;

fn view(width: u16) -> TerminalView {
    TerminalView { width, color: false, entries: EntriesShown::Biggest(24) }
}

fn stored<T: DeserializeOwned>(text: &str) -> T {
    serde_json::from_str(text).expect("a kept result")
}

fn csv(data: &Data) -> Vec<String> {
    let mut out = Vec::new();
    data.write_csv(&mut out).expect("a vector takes all bytes");
    String::from_utf8(out).expect("UTF-8").lines().map(str::to_owned).collect()
}

fn page(document: &Document) -> String {
    let mut out = Vec::new();
    document.write_html(&mut out).expect("a vector takes all bytes");
    String::from_utf8(out).expect("UTF-8")
}

/// The terminal of a document at three widths and its Markdown are the kept ones, no line is wider than its terminal, and each section of
/// the page is in the other forms or named there.
#[track_caller]
fn is_as_kept(name: &str, document: &Document) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden");
    for width in [60, 80, 120] {
        let text = document.terminal(view(width));
        expect_file![folder.join(format!("{name}-{width}.txt"))].assert_eq(&text);
        let widest = text.lines().max_by_key(|line| line.chars().count()).unwrap_or_default();
        assert!(widest.chars().count() <= usize::from(width), "{widest:?} at {width}");
    }
    let markdown = document.markdown();
    expect_file![folder.join(format!("{name}.md"))].assert_eq(&markdown);
    let text = document.terminal(view(80)).replace('\n', " ");
    let sections = document.sections.iter().filter(|section| !section.blocks.iter().all(Block::is_empty));
    for title in sections.map(|section| section.title) {
        assert!(text.contains(title) && markdown.contains(title), "{title} in {name}");
    }
}
