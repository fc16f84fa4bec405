//! What a study finds about itself.

use super::{Explain, Explained, says};
use assay_model::StudyRule;

impl Explain for StudyRule {
    fn explained(self) -> Option<Explained> {
        match self {
            StudyRule::BaselineReplaced => says(
                "The reason why the baseline that the study names cannot run here.",
                "The machine lacks what the variant needs: a JVM, memory, a library, permission for a host setting.",
                "Give the machine what the reason names.",
                &["Compare with the baseline that took its place."],
            ),
            StudyRule::HeapTooSmall => says(
                "Milliseconds of pauses in a second, with their interval, from the GC log.",
                "The heap is too small for what lives in it: its figures show collections, not the variant.",
                "Give this level a larger heap.",
                &[],
            ),
            StudyRule::AllDisturbed => says(
                "How many windows each check excluded, with the last one's figures.",
                "Others used the machine, the hypervisor took time, a limit throttled the server, or answers were wrong.",
                "Repeat it where what disturbed most is absent: the finding names it.",
                &["Let such windows count: the key of `[limits]` that the finding names."],
            ),
            StudyRule::WarmUpCapped => says(
                "How many warm-ups ended by their cap and not by the steady-state test.",
                "Compilation or caches still changed the server's speed when measuring began.",
                "Raise `design.warm_up.cap`.",
                &[],
            ),
            StudyRule::Other => None,
        }
    }
}
