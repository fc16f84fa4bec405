//! How far an answer is that is a stream of server-sent events.

use crate::breakdown::{After, EventsCame};
use crate::error_kind::ErrorKind;
use assay_scenario::Operation;

/// Events of an answer that came so far.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Streamed {
    count: u32,
    last_ns: Option<u64>,
}

impl Streamed {
    /// By this time the answer has so many events, to a request that was to start at `intended_ns`: which of them came now.
    pub fn reached(&mut self, count: u32, intended_ns: u64, came_ns: u64) -> Option<EventsCame> {
        let new = count.checked_sub(self.count).filter(|new| 0 < *new)?;
        let after = match self.last_ns {
            Some(last_ns) => After::Event(came_ns.saturating_sub(last_ns)),
            None => After::Start(came_ns.saturating_sub(intended_ns)),
        };
        *self = Streamed { count, last_ns: Some(came_ns) };
        Some(EventsCame { count: new, after })
    }

    /// How far a stream came that failed now; nothing where the operation awaits none.
    pub fn how_far(&self, operation: &Operation, kind: ErrorKind, now_ns: u64) -> String {
        let is_of_stream = matches!(kind, ErrorKind::Timeout | ErrorKind::Broken);
        if operation.events == 0 || !is_of_stream {
            return String::new();
        }
        let came = format!("; {} of {} events came", self.count, operation.events);
        match self.last_ns.filter(|_| kind == ErrorKind::Timeout) {
            Some(last_ns) => {
                let still = roughly(now_ns.saturating_sub(last_ns));
                format!("{came}, and none for more than {still}")
            }
            None => came,
        }
    }
}

/// A time of one digit, rounded down, so that failures that are alike are said alike.
fn roughly(ns: u64) -> String {
    let ms = ns / 1_000_000;
    let (value, unit) = if ms < 1_000 { (ms, "ms") } else { (ms / 1_000, "s") };
    let digits = 10_u64.pow(value.checked_ilog10().unwrap_or(0));
    format!("{} {unit}", value / digits * digits)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_event_is_timed_from_the_intended_start_and_others_from_the_one_before() {
        let mut so_far = Streamed::default();
        let came = |count, after| Some(EventsCame { count, after });
        assert_eq!(so_far.reached(0, 100, 150), None, "a comment");
        assert_eq!(so_far.reached(2, 100, 160), came(2, After::Start(60)));
        assert_eq!(so_far.reached(2, 100, 170), None);
        assert_eq!(so_far.reached(3, 100, 190), came(1, After::Event(30)));
    }

    #[test]
    fn times_of_one_digit_are_alike() {
        let said = [0, 999_999, 57_000_000, 8_999_000_000, 61_000_000_000].map(roughly);
        assert_eq!(said, ["0 ms", "0 ms", "50 ms", "8 s", "60 s"]);
    }
}
