//! Two JVMs that write into one log, whose clocks alternate: such a log is not a series of restarts.

/// What the clock of a log did.
#[derive(Debug, Default)]
pub(super) struct Turns {
    /// Where it was when it fell last.
    left_ns: Option<u64>,
    /// Where it was before it leapt to there, or beyond.
    leapt_from_ns: Option<u64>,
    is_interleaved: bool,
}

impl Turns {
    /// The clock went on.
    pub fn rises(&mut self, from_ns: u64, to_ns: u64) {
        if self.left_ns.is_some_and(|left_ns| from_ns < left_ns && left_ns <= to_ns) {
            self.leapt_from_ns = Some(from_ns);
        }
    }

    /// The clock fell: whether another JVM begins. None does where both clocks go on from where they were left; that is reported once.
    pub fn falls(&mut self, from_ns: u64, to_ns: u64) -> Fall {
        let goes_on = self.leapt_from_ns.take().is_some_and(|leapt_from_ns| leapt_from_ns <= to_ns);
        self.left_ns = Some(from_ns);
        match (self.is_interleaved, goes_on) {
            (true, _) => Fall::InTurn,
            (false, true) => {
                self.is_interleaved = true;
                Fall::FirstInTurn
            }
            (false, false) => Fall::Restart,
        }
    }
}

/// What a clock that falls shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Fall {
    /// A JVM begins.
    Restart,
    /// Two JVMs write in turns: detected now.
    FirstInTurn,
    /// As detected before.
    InTurn,
}

/// What is wrong with such a log.
pub(super) const INTERLEAVED: &str = "several JVMs write into this log at once: their lines cannot be separated, and sums are of all of \
     them; give each a file of its own (%p in its name is the process)";

#[cfg(test)]
mod tests {
    use super::*;

    fn falls(clock: &[u64]) -> Vec<Fall> {
        let mut turns = Turns::default();
        let step = |pair: &[u64]| match pair[0] <= pair[1] {
            true => {
                turns.rises(pair[0], pair[1]);
                None
            }
            false => Some(turns.falls(pair[0], pair[1])),
        };
        clock.windows(2).filter_map(step).collect()
    }

    #[test]
    fn clocks_that_go_on_in_turns_are_no_restarts() {
        use Fall::{FirstInTurn, InTurn, Restart};
        assert_eq!(falls(&[100, 110, 20, 30, 120, 40, 130, 50, 140]), [Restart, FirstInTurn, InTurn]);
        assert_eq!(falls(&[1, 900, 1, 2, 899, 1_000, 1, 2, 3, 1_200, 2]), [Restart; 3]);
    }
}
