//! A stored run as a document: the answer first, then charts, tables, what was left out and the conditions.

use super::answer::{self, Answer};
use super::charts::{Chart, effects, figures};
use super::grid::Grid;
use super::{
    changes, claims, collections, conditions, decisions, duet, faults, hosts, late, operations, results,
    roles, scaling,
};
use assay_findings::{next_step, told};
use assay_kit::Table;
use assay_kit::document::{self, Block, Claim, Document, Figure, Line, PageParts, Section, Shown};
use assay_kit::text::clean;
use assay_model::StoredRun;

/// What a run says.
pub fn document(run: &StoredRun) -> Document {
    let grid = &Grid::of(run);
    let plan = &grid.run.plan;
    let study = clean(&plan.study);
    let mut lines = vec![Line { text: clean(&plan.question), class: "question" }];
    // On a phone it stands further down: the answer is to end on the first screen.
    let background = || Line { text: clean(&plan.background), class: "more" };
    lines.extend((!plan.background.is_empty()).then(background));
    lines.extend(duet::head(plan).map(Line::from));
    let version = clean(&grid.run.host.provenance.assay_version);
    Document {
        lines,
        sections: vec![
            Section::new("pictures", "Charts", charts(grid)).on_screen(),
            Section::new("results", "Results", results(grid)),
            Section::new("operations", "Operations", operations::table(grid).map(Block::from)),
            Section::new("gc", "Garbage collection", collections::tables(grid).into_iter().map(Block::from))
                .on_screen()
                .in_full(),
            Section::new("left-out", "Exclusions", left_out(grid)),
            Section::new("conditions", "Conditions", conditions(grid)),
            Section::new("repeat", "How to repeat it", repeat(grid)).on_screen().in_full(),
        ],
        page: PageParts {
            title: format!("{study}: report of Assay"),
            whole: "report",
            made_by: format!("{version} from the run directory alone"),
            ..PageParts::default()
        },
        ..Document::new(
            if plan.quick { "Report of Assay, short form" } else { "Report of Assay" },
            study,
            answer(grid),
        )
    }
}

fn answer(grid: &Grid) -> document::Answer {
    let said = Answer::of(grid);
    let found = told(grid.run.summary.iter().flat_map(|s| &s.findings), "");
    let repeat = match grid.run.plan.quick {
        true => "→ This is the short form: measure without --quick before relying on it.",
        false => "→ To be surer, repeat it on your own machine and load: How to repeat it, below.",
    };
    let action = next_step(&found, repeat);
    let first = said.items.first().map(|item| item.headline.clone()).or(said.nothing);
    let mut rest = Vec::new();
    if !said.items.is_empty() {
        let claim = |(number, item): (usize, answer::Item)| Claim {
            claim: if number == 0 { "The same in other figures".to_owned() } else { item.headline },
            details: item.details,
        };
        rest.push(Block::Claims(said.items.into_iter().enumerate().map(claim).collect()).in_full());
        rest.push(Block::explanation(answer::how_to_read()).in_full());
        rest.extend(decisions::how_to_read(grid).map(Block::explanation));
    }
    let cautions = said.cautions.into_iter().chain(said.skipped).collect();
    rest.push(Block::Warnings("Before relying on it".to_owned(), cautions));
    if !found.is_empty() {
        rest.extend([Block::heading("Findings"), Block::Findings(found, String::new())]);
    }
    if !said.published.is_empty() {
        rest.push(Block::heading("Comparison with published results"));
        rest.push(Block::Items(document::Tone::Plain, said.published));
    }
    document::Answer {
        sentence: first.unwrap_or_default(),
        action,
        chart: effects(grid).map(Figure::from),
        rest,
        ..document::Answer::default()
    }
}

fn charts(grid: &Grid) -> Vec<Block> {
    let late = late::figure(grid).map(|chart| {
        Block::from(Figure { behind_shown: Shown::Everywhere, ..Figure::from(chart) }).in_full()
    });
    let block = |chart: Chart| Block::from(Figure::from(chart));
    figures(grid).into_iter().map(block).chain(late).collect()
}

