//! Which commit made a server slower, as a document.

use assay_kit::Table;
use assay_kit::document::{Answer, Block, Document, Section};
use assay_kit::number::counted;
use assay_kit::text::clean;
use assay_model::{BisectCommit, BisectReport, BisectVerdict};

/// Commits that are less probable to be the first slow one are not listed, unless they were compared.
const LISTED: f64 = 0.005;

/// The first slow commit, or why there is none, and what it rests on.
pub fn document(report: &BisectReport) -> Document {
    let pairs: usize = report.comparisons.iter().map(|comparison| comparison.ratios.len()).sum();
    let rests_on = [
        ("compared with", named(&report.good)),
        ("commits that follow it", report.commits.len().to_string()),
        (
            "comparisons",
            format!(
                "{}, {}",
                report.comparisons.len(),
                counted(pairs as u64, "pair of trials", "pairs of trials")
            ),
        ),
        ("no change of as much", share(report.no_change_probability)),
    ];
    let answer = Answer {
        sentence: sentence(report),
        action: next_step(report),
        rest: vec![Block::terms(rests_on)],
        ..Answer::default()
    };
    let sections = [
        Section::new("commits", "Commits", [commits(report).into()]),
        Section::new("comparisons", "Comparisons", [comparisons(report).into()]),
    ];
    let line = format!("{} under the load of the study {}", clean(&report.metric), clean(&report.study));
    Document {
        lines: vec![line.into()],
        sections: sections.into(),
        ..Document::new(
            "The first slow commit, by Assay",
            format!("Bisection of {}", clean(&report.repository)),
            answer,
        )
    }
}

fn named(commit: &BisectCommit) -> String {
    format!("{} ({})", clean(&commit.short), clean(&commit.subject))
}

fn share(probability: f64) -> String {
    format!("{:.1} %", probability * 100.0)
}

/// The commits of the answer, or of the narrowest row that is probable enough.
fn row(report: &BisectReport) -> &[BisectCommit] {
    let (Some(first), Some(last)) = (report.first, report.last) else { return &[] };
    report.commits.get(first as usize..=last as usize).unwrap_or_default()
}

fn sentence(report: &BisectReport) -> String {
    let row = row(report);
    let probability = share(row.iter().map(|commit| commit.probability).sum());
    let change = report.change_percent.map_or_else(String::new, |change| {
        format!(": about {change:.1} % worse from there on ({})", clean(&report.metric))
    });
    match (report.verdict, row) {
        (BisectVerdict::Commit, [commit]) => {
            format!(
                "{} is the first slow commit{change}, with a probability of {probability}.",
                named(commit)
            )
        }
        (BisectVerdict::Range, [first, .., last]) => format!(
            "The first slow commit is one of {}, from {} to {}{change}, with a probability of {probability}. \
                Those before the last could not be measured.",
            row.len(),
            named(first),
            named(last)
        ),
        (BisectVerdict::NoChange, _) => format!(
            "No commit made {} worse by {} % or more, with a probability of {}.",
            clean(&report.metric),
            report.least_percent,
            share(report.no_change_probability)
        ),
        (_, [first, .., last]) => format!(
            "Undecided: the first slow commit is one of {}, from {} to {}, with a probability of {probability}.",
            row.len(),
            named(first),
            named(last)
        ),
        _ => format!(
            "Undecided: with a probability of {} there is no change of {} % or more.",
            share(report.no_change_probability),
            report.least_percent
        ),
    }
}

fn next_step(report: &BisectReport) -> String {
    match report.verdict {
        BisectVerdict::Commit | BisectVerdict::Range => {
            row(report).last().map_or_else(String::new, |commit| {
                format!("→ git show {} in {}", clean(&commit.short), clean(&report.repository))
            })
        }
        BisectVerdict::NoChange => {
            "→ If a smaller change matters, look for it with --least: it takes longer.".to_owned()
        }
        BisectVerdict::Undecided | BisectVerdict::Other => "→ Repeat it with a longer --budget.".to_owned(),
    }
}

/// The probability of each commit, and what its comparisons gave.
fn commits(report: &BisectReport) -> Table {
    let compared = |index: usize| -> Vec<f64> {
        let own = report.comparisons.iter().filter(move |comparison| comparison.commit as usize == index);
        own.flat_map(|comparison| comparison.ratios.iter().copied()).collect()
    };
    let is_listed = |(index, commit): &(usize, &BisectCommit)| {
        LISTED <= commit.probability || commit.left_out.is_some() || !compared(*index).is_empty()
    };
    let listed = report.commits.iter().enumerate().filter(is_listed);
    let result = |ratios: &[f64]| match ratios.len() {
        0 => "not compared".to_owned(),
        pairs => {
            let mean = (ratios.iter().map(|ratio| ratio.ln()).sum::<f64>() / pairs as f64).exp();
            format!("{mean:.3} in {}", counted(pairs as u64, "pair", "pairs"))
        }
    };
    Table::of("How probable each commit is to be the first slow one, the oldest first", listed)
        .words("Commit", |(_, commit)| clean(&commit.short))
        .words("Subject", |(_, commit)| clean(&commit.subject))
        .figures("Probability", |(_, commit)| share(commit.probability))
        .words("Ratio to the good one", |(index, commit)| match &commit.left_out {
            Some(why) => {
                format!("left out: {}", clean(&why.split_whitespace().collect::<Vec<&str>>().join(" ")))
            }
            None => result(&compared(*index)),
        })
        .table()
}

fn comparisons(report: &BisectReport) -> Table {
    let ratios =
        |ratios: &[f64]| ratios.iter().map(|ratio| format!("{ratio:.3}")).collect::<Vec<String>>().join(", ");
    Table::of("Comparisons with the good commit, in their order", report.comparisons.iter().enumerate())
        .figures("Number", |(number, _)| (number + 1).to_string())
        .words("Commit", |(_, of)| {
            report.commits.get(of.commit as usize).map(|commit| clean(&commit.short)).unwrap_or_default()
        })
        .words("Ratio of each pair", |(_, of)| ratios(&of.ratios))
        .words("Run", |(_, of)| clean(&of.run))
        .table()
}
