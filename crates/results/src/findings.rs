//! What a study finds about itself: each rule is one value, with what it says in general, its thresholds and what judges.

use assay_model::{
    Check, Estimate, Explanation, Feels, Finding, Rule, Severity, StudyRule, Threshold, Trial,
    VariantSummary, WarmUpEnd, Window, metric,
};
use std::collections::BTreeMap;

/// What a rule finds.
type Found = Finding<StudyRule>;

/// A rule about what was measured.
type RuleOfTrials = Rule<fn(&[VariantSummary], &[Trial]) -> Vec<Found>, StudyRule>;

/// A rule about the plan: a baseline by name, what took its place, and why.
type RuleOfBaselines = Rule<fn(&str, &str, &str) -> Found, StudyRule>;

/// A rule about what the variants of a plan are loaded with: an address.
type RuleOfLoad = Rule<fn(&str) -> Found, StudyRule>;

static OF_TRIALS: &[&RuleOfTrials] = &[&HEAP_TOO_SMALL, &WARM_UP_CAPPED, &ALL_DISTURBED, &TIMES_DISTURBED];

/// A rule about what is built: a commit, and the repository that it is checked out in.
type RuleOfCommits = Rule<fn(&str, &str) -> Found, StudyRule>;

/// What each rule says in general.
pub fn rules() -> Vec<Explanation> {
    let of_trials = OF_TRIALS.iter().map(|rule| rule.explained());
    [BASELINE_REPLACED.explained(), URL_ALONE.explained(), UNCOMMITTED.explained()]
        .into_iter()
        .chain(of_trials)
        .collect()
}

/// What follows from what was measured, the gravest first.
pub fn findings(variants: &[VariantSummary], trials: &[Trial]) -> Vec<Found> {
    let mut findings: Vec<Found> = OF_TRIALS.iter().flat_map(|rule| (rule.judge)(variants, trials)).collect();
    Found::sort(&mut findings);
    findings
}

/// That a baseline cannot run here, and what took its place.
pub fn baseline_replaced(missing: &str, instead: &str, reason: &str) -> Found {
    (BASELINE_REPLACED.judge)(missing, instead, reason)
}

/// That variants are compared by requests for the address alone that says that they are ready.
pub fn url_alone(url: &str) -> Found {
    (URL_ALONE.judge)(url)
}

/// That a commit is measured, and not what was changed in its work tree since.
pub fn uncommitted(commit: &str, source: &str) -> Found {
    (UNCOMMITTED.judge)(commit, source)
}

static UNCOMMITTED: RuleOfCommits = Rule {
    id: StudyRule::Uncommitted,
    severity: Severity::Note,
    thresholds: &[],
    evidence: "The repository in which files that git knows differ from the commit that is checked out.",
    cause: "A level with `commit` is built from a clean copy of the commit.",
    fix: "Commit the changes to measure them.",
    alternatives: &["Leave `commit` out of the level: then the folder is built as it is."],
    judge: changed,
};

fn changed(commit: &str, source: &str) -> Found {
    let claim = format!("what is measured is the commit {commit}: uncommitted changes are not in it");
    UNCOMMITTED.finding(claim, format!("files in {source} differ from it"))
}

static URL_ALONE: RuleOfLoad = Rule {
    id: StudyRule::UrlAlone,
    severity: Severity::Warning,
    thresholds: &[],
    evidence: "The address that all requests go to, where variants are compared without a scenario.",
    cause: "The address by which a server says that it is ready is often its cheapest: it may touch neither data nor sessions.",
    fix: "Name a scenario of user operations: `scenario` in the study file.",
    alternatives: &["Let `ready_url` name a page that does the server's usual work."],
    judge: alone,
};

fn alone(url: &str) -> Found {
    let claim = "the variants are compared by requests for one address alone, by which the server says that it is ready";
    URL_ALONE.finding(claim, format!("no scenario is named; each request gets {url}"))
}

static BASELINE_REPLACED: RuleOfBaselines = Rule {
    id: StudyRule::BaselineReplaced,
    severity: Severity::Warning,
    thresholds: &[],
    evidence: "The reason why the baseline that the study names cannot run here.",
    cause: "The machine lacks what the variant needs: a JVM, memory, a library, permission for a host setting.",
    fix: "Give the machine what the reason names.",
    alternatives: &["Compare with the baseline that took its place."],
    judge: replaced,
};

