//! What is known of a load while it goes on, in words.

use assay_load::Progress;
use assay_text::duration::about;
use std::time::Duration;

/// The answered rate is that of at least so long.
const RATE_OVER: Duration = Duration::from_secs(1);

/// How far a load is.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Figures {
    /// Since it began.
    pub elapsed: Duration,
    /// Requests that were answered correctly.
    pub completed: u64,
    /// Requests that failed.
    pub errors: u64,
    /// Requests in flight.
    pub in_flight: u32,
    /// Median and 99th percentile of the response times so far, ms; absent before the first.
    pub response_ms: Option<(f64, f64)>,
}

impl From<&Progress> for Figures {
    fn from(progress: &Progress) -> Figures {
        let ms = |ns: u64| ns as f64 / 1e6;
        Figures {
            elapsed: progress.elapsed,
            completed: progress.completed,
            errors: progress.errors,
            in_flight: progress.in_flight,
            response_ms: progress.response_ns.map(|(p50, p99)| (ms(p50), ms(p99))),
        }
    }
}

/// How far users have begun their sessions: `1240 of 10000 users have begun their sessions, about 2 min left`.
pub fn sessions_line(begun: u64, users: u64, left_s: f64) -> String {
    let left = if begun < users { format!(", about {} left", about(left_s)) } else { String::new() };
    format!("{begun} of {users} users have begun their sessions{left}")
}

/// Answered requests per second, of the last second or a little more.
#[derive(Debug, Default)]
pub struct Rate {
    elapsed: Duration,
    completed: u64,
    per_s: Option<f64>,
}

impl Rate {
    /// The figures in words.
    pub fn line(&mut self, figures: &Figures) -> String {
        let rate = match self.of(figures) {
            Some(rate_per_s) => format!("{rate_per_s:.1} answered/s"),
            None => format!("{} answered", figures.completed),
        };
        let times = figures.response_ms.map_or_else(String::new, |(p50_ms, p99_ms)| {
            format!(", p50 {p50_ms:.2} ms and p99 {p99_ms:.2} ms so far")
        });
        format!("{rate}{times}, {} failed, {} in flight", figures.errors, figures.in_flight)
    }

    fn of(&mut self, figures: &Figures) -> Option<f64> {
        if figures.elapsed < self.elapsed {
            // Another load.
            *self = Rate::default();
        }
        let over = figures.elapsed.saturating_sub(self.elapsed);
        if RATE_OVER <= over {
            let completed = figures.completed.saturating_sub(self.completed);
            self.per_s = Some(completed as f64 / over.as_secs_f64());
            (self.elapsed, self.completed) = (figures.elapsed, figures.completed);
        }
        self.per_s
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn figures(ms: u64, completed: u64) -> Figures {
        let response_ns = (completed > 0).then_some((1_500_000, 20_000_000));
        let elapsed = Duration::from_millis(ms);
        let progress =
            Progress { elapsed, completed, errors: 3, in_flight: 7, response_ns, ..Progress::default() };
        Figures::from(&progress)
    }

    #[test]
    fn the_rate_is_that_of_the_last_second_and_absent_before_one_has_passed() {
        let mut rate = Rate::default();
        let steps = [(250, 10), (1_000, 100), (1_500, 900), (2_000, 300)];
        let rates = steps.map(|(ms, completed)| rate.of(&figures(ms, completed)));
        assert_eq!(rates, [None, Some(100.0), Some(100.0), Some(200.0)]);
        assert_eq!(rate.of(&figures(250, 5)), None, "of the load before");
    }

    #[test]
    fn sessions_that_begin_say_how_many_of_how_many_and_about_how_long_the_rest_takes() {
        let line = sessions_line(1_240, 10_000, 88.0);
        assert_eq!(line, "1240 of 10000 users have begun their sessions, about 88 s left");
        assert_eq!(sessions_line(7, 7, 0.0), "7 of 7 users have begun their sessions");
    }

    #[test]
    fn a_line_says_what_is_known() {
        assert_eq!(Rate::default().line(&figures(250, 0)), "0 answered, 3 failed, 7 in flight");
        let all = Rate::default().line(&figures(2_000, 25));
        assert_eq!(all, "12.5 answered/s, p50 1.50 ms and p99 20.00 ms so far, 3 failed, 7 in flight");
    }
}
