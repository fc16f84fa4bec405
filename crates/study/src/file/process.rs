//! `[[process]]` tables: what runs beside the server or benchmark program, and what can be wrong in one.

use crate::file::document::Document;
use crate::file::program::{CommandLine, ProcessTable, RunAs};
use crate::file::study::Study;
use crate::file::workload::Workload;
use assay_launch::{
    JVM_OPTIONS, OWN_NAMES, PORTS, Placeholders, ProcessSpec, ReadyWhen, find_program, unknown_names,
};
use assay_model::{Subject, Variant};
use assay_text::near::hint;
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

/// Placeholders of every text.
const NAMES: [&str; 6] = ["java", "jvm_options", "server_dir", "cache", "workload_dir", "seed"];
/// Of these, what an auxiliary process does not have.
const NAMES_OF_SERVER: [&str; 1] = ["server_dir"];
/// Names that a trial's own files have, and what those of GC logs begin with.
const RESERVED: [&str; 2] = ["server", "gc"];
const OF_LOGS: &str = "gc-";
/// Processes of one table.
const COUNT_MAX: u32 = 64;

impl ProcessTable {
    /// Whether a variant with these options has it.
    pub(crate) fn is_wanted(&self, options: &BTreeMap<String, String>) -> bool {
        let has_all = self.when.iter().all(|(option, word)| options.get(option) == Some(word));
        has_all && self.count_with(options) > 0
    }

    /// How many a variant with these options has, if it has any.
    fn count_with(&self, options: &BTreeMap<String, String>) -> u32 {
        let by_word = |(option, counts): (&String, &BTreeMap<String, u32>)| {
            options.get(option).and_then(|word| counts.get(word)).copied()
        };
        self.count_when.iter().find_map(by_word).or(self.count).unwrap_or(1)
    }

    /// How many of all these tables a variant with these options has.
    pub(crate) fn count_all(all: &[ProcessTable], options: &BTreeMap<String, String>) -> u32 {
        all.iter().filter(|table| table.is_wanted(options)).map(|table| table.count_with(options)).sum()
    }

    /// The most that any variant has.
    pub(crate) fn count_max(&self) -> u32 {
        let counts = self.count_when.values().flat_map(BTreeMap::values).copied();
        counts.chain([self.count.unwrap_or(1)]).max().unwrap_or(1).min(COUNT_MAX)
    }

    /// Names that its instances may have: its own if there is one, and with a number if there are several.
    fn roles(&self) -> impl Iterator<Item = String> {
        let several = Some(self.count_max()).filter(|count| *count > 1).unwrap_or(0);
        std::iter::once(self.name.clone()).chain(self.numbered(several))
    }

    /// Names of the instances that a variant with these options has.
    pub(crate) fn roles_with(&self, options: &BTreeMap<String, String>) -> Vec<String> {
        match self.count_with(options) {
            1 => vec![self.name.clone()],
            count => self.numbered(count).collect(),
        }
    }

    fn numbered(&self, count: u32) -> impl Iterator<Item = String> {
        (1..=count).map(|number| format!("{}-{number}", self.name))
    }

    /// Its command lines, by key.
    pub(crate) fn commands(&self) -> impl Iterator<Item = (&'static str, &CommandLine)> {
        let optional = [("prepare", &self.prepare), ("ready_command", &self.ready_command)];
        let optional = optional.into_iter().filter_map(|(key, line)| Some((key, line.as_ref()?)));
        [("command", &self.command)].into_iter().chain(optional)
    }

    /// What is started, on this variant's JVM and, where it takes them, with the variant's JVM options.
    pub(crate) fn spec(&self, variant: &Variant) -> ProcessSpec {
        let jvm_home = variant.jvm.as_ref().map(|jvm| jvm.home.clone());
        let words = |line: &CommandLine| line.words().unwrap_or_default();
        let ready = match (&self.ready_url, &self.ready_command) {
            (Some(url), _) => ReadyWhen::Url(url.clone()),
            (None, Some(command)) => ReadyWhen::Command(words(command)),
            (None, None) => ReadyWhen::Started,
        };
        let usual = ProcessSpec::new(&self.name, words(&self.command), ready);
        let seconds = |given: Option<f64>, usual| given.map_or(usual, Duration::from_secs_f64);
        ProcessSpec {
            count: self.count_with(&variant.workload_options),
            prepare: self.prepare.as_ref().map(words).unwrap_or_default(),
            ready_timeout: seconds(self.ready_timeout_s, usual.ready_timeout),
            environment: self.environment.clone(),
            directory: self.directory.clone(),
            template: self.template.clone(),
            programs: self.programs.clone(),
            stop_signal: self.stop_signal.unwrap_or_default(),
            stop_timeout: seconds(self.stop_timeout_s, usual.stop_timeout),
            is_unprivileged: self.run_as == Some(RunAs::Unprivileged),
            jvm_home: jvm_home.filter(|_| self.uses_jvm()),
            jvm_options: variant.jvm_options.clone(),
            ..usual
        }
    }

