//! Planted combinations of findings, and the order that they must have.

use super::{broken, rank};
use assay_model::Severity::{Error, Note, Warning};
use assay_model::{
    CostOf, Finding, HostRule, HostRuling, HostVerdict, KnownFrom, RuleId, Severity, WhyCost, WhyFinding,
    WhyReader,
};

fn heard(
    reader: WhyReader,
    rule: &'static str,
    severity: Severity,
    cost: Option<(CostOf, f64)>,
) -> WhyFinding {
    let finding = Finding::measured(RuleId::of(rule), severity, rule, "1 of 2").to_do("Do it");
    let cost = cost.map(|(of, share)| WhyCost { of, share });
    WhyFinding { reader, finding, cost, stands_out: false, follows_from: None }
}

fn memory(rule: &'static str, severity: Severity, cost: (CostOf, f64)) -> WhyFinding {
    heard(WhyReader::Memory, rule, severity, Some(cost))
}

fn time(rule: &'static str, share: f64) -> WhyFinding {
    heard(WhyReader::Time, rule, Warning, Some((CostOf::Cpu, share)))
}

fn gc(rule: &'static str, severity: Severity, share: f64) -> WhyFinding {
    heard(WhyReader::Gc, rule, severity, Some((CostOf::Stopped, share)))
}

fn host(rule: &'static str, severity: Severity) -> WhyFinding {
    heard(WhyReader::Host, rule, severity, None)
}

fn leak() -> WhyFinding {
    heard(WhyReader::Gc, "live-set-grows", Error, Some((CostOf::Process, 1.0)))
}

fn order(of: Vec<WhyFinding>) -> Vec<String> {
    rank(of).into_iter().map(|one| one.finding.rule.to_string()).collect()
}

fn standing_out(of: Vec<WhyFinding>) -> Vec<String> {
    rank(of).into_iter().filter(|one| one.stands_out).map(|one| one.finding.rule.to_string()).collect()
}

#[test]
fn costs_of_different_units_are_compared_by_how_much_of_each_matters() {
    // 9 % of the time is three times what matters, 25 % of the CPU time two and a half, 15 % of the limit one and a half.
    let planted = || {
        vec![
            memory("retained-by-malloc", Warning, (CostOf::MemoryLimit, 0.15)),
            time("busy-wait", 0.25),
            gc("pauses-long", Warning, 0.09),
        ]
    };
    assert_eq!(order(planted()), ["pauses-long", "busy-wait", "retained-by-malloc"]);
    let mut turned = planted();
    turned.reverse();
    assert_eq!(order(turned), order(planted()), "not by the order in which readers were asked");
    // Without a limit the same bytes end nothing.
    let without = vec![memory("retained-by-malloc", Warning, (CostOf::Rss, 0.15)), time("busy-wait", 0.12)];
    assert_eq!(standing_out(without), ["busy-wait"]);
}

#[test]
fn what_ends_the_process_stands_above_all_that_costs_it() {
    let planted = vec![time("busy-wait", 0.9), gc("pauses-long", Error, 0.5), leak(), host("steal", Warning)];
    assert_eq!(order(planted)[0], "live-set-grows");
    let killed = memory("killed-at-limit", Error, (CostOf::Process, 1.0));
    assert_eq!(order(vec![time("busy-wait", 0.9), killed])[0], "killed-at-limit");
}

#[test]
fn what_follows_from_a_cause_stands_behind_it_with_its_name() {
    let near = memory("near-limit", Error, (CostOf::MemoryLimit, 0.97));
    let killed = memory("killed-at-limit", Error, (CostOf::Process, 1.0));
    let grows = memory("memory-grows", Error, (CostOf::Process, 1.0));
    let ranked = rank(vec![near, time("busy-wait", 0.5), killed, grows]);
    let rules: Vec<&str> = ranked.iter().map(|one| one.finding.rule.as_str()).collect();
    assert_eq!(rules, ["memory-grows", "killed-at-limit", "near-limit", "busy-wait"]);
    let from: Vec<Option<&str>> =
        ranked.iter().map(|one| one.follows_from.as_ref().map(RuleId::as_str)).collect();
    assert_eq!(from, [None, Some("memory-grows"), Some("memory-grows"), None]);
}

