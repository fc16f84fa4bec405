//! Server-sent events (HTML, 9.2.6), as far as they are counted: a stream of them has no end of its own.

/// A field of an event that is dispatched.
const DATA: &[u8] = b"data";

/// Counts events in the bytes of a body, in pieces of any size.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct EventCounter {
    awaited: u32,
    counted: u32,
    /// Bytes of the line so far, and whether they are a field of data.
    line_bytes: usize,
    is_data: bool,
    /// The event so far has data: a comment, or an identifier alone, dispatches none.
    has_data: bool,
    is_after_cr: bool,
}

impl EventCounter {
    /// A body begins of which so many events are awaited; 0: it is no stream of events.
    pub fn begin(&mut self, awaited: u32) {
        *self = EventCounter { awaited, ..EventCounter::default() };
    }

    /// How many events are awaited, and how many of them came; none where the body is no stream of events.
    pub fn counts(&self) -> Option<(u32, u32)> {
        (0 < self.awaited).then_some((self.awaited, self.counted))
    }

    /// All awaited events came.
    pub fn is_done(&self) -> bool {
        0 < self.awaited && self.awaited <= self.counted
    }

    /// Events came since an earlier state of the same body.
    pub fn goes_on_from(&self, before: EventCounter) -> bool {
        before.counted < self.counted
    }

    /// Takes the next bytes, up to the last awaited event.
    pub fn feed(&mut self, bytes: &[u8]) {
        if self.awaited == 0 {
            return;
        }
        for byte in bytes {
            match byte {
                _ if self.is_done() => break,
                b'\n' if std::mem::take(&mut self.is_after_cr) => (),
                b'\n' | b'\r' => {
                    self.is_after_cr = *byte == b'\r';
                    self.end_line();
                }
                _ => {
                    self.is_after_cr = false;
                    self.put(*byte);
                }
            }
        }
    }

    fn put(&mut self, byte: u8) {
        let at = self.line_bytes;
        self.is_data = match DATA.get(at) {
            Some(wanted) => byte == *wanted && (at == 0 || self.is_data),
            None if at == DATA.len() => self.is_data && byte == b':',
            None => self.is_data,
        };
        self.line_bytes += 1;
    }

    fn end_line(&mut self) {
        if self.line_bytes == 0 {
            self.counted += u32::from(std::mem::take(&mut self.has_data));
        }
        self.has_data |= self.is_data && DATA.len() <= self.line_bytes;
        (self.line_bytes, self.is_data) = (0, false);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn counted(stream: &[u8], piece: usize) -> u32 {
        let mut counter = EventCounter::default();
        counter.begin(1_000);
        stream.chunks(piece).for_each(|bytes| counter.feed(bytes));
        counter.counts().map_or(0, |(_, counted)| counted)
    }

    #[test]
    fn events_with_data_are_counted_however_lines_end_and_the_stream_is_cut() {
        for (stream, want) in [
            ("data: a\n\ndata: b\ndata: c\n\n", 2),
            ("data: a\r\n\r\ndata: b\r\n\r\n", 2),
            ("data: a\r\rdata: b\r\r", 2),
            (": ping\n\nid: 7\n\nevent: x\ndata:\n\n", 1),
            ("data\n\n", 1),
            ("database: x\n\ndat\n\n data: x\n\n", 0),
            ("data: not ended\n", 0),
            ("\n\n\n", 0),
        ] {
            for piece in 1..=stream.len() {
                assert_eq!(counted(stream.as_bytes(), piece), want, "{stream:?} in pieces of {piece}");
            }
        }
    }

    #[test]
    fn what_comes_after_the_last_awaited_event_is_not_looked_at() {
        let mut counter = EventCounter::default();
        counter.feed(b"data: a\n\n");
        assert_eq!((counter.counts(), counter.is_done()), (None, false));
        counter.begin(1);
        counter.feed(b"data: a\n");
        assert_eq!((counter.counts(), counter.is_done()), (Some((1, 0)), false));
        counter.feed(b"\ndata: b\n\n");
        assert_eq!((counter.counts(), counter.is_done()), (Some((1, 1)), true));
    }

    proptest! {
        #[test]
        fn any_bytes_count_the_same_in_any_pieces(stream in "[data: \r\n]{0,60}", piece in 1..9_usize) {
            prop_assert_eq!(counted(stream.as_bytes(), piece), counted(stream.as_bytes(), 100));
        }
    }
}
