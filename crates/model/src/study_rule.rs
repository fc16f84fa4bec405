//! Rules of findings about a study.

use crate::closed::closed;

closed! {
    /// What a study finds about itself.
    StudyRule {
        /// The baseline that the study names cannot run here; another variant took its place.
        BaselineReplaced = "baseline-replaced",
        /// Variants are compared by requests for one address, the one that says that a server is ready.
        UrlAlone = "url-alone",
        /// A commit is measured that is checked out, and files were changed since.
        Uncommitted = "uncommitted-changes",
        /// A variant's heap was so small that collections took most of its time.
        HeapTooSmall = "heap-too-small",
        /// No window will do for CPU time, times and rates: all were disturbed.
        AllDisturbed = "all-disturbed",
        /// No window counts for times and rates, since others used the processors; some will do for CPU time.
        TimesDisturbed = "times-disturbed",
        /// Trials were measured before they were steady, since their warm-up ended at its cap.
        WarmUpCapped = "warm-up-capped",
    }
}
