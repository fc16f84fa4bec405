//! The report of a log.

use assay_gclog::GcStream;
use assay_gcstudy::Analysis;
use assay_model::GcReport;

/// Reads a log as `assay gc` does, in portions of 256 KiB.
pub fn report(log: &[u8]) -> GcReport {
    let (mut analysis, mut stream) = (Analysis::default(), GcStream::default());
    stream.begin_source("log", &mut analysis);
    log.chunks(256 << 10).for_each(|portion| stream.feed(portion, &mut analysis));
    stream.end_source(&mut analysis);
    stream.finish(&mut analysis);
    analysis.report()
}
