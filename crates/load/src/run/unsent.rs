//! Connections with requests that are not on their way yet.

use std::collections::VecDeque;

/// Connections with requests that wait for a stream, or to be written together.
#[derive(Default)]
pub(super) struct Unsent {
    /// With requests that wait for a stream which the server allows.
    held: Vec<usize>,
    /// With requests that were put and not written yet.
    unwritten: VecDeque<usize>,
}

impl Unsent {
    /// A connection holds a request back.
    pub fn hold(&mut self, connection: usize) {
        if !self.held.contains(&connection) {
            self.held.push(connection);
        }
    }

    /// A stream of a connection is free; returns whether it held a request back.
    pub fn release(&mut self, connection: usize) -> bool {
        let Some(place) = self.held.iter().position(|held| *held == connection) else { return false };
        self.held.swap_remove(place);
        true
    }

    /// Requests were put on a connection, and others may follow before they are written.
    pub fn is_to_write(&mut self, connection: usize) {
        if self.unwritten.back() != Some(&connection) {
            self.unwritten.push_back(connection);
        }
    }

    /// The next connection to write.
    pub fn next_unwritten(&mut self) -> Option<usize> {
        self.unwritten.pop_front()
    }
}
