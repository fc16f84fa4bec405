//! The view that lives: what a screen shows after each look, and the line that a pipe gets.

use super::facts;
use super::tree;
use assay_kit::ink::{Ink, curve, fit, wrap};
use assay_kit::number::{bytes, signed_bytes};
use assay_kit::terminal::usable;
use assay_kit::text::{clean, shorten, to_the_second};
use assay_model::{Area, AreaBytes, MemoryReport};
use std::collections::VecDeque;

/// Looks that are kept for the curves; older ones give way, but the first look stays the base of growth.
const LOOKS_KEPT: usize = 240;
/// Growth is told over this long, and over all looks as long as there are fewer.
const RATE_WINDOW_NS: u64 = 60_000_000_000;
const LEAVES_SHOWN: usize = 8;
const CURVE: usize = 24;

/// One look as far as curves need it.
struct Point {
    monotonic_ns: u64,
    rss_bytes: u64,
    areas: Vec<AreaBytes>,
}

/// The looks so far. Areas come from every look; leaves are compared among full looks only, since a quick one does not
/// look for the owners of malloc blocks and would seem to lose them.
#[derive(Default)]
pub struct Watch {
    points: VecDeque<Point>,
    looks: u64,
    first_full: Option<MemoryReport>,
    last_full: Option<MemoryReport>,
    last: Option<MemoryReport>,
}

impl Watch {
    /// No look yet.
    pub fn new() -> Self {
        Watch::default()
    }

    /// Adds a look; `full` says whether it is as deep as was asked for, not one of the quick ones between.
    pub fn add(&mut self, look: MemoryReport, full: bool) {
        if full {
            // Between looks of two depths leaves seem to grow that are only told apart: the comparison begins anew.
            self.first_full = self.first_full.take().filter(|first| first.depth == look.depth);
            self.first_full.get_or_insert_with(|| look.clone());
            self.last_full = Some(look.clone());
        } else {
            let (monotonic_ns, rss_bytes) = (look.monotonic_ns, look.rss_bytes);
            self.points.push_back(Point { monotonic_ns, rss_bytes, areas: look.areas.clone() });
            if LOOKS_KEPT < self.points.len() {
                // The second oldest: the first stays.
                self.points.remove(1);
            }
        }
        self.looks += 1;
        self.last = Some(look);
    }

    /// One line for a pipe: when, RSS, its growth, and the areas that grew most.
    pub fn line(&self) -> String {
        let Some(last) = &self.last else { return String::new() };
        let rate = self.rate(|p| p.rss_bytes as f64);
        let mut growing: Vec<(f64, Area)> = Area::ALL
            .into_iter()
            .filter_map(|a| Some((self.rate(|p| a.bytes_in(&p.areas) as f64)?, a)))
            .collect();
        growing.sort_by(|a, b| b.0.total_cmp(&a.0));
        let grown = growing.iter().filter(|(rate, _)| *rate >= 1.0).take(3);
        let grown: Vec<String> =
            grown.map(|(rate, area)| format!("{} {}/min", name_of(*area), signed(*rate))).collect();
        let rate = rate.map_or_else(String::new, |rate| format!("  {}/min", signed(rate)));
        let grown = if grown.is_empty() { String::new() } else { format!("  {}", grown.join(", ")) };
        format!("{}  RSS {}{rate}{grown}", to_the_second(&last.taken_at), bytes(last.rss_bytes))
    }

    /// The screen: at most `rows` lines of at most `width` columns.
    pub fn screen(&self, width: u16, rows: u16, color: bool) -> Vec<String> {
        let (ink, width) = (Ink(color), usable(width));
        let Some(last) = &self.last else { return vec!["no sample yet".to_owned()] };
        let mut lines = vec![
            ink.bold(&shorten(&format!("{} (pid {})", clean(&last.program), last.pid), width)),
            shorten(&format!("{}  sample {}, Ctrl-C ends", to_the_second(&last.taken_at), self.looks), width),
            String::new(),
        ];
        let heading = format!(
            "{}{:>13}{:>15}{:>15}  {}",
            fit("", 26),
            "resident",
            "a minute",
            "since start",
            if wide(width) { "over time" } else { "" }
        );
        lines.push(ink.dim(heading.trim_end()));
        lines.push(self.row("RSS", width, ink, |p| p.rss_bytes as f64));
        let mut areas: Vec<(f64, Area)> = Area::ALL
            .into_iter()
            .filter(|a| self.points.iter().any(|p| a.bytes_in(&p.areas) as f64 > 0.0))
            .map(|a| (self.rate(|p| a.bytes_in(&p.areas) as f64).unwrap_or(0.0), a))
            .collect();
        // What grows fastest is on top; equal ones keep the order of the model, so that lines do not dance.
        areas.sort_by(|a, b| b.0.total_cmp(&a.0));
        lines.extend(
            areas.iter().map(|(_, a)| self.row(name_of(*a), width, ink, |p| a.bytes_in(&p.areas) as f64)),
        );
        lines.extend(self.leaves(width, ink));
        lines.truncate(usize::from(rows));
        lines
    }

