//! Mistakes in the tables of the server or benchmark program.

use crate::check::attached;
use crate::check::builds::all_settings;
use crate::check::combinations::combine;
use crate::check::processes::{check_placeholders, known_placeholders};
use crate::file::document::Document;
use crate::file::study::Study;
use crate::file::workload::Workload;
use assay_measure::observers::Observe;
use assay_model::Design;

/// Of a server that is loaded over TLS.
pub(crate) const HTTPS: &str = "https://";

/// The texts of the server or benchmark program. A mistake in a workload's own file is reported at the line that names it.
pub(crate) fn check_program(workload: &Workload, study: &Study, document: &mut Document) {
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
    let commands = commands(workload, study, &at("command"), document);
    let mut texts: Vec<(&str, String)> = Vec::new();
    texts.extend(program.directory().map(|text| ("directory", text.clone())));
    if let Some(server) = program.server() {
        if server.tls.is_some() && !server.ready_url.starts_with(HTTPS) {
            let what = "`tls` is for a server whose ready_url begins with https://, which is then loaded over TLS, too";
            document.add(&at("tls"), what);
        }
        texts.extend(server.template.iter().map(|text| ("template", text.clone())));
        texts.extend(server.urls().map(|(key, url)| (key, url.clone())));
    }
    texts.extend(program.environment().values().map(|v| ("environment", v.clone())));
    let known = known_placeholders(workload);
    for (key, text) in &texts {
        let unknown = check_placeholders(text, &known);
        unknown.into_iter().for_each(|what| document.add(&at(key), what));
        if key.ends_with("_url") && !is_loopback(text) {
            let what = format!(
                "`{text}` must be http://127.0.0.1:PORT/... (or https://): the server under test runs on this machine"
            );
            document.add(&at(key), what);
        }
    }
    let is_in_environment = |name: &str| program.environment().values().any(|text| text.contains(name));
    for (place, words) in &commands {
        let unknown = words.iter().flat_map(|word| check_placeholders(word, &known));
        unknown.for_each(|what| document.add(place, what));
        let has = |name: &str| is_in_environment(name) || words.iter().any(|word| word.contains(name));
        if !has("{jvm_options}") && sets_jvm_options(study) {
            document.add(
                place,
                "the study sets JVM options, but the command has no {jvm_options} that takes them",
            );
        }
        if program.server().is_some_and(|server| server.ready_url.contains("{port}")) && !has("{port}") {
            let what = "ready_url has {port}, and neither the command nor an environment variable gives the server that port";
            document.add(place, what);
        }
        if program.benchmark().is_some() && !has("{results}") {
            let what = "the command has no {results}, the file that it must write: -rf json -rff {results}";
            document.add(place, what);
        }
    }
}

/// Every command that a variant may be started by, with its place: that of the table at `of_table`, and those of the settings.
fn commands(
    workload: &Workload,
    study: &Study,
    of_table: &str,
    document: &mut Document,
) -> Vec<(String, Vec<String>)> {
    let of_settings = all_settings(study).filter_map(|(place, settings)| {
        Some((format!("{place}command"), settings.command.as_ref()?.words()))
    });
    let all = std::iter::once((of_table.to_owned(), workload.program.words())).chain(of_settings);
    let (mut commands, mut has_none) = (Vec::new(), false);
    for (place, words) in all {
        match words {
            Ok(words) if words.first().is_some_and(|w| !w.is_empty()) => commands.push((place, words)),
            Ok(_) if place == of_table => has_none = true,
            Ok(_) => document.add(&place, "the command is empty"),
            Err(what) => document.add(&place, what),
        }
    }
    if has_none && combine(study, None).iter().any(|spec| spec.command.is_none()) {
        document.add(of_table, "there is no command (a server that runs already has a `url` instead)");
    }
    commands
}

/// Reports keys that only servers have.
pub(crate) fn check_no_server(study: &Study, document: &mut Document) {
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
    let is_of_programs =
        |o: &&Observe| matches!(o, Observe::Gc | Observe::Host | Observe::Memory | Observe::Areas);
    let watched = study.observe.iter().flatten().find(|o| !is_of_programs(o));
    wrong(watched.is_some(), "observe", "what is not `gc`, `host`, `memory` or `areas`");
}

fn is_loopback(url: &str) -> bool {
    let rest = url.strip_prefix("http://").or_else(|| url.strip_prefix(HTTPS));
    let authority = rest.map(|rest| rest.split(['/', '?']).next().unwrap_or(""));
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
