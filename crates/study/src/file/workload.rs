//! The server or benchmark program of a study, with the places of its files.

use crate::error::Diagnostic;
use crate::file::checkout::find_checkout;
use crate::file::document::Document;
use crate::file::program::{BenchmarkTable, CommandLine, ProcessTable, ServerTable};
use crate::file::study::Study;
use assay_model::{Subject, schema};
use assay_text::near::hint;
use schemars::JsonSchema;
use serde::Deserialize;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// `workloads/NAME/workload.toml`: a server or benchmark program that is ready to be studied.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct WorkloadFile {
    /// `assay.workload/1`
    pub schema: String,
    /// Name; that of its folder.
    pub name: String,
    /// One sentence.
    #[serde(default)]
    #[expect(dead_code, reason = "for people who read the file")]
    pub summary: String,
    /// Scenario file, in the folder of this file; may hold `{option.NAME}`.
    pub scenario: Option<String>,
    /// Words that each option may have; the first is the default.
    #[serde(default)]
    pub options: BTreeMap<String, Vec<String>>,
    /// The server; or there is a benchmark program.
    pub server: Option<ServerTable>,
    /// The benchmark program; or there is a server.
    pub benchmark: Option<BenchmarkTable>,
    /// Auxiliary processes, in the order in which they are started.
    #[serde(default)]
    pub process: Vec<ProcessTable>,
    /// Requirements.
    #[serde(default)]
    pub requires: RequiresTable,
}

/// Requirements of a workload.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct RequiresTable {
    /// Paths that `./assay setup` makes.
    #[serde(default)]
    pub paths: Vec<String>,
}

/// The JSON schema of workload files.
pub fn workload_schema() -> serde_json::Value {
    schemars::schema_for!(WorkloadFile).to_value()
}

/// The program under test.
#[derive(Debug, Clone)]
pub(crate) enum Program {
    Server(Box<ServerTable>),
    Benchmark(BenchmarkTable),
}

impl Program {
    pub fn subject(&self) -> Subject {
        match self {
            Program::Server(_) => Subject::Server,
            Program::Benchmark(_) => Subject::Benchmark,
        }
    }

    /// Its role in a trial.
    pub fn role(&self) -> &'static str {
        match self {
            Program::Server(_) => "server",
            Program::Benchmark(_) => "benchmark program",
        }
    }

    /// Words of its command; none for a server that runs already.
    pub fn words(&self) -> Result<Vec<String>, String> {
        match self {
            Program::Server(server) => server.command.as_ref().map_or(Ok(Vec::new()), CommandLine::words),
            Program::Benchmark(benchmark) => benchmark.command.words(),
        }
    }

    pub fn environment(&self) -> &BTreeMap<String, String> {
        match self {
            Program::Server(server) => &server.environment,
            Program::Benchmark(benchmark) => &benchmark.environment,
        }
    }

    pub fn directory(&self) -> Option<&String> {
        match self {
            Program::Server(server) => server.directory.as_ref(),
            Program::Benchmark(benchmark) => benchmark.directory.as_ref(),
        }
    }

    pub fn server(&self) -> Option<&ServerTable> {
        if let Program::Server(server) = self { Some(server.as_ref()) } else { None }
    }

    /// A server that runs already.
    pub fn attached(&self) -> Option<&ServerTable> {
        self.server().filter(|server| server.url.is_some())
    }

    pub fn benchmark(&self) -> Option<&BenchmarkTable> {
        if let Program::Benchmark(benchmark) = self { Some(benchmark) } else { None }
    }
}

/// A server or benchmark program to study.
#[derive(Debug, Clone)]
pub(crate) struct Workload {
    /// Its name; `custom` for one of the user's own.
    pub name: String,
    /// The text of its file; empty for one of the user's own.
    pub text: String,
    /// Where relative paths of its file start.
    pub dir: PathBuf,
    pub program: Program,
    /// Auxiliary processes: those of the workload's file, then those of the study's.
    pub processes: Vec<ProcessTable>,
    /// Scenario file with placeholders; relative to `scenario_dir`.
    pub scenario: Option<String>,
    pub scenario_dir: PathBuf,
    pub options: BTreeMap<String, Vec<String>>,
    pub requires: Vec<String>,
    /// The private folder of Assay's checkout: fetched JVMs, server, templates.
    pub cache: PathBuf,
}

/// The private folder of what was built and fetched: that of the checkout, or else that in the study file's folder.
pub fn cache_of(study_file: &Path) -> PathBuf {
    find_checkout(study_file).unwrap_or_else(|| folder_of(study_file)).join(".assay")
}

/// The workload that a study names; mistakes go to the document, or come back where they are in the workload's file.
pub(crate) fn resolve(study: &Study, document: &mut Document) -> (Option<Workload>, Vec<Diagnostic>) {
    let (mut workload, found) = resolve_one(study, document);
    if let Some((workload, further)) =
        workload.as_mut().zip(study.replicas.and_then(|all| all.checked_sub(1)))
        && let Some(server) = workload.program.server()
    {
        let replicas = ProcessTable::replicas(server, further);
        workload.processes.push(replicas);
    }
    (workload, found)
}