fn replaced(missing: &str, instead: &str, reason: &str) -> Found {
    let claim = format!("{missing} could not be run here. {instead} is the baseline in its place");
    BASELINE_REPLACED.finding(claim, reason)
}

/// A server that is stopped for collection for more than this share of the time does little else: its heap is too
/// small for what lives in it. Chosen where throughput has lost half of what the collector takes in a roomy heap.
const PAUSES: Threshold = Threshold::ms("pauses", 300.0);

static HEAP_TOO_SMALL: RuleOfTrials = Rule {
    id: StudyRule::HeapTooSmall,
    severity: Severity::Warning,
    thresholds: &[PAUSES],
    evidence: "Pauses per second, with their interval, from the GC log. Made if the interval is above {pauses}.",
    cause: "The heap is too small for its live set: its figures show collections, not the variant.",
    fix: "Give this level a larger heap.",
    alternatives: &[],
    judge: collapse,
};

/// A heap so small that collection takes most of the time.
fn collapse(variants: &[VariantSummary], _: &[Trial]) -> Vec<Found> {
    variants.iter().filter_map(collapse_of).collect()
}

fn collapse_of(variant: &VariantSummary) -> Option<Found> {
    let pauses = variant.metrics.get(metric::GC_PAUSE_MS_PER_S)?;
    // The lower end must be beyond the limit: one bad block does not make a collapse.
    let sure = pauses.low.unwrap_or(pauses.estimate);
    let claim = format!(
        "{} spends {:.0} % of its time stopped for collection: the heap is too small for its live set",
        variant.name,
        pauses.estimate / 10.0
    );
    let evidence = format!("{} ms of pauses a second, from the GC log", with_interval(pauses));
    (PAUSES.value < sure).then(|| HEAP_TOO_SMALL.finding(claim, evidence))
}

static WARM_UP_CAPPED: RuleOfTrials = Rule {
    id: StudyRule::WarmUpCapped,
    severity: Severity::Warning,
    thresholds: &[],
    evidence: "The number of warm-ups that reached their time limit before the steady-state test passed.",
    cause: "Compilation or caches still changed the server's speed when measuring began.",
    fix: "Raise `design.warm_up.cap`.",
    alternatives: &[],
    judge: unsteady,
};

/// Warm-up that was cut off: the windows may still have been drifting.
fn unsteady(_: &[VariantSummary], trials: &[Trial]) -> Vec<Found> {
    let ended_by_cap = |t: &&Trial| t.warm_up.as_ref().is_some_and(|w| w.ended_by == WarmUpEnd::Cap);
    let mut capped: Vec<&str> = trials.iter().filter(ended_by_cap).map(|t| t.variant.as_str()).collect();
    let count = capped.len();
    capped.sort_unstable();
    capped.dedup();
    if count == 0 {
        return Vec::new();
    }
    let claim = format!("not shown to be steady before being measured: {}", capped.join(", "));
    let evidence = format!(
        "{count} of {} warm-ups reached their time limit: all variants were measured at the same age, but may \
            still be speeding up",
        trials.iter().filter(|t| t.warm_up.is_some()).count()
    );
    vec![WARM_UP_CAPPED.finding(claim, evidence)]
}

static ALL_DISTURBED: RuleOfTrials = Rule {
    id: StudyRule::AllDisturbed,
    severity: Severity::Error,
    thresholds: &[],
    evidence: "How many windows each check excluded, with the last one's figures.",
    cause: "Other processes used the machine, the hypervisor took time, a limit throttled the server, answers \
        were wrong, or the load was not as planned. The finding names the cause.",
    fix: "Repeat it where what disturbed most is absent: the finding names it.",
    alternatives: &["Let such windows count: the key of `[limits]` that the finding names."],
    judge: all_disturbed,
};

static TIMES_DISTURBED: RuleOfTrials = Rule {
    id: StudyRule::TimesDisturbed,
    severity: Severity::Warning,
    thresholds: &[],
    evidence: "How many windows each check excluded from times and rates, with the last one's figures.",
    cause: "Others used the processors, so that the server had to wait for them. CPU time is taken from these windows all the same: it changes, \
            too, but for all variants alike, and the interval tells it. Bytes, calls and faults do not change.",
    fix: "For times and rates, repeat it where what disturbed most is absent: the finding names it.",
    alternatives: &["Let such windows count: the key of `[limits]` that the finding names."],
    judge: times_disturbed,
};

