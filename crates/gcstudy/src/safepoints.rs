//! Time stopped at safepoints that is not a pause of the collector.

use crate::timeline::Span;
use std::collections::VecDeque;

/// Pauses that wait for their safepoint. A safepoint holds one, seldom two.
const WAITING_MAX: usize = 64;

/// Takes the pauses out of the safepoints that hold them: a pause is logged first, then the safepoint that it was in.
#[derive(Debug, Clone, Default)]
pub(super) struct Safepoints {
    waiting: VecDeque<(u64, Option<Span>)>,
    /// Stopped for other things, nanoseconds; absent without safepoints.
    other_ns: Option<u128>,
}

impl Safepoints {
    /// Takes a pause.
    pub fn pause(&mut self, ns: u64, at: Option<Span>) {
        if self.waiting.len() == WAITING_MAX {
            self.waiting.pop_front();
        }
        self.waiting.push_back((ns, at));
    }

    /// Takes a safepoint; gives what of it was not for the collector.
    pub fn safepoint(&mut self, ns: u64, at: Option<Span>) -> u64 {
        let within = |pause: &(u64, Option<Span>)| match (pause.1, at) {
            (Some(pause), Some(whole)) => {
                let step = pause.resolution_ns.max(whole.resolution_ns).saturating_mul(2);
                whole.start_ns <= pause.end_ns.saturating_add(step)
            }
            // Without times the order of lines must do.
            _ => true,
        };
        let held = self.waiting.iter().filter(|pause| within(pause));
        let collected_ns = held.fold(0_u64, |sum, (ns, _)| sum.saturating_add(*ns));
        self.waiting.clear();
        let other_ns = ns.saturating_sub(collected_ns);
        self.other_ns = Some(self.other_ns.unwrap_or(0) + u128::from(other_ns));
        other_ns
    }

    /// Another JVM begins.
    pub fn begin_jvm(&mut self) {
        self.waiting.clear();
    }

    /// Stopped for other things than the collector, milliseconds.
    pub fn other_ms(&self) -> Option<f64> {
        self.other_ns.map(|ns| ns as f64 / 1e6)
    }
}
