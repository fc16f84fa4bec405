//! Snapshots one after the other: what the rows of a live picture say after each, and the line that a pipe gets.

use super::tree;
use assay_kit::ink::curve;
use assay_kit::number::{bytes, less, signed_bytes};
use assay_kit::text::{clean, to_the_second};
use assay_model::{Area, AreaBytes, MemoryReport};
use std::collections::VecDeque;

/// Snapshots that are kept for the curves; older ones give way, but the first snapshot stays the base of growth.
const LOOKS_KEPT: usize = 240;
/// Growth covers this long, or all snapshots while they span less.
const RATE_WINDOW_NS: u64 = 60_000_000_000;
/// What stands where a snapshot did not tell.
const ABSENT: &str = "-";

/// How areas are ordered.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum WatchOrder {
    /// By growth, the fastest first.
    #[default]
    Growth,
    /// What is biggest is.
    Size,
    /// By name.
    Name,
}

/// A row of the picture, as text; a dash where a snapshot did not tell.
#[derive(Debug, Clone)]
pub struct WatchRow {
    /// Which area; none for the whole resident set.
    pub area: Option<Area>,
    /// Name for people.
    pub name: &'static str,
    /// Resident bytes by the latest quick snapshot, which does not look for owners of malloc's blocks.
    pub resident: String,
    /// Resident bytes by the latest snapshot that did.
    pub owners: String,
    /// Growth per minute, over the last minute.
    pub per_minute: String,
    /// Growth since the first snapshot.
    pub since_start: String,
    bytes: Option<u64>,
    owners_bytes: Option<u64>,
    bytes_per_minute: Option<f64>,
    values: Vec<f64>,
}

impl WatchRow {
    /// Whether it has grown in the last minute.
    pub fn is_growing(&self) -> bool {
        self.growth() >= 1.0
    }

    /// A curve of the resident bytes, of so many columns at most.
    pub fn over_time(&self, columns: usize) -> String {
        curve(self.values.iter().copied(), None, columns)
    }

    fn growth(&self) -> f64 {
        self.bytes_per_minute.unwrap_or(0.0)
    }

    fn size(&self) -> u64 {
        self.bytes.or(self.owners_bytes).unwrap_or(0)
    }
}

/// An entry of an area, as text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WatchEntry {
    /// Where it stands below its area.
    pub name: String,
    /// Resident bytes.
    pub resident: String,
    /// Growth since the first full snapshot; a dash as long as there was only one.
    pub since_start: String,
    /// Whether that is more than nothing.
    pub has_grown: bool,
}

/// One snapshot as far as curves need it.
#[derive(Clone)]
struct Point {
    monotonic_ns: u64,
    rss_bytes: u64,
    areas: Vec<AreaBytes>,
}

/// The snapshots so far. Areas come from every snapshot; entries are compared among full snapshots only, since a quick one does not
/// look for the owners of malloc blocks and would seem to lose them.
#[derive(Default, Clone)]
pub struct Watch {
    points: VecDeque<Point>,
    snapshots: u64,
    first_full: Option<MemoryReport>,
    last_full: Option<MemoryReport>,
    last: Option<MemoryReport>,
}

impl Watch {
    /// No snapshot yet.
    pub fn new() -> Self {
        Watch::default()
    }

    /// Adds a snapshot; `full` says whether it is as deep as was asked for, not one of the quick ones between.
    pub fn add(&mut self, snapshot: MemoryReport, full: bool) {
        if full {
            // Between snapshots of two depths entries seem to grow that are only divided further: the comparison begins anew.
            self.first_full = self.first_full.take().filter(|first| first.depth == snapshot.depth);
            self.first_full.get_or_insert_with(|| snapshot.clone());
            self.last_full = Some(snapshot.clone());
        } else {
            let (monotonic_ns, rss_bytes) = (snapshot.monotonic_ns, snapshot.rss_bytes);
            self.points.push_back(Point { monotonic_ns, rss_bytes, areas: snapshot.areas.clone() });
            if LOOKS_KEPT < self.points.len() {
                // The second oldest: the first stays.
                self.points.remove(1);
            }
        }
        self.snapshots += 1;
        self.last = Some(snapshot);
    }

    /// One line for a pipe: when, RSS, its growth, and the areas that grew most, as far as there is room for them.
    pub fn line(&self, columns: usize) -> String {
        let Some(last) = &self.last else { return String::new() };
        let rate = self.rate(|p| p.rss_bytes as f64);
        let mut growing: Vec<(f64, Area)> = Area::ALL
            .into_iter()
            .filter_map(|a| Some((self.rate(|p| a.bytes_in(&p.areas) as f64)?, a)))
            .collect();
        growing.sort_by(|a, b| b.0.total_cmp(&a.0));
        let rate = rate.map_or_else(String::new, |rate| format!("  {}/min", signed(rate)));
        let mut line = format!("{}  RSS {}{rate}", to_the_second(&last.taken_at), bytes(last.rss_bytes));
        for (index, (rate, area)) in growing.iter().filter(|(rate, _)| *rate >= 1.0).take(3).enumerate() {
            let before = if index == 0 { "  " } else { ", " };
            let grown = format!("{before}{} {}/min", name_of(*area), signed(*rate));
            if columns < line.chars().count() + grown.chars().count() {
                break;
            }
            line += &grown;
        }
        line
    }

