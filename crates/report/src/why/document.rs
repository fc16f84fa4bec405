//! The answer, other findings that stand out, what was looked at, and the readers without an answer.

use super::words::{claim, command, cost, looked_at, name};
use assay_findings::in_words;
use assay_kit::Table;
use assay_kit::document::{Answer, Block, Document, Finding, Section, Step, Tone};
use assay_kit::number::counted;
use assay_kit::text::{begin_of, clean, sentence};
use assay_model::{SilentReader, WhyFinding, WhyReport};

/// Findings beside the first that are named; the page has all with their steps.
const NAMED_MAX: usize = 2;
/// Consequences that are named.
const FOLLOWING_MAX: usize = 2;
/// Pieces of evidence of the first finding; its reader's own report has all.
const EVIDENCE_MAX: usize = 2;
/// Characters of a line of each kind, so that an answer is one screen however long its texts are.
const EVIDENCE_LENGTH: usize = 240;
const NAMED_LENGTH: usize = 140;
const FOLLOWING_LENGTH: usize = 110;
const LOOKED_AT_LENGTH: usize = 300;
const SILENT_LENGTH: usize = 120;

/// The answer in a page, or a screen of a terminal.
pub fn document(report: &WhyReport) -> Document {
    let standing_out: Vec<&WhyFinding> = causes(report).filter(|one| one.stands_out).collect();
    let others = || standing_out.iter().skip(1);
    let named = others().take(NAMED_MAX).map(|one| in_a_line(one));
    let mut beside = vec![Block::Items(Tone::Plain, named.collect())];
    if NAMED_MAX < others().count() {
        let more = others().count() - NAMED_MAX;
        beside.push(Block::explanation(format!("{more} more stand out: the page lists all findings.")));
    }
    let told: Vec<Finding> = others().map(|one| in_words(&one.finding, "gives back")).collect();
    beside.push(Block::Findings(told, String::new()).page_only());
    let looked_at = looked_at(report);
    let looked_at = looked_at
        .into_iter()
        .map(|(reader, said)| (reader.to_owned(), begin_of(&said, LOOKED_AT_LENGTH)))
        .collect();
    Document {
        sections: vec![
            Section::new("others", "Also stands out", beside),
            Section::new("looked-at", "Looked at", [Block::Terms(looked_at)]),
            Section::new("silent", "Readers without an answer", [Block::Terms(silent(report))])
                .called("No answer"),
            Section::new("all", "Every finding, the costliest first", [every(report).into()])
                .called("All findings")
                .in_full(),
        ],
        ..Document::new("What is wrong, by Assay", format!("Why: {}", clean(&report.subject)), answer(report))
    }
}

/// Findings that follow from no other one.
fn causes(report: &WhyReport) -> impl Iterator<Item = &WhyFinding> {
    report.findings.iter().filter(|one| one.follows_from.is_none())
}

fn answer(report: &WhyReport) -> Answer {
    let next = Block::text(format!("Look next: {}", clean(&report.next)));
    let first = causes(report).find(|one| one.stands_out);
    let Some(first) = first else {
        let readers: Vec<&str> = looked_at(report).into_iter().map(|(reader, _)| reader).collect();
        let said = match readers.as_slice() {
            [] => "No reader could answer.".to_owned(),
            readers => format!("Nothing stands out. Looked at: {}.", readers.join(", ")),
        };
        let small = counted(report.findings.len() as u64, "finding costs", "findings cost");
        let small = format!("{small} little: the page lists them.");
        let small = if report.findings.is_empty() { String::new() } else { small };
        return Answer { sentence: said, rest: vec![Block::text(small), next], ..Answer::default() };
    };
    let follows: Vec<&WhyFinding> =
        report.findings.iter().filter(|one| one.follows_from.as_ref() == Some(&first.finding.rule)).collect();
    let of = &first.finding;
    let evidence = of.evidence.iter().take(EVIDENCE_MAX).map(|text| begin_of(&clean(text), EVIDENCE_LENGTH));
    let found = format!("Found by {}: {}, {}.", command(first.reader), of.severity.word(), of.rule);
    let in_full = Block::Findings(vec![in_words(of, "gives back")], String::new()).page_only();
    let mut rest = vec![Block::Items(Tone::Plain, evidence.collect()), Block::text(found), in_full];
    if !follows.is_empty() {
        let items = follows.iter().take(FOLLOWING_MAX).map(|one| begin_of(&claim(one), FOLLOWING_LENGTH));
        rest.push(Block::heading("Follows from it"));
        rest.push(Block::Items(Tone::Plain, items.collect()));
    }
    rest.push(next);
    let action = first_step(report).map_or_else(String::new, |step| format!("→ {}", step.with_gain()));
    Answer { sentence: format!("{}.", sentence(&claim(first))), action, rest, ..Answer::default() }
}

/// The first safe step: that of the costliest cause that has one. The step of what follows from a cause may make it worse.
fn first_step(report: &WhyReport) -> Option<Step> {
    let standing_out = causes(report).filter(|one| one.stands_out);
    let mut steps = standing_out.filter_map(|one| in_words(&one.finding, "gives back").step);
    steps.next()
}

/// A claim with its cost, and the step.
fn in_a_line(one: &WhyFinding) -> String {
    let step = in_words(&one.finding, "gives back").step;
    let step = step.map_or_else(String::new, |step| format!(" → {}", step.command));
    begin_of(&format!("{}{step}", claim(one)), NAMED_LENGTH)
}

fn silent(report: &WhyReport) -> Vec<(String, String)> {
    let said = |of: &SilentReader| {
        let enable = of.enable.iter().map(|line| format!("; {}", clean(line))).collect::<String>();
        (name(of.reader).to_owned(), begin_of(&format!("{}{enable}", clean(&of.why)), SILENT_LENGTH))
    };
    report.silent.iter().map(said).collect()
}

fn every(report: &WhyReport) -> Table {
    Table::of("Findings of all readers", &report.findings)
        .words("Found by", |one| command(one.reader))
        .words("Severity", |one| one.finding.severity.word())
        .words("Finding", |one| clean(&one.finding.claim))
        .words("Cost", |one| one.cost.and_then(cost).unwrap_or_default())
        .words("Follows from", |one| one.follows_from.as_ref().map(ToString::to_string).unwrap_or_default())
        .words("Evidence", |one| clean(&one.finding.evidence_line()))
        .below()
        .table()
}
