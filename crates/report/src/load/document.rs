//! A load as a document.

use super::{counts, operations, over_time, sentences, times};
use assay_kit::document::{Answer, Block, Document, PageParts, Section};
use assay_kit::text::clean;
use assay_model::{LoadResult, Problem};

const STYLE: &str = include_str!("../../../../web/capacity.css");
/// Reasons over the answer why the figures must not be used; the problems have the others.
const REASONS_SHOWN: usize = 3;

/// What was measured. `target` is the address that was loaded, `measured_s` how long, where that is known.
pub fn document(result: &LoadResult, target: &str, measured_s: Option<f64>) -> Document {
    let mut problems = Problem::listed(&result.problems);
    let reasons = if result.valid { 0 } else { problems.len().min(REASONS_SHOWN) };
    let reasons: Vec<_> = problems.drain(..reasons).collect();
    let answer = Answer {
        not_valid: if result.valid { Vec::new() } else { why_not_valid(&reasons) },
        sentence: sentences::answer(result),
        action: sentences::next_step(result).to_owned(),
        chart: Some(over_time::times(result).unwrap_or_else(|| times::chart(result))),
        ..Answer::default()
    };
    let scenario = result.scenario.as_ref().map(|text| Block::Verbatim {
        name: "Scenario file".to_owned(),
        id: None,
        text: text.clone(),
        language: "toml",
    });
    let by_operation = operations::table(&result.operations);
    let mut percentiles: Vec<Block> = vec![times::table(result).into()];
    // Without intervals the answer has them.
    percentiles.extend(over_time::times(result).map(|_| times::chart(result).into()));
    percentiles.extend(times::curve(result).map(Block::from));
    let mut over_time: Vec<Block> = over_time::rates(result).into_iter().map(Block::from).collect();
    over_time.push(over_time::table(result));
    let sections = [
        Section::new("operations", "Operations", [by_operation.into()]),
        Section::new("statuses", "Status codes and errors", [operations::endings(result).into()]),
        Section::new("events", "Server-sent events", [operations::events(&result.operations).into()]),
        Section::new("times", "Times", percentiles),
        Section::new("over-time", "Over time", over_time),
        Section::new("slowest", "Slowest requests", [operations::slowest(result).into()]),
        Section::new("rates", "Rate along the schedule", counts::rates(result)),
        Section::new(
            "figures",
            "Counts",
            [Some(counts::requests(result)), counts::closed(result)].into_iter().flatten().map(Block::from),
        ),
        Section::new("injectors", "Injectors", [counts::injectors(result).into()]),
        Section::new("scenario", "The scenario of the load", scenario)
            .called("Scenario")
            .on_screen()
            .page_only(),
    ];
    Document {
        lines: vec![clean(&sentences::subject(result, measured_s)).into()],
        sections: sections.into(),
        page: PageParts { style: STYLE, ..PageParts::default() },
        ..Document::new("Response times under load, by Assay", clean(target), answer).with_problems(problems)
    }
}

fn why_not_valid(reasons: &[(String, String)]) -> Vec<String> {
    match reasons {
        [] => vec!["the result does not say why".to_owned()],
        some => some.iter().map(|(about, text)| format!("{about}: {text}")).collect(),
    }
}
