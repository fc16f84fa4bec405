//! The report as Markdown, for a pull request or a wiki: everything but the pictures.

use super::answer::{self, Answer};
use super::grid::Grid;
use super::inserts::Inserts;
use super::{changes, claims, collections, conditions, faults, late, results, roles, scaling};
use assay_findings::{table, told};
use assay_kit::text;
use assay_model::StoredRun;
use std::io;

/// Writes the report as Markdown: everything but the pictures.
///
/// # Errors
/// Those of the writer.
pub fn render(run: &StoredRun, inserts: &Inserts, out: &mut impl io::Write) -> io::Result<()> {
    let grid = &Grid::of(run);
    let plan = &grid.run.plan;
    writeln!(out, "# {}\n\n{}\n", text::markdown(&plan.study), text::markdown(&plan.question))?;
    if !plan.background.is_empty() {
        writeln!(out, "{}\n", text::markdown(&plan.background))?;
    }
    writeln!(out, "## Answer\n")?;
    let answer = Answer::of(grid);
    if let Some(why) = &answer.nothing {
        writeln!(out, "{}\n", text::markdown(why))?;
    }
    for item in &answer.items {
        writeln!(out, "- **{}**", text::markdown(&item.headline))?;
        for detail in &item.details {
            writeln!(out, "  {}", text::markdown(detail))?;
        }
    }
    writeln!(out, "\n{}\n", answer::how_to_read())?;
    for caution in answer.cautions.iter().chain(&answer.skipped) {
        writeln!(out, "> {}\n", text::markdown(caution))?;
    }
    for sentence in &answer.published {
        writeln!(out, "{}\n", text::markdown(sentence))?;
    }
    let findings = told(grid.run.summary.iter().flat_map(|s| &s.findings), "");
    if let Some(table) = table("What the study finds about itself", &findings).unless_empty() {
        writeln!(out, "## Findings\n\n{}", table.markdown())?;
    }
    writeln!(out, "\n## Results\n\n{}\n", results::HOW_TO_READ)?;
    for table in results::tables(grid).into_iter().chain(roles::tables(grid)).chain(faults::table(grid)) {
        writeln!(out, "{}", table.markdown())?;
    }
    for sentence in results::not_measured(grid) {
        writeln!(out, "- {}\n", text::markdown(&sentence))?;
    }
    for table in [scaling::table(grid), claims::table(grid), results::skipped(grid)].into_iter().flatten() {
        writeln!(out, "{}", table.markdown())?;
    }
    for (index, table) in collections::tables(grid, inserts).iter().enumerate() {
        if index == 0 {
            writeln!(out, "## Garbage collection\n")?;
        }
        writeln!(out, "{}", table.markdown())?;
    }
    for (index, sentence) in late::sentences(grid, inserts).iter().enumerate() {
        if index == 0 {
            writeln!(out, "## Why the slowest requests took long\n")?;
        }
        writeln!(out, "- {}", text::markdown(sentence))?;
    }
    writeln!(out, "\n## Conditions\n")?;
    for (term, value) in conditions::facts(grid) {
        writeln!(out, "- {term}: {}", text::markdown(&value))?;
    }
    writeln!(out, "\n{}", conditions::variants(grid).markdown())?;
    if let Some(table) = changes::table(grid) {
        writeln!(out, "{}", table.markdown())?;
    }
    writeln!(out, "{}", conditions::trials(grid).markdown())?;
    let left_out = [conditions::failed(grid), conditions::disturbed(grid), conditions::marked(grid)];
    for table in left_out.into_iter().chain([conditions::problems(grid)]).flatten() {
        writeln!(out, "{}", table.markdown())?;
    }
    writeln!(out, "## How to repeat it\n")?;
    writeln!(out, "Save the text below as `study.toml` and run `{}`.\n", conditions::repeat_command(grid))?;
    fenced(&text::clean_lines(&grid.run.study_text), out)?;
    for (title, scenario) in conditions::scenarios(grid) {
        writeln!(out, "\n{}:\n", text::markdown(&title))?;
        fenced(&scenario, out)?;
    }
    Ok(())
}

fn fenced(toml: &str, out: &mut impl io::Write) -> io::Result<()> {
    // A fence longer than any in the text cannot be closed by it.
    let fence = "`".repeat(longest_run_of_backticks(toml).max(2) + 1);
    writeln!(out, "{fence}toml\n{}\n{fence}", toml.trim_end())
}

fn longest_run_of_backticks(text: &str) -> usize {
    text.split(|c| c != '`').map(str::len).max().unwrap_or(0)
}
