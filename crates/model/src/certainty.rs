//! How well a figure is known.

use crate::closed::closed;

closed! {
    /// How well a figure or a bound is known.
    Certainty {
        /// The kernel or the JVM counts it, or keeps the bound.
        Known = "known",
        /// Computed from something else that was observed, sampled or measured; the field next to it says how.
        Inferred = "inferred",
        /// Unknown: of a bound, it is the observed peak and a margin.
        Unknown = "unknown",
    }
}
