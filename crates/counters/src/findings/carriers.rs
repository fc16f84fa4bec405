//! Carriers of virtual threads that wait with one. They use no CPU time meanwhile: a server that stands still for that has hardly any.

use super::rule::{Found, Rule};
use super::words::percent;
use assay_model::{RuleId, Severity, Threshold, TimeReport};

pub(super) static RULES: &[&Rule] = &[&CARRIERS_BLOCKED, &CARRIERS_PINNED];

/// Part of the samples of carriers that found one in a native method's call, or pinned.
const BLOCKED: Threshold = Threshold::percent("blocked", 20.0);
/// Looks below which nothing is said.
const LOOKS: Threshold = Threshold::count("looks", 10);
/// The last release in which `synchronized` pins a virtual thread.
const PINNING_FEATURE_MAX: u32 = 23;

static CARRIERS_BLOCKED: Rule = Rule {
    id: RuleId::of("carriers-blocked"),
    severity: Severity::Warning,
    thresholds: &[BLOCKED, LOOKS],
    evidence: "Samples of carrier threads ({looks} or more) that found one in a native method's system call, from {blocked} on, with the \
               calls.",
    cause: "A virtual thread in native code keeps its carrier, and other virtual threads wait for one.",
    fix: "Move such calls to platform threads: `jcmd PID Thread.dump_to_file FILE` shows which.",
    alternatives: &["Add carriers: `-Djdk.virtualThreadScheduler.parallelism=N`."],
    judge: carriers_blocked,
};

/// Carriers of virtual threads wait in calls of native methods.
fn carriers_blocked(report: &TimeReport) -> Vec<Found> {
    let Some(waits) = &report.carrier_waits else { return Vec::new() };
    let part = waits.blocked as f64 / waits.samples.max(1) as f64;
    if waits.samples < LOOKS.whole() || part < BLOCKED.share() {
        return Vec::new();
    }
    let calls = waits.calls.iter().map(|call| format!("{} ({} samples)", call.call, call.samples));
    let claim = format!(
        "Carriers of virtual threads are blocked in native code {} of the time: other virtual threads wait for them",
        percent(part)
    );
    let evidence = format!(
        "{} of {} samples of {} carriers found one in {}; idle carriers wait in futex, a finding from \
            {BLOCKED} on",
        waits.blocked,
        waits.samples,
        waits.carriers,
        calls.collect::<Vec<_>>().join(", ")
    );
    vec![
        CARRIERS_BLOCKED
            .finding(claim, evidence)
            .to_do(format!(
                "Move such calls to platform threads: jcmd {} Thread.dump_to_file FILE shows which",
                report.pid
            ))
            .or("Add carriers: -Djdk.virtualThreadScheduler.parallelism=N"),
    ]
}

static CARRIERS_PINNED: Rule = Rule {
    id: RuleId::of("carriers-pinned"),
    severity: Severity::Warning,
    thresholds: &[BLOCKED, LOOKS],
    evidence: "Samples of carrier threads ({looks} or more) that found one asleep with a virtual thread that cannot leave it, from {blocked} on.",
    cause: "Before JDK 24, a virtual thread that waits inside `synchronized` keeps its carrier. In all \
        releases, one called from native code does. Other virtual threads have to wait for a carrier.",
    fix: "Before JDK 24, move to it (JEP 491), or wait under a `ReentrantLock`: `-Djdk.tracePinnedThreads=full` names the place. \
          Since then, see which threads wait: `jcmd PID Thread.dump_to_file FILE`.",
    alternatives: &["Add carriers: `-Djdk.virtualThreadScheduler.parallelism=N`."],
    judge: carriers_pinned,
};

/// Carriers of virtual threads sleep with a virtual thread.
fn carriers_pinned(report: &TimeReport) -> Vec<Found> {
    let Some(waits) = &report.carrier_waits else { return Vec::new() };
    let part = waits.pinned as f64 / waits.samples.max(1) as f64;
    if waits.samples < LOOKS.whole() || part < BLOCKED.share() {
        return Vec::new();
    }
    let claim = format!(
        "Virtual threads that wait keep their carriers {} of the time: other virtual threads wait for them",
        percent(part)
    );
    let evidence = format!(
        "{} of {} samples of {} carriers found one asleep with a virtual thread; a finding from {BLOCKED} on",
        waits.pinned, waits.samples, waits.carriers
    );
    let found = CARRIERS_PINNED.finding(claim, evidence);
    let feature = report.jvm.as_ref().and_then(|jvm| jvm.feature);
    let found = match feature {
        Some(feature) if feature <= PINNING_FEATURE_MAX => found
            .to_do("Move to JDK 24: synchronized pins no virtual thread there")
            .or("Wait under a ReentrantLock instead of synchronized: -Djdk.tracePinnedThreads=full names the place"),
        _ => found.to_do(format!("See which threads wait: jcmd {} Thread.dump_to_file FILE", report.pid)),
    };
    vec![found.or("Add carriers: -Djdk.virtualThreadScheduler.parallelism=N")]
}
