//! A limit of the response time, of all operations or of one.

use std::fmt;

/// A limit of the response time.
#[derive(Debug, Clone, PartialEq)]
pub struct LatencyLimit {
    /// How long a request may take, milliseconds.
    pub limit_ms: f64,
    /// The only operation that it holds for; absent: all, or those that are limited together.
    pub operation: Option<String>,
}

impl LatencyLimit {
    /// Of all operations.
    pub fn of_all(limit_ms: f64) -> Self {
        LatencyLimit { limit_ms, operation: None }
    }
}

/// `25 ms`, `200 ms of checkout`.
impl fmt::Display for LatencyLimit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.operation {
            None => write!(f, "{} ms", self.limit_ms),
            Some(operation) => write!(f, "{} ms of {operation}", self.limit_ms),
        }
    }
}
