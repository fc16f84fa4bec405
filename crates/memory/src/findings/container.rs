//! A JVM that does not keep to the limits of its control group.

use super::rule::{Found, Judge, Rule, finding};
use super::words::bytes;
use assay_jdk::containers::{self, UnseenLimit};
use assay_jdk::release_and_update;
use assay_model::{MemoryReport, Problem, RuleId, Severity};

pub(super) static RULES: &[&Rule] = &[&CONTAINER_UNSEEN];

static CONTAINER_UNSEEN: Rule = Rule {
    id: RuleId::of("container-unseen"),
    severity: Severity::Error,
    thresholds: &[],
    evidence: "The largest heap and the container's memory limit, the processors counted at the JVM's start \
        and those that it may use, and the cause.",
    cause: "The kernel has no line `memory` in `/proc/cgroups`, which releases before JDK-8349988 require. Or \
        container support is off, or the release does not know the container's control groups. Or an option \
        sizes the heap above the limit, or the limit was lowered after the start.",
    fix: "Remove the cause that the finding names.",
    alternatives: &["Until then set `-Xmx` and `-XX:ActiveProcessorCount` by the container's limits."],
    judge: Judge::of_bounded(unseen),
};

/// What the JVM does not see of its limits.
fn unseen(report: &MemoryReport) -> Option<Found> {
    let (unseen, release) = unseen_by(report)?;
    let heap = unseen
        .heap
        .map(|(heap, limit)| format!("largest heap {}, memory limit {}", bytes(heap), bytes(limit)));
    let processors = unseen
        .processors
        .map(|(counted, cpus)| format!("processors counted at the start {counted}, CPU limit {cpus}"));
    let evidence: Vec<String> =
        heap.into_iter().chain(processors).chain([format!("cause: {}", unseen.why.cause())]).collect();
    Some(finding(&CONTAINER_UNSEEN, claim(&unseen), evidence.join("; "), unseen.why.fix(release), None))
}

fn unseen_by(report: &MemoryReport) -> Option<(UnseenLimit, Option<(u32, u32)>)> {
    let jvm = report.jvm.as_ref()?;
    let release = jvm.version.as_deref().and_then(release_and_update);
    Some((containers::unseen_limit(jvm.container.as_ref()?, release)?, release))
}

fn claim(unseen: &UnseenLimit) -> String {
    match (unseen.heap, unseen.processors) {
        (Some((heap, limit)), _) if limit < heap => {
            format!("the heap may grow to {}, and the container may have {}", bytes(heap), bytes(limit))
        }
        (_, Some((counted, cpus))) => {
            format!("the JVM is sized for {counted} processors, and the container may use {cpus}")
        }
        _ => "the JVM does not see the limits of its container".to_owned(),
    }
}

/// What the JVM does not see of its container's limits, as a problem of a limit that is advised or was tried: it rests on what the JVM took for
/// its own size. `None` where it sees them, or too little is known.
pub fn unseen_limit(report: &MemoryReport) -> Option<Problem> {
    let (unseen, release) = unseen_by(report)?;
    let what = format!("{}: {}; {}", claim(&unseen), unseen.why.cause(), unseen.why.fix(release));
    Some(Problem::new("container", what))
}
