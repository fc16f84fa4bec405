//! The `[[fault]]` tables: their mistakes, and the planned faults.

use crate::check::layout::Layout;
use crate::file::document::Document;
use crate::file::fault::{FaultTable, group_of};
use crate::file::program::{ProcessTable, ServerTable};
use crate::file::study::Study;
use crate::file::workload::Workload;
use assay_model::file::SERVER;
use assay_model::{Design, FaultAction, PlannedFault};
use assay_text::near::hint;
use std::collections::BTreeSet;

/// The faults of a study without mistakes.
pub(crate) fn planned(study: &Study) -> Vec<PlannedFault> {
    study.fault.iter().filter_map(FaultTable::planned).collect()
}

/// Checks all faults.
pub(crate) fn check(study: &Study, workload: &Workload, document: &mut Document) {
    if study.fault.is_empty() || workload.program.attached().is_some() {
        return;
    }
    let Some(server) = workload.program.server() else {
        return document
            .add("fault", "faults are of a server and its auxiliary processes, not of a benchmark program");
    };
    if study.capacity.is_some() || study.emulated.is_some() {
        let what = "faults happen in windows of one load: leave [capacity] and [emulated] out, or the faults";
        return document.add("fault", what);
    }
    let mut limited = BTreeSet::new();
    for (i, fault) in study.fault.iter().enumerate() {
        let mut wrong = |key: &str, what: String| document.add(&format!("fault.{i}.{key}"), what);
        let process = workload.processes.iter().find(|p| p.name == fault.role);
        if process.is_none() && fault.role != SERVER {
            let known = workload.processes.iter().map(|p| p.name.as_str()).chain([SERVER]);
            wrong("role", format!("there is no role `{}`{}", fault.role, hint(&fault.role, known)));
            continue;
        }
        check_instance(fault, process).into_iter().for_each(|what| wrong("instance", what));
        match fault.action() {
            Err((key, what)) => wrong(key, what.to_owned()),
            Ok(action) => {
                check_time(fault, &action, study).into_iter().for_each(|what| wrong("at", what));
                check_end(fault, &action, study, server).into_iter().for_each(|what| wrong("restart", what));
                if group_of(&action).is_some() {
                    check_limit(fault, study, &mut limited).into_iter().for_each(|what| wrong("limit", what));
                }
            }
        }
    }
}

fn check_instance(fault: &FaultTable, process: Option<&ProcessTable>) -> Option<String> {
    let instance = fault.instance?;
    let (count, role) = (process.map_or(1, ProcessTable::count_max), &fault.role);
    if fault.limit.is_some() {
        Some(format!("a limit holds all processes of `{role}` together: leave `instance` out"))
    } else if count == 1 {
        Some(format!("there is one `{role}`: leave `instance` out"))
    } else {
        (count < instance).then(|| format!("there is no `{role}` {instance}: its `count` is {count}"))
    }
}

/// A fault begins and ends within the windows, those of the short form included.
fn check_time(fault: &FaultTable, action: &FaultAction, study: &Study) -> Option<String> {
    let at_s = match fault.at_s() {
        Ok(at_s) => at_s.unwrap_or(0.0),
        Err(what) => return Some(what),
    };
    let forms = [("", None), (" of the short form", study.quick.as_ref().map(|quick| &quick.design))];
    let forms = forms.into_iter().take(if study.quick.is_some() { 2 } else { 1 });
    forms.into_iter().find_map(|(of_form, quick)| {
        let window_s = Layout::of(&study.design, quick).window_s;
        let end_s = at_s + action.lasts_s().unwrap_or(0.0);
        let is_within = at_s < window_s && end_s <= window_s;
        let what = match action.lasts_s() {
            Some(for_s) => format!("a fault at {at_s} s for {for_s} s does not end"),
            None => format!("a fault at {at_s} s does not lie"),
        };
        (!is_within).then(|| format!("{what} within the window{of_form}, which has {window_s} s"))
    })
}

/// A process that is needed after the window must be started again.
fn check_end(
    fault: &FaultTable,
    action: &FaultAction,
    study: &Study,
    server: &ServerTable,
) -> Option<String> {
    if fault.restart || !action.ends() {
        return None;
    }
    let designs = [Some(&study.design), study.quick.as_ref().map(|quick| &quick.design)];
    if designs.into_iter().flatten().any(|design| design.kind == Some(Design::Resident)) {
        return Some(
            "in the resident design further windows follow, which need the process: restart = true"
                .to_owned(),
        );
    }
    let is_asked = fault.role == SERVER && server.audit_url.is_some();
    is_asked.then(|| "the audit of the server is read after the window: restart = true".to_owned())
}

/// One limit at a time, in a group that is the fault's alone.
fn check_limit<'s>(fault: &'s FaultTable, study: &Study, limited: &mut BTreeSet<&'s str>) -> Option<String> {
    if fault.role == SERVER {
        let asked = fault.action().ok().and_then(|action| group_of(&action)).unwrap_or_default();
        if study.hosts().iter().any(|(_, host)| host.cpuset.is_some()) {
            let what =
                "levels put the server into a control group (`cpuset`), and a fault needs one of its own";
            return Some(what.to_owned());
        }
        // It changes the limits of the level's group, which has no others.
        if study.groups().iter().any(|(_, group)| {
            asked.cpus.is_some() && group.cpus.is_none()
                || asked.memory_bytes.is_some() && group.memory.is_none()
        }) {
            let what = "levels with `limits` for the server must limit what the fault limits, `cpus` or `memory`: it changes their limits";
            return Some(what.to_owned());
        }
    }
    let is_first = limited.insert(&fault.role);
    (!is_first).then(|| {
        format!("`{}` has another fault with a limit, and one at a time can be taken back", fault.role)
    })
}
