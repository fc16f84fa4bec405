//! `assay studies`: what is ready-made; and scenarios by name.

use crate::arguments::StudiesArguments;
use crate::failure::Failure;
use crate::output;
use assay_load::LoadError;
use assay_model::{ReadyMadeList, ReadyMadeScenario, schema};
use assay_scenario::{ReadyMade as ReadyMadeScenarioFile, Scenario};
use assay_study::ReadyMade;
use assay_text::near::hint;
use std::io::{self, Write};
use std::path::Path;
use std::process::ExitCode;

/// Lists the ready-made studies and scenarios, or prints the one that is named.
pub fn studies(arguments: &StudiesArguments) -> Result<ExitCode, Failure> {
    match &arguments.name {
        Some(name) => output::print_text(text_of(name)?)?,
        None if arguments.json => output::print_json(&list()?)?,
        None => {
            let list = list()?;
            output::print(|out| write_list(out, &list))?;
        }
    }
    Ok(ExitCode::SUCCESS)
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

fn write_list(out: &mut dyn Write, list: &ReadyMadeList) -> io::Result<()> {
    writeln!(out, "Studies: assay run NAME; where there is a short form: assay run NAME --quick\n")?;
    for study in &list.studies {
        let workload = study.workload.as_deref().unwrap_or("your own server");
        let form = if study.has_short_form { "; short form" } else { "" };
        writeln!(out, "{} ({workload}{form})\n    {}", study.name, study.question)?;
    }
    writeln!(out, "\nScenarios: assay load URL --users 8 --scenario NAME\n")?;
    for scenario in &list.scenarios {
        writeln!(out, "{} (of the workload {})", scenario.name, scenario.workload)?;
    }
    Ok(())
}

/// The scenario in a file, or the ready-made one of that name.
pub fn scenario(named: &Path) -> Result<Scenario, Failure> {
    match ready_made_scenario(named) {
        Some(found) => Ok(Scenario::parse(found.text, found.name).map_err(LoadError::from)?),
        None => Ok(Scenario::read(named).map_err(LoadError::from)?),
    }
}

/// The ready-made scenario of a name; a file of the same name is meant first.
pub fn ready_made_scenario(named: &Path) -> Option<ReadyMadeScenarioFile> {
    named.to_str().filter(|_| !named.exists()).and_then(ReadyMadeScenarioFile::of)
}
