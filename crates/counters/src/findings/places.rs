//! What samples with their places say: page faults, carriers, lines of the caches.

use super::kernel::{LARGE_PAGES, TOUCHED_HEAP};
use super::words::percent;
use assay_model::{Finding, Severity, TimeReport, TimeRule};

/// Part of the page faults in one place.
const FAULTS_PART: f64 = 0.6;
/// Faults in a second of CPU time, below which their place does not matter: at 1 µs each they are 0.5 % of it.
const FAULTS_PER_CPU_S: f64 = 5_000.0;
/// Samples of faults below which nothing is said.
const FAULT_SAMPLES_MIN: u64 = 50;
/// Part of the readings of carriers that found one in a native method's call.
const BLOCKED_PART: f64 = 0.2;
/// Looks below which nothing is said.
const SAMPLES_MIN: u64 = 10;
/// Samples of a line below which nothing is said.
const LINE_SAMPLES_MIN: u64 = 20;

/// Most page faults are in one part of the memory.
pub(super) fn faults_in_one_place(report: &TimeReport) -> Vec<Finding<TimeRule>> {
    let Some(faults) = &report.fault_places else { return Vec::new() };
    let all = faults.samples.saturating_mul(faults.one_in) as f64;
    let per_cpu_s = all * 1e9 / report.process.cpu_ns.max(1) as f64;
    let Some(most) = faults.places.first() else { return Vec::new() };
    let Some((low, high)) = most.share.ends() else { return Vec::new() };
    if faults.samples < FAULT_SAMPLES_MIN || per_cpu_s < FAULTS_PER_CPU_S || low < FAULTS_PART {
        return Vec::new();
    }
    let place = most.place.title();
    let found = Finding::measured(
        TimeRule::FaultsInOnePlace,
        Severity::Note,
        format!("{} of the page faults are in one part of the memory: {place}", percent(most.share.estimate)),
        format!(
            "{} of {} sampled faults, {} to {}; one in {} is sampled, which is about {per_cpu_s:.0} faults in a second of CPU time; counts from \
             {FAULTS_PER_CPU_S} and {} in one place on",
            most.samples,
            faults.samples,
            percent(low),
            percent(high),
            faults.one_in,
            percent(FAULTS_PART)
        ),
    );
    vec![match most.place {
        assay_model::DataPlace::JavaHeap => found.to_do(TOUCHED_HEAP).or(LARGE_PAGES),
        _ => found
            .to_do(format!("See what is there: assay memory {}", report.pid))
            .or("See what grew between two results: assay memory diff"),
    }]
}

/// Carriers of virtual threads wait in calls of native methods.
pub(super) fn carriers_blocked(report: &TimeReport) -> Vec<Finding<TimeRule>> {
    let Some(waits) = &report.carrier_waits else { return Vec::new() };
    let part = waits.blocked as f64 / waits.samples.max(1) as f64;
    if waits.samples < SAMPLES_MIN || part < BLOCKED_PART {
        return Vec::new();
    }
    let calls = waits.calls.iter().map(|call| format!("{} ({} samples)", call.call, call.samples));
    vec![Finding::measured(TimeRule::CarriersBlocked, Severity::Warning, format!(
            "Carriers of virtual threads are blocked in native code {} of the time: other virtual threads wait for them",
            percent(part)
        ), format!(
            "{} of {} samples of {} carriers found one in {}; a carrier without work waits in futex; counts from {} on",
            waits.blocked,
            waits.samples,
            waits.carriers,
            calls.collect::<Vec<_>>().join(", "),
            percent(BLOCKED_PART)
        )).to_do(format!(
            "Move such calls to platform threads: jcmd {} Thread.dump_to_file FILE shows which",
            report.pid
        )).or("Add carriers: -Djdk.virtualThreadScheduler.parallelism=N")]
}

/// Threads write different data in one line of the caches.
pub(super) fn false_sharing(report: &TimeReport) -> Vec<Finding<TimeRule>> {
    let Some(data) = &report.data_accesses else { return Vec::new() };
    let is_it = |line: &&assay_model::SharedLine| line.is_false_sharing && LINE_SAMPLES_MIN <= line.samples;
    let Some(line) = data.lines.iter().find(is_it) else { return Vec::new() };
    let name = |tid: u32| {
        let thread = report.threads.iter().find(|thread| thread.tid == tid);
        thread.map_or_else(|| format!("thread {tid}"), |thread| thread.name.clone())
    };
    let users: Vec<String> = line.threads.iter().take(4).map(|of| name(of.tid)).collect();
    vec![Finding::measured(TimeRule::FalseSharing, Severity::Warning, format!(
            "{} threads write different data in one line of the caches ({}): {}",
            line.threads.len(),
            line.place.title(),
            users.join(", ")
        ), format!(
            "line {:#x}: {} of {} samples of {}, {} of them stores, no two threads in the same eight bytes; counts from {LINE_SAMPLES_MIN} on",
            line.address, line.samples, data.samples, data.source, line.stores
        ))
        .to_do("Keep what threads write 64 bytes apart: @Contended with -XX:-RestrictContended")
        .or("Let each thread write to an object of its own")
        .or("Count with LongAdder")]
}
