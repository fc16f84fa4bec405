//! What differs between two machines, or between one before and after.

use super::counts;
use assay_kit::document::{Answer, Document, Figure, Section};
use assay_kit::number::counted;
use assay_kit::text::{clean, to_the_second};
use assay_kit::{Cell, Table};
use assay_model::{HostComparison, HostVerdict, SettingChange};

/// What differs: facts of the machine, verdicts, settings.
pub fn document(comparison: &HostComparison) -> Document {
    let [before, after] = comparison.taken_at.each_ref().map(|at| to_the_second(at));
    let answer = Answer {
        sentence: difference(comparison),
        action: first_step(comparison),
        chart: Some(kinds(comparison)),
        ..Answer::default()
    };
    let sections = [
        Section::new(
            "machine",
            "Machine",
            [changes("Facts of the machine that differ", &comparison.machine).into()],
        ),
        Section::new("verdicts", "Verdicts", [verdicts(comparison).into()]),
        Section::new("settings", "Settings", [changes("Settings that differ", &comparison.settings).into()]),
    ];
    Document {
        lines: vec![format!("{before} → {after}").into()],
        sections: sections.into(),
        ..Document::new("Two machines compared, by Assay", "What differs between two machines", answer)
    }
}

/// How much differs, in a sentence.
fn difference(comparison: &HostComparison) -> String {
    let counts = [
        (comparison.machine.len(), "fact of the machine", "facts of the machine"),
        (comparison.rulings.len(), "verdict", "verdicts"),
        (comparison.settings.len(), "setting", "settings"),
    ];
    let counts = counts.iter().filter(|(number, ..)| *number != 0);
    let parts: Vec<String> = counts.map(|(number, one, many)| counted(*number as u64, one, many)).collect();
    match parts.as_slice() {
        [] => "No difference in machine, settings and verdicts.".to_owned(),
        parts => format!("Different: {}.", parts.join(", ")),
    }
}

/// Rules that no longer hold come first.
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

fn kinds(comparison: &HostComparison) -> Figure {
    let rows = [
        ("facts of the machine", comparison.machine.len(), "bar s0"),
        ("verdicts", comparison.rulings.len(), "bar s1"),
        ("settings", comparison.settings.len(), "bar s2"),
    ];
    let caption = "Number of differences of each kind.";
    counts::figure(&rows, ("kinds", "differences by kind"), caption, "nothing differs")
}

fn side(value: &Option<String>) -> Cell {
    value.as_deref().map(clean).into()
}

fn changes(caption: &str, changes: &[SettingChange]) -> Table {
    Table::of(caption, changes)
        .words("Name", |change| clean(&change.name))
        .words("Before", |change| side(&change.values[0]))
        .words("After", |change| side(&change.values[1]))
        .table()
}

fn verdicts(comparison: &HostComparison) -> Table {
    Table::of("Verdicts that differ", &comparison.rulings)
        .words("Rule", |change| change.rule.to_string())
        .words("Before", |change| change.verdicts[0].to_string())
        .words("After", |change| change.verdicts[1].to_string())
        .words("Value before", |change| side(&change.values[0]))
        .words("Value after", |change| side(&change.values[1]))
        .words("What the rule asks for", |change| clean(&change.title))
        .if_room()
        .table()
}
