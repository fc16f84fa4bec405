//! The `[emulated]` table: its mistakes, its defaults, and keys that a study of emulated guests cannot have.

use crate::check::program::HTTPS;
use crate::file::document::Document;
use crate::file::study::{EmulatedTable, LoadKind, Study};
use crate::file::workload::{Program, Workload};
use assay_model::{Design, PlannedEmulation};

/// Load before counting and while it is counted, seconds of the guest's clock.
const WARM_UP_S: f64 = 2.0;
const WINDOW_S: f64 = 0.5;
/// Longest of each: the emulator takes up to a minute for a second.
const SECONDS_MAX: f64 = 600.0;
/// The same for a number of requests, and how long they may take where the study does not say: a server that waits costs the emulator nothing.
const LONGEST_S: f64 = 3600.0;
/// Memory of a guest on top of heap and files: JVM native memory, load generator, kernel.
const MEMORY_MIB: u64 = 512;
/// Wall time of a trial, about, for the estimate of the run's length: start and end of a guest, a second of its clock as it is, and one
/// that is counted.
const START_S: f64 = 20.0;
const PLAIN_FACTOR: f64 = 8.0;
const COUNTED_FACTOR: f64 = 40.0;
/// A request of a small server on the guest's clock, seconds, with its share of what compilers do meanwhile. Measured (30 November 2026, JDK 17, 10,500
/// requests to a server of the JDK's own classes): a guest took 112 s of CPU time, of which 20 s are start and end.
const REQUEST_S: f64 = 900e-6;

impl EmulatedTable {
    /// Each key that `quick` names in its place.
    fn replaced_by(&self, quick: Option<&EmulatedTable>) -> EmulatedTable {
        let Some(quick) = quick else { return self.clone() };
        EmulatedTable {
            processor: quick.processor.or(self.processor),
            warm_up: quick.warm_up.or(self.warm_up),
            window: quick.window.or(self.window),
            warm_up_requests: quick.warm_up_requests.or(self.warm_up_requests),
            window_requests: quick.window_requests.or(self.window_requests),
            memory: quick.memory.or(self.memory),
            files: quick.files.as_ref().or(self.files.as_ref()).cloned(),
        }
    }
}

/// The guests of a study, or of its short form; none where its trials measure on this machine.
pub(crate) fn planned(study: &Study, is_quick: bool) -> Option<PlannedEmulation> {
    let quick = study.quick.as_ref().filter(|_| is_quick).and_then(|q| q.emulated.as_ref());
    let table = study.emulated.as_ref()?.replaced_by(quick);
    Some(PlannedEmulation {
        processor: table.processor.unwrap_or_default(),
        warm_up_s: table.warm_up.map_or(table.warm_up_requests.map_or(WARM_UP_S, |_| LONGEST_S), |s| s.0),
        window_s: table.window.map_or(table.window_requests.map_or(WINDOW_S, |_| LONGEST_S), |s| s.0),
        warm_up_requests: table.warm_up_requests,
        window_requests: table.window_requests,
        memory_mib: table.memory.map_or(MEMORY_MIB, |size| size.bytes >> 20),
        files: table.files.unwrap_or_default(),
    })
}

/// Wall time of a trial, seconds, about.
pub(crate) fn trial_s(planned: &PlannedEmulation) -> f64 {
    let seconds = |requests: Option<u64>, s: f64| requests.map_or(s, |n| s.min(n as f64 * REQUEST_S));
    START_S
        + PLAIN_FACTOR * seconds(planned.warm_up_requests, planned.warm_up_s)
        + COUNTED_FACTOR * seconds(planned.window_requests, planned.window_s)
}

/// The rule of the warm-up, in words.
pub(crate) fn describe_warm_up(planned: &PlannedEmulation) -> String {
    if let Some(requests) = planned.warm_up_requests {
        return format!(
            "{requests} requests, however long they take, and a rest, without a test of steadiness"
        );
    }
    format!(
        "{} s of the load on the guest's clock, of 1,000,000,000 instructions each, without a test of steadiness",
        planned.warm_up_s
    )
}

