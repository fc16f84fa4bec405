//! Findings as a table, for Markdown.

use super::Told;
use assay_kit::Table;

/// A row for each finding: how grave it is, the claim with its rule, what it rests on, what to do.
pub fn table(caption: &str, findings: &[Told]) -> Table {
    let to_do = |finding: &Told| match (&finding.change, &*finding.gain) {
        (None, _) => String::new(),
        (Some(change), "") => change.command.clone(),
        (Some(change), gain) => format!("{} ({gain})", change.command),
    };
    Table::of(caption, findings)
        .words("Severity", |finding| finding.severity.word().to_owned())
        .words("Finding", |finding| format!("{} ({})", finding.claim, finding.rule))
        .words("Evidence", |finding| finding.evidence.join("\n"))
        .words("What to do", |finding| to_do(finding))
        .table()
}

#[cfg(test)]
mod tests {
    use super::*;
    use assay_model::{Finding, HostRule, Severity};

    #[test]
    fn a_row_has_the_claim_its_evidence_and_the_step() {
        let finding =
            Finding::measured(HostRule::ThpMode, Severity::Error, "pages wait", "always").to_do("-X");
        let table = table("Findings", &[Told::of(&finding, "")]);
        assert_eq!(table.rows, [["error", "pages wait (thp-mode)", "always", "-X"]]);
    }
}
