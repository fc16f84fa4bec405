//! State shared by all users of a load: counters, and values given by one-time requests.

use crate::Part;
use serde::{Deserialize, Serialize};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};

/// Values taken from answers, by number among the scenario's extracts.
pub(crate) type Extracted = Vec<Option<Box<[u8]>>>;

/// State shared by the users of a scenario. Clones are the same; generators that follow one another before one server take the
/// same, so that no number of a counter comes twice and the one-time requests are sent once.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(from = "Sent", into = "Sent")]
pub struct Shared(Arc<State>);

#[derive(Debug)]
struct State {
    part: Part,
    /// How often each was drawn.
    counters: Box<[AtomicU64]>,
    /// Once the one-time requests were answered.
    given: OnceLock<Extracted>,
}

/// What an injector hears of it.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Sent {
    part: Part,
    counters: u16,
    given: Option<Extracted>,
}

impl Default for State {
    fn default() -> Self {
        State { part: Part::WHOLE, counters: Box::default(), given: OnceLock::new() }
    }
}

impl From<Sent> for Shared {
    fn from(Sent { part, counters, given }: Sent) -> Shared {
        let counters = (0..counters).map(|_| AtomicU64::new(0)).collect();
        Shared(Arc::new(State { part, counters, given: given.map(OnceLock::from).unwrap_or_default() }))
    }
}

impl From<Shared> for Sent {
    fn from(Shared(state): Shared) -> Sent {
        let counters = u16::try_from(state.counters.len()).unwrap_or(u16::MAX);
        Sent { part: state.part, counters, given: state.given.get().cloned() }
    }
}

impl Shared {
    /// So many counters, at their beginning, and nothing set up.
    pub(crate) fn new(counters: u16) -> Shared {
        Sent { part: Part::WHOLE, counters, given: None }.into()
    }

    /// That of one of several generators: its counters take each number that none of the others takes.
    #[must_use]
    pub fn of_part(&self, part: Part) -> Shared {
        Sent { part, ..Sent::from(self.clone()) }.into()
    }

    /// Which of several generators this is.
    pub fn part(&self) -> Part {
        self.0.part
    }

    /// How often a counter was drawn before, by all generators together.
    pub(crate) fn count(&self, counter: usize) -> u64 {
        let drawn = self.0.counters.get(counter).map_or(0, |drawn| drawn.fetch_add(1, Ordering::Relaxed));
        let Part { number, of } = self.0.part;
        drawn.saturating_mul(u64::from(of.max(1))).saturating_add(u64::from(number))
    }

    /// Whether the one-time requests were answered.
    pub fn is_set_up(&self) -> bool {
        self.0.given.get().is_some()
    }

    /// Keeps what the one-time requests gave their user; what was kept before stays.
    pub(crate) fn give(&self, extracted: Extracted) {
        let _ = self.0.given.set(extracted);
    }

    /// A value that a one-time request gave.
    pub(crate) fn given(&self, extract: usize) -> Option<&[u8]> {
        self.0.given.get()?.get(extract)?.as_deref()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_counter_goes_on_in_every_clone() {
        let shared = Shared::new(2);
        let clone = shared.clone();
        assert_eq!([shared.count(0), clone.count(0), shared.count(0), shared.count(1)], [0, 1, 2, 0]);
    }

    #[test]
    fn the_counters_of_several_generators_never_meet_also_after_a_journey() {
        let text = |part| serde_json::to_string(&Shared::new(2).of_part(part)).expect("plain");
        let mut numbers: Vec<u64> = (0..3)
            .map(|number| {
                serde_json::from_str::<Shared>(&text(Part { number, of: 3 })).expect("its own form")
            })
            .flat_map(|shared| (0..4).map(|_| shared.count(1)).collect::<Vec<_>>())
            .collect();
        numbers.sort_unstable();
        assert_eq!(numbers, (0..12).collect::<Vec<_>>());
    }
}
