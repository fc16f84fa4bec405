//! What the hosts of a merged run have in common, and whether the answer depends on them. Pure.

use crate::measured::Measured;
use crate::summary::measured;
use assay_model::{
    AcrossHosts, HostFacts, HostOfRun, HostRatio, Hosts, HostsVerdict, Metric, Plan, Trial, schema,
};
use assay_stats::{BETWEEN_ERROR, BetweenGroups, between_groups, compare_paired};
use std::collections::BTreeSet;

/// The hosts of the parts of a run, each with the blocks that it made, and every comparison of an asked metric across them.
pub fn hosts(plan: &Plan, trials: &[Trial], parts: &[(BTreeSet<u32>, &HostFacts)]) -> Hosts {
    let hosts = of_parts(parts);
    let metrics = plan.asked();
    let measured = measured(plan, &trials, &metrics);
    let mut across = Vec::new();
    for variant in &plan.variants {
        let Some(baseline) = &variant.baseline else { continue };
        let asked = metrics.iter().filter(|metric| !plan.is_set_by_load(&metric.id));
        across.extend(asked.filter_map(|metric| {
            across_hosts(&hosts, &measured, (metric, &variant.name, baseline), plan.seed)
        }));
    }
    Hosts { schema: schema::HOSTS.to_owned(), hosts, across }
}

/// Each host once, by the first of its blocks. A machine that was started again counts as another one: nothing shows that it is the same.
fn of_parts(parts: &[(BTreeSet<u32>, &HostFacts)]) -> Vec<HostOfRun> {
    let mut hosts: Vec<HostOfRun> = Vec::new();
    for (blocks, facts) in parts {
        let is_same = |host: &&mut HostOfRun| {
            facts.boot_id.is_some() && host.facts.boot_id == facts.boot_id && is_alike(&host.facts, facts)
        };
        match hosts.iter_mut().find(is_same) {
            Some(host) => host.blocks.extend(blocks),
            None => {
                hosts.push(HostOfRun { blocks: blocks.iter().copied().collect(), facts: (*facts).clone() });
            }
        }
    }
    hosts.iter_mut().for_each(|host| host.blocks.sort_unstable());
    hosts.sort_by_key(|host| host.blocks.first().copied());
    hosts
}

/// Whether both parts had the same share of the machine: containers of one host may differ in that.
fn is_alike(one: &HostFacts, other: &HostFacts) -> bool {
    one.allowed_processors == other.allowed_processors
        && one.cgroup_cpu_limit == other.cgroup_cpu_limit
        && one.cgroup_memory_limit_bytes == other.cgroup_memory_limit_bytes
}

/// Nothing where fewer than two hosts have a ratio.
fn across_hosts(
    hosts: &[HostOfRun],
    measured: &Measured<'_>,
    (metric, variant, baseline): (&Metric, &str, &str),
    seed: u64,
) -> Option<AcrossHosts> {
    let values = |name: &str| measured.get(name).and_then(|metrics| metrics.get(&*metric.id));
    let (own, base) = (values(variant)?, values(baseline)?);
    let (mut ratios, mut groups) = (Vec::new(), Vec::new());
    for (host, number) in hosts.iter().zip(1..) {
        let pairs: Vec<(f64, f64)> =
            host.blocks.iter().filter_map(|block| Some((*own.get(block)?, *base.get(block)?))).collect();
        // Fails only without pairs, or where 0 has no ratio.
        let Ok(paired) = compare_paired(&pairs, seed) else { continue };
        ratios.push(HostRatio { host: number, blocks: paired.blocks, ratio: paired.ratio });
        groups.push(assay_stats::log_ratios(&pairs).unwrap_or_default());
    }
    if ratios.len() < 2 {
        return None;
    }
    let found = between_groups(&groups, seed);
    let percent = |deviation: fn(&BetweenGroups) -> f64| {
        found.as_ref().map(|found| (deviation(found).exp() - 1.0) * 100.0)
    };
    Some(AcrossHosts {
        metric: metric.id.to_string(),
        variant: variant.to_owned(),
        baseline: baseline.to_owned(),
        ratios,
        within_percent: percent(|found| found.within_deviation),
        between_percent: percent(|found| found.between_deviation),
        verdict: match found.and_then(|found| found.share_by_chance) {
            None => HostsVerdict::TooFewBlocks,
            Some(share) if share < BETWEEN_ERROR => HostsVerdict::Differs,
            Some(_) => HostsVerdict::NoDifferenceShown,
        },
    })
}