/// Mistakes in the table.
pub(crate) fn check(study: &Study, workload: Option<&Workload>, document: &mut Document) {
    let quick = study.quick.as_ref();
    if study.emulated.is_none() {
        if quick.is_some_and(|q| q.emulated.is_some()) {
            let what = "the short form replaces keys of [emulated], which the study does not have";
            document.add("quick.emulated", what);
        }
        return;
    }
    check_times(study, document);
    check_counts(study, document);
    let mut cannot = |is_set: bool, place: &str, what: &str| {
        if is_set {
            document.add(place, format!("{what} means nothing in an emulated guest"));
        }
    };
    cannot(study.capacity.is_some(), "capacity", "a capacity");
    let speaks_tls =
        workload.and_then(|of| of.program.server()).is_some_and(|of| of.ready_url.starts_with(HTTPS));
    cannot(speaks_tls, "server.ready_url", "TLS");
    for (place, load) in study.loads() {
        cannot(load.threads.is_some(), &format!("{place}.threads"), "a number of threads");
    }
    for (place, design) in [("design", Some(&study.design)), ("quick.design", quick.map(|q| &q.design))] {
        let Some(design) = design else { continue };
        cannot(design.kind == Some(Design::Resident), &format!("{place}.kind"), "the resident design");
        cannot(
            design.window.is_some(),
            &format!("{place}.window"),
            "a window of [design] (write it in [emulated])",
        );
        let warm_up = design.warm_up.min.or(design.warm_up.cap);
        cannot(
            warm_up.is_some(),
            &format!("{place}.warm_up"),
            "a warm-up of [design] (write it in [emulated])",
        );
    }
    cannot(study.observe.as_ref().is_some_and(|o| !o.is_empty()), "observe", "what watches from outside");
    check_changes(study, document);
    if let Some(workload) = workload {
        check_workload(workload, document);
    }
}

fn check_times(study: &Study, document: &mut Document) {
    for (place, is_quick) in [("emulated", false), ("quick.emulated", true)] {
        let Some(planned) = planned(study, is_quick).filter(|_| !is_quick || study.quick.is_some()) else {
            continue;
        };
        let of_times = [
            ("warm_up", planned.warm_up_s, 0.0, planned.warm_up_requests),
            ("window", planned.window_s, 0.001, planned.window_requests),
        ];
        for (key, seconds, min, requests) in of_times {
            let max = requests.map_or(SECONDS_MAX, |_| LONGEST_S);
            if !(min..=max).contains(&seconds) {
                document.add(
                    &format!("{place}.{key}"),
                    format!("{seconds} s: use {min} to {max} s of the guest's clock"),
                );
            }
        }
    }
}

/// A number of requests ends a load whose users wait for their answers; an open one has a rate and a time.
fn check_counts(study: &Study, document: &mut Document) {
    let tables = [study.emulated.as_ref(), study.quick.as_ref().and_then(|quick| quick.emulated.as_ref())];
    let is_counted = |table: &EmulatedTable| table.warm_up_requests.or(table.window_requests).is_some();
    if !tables.into_iter().flatten().any(is_counted) {
        return;
    }
    for (place, load) in study.loads() {
        if load.kind == LoadKind::Open {
            let what = "warm_up_requests and window_requests take a closed load: write kind = \"closed\", or give [emulated] times";
            document.add(&format!("{place}.kind"), what);
        }
    }
}

/// Settings of this machine and control groups reach the emulator, and nothing in its guest. A trial with them would be reported as measured
/// under conditions that its server never had.
fn check_changes(study: &Study, document: &mut Document) {
    let elsewhere = "leave it out, or measure on this machine, without [emulated]";
    for (place, _) in study.hosts() {
        let what = format!(
            "`host` cannot be applied to an emulated guest, which has a kernel and a processor of its own: {elsewhere}"
        );
        document.add(&place, what);
    }
    for (place, _) in study.groups() {
        let what = format!(
            "`limits` cannot be applied to an emulated guest, since a control group would limit the emulator and not the server in it: {elsewhere}"
        );
        document.add(&place, what);
    }
}

/// Programs that a guest cannot run, or not yet.
fn check_workload(workload: &Workload, document: &mut Document) {
    match &workload.program {
        Program::Benchmark(_) => {
            document.add("emulated", "a guest loads a server; this study has a benchmark program");
        }
        Program::Server(server) if server.url.is_some() => {
            document
                .add("emulated", "a guest starts its server itself; this study has one that runs already");
        }
        Program::Server(server) if server.template.is_some() => {
            document.add("emulated", "servers that start from a template cannot be put into a guest yet");
        }
        Program::Server(_) if !workload.processes.is_empty() => {
            document.add("emulated", "auxiliary processes cannot be put into a guest yet");
        }
        Program::Server(_) => {}
    }
}
