//! `assay studies`: what is ready-made; and scenarios by name.

use crate::arguments::{FileKind, StudiesArguments};
use crate::failure::Failure;
use crate::forms::{Described, print};
use crate::output;
use assay_load::LoadError;
use assay_model::{ReadyMadeList, ReadyMadeScenario, schema};
use assay_report::{Data, Document};
use assay_scenario::{ReadyMade as ReadyMadeScenarioFile, Scenario, ScenarioError};
use assay_study::ReadyMade;
use assay_text::near::hint;
use std::path::Path;
use std::process::ExitCode;

/// Where the schemas of files lie, from a ready-made study and from a ready-made scenario.
const SCHEMA_FOLDERS: [&str; 2] = ["#:schema ../docs/schemas/", "#:schema ../../docs/schemas/"];

/// Lists the ready-made studies and scenarios, prints the one that is named, or the schema of such files.
pub fn studies(arguments: &StudiesArguments) -> Result<ExitCode, Failure> {
    match (&arguments.name, arguments.schema) {
        (Some(name), _) => output::print_text(&beside_its_schema(text_of(name)?))?,
        (None, Some(kind)) => output::print_text(schema_of(kind))?,
        (None, None) => print(&list()?, arguments.format.form())?,
    }
    Ok(ExitCode::SUCCESS)
}

/// The schema of study, scenario or workload files.
fn schema_of(kind: FileKind) -> &'static str {
    match kind {
        FileKind::Study => include_str!("../../../../../docs/schemas/study.schema.json"),
        FileKind::Scenario => include_str!("../../../../../docs/schemas/scenario.schema.json"),
        FileKind::Workload => include_str!("../../../../../docs/schemas/workload.schema.json"),
    }
}

/// A ready-made file whose schema lies beside it: a copy somewhere else knows nothing of the checkout's folders.
fn beside_its_schema(text: &str) -> String {
    let name = SCHEMA_FOLDERS.iter().find_map(|folder| text.strip_prefix(folder));
    name.map_or_else(|| text.to_owned(), |rest| format!("#:schema {rest}"))
}

fn text_of(name: &str) -> Result<&'static str, Failure> {
    let scenario = || ReadyMadeScenarioFile::of(name).map(|scenario| scenario.text);
    ReadyMade::of(name).map(|study| study.text).or_else(scenario).ok_or_else(|| {
        let names = assay_study::READY_MADE.iter().map(|study| study.name);
        let hint = hint(name, names.chain(assay_scenario::READY_MADE.iter().map(|scenario| scenario.name)));
        Failure::input(format!("no ready-made study or scenario is called {name}{hint}"))
    })
}

fn list() -> Result<ReadyMadeList, Failure> {
    let studies = assay_study::READY_MADE.iter().map(|study| study.in_short().map_err(Failure::internal));
    let scenarios = assay_scenario::READY_MADE.iter().map(|scenario| ReadyMadeScenario {
        name: scenario.name.to_owned(),
        workload: scenario.workload.to_owned(),
    });
    Ok(ReadyMadeList {
        schema: schema::STUDIES.to_owned(),
        assay_version: env!("CARGO_PKG_VERSION").to_owned(),
        studies: studies.collect::<Result<_, _>>()?,
        scenarios: scenarios.collect(),
    })
}

impl Described for ReadyMadeList {
    type Stored = Self;

    fn stored(&self) -> &Self {
        self
    }
    fn document(&self) -> Document {
        assay_report::study::ready_made(self)
    }
    fn data(&self) -> Data {
        assay_report::study::ready_made_data(self)
    }
}

/// The scenario in a file, or the ready-made one of that name.
pub fn scenario(named: &Path) -> Result<Scenario, Failure> {
    match ready_made_scenario(named) {
        Some(found) => Ok(Scenario::parse(found.text, found.name).map_err(LoadError::from)?),
        None => Scenario::read(named).map_err(|error| not_read(named, error)),
    }
}

/// A name without an ending may be meant for a ready-made scenario.
fn not_read(named: &Path, error: ScenarioError) -> Failure {
    let failure = Failure::from(LoadError::from(error));
    let name = named.to_str().filter(|name| !named.exists() && !name.contains(['/', '.']));
    let Some(name) = name else { return failure };
    let hint = hint(name, assay_scenario::READY_MADE.iter().map(|scenario| scenario.name));
    Failure::input(format!("{}\n  no ready-made scenario is called {name}{hint}", failure.message))
}

/// The ready-made scenario of a name; a file of the same name is meant first.
pub fn ready_made_scenario(named: &Path) -> Option<ReadyMadeScenarioFile> {
    named.to_str().filter(|_| !named.exists()).and_then(ReadyMadeScenarioFile::of)
}