fn resolve_one(study: &Study, document: &mut Document) -> (Option<Workload>, Vec<Diagnostic>) {
    let study_dir = folder_of(&document.file);
    let checkout = find_checkout(&document.file);
    let cache = cache_of(&document.file);
    let own = match (&study.server, &study.benchmark) {
        (Some(_), Some(_)) => {
            document.add("benchmark", "a study has either `[server]` or `[benchmark]`, not both");
            return (None, Vec::new());
        }
        (Some(server), None) => Some(Program::Server(Box::new(server.clone()))),
        (None, Some(benchmark)) => Some(Program::Benchmark(benchmark.clone())),
        (None, None) => None,
    };
    match (&study.workload, own) {
        (Some(_), Some(program)) => {
            let key = if program.server().is_some() { "server" } else { "benchmark" };
            document.add(key, format!("a study has either `workload` or `[{key}]`, not both"));
            (None, Vec::new())
        }
        (None, None) => {
            document.add(
                "name",
                "the study names no server: write workload = \"brokerage\", or a [server] or [benchmark] table",
            );
            (None, Vec::new())
        }
        (None, Some(program)) => {
            let workload = Workload {
                name: "custom".to_owned(),
                text: String::new(),
                dir: study_dir.clone(),
                program,
                processes: study.process.clone(),
                scenario: study.scenario.clone(),
                scenario_dir: study_dir,
                options: BTreeMap::new(),
                requires: Vec::new(),
                cache,
            };
            (Some(workload), Vec::new())
        }
        (Some(name), None) => {
            let folder = checkout.map(|root| root.join("workloads"));
            named(name, study, folder, cache, document)
        }
    }
}

fn named(
    name: &str,
    study: &Study,
    folder: Option<PathBuf>,
    cache: PathBuf,
    document: &mut Document,
) -> (Option<Workload>, Vec<Diagnostic>) {
    let Some(folder) = folder else {
        let what = format!(
            "the workload `{name}` comes with the sources of Assay, and no checkout was found above the study \
                file, the current folder or the program. `assay setup` fetches and builds it, and so does \
                ./assay setup in a clone"
        );
        document.add_missing("workload", what);
        return (None, Vec::new());
    };
    let is_plain = !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || "-_".contains(c));
    let dir = folder.join(name);
    let file = dir.join("workload.toml");
    if !is_plain || !file.is_file() {
        let known = workloads_in(&folder);
        let words = known.iter().map(String::as_str);
        document.add("workload", format!("unknown workload `{name}`{}", hint(name, words)));
        return (None, Vec::new());
    }
    let text = match Document::read(&file) {
        Ok(text) => text,
        Err(wrong) => return (None, vec![wrong]),
    };
    let (workload, found) = parse_workload(&file, &text);
    let workload = workload.and_then(|w| {
        Some(Workload {
            text,
            program: program_of(&w)?,
            processes: w.process.iter().chain(&study.process).cloned().collect(),
            name: w.name,
            scenario_dir: if study.scenario.is_some() { folder_of(&document.file) } else { dir.clone() },
            dir,
            scenario: study.scenario.clone().or(w.scenario),
            options: w.options,
            requires: w.requires.paths,
            cache,
        })
    });
    (workload, found)
}

/// The program of a workload file; none unless the file has exactly one.
fn program_of(file: &WorkloadFile) -> Option<Program> {
    match (&file.server, &file.benchmark) {
        (Some(server), None) => Some(Program::Server(Box::new(server.clone()))),
        (None, Some(benchmark)) => Some(Program::Benchmark(benchmark.clone())),
        _ => None,
    }
}

/// Parses and checks the text of a workload file.
fn parse_workload(file: &Path, text: &str) -> (Option<WorkloadFile>, Vec<Diagnostic>) {
    let mut document = Document::parse(file, text, &workload_schema());
    if !document.found.is_empty() {
        return (None, document.found);
    }
    match toml::from_str::<WorkloadFile>(text) {
        Ok(workload) => {
            if workload.schema != schema::WORKLOAD_FILE {
                document.add("schema", format!("unknown schema; write \"{}\"", schema::WORKLOAD_FILE));
            }
            if program_of(&workload).is_none() {
                document.add("", "a workload has either a [server] or a [benchmark] table");
            }
            for (name, words) in workload.options.iter().filter(|(_, words)| words.is_empty()) {
                document.add(&format!("options.{name}"), format!("`{name}` offers no word: {words:?}"));
            }
            (Some(workload), document.found)
        }
        Err(e) => {
            document.add("", e.message());
            (None, document.found)
        }
    }
}

fn workloads_in(folder: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten().take(1000);
    let mut names: Vec<String> = entries
        .filter(|e| e.path().join("workload.toml").is_file())
        .filter_map(|e| e.file_name().into_string().ok())
        .collect();
    names.sort();
    names
}

/// The folder of a file; the current one for a bare name.
pub(crate) fn folder_of(file: &Path) -> PathBuf {
    match file.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent.to_owned(),
        _ => PathBuf::from("."),
    }
}
