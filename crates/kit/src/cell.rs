//! What stands in a cell of a table.

use crate::text;

/// What stands in a cell.
#[derive(Debug, Clone, PartialEq)]
pub enum Cell {
    /// A text, not escaped; a line break stays one.
    Text(String, Look),
    /// Where the row is in a tree: the names of the branches above it, then its own. A table is sorted by its readers, so that each row
    /// must be understood alone; only a terminal, which keeps the order, indents the last name instead.
    Path(Vec<String>),
    /// What is not there: `not available`, `skipped`; a dash where `why` is empty.
    Absent {
        /// The word for it.
        word: &'static str,
        /// The reason.
        why: String,
    },
    /// A text with a class and a tip on the page.
    Styled {
        /// The text.
        text: String,
        /// Its class on the page.
        class: String,
        /// The text that the page shows under the pointer.
        tip: String,
        /// How it stands out on a terminal.
        look: Look,
    },
    /// A text that is shorter where there is little room.
    Short {
        /// The text in full.
        full: String,
        /// The same on a terminal.
        short: String,
        /// How it stands out on a terminal.
        look: Look,
    },
    /// A share from 0 to 1, drawn as a bar on a terminal.
    Bar(f64),
}

/// How a cell stands out on a terminal.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Look {
    /// Not.
    #[default]
    Plain,
    /// It counts more than others.
    Strong,
    /// It can be passed over.
    Dim,
    /// A change for the better.
    Good,
    /// A change for the worse.
    Bad,
}

impl Cell {
    /// What is not there, and why; a dash without a reason.
    pub fn absent(why: impl Into<String>) -> Self {
        Cell::Absent { word: "not available", why: why.into() }
    }

    /// What was not done, and why.
    pub fn skipped(why: impl Into<String>) -> Self {
        Cell::Absent { word: "skipped", why: why.into() }
    }

    /// A text that stands out.
    pub fn looks(text: impl Into<String>, look: Look) -> Self {
        Cell::Text(text.into(), look)
    }

    /// The cell in full: the whole path, the reason of what is absent.
    pub fn full(&self) -> String {
        match self {
            Cell::Text(text, _) | Cell::Styled { text, .. } => text.clone(),
            Cell::Short { full, .. } => full.clone(),
            Cell::Path(path) => path.join(" › "),
            Cell::Absent { why, .. } if why.is_empty() => "-".to_owned(),
            Cell::Absent { word, why } => format!("{word}: {why}"),
            Cell::Bar(_) => String::new(),
        }
    }

    /// The cell where there is little room: the last name of a path, a dash for what is absent.
    pub fn brief(&self) -> String {
        match self {
            Cell::Path(path) => path.last().map_or_else(String::new, |name| text::clean(name)),
            Cell::Absent { .. } => "-".to_owned(),
            Cell::Short { short, .. } => text::clean(short),
            Cell::Text(text, _) | Cell::Styled { text, .. } => {
                text.split('\n').map(text::clean).collect::<Vec<_>>().join("\n")
            }
            Cell::Bar(_) => String::new(),
        }
    }

    /// How it stands out.
    pub fn look(&self) -> Look {
        match self {
            Cell::Text(_, look) | Cell::Styled { look, .. } | Cell::Short { look, .. } => *look,
            Cell::Absent { .. } => Look::Dim,
            Cell::Path(_) | Cell::Bar(_) => Look::Plain,
        }
    }

    /// The share of a bar.
    pub fn share(&self) -> Option<f64> {
        if let Cell::Bar(share) = self { Some(*share) } else { None }
    }
}

impl From<String> for Cell {
    fn from(text: String) -> Self {
        Cell::Text(text, Look::Plain)
    }
}

impl From<&str> for Cell {
    fn from(text: &str) -> Self {
        Cell::Text(text.to_owned(), Look::Plain)
    }
}

/// A value that is absent without a reason is a dash.
impl<T: Into<Cell>> From<Option<T>> for Cell {
    fn from(value: Option<T>) -> Self {
        value.map_or_else(|| Cell::absent(""), Into::into)
    }
}

impl PartialEq<&str> for Cell {
    fn eq(&self, other: &&str) -> bool {
        self.full() == **other
    }
}
