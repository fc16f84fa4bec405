//! What was read of a log, what was not recognized in it, and whether it agrees with what the log says of itself.

use super::pauses::ROWS_MAX;
use super::words;
use assay_kit::Table;
use assay_kit::document::{Block, Tone};
use assay_kit::number::{count, counted, size, tick};
use assay_kit::text::clean;
use assay_model::{GcReconciliation, GcReport};

/// How much was parsed in a sentence or two, then lines that were not recognized, files, and figures that the log gives itself.
pub fn blocks(report: &GcReport) -> Vec<Block> {
    let dropped: u64 = report.sources.iter().fold(0, |sum, s| sum.saturating_add(s.messages_dropped));
    let dropped = (dropped > 0).then(|| {
        let messages = counted(dropped, "message", "messages");
        Block::Text(Tone::Warning, format!("The JVM reports that it dropped {messages}."))
    });
    let mut blocks = vec![Block::text(words::not_understood(report))];
    blocks.extend(dropped);
    blocks.extend(agreement(&report.reconciliations).map(Block::text));
    let checked = Block::from(reconciliations(report));
    // Where all agree the sentence says it.
    let is_wrong = report.reconciliations.iter().any(|one| !words::agrees(one));
    let checked = if is_wrong { checked } else { checked.page_only() };
    blocks.extend([unrecognized(report).into(), sources(report).into(), checked]);
    blocks
}

/// Whether the figures that a log gives itself are those that were read; absent where it gives none.
fn agreement(of_log: &[GcReconciliation]) -> Option<String> {
    let (one, many) = ("figure that the log gives itself was", "figures that the log gives itself were");
    let checked = counted(of_log.len() as u64, one, many);
    let wrong = of_log.iter().filter(|one| !words::agrees(one)).count();
    let result = match wrong {
        0 => "all agree with the events read".to_owned(),
        1 => "1 does not agree with the events read".to_owned(),
        n => format!("{n} do not agree with the events read"),
    };
    (!of_log.is_empty()).then(|| format!("{checked} checked: {result}."))
}

fn sources(report: &GcReport) -> Table {
    Table::of("Files in the order of time", report.sources.iter().take(ROWS_MAX))
        .words("File", |s| clean(&s.name))
        .words("Form", |s| s.dialect.as_ref().map_or_else(|| "none".to_owned(), |d| clean(d)))
        .if_wide()
        .figures("Size", |s| size(s.bytes))
        .figures("Lines", |s| count(s.lines))
        .figures("Not understood", |s| count(s.lines_not_understood))
        .if_room()
        .figures("Messages dropped", |s| count(s.messages_dropped))
        .if_wide()
        .words("Note", |s| if s.is_torn { "its last line breaks off" } else { "" })
        .if_room()
        .table()
}

fn unrecognized(report: &GcReport) -> Table {
    Table::of("Lines that were not recognized, by shape", report.not_understood.shapes.iter().take(ROWS_MAX))
        .words("Where the first is", |shape| words::place(report, shape.at))
        .figures("Lines", |shape| count(shape.lines))
        .words("The first of them", |shape| clean(&shape.quote))
        .class("quoted")
}

/// Figures that the log gives itself; those that do not agree with what was read come first.
fn reconciliations(report: &GcReport) -> Table {
    let mut all: Vec<&GcReconciliation> = report.reconciliations.iter().collect();
    all.sort_by_key(|one| words::agrees(one));
    Table::of("Figures that the log gives itself", all.into_iter().take(ROWS_MAX))
        .words("Figure", |r| clean(&r.what))
        .figures("The log says", |r| tick(r.logged))
        .figures("Was read", |r| tick(r.read))
        .figures("Rounding", |r| tick(r.rounding))
        .if_wide()
        .words("Where", |r| words::place(report, r.at))
        .if_room()
        .words("Agree", |r| if words::agrees(r) { "yes" } else { "no" })
        .table()
}
