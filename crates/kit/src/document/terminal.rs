//! A document as text for a terminal, of any width from [`crate::terminal::WIDTH_MIN`] columns on.

use super::{Block, Claim, Document, Figure, Finding, Tone, left_out, terminal_table};
use crate::ink::{Ink, fit};
use crate::terminal::{Terminal, TerminalView};
use crate::text::{clean, clean_lines, shorten};
use left_out::Room;

/// Columns of a finding's severity, left of all else.
const SEVERITY: usize = 9;
/// Most columns of the name of a term.
const TERM_MAX: usize = 30;
/// Lines of a text that is shown as it is.
const VERBATIM_LINES: usize = 60;

impl Document {
    /// All of it, but for what only a page can show, which is listed at the end.
    pub fn terminal(&self, view: TerminalView) -> String {
        let mut out = Terminal::new(view);
        let heading = shorten(&clean(&self.heading), out.width);
        out.line(&out.ink.bold(&heading));
        for line in &self.lines {
            out.paragraph(0, &clean(&line.text), Ink::dim);
        }
        let mut out = Form { out, entries: view.entries.most() };
        out.answer(self);
        for section in &self.sections {
            out.section(section.title, &section.blocks);
        }
        let mut out = out.out;
        out.problems(&self.problems);
        if let Some(sentence) = left_out::sentence(self, Room::Little) {
            out.blank();
            out.paragraph(0, &sentence, Ink::dim);
        }
        out.finish()
    }
}

/// The text as it grows, and how many entries of a tree it shows.
struct Form {
    out: Terminal,
    entries: usize,
}

impl Form {
    fn answer(&mut self, document: &Document) {
        let answer = &document.answer;
        let out = &mut self.out;
        out.blank();
        if !answer.not_valid.is_empty() {
            out.line(&out.ink.warn("NOT VALID: do not use these figures"));
            for reason in &answer.not_valid {
                out.hanging("- ", 2, &clean(reason), Ink::plain);
            }
            out.blank();
        }
        out.paragraph(0, &clean(&answer.sentence), Ink::bold);
        if let Some(action) = answer.action_alone() {
            out.paragraph(0, &clean(action), Ink::good);
        }
        if let Some(chart) = answer.chart.as_ref().filter(|chart| has_content(chart)) {
            self.out.blank();
            self.figure(chart);
        }
        let has_chart = answer.chart.as_ref().is_some_and(has_content);
        if let Some(of) = &answer.finding {
            self.out.blank();
            finding(&mut self.out, of);
        }
        let is_apart = has_chart || answer.finding.is_some();
        if is_apart && answer.rest.iter().any(is_shown) {
            self.out.blank();
        }
        self.blocks(&answer.rest, !is_apart);
    }

    /// A section, unless it has nothing to show here.
    fn section(&mut self, title: &str, blocks: &[Block]) {
        if !blocks.iter().any(is_shown) {
            return;
        }
        self.out.blank();
        let title = self.out.ink.heading(&shorten(title, self.out.width));
        self.out.line(&title);
        self.blocks(blocks, false);
    }

    /// Blocks, with an empty line before each that is more than a line of text, and behind a figure.
    fn blocks(&mut self, blocks: &[Block], is_behind_text: bool) {
        let (mut is_behind, mut is_behind_figure) = (is_behind_text, false);
        for block in blocks.iter().filter(|block| is_shown(block)) {
            let is_of_text = matches!(block, Block::Text(..) | Block::Heading(_) | Block::Folded(..));
            if is_behind && (!is_of_text || (is_behind_figure && matches!(block, Block::Text(..)))) {
                self.out.blank();
            }
            self.block(block);
            is_behind = !matches!(block, Block::Heading(_));
            is_behind_figure = matches!(block, Block::Figure(_));
        }
    }

    /// Its drawing in letters, then the numbers behind it.
    fn figure(&mut self, figure: &Figure) {
        let out = &mut self.out;
        if let Some(why) = &figure.absent {
            out.paragraph(0, &format!("{}: {}", figure.name, clean(why)), Ink::dim);
        }
        if let Some(draw) = &figure.in_text {
            draw(out.width, out.ink).iter().for_each(|line| out.line(line));
        }
        if left_out::shows_behind(figure) {
            for (number, table) in figure.behind.iter().enumerate() {
                if number != 0 || figure.in_text.is_some() {
                    out.blank();
                }
                terminal_table::write(out, table, self.entries);
            }
        }
    }

