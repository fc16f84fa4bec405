//! Ranges cut into windows, each of which is read with one system call.

use assay_linux::MemorySource;
use std::ops::Range;

/// Bytes read at a time: as large as second-level caches are.
pub(crate) const WINDOW_BYTES: u64 = 256 << 10;

/// The windows of a range, from its start on.
pub(crate) fn windows(range: Range<u64>) -> impl Iterator<Item = Range<u64>> {
    let Range { start, end } = range;
    let starts = std::iter::successors(Some(start), |start| start.checked_add(WINDOW_BYTES));
    starts
        .take_while(move |start| *start < end)
        .map(move |start| start..end.min(start.saturating_add(WINDOW_BYTES)))
}

/// Room for one window; none before the first is read.
#[derive(Debug, Default)]
pub(crate) struct WindowBuffer(Vec<u8>);

impl WindowBuffer {
    /// The bytes of a window, if they can be read.
    pub(crate) fn read(&mut self, source: &dyn MemorySource, window: &Range<u64>) -> Option<&[u8]> {
        if self.0.is_empty() {
            self.0 = vec![0; WINDOW_BYTES as usize];
        }
        let bytes = self.0.get_mut(..(window.end - window.start) as usize)?;
        source.read(window.start, bytes).ok()?;
        Some(bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_range_is_cut_from_its_start_on_and_ends_where_it_ends() {
        let of =
            |range: Range<u64>| windows(range).map(|window| (window.start, window.end)).collect::<Vec<_>>();
        assert_eq!(of(8..8), []);
        assert_eq!(of(8..16), [(8, 16)]);
        let (one, two) = (8 + WINDOW_BYTES, 8 + 2 * WINDOW_BYTES);
        assert_eq!(of(8..two + 8), [(8, one), (one, two), (two, two + 8)]);
        assert_eq!(of(u64::MAX - 8..u64::MAX), [(u64::MAX - 8, u64::MAX)]);
    }
}