    fn row(&self, name: &str, width: usize, ink: Ink, of: impl Fn(&Point) -> f64) -> String {
        let now = self.points.back().map_or(0.0, &of);
        let since = self.points.front().map_or(0.0, |first| now - of(first));
        let rate = self.rate(&of);
        let rate_text = format!("{:>15}", rate.map_or("-".to_owned(), signed));
        let rate_text = match rate {
            Some(rate) if rate >= 1.0 => ink.warn(&rate_text),
            _ => rate_text,
        };
        let curve = if wide(width) { curve(self.points.iter().map(&of), None, CURVE) } else { String::new() };
        let line =
            format!("{}{:>13}{rate_text}{:>15}  {curve}", fit(name, 26), bytes(now as u64), signed(since));
        line.trim_end().to_owned()
    }

    /// Growth per minute over the last minute; absent with one look.
    fn rate(&self, of: impl Fn(&Point) -> f64) -> Option<f64> {
        let last = self.points.back()?;
        let from = last.monotonic_ns.saturating_sub(RATE_WINDOW_NS);
        let first = self.points.iter().find(|p| from <= p.monotonic_ns)?;
        let elapsed_ns = last.monotonic_ns.saturating_sub(first.monotonic_ns);
        (elapsed_ns > 0).then(|| (of(last) - of(first)) / (elapsed_ns as f64 / 60e9))
    }

    /// Leaves with the largest growth between the first and the last full look.
    fn leaves(&self, width: usize, ink: Ink) -> Vec<String> {
        let (Some(first), Some(last)) = (&self.first_full, &self.last_full) else { return Vec::new() };
        let left_out = last.owners_left_out.as_ref().map(facts::owners_left_out);
        let mut lines = vec![String::new()];
        lines.extend(left_out.iter().flat_map(|text| wrap(text, width)).map(|line| ink.warn(&line)));
        if first.monotonic_ns == last.monotonic_ns {
            lines.push(ink.dim("Entries that grew: after the next full sample"));
            return lines;
        }
        let before = tree::bytes_by_path(first);
        let change = |path: &Vec<String>, now: u64| {
            now.cast_signed().saturating_sub(before.get(path).copied().unwrap_or(0).cast_signed())
        };
        let now = tree::bytes_by_path(last);
        let mut grown: Vec<(i64, &Vec<String>, u64)> = now
            .iter()
            .map(|(path, bytes)| (change(path, *bytes), path, *bytes))
            .filter(|g| g.0 > 0)
            .collect();
        grown.sort_by_key(|g| std::cmp::Reverse(g.0));
        let over = last.monotonic_ns.saturating_sub(first.monotonic_ns) / 1_000_000_000;
        lines.push(ink.bold(&format!("Entries that grew most between full samples, in {over} s")));
        for (by, path, sum) in grown.into_iter().take(LEAVES_SHOWN) {
            let name = fit(&path.join(": "), width.saturating_sub(31));
            lines.push(format!("  {name}{:>14}{:>14}", signed_bytes(by), bytes(sum)));
        }
        lines
    }
}

/// A quick look does not look for owners by pointers; to call memory unknown would be wrong.
fn name_of(area: Area) -> &'static str {
    match area {
        Area::MallocHeap => "malloc, in use",
        Area::NativeAnonymous => "anonymous, not told yet",
        _ => area.title(),
    }
}

fn wide(width: usize) -> bool {
    width >= 26 + 13 + 15 + 15 + 2 + CURVE
}

/// Bytes with a sign; less than a byte is none.
fn signed(value: f64) -> String {
    signed_bytes(value.round() as i64)
}
