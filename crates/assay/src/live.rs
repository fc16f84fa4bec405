//! The figures of a load while it runs, on standard error: one line that changes on a terminal, a line now and then elsewhere.

use crate::progress::{PLAIN_LINE_EVERY, bar};
use assay_load::Progress;
use indicatif::ProgressBar;
use std::time::Duration;

/// The answered rate is that of at least so long.
const RATE_OVER: Duration = Duration::from_secs(1);

/// Shown until it is dropped.
pub struct LiveLoad {
    bar: ProgressBar,
    rate: Rate,
    /// When the last plain line was written, from the beginning.
    said: Duration,
}

impl LiveLoad {
    /// Of a load of this length.
    pub fn new(length: Duration) -> LiveLoad {
        let bar = bar(Some(milliseconds(length)), "{bar:20} {elapsed_precise}  {msg}");
        LiveLoad { bar, rate: Rate::default(), said: Duration::ZERO }
    }

    /// How far it is.
    pub fn show(&mut self, progress: &Progress) {
        let rate_per_s = self.rate.of(progress);
        if !self.bar.is_hidden() {
            self.bar.set_position(milliseconds(progress.elapsed));
            self.bar.set_message(line(progress, rate_per_s));
        } else if PLAIN_LINE_EVERY <= progress.elapsed.saturating_sub(self.said) {
            self.said = progress.elapsed;
            say!("{:.0} s: {}", progress.elapsed.as_secs_f64(), line(progress, rate_per_s));
        }
    }
}

fn milliseconds(time: Duration) -> u64 {
    time.as_millis().min(u128::from(u64::MAX)) as u64
}

/// Answered requests per second, of the last second or a little more.
#[derive(Default)]
struct Rate {
    elapsed: Duration,
    completed: u64,
    per_s: Option<f64>,
}

impl Rate {
    fn of(&mut self, progress: &Progress) -> Option<f64> {
        let over = progress.elapsed.saturating_sub(self.elapsed);
        if RATE_OVER <= over {
            let completed = progress.completed.saturating_sub(self.completed);
            self.per_s = Some(completed as f64 / over.as_secs_f64());
            (self.elapsed, self.completed) = (progress.elapsed, progress.completed);
        }
        self.per_s
    }
}

fn line(progress: &Progress, rate_per_s: Option<f64>) -> String {
    let rate = rate_per_s
        .map_or_else(|| format!("{} answered", progress.completed), |rate| format!("{rate:.1} answered/s"));
    let ms = |ns: u64| ns as f64 / 1e6;
    let times = progress.response_ns.map_or_else(String::new, |(p50, p99)| {
        format!(", p50 {:.2} ms and p99 {:.2} ms so far", ms(p50), ms(p99))
    });
    format!("{rate}{times}, {} failed, {} in flight", progress.errors, progress.in_flight)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn progress(ms: u64, completed: u64) -> Progress {
        let response_ns = (completed > 0).then_some((1_500_000, 20_000_000));
        Progress {
            elapsed: Duration::from_millis(ms),
            completed,
            errors: 3,
            in_flight: 7,
            response_ns,
            ..Progress::default()
        }
    }

    #[test]
    fn the_rate_is_that_of_the_last_second_and_absent_before_one_has_passed() {
        let mut rate = Rate::default();
        let steps = [(250, 10), (1_000, 100), (1_500, 900), (2_000, 300)];
        let rates = steps.map(|(ms, completed)| rate.of(&progress(ms, completed)));
        assert_eq!(rates, [None, Some(100.0), Some(100.0), Some(200.0)]);
    }

    #[test]
    fn a_line_says_what_is_known() {
        assert_eq!(line(&progress(250, 0), None), "0 answered, 3 failed, 7 in flight");
        let all = line(&progress(2_000, 9), Some(12.34));
        assert_eq!(all, "12.3 answered/s, p50 1.50 ms and p99 20.00 ms so far, 3 failed, 7 in flight");
    }
}
