//! Mistakes in `[[process]]` tables, and in the placeholders of any text.

use crate::check::combinations::BUILD;
use crate::file::document::Document;
use crate::file::process::COUNT_MAX;
use crate::file::program::{ProcessTable, REPLICA};
use crate::file::study::Study;
use crate::file::workload::Workload;
use assay_launch::{OWN_NAMES, unknown_names};
use assay_model::Subject;
use assay_text::near::hint;
use std::collections::BTreeSet;

/// Placeholders of every text.
const NAMES: [&str; 7] = ["java", "jvm_options", "server_dir", "cache", "workload_dir", "seed", BUILD];
/// Those of them that an auxiliary process does not have.
const NAMES_OF_SERVER: [&str; 1] = ["server_dir"];
/// Names that a trial's own files have, and what those of GC logs begin with.
const RESERVED: [&str; 2] = ["server", "gc"];
const OF_LOGS: &str = "gc-";

/// The placeholders that each text of a server or benchmark program may hold.
pub(crate) fn known_placeholders(workload: &Workload) -> Vec<String> {
    let of_subject = if workload.program.subject() == Subject::Server { "port" } else { "results" };
    let options = workload.options.keys().map(|option| format!("option.{option}"));
    let own = NAMES.into_iter().chain([of_subject]).map(str::to_owned);
    own.chain(options).chain(workload.processes.iter().flat_map(ProcessTable::placeholders)).collect()
}

/// Reports placeholders of a text that are not known.
pub(crate) fn check_placeholders(text: &str, known: &[String]) -> Vec<String> {
    let unknown =
        |name| format!("unknown placeholder {{{name}}}{}", hint(name, known.iter().map(String::as_str)));
    unknown_names(text, known).into_iter().map(unknown).collect()
}

/// Checks all processes. A mistake in a workload's own file is reported at the line of the study that names it.
pub(crate) fn check_processes(workload: &Workload, study: &Study, document: &mut Document) {
    // Replicas have the texts of the server, which are checked there.
    let written = || workload.processes.iter().filter(|process| !process.is_replica);
    let of_workload = written().count() - study.process.len();
    let mut roles: BTreeSet<String> = BTreeSet::new();
    for (i, process) in written().enumerate() {
        let at = |key: &str| match i.checked_sub(of_workload) {
            Some(own) => format!("process.{own}.{key}"),
            None => "workload".to_owned(),
        };
        let is_plain = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
        if !process.name.starts_with(|c: char| c.is_ascii_lowercase())
            || !process.name.chars().all(is_plain)
            || RESERVED.contains(&process.name.as_str())
            || process.name.starts_with(OF_LOGS)
        {
            let what = "begins with a small letter and not with `gc-`, has letters, digits, - and _, and is not `server` or `gc`";
            document.add(&at("name"), format!("the name of a process {what}"));
        }
        for role in process.roles() {
            if !roles.insert(role.clone()) || study.replicas.is_some() && role.starts_with(REPLICA) {
                document.add(&at("name"), format!("there are two processes `{role}`"));
            }
        }
        for (option, word) in &process.when {
            if !workload.options.get(option).is_some_and(|words| words.contains(word)) {
                document.add(
                    &at("when"),
                    format!("the workload has no option `{option}` with the word `{word}`"),
                );
            }
        }
        if process.takes_load && process.count_max() > 1 {
            document.add(&at("takes_load"), "the load goes to one process: leave `count` out");
        }
        check_counts(process, workload, &mut |what| document.add(&at("count_when"), what));
        if process.ready_url.is_some() && process.ready_command.is_some() {
            document
                .add(&at("ready_command"), "a process has either `ready_url` or `ready_command`, not both");
        }
        let mut texts: Vec<(&str, String)> = Vec::new();
        for (key, line) in process.commands() {
            match line.words() {
                Ok(words) if words.first().is_some_and(|w| !w.is_empty()) => {
                    texts.extend(words.into_iter().map(|word| (key, word)));
                }
                Ok(_) => document.add(&at(key), "the command is empty"),
                Err(what) => document.add(&at(key), what),
            }
        }
        texts.extend(process.programs.iter().map(|text| ("programs", text.clone())));
        let optional = [
            ("directory", &process.directory),
            ("template", &process.template),
            ("ready_url", &process.ready_url),
        ];
        texts.extend(optional.into_iter().filter_map(|(key, text)| Some((key, text.clone()?))));
        texts.extend(process.environment.values().map(|text| ("environment", text.clone())));
        let known = known_to_processes(workload);
        for (key, text) in &texts {
            check_placeholders(text, &known).into_iter().for_each(|what| document.add(&at(key), what));
        }
    }
}

/// Mistakes in the counts by option.
fn check_counts(process: &ProcessTable, workload: &Workload, add: &mut dyn FnMut(String)) {
    for (option, counts) in &process.count_when {
        let words = workload.options.get(option);
        if words.is_none() {
            add(format!("the workload has no option `{option}`"));
        }
        for (word, count) in counts {
            if words.is_some_and(|words| !words.contains(word)) {
                add(format!("the option `{option}` has no word `{word}`"));
            }
            if *count > COUNT_MAX {
                add(format!("at most {COUNT_MAX} processes of one table, not {count}"));
            }
        }
    }
}

fn known_to_processes(workload: &Workload) -> Vec<String> {
    let own = OWN_NAMES.into_iter().chain(["server.port", "server.folder"]).map(str::to_owned);
    let all =
        known_placeholders(workload).into_iter().filter(|name| !NAMES_OF_SERVER.contains(&name.as_str()));
    own.chain(all.filter(|name| name != "port" && name != "results")).collect()
}
