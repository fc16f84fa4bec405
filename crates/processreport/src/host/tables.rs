//! The tables of a machine's check and of a comparison, on their pages and in Markdown.

use super::words::found;
use assay_kit::Table;
use assay_kit::text::clean;
use assay_model::{HostComparison, HostReport, HostVerdict, SettingChange};

/// What each rule with this verdict found, of each JVM.
pub fn rulings(report: &HostReport, verdict: HostVerdict) -> Table {
    let caption = match verdict {
        HostVerdict::Bad => "Rules that are broken",
        HostVerdict::Good => "Rules that are kept",
        HostVerdict::NotApplicable => "Rules that do not apply",
        HostVerdict::Unknown | HostVerdict::Other => "Rules without a verdict",
    };
    Table::of(caption, report.rulings.iter().filter(|ruling| ruling.verdict == verdict))
        .words("Rule", |ruling| ruling.finding.rule.to_string())
        .words("What was found", |ruling| found(ruling))
        .words("Read from", |ruling| clean(&ruling.reads.join(", ")))
        .table()
}

/// Everything that differs, in three tables.
pub fn differences(comparison: &HostComparison) -> [Table; 3] {
    let side = |value: &Option<String>| value.as_deref().map_or_else(|| "-".to_owned(), clean);
    let changes = |caption: &str, changes: &[SettingChange]| {
        Table::of(caption, changes)
            .words("Name", |change| clean(&change.name))
            .words("Before", |change| side(&change.values[0]))
            .words("After", |change| side(&change.values[1]))
            .table()
    };
    let verdicts = Table::of("Verdicts that differ", &comparison.rulings)
        .words("Rule", |change| change.rule.to_string())
        .words("Before", |change| change.verdicts[0].to_string())
        .words("After", |change| change.verdicts[1].to_string())
        .words("Value before", |change| side(&change.values[0]))
        .words("Value after", |change| side(&change.values[1]))
        .words("What the rule asks for", |change| clean(&change.title))
        .table();
    [
        changes("Facts of the machine that differ", &comparison.machine),
        verdicts,
        changes("Settings that differ", &comparison.settings),
    ]
}
