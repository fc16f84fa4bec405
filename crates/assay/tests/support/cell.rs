//! What a test run says of one feature of one JVM.

use std::fmt;

/// A cell of a table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Cell {
    /// It agrees with the truth: the figures.
    Right(String),
    /// It does not, or is beyond its bound: the figures.
    Wrong(String),
    /// This JVM does not have it: what it lacks.
    Absent(String),
    /// No JVM of this release was at hand.
    NotTested,
}

const RIGHT: &str = "✓";
const WRONG: &str = "🔴";
const ABSENT: &str = "–";
const NOT_TESTED: &str = "not tested";

impl Cell {
    /// A cell of a figure that must be so.
    pub fn of(is_right: bool, figures: impl Into<String>) -> Cell {
        if is_right { Cell::Right(figures.into()) } else { Cell::Wrong(figures.into()) }
    }

    /// Reads a cell as the page shows it; `None` if the text is not a cell.
    pub fn parse(text: &str) -> Option<Cell> {
        let text = text.trim();
        let figures = |mark| text.strip_prefix(mark).map(|figures: &str| figures.trim().to_owned());
        if text == NOT_TESTED {
            return Some(Cell::NotTested);
        }
        let right = figures(RIGHT).map(Cell::Right).or(figures(WRONG).map(Cell::Wrong));
        right.or(figures(ABSENT).map(Cell::Absent)).filter(Cell::has_figures)
    }

    fn has_figures(&self) -> bool {
        match self {
            Cell::Right(text) | Cell::Wrong(text) | Cell::Absent(text) => !text.is_empty(),
            Cell::NotTested => true,
        }
    }

    /// How many of several are right, of those that the JVM has.
    pub fn sum_of(cells: &[Cell]) -> Cell {
        let right = cells.iter().filter(|cell| matches!(cell, Cell::Right(_))).count();
        let wrong = cells.iter().filter(|cell| matches!(cell, Cell::Wrong(_))).count();
        match right + wrong {
            0 if cells.contains(&Cell::NotTested) => Cell::NotTested,
            0 => Cell::Absent("none".to_owned()),
            all => Cell::of(wrong == 0, format!("{right} of {all}")),
        }
    }
}

impl fmt::Display for Cell {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Cell::Right(figures) => write!(f, "{RIGHT} {figures}"),
            Cell::Wrong(figures) => write!(f, "{WRONG} {figures}"),
            Cell::Absent(what) => write!(f, "{ABSENT} {what}"),
            Cell::NotTested => f.write_str(NOT_TESTED),
        }
    }
}
