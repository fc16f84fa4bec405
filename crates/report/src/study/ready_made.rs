//! The list of ready-made studies and scenarios as CSV and Markdown.

use assay_kit::csv_rows::Rows;
use assay_kit::{MarkdownDocument, Table};
use assay_model::ReadyMadeList;
use std::io::{self, Write};

/// Writes a row for each study and scenario.
///
/// # Errors
/// Those of the writer.
pub fn csv(list: &ReadyMadeList, out: &mut dyn Write) -> io::Result<()> {
    let mut rows = Rows::new(out, ["kind", "name", "workload", "has_short_form", "question"])?;
    for study in &list.studies {
        let workload = study.workload.as_deref().unwrap_or_default();
        rows.row(["study", &study.name, workload, &study.has_short_form.to_string(), &study.question])?;
    }
    for scenario in &list.scenarios {
        rows.row(["scenario", &scenario.name, &scenario.workload, "", ""])?;
    }
    rows.end()
}

/// A table of studies and one of scenarios.
pub fn markdown(list: &ReadyMadeList) -> String {
    let studies = Table::of("Studies: assay run NAME", &list.studies)
        .words("Name", |study| study.name.clone())
        .words("Workload", |study| study.workload.clone().unwrap_or_else(|| "your own server".to_owned()))
        .words("Short form", |study| if study.has_short_form { "--quick" } else { "-" }.to_owned())
        .words("Question", |study| study.question.clone())
        .table();
    let scenarios = Table::of("Scenarios: assay load URL --users 8 --scenario NAME", &list.scenarios)
        .words("Name", |scenario| scenario.name.clone())
        .words("Workload", |scenario| scenario.workload.clone())
        .table();
    let answer =
        format!("{} studies and {} scenarios are ready-made.", list.studies.len(), list.scenarios.len());
    MarkdownDocument {
        tables: vec![studies, scenarios],
        ..MarkdownDocument::new("Ready-made studies and scenarios", [answer])
    }
    .markdown()
}
