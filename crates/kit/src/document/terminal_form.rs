//! The parts of a document as text for a terminal, of any width from [`crate::terminal::WIDTH_MIN`] columns on.

use super::{
    Answer, Block, Claim, Document, Figure, Tone, left_out, terminal_findings, terminal_rows, terminal_table,
};
use crate::ink::{Ink, fit};
use crate::terminal::{Terminal, TerminalView};
use crate::text::{clean, clean_lines, shorten};
use terminal_findings::Found;
use terminal_rows::Wanted;

/// Most columns of the name of a term.
const TERM_MAX: usize = 30;
/// Indent of the rest of a line of a text that is shown as it is.
const VERBATIM_INDENT: usize = 4;

/// The text as it grows, and what it shows of tables and trees.
pub struct Form {
    pub out: Terminal,
    pub wanted: Wanted,
}

impl Form {
    /// Nothing is written yet.
    pub fn new(view: TerminalView) -> Self {
        Form { out: Terminal::new(view), wanted: Wanted::of(view.extent) }
    }

    /// Name and lines under it, each of at most `most` lines of the terminal.
    pub fn head(&mut self, document: &Document, most: usize) {
        let out = &mut self.out;
        let heading = shorten(&clean(&document.heading), out.width);
        out.line(&out.ink.bold(&heading));
        for line in &document.lines {
            out.cut(&clean(&line.text), most, Ink::dim);
        }
    }

    /// The answer in a sentence, and the step to take unless a finding below has it.
    pub fn answer(&mut self, answer: &Answer, found: &Found) {
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
        if let Some(action) = answer.action_alone().filter(|action| !found.has_step(action)) {
            out.paragraph(0, &clean(action), Ink::good);
        }
    }

    /// The chart and what explains the answer.
    pub fn rest(&mut self, answer: &Answer, is_behind_sentence: bool) {
        let chart = answer.chart.as_ref().filter(|chart| has_content(chart));
        if let Some(chart) = chart {
            self.out.blank();
            self.figure(chart);
        }
        let is_apart = chart.is_some() || !is_behind_sentence;
        if is_apart && answer.rest.iter().any(is_shown) {
            self.out.blank();
        }
        self.blocks(&answer.rest, !is_apart);
    }

    /// A section, unless it has nothing to show here.
    pub fn section(&mut self, title: &str, blocks: &[Block]) {
        if !blocks.iter().any(is_shown) {
            return;
        }
        self.out.blank();
        self.title(title);
        self.blocks(blocks, false);
    }

    /// The title of a section.
    pub fn title(&mut self, title: &str) {
        let title = self.out.ink.heading(&shorten(title, self.out.width));
        self.out.line(&title);
    }

    /// Blocks, with an empty line before each that is more than a line of text, and behind a figure.
    fn blocks(&mut self, blocks: &[Block], is_behind_text: bool) {
        let (mut is_behind, mut is_behind_figure) = (is_behind_text, false);
        for block in shown(blocks) {
            let first = first_of(block);
            let is_of_text = matches!(first, Block::Text(..) | Block::Heading(_) | Block::Folded(..));
            if is_behind && (!is_of_text || (is_behind_figure && matches!(first, Block::Text(..)))) {
                self.out.blank();
            }
            self.block(block);
            is_behind = !matches!(block, Block::Heading(_));
            is_behind_figure = matches!(block, Block::Figure(_));
        }
    }

    /// Its drawing in letters, then the numbers behind it.
    pub fn figure(&mut self, figure: &Figure) {
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
                terminal_table::write(out, table, self.wanted);
            }
        }
    }

    /// A block; the heading of a table or a tree is its caption.
    pub fn block(&mut self, block: &Block) {
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
            Block::Table(table) => terminal_table::write(out, table, self.wanted),
            Block::Figure(figure) => self.figure(figure),
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
            Block::InFull(within) => self.blocks(within, false),
            Block::Key(_) | Block::PageOnly(_) | Block::Findings(..) => {}
        }
    }
}

fn claims(out: &mut Terminal, all: &[Claim]) {
    for of in all {
        out.hanging("- ", 2, &clean(&of.claim), Ink::bold);
        of.details.iter().for_each(|detail| out.paragraph(2, &clean(detail), Ink::dim));
    }
}

/// The blocks that a terminal shows where they stand; findings stand below the answer, and what heads them goes with them.
pub fn shown(blocks: &[Block]) -> Vec<&Block> {
    let mut all: Vec<&Block> = Vec::new();
    for block in blocks {
        match block {
            Block::Findings(..) if matches!(all.last(), Some(Block::Heading(_))) => drop(all.pop()),
            block if is_shown(block) => all.push(block),
            _ => {}
        }
    }
    all
}

/// The block itself, or the first of those that it only marks.
fn first_of(block: &Block) -> &Block {
    match block {
        Block::InFull(within) => within.first().map_or(block, first_of),
        block => block,
    }
}

/// Whether a terminal shows something of a block where it stands.
fn is_shown(block: &Block) -> bool {
    match block {
        Block::Key(_) | Block::PageOnly(_) | Block::Findings(..) => false,
        Block::Figure(figure) => has_content(figure),
        Block::Folded(_, blocks) | Block::InFull(blocks) => blocks.iter().any(is_shown),
        other => !other.is_empty(),
    }
}

/// Whether a terminal shows something of a figure.
pub fn has_content(figure: &Figure) -> bool {
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
    for line in text.lines() {
        let letters: Vec<char> = line.chars().collect();
        // Blanks of a text as it is count: it goes on in the next line wherever it has to.
        for (number, part) in letters.chunks(out.width.saturating_sub(VERBATIM_INDENT).max(1)).enumerate() {
            let indent = if number == 0 { 2 } else { VERBATIM_INDENT };
            out.line(&format!("{:indent$}{}", "", part.iter().collect::<String>()));
        }
    }
}
