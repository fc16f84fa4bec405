//! Reading a study file, and everything that can be wrong in it whatever machine it runs on. All mistakes are
//! collected before anything starts. Of the machine only its JDKs are asked for, where they are a factor's levels.

use crate::check::attached;
use crate::check::capacity;
use crate::check::each_jdk;
use crate::check::emulation;
use crate::check::faults;
use crate::check::variants::check_variants;
use crate::error::Diagnostic;
use crate::file::document::Document;
use crate::file::process::{check_names, check_processes, known_names};
use crate::file::ready_made::ReadyMade;
use crate::file::study::{DesignTable, Factor, LoadKind, LoadTable, Study};
use crate::file::workload::{Workload, cache_of, folder_of, resolve};
use assay_jdk::installed_releases;
use assay_measure::observers::Observe;
use assay_model::{Design, METRICS, PER_BENCHMARK, PER_PROCESS, Subject, schema};
use assay_text::near::hint;
use std::collections::BTreeSet;
use std::path::PathBuf;

/// Longest name of a study or level.
const NAME_CHARS_MAX: usize = 80;
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

    /// The study files that are run after this one.
    pub fn parts(&self) -> Vec<PathBuf> {
        let folder = folder_of(&self.document.file);
        self.study.parts.iter().map(|part| folder.join(part)).collect()
    }
}

/// Checks a study whose text has been looked through.
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
    check_head(&study, &mut document);
    check_factors(&study, &mut document);
    study.loads().iter().for_each(|(place, load)| check_load(place, load, &mut document));
    check_host(&study, &mut document);
    capacity::check(&study, &mut document);
    check_design("design", &study.design, &mut document);
    check_quick(&study, &mut document);
    check_published(&study, &mut document);
    check_claims(&study, &mut document);
    check_parts(&study, &mut document);
    let (workload, mut elsewhere) = resolve(&study, &mut document);
    emulation::check(&study, workload.as_ref(), &mut document);
    let subject = workload.as_ref().map(|w| w.program.subject()).unwrap_or_default();
    check_metrics(&study, subject, &mut document);
    if let Some(workload) = &workload {
        check_program(workload, &study, &mut document);
        check_processes(workload, &study, &mut document);
        faults::check(&study, workload, &mut document);
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

/// Of benchmarks the name is not known before they run; what they measure is.
fn check_metric(place: &str, metric: &str, subject: Subject, of_limits: &[String], document: &mut Document) {
    let known: Vec<&str> = match subject {
        Subject::Server => {
            let known = METRICS.iter().chain(PER_PROCESS).map(|m| &*m.id);
            known.chain(of_limits.iter().map(String::as_str)).collect()
        }
        Subject::Benchmark => PER_BENCHMARK.iter().map(|m| &*m.id).collect(),
    };
    let kind = match subject {
        Subject::Server => {
            let of_process =
                metric.split_once('/').filter(|(kind, _)| PER_PROCESS.iter().any(|m| m.id == *kind));
            of_process.map_or(metric, |(kind, _)| kind)
        }
        Subject::Benchmark => metric.split_once('/').map_or(metric, |(kind, _)| kind),
    };
    if !known.contains(&kind) {
        document.add(place, format!("unknown metric `{metric}`{}", hint(kind, known)));
    }
}

fn check_metrics(study: &Study, subject: Subject, document: &mut Document) {
    let of_limits = capacity::limit_metrics(study);
    if let Some(metric) = &study.primary_metric {
        check_metric("primary_metric", metric, subject, &of_limits, document);
    }
    for (i, published) in study.published.iter().enumerate() {
        let place = format!("published.{i}.metric");
        check_metric(&place, &published.metric, subject, &of_limits, document);
    }
    for (i, claim) in study.claim.iter().enumerate() {
        check_metric(&format!("claim.{i}.metric"), &claim.about.metric, subject, &of_limits, document);
    }
}

fn check_factors(study: &Study, document: &mut Document) {
    let mut names = BTreeSet::new();
    for (i, factor) in study.factor.iter().enumerate() {
        if !names.insert(&factor.name) {
            document.add(&format!("factor.{i}.name"), format!("there are two factors `{}`", factor.name));
        }
        if factor.level.is_empty() {
            document.add(&format!("factor.{i}"), format!("factor `{}` has no [[factor.level]]", factor.name));
        }
        let mut levels = BTreeSet::new();
        for (j, level) in factor.level.iter().enumerate() {
            let place = format!("factor.{i}.level.{j}");
            if !levels.insert(&level.name) {
                document.add(
                    &format!("{place}.name"),
                    format!("factor `{}` has two levels `{}`", factor.name, level.name),
                );
            }
            let bad = |c: char| c == '/' || c.is_control();
            if level.name.trim().is_empty()
                || level.name.chars().count() > NAME_CHARS_MAX
                || level.name.contains(bad)
            {
                let what = format!("a level's name has up to {NAME_CHARS_MAX} characters, and no `/`");
                document.add(&format!("{place}.name"), what);
            }
            if let Some(baseline) = &level.baseline {
                let others = factor.level.iter().map(|l| l.name.as_str()).filter(|l| *l != level.name);
                check_word(document, &format!("{place}.baseline"), "level", baseline, others);
            }
        }
    }
    for (factor, level) in &study.baseline {
        check_level(study, document, "baseline", factor, level);
    }
    for (i, rule) in study.exclude.iter().enumerate() {
        rule.iter().for_each(|(f, l)| check_level(study, document, &format!("exclude.{i}"), f, l));
    }
}

/// A factor and one of its levels, named somewhere.
fn check_level(study: &Study, document: &mut Document, place: &str, factor: &str, level: &str) {
    let path = format!("{place}.{factor}");
    match study.factor.iter().find(|f| f.name == factor) {
        Some(f) => check_level_of(Some(f), document, &path, level),
        None => check_word(document, &path, "factor", factor, study.factor.iter().map(|f| f.name.as_str())),
    }
}

/// A level of this factor, if there is one, on this machine or another.
fn check_level_of(factor: Option<&Factor>, document: &mut Document, path: &str, level: &str) {
    if factor.is_none_or(|f| !f.may_find(level)) {
        let known = factor.into_iter().flat_map(|f| &f.level).map(|l| l.name.as_str());
        check_word(document, path, "level", level, known);
    }
}

fn check_word<'a>(
    document: &mut Document,
    path: &str,
    kind: &str,
    word: &str,
    known: impl IntoIterator<Item = &'a str>,
) {
    let known: Vec<&str> = known.into_iter().collect();
    if !known.contains(&word) {
        document.add(path, format!("unknown {kind} `{word}`{}", hint(word, known)));
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
            ("open", vec![("users", load.users.is_some()), ("think", load.think.is_some())])
        }
    };
    for (key, _) in foreign.into_iter().filter(|(_, is_set)| *is_set) {
        document.add(&format!("{path}.{key}"), format!("`{key}` means nothing for {kind} load"));
    }
}

