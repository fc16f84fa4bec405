//! The blocks that sections are made of.

use crate::ink::Ink;
use crate::table::Table;

/// Where a block is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Shown {
    /// In every form.
    #[default]
    Everywhere,
    /// On the page alone; other forms name it as left out.
    PageOnly,
    /// In other forms alone: the page shows the same in its own way.
    OtherForms,
}

/// How a text is meant.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Tone {
    /// A statement.
    #[default]
    Plain,
    /// One that counts more than those around it.
    Strong,
    /// One that explains how to read the rest.
    Explanation,
    /// One that must not be missed.
    Warning,
    /// Why there is nothing to show.
    Absent,
}

/// A piece of content.
pub enum Block {
    /// A heading below that of the section.
    Heading(String),
    /// A paragraph.
    Text(Tone, String),
    /// Sentences, each an item; warnings stand out.
    Items(Tone, Vec<String>),
    /// Claims, each with its details.
    Claims(Vec<Claim>),
    /// What must be known before relying on the rest, under a heading.
    Warnings(String, Vec<String>),
    /// Terms with their values.
    Terms(Vec<(String, String)>),
    /// A table or a tree.
    Table(Table),
    /// A drawing with the figures behind it.
    Figure(Figure),
    /// Key of the marks in the blocks after it, as HTML of [`crate::key`]; the page alone has it, and nothing misses it elsewhere.
    Key(String),
    /// Findings, or what to say where there is none (nothing where that is empty, too).
    Findings(Vec<Finding>, String),
    /// A text as it is, such as a file; the page folds it under its name. With a button to copy it where it has an id.
    Verbatim {
        /// Title of the text, such as the name of the file.
        name: String,
        /// Anchor of the text on the page; with one there is a button that copies it.
        id: Option<&'static str>,
        /// The lines.
        text: String,
        /// The language that Markdown names; empty for none.
        language: &'static str,
    },
    /// Blocks that the page folds under a summary; other forms show them under it as a heading.
    Folded(String, Vec<Block>),
    /// Blocks for which a short answer on a terminal has no room.
    InFull(Vec<Block>),
    /// Blocks that the page alone has.
    PageOnly(Vec<Block>),
}

/// A claim, and what goes with it.
pub struct Claim {
    /// The claim.
    pub claim: String,
    /// The same in other figures, or what it rests on.
    pub details: Vec<String>,
}

impl Block {
    /// A statement.
    pub fn text(text: impl Into<String>) -> Self {
        Block::Text(Tone::Plain, text.into())
    }

    /// A sentence that explains how to read the rest.
    pub fn explanation(text: impl Into<String>) -> Self {
        Block::Text(Tone::Explanation, text.into())
    }

    /// Why there is nothing to show: `not available: WHY`.
    pub fn absent(why: impl Into<String>) -> Self {
        Block::Text(Tone::Absent, why.into())
    }

    /// A heading below that of the section.
    pub fn heading(text: impl Into<String>) -> Self {
        Block::Heading(text.into())
    }

    /// Terms with their values.
    pub fn terms<N: Into<String>>(rows: impl IntoIterator<Item = (N, String)>) -> Self {
        Block::Terms(rows.into_iter().map(|(name, value)| (name.into(), value)).collect())
    }

    /// The same block, on the page alone.
    pub fn page_only(self) -> Self {
        match self {
            Block::PageOnly(blocks) => Block::PageOnly(blocks),
            other => Block::PageOnly(vec![other]),
        }
    }

    /// The same block, in forms that have room for it: not in a short answer on a terminal.
    pub fn in_full(self) -> Self {
        match self {
            Block::PageOnly(_) | Block::InFull(_) => self,
            other => Block::InFull(vec![other]),
        }
    }

    /// Whether there is nothing to show of it in any form.
    pub fn is_empty(&self) -> bool {
        match self {
            Block::Heading(_) | Block::Figure(_) | Block::Verbatim { .. } => false,
            Block::Text(_, text) | Block::Key(text) => text.is_empty(),
            Block::Items(_, items) | Block::Warnings(_, items) => items.is_empty(),
            Block::Claims(claims) => claims.is_empty(),
            Block::Terms(rows) => rows.is_empty(),
            Block::Table(table) => table.rows.is_empty(),
            Block::Findings(findings, none) => findings.is_empty() && none.is_empty(),
            Block::Folded(_, blocks) | Block::InFull(blocks) | Block::PageOnly(blocks) => {
                blocks.iter().all(Block::is_empty)
            }
        }
    }
}

impl From<Table> for Block {
    fn from(table: Table) -> Self {
        Block::Table(table)
    }
}

impl From<Figure> for Block {
    fn from(figure: Figure) -> Self {
        Block::Figure(figure)
    }
}

