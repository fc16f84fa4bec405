//! From the files of a log to its report.

use super::named::options;
use crate::arguments::GcReadArguments;
use crate::failure::Failure;
use crate::output_file::write_result;
use assay_gclog::input::{self, LogSet};
use assay_gcstudy::{Analysis, EventsTee};
use assay_model::GcReport;

/// Reads a set, with `--events` into its file.
pub fn read_set(set: &LogSet, arguments: &GcReadArguments) -> Result<GcReport, Failure> {
    let mut analysis = Analysis::new(options(arguments));
    match &arguments.events {
        None => input::read_set(set, &mut analysis),
        Some(path) => write_result(path, |out| {
            let mut tee = EventsTee::new(&mut analysis, Some(out));
            input::read_set(set, &mut tee);
            tee.finish()
        })?,
    }
    Ok(analysis.report())
}