/// Settings of the machine. One machine cannot have two values of one at the same time.
fn check_host(study: &Study, document: &mut Document) {
    let of_levels = study.factor.iter().enumerate().flat_map(|(i, factor)| {
        let of = move |j: usize| format!("factor.{i}.level.{j}.host");
        factor.level.iter().enumerate().map(move |(j, level)| (of(j), level.settings.host.as_ref()))
    });
    let tables = std::iter::once(("host".to_owned(), study.settings.host.as_ref())).chain(of_levels);
    let designs = [Some(&study.design), study.quick.as_ref().map(|quick| &quick.design)];
    let is_resident = designs.into_iter().flatten().any(|design| design.kind == Some(Design::Resident));
    for (place, table) in tables.filter_map(|(place, table)| Some((place, table?))) {
        for (key, what) in table.mistakes() {
            document.add(&format!("{place}.{key}"), what);
        }
        if is_resident && table.is_global() {
            let what = "the resident design runs the servers of all variants at once, and this setting holds for the whole machine: \
                        use kind = \"fresh\" (cpuset and limits are the server's own and may stay)";
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

fn check_published(study: &Study, document: &mut Document) {
    for (i, published) in study.published.iter().enumerate() {
        let place = format!("published.{i}");
        for (key, values) in [("relative", &published.relative), ("absolute", &published.absolute)] {
            let first = study.factor.first();
            values.keys().for_each(|l| check_level_of(first, document, &format!("{place}.{key}.{l}"), l));
        }
        published.at.iter().for_each(|(f, l)| check_level(study, document, &format!("{place}.at"), f, l));
    }
}

fn check_claims(study: &Study, document: &mut Document) {
    for (i, claim) in study.claim.iter().enumerate() {
        let place = format!("claim.{i}");
        let first = study.factor.first();
        check_level_of(first, document, &format!("{place}.variant"), &claim.about.variant);
        let baseline = &claim.about.baseline;
        baseline
            .iter()
            .for_each(|level| check_level_of(first, document, &format!("{place}.baseline"), level));
        claim.at.iter().for_each(|(f, l)| check_level(study, document, &format!("{place}.at"), f, l));
        match (claim.change_percent, claim.direction, claim.value) {
            (Some(_), None, None) | (None, Some(_), None) if baseline.is_none() => {
                let what =
                    "`change_percent` and `direction` need a `baseline`: the level that they start from";
                document.add(&place, what);
            }
            (Some(_), None, None) | (None, Some(_), None) | (None, None, Some(_)) => {}
            _ => document
                .add(&place, "a claim states a `change_percent`, a `direction` or a `value`: one of them"),
        }
    }
}

/// Parts stand beside the study, and have no parts themselves: so none can come round to itself.
fn check_parts(study: &Study, document: &mut Document) {
    let folder = folder_of(&document.file);
    for (i, part) in study.parts.iter().enumerate() {
        let place = format!("parts.{i}");
        let path = folder.join(part);
        // What is not in a file is part of the program, and so are its parts.
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

/// The texts of the server or benchmark program. A mistake in a workload's own file is reported at the line that names it.
fn check_program(workload: &Workload, study: &Study, document: &mut Document) {
    let table = match (&study.server, &study.benchmark) {
        (Some(_), _) => "server.",
        (_, Some(_)) => "benchmark.",
        _ => "",
    };
    let at = |key: &str| if table.is_empty() { "workload".to_owned() } else { format!("{table}{key}") };
    let program = &workload.program;
    if let Some(server) = program.attached() {
        return attached::check(server, study, document);
    }
    let words = program.words();
    let mut texts: Vec<(&str, String)> = Vec::new();
    match words {
        Ok(words) if words.first().is_some_and(|w| !w.is_empty()) => {
            texts.extend(words.into_iter().map(|w| ("command", w)));
        }
        Ok(_) => document
            .add(&at("command"), "there is no command (a server that runs already has a `url` instead)"),
        Err(what) => document.add(&at("command"), what),
    }
    texts.extend(program.directory().map(|text| ("directory", text.clone())));
    if let Some(server) = program.server() {
        if server.tls.is_some() {
            let what = "`tls` is for a server that runs already, with a `url`; one that is started is loaded over http://127.0.0.1";
            document.add(&at("tls"), what);
        }
        texts.extend(server.template.iter().map(|text| ("template", text.clone())));
        texts.extend(server.urls().map(|(key, url)| (key, url.clone())));
    }
    texts.extend(program.environment().values().map(|v| ("environment", v.clone())));
    let known = known_names(workload);
    for (key, text) in &texts {
        let unknown = check_names(text, &known);
        unknown.into_iter().for_each(|what| document.add(&at(key), what));
        if key.ends_with("_url") && !is_loopback(text) {
            let what = format!(
                "`{text}` must be http://127.0.0.1:PORT/...: the server under test runs on this machine"
            );
            document.add(&at(key), what);
        }
    }
    let has = |name: &str| {
        let mut command = texts.iter().filter(|(key, _)| *key == "command" || *key == "environment");
        command.any(|(_, text)| text.contains(name))
    };
    if !has("{jvm_options}") && sets_jvm_options(study) {
        document.add(
            &at("command"),
            "the study sets JVM options, but the command has no {jvm_options} that takes them",
        );
    }
    if program.server().is_some_and(|server| server.ready_url.contains("{port}")) && !has("{port}") {
        let what = "ready_url has {port}, and neither the command nor an environment variable gives the server that port";
        document.add(&at("command"), what);
    }
    if program.benchmark().is_some() && !has("{results}") {
        let what = "the command has no {results}, the file that it must write: -rf json -rff {results}";
        document.add(&at("command"), what);
    }
}

/// What means something for servers only.
fn check_no_server(study: &Study, document: &mut Document) {
    let quick = study.quick.as_ref();
    let loads = study.loads();
    let mut wrong = |is_set: bool, place: &str, what: &str| {
        if is_set {
            document.add(
                place,
                format!("{what} means nothing for a benchmark program, which loads and warms itself"),
            );
        }
    };
    loads.iter().for_each(|(place, _)| wrong(true, place, "load"));
    wrong(study.capacity.is_some(), "capacity", "a capacity");
    wrong(study.scenario.is_some(), "scenario", "a scenario");
    for (place, design) in [("design", Some(&study.design)), ("quick.design", quick.map(|q| &q.design))] {
        let Some(design) = design else { continue };
        let warm_up = design.warm_up.min.or(design.warm_up.cap);
        wrong(warm_up.is_some(), &format!("{place}.warm_up"), "a warm-up");
        wrong(design.kind == Some(Design::Resident), &format!("{place}.kind"), "the resident design");
    }
    let watched = study.observe.iter().flatten().find(|o| !matches!(o, Observe::Gc | Observe::Host));
    wrong(watched.is_some(), "observe", "what is not `gc` or `host`");
}

fn is_loopback(url: &str) -> bool {
    let authority = url.strip_prefix("http://").map(|rest| rest.split(['/', '?']).next().unwrap_or(""));
    authority
        .and_then(|a| a.rsplit_once(':'))
        .is_some_and(|(host, _)| host == "127.0.0.1" || host == "localhost")
}

fn sets_jvm_options(study: &Study) -> bool {
    let levels = study.factor.iter().flat_map(|f| &f.level).map(|l| &l.settings);
    std::iter::once(&study.settings).chain(levels).any(|s| {
        s.reference_mode.is_some()
            || s.heap.is_some()
            || s.compact_headers.is_some()
            || !s.jvm_options.is_empty()
    })
}
