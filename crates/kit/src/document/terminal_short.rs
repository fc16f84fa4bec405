//! A document as a short answer on a terminal: head, findings and the biggest entries in one screen, and a line that says what is left out.
//!
//! What stands in it depends on the document alone, so that all kinds of result have it alike: the first table, or that of the section which
//! is said to have the entries, then what follows it, as long as there is room.

use super::terminal_findings::Found;
use super::terminal_form::{Form, has_content, shown};
use super::terminal_rows::Wanted;
use super::{Block, Document};
use crate::ink::Ink;
use crate::number::counted;
use crate::terminal::{LINES_SHORT, TerminalView};
use crate::text::clean;

/// Lines that findings in full leave for the entries: title, caption, headings, a rule, the rows, and remarks.
const LINES_OF_ENTRIES: usize = 20;
/// Lines that findings leave for the entries in any case, which are fewer then.
const LINES_OF_FEW: usize = 10;
/// Lines of each text of the head.
const LINES_OF_TEXT: usize = 2;
/// Problems that are listed.
const PROBLEMS: usize = 2;
/// An empty line, and the one that says what is left out.
const LINES_OF_END: usize = 2;

/// Whether the whole document may have so few lines that it needs no short form: it has no table of many rows.
pub fn may_be_whole(document: &Document) -> bool {
    of_document(document).iter().all(|of| rows(of.block) <= LINES_SHORT)
}

/// What there is room for.
pub fn write(document: &Document, view: TerminalView) -> String {
    let blocks = of_document(document);
    let mut short = Short { form: Form::new(view), reserved: LINES_OF_END };
    if let ([_], None) = (tables(&blocks).as_slice(), &document.answer.chart) {
        // A list has the whole screen.
        short.form.wanted.entries = LINES_SHORT;
    }
    short.head(document, &blocks);
    let left = short.entries(document, &blocks);
    let out = &mut short.form.out;
    out.problems(&document.problems, PROBLEMS);
    out.blank();
    let line = rest(&left, out.width);
    out.line(&out.ink.dim(&line));
    short.form.out.finish()
}

/// A block with its section, none for what belongs to the answer.
struct Placed<'a> {
    section: Option<usize>,
    block: &'a Block,
}

/// All blocks that a terminal shows besides findings and figures of the answer, in their order. Those of [`Block::InFull`] are none of a
/// short answer, and stand here to be named as left out.
fn of_document(document: &Document) -> Vec<Placed<'_>> {
    let rest = shown(&document.answer.rest).into_iter().map(|block| Placed { section: None, block });
    let sections = document.sections.iter().enumerate().flat_map(|(number, section)| {
        shown(&section.blocks).into_iter().map(move |block| Placed { section: Some(number), block })
    });
    rest.chain(sections).collect()
}

/// Whether a block says what was found, as findings do: it stands with them.
fn is_said_first(block: &Block) -> bool {
    matches!(block, Block::Warnings(..) | Block::Claims(_))
}

/// Whether a block holds entries, or a drawing of them.
fn has_entries(block: &Block) -> bool {
    match block {
        Block::Table(_) => true,
        Block::Figure(figure) => figure.absent.is_none(),
        Block::Folded(_, blocks) => blocks.iter().any(has_entries),
        _ => false,
    }
}

/// Numbers of the blocks that hold entries.
fn tables(blocks: &[Placed]) -> Vec<usize> {
    (0..blocks.len()).filter(|at| has_entries(blocks[*at].block)).collect()
}

/// Rows of a block.
fn rows(block: &Block) -> usize {
    match block {
        Block::Table(table) => table.rows.len(),
        Block::Figure(figure) => figure.behind.iter().map(|table| table.rows.len()).sum(),
        Block::Folded(_, blocks) | Block::InFull(blocks) => blocks.iter().map(rows).sum(),
        Block::Verbatim { text, .. } => text.lines().count(),
        _ => 0,
    }
}

/// The answer as it grows.
struct Short {
    form: Form,
    /// Lines that stand at its end.
    reserved: usize,
}

impl Short {
    fn room(&self) -> usize {
        LINES_SHORT.saturating_sub(self.form.out.lines() + self.reserved)
    }

    /// Name, answer, findings, and what else was found.
    fn head(&mut self, document: &Document, blocks: &[Placed]) {
        let mut problems = self.form.out.part();
        problems.problems(&document.problems, PROBLEMS);
        self.reserved += problems.lines();
        let found = Found::of(document);
        self.form.head(document, LINES_OF_TEXT);
        self.form.answer(&document.answer, &found);
        let has_entries = document.answer.chart.as_ref().is_some_and(has_content)
            || blocks.iter().any(|of| has_entries(of.block));
        let of_few = if has_entries { LINES_OF_FEW } else { 0 };
        self.reserved += of_few;
        let room = self.room();
        let in_full = if has_entries { room.saturating_sub(LINES_OF_ENTRIES - LINES_OF_FEW) } else { room };
        found.write_within(&mut self.form.out, in_full, room);
        blocks.iter().filter(|of| is_said_first(of.block)).for_each(|of| self.said(of.block));
        self.reserved -= of_few;
    }