fn results(grid: &Grid) -> Vec<Block> {
    let mut blocks = vec![Block::text(results::HOW_TO_READ)];
    let tables = results::tables(grid);
    let not_measured = Block::Items(document::Tone::Plain, results::not_measured(grid));
    blocks.push(if tables.is_empty() { not_measured } else { not_measured.in_full() });
    blocks.extend(tables.into_iter().map(Block::from));
    blocks.extend(roles::tables(grid).into_iter().map(Block::from));
    if let Some(table) = faults::table(grid) {
        let why = "The study asks for them in every window. Failed requests, long response times and a new \
            server process are their consequences. These are shown and do not exclude a window.";
        blocks.extend([Block::heading("Faults"), Block::text(why)]);
        let audits = faults::audits(grid).map(|audits| format!("After faults: {audits}"));
        let sentences = faults::sentences(grid).into_iter().chain(audits).collect();
        blocks.push(Block::Items(document::Tone::Plain, sentences));
        blocks.push(Block::from(table).in_full());
    }
    if let Some(table) = scaling::table(grid) {
        blocks.push(Block::heading("Growth"));
        blocks.push(Block::Items(document::Tone::Plain, scaling::sentences(grid)));
        blocks.push(Block::from(table).in_full());
    }
    if let Some(table) = decisions::table(grid) {
        blocks.extend([Block::heading("Decisions"), table.into()]);
    }
    if let Some(table) = hosts::table(grid) {
        blocks.push(Block::heading("Between hosts"));
        blocks.push(Block::Items(document::Tone::Plain, hosts::sentences(grid)));
        blocks.push(table.into());
        blocks.extend(hosts::ratios(grid).map(Block::from));
    }
    if let Some(table) = claims::table(grid) {
        blocks.extend([Block::heading("Comparison with published results"), table.into()]);
    }
    blocks
}

/// What is not in the results, each kind with its table, or the sentence that there is none.
fn left_out(grid: &Grid) -> Vec<Block> {
    let server = "A failed check of the server does not exclude a window: excluding it would make the server \
        look better.";
    let kinds: [(&str, Option<Table>, &str, &str); 5] = [
        ("Skipped variants", results::skipped(grid), "", "None: every variant of the study was run."),
        (
            "Trials that failed",
            conditions::failed(grid),
            "",
            "None: every trial completed, and no audit failed.",
        ),
        ("Disturbed windows", conditions::disturbed(grid), "", "None: every measured window counts."),
        (
            "Counted, with a remark",
            conditions::marked(grid),
            server,
            "None: no check that was made failed in a window that counts.",
        ),
        ("Problems", conditions::problems(grid), "", "None: all that was looked for could be read."),
    ];
    let mut blocks = Vec::new();
    for (title, table, note, none) in kinds {
        match table {
            Some(table) => {
                blocks.push(Block::heading(title));
                blocks.push(Block::explanation(note));
                blocks.push(table.into());
            }
            // Where nothing is left out, only the page says so.
            None => {
                let nothing = [Block::heading(title), Block::explanation(none)];
                blocks.extend(nothing.map(Block::page_only));
            }
        }
    }
    blocks
}

fn conditions(grid: &Grid) -> Vec<Block> {
    let trials = Block::Folded("All trials, with seeds".to_owned(), vec![conditions::trials(grid).into()]);
    let mut blocks = vec![
        Block::terms(conditions::facts(grid)).in_full(),
        Block::from(conditions::variants(grid)).in_full(),
    ];
    blocks.extend(changes::table(grid).map(Block::from));
    blocks.push(trials.in_full());
    blocks
}

fn repeat(grid: &Grid) -> Vec<Block> {
    let command = conditions::repeat_command(grid);
    let seed = grid.run.plan.seed;
    let verbatim =
        |(name, text): (String, String)| Block::Verbatim { name, id: None, text, language: "toml" };
    let study = ("The study file".to_owned(), grid.run.study_text.clone());
    let files = std::iter::once(study).chain(conditions::scenarios(grid)).map(verbatim);
    let how = [
        Block::text(format!("Save the study below as `study.toml` and run `{command}`.")),
        Block::text(format!(
            "Every random draw comes from the seed {seed}. The figures will differ by the noise of the machine."
        )),
    ];
    how.into_iter().chain(files).collect()
}
