//! What releases make of options as CSV: a row for each option and release; one without a remark has an empty `remark`.

use assay_kit::csv_rows::Rows;
use assay_model::FlagsReport;
use std::io::{self, Write};

/// Writes the rows: where there are several remarks on an option, each has one.
///
/// # Errors
/// Those of the writer.
pub fn render(report: &FlagsReport, out: &mut dyn Write) -> io::Result<()> {
    let columns = ["option", "release", "version", "starts", "remark", "certainty", "why", "instead"];
    let mut rows = Rows::new(out, columns)?;
    for of in &report.releases {
        let (release, starts) = (of.release.to_string(), of.starts.to_string());
        for (at, option) in report.options.iter().enumerate() {
            let mut is_remarked = false;
            for remark in of.remarks.iter().filter(|remark| remark.option == at) {
                is_remarked = true;
                let instead = remark.instead.as_deref().unwrap_or_default();
                let remarked = [remark.remark.word(), remark.certainty.word(), &remark.why, instead];
                rows.row(
                    [option, &release, &of.version, &starts].map(String::as_str).into_iter().chain(remarked),
                )?;
            }
            if !is_remarked {
                rows.row([option, &release, &of.version, &starts, "", "", "", ""])?;
            }
        }
    }
    rows.end()
}