/// A figure: drawings that share a caption, and the numbers behind them. Forms without drawings list its name, and show the tables
/// behind it unless those are [`Shown::PageOnly`].
pub struct Figure {
    /// Anchor, unique in the page.
    pub id: String,
    /// What it shows, in a few words.
    pub name: String,
    /// Whether the page shows the name as a heading over it; else the heading of its section names it.
    pub is_titled: bool,
    /// Drawings, as HTML made of escaped text ([`crate::page::drawings`], [`crate::page::panels`]).
    pub drawings: String,
    /// Key of marks, as HTML; empty for none.
    pub key: String,
    /// How to read it, with unit and source.
    pub caption: String,
    /// What is marked in it, in words.
    pub notes: Vec<String>,
    /// The numbers behind it.
    pub behind: Vec<Table>,
    /// Where those numbers are shown: on the page only where another section of other forms has them.
    pub behind_shown: Shown,
    /// Whether the drawings are elements of their own, which the page does not frame: they have the id themselves.
    pub is_bare: bool,
    /// The same drawn with letters, for forms without drawings.
    pub in_text: Option<TextDrawing>,
    /// Why there is nothing to draw; the rest is then empty.
    pub absent: Option<String>,
}

/// Lines of a drawing in letters: gets the columns that there are, and the styles of the terminal.
pub type TextDrawing = Box<dyn Fn(usize, Ink) -> Vec<String>>;

impl Figure {
    /// A figure with these drawings.
    pub fn new(id: impl Into<String>, name: impl Into<String>, drawings: impl Into<String>) -> Self {
        Figure {
            id: id.into(),
            name: name.into(),
            is_titled: false,
            drawings: drawings.into(),
            key: String::new(),
            caption: String::new(),
            notes: Vec::new(),
            behind: Vec::new(),
            behind_shown: Shown::PageOnly,
            is_bare: false,
            in_text: None,
            absent: None,
        }
    }

    /// A figure that cannot be drawn, and why.
    pub fn absent(id: impl Into<String>, name: impl Into<String>, why: impl Into<String>) -> Self {
        Figure { absent: Some(why.into()), ..Figure::new(id, name, "") }
    }

    /// The same with a key of marks, as HTML of [`crate::key`].
    pub fn key(self, key: impl Into<String>) -> Self {
        Figure { key: key.into(), ..self }
    }

    /// The same with how to read it.
    pub fn caption(self, caption: impl Into<String>) -> Self {
        Figure { caption: caption.into(), ..self }
    }

    /// The same, whose drawings are elements of their own.
    pub fn bare(self) -> Self {
        Figure { is_bare: true, ..self }
    }

    /// The same with a drawing in letters.
    pub fn in_text(self, draw: impl Fn(usize, Ink) -> Vec<String> + 'static) -> Self {
        Figure { in_text: Some(Box::new(draw)), ..self }
    }

    /// The same with its name as a heading over it.
    pub fn titled(self) -> Self {
        Figure { is_titled: true, ..self }
    }

    /// The same with the numbers behind it.
    pub fn behind(self, tables: impl IntoIterator<Item = Table>, shown: Shown) -> Self {
        Figure { behind: tables.into_iter().collect(), behind_shown: shown, ..self }
    }
}

/// A finding in words. Texts from outside are made safe by who makes it.
#[derive(Debug, Clone, Default)]
pub struct Finding {
    /// The rule that made the claim.
    pub rule: String,
    /// How grave it is: `error`, `warning`, `note`.
    pub severity: &'static str,
    /// The claim.
    pub claim: String,
    /// What it rests on.
    pub evidence: Vec<String>,
    /// Where that stands in the logs; empty where it stands in none.
    pub at: String,
    /// Its cost with the source of that, then contradictions.
    pub effects: Vec<String>,
    /// What to do.
    pub step: Option<Step>,
}

/// What to do about a finding.
#[derive(Debug, Clone, Default)]
pub struct Step {
    /// The step.
    pub command: String,
    /// What it gains, such as resident bytes; empty where that is not known.
    pub gain: String,
    /// What else helps.
    pub alternatives: Vec<String>,
    /// What to expect of it.
    pub expected_effect: Option<String>,
    /// How to keep it.
    pub persistent: Option<String>,
    /// How to take it back.
    pub undo: Option<String>,
    /// What may go wrong.
    pub risk: Option<String>,
}

impl Step {
    /// The step, and a line for each of its alternatives.
    pub fn in_lines(&self) -> String {
        let others = self.alternatives.iter().map(|other| format!("or: {other}"));
        std::iter::once(self.with_gain()).chain(others).collect::<Vec<_>>().join("\n")
    }

    /// The step, and what it gains.
    pub fn with_gain(&self) -> String {
        if self.gain.is_empty() { self.command.clone() } else { format!("{} ({})", self.command, self.gain) }
    }
}
