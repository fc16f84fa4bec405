//! Which finding stands first: what brings stops about stands above that there are stops, by the share of the stopped time that it explains.

use super::rule::{Found, Rule, Share};
use super::{collectors, full, jvm, parts, pauses, room, safepoints, young};
use assay_model::GcReport;

/// A cause that explains at least this part of the stopped time is as grave as its gravest effect; one that explains less keeps its severity.
const EXPLAINS: f64 = 0.3;

/// Of each rule whose findings are causes, the share of the stopped time that one explains.
static SHARES: &[&[Share]] = &[
    room::SHARES,
    full::SHARES,
    young::SHARES,
    parts::SHARES,
    jvm::SHARES,
    collectors::SHARES,
    safepoints::SHARES,
    pauses::SHARES,
];

/// What of the others: how a collector gets into trouble, and below that, that it is in trouble. Both are brought about by causes.
static MECHANISMS: &[&[&Rule]] = &[room::MECHANISMS, collectors::MECHANISMS, safepoints::MECHANISMS];
static SYMPTOMS: &[&[&Rule]] = &[full::SYMPTOMS, pauses::SYMPTOMS];

/// How near to a cause a finding is; the nearer the smaller.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Tier {
    Cause,
    Mechanism,
    Symptom,
}

/// Sorts findings: the gravest first; of those that are as grave, causes before what they bring about, and of these the one first that
/// explains most. A cause that explains much is as grave as the gravest of what it brings about.
pub(super) fn rank(report: &GcReport, found: &mut [Found]) {
    let brought_about = found.iter().filter(|one| tier(one) != Tier::Cause);
    let worst = brought_about.map(|one| one.severity).max();
    for one in found.iter_mut().filter(|one| tier(one) == Tier::Cause) {
        let explains = share(report, one).is_some_and(|share| EXPLAINS <= share);
        if let Some(worst) = worst.filter(|_| explains) {
            one.severity = one.severity.max(worst);
        }
    }
    found.sort_by(|a, b| {
        let shares = [a, b].map(|one| share(report, one).unwrap_or(0.0));
        b.severity.cmp(&a.severity).then(tier(a).cmp(&tier(b))).then(shares[1].total_cmp(&shares[0]))
    });
}

fn share(report: &GcReport, found: &Found) -> Option<f64> {
    let (_, share) = SHARES.iter().copied().flatten().find(|(rule, _)| rule.id == found.rule)?;
    Some(share(report))
}

fn tier(found: &Found) -> Tier {
    let is_of = |rules: &[&[&Rule]]| rules.iter().copied().flatten().any(|rule| rule.id == found.rule);
    match () {
        () if is_of(MECHANISMS) => Tier::Mechanism,
        () if is_of(SYMPTOMS) => Tier::Symptom,
        () => Tier::Cause,
    }
}
