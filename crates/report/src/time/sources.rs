//! Where the figures of an account come from, and which are not available.

use super::figures::share_with_error;
use assay_kit::Table;
use assay_kit::number::{counted, percent};
use assay_kit::text::clean;
use assay_model::TimeReport;

/// The share of kernel time by each source that divides it, with what each counts: the answer has the first.
pub fn kernel_time(report: &TimeReport) -> Table {
    let mut rows = vec![(
        "timer interrupts: the answer, and the threads",
        share_with_error(report.process.kernel_share.as_ref()),
        "the mode in which each timer interrupt finds a thread (utime and stime)".to_owned(),
    )];
    rows.extend(report.samples.as_ref().map(|samples| {
        let number = counted(samples.samples, "sample", "samples");
        let what = format!("the mode in which {number} found a thread; interrupts on its time are kernel");
        ("samples of the processors", share_with_error(samples.kernel_share.as_ref()), what)
    }));
    rows.extend(report.traced.as_ref().map(|traced| {
        let sum = |of: fn(&assay_model::TracedRole) -> u64| traced.roles.iter().map(of).fold(0, u64::saturating_add);
        let share = percent(sum(|role| role.kernel_ns), sum(|role| role.cpu_ns));
        let what = "the time between entering the kernel and leaving it, each timed; entering and leaving is inferred";
        ("programs in the kernel", Some(share), what.to_owned())
    }));
    if rows.len() == 1 {
        // One source leaves nothing to compare.
        rows.clear();
    }
    Table::of("Kernel time by source", rows)
        .words("Source", |(source, ..)| *source)
        .figures("Kernel", |(_, share, _)| share.clone())
        .words("What it counts", |(.., what)| what.clone())
        .table()
}

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
