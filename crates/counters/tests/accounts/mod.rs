//! Accounts of CPU time for tests of rules, and what they find in them.

use assay_counters::findings;
use assay_model::*;
use assay_testkit::{assert_one_step_each, testdata};

pub const S: u64 = 1_000_000_000;

/// 10 s of a server with eight threads that does nothing odd, on two processors.
pub fn healthy() -> TimeReport {
    let text = std::fs::read_to_string(testdata("formats/time-4.json")).expect("a kept result");
    let mut report: TimeReport = serde_json::from_str(&text).expect("its form");
    report.duration_ns = 10 * S;
    report.process.cpu_ns = 8 * S;
    report.cgroup = None;
    report.machine = MachineTime {
        cpus: Some(2),
        busy_ns: Some(9 * S),
        softirq_ns: vec![S / 10, S / 20],
        ..MachineTime::default()
    };
    report.samples = None;
    report.roles = Vec::new();
    report.groups = Vec::new();
    report.threads = Vec::new();
    add(&mut report, ThreadRole::Application, "http-*", sums(8, 7 * S));
    add(&mut report, ThreadRole::C2, "C2 CompilerThread*", sums(1, S / 2));
    add(&mut report, ThreadRole::Collector, "GC Thread#*", sums(2, S / 2));
    report.threads.push(ThreadTime {
        tid: 41,
        name: "http-1".to_owned(),
        role: ThreadRole::Application,
        is_role_inferred: false,
        cpu_ns: 9 * S,
        kernel_share: Some(kernel(0.1)),
        run_delay_ns: Some(S),
        voluntary_switches: Some(900),
        has_ended: false,
    });
    report
}

pub fn sums(threads: u64, cpu_ns: u64) -> TimeSums {
    TimeSums {
        threads,
        cpu_ns,
        kernel_share: Some(kernel(0.1)),
        run_delay_ns: Some(cpu_ns / 10),
        voluntary_switches: Some(1000),
        involuntary_switches: Some(100),
        minor_faults: 500,
        ..TimeSums::default()
    }
}

pub fn kernel(share: f64) -> Estimate {
    Estimate { estimate: share, low: Some(share - 0.02), high: Some(share + 0.02) }
}

pub fn add(report: &mut TimeReport, role: ThreadRole, name: &str, sums: TimeSums) {
    report.roles.push(RoleTime { role, inferred_ns: 0, sums });
    report.groups.push(TimeGroup { role, name: name.to_owned(), is_role_inferred: false, sums });
}

pub fn rules(report: &TimeReport) -> Vec<RuleId> {
    findings(report).iter().map(|finding| finding.rule.clone()).collect()
}

/// The healthy account with a change, and the same change just too small to count.
#[track_caller]
pub fn found(
    rule: &str,
    change: impl Fn(&mut TimeReport),
    too_little: impl Fn(&mut TimeReport),
) -> Finding<RuleId> {
    let mut report = healthy();
    change(&mut report);
    assert_eq!(rules(&report), [rule]);
    let finding = findings(&report).remove(0);
    assert!(!finding.claim.is_empty() && !finding.evidence.is_empty() && !finding.command().is_empty());
    assert_one_step_each(finding.ways());
    too_little(&mut report);
    assert_eq!(rules(&report), [""; 0]);
    finding
}
