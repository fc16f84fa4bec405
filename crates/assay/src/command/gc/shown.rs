//! What was read, as it was asked for: printed, as a page, and as conditions that hold or do not.

use crate::arguments::GcReadArguments;
use crate::failure::Failure;
use crate::output;
use crate::output_file::write_result;
use assay_gcstudy::Condition;
use assay_model::GcReport;
use assay_report::{render_gc_csv, render_gc_html, render_gc_terminal};

/// Prints a report, and writes its page.
pub fn show(report: &GcReport, name: &str, arguments: &GcReadArguments) -> Result<(), Failure> {
    if let Some(path) = &arguments.html {
        write_result(path, |mut out| render_gc_html(report, name, &mut out))?;
    }
    if arguments.json {
        output::print_json(report)
    } else if arguments.csv {
        output::print(|out| render_gc_csv(report, out))
    } else {
        output::print_text(&render_gc_terminal(report, name, output::view()))
    }
}

/// Whether any condition holds or cannot be decided; each of those is reported on standard error.
pub fn fails(conditions: &[Condition], name: &str, (before, after): (Option<&GcReport>, &GcReport)) -> bool {
    let mut has_failed = false;
    for condition in conditions {
        let what = match condition.value(before, after) {
            Some(value) if !condition.holds(value) => continue,
            Some(value) => format!("fails: {condition}: {} is {value}", condition.figure().id),
            None => format!("fails: {condition}: the log does not tell {}", condition.figure().id),
        };
        say!("{what} ({name})");
        has_failed = true;
    }
    has_failed
}
