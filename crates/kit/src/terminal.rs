//! What is written to a terminal: lines in its width and styles, and the lists at their end.

use crate::ink::{Ink, wrap};
use crate::number::count;
use crate::text::clean;

/// Entries that a tree shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EntriesShown {
    /// The biggest ones; smaller ones of the same branch are folded into one line.
    Biggest(usize),
    /// Every one.
    All,
}

impl EntriesShown {
    /// At most so many.
    pub fn most(self) -> usize {
        match self {
            EntriesShown::All => usize::MAX,
            EntriesShown::Biggest(entries) => entries,
        }
    }
}

/// How to show something on a terminal.
#[derive(Debug, Clone, Copy)]
pub struct TerminalView {
    /// Columns.
    pub width: u16,
    /// Whether to write styles (the caller knows `NO_COLOR` and pipes).
    pub color: bool,
    /// Entries of the tree.
    pub entries: EntriesShown,
}

/// Narrower than this the lines would say nothing.
pub const WIDTH_MIN: usize = 60;
/// Wider lines are hard to read.
pub const WIDTH_MAX: usize = 140;
/// Problems that are listed; the stored form has all.
const PROBLEMS_SHOWN: usize = 8;

/// Columns to use of a terminal this wide.
pub fn usable(width: u16) -> usize {
    usize::from(width).clamp(WIDTH_MIN, WIDTH_MAX)
}

/// Lines for a terminal, as they are written.
pub struct Terminal {
    text: String,
    last_note: String,
    /// Styles, or none.
    pub ink: Ink,
    /// Columns to use.
    pub width: usize,
}

impl Terminal {
    /// Nothing is written yet.
    pub fn new(view: TerminalView) -> Self {
        Terminal {
            text: String::new(),
            last_note: String::new(),
            ink: Ink(view.color),
            width: usable(view.width),
        }
    }

    /// All that was written.
    pub fn finish(self) -> String {
        self.text
    }

    /// One line, without the blanks at its end.
    pub fn line(&mut self, line: &str) {
        self.text += line.trim_end();
        self.text.push('\n');
    }

    /// Several lines, without the blanks at their ends.
    pub fn text(&mut self, text: &str) {
        text.trim_end().lines().for_each(|line| self.line(line));
    }

    /// An empty line.
    pub fn blank(&mut self) {
        self.line("");
    }

    /// The heading of a part, behind an empty line.
    pub fn heading(&mut self, heading: &str) {
        self.blank();
        self.line(&self.ink.bold(heading));
    }

    /// A text, wrapped and indented, in a style such as [`Ink::dim`].
    pub fn paragraph(&mut self, indent: usize, text: &str, style: fn(Ink, &str) -> String) {
        self.hanging(&" ".repeat(indent), indent, text, style);
    }

    /// The same, with `head` before its first line, as wide as the indent.
    pub fn hanging(&mut self, head: &str, indent: usize, text: &str, style: fn(Ink, &str) -> String) {
        let mut before = head;
        let blanks = " ".repeat(indent);
        for line in wrap(text, self.width.saturating_sub(indent).max(20)) {
            self.line(&format!("{before}{}", style(self.ink, &line)));
            before = &blanks;
        }
    }

    /// A remark on what was written, unless the last remark said the same.
    pub fn note(&mut self, text: String) {
        if self.last_note != text {
            self.paragraph(0, &text, Ink::dim);
            self.last_note = text;
        }
    }

    /// What could not be read: what each problem is about, and what is wrong. Nothing where there is none.
    pub fn problems(&mut self, problems: &[(String, String)]) {
        if problems.is_empty() {
            return;
        }
        self.blank();
        self.line(&self.ink.warn("Problems"));
        for (about, text) in problems.iter().take(PROBLEMS_SHOWN) {
            self.paragraph(2, &format!("{}: {}", clean(about), clean(text)), Ink::plain);
        }
        self.more((problems.len(), PROBLEMS_SHOWN), "  ", "more (--json has them)");
    }

    /// Behind the first of a list: how many more there are, and where. Nothing where there are none.
    pub fn more(&mut self, (all, shown): (usize, usize), indent: &str, what: &str) {
        if shown < all {
            let more = format!("{} {what}", count((all - shown) as u64));
            self.line(&format!("{indent}{}", self.ink.dim(&more)));
        }
    }
}
