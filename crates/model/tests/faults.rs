//! The sentence that reports an injected fault.

use assay_model::*;

#[test]
fn a_fault_is_told_with_what_came_of_it() {
    let record = FaultRecord {
        role: "stock-2".to_owned(),
        pid: Some(7),
        action: FaultAction::Kill,
        planned_s: 1.5,
        done_monotonic_ns: Some(11_510_000_000),
        over_monotonic_ns: None,
        ended: vec!["was ended by signal 9".to_owned()],
        oom_kills: None,
        ready_after_s: Some(0.75),
        new_pid: Some(9),
        failed: None,
    };
    let told = "stock-2 (PID 7): KILL at 1.51 s; was ended by signal 9; ready again after 0.75 s";
    assert_eq!(record.told(10_000_000_000), told);
    let limit = FaultAction::Limit { for_s: 2.0, cpus: Some(0.5), memory_bytes: Some(64 << 20) };
    let why = Some("the kernel refused it".to_owned());
    let failed = FaultRecord {
        pid: None,
        action: limit,
        done_monotonic_ns: None,
        failed: why,
        ..FaultRecord { ended: Vec::new(), ready_after_s: None, ..record }
    };
    let told =
        "stock-2: limit of 0.5 CPUs and 64 MiB of memory for 2 s not done at 1.50 s; the kernel refused it";
    assert_eq!(failed.told(0), told);
}
