//! Where the figures of an account come from, and which are not available.

use assay_kit::Table;
use assay_kit::text::clean;
use assay_model::TimeReport;

/// Figures with how well they are known, and from where.
pub fn known(report: &TimeReport) -> Table {
    Table::of("Figures and their sources", &report.figures)
        .words("Figure", |of| clean(&of.figure))
        .words("How well known, source", |of| format!("{}, {}", of.basis, of.source))
        .words("From", |of| clean(&of.from))
        .table()
}

/// What is not available, why, and what would give it.
pub fn left_out(report: &TimeReport) -> Table {
    Table::of("Not available", &report.left_out)
        .words("Figure", |row| clean(&row.figure))
        .words("Why", |row| clean(&row.why))
        .words("What would give it", |row| clean(&row.enable))
        .table()
}
