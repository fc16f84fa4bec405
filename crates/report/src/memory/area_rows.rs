//! Areas as lines of a terminal: name, bytes, share, a bar, and what most of each is.

use super::tree::AreaNode;
use assay_kit::ink::{Ink, bar, fit};
use assay_kit::number::{bytes, percent};
use assay_kit::text::shorten;

/// Lines: what a first screen has room for. The table of entries has every area.
const LINES_MAX: usize = 10;
/// Columns of a bar that is all of the RSS.
const BAR_COLUMNS: usize = 10;
/// A name that is cut to fewer columns says nothing.
const MOST_COLUMNS_MIN: usize = 16;

/// An area in words.
pub struct AreaRow {
    name: String,
    resident: String,
    share: String,
    /// Of the RSS, 0 to 1.
    part: f64,
    /// The biggest of what is in it.
    most: String,
}

/// The biggest areas; the smallest are one line where there are more than fit.
pub fn rows(areas: &[AreaNode], rss_bytes: u64) -> Vec<AreaRow> {
    let row = |name: String, of: u64, most: String| AreaRow {
        name,
        resident: bytes(of),
        share: percent(of, rss_bytes),
        part: of as f64 / rss_bytes.max(1) as f64,
        most,
    };
    let shown = if areas.len() <= LINES_MAX { areas.len() } else { LINES_MAX - 1 };
    let (shown, others) = areas.split_at(shown);
    let of_area = |area: &AreaNode| {
        let most = area.node.children.first().map_or_else(String::new, |biggest| biggest.name.clone());
        row(area.node.name.clone(), area.node.bytes, most)
    };
    let all = others.iter().fold(0u64, |sum, area| sum.saturating_add(area.node.bytes));
    let rest =
        (!others.is_empty()).then(|| row(format!("{} smaller areas", others.len()), all, String::new()));
    shown.iter().map(of_area).chain(rest).collect()
}

/// The lines, each at most so many columns wide.
pub fn draw(rows: &[AreaRow], columns: usize, ink: Ink) -> Vec<String> {
    let widest =
        |of: fn(&AreaRow) -> &String| rows.iter().map(|row| of(row).chars().count()).max().unwrap_or(0);
    let (name, resident, share) =
        (widest(|row| &row.name), widest(|row| &row.resident), widest(|row| &row.share));
    let room = columns.checked_sub(name + resident + share + BAR_COLUMNS + 6);
    let line = |row: &AreaRow| {
        let figures = format!("{}  {:>resident$}  {:>share$}", fit(&row.name, name), row.resident, row.share);
        // Figures from a file may be of any length.
        let Some(room) = room else { return fit(&figures, columns) };
        let bar = fit(&bar(row.part, BAR_COLUMNS), BAR_COLUMNS);
        match room.checked_sub(2).filter(|room| MOST_COLUMNS_MIN <= *room) {
            Some(room) => format!("{figures}  {bar}  {}", ink.dim(&shorten(&row.most, room))),
            None => format!("{figures}  {bar}"),
        }
    };
    rows.iter().map(line).collect()
}