/// More heap for a leak is wrong: the collector's time and the full collections are its effects, and have no step of their own.
#[test]
fn of_a_leak_no_finding_that_advises_more_heap_stands_alone() {
    let ranked = rank(vec![
        time("collector-time", 0.6),
        gc("full-gc", Error, 0.3),
        gc("throughput-low", Warning, 0.3),
        leak(),
        time("busy-wait", 0.2),
    ]);
    let alone: Vec<&str> =
        ranked.iter().filter(|one| one.follows_from.is_none()).map(|one| one.finding.rule.as_str()).collect();
    assert_eq!(alone, ["live-set-grows", "busy-wait"]);
    // A note on so short a log that a start looks the same explains nothing.
    let start = heard(WhyReader::Gc, "live-set-grows", Note, None);
    let ranked = rank(vec![start, time("collector-time", 0.6)]);
    assert!(ranked.iter().all(|one| one.follows_from.is_none()), "{ranked:?}");
    assert_eq!(ranked[0].finding.rule, "collector-time");
}

#[test]
fn a_cause_without_a_figure_weighs_as_much_as_what_follows_from_it() {
    let throttled = heard(WhyReader::Time, "gc-threads-throttled", Warning, Some((CostOf::Stopped, 0.4)));
    let ranked = rank(vec![time("busy-wait", 0.3), throttled, host("throttled", Error)]);
    let rules: Vec<&str> = ranked.iter().map(|one| one.finding.rule.as_str()).collect();
    assert_eq!(
        rules,
        ["throttled", "gc-threads-throttled", "busy-wait"],
        "the collector is starved by the quota"
    );
}

#[test]
fn nothing_stands_out_where_all_is_small_unpriced_or_folklore() {
    let said = WhyFinding {
        finding: Finding { known_from: KnownFrom::Folklore, ..host("smt", Error).finding },
        ..host("smt", Error)
    };
    let small = vec![
        memory("stale-stacks", Note, (CostOf::Rss, 0.02)),
        time("jdk-threads", 0.04),
        gc("pauses-long", Warning, 0.01),
        host("swappiness", Warning),
        host("gc-log", Note),
        said,
    ];
    assert_eq!(standing_out(small.clone()), [""; 0]);
    assert_eq!(rank(small).len(), 6, "they are listed all the same");
    assert_eq!(standing_out(vec![host("swap-used", Error)]), ["swap-used"], "an error needs no figure");
}

#[test]
fn a_rule_that_two_readers_apply_counts_once_where_its_cost_is_known() {
    let by_bytes = memory("malloc-arenas", Warning, (CostOf::MemoryLimit, 0.3));
    let ranked = rank(vec![host("malloc-arenas", Warning), by_bytes]);
    assert_eq!(ranked.iter().map(|one| one.reader).collect::<Vec<_>>(), [WhyReader::Memory]);
    let twice = rank(vec![time("fault-storm", 0.3), time("fault-storm", 0.2)]);
    assert_eq!(twice.len(), 2, "of two pools: both");
}

#[test]
fn a_counter_of_the_machine_since_boot_stands_below_what_concerns_the_process() {
    let ruling = |rule, pid| HostRuling {
        finding: Finding::measured(rule, Error, "it overflows", "14,138 per day"),
        fault: None,
        pid,
        program: None,
        verdict: HostVerdict::Bad,
        value: None,
        conflicts: Vec::new(),
        reads: Vec::new(),
    };
    let rulings = [
        ruling(HostRule::AcceptOverflow, None),
        ruling(HostRule::SwapUsed, None),
        ruling(HostRule::MallocArenas, Some(7)),
    ];
    let ranked = rank(broken(&rulings, Some(7)).collect());
    let last = ranked.last().expect("findings");
    assert_eq!((ranked.len(), last.finding.rule.as_str(), last.stands_out), (3, "accept-overflow", false));
    // Without a process the machine is the subject.
    let of_machine = rank(broken(&rulings, None).collect());
    assert!(of_machine.iter().all(|one| one.stands_out), "{of_machine:?}");
}
