//! The figures of a load while it runs, on standard error: one line that changes on a terminal, a line now and then elsewhere.

use crate::progress::{Figures, PLAIN_LINE_EVERY, Rate, bar, sessions_line};
use assay_load::Progress;
use indicatif::ProgressBar;
use std::time::Duration;

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
        let sessions = progress.starting.map(|of| sessions_line(of.begun, of.users, of.left.as_secs_f64()));
        let is_before = sessions.is_some();
        let line = sessions.unwrap_or_else(|| self.rate.line(&Figures::from(progress)));
        if progress.elapsed < self.said {
            // The load begins, behind the sessions.
            self.said = Duration::ZERO;
        }
        if !self.bar.is_hidden() {
            self.bar.set_position(if is_before { 0 } else { milliseconds(progress.elapsed) });
            self.bar.set_message(line);
        } else if PLAIN_LINE_EVERY <= progress.elapsed.saturating_sub(self.said) {
            self.said = progress.elapsed;
            say!("{:.0} s: {line}", progress.elapsed.as_secs_f64());
        }
    }
}

fn milliseconds(time: Duration) -> u64 {
    time.as_millis().min(u128::from(u64::MAX)) as u64
}
