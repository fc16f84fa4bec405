//! A document on a terminal: whole, or as a short answer.

use super::terminal_findings::Found;
use super::terminal_form::Form;
use super::{Document, left_out, terminal_short};
use crate::ink::Ink;
use crate::terminal::{Extent, LINES_SHORT, TerminalView};

impl Document {
    /// All of it, but for what only a page can show, which is listed at the end; or as much as a short answer has room for. Findings stand
    /// right below the answer, wherever the page has them.
    pub fn terminal(&self, view: TerminalView) -> String {
        if view.extent != Extent::Short {
            return whole(self, view);
        }
        let all = terminal_short::may_be_whole(self)
            .then(|| whole(self, TerminalView { extent: Extent::All, ..view }))
            .filter(|text| text.lines().count() <= LINES_SHORT);
        all.unwrap_or_else(|| terminal_short::write(self, view))
    }
}

fn whole(document: &Document, view: TerminalView) -> String {
    let mut form = Form::new(view);
    let found = Found::of(document);
    form.head(document, usize::MAX);
    form.answer(&document.answer, &found);
    found.write(&mut form.out);
    form.rest(&document.answer, found.is_empty());
    for section in &document.sections {
        form.section(section.title, &section.blocks);
    }
    let mut out = form.out;
    out.problems(&document.problems, usize::MAX);
    if let Some(sentence) = left_out::sentence(document) {
        out.blank();
        out.paragraph(0, &sentence, Ink::dim);
    }
    out.finish()
}
