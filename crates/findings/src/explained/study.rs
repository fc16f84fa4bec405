//! What a study finds about itself.

use super::{Explain, Explained, says};
use assay_model::StudyRule;

impl Explain for StudyRule {
    fn explained(self) -> Option<Explained> {
        match self {
            StudyRule::BaselineReplaced => says(
                "The reason why the baseline that the study names cannot run here.",
                "The machine lacks what the variant needs: a JVM, memory, a library, permission for a host setting.",
                "What the reason names; or compare with the baseline that took its place.",
            ),
            StudyRule::HeapTooSmall => says(
                "Milliseconds of pauses in a second, with their interval, from the GC log.",
                "The heap is too small for what lives in it: its figures show collections, not the variant.",
                "A larger heap for this level.",
            ),
            StudyRule::AllDisturbed => says(
                "How many windows each check excluded, with the last one's figures.",
                "Others used the machine, the hypervisor took time, a limit throttled the server, or answers were wrong.",
                "A quiet machine; or the key of `[limits]` that the finding names, which lets such windows count.",
            ),
            StudyRule::WarmUpCapped => says(
                "How many warm-ups ended by their cap and not by the steady-state test.",
                "Compilation or caches still changed the server's speed when measuring began.",
                "A larger `design.warm_up.cap`.",
            ),
            StudyRule::Other => None,
        }
    }
}
