//! The list of ready-made studies and scenarios.

use assay_kit::document::{Answer, Block, Data, Document, Section, Value};
use assay_kit::{Cell, Table};
use assay_model::ReadyMadeList;

/// A row for each study and scenario.
pub fn data(list: &ReadyMadeList) -> Data {
    let mut data = Data::new(["kind", "name", "workload", "has_short_form", "question"]);
    for study in &list.studies {
        let workload = Value::from(study.workload.clone());
        let (name, question) = (study.name.clone().into(), study.question.clone().into());
        data.push(["study".into(), name, workload, study.has_short_form.into(), question]);
    }
    for scenario in &list.scenarios {
        let (name, workload) = (scenario.name.clone().into(), scenario.workload.clone().into());
        data.push([Value::from("scenario"), name, workload, Value::Absent, Value::Absent]);
    }
    data
}

/// A table of studies and one of scenarios.
pub fn document(list: &ReadyMadeList) -> Document {
    let studies = Table::of("Studies: assay run NAME", &list.studies)
        .words("Name", |study| study.name.clone())
        .words("Workload", |study| study.workload.clone().unwrap_or_else(|| "your own server".to_owned()))
        .words(
            "Short form",
            |study| if study.has_short_form { Cell::from("--quick") } else { Cell::absent("") },
        )
        .words("Question", |study| study.question.clone())
        .table();
    let scenarios = Table::of("Scenarios: assay load URL --users 8 --scenario NAME", &list.scenarios)
        .words("Name", |scenario| scenario.name.clone())
        .words("Workload", |scenario| scenario.workload.clone())
        .table();
    let sentence =
        format!("{} studies and {} scenarios are ready-made.", list.studies.len(), list.scenarios.len());
    let answer = Answer { sentence, ..Answer::default() };
    let section = |id, title, table| Section::new(id, title, [Block::Table(table)]);
    Document {
        sections: vec![section("studies", "Studies", studies), section("scenarios", "Scenarios", scenarios)],
        ..Document::new("Ready-made studies, by Assay", "Ready-made studies and scenarios", answer)
    }
}
