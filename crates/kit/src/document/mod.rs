//! A result, described once: the answer, sections of blocks, problems. Each form of a result is a writer over this value.
//!
//! [`Document::write_html`] makes the page, [`Document::terminal`] the text for a terminal of any width, [`Document::markdown`] Markdown;
//! [`Data`] holds the raw numbers behind it, of which CSV and lines of JSON are made. What a shorter form leaves out, it lists by name.

mod block;
mod data;
mod html;
mod left_out;
mod markdown;
mod terminal;
mod terminal_findings;
mod terminal_form;
mod terminal_rows;
mod terminal_short;
mod terminal_table;
#[cfg(test)]
mod terminal_table_tests;

pub use block::{Block, Claim, Figure, Finding, Shown, Step, TextDrawing, Tone};
pub use data::{Column, Data, Value};
pub use html::findings as findings_html;
pub use terminal_findings::findings as findings_terminal;

/// A result. Texts are escaped when written; only the drawings of figures are taken as they are.
pub struct Document {
    /// What kind of page it is, over its heading.
    pub kind: String,
    /// Name of what it is about.
    pub heading: String,
    /// Lines under the heading: what was measured, where, when.
    pub lines: Vec<Line>,
    /// The answer.
    pub answer: Answer,
    /// Sections in their order; those without a block are left out.
    pub sections: Vec<Section>,
    /// What could not be read: what each problem is about, and what is wrong.
    pub problems: Vec<(String, String)>,
    /// Whether the problems are a section of the page even where there is none, so that the page says so.
    pub has_problems_section: bool,
    /// What only a page has.
    pub page: PageParts,
}

/// A line under the heading.
pub struct Line {
    /// What it says.
    pub text: String,
    /// Its class on the page; `more` for one that a phone shows further down.
    pub class: &'static str,
}

impl From<String> for Line {
    fn from(text: String) -> Self {
        Line { text, class: "" }
    }
}

/// What the frame of a page needs besides the document.
pub struct PageParts {
    /// Styles of this kind of page.
    pub style: &'static str,
    /// Scripts of this kind of page.
    pub script: &'static str,
    /// What the browser's tab shows; empty for the heading.
    pub title: String,
    /// What the navigation calls the whole: `page`, `report`.
    pub whole: &'static str,
    /// Version that made it, and from what: the footer.
    pub made_by: String,
}

impl Default for PageParts {
    fn default() -> Self {
        PageParts {
            style: "",
            script: "",
            title: String::new(),
            whole: "page",
            made_by: env!("CARGO_PKG_VERSION").to_owned(),
        }
    }
}

/// The answer: one sentence, one step to take, one chart; the rest explains and proves it.
#[derive(Default)]
pub struct Answer {
    /// Why the figures must not be used: that stands over all. Empty where they may be used.
    pub not_valid: Vec<String>,
    /// The answer in a sentence.
    pub sentence: String,
    /// What to do about it; empty where nothing is known.
    pub action: String,
    /// The chart of the first screen.
    pub chart: Option<Figure>,
    /// The finding whose step the action is. It stands behind the chart; forms that are read from top to bottom leave the action over the
    /// chart out, then.
    pub finding: Option<Finding>,
    /// What explains and proves it.
    pub rest: Vec<Block>,
}

impl Answer {
    /// The action, for a form in which a finding with the same step would stand a few lines below.
    fn action_alone(&self) -> Option<&str> {
        Some(self.action.as_str()).filter(|action| !action.is_empty() && self.finding.is_none())
    }
}

/// A part of a document.
pub struct Section {
    /// Anchor on the page, unique there.
    pub id: &'static str,
    /// Heading, the same in every form.
    pub title: &'static str,
    /// What the navigation of the page calls it.
    pub short: &'static str,
    /// Its content.
    pub blocks: Vec<Block>,
    /// Whether a printed page has it, too.
    pub is_printed: bool,
    /// Whether its first table has the entries of a short answer on a terminal. Without such a section the first table of the document has.
    pub has_entries: bool,
}

impl Section {
    /// A section that the navigation calls by its heading.
    pub fn new(id: &'static str, title: &'static str, blocks: impl IntoIterator<Item = Block>) -> Self {
        Section {
            id,
            title,
            short: title,
            blocks: blocks.into_iter().collect(),
            is_printed: true,
            has_entries: false,
        }
    }

    /// The same, called `short` in the navigation.
    pub fn called(self, short: &'static str) -> Self {
        Section { short, ..self }
    }

    /// The same, left out when the page is printed.
    pub fn on_screen(self) -> Self {
        Section { is_printed: false, ..self }
    }

    /// The same, whose first table has the entries of a short answer.
    pub fn of_entries(self) -> Self {
        Section { has_entries: true, ..self }
    }

    /// The same, in forms that have room for it: no part of a short answer on a terminal.
    pub fn in_full(mut self) -> Self {
        self.blocks = self.blocks.into_iter().map(Block::in_full).collect();
        self
    }

    /// The same, on the page alone: other forms name it as left out.
    pub fn page_only(mut self) -> Self {
        self.blocks = self.blocks.into_iter().map(Block::page_only).collect();
        self
    }
}

impl Document {
    /// With its kind, heading and answer, and nothing below yet.
    pub fn new(kind: impl Into<String>, heading: impl Into<String>, answer: Answer) -> Self {
        Document {
            kind: kind.into(),
            heading: heading.into(),
            lines: Vec::new(),
            answer,
            sections: Vec::new(),
            problems: Vec::new(),
            has_problems_section: false,
            page: PageParts::default(),
        }
    }

    /// The same with what could not be read and is not among the reasons why the result is not valid. The page of a valid result has a
    /// section of it in any case.
    pub fn with_problems(self, problems: Vec<(String, String)>) -> Self {
        Document { problems, has_problems_section: self.answer.not_valid.is_empty(), ..self }
    }
}
