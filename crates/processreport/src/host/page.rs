//! The page of a machine's check, and that of what differs between two.

use super::tables;
use super::words::{groups, headline, subject, told};
use assay_findings::{FindingText, next_step, to_html};
use assay_kit::bar_rows::{self, Bar};
use assay_kit::number::{count, counted};
use assay_kit::page::{absent, drawings, figure};
use assay_kit::text::{clean, to_the_second};
use assay_kit::{Answer, Page, Section, Table};
use assay_model::{HostComparison, HostReport, HostVerdict, Problem, Severity};
use std::io;

/// A check as one HTML file that opens without a network: what is bad with what to do, what is unknown and why, what is good.
///
/// # Errors
/// Those of the writer.
pub fn render_check(report: &HostReport, out: &mut impl io::Write) -> io::Result<()> {
    let bad: Vec<FindingText> = groups(report, HostVerdict::Bad).iter().map(|group| told(group)).collect();
    let answer = Answer {
        sentence: format!("{}.", headline(report)),
        action: next_step(&bad, "No rule found a setting to change."),
        chart: verdicts(report),
        rest: to_html(&bad, "No rule found anything that costs memory, time or connections."),
        ..Answer::default()
    };
    let mut sections = vec![answer.section()];
    let parts = [
        ("unknown", "What is unknown", "Unknown", HostVerdict::Unknown),
        ("good", "What is good", "Good", HostVerdict::Good),
        ("other", "What does not apply", "Other", HostVerdict::NotApplicable),
    ];
    for (id, title, short, verdict) in parts {
        let table = tables::rulings(report, verdict).unless_empty();
        sections.extend(table.map(|table| Section {
            is_printed: verdict == HostVerdict::Unknown,
            ..Section::new(id, title, table.html()).called(short)
        }));
    }
    sections.push(Section::problems(&Problem::listed(&report.problems)));
    Page {
        lines: vec![("", subject(report))],
        sections,
        made_by: clean(&report.provenance.assay_version),
        ..Page::new("What rules say of a machine and its JVMs, by Assay", "Check of a machine")
    }
    .write(out)
}

/// How many rules have each verdict; what is bad by how grave it is.
fn verdicts(report: &HostReport) -> String {
    let bad = groups(report, HostVerdict::Bad);
    let grave = |severity| bad.iter().filter(|group| group[0].finding.severity == severity).count();
    let number = |verdict| groups(report, verdict).len();
    let rows = [
        ("bad: error", grave(Severity::Error), "bar s7"),
        ("bad: warning", grave(Severity::Warning), "bar s1"),
        ("bad: note", grave(Severity::Note), "bar s4"),
        ("unknown", number(HostVerdict::Unknown), "bar s5"),
        ("good", number(HostVerdict::Good), "bar s2"),
        ("not applicable", number(HostVerdict::NotApplicable), "bar s5 pale"),
    ];
    if rows.iter().all(|(_, number, _)| *number == 0) {
        return absent("no rule was applied");
    }
    counts(&rows, ("verdicts", "Rules by verdict"), "Number of rules with each verdict.")
}

/// What differs between two machines as one HTML file.
///
/// # Errors
/// Those of the writer.
pub fn render_comparison(comparison: &HostComparison, out: &mut impl io::Write) -> io::Result<()> {
    let [before, after] = comparison.taken_at.each_ref().map(|at| to_the_second(at));
    let answer = Answer {
        sentence: difference(comparison),
        action: first_step(comparison),
        chart: differences(comparison),
        ..Answer::default()
    };
    let mut sections = vec![answer.section()];
    let ids = [("machine", "Machine"), ("verdicts", "Verdicts"), ("settings", "Settings")];
    for ((id, title), table) in ids.into_iter().zip(tables::differences(comparison)) {
        let table = table.unless_empty().as_ref().map(Table::html);
        sections.extend(table.map(|html| Section::new(id, title, html)));
    }
    Page {
        lines: vec![("", format!("{before} → {after}"))],
        sections,
        ..Page::new("Two machines compared, by Assay", "What differs between two machines")
    }
    .write(out)
}

/// How much differs, in a sentence.
pub fn difference(comparison: &HostComparison) -> String {
    let counts = [
        (comparison.machine.len(), "fact of the machine", "facts of the machine"),
        (comparison.rulings.len(), "verdict", "verdicts"),
        (comparison.settings.len(), "setting", "settings"),
    ];
    let counts = counts.iter().filter(|(number, ..)| *number != 0);
    let told: Vec<String> = counts.map(|(number, one, many)| counted(*number as u64, one, many)).collect();
    match told.as_slice() {
        [] => "No difference in machine, settings and verdicts.".to_owned(),
        told => format!("Different: {}.", told.join(", ")),
    }
}

/// What became bad comes first.
fn first_step(comparison: &HostComparison) -> String {
    let worse = comparison.rulings.iter().find(|change| change.verdicts[1] == HostVerdict::Bad);
    match (worse, comparison.settings.first().or(comparison.machine.first())) {
        (Some(change), _) => {
            format!("→ Begin with {}, which became bad. The rule: {}.", change.rule, clean(&change.title))
        }
        (None, Some(change)) => format!("→ Begin with {}: no verdict became bad.", clean(&change.name)),
        (None, None) => "Nothing has to be looked into.".to_owned(),
    }
}

fn differences(comparison: &HostComparison) -> String {
    let rows = [
        ("facts of the machine", comparison.machine.len(), "bar s0"),
        ("verdicts", comparison.rulings.len(), "bar s1"),
        ("settings", comparison.settings.len(), "bar s2"),
    ];
    counts(&rows, ("kinds", "Differences by kind"), "Number of differences of each kind.")
}

/// A bar for each kind: name, how many there are, style.
fn counts(rows: &[(&str, usize, &str)], (id, title): (&str, &str), caption: &str) -> String {
    let bar = |(name, number, class): &(&str, usize, &str)| {
        Bar::whole(name, count(*number as u64), *number as f64, class)
    };
    let bars: Vec<Bar> = rows.iter().map(bar).collect();
    let pictures = drawings(id, |width, id| bar_rows::bars(&bars, (None, None), width, (id, title)));
    figure(&format!("{id}-figure"), "answer", "", &pictures, caption)
}
