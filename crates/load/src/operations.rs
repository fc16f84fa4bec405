//! Planned operations of which no request was sent: why, and what mends it.

use assay_model::OperationCount;

/// Why planned operations are not among the requests of a whole load; none where each is.
pub(crate) fn missing(operations: &[OperationCount], requests: u64) -> Vec<String> {
    let missing = operations.iter().filter(|one| 0.0 < one.planned_share && one.requests == 0);
    let reason = |one: &OperationCount| match one.selected {
        Some(drawn) if 0 < drawn => never_sent(&one.name, drawn),
        _ => never_drawn(&one.name, one.planned_share, requests),
    };
    missing.map(reason).collect()
}

/// Of an operation that was drawn, and another was sent each time.
pub fn never_sent(name: &str, drawn: u64) -> String {
    format!(
        "{name} was drawn {drawn} times and never sent: what it requires was in no answer, and its otherwise was sent instead; look at the \
         [extract] that it requires"
    )
}

/// Of an operation that was not drawn.
pub fn never_drawn(name: &str, planned_share: f64, requests: u64) -> String {
    let percent = 100.0 * planned_share;
    let enough = (1.0 / planned_share).ceil();
    format!(
        "none of the {requests} requests is {name}, planned for {percent:.2} %: use a higher rate or a longer \
            load, at least {enough:.0} requests"
    )
}
