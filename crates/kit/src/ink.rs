//! Styles of a terminal (ECMA-48 `SGR`), written only if the caller wants them, and texts fitted to columns.

pub use assay_text::wrap::{message, width, wrap};

/// Whether to write styles.
#[derive(Clone, Copy)]
pub struct Ink(pub bool);

impl Ink {
    /// A heading.
    pub fn bold(self, text: &str) -> String {
        self.styled("1", text)
    }

    /// The heading of a section.
    pub fn heading(self, text: &str) -> String {
        self.styled("1;4", text)
    }

    /// What explains and can be passed over.
    pub fn dim(self, text: &str) -> String {
        self.styled("2", text)
    }

    /// What grows, or needs a look.
    pub fn warn(self, text: &str) -> String {
        self.styled("33", text)
    }

    /// What can be gained.
    pub fn good(self, text: &str) -> String {
        self.styled("32", text)
    }

    /// Anything else.
    pub fn plain(self, text: &str) -> String {
        text.to_owned()
    }

    fn styled(self, code: &str, text: &str) -> String {
        if self.0 && !text.trim().is_empty() { format!("\x1b[{code}m{text}\x1b[0m") } else { text.to_owned() }
    }
}

/// A bar of eighths of a column, for a share of 0 to 1; a share above 0 is never drawn as empty.
pub fn bar(share: f64, columns: usize) -> String {
    const EIGHTHS: [&str; 8] = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"];
    let share = if share.is_finite() { share.clamp(0.0, 1.0) } else { 0.0 };
    let mut eighths = (share * columns as f64 * 8.0).round() as usize;
    if eighths == 0 && share > 0.0 {
        eighths = 1;
    }
    format!("{}{}", "█".repeat(eighths / 8), EIGHTHS[eighths % 8])
}

/// The values as a curve of blocks from `floor`, or else the lowest, to the highest; one height where nothing changes, at
/// most `columns` of them.
pub fn curve(values: impl Iterator<Item = f64>, floor: Option<f64>, columns: usize) -> String {
    const BLOCKS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
    let all: Vec<f64> = values.collect();
    let step = all.len().div_ceil(columns.max(1)).max(1);
    // From the end, so that the newest is always drawn.
    let mut drawn: Vec<f64> = all.iter().rev().step_by(step).copied().collect();
    drawn.reverse();
    let low = floor.unwrap_or_else(|| drawn.iter().copied().fold(f64::INFINITY, f64::min));
    let high = drawn.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let height = |v: f64| if high > low { ((v - low) / (high - low) * 7.0).round() as usize } else { 0 };
    drawn.into_iter().map(|v| BLOCKS[height(v).min(7)]).collect()
}

/// Exactly `columns` wide: cut with an ellipsis, or filled.
pub fn fit(text: &str, columns: usize) -> String {
    let length = text.chars().count();
    if length <= columns {
        return format!("{text}{}", " ".repeat(columns - length));
    }
    let head: String = text.chars().take(columns.saturating_sub(1)).collect();
    format!("{head}…")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bar_is_as_long_as_its_share_and_never_nothing() {
        assert_eq!(bar(0.5, 10), "█████");
        assert_eq!(bar(1e-9, 10), "▏");
        assert_eq!((bar(0.0, 10).as_str(), bar(f64::NAN, 10).as_str(), bar(7.0, 2).as_str()), ("", "", "██"));
    }

    #[test]
    fn a_curve_goes_from_the_lowest_to_the_highest_and_ends_with_the_newest() {
        assert_eq!(curve([1.0, 2.0, 8.0].into_iter(), None, 24), "▁▂█");
        assert_eq!(curve([5.0; 3].into_iter(), None, 24), "▁▁▁");
        let many = curve((0..1000).map(f64::from), None, 24);
        assert!(many.chars().count() <= 24 && many.ends_with('█'), "{many}");
        assert_eq!(curve(std::iter::empty(), None, 24), "");
    }

    #[test]
    fn texts_fit_their_columns() {
        assert_eq!(fit("abc", 5), "abc  ");
        assert_eq!(fit("abcdef", 4), "abc…");
    }
}
