//! What samples with their places say: page faults, lines of the caches.

use super::kernel::{LARGE_PAGES, TOUCHED_HEAP};
use super::rule::{Found, Rule};
use super::words::percent;
use assay_model::{RuleId, Severity, Threshold, TimeReport};

pub(super) static RULES: &[&Rule] = &[&FAULTS_IN_ONE_PLACE, &FALSE_SHARING];

/// Part of the page faults in one place.
const FAULTS: Threshold = Threshold::percent("faults", 60.0);
/// Faults in a second of CPU time, below which their place does not matter: at 1 µs each they are 0.5 % of it.
const FAULTS_PER_S: Threshold = Threshold::count("faults_per_s", 5_000);
/// Samples of faults below which nothing is said.
const FAULT_SAMPLES: Threshold = Threshold::count("fault_samples", 50);
/// Samples of a line below which nothing is said.
const LINE_SAMPLES: Threshold = Threshold::count("line_samples", 20);

static FAULTS_IN_ONE_PLACE: Rule = Rule {
    id: RuleId::of("faults-in-one-place"),
    severity: Severity::Note,
    thresholds: &[FAULTS, FAULTS_PER_S, FAULT_SAMPLES],
    evidence: "The share of sampled page faults in one part of the memory, with its interval (from {faults} \
        on). Made from {fault_samples} samples on, at {faults_per_s} faults per second of CPU time or more.",
    cause: "That part grows, or is returned and touched again.",
    fix: "In the Java heap, set `-Xms` equal to `-Xmx` with `-XX:+AlwaysPreTouch`. Elsewhere, see what is \
        there: `assay memory PID`.",
    alternatives: &["Use large pages for the Java heap.", "See what grew elsewhere: `assay memory diff`."],
    judge: faults_in_one_place,
};

/// Most page faults are in one part of the memory.
fn faults_in_one_place(report: &TimeReport) -> Vec<Found> {
    let Some(faults) = &report.fault_places else { return Vec::new() };
    let all = faults.samples.saturating_mul(faults.one_in) as f64;
    let per_cpu_s = all * 1e9 / report.process.cpu_ns.max(1) as f64;
    let Some(most) = faults.places.first() else { return Vec::new() };
    let Some((low, high)) = most.share.ends() else { return Vec::new() };
    if faults.samples < FAULT_SAMPLES.whole() || per_cpu_s < FAULTS_PER_S.value || low < FAULTS.share() {
        return Vec::new();
    }
    let place = most.place.title();
    let found = FAULTS_IN_ONE_PLACE.finding(
        format!("{} of the page faults are in one part of the memory: {place}", percent(most.share.estimate)),
        format!(
            "{} of {} sampled faults, {} to {}, one in {} sampled, about {per_cpu_s:.0} faults per second of \
                CPU time; a finding from {FAULTS_PER_S} and {FAULTS} in one place on",
            most.samples,
            faults.samples,
            percent(low),
            percent(high),
            faults.one_in
        ),
    );
    vec![match most.place {
        assay_model::DataPlace::JavaHeap => found.to_do(TOUCHED_HEAP).or(LARGE_PAGES),
        _ => found
            .to_do(format!("See what is there: assay memory {}", report.pid))
            .or("See what grew between two results: assay memory diff"),
    }]
}

static FALSE_SHARING: Rule = Rule {
    id: RuleId::of("false-sharing"),
    severity: Severity::Warning,
    thresholds: &[LINE_SAMPLES],
    evidence: "A line of the caches that several threads write at different bytes, with the samples of their stores ({line_samples} or \
               more).",
    cause: "Each write takes the line away from the other processors.",
    fix: "Keep what threads write 64 bytes apart: `@Contended` with `-XX:-RestrictContended`.",
    alternatives: &["Let each thread write to an object of its own.", "Count with `LongAdder`."],
    judge: false_sharing,
};

/// Threads write different data in one line of the caches.
fn false_sharing(report: &TimeReport) -> Vec<Found> {
    let Some(data) = &report.data_accesses else { return Vec::new() };
    let is_it =
        |line: &&assay_model::SharedLine| line.is_false_sharing && LINE_SAMPLES.whole() <= line.samples;
    let Some(line) = data.lines.iter().find(is_it) else { return Vec::new() };
    let name = |tid: u32| {
        let thread = report.threads.iter().find(|thread| thread.tid == tid);
        thread.map_or_else(|| format!("thread {tid}"), |thread| thread.name.clone())
    };
    let users: Vec<String> = line.threads.iter().take(4).map(|of| name(of.tid)).collect();
    let claim = format!(
        "{} threads write different data in one line of the caches ({}): {}",
        line.threads.len(),
        line.place.title(),
        users.join(", ")
    );
    let evidence = format!(
        "line {:#x}: {} of {} samples of {}, {} of them stores, no two threads in the same eight bytes; counts from {LINE_SAMPLES} on",
        line.address, line.samples, data.samples, data.source, line.stores
    );
    vec![
        FALSE_SHARING
            .finding(claim, evidence)
            .to_do("Keep what threads write 64 bytes apart: @Contended with -XX:-RestrictContended")
            .or("Let each thread write to an object of its own")
            .or("Count with LongAdder"),
    ]
}
