//! How many users a load had, and how they began their sessions outside of its figures.

use assay_kit::number::{count, significant};
use assay_model::SessionStartSummary;

/// In a line; absent where the users are not known.
pub fn words(users: Option<u32>, starts: Option<&SessionStartSummary>) -> Option<String> {
    let users = users?;
    let Some(starts) = starts else { return Some(users.to_string()) };
    let ms = |value: Option<f64>| value.map_or_else(|| "-".to_owned(), significant);
    let [p50, p99, max] = [starts.ms.p50, starts.ms.p99, starts.ms.max].map(ms);
    let others = [
        (starts.failed, "failed"),
        (starts.in_window, "in measured windows"),
        (starts.ended_by_server, "since the server had ended one"),
    ];
    let others: Vec<String> = others
        .iter()
        .filter(|(number, _)| 0 < *number)
        .map(|(number, what)| format!(", {} {what}", count(*number)))
        .collect();
    Some(format!(
        "{users}. {} sessions begun outside of the figures (p50 {p50} ms, p99 {p99} ms, at most {max} ms){}",
        count(starts.count),
        others.concat()
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use assay_model::LatencySummary;

    #[test]
    fn what_did_not_happen_is_not_named() {
        let ms =
            LatencySummary { p50: Some(3.0), p99: Some(20.0), max: Some(25.0), ..LatencySummary::default() };
        let starts = SessionStartSummary { count: 12, failed: 0, ended_by_server: 0, in_window: 2, ms };
        let said = words(Some(10), Some(&starts)).expect("known");
        let whole = "10. 12 sessions begun outside of the figures (p50 3.00 ms, p99 20.0 ms, at most 25.0 ms), 2 in measured windows";
        assert_eq!(said, whole);
        assert_eq!((words(Some(4), None), words(None, Some(&starts))), (Some("4".to_owned()), None));
    }
}
