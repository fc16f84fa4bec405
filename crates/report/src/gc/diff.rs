//! What differs between two logs, for the terminal: who wrote them, then every figure with its ratio.

use super::words;
use assay_kit::ink::{Ink, fit};
use assay_kit::number::significant;
use assay_kit::text::clean;
use assay_kit::{Terminal, TerminalView};
use assay_model::{GcComparison, GcDifference, GcJvm, GcVerdict};

/// Between two columns.
const GAP: usize = 2;
const NAME_MAX: usize = 36;
/// So much of a name says which figure it is: where there is less, verdicts are marks alone.
const NAME_MIN: usize = 22;

/// A row as it is shown.
struct Row {
    metric: String,
    figures: [String; 3],
    verdict: GcVerdict,
}

/// What differs between two logs.
pub fn render(comparison: &GcComparison, view: TerminalView) -> String {
    let mut out = Terminal::new(view);
    side(&mut out, "before: ", &comparison.before, comparison.before_jvm.as_ref());
    side(&mut out, "after:  ", &comparison.after, comparison.after_jvm.as_ref());
    if differ(comparison) {
        let what = "! The JVMs or their settings differ: what follows may come from that alone.";
        out.paragraph(0, what, Ink::warn);
    }
    out.blank();
    let is_told = |difference: &&GcDifference| difference.verdict != GcVerdict::InsufficientData;
    let rows: Vec<Row> = comparison.differences.iter().filter(is_told).map(row).collect();
    table(&mut out, &rows);
    let cannot = comparison.differences.iter().filter(|difference| !is_told(difference));
    let cannot: Vec<String> = cannot.map(|difference| clean(&difference.metric)).collect();
    if !cannot.is_empty() {
        out.blank();
        out.paragraph(0, &format!("Undecided, too little data: {}", cannot.join(", ")), Ink::dim);
    }
    out.finish()
}

fn side(out: &mut Terminal, which: &str, name: &str, jvm: Option<&GcJvm>) {
    out.paragraph(0, &format!("{which}{}", clean(name)), Ink::dim);
    if let Some(jvm) = jvm {
        out.paragraph(which.len(), &words::jvm(jvm).join(" · "), Ink::dim);
    }
}

/// Whether the logs say of their JVMs what differs.
pub fn differ(comparison: &GcComparison) -> bool {
    let (Some(before), Some(after)) = (&comparison.before_jvm, &comparison.after_jvm) else { return false };
    words::jvm(before) != words::jvm(after) || before.flags != after.flags
}

fn row(difference: &GcDifference) -> Row {
    let figure = |value| words::figure_of(&difference.metric, value);
    let ratio = difference.ratio.as_ref().map_or("-".to_owned(), |r| match (r.low, r.high) {
        (Some(low), Some(high)) => {
            format!("{} ({} to {})", significant(r.estimate), significant(low), significant(high))
        }
        _ => significant(r.estimate),
    });
    Row {
        metric: clean(&difference.metric),
        figures: [figure(difference.before), figure(difference.after), ratio],
        verdict: difference.verdict,
    }
}

/// Columns are as wide as what stands in them, so that none runs into the next.
fn table(out: &mut Terminal, rows: &[Row]) {
    let titles = ["before", "after", "ratio"];
    let widest = |column: usize| {
        let cells = rows.iter().map(|row| row.figures[column].chars().count());
        cells.fold(titles[column].len(), usize::max) + GAP
    };
    let columns = [widest(0), widest(1), widest(2)];
    let right = |cells: [&str; 3]| -> String {
        cells.iter().zip(columns).map(|(cell, column)| format!("{cell:>column$}")).collect()
    };
    let verdicts = rows.iter().map(|row| words::verdict(row.verdict).chars().count()).max().unwrap_or(0);
    let left = out.width.saturating_sub(columns.iter().sum::<usize>() + GAP);
    let (name, is_short) = match left.saturating_sub(verdicts) {
        room if NAME_MIN <= room => (room.min(NAME_MAX), false),
        _ => (left.saturating_sub(1).min(NAME_MAX), true),
    };
    out.line(&out.ink.dim(&format!("{}{}", fit("", name), right(titles))));
    for row in rows {
        let verdict: String =
            words::verdict(row.verdict).chars().take(if is_short { 1 } else { verdicts }).collect();
        let verdict = match row.verdict {
            GcVerdict::Higher | GcVerdict::Lower => out.ink.warn(&verdict),
            _ => out.ink.dim(&verdict),
        };
        let [before, after, ratio] = &row.figures;
        out.line(&format!("{}{}  {verdict}", fit(&row.metric, name), right([before, after, ratio])));
    }
}
