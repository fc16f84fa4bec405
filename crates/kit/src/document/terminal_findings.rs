//! Findings on a terminal: right below the answer, wherever the page has them.

use super::{Block, Document, Finding};
use crate::ink::{Ink, fit};
use crate::terminal::Terminal;

/// Columns of a finding's severity, left of all else.
const SEVERITY: usize = 9;

/// How much is said of a finding.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Detail {
    /// The claim, what it rests on, its effects, the step and what else helps.
    Full,
    /// The claim and the step.
    Step,
}

/// The findings of a document, in their order.
pub struct Found<'a> {
    all: Vec<&'a Finding>,
    /// Where rules found nothing: the sentences that say so.
    none: Vec<&'a str>,
}

impl<'a> Found<'a> {
    /// Those of the answer, then those of the sections.
    pub fn of(document: &'a Document) -> Self {
        let mut found = Found { all: document.answer.finding.iter().collect(), none: Vec::new() };
        found.add(&document.answer.rest);
        document.sections.iter().for_each(|section| found.add(&section.blocks));
        found
    }

    fn add(&mut self, blocks: &'a [Block]) {
        for block in blocks {
            match block {
                Block::Findings(found, none) if found.is_empty() => {
                    self.none.extend((!none.is_empty()).then_some(none.as_str()));
                }
                Block::Findings(found, _) => self.all.extend(found),
                Block::Folded(_, within) | Block::InFull(within) => self.add(within),
                _ => {}
            }
        }
    }

    /// Whether there is nothing to say of rules.
    pub fn is_empty(&self) -> bool {
        self.all.is_empty() && self.none.is_empty()
    }

    /// Whether a finding has this action as its step.
    pub fn has_step(&self, action: &str) -> bool {
        let steps = self.all.iter().filter_map(|of| of.step.as_ref());
        action
            .strip_prefix("→ ")
            .is_some_and(|action| steps.into_iter().any(|step| step.with_gain() == action))
    }

    /// All of them in full, below an empty line.
    pub fn write(&self, out: &mut Terminal) {
        self.write_some(out, self.all.len(), Detail::Full);
    }

    /// All of them in full where at most `in_full` lines hold them, else as many as `room` lines hold with their steps alone.
    pub fn write_within(&self, out: &mut Terminal, in_full: usize, room: usize) {
        let full = (self.all.len(), Detail::Full, in_full);
        let steps = (0..=self.all.len()).rev().map(|number| (number, Detail::Step, room));
        let mut written = std::iter::once(full).chain(steps).filter_map(|(number, detail, room)| {
            let mut part = out.part();
            self.write_some(&mut part, number, detail);
            part.more((self.all.len(), number), "", "more findings");
            (part.lines() <= room).then_some(part)
        });
        if let Some(part) = written.next() {
            out.add(part);
        }
    }

    fn write_some(&self, out: &mut Terminal, number: usize, detail: Detail) {
        if self.is_empty() {
            return;
        }
        out.blank();
        write(out, self.all.iter().copied().take(number), detail);
        self.none.iter().for_each(|none| out.paragraph(0, none, Ink::plain));
    }
}

/// Findings in full, an empty line between them.
pub fn findings(out: &mut Terminal, found: &[Finding]) {
    write(out, found, Detail::Full);
}

fn write<'a>(out: &mut Terminal, found: impl IntoIterator<Item = &'a Finding>, detail: Detail) {
    for (index, of) in found.into_iter().enumerate() {
        if index != 0 && detail == Detail::Full {
            out.blank();
        }
        let word = fit(of.severity, SEVERITY);
        let word = if of.severity == "note" { out.ink.dim(&word) } else { out.ink.warn(&word) };
        out.hanging(&word, SEVERITY, &format!("{} ({})", of.claim, of.rule), Ink::bold);
        match detail {
            Detail::Full => in_full(out, of),
            Detail::Step => step(out, of),
        }
    }
}

fn in_full(out: &mut Terminal, of: &Finding) {
    for evidence in &of.evidence {
        out.paragraph(SEVERITY, evidence, Ink::dim);
    }
    if !of.at.is_empty() {
        out.paragraph(SEVERITY, &format!("[{}]", of.at), Ink::dim);
    }
    for effect in &of.effects {
        out.paragraph(SEVERITY, effect, Ink::plain);
    }
    step(out, of);
    let Some(step) = &of.step else { return };
    let expected = step.expected_effect.iter().map(|text| ("expected", text));
    let alternatives = step.alternatives.iter().map(|other| ("or", other));
    let rest = [("keep", &step.persistent), ("undo", &step.undo), ("risk", &step.risk)];
    let rest = rest.into_iter().filter_map(|(word, text)| Some((word, text.as_ref()?)));
    for (word, text) in expected.chain(alternatives).chain(rest) {
        let head = format!("{:indent$}{word}: ", "", indent = SEVERITY + 2);
        out.hanging(&head, head.len(), text, Ink::dim);
    }
}

fn step(out: &mut Terminal, of: &Finding) {
    if let Some(step) = &of.step {
        out.hanging(&format!("{:SEVERITY$}→ ", ""), SEVERITY + 2, &step.with_gain(), Ink::good);
    }
}