    fn block(&mut self, block: &Block) {
        let out = &mut self.out;
        match block {
            Block::Heading(text) => out.heading(&clean(text)),
            Block::Text(Tone::Plain, text) => out.paragraph(0, &clean(text), Ink::plain),
            Block::Text(Tone::Strong, text) => out.paragraph(0, &clean(text), Ink::bold),
            Block::Text(Tone::Explanation, text) => out.paragraph(0, &clean(text), Ink::dim),
            Block::Text(Tone::Warning, text) => out.paragraph(0, &clean(text), Ink::warn),
            Block::Text(Tone::Absent, why) => {
                out.paragraph(0, &format!("not available: {}", clean(why)), Ink::dim);
            }
            Block::Items(tone, all) => {
                let style = if *tone == Tone::Warning { Ink::warn } else { Ink::plain };
                all.iter().for_each(|item| out.hanging("- ", 2, &clean(item), style));
            }
            Block::Terms(rows) => terms(out, rows),
            Block::Table(table) => terminal_table::write(out, table, self.entries),
            Block::Figure(figure) => self.figure(figure),
            Block::Findings(found, none) if found.is_empty() => out.paragraph(0, none, Ink::plain),
            Block::Findings(found, _) => findings(out, found),
            Block::Verbatim { name, text, .. } => verbatim(out, name, text),
            Block::Folded(summary, within) => {
                out.heading(&clean(summary));
                self.blocks(within, false);
            }
            Block::Claims(all) => claims(out, all),
            Block::Warnings(title, all) => {
                out.line(&out.ink.warn(&clean(title)));
                all.iter().for_each(|item| out.hanging("- ", 2, &clean(item), Ink::plain));
            }
            Block::Key(_) | Block::InFull(_) | Block::PageOnly(_) => {}
        }
    }
}

fn claims(out: &mut Terminal, all: &[Claim]) {
    for of in all {
        out.hanging("- ", 2, &clean(&of.claim), Ink::bold);
        of.details.iter().for_each(|detail| out.paragraph(2, &clean(detail), Ink::dim));
    }
}

/// Whether a terminal shows something of a block.
fn is_shown(block: &Block) -> bool {
    match block {
        Block::Key(_) | Block::InFull(_) | Block::PageOnly(_) => false,
        Block::Figure(figure) => has_content(figure),
        Block::Folded(_, blocks) => blocks.iter().any(is_shown),
        other => !other.is_empty(),
    }
}

/// Whether a terminal shows something of a figure.
fn has_content(figure: &Figure) -> bool {
    figure.absent.is_some() || figure.in_text.is_some() || left_out::shows_behind(figure)
}

/// Terms with their values; where a term is a long text and its value a short one, the value comes first.
fn terms(out: &mut Terminal, rows: &[(String, String)]) {
    let rows: Vec<(String, String)> = rows.iter().map(|(name, value)| (clean(name), clean(value))).collect();
    let widest = |of: fn(&(String, String)) -> &String| {
        rows.iter().map(|row| of(row).chars().count()).max().unwrap_or(0)
    };
    let (names, values) = (widest(|(name, _)| name), widest(|(_, value)| value));
    if TERM_MAX < names && values <= TERM_MAX {
        for (name, value) in &rows {
            out.hanging(&format!("  {value:>values$}  "), values + 4, name, Ink::plain);
        }
        return;
    }
    let names = names.min(TERM_MAX);
    for (name, value) in &rows {
        out.hanging(&format!("  {}  ", fit(name, names)), names + 4, value, Ink::plain);
    }
}

fn verbatim(out: &mut Terminal, name: &str, text: &str) {
    out.line(&out.ink.bold(&clean(name)));
    let text = clean_lines(text);
    let lines: Vec<&str> = text.lines().collect();
    for line in lines.iter().take(VERBATIM_LINES) {
        out.line(&format!("  {line}"));
    }
    out.more((lines.len(), VERBATIM_LINES), "  ", "more lines");
}

/// Findings, an empty line between them.
pub fn findings(out: &mut Terminal, found: &[Finding]) {
    for (index, of) in found.iter().enumerate() {
        if index != 0 {
            out.blank();
        }
        finding(out, of);
    }
}

fn finding(out: &mut Terminal, of: &Finding) {
    let word = fit(of.severity, SEVERITY);
    let word = if of.severity == "note" { out.ink.dim(&word) } else { out.ink.warn(&word) };
    out.hanging(&word, SEVERITY, &format!("{} ({})", of.claim, of.rule), Ink::bold);
    for evidence in &of.evidence {
        out.paragraph(SEVERITY, evidence, Ink::dim);
    }
    if !of.at.is_empty() {
        out.paragraph(SEVERITY, &format!("[{}]", of.at), Ink::dim);
    }
    for effect in &of.effects {
        out.paragraph(SEVERITY, effect, Ink::plain);
    }
    let Some(step) = &of.step else { return };
    out.hanging(&format!("{:SEVERITY$}→ ", ""), SEVERITY + 2, &step.with_gain(), Ink::good);
    let expected = step.expected_effect.iter().map(|text| ("expected", text));
    let alternatives = step.alternatives.iter().map(|other| ("or", other));
    let rest = [("keep", &step.persistent), ("undo", &step.undo), ("risk", &step.risk)];
    let rest = rest.into_iter().filter_map(|(word, text)| Some((word, text.as_ref()?)));
    for (word, text) in expected.chain(alternatives).chain(rest) {
        let head = format!("{:indent$}{word}: ", "", indent = SEVERITY + 2);
        out.hanging(&head, head.len(), text, Ink::dim);
    }
}