    /// The latest snapshot, quick or full.
    pub fn last(&self) -> Option<&MemoryReport> {
        self.last.as_ref()
    }

    /// The latest snapshot that found owners: what the column of them shows.
    pub fn owners(&self) -> Option<&MemoryReport> {
        self.last_full.as_ref().filter(|snapshot| snapshot.has_owners())
    }

    /// How many snapshots there were.
    pub fn snapshots(&self) -> u64 {
        self.snapshots
    }

    /// The whole resident set.
    pub fn rss(&self) -> WatchRow {
        let owners = self.owners().map(|snapshot| snapshot.rss_bytes);
        self.row(None, owners, |p| Some(p.rss_bytes))
    }

    /// Its areas, as far as there are any.
    pub fn areas(&self, order: WatchOrder) -> Vec<WatchRow> {
        let of_owners = |area: Area| self.owners().map(|snapshot| area.bytes_in(&snapshot.areas));
        let rows = Area::ALL.into_iter().map(|area| (area, of_owners(area)));
        let mut rows: Vec<WatchRow> = rows
            .map(|(area, owners)| self.row(Some(area), owners, |p| listed(area, &p.areas)))
            .filter(|row| row.values.iter().any(|value| *value > 0.0) || row.owners_bytes.unwrap_or(0) > 0)
            .collect();
        // Sorting is stable: equal ones keep the order of the model, so that lines do not dance.
        match order {
            WatchOrder::Growth => rows.sort_by(|a, b| b.growth().total_cmp(&a.growth())),
            WatchOrder::Size => rows.sort_by_key(|row| std::cmp::Reverse(row.size())),
            WatchOrder::Name => rows.sort_by_key(|row| row.name.to_lowercase()),
        }
        rows
    }

    /// What an area holds, by the latest full snapshot, the biggest first; with the growth since the first full snapshot of that depth.
    pub fn entries(&self, area: Area) -> Vec<WatchEntry> {
        let (Some(first), Some(last)) = (&self.first_full, &self.last_full) else { return Vec::new() };
        let before = (first.monotonic_ns != last.monotonic_ns).then(|| tree::bytes_by_path(first));
        let mut entries: Vec<(u64, WatchEntry)> = tree::bytes_by_path(last)
            .into_iter()
            .filter(|(path, _)| Area::of_path(path) == Some(area))
            .map(|(path, now)| {
                let grown = before.as_ref().map(|before| less(now, before.get(&path).copied().unwrap_or(0)));
                let name = &path[usize::from(path.len() > 1)..];
                let entry = WatchEntry {
                    name: clean(&name.join(": ")),
                    resident: bytes(now),
                    since_start: grown.map_or(ABSENT.to_owned(), signed_bytes),
                    has_grown: grown.is_some_and(|grown| grown > 0),
                };
                (now, entry)
            })
            .collect();
        entries.sort_by_key(|(now, _)| std::cmp::Reverse(*now));
        entries.into_iter().map(|(_, entry)| entry).collect()
    }

    fn row(
        &self,
        area: Option<Area>,
        owners_bytes: Option<u64>,
        of: impl Fn(&Point) -> Option<u64>,
    ) -> WatchRow {
        let now = self.points.back().and_then(&of);
        let since = self.points.front().and_then(&of).zip(now).map(|(first, now)| less(now, first));
        // An area that a quick snapshot lacks has no growth either, not one of zero.
        let per_minute = now.and_then(|_| self.rate(|p| of(p).unwrap_or(0) as f64));
        WatchRow {
            area,
            name: area.map_or("RSS", name_of),
            resident: now.map_or(ABSENT.to_owned(), bytes),
            owners: owners_bytes.map_or(ABSENT.to_owned(), bytes),
            per_minute: per_minute.map_or(ABSENT.to_owned(), signed),
            since_start: since.map_or(ABSENT.to_owned(), signed_bytes),
            bytes: now,
            owners_bytes,
            bytes_per_minute: per_minute,
            values: self.points.iter().filter_map(|p| Some(of(p)? as f64)).collect(),
        }
    }

    /// Growth per minute over the last minute; absent with one snapshot.
    fn rate(&self, of: impl Fn(&Point) -> f64) -> Option<f64> {
        let last = self.points.back()?;
        let from = last.monotonic_ns.saturating_sub(RATE_WINDOW_NS);
        let first = self.points.iter().find(|p| from <= p.monotonic_ns)?;
        let elapsed_ns = last.monotonic_ns.saturating_sub(first.monotonic_ns);
        (elapsed_ns > 0).then(|| (of(last) - of(first)) / (elapsed_ns as f64 / 60e9))
    }
}

/// A quick snapshot does not look for owners by pointers; to call memory unknown would be wrong.
fn name_of(area: Area) -> &'static str {
    match area {
        Area::MallocHeap => "malloc, in use",
        Area::NativeAnonymous => "anonymous, not attributed yet",
        _ => area.title(),
    }
}

/// Resident bytes of an area, where the snapshot lists it: one that does not look for owners leaves out what only they tell.
fn listed(area: Area, areas: &[AreaBytes]) -> Option<u64> {
    areas.iter().any(|a| a.area == area).then(|| area.bytes_in(areas))
}

/// Bytes with a sign; less than a byte is none.
fn signed(value: f64) -> String {
    signed_bytes(value.round() as i64)
}
