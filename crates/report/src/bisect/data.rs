//! The raw rows of a bisection.

use assay_kit::document::{Data, Value};
use assay_model::BisectReport;

/// A row for each pair of trials, or for each commit that was not compared; without a pair its fields are absent.
pub fn data(report: &BisectReport) -> Data {
    let mut data = Data::new(["commit", "subject", "probability", "left_out", "comparison", "ratio"]);
    for (index, commit) in (0..).zip(&report.commits) {
        let mut push = |comparison: Value, ratio: Value| {
            let of: [Value; 4] = [
                commit.id.clone().into(),
                commit.subject.clone().into(),
                commit.probability.into(),
                commit.left_out.clone().into(),
            ];
            data.push(of.into_iter().chain([comparison, ratio]));
        };
        let mut is_compared = false;
        for (number, comparison) in (1_u32..).zip(&report.comparisons).filter(|(_, of)| of.commit == index) {
            for ratio in &comparison.ratios {
                push(number.into(), (*ratio).into());
                is_compared = true;
            }
        }
        if !is_compared {
            push(Value::Absent, Value::Absent);
        }
    }
    data
}
