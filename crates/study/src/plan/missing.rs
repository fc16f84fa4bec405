//! Why no variant of a study can run on this machine.

use crate::file::document::Document;
use crate::plan::candidate::Candidate;
use std::collections::BTreeMap;

/// Reports why no variant can run here, if none can. A reason that several share is one message.
pub(super) fn check(candidates: &[Candidate], document: &mut Document) {
    if candidates.iter().any(Candidate::is_present) {
        return;
    }
    let mut by_reason: BTreeMap<(&String, &String), Vec<String>> = BTreeMap::new();
    for candidate in candidates {
        if let Err(reason) = &candidate.found {
            by_reason
                .entry((&candidate.place, reason))
                .or_default()
                .push(format!("`{}`", candidate.spec.name));
        }
    }
    for ((place, reason), names) in by_reason {
        let variants = if names.len() == 1 { "variant" } else { "variants" };
        let what = format!("{variants} {} cannot run here: {reason}", names.join(", "));
        document.add_missing(place, what);
    }
}
