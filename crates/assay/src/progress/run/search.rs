//! How far a search for capacity is, of the time that it may take.

use assay_model::{RunEvent, RunEventKind};
use assay_text::duration::spoken;

/// By its events.
#[derive(Debug)]
pub struct Search {
    budget_s: f64,
    /// Windows that are over.
    windows: u32,
    /// When the first began, and now, since the start of the run: the warm-up before it is not of the budget.
    began_s: Option<f64>,
    now_s: f64,
}

impl Search {
    /// One that may take so long.
    pub fn within(budget_s: f64) -> Search {
        Search { budget_s, windows: 0, began_s: None, now_s: 0.0 }
    }

    /// The seconds that it may take, and those that it has taken.
    pub fn after(&mut self, event: &RunEvent) -> (u64, u64) {
        self.now_s = event.elapsed_s;
        match event.kind {
            RunEventKind::LoadProgress { load_s, .. } => {
                self.began_s.get_or_insert((event.elapsed_s - load_s).max(0.0));
            }
            RunEventKind::CapacityWindowEnded { .. } => self.windows += 1,
            _ => {}
        }
        (self.budget_s as u64, self.taken_s())
    }

    fn taken_s(&self) -> u64 {
        self.began_s.map_or(0.0, |began_s| self.now_s - began_s).max(0.0) as u64
    }

    /// Before what it is at: `window 4, 64 s of 5 min: `.
    pub fn line(&self) -> String {
        format!(
            "window {}, {} of {}: ",
            self.windows + 1,
            spoken(self.taken_s()),
            spoken(self.budget_s as u64)
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_time_begins_with_the_first_window_and_windows_are_counted() {
        let mut search = Search::within(300.0);
        let event = |elapsed_s, kind| RunEvent { at: String::new(), elapsed_s, remaining_s: None, kind };
        let load = |load_s| RunEventKind::LoadProgress {
            number: 1,
            load_s,
            planned_s: 10.0,
            offered_rate_per_s: Some(50.0),
            completed: 0,
            errors: 0,
            in_flight: 0,
            p50_ms: None,
            p99_ms: None,
        };
        let warm = RunEventKind::WarmUpEnded { number: 1, steady: true, duration_s: 40.0 };
        assert_eq!(search.after(&event(40.0, warm)), (300, 0));
        assert_eq!(search.after(&event(43.0, load(2.0))), (300, 2));
        let ended = RunEventKind::CapacityWindowEnded {
            number: 1,
            step: assay_model::CapacityStep::Bracket,
            offered_rate_per_s: 50.0,
            achieved_rate_per_s: 50.0,
            limited_ms: None,
            is_sustained: true,
            left_out: Vec::new(),
        };
        assert_eq!(search.after(&event(51.0, ended)), (300, 10));
        assert_eq!(search.after(&event(105.0, load(1.0))), (300, 64));
        assert_eq!(search.line(), "window 2, 64 s of 5 min: ");
    }
}
