//! Reading a study file, and everything that can be wrong in it whatever machine it runs on. All mistakes are
//! collected before anything starts.

use crate::document::{Document, hint};
use crate::error::Diagnostic;
use crate::placeholders::{check as check_placeholders, split_words};
use crate::reference_mode;
use crate::study_file::{CommandLine, DesignTable, LoadKind, LoadTable, QuickTable, StudyFile, study_schema};
use crate::variant::{VARIANTS_MAX, combine};
use crate::workload::{Workload, resolve};
use assay_model::{METRICS, Metric, schema};
use std::collections::BTreeSet;
use std::path::Path;

/// Longest name of a study or level.
const NAME_CHARS_MAX: usize = 80;
/// Shortest window: CPU time and requests need something to count.
const WINDOW_S_MIN: f64 = 0.1;

/// A study file without mistakes, with its workload.
#[derive(Debug, Clone)]
pub struct Checked {
    pub(crate) study: StudyFile,
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
}

impl StudyFile {
    /// Reads a study file with what it names, and checks both.
    ///
    /// # Errors
    /// Every mistake that was found, in the order of the lines.
    pub fn read(path: &Path) -> Result<Checked, Vec<Diagnostic>> {
        let text = Document::read(path).map_err(|wrong| vec![wrong])?;
        StudyFile::check(path, &text)
    }

