//! Which ready-made studies have a form that decides something within an hour.

use super::*;
use crate::check::combinations::combine;
use crate::file::program::ProcessTable;
use crate::file::ready_made::READY_MADE;
use crate::file::study::Study;
use crate::plan::duration::trial_s;
use crate::plan::prepare::procedure;
use std::path::Path;

const HOUR_S: f64 = 3_600.0;

/// What three blocks of a study and its parts take, seconds, with all variants that it has anywhere; none where it has no such form.
fn least_of(name: &str, is_short: bool) -> Option<f64> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../studies");
    let checked =
        Study::read(&folder.join(format!("{name}.toml"))).unwrap_or_else(|e| panic!("{name}: {e:?}"));
    let (study, workload) = (&checked.study, &checked.workload);
    let short = study.quick.as_ref().filter(|_| is_short);
    if is_short && short.is_none() {
        return None;
    }
    let procedure = procedure(study, workload.program.subject(), is_short);
    let layout = Layout::of(&study.design, short.map(|quick| &quick.design)).with_length(trial_s(&procedure));
    let auxiliary: Vec<u32> = combine(study, short)
        .iter()
        .map(|spec| ProcessTable::count_all(&workload.processes, &spec.workload_options))
        .collect();
    let own_s = least_s(&layout, &auxiliary, &procedure);
    let parts = study.parts.iter().map(|part| least_of(part.trim_end_matches(".toml"), is_short));
    parts.sum::<Option<f64>>().map(|parts_s| own_s + parts_s)
}

/// In full, with all the variants that they have anywhere, three blocks of these take more than an hour; `--quick` fits.
const SHORT_FORM_ONLY: [&str; 11] = [
    "airline-20-jvms",
    "chat-emulated",
    "compressed-references",
    "huge-pages",
    "jdk-line",
    "jdk-versions",
    "memory-pressure",
    "non-java-memory",
    "reference-modes",
    "reference-modes-brokerage",
    "tuned-flags",
];

#[test]
fn each_ready_made_study_has_a_form_that_fits_into_an_hour() {
    let fits = |name: &str, is_short| least_of(name, is_short).is_some_and(|least_s| least_s <= HOUR_S);
    let mut short_form_only = Vec::new();
    for study in READY_MADE {
        if !fits(study.name, false) {
            assert!(fits(study.name, true), "{}", study.name);
            short_form_only.push(study.name);
        }
    }
    assert_eq!(short_form_only, SHORT_FORM_ONLY);
}
