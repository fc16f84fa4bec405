//! Which finding of several readers stands first: the costliest, with what follows from it behind it.
//!
//! Readers measure in different units. A cost is a share of what the user has: of the memory limit, of the CPU time, of the time in which
//! the application ran. Each unit has a share from which on it matters ([`cost`]); what is that many times over counts as that much more.

mod cost;
mod rank;
mod relations;

pub use rank::rank;

use assay_kit::number::{bytes, grouped};
use assay_model::{
    Finding, HostRule, HostRuling, HostVerdict, MemoryReport, RuleId, Severity, WhyCost, WhyFinding,
    WhyReader, WhyReport,
};

/// Rules about counters of the whole machine since its boot: most of a count may be older than a process, and of other processes.
const SINCE_BOOT: [HostRule; 6] = [
    HostRule::AcceptOverflow,
    HostRule::SynQueue,
    HostRule::PacketsDropped,
    HostRule::ReceiveBudget,
    HostRule::ReceiveOnOneCpu,
    HostRule::Steal,
];

/// The finding of a log whose evidence lacks a name: a snapshot beside it has one.
const LEAK: &str = "live-set-grows";

/// The findings of all parts of an answer, unranked; `growth` is that of a record of memory.
pub fn gather(of: &WhyReport, growth: Option<Finding<RuleId>>) -> Vec<WhyFinding> {
    let mut all = Vec::new();
    all.extend(growth.map(|found| heard(WhyReader::Memory, found, None)));
    if let Some(report) = &of.memory {
        let of_one = |f: &Finding<RuleId>| heard(WhyReader::Memory, f.clone(), cost::of_memory(report, f));
        all.extend(report.findings.iter().map(of_one));
    }
    if let Some(report) = &of.gc {
        let held = of.memory.as_ref().and_then(holders);
        for found in &report.findings {
            let mut one = heard(WhyReader::Gc, found.clone(), cost::of_gc(report, found));
            one.finding.evidence.extend(held.clone().filter(|_| found.rule == LEAK));
            all.push(one);
        }
    }
    if let Some(report) = &of.time {
        all.extend(
            report.findings.iter().map(|f| heard(WhyReader::Time, f.clone(), cost::of_time(report, f))),
        );
    }
    all.extend(of.host.iter().flat_map(|report| broken(&report.rulings, of.pid)));
    for one in &mut all {
        one.cost = cost::of_ends(&one.finding).or(one.cost);
    }
    all
}

fn heard(reader: WhyReader, finding: Finding<RuleId>, cost: Option<WhyCost>) -> WhyFinding {
    WhyFinding { reader, finding, cost, stands_out: false, follows_from: None }
}

/// Rules that are broken: those on the machine, and on this process where it is one.
fn broken(rulings: &[HostRuling], pid: Option<u32>) -> impl Iterator<Item = WhyFinding> {
    let is_about = move |of: Option<u32>| pid.is_none() || of.is_none() || of == pid;
    let bad = rulings.iter().filter(move |of| of.verdict == HostVerdict::Bad && is_about(of.pid));
    bad.map(move |ruling| {
        let found = named(ruling);
        let is_older = pid.is_some() && SINCE_BOOT.contains(&ruling.finding.rule);
        // It stays in the answer, below all that concerns the process.
        let severity = if is_older { Severity::Note } else { found.severity };
        heard(WhyReader::Host, Finding { severity, ..found }, None)
    })
}

/// The finding under the name of its rule, with the fault and the value that was found.
fn named(ruling: &HostRuling) -> Finding<RuleId> {
    let of = ruling.finding.clone();
    let value = ruling.value.as_ref().map(|value| format!("found: {}", grouped(value)));
    Finding {
        rule: RuleId::of(of.rule.word()),
        claim: ruling.fault().into_owned(),
        severity: of.severity,
        evidence: value.into_iter().chain(of.evidence).collect(),
        at: of.at,
        known_from: of.known_from,
        source: of.source,
        effect: of.effect,
        resident_bytes: of.resident_bytes,
        gain_bytes: of.gain_bytes,
        cpu_ns: of.cpu_ns,
        is_at_least: of.is_at_least,
        change: of.change,
    }
}

/// What holds most of the live objects, where a mark was made: the evidence that a leak has a name.
fn holders(report: &MemoryReport) -> Option<String> {
    let live = report.jvm.as_ref()?.heap_live.as_ref()?;
    let holder = live.holders.first()?;
    let classes = holder.classes.first().map_or_else(String::new, |of| format!(", most of it {}", of.class));
    Some(format!(
        "the most live objects now hold: {} {}, {} of {}{classes}",
        holder.kind,
        holder.name,
        bytes(holder.bytes),
        bytes(live.live_bytes)
    ))
}

#[cfg(test)]
mod tests;
