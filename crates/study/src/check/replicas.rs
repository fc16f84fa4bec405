//! Mistakes in `replicas` and `page_out`: what needs servers that Assay starts, one variant at a time, under one load.

use crate::check::builds::all_settings;
use crate::file::document::Document;
use crate::file::study::Study;
use crate::file::workload::Workload;
use assay_model::{DeadMemory, Design};
use std::ops::RangeInclusive;

/// Servers of a variant.
const REPLICAS: RangeInclusive<u32> = 2..=16;
/// A look takes some tenths of a second of CPU time.
const EVERY_S_MIN: f64 = 1.0;

/// Checks both.
pub(crate) fn check(study: &Study, workload: &Workload, document: &mut Document) {
    check_replicas(study, workload, document);
    let is_started =
        workload.program.server().is_some_and(|server| server.url.is_none()) && study.emulated.is_none();
    for (place, settings) in all_settings(study) {
        let Some(table) = &settings.page_out else { continue };
        let mut wrong = |key: &str, what: &str| document.add(&format!("{place}page_out{key}"), what);
        if !is_started {
            wrong(
                "",
                "memory is paged out of a server that Assay starts on this machine: leave `page_out` out",
            );
        }
        if table.memory.is_empty() || table.memory.contains(&DeadMemory::Other) {
            wrong(".memory", "name what is paged out: \"freed\", \"stale-stacks\", \"free-heap\"");
        }
        if table.every.0 < EVERY_S_MIN {
            wrong(".every", "each time takes some tenths of a second: use 1s or more, such as \"30s\"");
        }
    }
}

fn check_replicas(study: &Study, workload: &Workload, document: &mut Document) {
    let Some(replicas) = study.replicas else { return };
    let mut wrong = |what: String| document.add("replicas", what);
    if !REPLICAS.contains(&replicas) {
        let (least, most) = (REPLICAS.start(), REPLICAS.end());
        wrong(format!("`replicas` counts all servers: use {least} to {most}, or leave it out for one"));
    }
    let Some(server) = workload.program.server().filter(|server| server.url.is_none()) else {
        return wrong("replicas are of a server that Assay starts".to_owned());
    };
    if !server.ready_url.contains("{port}") {
        wrong("each replica needs a port of its own: use {port} in the command and in ready_url".to_owned());
    }
    let designs = [Some(&study.design), study.quick.as_ref().map(|quick| &quick.design)];
    let is_fresh = |kind: Option<Design>| kind.is_none_or(|kind| kind == Design::Fresh);
    if !designs.into_iter().flatten().all(|design| is_fresh(design.kind)) {
        wrong("replicas share a control group, one variant at a time: design.kind = \"fresh\"".to_owned());
    }
    let is_search =
        study.capacity.is_some() || study.quick.as_ref().is_some_and(|quick| quick.capacity.is_some());
    if is_search || study.emulated.is_some() {
        wrong("replicas are measured in windows of one load: leave [capacity] and [emulated] out".to_owned());
    }
    if workload.processes.iter().any(|process| process.takes_load) {
        wrong(
            "each replica is loaded directly: leave out the process in front of them (`takes_load`)"
                .to_owned(),
        );
    }
    if study.loads().iter().any(|(_, load)| load.threads.is_some()) {
        wrong("each replica is loaded by a thread of its own: leave `threads` out".to_owned());
    }
}
