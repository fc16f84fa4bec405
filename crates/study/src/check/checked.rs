//! A study file with its workload, and the checks that need no particular machine. All mistakes are collected before anything starts.
//! The machine is asked for its JDKs and a repository for its commits, where they are a factor's levels.

use crate::check::builds;
use crate::check::capacity;
use crate::check::claims::{check_claims, check_metrics, check_published};
use crate::check::commits;
use crate::check::duet;
use crate::check::each_jdk;
use crate::check::emulation;
use crate::check::factors::{NAME_CHARS_MAX, check_factors, check_level};
use crate::check::faults;
use crate::check::guest;
use crate::check::processes::check_processes;
use crate::check::program::{check_no_server, check_program};
use crate::check::replicas;
use crate::check::variants::check_variants;
use crate::error::Diagnostic;
use crate::file::document::Document;
use crate::file::ready_made::ReadyMade;
use crate::file::study::{CONNECTIONS, DesignTable, LoadKind, LoadTable, Study, USERS};
use crate::file::workload::{Workload, cache_of, folder_of, resolve};
use assay_jdk::installed_releases;
use assay_measure::observers::Observe;
use assay_model::{Design, schema};
use std::path::PathBuf;

/// Shortest window: CPU time and requests need something to count.
const WINDOW_S_MIN: f64 = 0.1;

/// A study file without mistakes, with its workload.
#[derive(Debug, Clone)]
pub struct Checked {
    pub(crate) study: Study,
    pub(crate) text: String,
    pub(crate) workload: Workload,
    /// Kept for messages about what this machine lacks.
    pub(crate) document: Document,
}

impl Checked {
    /// Name of the study.
    pub fn name(&self) -> &str {
        &self.study.name
    }

    /// The scenario file that the study names, relative to its folder; absent if variants have different ones.
    pub fn scenario_file(&self) -> Option<&str> {
        self.study.scenario.as_deref().filter(|name| !name.contains('{'))
    }

    /// Whether its trials run in emulated machines, and this program does not run in one of them.
    pub fn is_for_guests(&self) -> bool {
        self.study.guest.is_some() && !assay_emulate::is_inside()
    }

    /// The study files that are run after this one.
    pub fn parts(&self) -> Vec<PathBuf> {
        let folder = folder_of(&self.document.file);
        self.study.parts.iter().map(|part| folder.join(part)).collect()
    }
}

/// Checks a study whose text has the right shape, or whose mistakes in shape are known.
///
/// # Errors
/// Every mistake that was found, in the order of the lines.
pub(crate) fn check(mut document: Document, text: &str) -> Result<Checked, Vec<Diagnostic>> {
    let mut study = match (toml::from_str::<Study>(text), document.rest(text)) {
        (Ok(study), _) | (Err(_), Some(study)) => study,
        (Err(_), None) if !document.found.is_empty() => return Err(sorted(document.found)),
        (Err(e), None) => {
            document.add("", e.message().trim());
            return Err(document.found);
        }
    };
    let cache = cache_of(&document.file);
    each_jdk::fill_in(&mut study, || installed_releases(&cache), &mut document);
    commits::fill_in(&mut study, &mut document);
    check_head(&study, &mut document);
    check_factors(&study, &mut document);
    study.loads().iter().for_each(|(place, load)| check_load(place, load, &mut document));
    check_logged(&study, &mut document);
    check_host(&study, &mut document);
    capacity::check(&study, &mut document);
    check_design("design", &study.design, &mut document);
    check_quick(&study, &mut document);
    check_published(&study, &mut document);
    check_claims(&study, &mut document);
    check_parts(&study, &mut document);
    let (workload, mut elsewhere) = resolve(&study, &mut document);
    emulation::check(&study, workload.as_ref(), &mut document);
    guest::check(&study, workload.as_ref(), &mut document);
    duet::check(&study, workload.as_ref(), &mut document);
    let subject = workload.as_ref().map(|w| w.program.subject()).unwrap_or_default();
    check_metrics(&study, subject, &mut document);
    if let Some(workload) = &workload {
        check_program(workload, &study, &mut document);
        builds::check(&study, workload, &mut document);
        check_processes(workload, &study, &mut document);
        faults::check(&study, workload, &mut document);
        replicas::check(&study, workload, &mut document);
        if workload.program.benchmark().is_some() {
            check_no_server(&study, &mut document);
        }
        check_variants(&study, workload, &mut document);
    }
    elsewhere.extend(std::mem::take(&mut document.found));
    match workload {
        Some(workload) if elsewhere.is_empty() => {
            Ok(Checked { study, text: text.to_owned(), workload, document })
        }
        _ => Err(sorted(elsewhere)),
    }
}

fn sorted(mut found: Vec<Diagnostic>) -> Vec<Diagnostic> {
    found.sort();
    found.dedup();
    found
}