/// Nothing counts for CPU time, times and rates.
fn all_disturbed(_: &[VariantSummary], trials: &[Trial]) -> Vec<Found> {
    let serves = |felt| windows(trials).any(|w| w.serves_for(felt));
    if windows(trials).next().is_none() || serves(Feels::CpuTime) {
        return Vec::new();
    }
    vec![disturbed(&ALL_DISTURBED, "CPU time, times and rates", trials)]
}

/// Nothing counts for times and rates, and some will do for CPU time.
fn times_disturbed(_: &[VariantSummary], trials: &[Trial]) -> Vec<Found> {
    let serves = |felt| windows(trials).any(|w| w.serves_for(felt));
    if serves(Feels::Time) || !serves(Feels::CpuTime) {
        return Vec::new();
    }
    vec![disturbed(&TIMES_DISTURBED, "times and rates", trials)]
}

fn windows(trials: &[Trial]) -> impl Iterator<Item = &Window> {
    trials.iter().flat_map(|trial| &trial.windows)
}

/// What disturbed the windows, and how such windows are accepted.
fn disturbed(rule: &'static RuleOfTrials, what: &str, trials: &[Trial]) -> Found {
    let mut kinds: BTreeMap<Check, (usize, &str)> = BTreeMap::new();
    for disturbance in windows(trials).flat_map(|w| &w.disturbances) {
        let (count, evidence) = kinds.entry(disturbance.kind).or_default();
        (*count, *evidence) = (*count + 1, disturbance.evidence.as_str());
    }
    let told: Vec<String> = kinds
        .iter()
        .map(|(kind, (count, evidence))| format!("{kind} in {count} (the last: {evidence})"))
        .collect();
    let mut most: Vec<(Check, usize)> = kinds.iter().map(|(kind, (count, _))| (*kind, *count)).collect();
    most.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    let remedies: Vec<(&str, Option<&str>)> = most.iter().filter_map(|(kind, _)| remedy(*kind)).collect();
    let count = windows(trials).count();
    let claim = format!("none of the {count} measured windows counts for {what}: all were disturbed");
    let found = rule.finding(claim, told.join("; "));
    let Some(((step, _), others)) = remedies.split_first() else { return found };
    let found = others.iter().fold(found.to_do(*step), |found, (other, _)| found.or(*other));
    let keys = remedies.iter().filter_map(|(_, key)| *key);
    let accepted = keys.map(|key| format!("Let such windows count: raise {key} in [limits]"));
    accepted.fold(found, Found::or)
}

/// What helps against a disturbance, and the key of `[limits]` that says how much of it is accepted.
fn remedy(kind: Check) -> Option<(&'static str, Option<&'static str>)> {
    Some(match kind {
        Check::CpuPressure => ("Repeat it on a machine where nothing else runs", Some("foreign_cpu_share")),
        Check::Steal => ("Repeat it on a machine with processors of its own", Some("steal_share")),
        Check::Throttled => ("Raise the CPU limit of the server", Some("throttled_share")),
        Check::Errors => ("Find out from the server's log why answers were wrong", Some("error_share")),
        Check::Mix => {
            ("Look at the scenario's weights and sessions, and for answers that end sessions", None)
        }
        Check::Operations => ("Send more requests, or mend the [extract] that the operation requires", None),
        Check::GeneratorLag => ("Leave the load generator a processor of its own", None),
        Check::Arrivals | Check::SentRate => ("Use a lower rate, or more connections and users", None),
        _ => return None,
    })
}

fn with_interval(value: &Estimate) -> String {
    match (value.low, value.high) {
        (Some(low), Some(high)) => format!("{:.0} [{low:.0}, {high:.0}]", value.estimate),
        _ => format!("{:.0}", value.estimate),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_texts_of_each_rule_name_its_thresholds() {
        let of_trials = OF_TRIALS.iter().flat_map(|rule| rule.mistakes());
        let mistakes: Vec<String> = of_trials
            .chain(BASELINE_REPLACED.mistakes())
            .chain(URL_ALONE.mistakes())
            .chain(UNCOMMITTED.mistakes())
            .collect();
        assert_eq!(mistakes, [""; 0]);
    }
}