    /// As many items as there is room for, without their details.
    fn said(&mut self, block: &Block) {
        let (title, items): (&str, Vec<&str>) = match block {
            Block::Warnings(title, all) => (title, all.iter().map(String::as_str).collect()),
            Block::Claims(all) => ("", all.iter().map(|of| of.claim.as_str()).collect()),
            _ => return,
        };
        let written = (1..=items.len()).rev().map(|number| {
            let mut part = self.form.out.part();
            part.blank();
            if !title.is_empty() {
                part.line(&part.ink.warn(&clean(title)));
            }
            items.iter().take(number).for_each(|item| part.hanging("- ", 2, &clean(item), Ink::plain));
            part.more((items.len(), number), "", "more");
            part
        });
        if let Some(part) = written.into_iter().find(|part| part.lines() <= self.room()) {
            self.form.out.add(part);
        }
    }

    /// The entries and what follows them; the titles of the sections of which something is left out.
    fn entries<'a>(&mut self, document: &'a Document, blocks: &[Placed]) -> Vec<&'a str> {
        let of_section =
            |at: &usize| blocks[*at].section.is_some_and(|section| document.sections[section].has_entries);
        let tables = tables(blocks);
        let chart = document.answer.chart.as_ref().filter(|chart| has_content(chart));
        let first = tables.iter().copied().find(of_section);
        let is_shown = match (first, chart) {
            (None, Some(chart)) => {
                self.shrinking(|form| {
                    form.out.blank();
                    form.figure(chart);
                });
                self.following(document, blocks, 0)
            }
            (first, _) => match first.or(tables.first().copied()) {
                Some(first) => self.following(document, blocks, first),
                None => self.following(document, blocks, 0),
            },
        };
        let is_left = |section: &usize| {
            blocks.iter().zip(&is_shown).any(|(of, is_shown)| of.section == Some(*section) && !is_shown)
        };
        (0..document.sections.len()).filter(is_left).map(|at| document.sections[at].title).collect()
    }

    /// Writes the block `first`, with fewer entries where there is no room for all, and those behind it as long as they fit; for each
    /// block, whether it was written as a whole.
    fn following(&mut self, document: &Document, blocks: &[Placed], first: usize) -> Vec<bool> {
        let mut is_shown: Vec<bool> = blocks.iter().map(|of| is_said_first(of.block)).collect();
        let (mut section, mut is_behind_text) = (None, false);
        let mut at = first;
        while at < blocks.len() {
            // What heads a block goes with it.
            let is_heading = |at: usize| matches!(blocks[at].block, Block::Heading(_));
            let end = (at..blocks.len()).find(|at| !is_heading(*at)).unwrap_or(blocks.len() - 1) + 1;
            let group = &blocks[at..end];
            let has_more = group.iter().any(|of| matches!(of.block, Block::InFull(_)));
            if has_more || is_shown[end - 1] {
                at = end;
                continue;
            }
            let title =
                group[0].section.filter(|of| section != Some(*of)).map(|of| document.sections[of].title);
            let is_text = |at: usize| matches!(group[at].block, Block::Text(..));
            let write = |form: &mut Form| {
                if title.is_some() || !is_text(0) || !is_behind_text {
                    form.out.blank();
                }
                title.iter().for_each(|title| form.title(title));
                group.iter().for_each(|of| form.block(of.block));
            };
            let is_whole = if at == first { self.shrinking(write) } else { self.whole(write) };
            let Some(is_whole) = is_whole else { break };
            is_shown[at..end].iter_mut().for_each(|is_shown| *is_shown = is_whole);
            (section, is_behind_text) = (group[0].section, is_text(group.len() - 1));
            at = end;
        }
        is_shown
    }

    /// Writes with as many entries as there is room for, and texts below them where there is room for these, too; whether that is all that a
    /// short answer may have. None where there is no room.
    fn shrinking(&mut self, write: impl Fn(&mut Form)) -> Option<bool> {
        let all = self.form.wanted;
        let fewer = (1..=all.entries).rev().map(|entries| Wanted { entries, has_below: false, ..all });
        let fitting = |wanted: Wanted| {
            let part = self.part(wanted, &write);
            (part.out.lines() <= self.room()).then_some(part)
        };
        let fitting = std::iter::once(all).chain(fewer).find_map(fitting);
        let part = fitting.or_else(|| {
            let least = Wanted { entries: 1, has_below: false, ..all };
            let mut part = self.part(least, &write);
            let room = self.room();
            // A drawing, or a row of many lines.
            (LINES_OF_FEW <= room).then(|| part.out.cut_to(room))?;
            Some(part)
        })?;
        let is_whole = part.wanted == all;
        self.form.out.add(part.out);
        Some(is_whole)
    }

    /// Writes where there is room for all.
    fn whole(&mut self, write: impl Fn(&mut Form)) -> Option<bool> {
        let part = self.part(self.form.wanted, &write);
        (part.out.lines() <= self.room()).then(|| {
            self.form.out.add(part.out);
            true
        })
    }

    fn part(&self, wanted: Wanted, write: &impl Fn(&mut Form)) -> Form {
        let mut part = Form { out: self.form.out.part(), wanted };
        write(&mut part);
        part
    }
}

/// The line that says what is left out: as many titles as fit.
fn rest(left: &[&str], width: usize) -> String {
    let lines = (1..=left.len()).rev().map(|number| {
        let others = left.len() - number;
        let others = match others {
            0 => String::new(),
            _ => format!(" and {}", counted(others as u64, "more part", "more parts")),
        };
        format!("--all shows the rest: {}{others}.", left[..number].join(", "))
    });
    lines
        .into_iter()
        .find(|line| line.chars().count() <= width)
        .unwrap_or_else(|| "--all shows the rest.".to_owned())
}
