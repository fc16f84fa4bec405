//! `assay time` against the JVM's own list of its threads.

use super::cell::Cell;
use super::memory::compared;
use super::subject::assay;
use assay_model::{ThreadRole, TimeReport};
use assay_testkit::{Running, role_in_working};
use std::collections::BTreeMap;

/// What each thread is for.
pub fn roles(jvm: &Running) -> Cell {
    let pid = jvm.pid().to_string();
    let roles = || {
        let report: TimeReport = assay(&["time", &pid, "--for", "1s", "--no-samples", "--no-bpf"])?;
        Ok(report.threads.iter().map(|of| (of.tid, of.role)).collect::<BTreeMap<u32, ThreadRole>>())
    };
    compared(jvm, roles, |roles, tid, thread| {
        // Those without CPU time are not listed.
        let role = roles.get(&tid)?;
        Some(role_in_working(thread).is_none_or(|expected| role.word() == expected))
    })
}
