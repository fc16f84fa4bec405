//! What is written to a terminal: lines in its width and styles, and the lists at their end.

use crate::ink::{Ink, fit, wrap};
use crate::number::count;
use crate::text::clean;

/// How much of a result a terminal shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Extent {
    /// Head, findings and the biggest entries, in [`LINES_SHORT`] lines; a last line says what `--all` shows besides.
    #[default]
    Short,
    /// All parts, and in each table and tree so many entries, the biggest ones; smaller ones of a branch are folded into one line.
    Biggest(usize),
    /// All of it.
    All,
}

impl Extent {
    /// Entries of a table or a tree, at most.
    pub fn entries(self) -> usize {
        match self {
            Extent::Short => ENTRIES_SHORT,
            Extent::Biggest(entries) => entries,
            Extent::All => usize::MAX,
        }
    }
}

/// Lines of a short answer, at most.
pub const LINES_SHORT: usize = 40;
/// Entries of a table or a tree in a short answer, at most.
pub const ENTRIES_SHORT: usize = 12;

/// How to show something on a terminal.
#[derive(Debug, Clone, Copy)]
pub struct TerminalView {
    /// Columns.
    pub width: u16,
    /// Whether to write styles (the caller knows `NO_COLOR` and pipes).
    pub color: bool,
    /// How much to show.
    pub extent: Extent,
}

/// Narrower than this the lines would say nothing.
pub const WIDTH_MIN: usize = 60;
/// Wider lines are hard to read.
pub const WIDTH_MAX: usize = 140;

/// Columns to use of a terminal this wide.
pub fn usable(width: u16) -> usize {
    usize::from(width).clamp(WIDTH_MIN, WIDTH_MAX)
}

/// Lines for a terminal, as they are written.
pub struct Terminal {
    text: String,
    last_note: String,
    /// How much is shown.
    pub extent: Extent,
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
            extent: view.extent,
            ink: Ink(view.color),
            width: usable(view.width),
        }
    }

    /// All that was written.
    pub fn finish(self) -> String {
        self.text
    }

    /// An empty text of the same width and styles, for a part of which only its lines tell whether there is room for it.
    pub fn part(&self) -> Terminal {
        Terminal { text: String::new(), last_note: self.last_note.clone(), ..*self }
    }

    /// Adds a part.
    pub fn add(&mut self, part: Terminal) {
        self.text += &part.text;
        self.last_note = part.last_note;
    }

    /// Keeps so many lines, of which the last says how many there were more.
    pub fn cut_to(&mut self, lines: usize) {
        let all = self.lines();
        let kept = lines.saturating_sub(1);
        self.text = self.text.lines().take(kept).map(|line| format!("{line}\n")).collect();
        self.more((all, kept), "", "more lines");
    }

    /// Lines that were written.
    pub fn lines(&self) -> usize {
        self.text.lines().count()
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

    /// A text, wrapped to at most `most` lines; the last one ends with an ellipsis where more was to come.
    pub fn cut(&mut self, text: &str, most: usize, style: fn(Ink, &str) -> String) {
        let lines = wrap(text, self.width);
        for (number, line) in lines.iter().enumerate().take(most) {
            let is_cut = number + 1 == most && most < lines.len();
            let cut = is_cut.then(|| fit(&format!("{line} …"), self.width));
            self.line(&style(self.ink, cut.as_deref().map_or(line, str::trim_end)));
        }
    }

    /// A text behind `head` in its first line, which is as wide as the indent of the others.
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

    /// What could not be read: what each problem is about, and what is wrong; `most` of them. Nothing where there is none.
    pub fn problems(&mut self, problems: &[(String, String)], most: usize) {
        if problems.is_empty() {
            return;
        }
        self.blank();
        self.line(&self.ink.warn("Problems"));
        for (about, text) in problems.iter().take(most) {
            self.paragraph(2, &format!("{}: {}", clean(about), clean(text)), Ink::plain);
        }
        self.more((problems.len(), most), "  ", "more");
    }

    /// Behind the first of a list: how many more there are, and which option shows them. Nothing where there are none.
    pub fn more(&mut self, (all, shown): (usize, usize), indent: &str, what: &str) {
        if shown < all {
            let option = if self.extent == Extent::Short { "--all" } else { "--json" };
            let more = format!("{} {what} ({option} has them)", count((all - shown) as u64));
            self.line(&format!("{indent}{}", self.ink.dim(&more)));
        }
    }
}
