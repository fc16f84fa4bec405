//! Prose of Markdown: paragraphs, items and cells, without headings and code.

use super::patterns::CODE;
use pulldown_cmark::{Event, Options, Parser, Tag, TagEnd};

/// The paragraphs of a text. Headings, the first row of a table, and blocks of code are not among them.
pub fn paragraphs(text: &str) -> Vec<String> {
    let (mut paragraphs, mut paragraph, mut left_out) = (Vec::new(), String::new(), 0);
    for event in Parser::new_ext(text, Options::ENABLE_TABLES) {
        match event {
            Event::Start(Tag::CodeBlock(_) | Tag::Heading { .. } | Tag::TableHead | Tag::HtmlBlock) => {
                left_out += 1;
            }
            Event::End(TagEnd::CodeBlock | TagEnd::Heading(_) | TagEnd::TableHead | TagEnd::HtmlBlock) => {
                left_out -= 1;
            }
            Event::Start(Tag::Item) | Event::End(TagEnd::Paragraph | TagEnd::Item | TagEnd::TableCell) => {
                paragraphs.push(std::mem::take(&mut paragraph));
            }
            Event::Text(words) if left_out == 0 => paragraph.push_str(&words),
            Event::Code(_) if left_out == 0 => paragraph.push_str(CODE),
            Event::SoftBreak | Event::HardBreak if left_out == 0 => paragraph.push(' '),
            _ => {}
        }
    }
    paragraphs.retain(|paragraph| !paragraph.trim().is_empty());
    paragraphs
}

#[test]
fn prose_is_told_from_headings_and_code() {
    let text = "# What it is\n\nA word `of; code` and\na [link](to;nowhere).\n\n    code; here\n\n```\nand; here\n```\n\n- one\n- two\n\n\
                | what |\n| --- |\n| a cell |\n";
    assert_eq!(paragraphs(text), ["A word CODE and a link.", "one", "two", "a cell"]);
}
