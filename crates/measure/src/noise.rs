//! When a machine is too noisy for an answer: a search ends instead of looking for rates that no window shows.

/// So much more load in windows that are left out than in windows that count: about a minute of a machine that is never quiet.
const SPOILED_S: f64 = 60.0;
/// One long window is no series.
const SPOILED_WINDOWS_MIN: u32 = 3;

/// How far windows that are left out outweigh those that count (the cumulative sum of E. S. Page, 1954, never below zero).
///
/// A result of which more than a third of the windows was left out is not valid. Where a third is, the sum falls by as much as a window
/// lasts for every three, and it is at a minute once in some hundred searches; where two thirds are, it rises by that.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(crate) struct Noise {
    spoiled_s: f64,
    windows: u32,
}

impl Noise {
    /// Adds a window with the time that it took.
    pub(crate) fn enter(&mut self, seconds: f64, is_left_out: bool) {
        if is_left_out {
            self.spoiled_s += seconds;
            self.windows += 1;
        } else {
            self.spoiled_s = (self.spoiled_s - seconds).max(0.0);
            self.windows = self.windows.saturating_sub(1);
        }
    }

    /// Whether to end.
    pub(crate) fn is_too_much(&self) -> bool {
        SPOILED_S <= self.spoiled_s && SPOILED_WINDOWS_MIN <= self.windows
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ends_after(windows: impl Iterator<Item = bool>) -> Option<usize> {
        let mut noise = Noise::default();
        windows.take(200).position(|is_left_out| {
            noise.enter(6.0, is_left_out);
            noise.is_too_much()
        })
    }

    #[test]
    fn a_minute_of_windows_that_are_left_out_is_too_much_and_every_second_one_is_not() {
        assert_eq!(ends_after(std::iter::repeat(true)), Some(9));
        assert_eq!(ends_after((0..).map(|n| n % 2 == 0)), None);
        assert_eq!(ends_after((0..).map(|n| n % 3 != 0)), Some(26), "two of three");
        let mut noise = Noise::default();
        noise.enter(180.0, true);
        assert!(!noise.is_too_much(), "one long window");
    }
}