fn check_head(study: &Study, document: &mut Document) {
    if study.schema != schema::STUDY_FILE {
        document
            .add("schema", format!("unknown schema `{}`; write \"{}\"", study.schema, schema::STUDY_FILE));
    }
    let is_plain = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
    if study.name.is_empty() || study.name.len() > NAME_CHARS_MAX || !study.name.chars().all(is_plain) {
        let what = format!(
            "the name `{}` names the run directory: up to {NAME_CHARS_MAX} letters, digits, - and _",
            study.name
        );
        document.add("name", what);
    }
}

fn check_load(path: &str, load: &LoadTable, document: &mut Document) {
    let (kind, foreign) = match load.kind {
        LoadKind::Closed => {
            let open_keys = [
                ("rate_per_s", load.rate_per_s.is_some()),
                ("arrivals", load.arrivals.is_some()),
                ("connections", load.connections.is_some()),
                ("in_flight_max", load.in_flight_max.is_some()),
            ];
            ("closed", open_keys.to_vec())
        }
        LoadKind::Open => {
            if load.rate_per_s.is_none() {
                document.add(path, "open load needs rate_per_s");
            }
            ("open", vec![("think", load.think.is_some())])
        }
    };
    let connections = match load.kind {
        LoadKind::Closed => load.users.unwrap_or(USERS),
        LoadKind::Open => load.connections.unwrap_or(CONNECTIONS),
    };
    capacity::check_threads(path, load.threads, connections, document);
    for (key, _) in foreign.into_iter().filter(|(_, is_set)| *is_set) {
        document.add(&format!("{path}.{key}"), format!("`{key}` means nothing for {kind} load"));
    }
}

/// Several threads keep no log together.
fn check_logged(study: &Study, document: &mut Document) {
    let is_logged = study.observe.iter().flatten().any(|observed| *observed == Observe::Latency);
    if is_logged && study.has_threads() {
        document.add(
            "observe",
            "`latency` keeps the log of a load by one thread: leave it, or `threads` and `replicas`, out",
        );
    }
}

/// Settings of the machine. One machine cannot have two values of one at the same time.
fn check_host(study: &Study, document: &mut Document) {
    let designs = [Some(&study.design), study.quick.as_ref().map(|quick| &quick.design)];
    let is_resident = designs.into_iter().flatten().any(|design| design.kind == Some(Design::Resident));
    for (place, table) in study.hosts() {
        for (key, what) in table.mistakes() {
            document.add(&format!("{place}.{key}"), what);
        }
        if is_resident && table.is_global() {
            let what = "the resident design runs the servers of all variants at once, and this setting holds \
                for the whole machine. Use kind = \"fresh\" (cpuset and limits are the server's own and may \
                stay)";
            document.add(&place, what);
        }
    }
}

fn check_design(path: &str, design: &DesignTable, document: &mut Document) {
    if let Some(window) = design.window.filter(|w| w.0 < WINDOW_S_MIN) {
        document
            .add(&format!("{path}.window"), format!("a window of {} s is too short to count in", window.0));
    }
    if let (Some(min), Some(cap)) = (design.warm_up.min, design.warm_up.cap)
        && cap.0 < min.0
    {
        document
            .add(&format!("{path}.warm_up.cap"), format!("the cap, {} s, is below min, {} s", cap.0, min.0));
    }
}

fn check_quick(study: &Study, document: &mut Document) {
    let Some(quick) = &study.quick else { return };
    check_design("quick.design", &quick.design, document);
    for (factor, levels) in &quick.levels {
        levels.iter().for_each(|level| check_level(study, document, "quick.levels", factor, level));
    }
    for (i, rule) in quick.exclude.iter().enumerate() {
        rule.iter().for_each(|(f, l)| check_level(study, document, &format!("quick.exclude.{i}"), f, l));
    }
}

/// Parts are in the folder of the study, and have no parts themselves, so none can contain itself.
fn check_parts(study: &Study, document: &mut Document) {
    let folder = folder_of(&document.file);
    for (i, part) in study.parts.iter().enumerate() {
        let place = format!("parts.{i}");
        let path = folder.join(part);
        // A study without a file is part of the program, and so are its parts.
        let ready_made = ReadyMade::of(part).filter(|_| !document.file.exists());
        let text = match ready_made {
            Some(ready_made) => Some(ready_made.text.to_owned()),
            None if part.contains('/') || !path.is_file() => {
                document.add(&place, format!("there is no study file `{part}` in the folder of this file"));
                continue;
            }
            None => Document::read(&path).ok(),
        };
        match text.and_then(|text| toml::from_str::<Study>(&text).ok()) {
            Some(of_part) if of_part.parts.is_empty() => {}
            Some(_) => document.add(&place, format!("`{part}` has parts itself: name them here instead")),
            None => document.add(&place, format!("`{part}` is not a study file that can be read")),
        }
    }
}
