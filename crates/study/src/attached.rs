//! A study of a server that runs already: what of the study means nothing then, and whether the server is here.

use crate::document::Document;
use crate::plan::Layout;
use crate::program_table::ServerTable;
use crate::study_file::{Settings, Study};
use assay_linux::ProcRoot;
use assay_load::Scenario;
use assay_model::Design;
use std::path::Path;

/// Nothing of the server can be set, or varied.
pub(crate) fn check(server: &ServerTable, study: &Study, document: &mut Document) {
    let ServerTable { url, pid, companions, gc_log, audit_url, reset_url, stats_url, .. } = server.clone();
    let urls =
        [("url", &url), ("audit_url", &audit_url), ("reset_url", &reset_url), ("stats_url", &stats_url)];
    for (key, url) in urls {
        if let Some(Err(e)) = url.as_deref().map(Scenario::for_url) {
            document.add(&format!("server.{key}"), e.to_string());
        }
    }
    let used =
        ServerTable { url, pid, companions, gc_log, audit_url, reset_url, stats_url, ..Default::default() };
    let load = study.settings.load.clone();
    let wrong = [
        (*server != used, "what a [server] needs to be started"),
        (study.settings != Settings { load, ..Settings::default() }, "a setting of the server or its JVM"),
        (!study.factor.is_empty(), "a [[factor]]"),
        (!study.process.is_empty(), "a [[process]]"),
    ];
    for (_, what) in wrong.into_iter().filter(|(is_set, _)| *is_set) {
        document.add("server.url", format!("{what} means nothing for a server that runs already"));
    }
}

/// It is on this machine as far as that is said, and is measured as often as that tells something.
pub(crate) fn check_here(server: &ServerTable, folder: &Path, layout: Layout, document: &mut Document) {
    if let Some(Err(e)) = server.pid.map(|pid| ProcRoot::default().identity_of(pid)) {
        document.add("server.pid", e.to_string());
    }
    if let Some(Err(e)) = server.gc_log.as_ref().map(|log| fs_err::File::open(folder.join(log))) {
        document.add("server.gc_log", format!("{e}; gc_log (--gc-log) is the file that the server writes"));
    }
    if layout.kind == Design::Fresh && (layout.blocks, layout.repeats_max) != (1, 0) {
        let what = "a server that runs already is not started anew for each trial: write blocks = 1 and repeats_max = 0, or \
                    kind = \"resident\" for several windows";
        document.add("design", what);
    }
}
