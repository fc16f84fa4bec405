//! A load in sentences.

use assay_kit::number::{count, counted, significant};
use assay_kit::quantity::{ms, seconds};
use assay_model::LoadResult;

/// The rate that was achieved, the response time, and what failed.
pub fn answer(result: &LoadResult) -> String {
    let offered = result
        .offered_rate_per_s
        .map_or_else(String::new, |rate| format!(" of {} offered", significant(rate)));
    let achieved = significant(result.achieved_rate_per_s);
    let times = match (result.response_ms.p50, result.response_ms.p99) {
        (Some(p50), Some(p99)) => {
            format!("response time p50 {}, p99 {}", ms(p50), ms(p99))
        }
        _ => "no response time is known".to_owned(),
    };
    let failed = match result.errors {
        0 => "none failed".to_owned(),
        failed => format!("{} failed", count(failed)),
    };
    format!(
        "{achieved} requests/s achieved{offered}, {times}, of {} {failed}.",
        counted(result.requests, "request", "requests")
    )
}

/// What to do with it.
pub fn next_step(result: &LoadResult) -> &'static str {
    if !result.valid {
        "→ Mend what makes it invalid, then load again."
    } else if result.errors > 0 {
        "→ Look at the failed requests first: the problems quote samples."
    } else {
        "→ To find the highest rate that keeps a limit: assay capacity URL."
    }
}

/// How the load was made, and for how long where that is known.
pub fn subject(result: &LoadResult, measured_s: Option<f64>) -> String {
    let law = match (result.offered_rate_per_s, &result.rate_schedule) {
        (_, Some(schedule)) => format!("open loop, {schedule}"),
        (Some(rate), None) => format!("open loop, {} requests/s offered", significant(rate)),
        (None, None) => "closed loop".to_owned(),
    };
    let length = measured_s.map_or_else(String::new, |length| format!("; {}", seconds(length)));
    format!("{law}{length}; seed {}", result.seed)
}
