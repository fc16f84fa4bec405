//! What each finding says in general: what it shows as evidence, what brings it about, and what helps. The rules of `assay host` stand in
//! their own file, with the same.

mod gc;
mod memory;
mod modes;
mod study;
mod time;

/// A finding in general.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Explained {
    /// Figures that it shows, and from which on it is made.
    pub evidence: &'static str,
    /// What brings it about, and what it costs.
    pub cause: &'static str,
    /// What helps best.
    pub fix: &'static str,
    /// What helps instead, or besides.
    pub alternatives: &'static [&'static str],
}

/// A rule that can be explained.
pub trait Explain {
    /// What it says in general; `None` of a rule that this version does not know.
    fn explained(self) -> Option<Explained>;
}

/// The matches over the rules are exhaustive: a rule without a text does not compile.
const fn says(
    evidence: &'static str,
    cause: &'static str,
    fix: &'static str,
    alternatives: &'static [&'static str],
) -> Option<Explained> {
    Some(Explained { evidence, cause, fix, alternatives })
}
