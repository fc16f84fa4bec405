//! Which findings bring others about. What helps against the cause helps there, and the usual step may do harm: more heap for a leak.

use assay_model::RuleId;

/// What live objects without an end bring about in the collector, and in what it takes.
const OF_LEAKS: [&str; 15] = [
    "out-of-memory",
    "heap-too-small",
    "full-gc",
    "evacuation-failure",
    "promotion-failure",
    "premature-promotion",
    "concurrent-mode-failure",
    "degenerated-cycles",
    "allocation-stalls",
    "throughput-low",
    "pauses-long",
    "young-collections-frequent",
    "humongous-allocations",
    "collector-time",
    "heap-dump-on-oom",
];

/// Causes, and what follows from each. Of several causes the first that was found counts.
const FOLLOWS: [(&str, &[&str]); 6] = [
    ("memory-grows", &["killed-at-limit", "near-limit", "large-share"]),
    ("live-set-grows", &OF_LEAKS),
    ("killed-at-limit", &["near-limit"]),
    ("throttled", &["gc-threads-throttled", "gc-threads-over-limit", "cpu-pressure"]),
    ("swapped-out", &["swap-used", "swappiness"]),
    ("heap-too-small", &["full-gc", "throughput-low", "young-collections-frequent", "collector-time"]),
];

/// The rule that brings a finding of this one about, among those that were found.
pub(super) fn cause<'a>(rule: &RuleId, found: &[&'a RuleId]) -> Option<&'a RuleId> {
    let causes = FOLLOWS.iter().filter(|(_, effects)| effects.iter().any(|id| *rule == *id));
    causes.into_iter().find_map(|(cause, _)| found.iter().copied().find(|of| **of == *cause))
}
