//! Rows of data from files, which requests are filled with. All of a file is kept, packed, up to a bound, so that drawing a row
//! neither waits for a disk nor allocates.

mod read;

pub(crate) use read::read;

use crate::Shared;
use rand::RngExt;
use rand_chacha::ChaCha8Rng;
use serde::{Deserialize, Serialize};

/// Most text that the rows of a file may hold, bytes.
const TEXT_BYTES_MAX: usize = 64 << 20;
/// Most values in the rows of a file.
const CELLS_MAX: usize = 20_000_000;

/// In which order rows are drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Order {
    /// From the first to the last, for all users together, then from the first again.
    Sequential,
    /// Any, independently.
    Random,
    /// From the first to the last, for all users together; the load ends where one is wanted after the last.
    Once,
}

/// The rows of a file, packed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Table {
    /// Names of the columns.
    pub columns: Vec<String>,
    /// The values of all rows, one behind the other.
    text: String,
    /// Where each ends.
    ends: Vec<u32>,
}

impl Table {
    /// Without rows yet.
    pub fn new(columns: Vec<String>) -> Table {
        Table { columns, text: String::new(), ends: Vec::new() }
    }

    /// Adds the next value; rows follow one another.
    ///
    /// # Errors
    /// The file holds more text or more values than are kept.
    pub fn add(&mut self, value: &str) -> Result<(), String> {
        if TEXT_BYTES_MAX - self.text.len() < value.len() || self.ends.len() == CELLS_MAX {
            return Err(format!("it holds more than 64 MiB or {CELLS_MAX} values; cut it"));
        }
        self.text.push_str(value);
        self.ends.push(self.text.len() as u32);
        Ok(())
    }

    /// How many there are.
    pub fn rows(&self) -> u64 {
        (self.ends.len() / self.columns.len().max(1)) as u64
    }

    /// A value.
    pub fn value(&self, row: u64, column: usize) -> &[u8] {
        let at = row as usize * self.columns.len() + column;
        let end = |at: usize| self.ends.get(at).map_or(0, |end| *end as usize);
        let start = at.checked_sub(1).map_or(0, end);
        self.text.as_bytes().get(start..end(at)).unwrap_or_default()
    }

    /// Whether one that came from elsewhere holds together.
    pub fn is_right(&self) -> bool {
        !self.columns.is_empty()
            && !self.ends.is_empty()
            && self.ends.len() <= CELLS_MAX
            && self.ends.len().is_multiple_of(self.columns.len())
            && self.ends.is_sorted()
            && self.ends.last().is_some_and(|last| *last as usize == self.text.len())
            && self.text.len() <= TEXT_BYTES_MAX
    }
}

/// Where requests get rows from.
#[derive(Debug, Clone)]
pub(crate) struct Feed {
    /// As in the scenario.
    pub file: String,
    pub table: std::sync::Arc<Table>,
    pub order: Order,
    /// Among the counters of the scenario.
    pub counter: usize,
    /// A row is drawn once per session, instead of for each request that uses one.
    pub per_session: bool,
}

impl Feed {
    /// The next row; none where all were used.
    pub fn draw(&self, random: &mut ChaCha8Rng, shared: &Shared) -> Option<u64> {
        let rows = self.table.rows();
        match self.order {
            Order::Random => Some(random.random_range(0..rows.max(1))),
            Order::Sequential => Some(shared.count(self.counter) % rows.max(1)),
            Order::Once => Some(shared.count(self.counter)).filter(|row| *row < rows),
        }
    }
}

impl Feed {
    /// Whether so many users at once share its rows, which each of them has for its session.
    pub fn is_shared_by(&self, users: u64) -> bool {
        self.per_session && self.order == Order::Sequential && self.table.rows() < users
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Part;
    use rand_chacha::rand_core::SeedableRng;

    fn feed(order: Order, rows: usize) -> Feed {
        let mut table = Table::new(vec!["a".into(), "b".into()]);
        (0..rows * 2).for_each(|at| table.add(&at.to_string()).expect("room"));
        Feed { file: "f.csv".into(), table: table.into(), order, counter: 0, per_session: false }
    }

    fn draws(feed: &Feed, shared: &Shared, n: usize) -> Vec<Option<u64>> {
        let mut random = ChaCha8Rng::seed_from_u64(1);
        (0..n).map(|_| feed.draw(&mut random, shared)).collect()
    }

    #[test]
    fn rows_are_drawn_in_their_order() {
        let shared = || Shared::new(1);
        assert_eq!(draws(&feed(Order::Sequential, 2), &shared(), 3), [Some(0), Some(1), Some(0)]);
        assert_eq!(draws(&feed(Order::Once, 2), &shared(), 3), [Some(0), Some(1), None]);
        let mut seen: Vec<_> = draws(&feed(Order::Random, 5), &shared(), 200);
        seen.sort_unstable();
        seen.dedup();
        assert_eq!(seen, [0, 1, 2, 3, 4].map(Some));
        let feed = feed(Order::Once, 3);
        assert_eq!((feed.table.value(0, 0), feed.table.value(2, 1)), (b"0".as_slice(), b"5".as_slice()));
    }

    #[test]
    fn users_share_rows_where_there_are_more_of_them() {
        let of = |per_session| Feed { per_session, ..feed(Order::Sequential, 3) };
        assert_eq!([3, 4].map(|users| of(true).is_shared_by(users)), [false, true]);
        assert!(!of(false).is_shared_by(4));
        assert!(!Feed { per_session: true, ..feed(Order::Random, 3) }.is_shared_by(4));
    }

    #[test]
    fn once_each_gives_several_generators_every_row_once_together() {
        for (rows, of) in [(10, 3), (9, 3), (2, 3), (100, 7)] {
            let feed = feed(Order::Once, rows);
            let mut all: Vec<u64> = (0..of)
                .flat_map(|number| draws(&feed, &Shared::new(1).of_part(Part { number, of }), rows + 1))
                .flatten()
                .collect();
            all.sort_unstable();
            assert_eq!(all, (0..rows as u64).collect::<Vec<_>>(), "{rows} rows of {of}");
        }
    }
}