    /// The same for the text of a study file.
    ///
    /// # Errors
    /// As [`StudyFile::read`].
    pub fn check(path: &Path, text: &str) -> Result<Checked, Vec<Diagnostic>> {
        let mut document = Document::parse(path, text, &study_schema());
        let study = match toml::from_str::<StudyFile>(text) {
            Ok(study) => study,
            Err(_) if !document.found.is_empty() => return Err(sorted(document.found)),
            Err(e) => {
                document.add("", e.message().trim());
                return Err(document.found);
            }
        };
        check_head(&study, &mut document);
        check_factors(&study, &mut document);
        check_loads(&study, &mut document);
        check_design("design", &study.design, &mut document);
        check_quick(&study, &mut document);
        check_published(&study, &mut document);
        let (workload, mut elsewhere) = resolve(&study, &mut document);
        if let Some(workload) = &workload {
            check_server(workload, &study, &mut document);
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
}

fn sorted(mut found: Vec<Diagnostic>) -> Vec<Diagnostic> {
    found.sort();
    found.dedup();
    found
}

fn check_head(study: &StudyFile, document: &mut Document) {
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
    if let Some(metric) = &study.primary_metric
        && Metric::by_id(metric).is_none()
    {
        document.add("primary_metric", format!("unknown metric `{metric}`{}", hint(metric, metric_ids())));
    }
}

fn metric_ids() -> impl Iterator<Item = &'static str> {
    METRICS.iter().map(|m| m.id)
}

fn check_factors(study: &StudyFile, document: &mut Document) {
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
fn check_level(study: &StudyFile, document: &mut Document, place: &str, factor: &str, level: &str) {
    let path = format!("{place}.{factor}");
    match study.factor.iter().find(|f| f.name == factor) {
        Some(f) => check_word(document, &path, "level", level, f.level.iter().map(|l| l.name.as_str())),
        None => check_word(document, &path, "factor", factor, study.factor.iter().map(|f| f.name.as_str())),
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

fn check_loads(study: &StudyFile, document: &mut Document) {
    let mut loads = vec![("load".to_owned(), study.settings.load.as_ref())];
    loads.push(("quick.load".to_owned(), study.quick.as_ref().and_then(|q| q.load.as_ref())));
    for (i, factor) in study.factor.iter().enumerate() {
        for (j, level) in factor.level.iter().enumerate() {
            loads.push((format!("factor.{i}.level.{j}.load"), level.settings.load.as_ref()));
        }
    }
    loads
        .iter()
        .filter_map(|(path, load)| Some((path, (*load)?)))
        .for_each(|(path, l)| check_load(path, l, document));
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

fn check_quick(study: &StudyFile, document: &mut Document) {
    let Some(quick) = &study.quick else { return };
    check_design("quick.design", &quick.design, document);
    for (factor, levels) in &quick.levels {
        levels.iter().for_each(|level| check_level(study, document, "quick.levels", factor, level));
    }
    for (i, rule) in quick.exclude.iter().enumerate() {
        rule.iter().for_each(|(f, l)| check_level(study, document, &format!("quick.exclude.{i}"), f, l));
    }
}

fn check_published(study: &StudyFile, document: &mut Document) {
    for (i, published) in study.published.iter().enumerate() {
        let place = format!("published.{i}");
        check_word(document, &format!("{place}.metric"), "metric", &published.metric, metric_ids());
        let levels: Vec<&str> =
            study.factor.first().into_iter().flat_map(|f| &f.level).map(|l| l.name.as_str()).collect();
        for (key, values) in [("relative", &published.relative), ("absolute", &published.absolute)] {
            let named = values.keys().map(String::as_str);
            named.for_each(|l| {
                check_word(document, &format!("{place}.{key}.{l}"), "level", l, levels.iter().copied());
            });
        }
        published.at.iter().for_each(|(f, l)| check_level(study, document, &format!("{place}.at"), f, l));
    }
}

/// The server's texts. A mistake in a workload's own file is told at the line that names it.
fn check_server(workload: &Workload, study: &StudyFile, document: &mut Document) {
    let server = &workload.server;
    let at = |key: &str| if study.server.is_some() { format!("server.{key}") } else { "workload".to_owned() };
    let words = match &server.command {
        CommandLine::Text(text) => split_words(text),
        CommandLine::Words(words) => Ok(words.clone()),
    };
    let mut texts = vec![("ready_url", server.ready_url.clone())];
    match words {
        Ok(words) if words.first().is_some_and(|w| !w.is_empty()) => {
            texts.extend(words.into_iter().map(|w| ("command", w)));
        }
        Ok(_) => document.add(&at("command"), "the command is empty"),
        Err(what) => document.add(&at("command"), format!("the command cannot be split: {what}")),
    }
    let optional = [
        ("directory", &server.directory),
        ("template", &server.template),
        ("audit_url", &server.audit_url),
        ("stats_url", &server.stats_url),
    ];
    texts.extend(optional.into_iter().filter_map(|(key, text)| Some((key, text.clone()?))));
    texts.extend(server.environment.values().map(|v| ("environment", v.clone())));
    for (key, text) in &texts {
        let unknown = check_placeholders(text, &workload.options);
        unknown.into_iter().for_each(|what| document.add(&at(key), what));
        if key.ends_with("_url") && !is_loopback(text) {
            let what = format!(
                "`{text}` must be http://127.0.0.1:PORT/...: the server under test runs on this machine"
            );
            document.add(&at(key), what);
        }
    }
    let command = texts.iter().filter(|(key, _)| *key == "command" || *key == "environment");
    let uses_jvm_options = command.clone().any(|(_, text)| text.contains("{jvm_options}"));
    if !uses_jvm_options && sets_jvm_options(study) {
        document.add(
            &at("command"),
            "the study sets JVM options, but the command has no {jvm_options} that takes them",
        );
    }
}

fn is_loopback(url: &str) -> bool {
    let authority = url.strip_prefix("http://").map(|rest| rest.split(['/', '?']).next().unwrap_or(""));
    authority
        .and_then(|a| a.rsplit_once(':'))
        .is_some_and(|(host, _)| host == "127.0.0.1" || host == "localhost")
}

fn sets_jvm_options(study: &StudyFile) -> bool {
    let levels = study.factor.iter().flat_map(|f| &f.level).map(|l| &l.settings);
    std::iter::once(&study.settings).chain(levels).any(|s| {
        s.reference_mode.is_some()
            || s.heap.is_some()
            || s.compact_headers.is_some()
            || !s.jvm_options.is_empty()
    })
}

fn check_variants(study: &StudyFile, workload: &Workload, document: &mut Document) {
    let mut forms: Vec<Option<&QuickTable>> = vec![None];
    forms.extend(study.quick.as_ref().map(Some));
    for quick in forms {
        let variants = combine(study, quick);
        let form = if quick.is_some() { "the short form" } else { "the study" };
        if variants.is_empty() {
            document.add(
                if quick.is_some() { "quick" } else { "exclude" },
                format!("{form} has no variant left to run"),
            );
        }
        if VARIANTS_MAX < variants.len() {
            document.add("factor", format!("{form} has more than {VARIANTS_MAX} variants; exclude some"));
            return;
        }
        for v in &variants {
            let place = place_of(study, &v.indices);
            for what in
                reference_mode::impossible(v.reference_mode, v.heap, v.compact_headers, &v.jvm_options)
            {
                document.add(&place, format!("variant `{}`: {what}; exclude it with [[exclude]]", v.name));
            }
            for (option, word) in &v.workload_options {
                let what = match workload.options.get(option) {
                    Some(words) if words.contains(word) => continue,
                    Some(words) => format!(
                        "unknown word `{word}` for `{option}`{}",
                        hint(word, words.iter().map(String::as_str))
                    ),
                    None => format!(
                        "the workload `{}` has no option `{option}`{}",
                        workload.name,
                        hint(option, workload.options.keys().map(String::as_str))
                    ),
                };
                document.add(&format!("workload_options.{option}"), what);
            }
        }
    }
}

/// Where to tell of a combination: the level of the first factor that takes part in it.
pub(crate) fn place_of(study: &StudyFile, indices: &[usize]) -> String {
    let sets = |(i, j): (usize, &usize)| {
        let s = &study.factor[i].level[*j].settings;
        let is_set = s.reference_mode.is_some() || s.compact_headers.is_some() || s.heap.is_some();
        is_set.then(|| format!("factor.{i}.level.{j}.name"))
    };
    indices.iter().enumerate().find_map(sets).unwrap_or_else(|| "heap".to_owned())
}
