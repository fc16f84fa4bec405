//! The order of findings of several readers: a pure function of their costs, severities and relations.

use super::cost::matters;
use super::relations::cause;
use assay_model::{CostOf, Finding, KnownFrom, RuleId, Severity, WhyFinding};
use std::cmp::Reverse;

/// From this weight on a finding is an answer.
const STANDS_OUT: f64 = 1.0;

/// Puts findings into their order: the costliest cause first, behind it what follows from it. A rule that two readers apply counts once, where
/// its cost is known.
pub fn rank(heard: Vec<WhyFinding>) -> Vec<WhyFinding> {
    let mut all = heard;
    all.sort_by(order);
    let mut once: Vec<WhyFinding> = Vec::with_capacity(all.len());
    for one in all {
        if once.iter().all(|of| of.finding.rule != one.finding.rule || of.reader == one.reader) {
            once.push(one);
        }
    }
    relate(&mut once);
    let roots = once.iter().filter(|one| one.follows_from.is_none());
    let mut groups: Vec<Vec<WhyFinding>> = roots.map(|root| group(root, &once)).collect();
    // A cause weighs as much as the worst of what follows from it.
    groups.sort_by(|a, b| heaviest(b).total_cmp(&heaviest(a)).then_with(|| order(&a[0], &b[0])));
    groups.into_iter().flat_map(marked).collect()
}

fn relate(all: &mut [WhyFinding]) {
    let rules: Vec<RuleId> =
        all.iter().filter(|one| is_cause(one)).map(|one| one.finding.rule.clone()).collect();
    let found: Vec<&RuleId> = rules.iter().collect();
    for one in all.iter_mut() {
        one.follows_from = root(&one.finding.rule, &found).cloned();
    }
}

/// A note may be wrong about what it speaks of: a growing live set in a log of a start.
fn is_cause(one: &WhyFinding) -> bool {
    Severity::Warning <= one.finding.severity
}

/// The cause behind the cause, so that each group has one.
fn root<'a>(rule: &RuleId, found: &[&'a RuleId]) -> Option<&'a RuleId> {
    let mut at = cause(rule, found)?;
    // Relations have no circle; the bound is for those who add one.
    for _ in 0..found.len() {
        match cause(at, found) {
            Some(above) => at = above,
            None => break,
        }
    }
    Some(at)
}

/// A cause and what follows from it.
fn group(root: &WhyFinding, all: &[WhyFinding]) -> Vec<WhyFinding> {
    let is_first =
        all.iter().find(|one| one.finding.rule == root.finding.rule).is_some_and(|one| one == root);
    let follow = all.iter().filter(|one| is_first && one.follows_from.as_ref() == Some(&root.finding.rule));
    std::iter::once(root).chain(follow).cloned().collect()
}

fn marked(group: Vec<WhyFinding>) -> Vec<WhyFinding> {
    let heaviest = heaviest(&group);
    let of = |one: WhyFinding| {
        let weight = if one.follows_from.is_none() { heaviest } else { weight(&one) };
        WhyFinding { stands_out: STANDS_OUT <= weight, ..one }
    };
    group.into_iter().map(of).collect()
}

fn heaviest(group: &[WhyFinding]) -> f64 {
    group.iter().map(weight).fold(0.0, f64::max)
}

fn order(a: &WhyFinding, b: &WhyFinding) -> std::cmp::Ordering {
    let tie = |one: &WhyFinding| (Reverse(one.finding.severity), Finding::rank(&one.finding), one.reader);
    weight(b).total_cmp(&weight(a)).then_with(|| tie(a).cmp(&tie(b)))
}

/// How many times over a finding costs what matters. One without a figure weighs by its severity alone: an error just stands out.
fn weight(one: &WhyFinding) -> f64 {
    if one.finding.known_from == KnownFrom::Folklore {
        return 0.0;
    }
    let by_severity: f64 = match one.finding.severity {
        Severity::Error => STANDS_OUT,
        Severity::Warning => STANDS_OUT / 2.0,
        Severity::Note => 0.0,
    };
    match one.cost {
        Some(cost) if cost.of == CostOf::Process => f64::INFINITY,
        Some(cost) => by_severity.max(cost.share / matters(cost.of)),
        None => by_severity,
    }
}
