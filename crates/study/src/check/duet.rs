//! The duet design: keys that a study of pairs cannot have, and those that it alone has.

use crate::file::document::Document;
use crate::file::study::{DesignTable, Study};
use crate::file::workload::{Program, Workload};
use assay_model::Design;

/// Mistakes in a study of pairs; and keys of pairs in another.
pub(crate) fn check(study: &Study, workload: Option<&Workload>, document: &mut Document) {
    let quick = study.quick.as_ref().map(|quick| &quick.design);
    let designs = [("design", Some(&study.design)), ("quick.design", quick)];
    let kind = |design: &DesignTable| design.kind.or(study.design.kind);
    let mut is_duet = false;
    for (place, design) in designs.into_iter().filter_map(|(place, design)| Some((place, design?))) {
        let is_of_pairs = kind(design) == Some(Design::Duet);
        is_duet |= is_of_pairs;
        let Some(windows) = design.windows else { continue };
        let key = format!("{place}.windows");
        if !is_of_pairs {
            document
                .add(&key, "only a pair has several windows: write kind = \"duet\", or leave windows away");
        } else if windows == 0 || windows % 2 != 0 {
            let what = format!(
                "the sides swap their halves of the processors in every window, so that each has each as often: use an even number, such as {}",
                (windows + 1).max(2)
            );
            document.add(&key, what);
        }
    }
    if is_duet {
        check_study(study, document);
        workload.into_iter().for_each(|workload| check_program(workload, document));
    }
}

fn check_study(study: &Study, document: &mut Document) {
    let fresh = "kind = \"fresh\" runs one process at a time";
    let quick = study.quick.as_ref();
    if study.capacity.is_some() || quick.is_some_and(|quick| quick.capacity.is_some()) {
        let what =
            format!("a capacity takes the whole machine, and a side of a duet has half of it: {fresh}");
        document.add("capacity", what);
    }
    if study.emulated.is_some() {
        let what =
            format!("guests count and take no times, so nothing is won by running two at once: {fresh}");
        document.add("emulated", what);
    }
    for (place, load) in study.loads() {
        if load.threads.is_some_and(|threads| 1 < threads) {
            let what = "each side of a duet is loaded by one thread on its half of the processors: leave threads away";
            document.add(&format!("{place}.threads"), what);
        }
    }
    if !study.fault.is_empty() {
        let what = format!(
            "a fault hits one window, and a duet compares two that are alike but for the variant: {fresh}"
        );
        document.add("fault", what);
    }
    for (place, host) in study.hosts() {
        if host.is_global() {
            let what = format!(
                "both sides of a duet run at once, and this setting holds for the whole machine: {fresh}"
            );
            document.add(&place, what);
        } else if host.cpuset.is_some() {
            let what = "a duet chooses the processors of its sides itself: leave cpuset away";
            document.add(&format!("{place}.cpuset"), what);
        }
    }
}

fn check_program(workload: &Workload, document: &mut Document) {
    match &workload.program {
        Program::Benchmark(_) => {
            let what = "a benchmark program measures itself, so windows of two cannot be taken at the same time: use kind = \"fresh\"";
            document.add("design.kind", what);
        }
        Program::Server(server) if server.url.is_some() => {
            let what = "a duet starts its two servers itself, and this study has one that runs already: write its command";
            document.add("design.kind", what);
        }
        Program::Server(_) => {}
    }
}
