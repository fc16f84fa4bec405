//! The raw rows of what releases make of options.

use assay_kit::document::{Data, Value};
use assay_model::FlagsReport;

/// A row for each option and release, or for each remark where there are several; without a remark its fields are absent.
pub fn data(report: &FlagsReport) -> Data {
    let columns = ["option", "release", "version", "starts", "remark", "certainty", "why", "instead"];
    let mut data = Data::new(columns);
    for of in &report.releases {
        for (at, option) in report.options.iter().enumerate() {
            let mut push = |remarked: [Value; 4]| {
                let of: [Value; 4] =
                    [option.clone().into(), of.release.into(), of.version.clone().into(), of.starts.into()];
                data.push(of.into_iter().chain(remarked));
            };
            let mut is_remarked = false;
            for remark in of.remarks.iter().filter(|remark| remark.option == at) {
                is_remarked = true;
                let (what, certainty) = (remark.remark.word(), remark.certainty.word());
                push([
                    what.into(),
                    certainty.into(),
                    remark.why.clone().into(),
                    remark.instead.clone().into(),
                ]);
            }
            if !is_remarked {
                push([Value::Absent, Value::Absent, Value::Absent, Value::Absent]);
            }
        }
    }
    data
}
