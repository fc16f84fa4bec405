//! The HTML page: what the template shows, gathered from the other modules.

use super::answer::{self, Answer};
use super::charts::{Figure, effects, figures};
use super::grid::Grid;
use super::inserts::Inserts;
use super::{changes, claims, collections, conditions, faults, late, results, roles, scaling};
use askama::Template;
use assay_findings::{next_step, to_html, told};
use assay_kit::text::{clean, clean_lines};
use assay_kit::{self as kit, Page, Section, Table};
use assay_model::StoredRun;
use std::io;

#[derive(Template)]
#[template(
    path = "study.html",
    blocks = ["effects", "answer", "pictures", "results", "left_out", "conditions", "repeat"]
)]
struct Content {
    answer: Answer,
    answer_how_to_read: String,
    effects: Option<Figure>,
    findings: String,
    published: Option<Table>,
    figures: Vec<Figure>,
    results: Vec<Table>,
    roles: Vec<Table>,
    faults: Option<Table>,
    how_to_read: &'static str,
    scalings: Option<Table>,
    not_measured: Vec<String>,
    skipped: Option<Table>,
    failed: Option<Table>,
    disturbed: Option<Table>,
    marked: Option<Table>,
    problems: Option<Table>,
    background: String,
    facts: Vec<(&'static str, String)>,
    variants: Table,
    changes: Option<Table>,
    trials: Table,
    repeat_command: String,
    seed: u64,
    study_text: String,
    scenarios: Vec<(String, String)>,
}

/// Writes the report as one HTML file that opens without a network.
///
/// # Errors
/// Those of the writer.
pub fn render(run: &StoredRun, inserts: &Inserts, out: &mut impl io::Write) -> io::Result<()> {
    let grid = &Grid::of(run);
    let plan = &grid.run.plan;
    let findings = grid.run.summary.iter().flat_map(|s| &s.findings);
    let content = Content {
        answer: Answer::of(grid),
        answer_how_to_read: answer::how_to_read(),
        effects: effects(grid),
        findings: to_html(&told(findings, ""), ""),
        published: claims::table(grid),
        figures: figures(grid, inserts).into_iter().chain(late::figure(grid, inserts)).collect(),
        results: results::tables(grid),
        roles: roles::tables(grid),
        faults: faults::table(grid),
        how_to_read: results::HOW_TO_READ,
        scalings: scaling::table(grid),
        not_measured: results::not_measured(grid),
        failed: conditions::failed(grid),
        skipped: results::skipped(grid),
        disturbed: conditions::disturbed(grid),
        marked: conditions::marked(grid),
        problems: conditions::problems(grid),
        background: clean(&plan.background),
        facts: conditions::facts(grid),
        variants: conditions::variants(grid),
        changes: changes::table(grid),
        trials: conditions::trials(grid),
        repeat_command: conditions::repeat_command(grid),
        seed: plan.seed,
        study_text: clean_lines(&grid.run.study_text),
        scenarios: conditions::scenarios(grid),
    };
    let repeat = match plan.quick {
        true => "→ This is the short form: measure without --quick before relying on it.",
        false => "→ To be surer, repeat it on your own machine and load: How to repeat it, below.",
    };
    let action = next_step(&told(grid.run.summary.iter().flat_map(|s| &s.findings), ""), repeat);
    let study = clean(&plan.study);
    let mut lines = vec![("question", clean(&plan.question))];
    // On a phone it stands further down: the answer is to end on the first screen.
    lines.extend((!plan.background.is_empty()).then(|| ("more", clean(&plan.background))));
    Page {
        title: format!("{study}: report of Assay"),
        lines,
        whole: "report",
        sections: sections(&content, action, &collections::tables(grid, inserts))
            .map_err(io::Error::other)?,
        made_by: format!("{} from the run directory alone", clean(&grid.run.host.provenance.assay_version)),
        ..Page::new(if plan.quick { "Report of Assay, short form" } else { "Report of Assay" }, study)
    }
    .write(out)
}

fn sections(content: &Content, action: String, collections: &[Table]) -> askama::Result<Vec<Section>> {
    let first = content.answer.items.first().map(|item| &item.headline);
    let answer = kit::Answer {
        sentence: first.or(content.answer.nothing.as_ref()).cloned().unwrap_or_default(),
        action,
        chart: content.as_effects().render()?,
        rest: content.as_answer().render()?,
        ..kit::Answer::default()
    };
    let mut sections = vec![
        answer.section(),
        Section::new("pictures", "Charts", content.as_pictures().render()?).on_screen(),
        Section::new("results", "Results", content.as_results().render()?),
    ];
    if !collections.is_empty() {
        let html = collections.iter().map(Table::html).collect();
        sections.push(Section::new("gc", "Garbage collection", html).on_screen());
    }
    sections.extend([
        Section::new("left-out", "Exclusions", content.as_left_out().render()?),
        Section::new("conditions", "Conditions", content.as_conditions().render()?),
        Section::new("repeat", "How to repeat it", content.as_repeat().render()?).on_screen(),
    ]);
    Ok(sections)
}
