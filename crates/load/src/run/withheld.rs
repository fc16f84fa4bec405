//! What waits for a server that allows fewer requests at once than were asked for.

/// Requests and streams that wait for what a server allows.
#[derive(Default)]
pub(super) struct Withheld {
    /// Free slots whose streams the server does not allow.
    pub slots: Vec<usize>,
    /// A connection was closed, or a server allows another number.
    pub changed: bool,
    /// Connections with requests that wait for a stream.
    pub holding: Vec<usize>,
    /// Connections with requests that were put and not written yet.
    pub put: Vec<usize>,
}

impl Withheld {
    /// A connection holds a request back.
    pub fn hold(&mut self, at: usize) {
        if !self.holding.contains(&at) {
            self.holding.push(at);
        }
    }
}