    /// Whether its command takes JVM options, so that its JVM can be told to write a log into the trial's folder.
    pub(crate) fn may_log(&self) -> bool {
        let words = self.command.words().unwrap_or_default();
        let mut texts = words.iter().chain(self.environment.values());
        self.run_as != Some(RunAs::Unprivileged) && texts.any(|text| text.contains(JVM_OPTIONS))
    }

    /// Whether it is a JVM: that of the variant.
    pub(crate) fn uses_jvm(&self) -> bool {
        let words = self.command.words().unwrap_or_default();
        words.first().is_some_and(|w| w == "java")
            || words
                .iter()
                .chain(self.environment.values())
                .any(|text| text.contains("{java}") || text.contains(JVM_OPTIONS))
    }

    /// Which of its programs is not here, and what adds it.
    pub(crate) fn missing_program(&self, names: &Placeholders) -> Option<String> {
        let first = |line: &CommandLine| line.words().ok()?.into_iter().next();
        let programs: Vec<String> = self.programs.iter().map(|folder| names.fill(folder)).collect();
        let is_missing =
            |name: &String| !name.contains('{') && name != "java" && find_program(name, &programs).is_none();
        let name = self.commands().filter_map(|(_, line)| first(line)).find(is_missing)?;
        let folders: String = programs.iter().map(|folder| format!("{folder}, ")).collect();
        let install = self.install.as_ref().map_or_else(String::new, |how| format!("; {how} adds it"));
        Some(format!("there is no program `{name}` of {} (looked in {folders}the path){install}", self.name))
    }
}

/// The placeholders that each text of a server or benchmark program may hold.
pub(crate) fn known_names(workload: &Workload) -> Vec<String> {
    let of_subject = if workload.program.subject() == Subject::Server { "port" } else { "results" };
    let options = workload.options.keys().map(|option| format!("option.{option}"));
    let own = NAMES.into_iter().chain([of_subject]).map(str::to_owned);
    own.chain(options).chain(names_of_all(workload)).collect()
}

fn names_of_all(workload: &Workload) -> impl Iterator<Item = String> {
    workload.processes.iter().flat_map(names_of)
}

/// The placeholders by which others refer to the processes of a table.
fn names_of(process: &ProcessTable) -> Vec<String> {
    let of_one = process.roles().flat_map(|role| OWN_NAMES.map(|name| format!("{role}.{name}")));
    of_one.chain([format!("{}.{PORTS}", process.name)]).collect()
}

/// Those that a text holds and that mean nothing.
pub(crate) fn check_names(text: &str, known: &[String]) -> Vec<String> {
    let told =
        |name| format!("unknown placeholder {{{name}}}{}", hint(name, known.iter().map(String::as_str)));
    unknown_names(text, known).into_iter().map(told).collect()
}

/// What several processes of one table are together: its name; of the server its role.
pub(crate) fn table_name(workload: &Workload, role: &str) -> String {
    let table = workload.processes.iter().find(|p| p.roles().any(|r| r == role));
    table.map_or(role, |table| &table.name).to_owned()
}

/// Where a variant is loaded: the server's own URL, at the port of the process that takes its load, if it has one.
pub(crate) fn loaded_url(
    workload: &Workload,
    options: &BTreeMap<String, String>,
    ready_url: &str,
    names: &Placeholders,
) -> String {
    let Some(front) = workload.processes.iter().find(|p| p.takes_load && p.is_wanted(options)) else {
        return names.fill(ready_url);
    };
    let mut of_front = names.clone();
    of_front.set("port", names.fill(&format!("{{{}.port}}", front.name)));
    of_front.fill(ready_url)
}

/// The names of processes that a variant does not have stand for nothing. Those that it has get their values when they are planned.
pub(crate) fn set_absent(workload: &Workload, options: &BTreeMap<String, String>, names: &mut Placeholders) {
    let is_varied = |p: &&ProcessTable| !p.is_wanted(options) || !p.count_when.is_empty();
    for name in workload.processes.iter().filter(is_varied).flat_map(names_of) {
        names.set(&name, "");
    }
}

/// Checks all processes. A mistake in a workload's own file is reported at the line of the study that names it.
pub(crate) fn check_processes(workload: &Workload, study: &Study, document: &mut Document) {
    let of_workload = workload.processes.len() - study.process.len();
    let mut roles: BTreeSet<String> = BTreeSet::new();
    for (i, process) in workload.processes.iter().enumerate() {
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
            if !roles.insert(role.clone()) {
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
        let known = known_to(workload);
        for (key, text) in &texts {
            check_names(text, &known).into_iter().for_each(|what| document.add(&at(key), what));
        }
    }
}

/// What is wrong with the counts by option.
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

fn known_to(workload: &Workload) -> Vec<String> {
    let own = OWN_NAMES.into_iter().chain(["server.port", "server.folder"]).map(str::to_owned);
    let all = known_names(workload).into_iter().filter(|name| !NAMES_OF_SERVER.contains(&name.as_str()));
    own.chain(all.filter(|name| name != "port" && name != "results")).collect()
}
