//! Findings as a table, for Markdown.

use assay_kit::Table;
use assay_kit::document::{Finding, Step};

/// A row for each finding: how grave it is, the claim with its rule, what it rests on, the step with its alternatives.
pub fn table(caption: &str, findings: &[Finding]) -> Table {
    Table::of(caption, findings)
        .words("Severity", |finding| finding.severity)
        .words("Finding", |finding| format!("{} ({})", finding.claim, finding.rule))
        .words("Evidence", |finding| finding.evidence.join("\n"))
        .words("What to do", |finding| finding.step.as_ref().map_or_else(String::new, Step::in_lines))
        .table()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::in_words;
    use assay_model::{HostRule, Severity};

    #[test]
    fn a_row_has_the_claim_its_evidence_the_step_and_its_alternatives() {
        let finding =
            assay_model::Finding::measured(HostRule::ThpMode, Severity::Error, "pages wait", "always")
                .to_do("-X")
                .or("-Y");
        let table = table("Findings", &[in_words(&finding, "")]);
        assert_eq!(table.rows[0].cells, ["error", "pages wait (thp-mode)", "always", "-X\nor: -Y"]);
    }
}
