//! A gate that a test's server holds requests at until a known number of them are under way at once: a load that has fewer never ends.

use std::sync::{Condvar, Mutex};

/// Opens for good once `wanted` are held.
pub struct Gate {
    wanted: usize,
    state: Mutex<State>,
    opened: Condvar,
}

#[derive(Default)]
struct State {
    held: usize,
    is_open: bool,
}

impl Gate {
    pub fn new(wanted: usize) -> Gate {
        Gate { wanted, state: Mutex::default(), opened: Condvar::new() }
    }

    /// One more is held, unless the gate is open.
    pub fn hold(&self) {
        let mut state = self.state.lock().expect("no panic");
        if !state.is_open {
            state.held += 1;
            state.is_open = self.wanted <= state.held;
            self.opened.notify_all();
        }
    }

    pub fn is_open(&self) -> bool {
        self.state.lock().expect("no panic").is_open
    }

    /// Holds one, and waits with it.
    pub fn pass(&self) {
        self.hold();
        let state = self.state.lock().expect("no panic");
        drop(self.opened.wait_while(state, |state| !state.is_open).expect("no panic"));
    }
}
