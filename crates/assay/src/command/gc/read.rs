//! From the files of a log to its report.

use super::named::options;
use crate::arguments::GcReadArguments;
use crate::failure::Failure;
use crate::output_file::write_result;
use assay_gclog::GcSink;
use assay_gclog::input::{self, LogSet};
use assay_gcstudy::{Analysis, AnalysisOptions, EventsTee, LogPart};
use assay_model::GcReport;

/// Reads a set, with `--events` into its file.
pub fn read_set(set: &LogSet, arguments: &GcReadArguments) -> Result<GcReport, Failure> {
    let mut analysis = Analysis::new(options(arguments));
    match &arguments.events {
        None => read_into(set, &mut analysis, arguments)?,
        Some(path) => {
            let mut read = Ok(());
            write_result(path, |out| {
                let mut tee = EventsTee::new(&mut analysis, Some(out));
                read = read_into(set, &mut tee, arguments);
                tee.finish()
            })?;
            read?;
        }
    }
    Ok(analysis.report())
}

/// Reads all of a set.
pub fn read_whole(set: &LogSet) -> GcReport {
    let mut analysis = Analysis::new(AnalysisOptions::default());
    input::read_set(set, &mut analysis);
    analysis.report()
}

/// All of a set, or the part between two times.
fn read_into(set: &LogSet, sink: &mut dyn GcSink, arguments: &GcReadArguments) -> Result<(), Failure> {
    if arguments.from.is_none() && arguments.to.is_none() {
        input::read_set(set, sink);
        return Ok(());
    }
    let mut part = LogPart::new(sink, arguments.from, arguments.to).map_err(Failure::input)?;
    input::read_set(set, &mut part);
    part.finish().map_err(Failure::input)
}
