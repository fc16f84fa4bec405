//! Findings as a table, for Markdown.

use super::FindingText;
use assay_kit::Table;

/// A row for each finding: how grave it is, the claim with its rule, what it rests on, the step with its alternatives.
pub fn table(caption: &str, findings: &[FindingText]) -> Table {
    Table::of(caption, findings)
        .words("Severity", |finding| finding.severity.word().to_owned())
        .words("Finding", |finding| format!("{} ({})", finding.claim, finding.rule))
        .words("Evidence", |finding| finding.evidence.join("\n"))
        .words("What to do", |finding| finding.what_to_do())
        .table()
}

#[cfg(test)]
mod tests {
    use super::*;
    use assay_model::{Finding, HostRule, Severity};

    #[test]
    fn a_row_has_the_claim_its_evidence_the_step_and_its_alternatives() {
        let finding = Finding::measured(HostRule::ThpMode, Severity::Error, "pages wait", "always")
            .to_do("-X")
            .or("-Y");
        let table = table("Findings", &[FindingText::of(&finding, "")]);
        assert_eq!(table.rows, [["error", "pages wait (thp-mode)", "always", "-X\nor: -Y"]]);
    }
}
