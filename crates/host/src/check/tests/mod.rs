//! Each rule has a machine on which it is bad and one on which it is good; where nothing can be read it is unknown; where vendors differ
//! each has a machine as it wants it; clean machines have no bad verdict. A machine's files lie in a folder and are read from there. A
//! rule without these machines fails the tests.

mod cases;
mod contradictions;
mod machine;
mod tree;

use super::{check, compare, rules};
use assay_model::{
    FileRead, FlagOrigin, HostGroup, HostJvm, HostRule, HostRuling, HostSnapshot, HostVerdict, KnownFrom,
};
use assay_testkit::assert_one_step_each;
use cases::{CASES, Change};
use contradictions::{CONTRADICTIONS, Says};
use machine::{GIB, arm, file, flag, group, proxy, two_nodes, virtual_machine};
use std::collections::{BTreeMap, BTreeSet};

fn changed(change: Change) -> HostSnapshot {
    let mut snapshot = virtual_machine();
    change(&mut snapshot);
    snapshot
}

fn verdict(snapshot: &HostSnapshot, rule: HostRule) -> HostRuling {
    check(&tree::read_back(snapshot))
        .rulings
        .into_iter()
        .find(|ruling| ruling.finding.rule == rule)
        .expect("each rule says something")
}

#[test]
fn each_rule_is_bad_on_its_bad_machine_and_good_on_its_good_one() {
    let covered: BTreeSet<HostRule> = CASES.iter().map(|(rule, ..)| *rule).collect();
    assert_eq!(covered, HostRule::ALL.iter().copied().collect());
    for (rule, bad, good) in CASES {
        let ruling = verdict(&changed(*bad), *rule);
        assert_eq!(ruling.verdict, HostVerdict::Bad, "{ruling:?}");
        assert_one_step_each(ruling.finding.ways());
        let fault = ruling.fault.as_deref().expect("what is wrong");
        assert!(!fault.contains('{') && fault != ruling.finding.claim, "{fault}");
        let change = ruling.finding.change.expect("a bad verdict says what to do");
        assert!(!change.undo.is_some_and(|undo| undo.contains("{value}")), "{rule}");
        let ruling = verdict(&changed(good.unwrap_or(|_| {})), *rule);
        assert_eq!(ruling.verdict, HostVerdict::Good, "{ruling:?}");
        assert!(ruling.finding.change.is_none() && ruling.value.is_some(), "{rule}");
    }
}

#[test]
fn a_counter_since_boot_is_judged_by_its_rate_and_the_fault_says_how_many_since_when() {
    let of = |overflows: u64, uptime_s: &str| {
        let mut snapshot = virtual_machine();
        file(
            &mut snapshot,
            "/proc/net/netstat",
            &format!("TcpExt: A ListenOverflows\nTcpExt: 0 {overflows}\n"),
        );
        file(&mut snapshot, "/proc/uptime", uptime_s);
        verdict(&snapshot, HostRule::AcceptOverflow)
    };
    let (days, hours) = ("3542400.5 7000000.1\n", "10800.0 1.0\n");
    let bad = of(8614, days);
    let fault = "The accept queue overflowed 8,614 times since boot, 41 days";
    assert_eq!((bad.verdict, bad.fault.as_deref()), (HostVerdict::Bad, Some(fault)), "{bad:?}");
    assert!(bad.finding.evidence_line().contains("210 per day; good: at most 24 per day"), "{bad:?}");
    let [few, first_hours] = [of(450, days), of(7, hours)];
    assert_eq!(
        (few.verdict, first_hours.verdict),
        (HostVerdict::Good, HostVerdict::Good),
        "{few:?} {first_hours:?}"
    );
    assert!(few.fault.is_none());
    assert_eq!(
        of(700, hours).fault.as_deref(),
        Some("The accept queue overflowed 700 times since boot, 3 hours")
    );
}

#[test]
fn packets_are_dropped_where_they_are_many_of_all() {
    let of = |dropped: u64| {
        let mut snapshot = virtual_machine();
        file(
            &mut snapshot,
            "/proc/net/softnet_stat",
            &format!("{:08x} {dropped:08x} 00000000\n", 152_018_676),
        );
        verdict(&snapshot, HostRule::PacketsDropped)
    };
    assert_eq!((of(450).verdict, of(4500).verdict), (HostVerdict::Good, HostVerdict::Bad));
    assert!(of(450).finding.evidence_line().contains("0.0003 %; good: at most 0.001 %"), "{:?}", of(450));
}

#[test]
fn what_cannot_be_read_is_unknown_and_never_good() {
    for (rule, bad, _) in CASES {
        let mut snapshot = changed(*bad);
        for read in snapshot.files.values_mut() {
            *read = FileRead::Unreadable("permission denied".to_owned());
        }
        let HostJvm { pid, program, .. } = snapshot.jvms[0].clone();
        snapshot.jvms[0] = HostJvm { pid, program, ..HostJvm::default() };
        for proxy in &mut snapshot.proxies {
            proxy.directives = None;
        }
        let ruling = verdict(&snapshot, *rule);
        assert_eq!(ruling.verdict, HostVerdict::Unknown, "{ruling:?}");
    }
}

#[test]
fn a_file_that_a_snapshot_does_not_have_is_unknown_too() {
    let snapshot = HostSnapshot { files: BTreeMap::new(), ..virtual_machine() };
    let good = check(&snapshot).rulings.into_iter().filter(|ruling| ruling.verdict == HostVerdict::Good);
    let from_files =
        good.filter(|ruling| !ruling.reads.is_empty() && ruling.finding.rule != HostRule::ThreadStackSize);
    assert_eq!(from_files.map(|ruling| ruling.finding.rule).collect::<Vec<_>>(), []);
}

/// Machines on which nothing is wrong: the virtual machine above, one with two nodes, a POWER machine, one on Arm, a container.
#[test]
fn clean_machines_have_no_bad_verdict() {
    let clean: [Change; 5] = [
        |_| {},
        |s| {
            two_nodes(s, "0-7");
            file(s, "/proc/sys/kernel/numa_balancing", "0\n");
            file(s, "/sys/devices/system/cpu/smt/control", "on\n");
            file(s, "/sys/devices/system/clocksource/clocksource0/current_clocksource", "tsc\n");
            file(s, "/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor", "performance\n");
            file(s, "/proc/softirqs", "NET_RX: 100000 100000 100000 100000\n");
            file(s, "/sys/class/net/eth0/queues/rx-0/rps_cpus", "00ff\n");
            file(s, "/sys/class/net/eth0/device/numa_node", "0\n");
        },
        |s| {
            s.provenance.architecture = "powerpc64le".to_owned();
            file(s, "/sys/devices/system/cpu/dscr_default", "0\n");
            file(s, "/sys/devices/system/cpu/smt/control", "8\n");
            file(s, "/sys/devices/system/clocksource/clocksource0/current_clocksource", "timebase\n");
            file(
                s,
                "/proc/meminfo",
                "MemTotal: 25165824 kB\nMemAvailable: 20000000 kB\nHugePages_Total: 2048\nHugePages_Free: 0\n",
            );
            flag(s, "UseLargePages", "true", FlagOrigin::User);
            file(s, "/proc/42/smaps_rollup", "Private_Hugetlb: 4194304 kB\n");
        },
        arm,
        |s| {
            *group(s) = HostGroup {
                cpus: Some(2.0),
                memory_bytes: Some(6 * GIB),
                throttled_ns: Some(0),
                cpu_ns: Some(1_000_000_000),
                threads: Some(50),
                threads_max: Some(4096),
            };
            s.proxies = vec![proxy(&[
                ("worker_connections", "16384"),
                ("worker_rlimit_nofile", "81920"),
                ("keepalive_requests", "10000"),
                ("access_log", "off"),
                ("upstream", "shop"),
                ("keepalive", "1000"),
                ("proxy_pass", "http://shop"),
            ])];
        },
    ];
    for change in clean {
        let rulings = check(&tree::read_back(&changed(change))).rulings;
        let bad: Vec<&HostRuling> =
            rulings.iter().filter(|ruling| ruling.verdict == HostVerdict::Bad).collect();
        assert!(bad.is_empty(), "{bad:#?}");
    }
}

/// A value that a vendor recommends is never called bad without a word of that vendor.
#[test]
fn where_vendors_differ_the_verdict_says_so() {
    let differ: BTreeSet<HostRule> =
        rules().iter().filter(|rule| !rule.conflicts.is_empty()).map(|rule| rule.id).collect();
    let covered: BTreeSet<HostRule> = CONTRADICTIONS.iter().map(|(rule, ..)| *rule).collect();
    assert_eq!(covered, differ, "each rule with `conflicts` has its machines in contradictions.rs");
    for rule in &differ {
        let of_rule = CONTRADICTIONS.iter().filter(|(of, ..)| of == rule);
        let vendors: BTreeSet<&str> = of_rule.map(|(_, vendor, ..)| *vendor).collect();
        assert!(2 <= vendors.len(), "{rule}: who contradicts whom?");
    }
    for (rule, vendor, says, change) in CONTRADICTIONS {
        let ruling = verdict(&changed(*change), *rule);
        match says {
            Says::Good => assert_eq!(ruling.verdict, HostVerdict::Good, "{vendor}: {ruling:?}"),
            Says::BadAndNamed => {
                assert_eq!(ruling.verdict, HostVerdict::Bad, "{vendor}: {ruling:?}");
                assert!(ruling.conflicts.iter().any(|text| text.contains(vendor)), "{vendor}: {ruling:?}");
            }
        }
    }
}

#[test]
fn folklore_never_stands_above_what_is_known_better() {
    let snapshot = changed(|s| {
        for (_, bad, _) in CASES {
            bad(s);
        }
    });
    let rulings = check(&snapshot).rulings;
    let bad: Vec<&HostRuling> =
        rulings.iter().take_while(|ruling| ruling.verdict == HostVerdict::Bad).collect();
    let first = bad
        .iter()
        .position(|ruling| ruling.finding.known_from == KnownFrom::Folklore)
        .expect("one is folklore");
    assert!(20 < first && bad[first..].iter().all(|ruling| ruling.finding.known_from == KnownFrom::Folklore));
    assert!(bad[..first].is_sorted_by_key(|ruling| std::cmp::Reverse(ruling.finding.severity)));
}

#[test]
fn two_snapshots_differ_in_settings_and_verdicts_and_not_in_counters() {
    let (before, after) = (
        virtual_machine(),
        changed(|s| {
            file(s, "/proc/sys/net/core/somaxconn", "128\n");
            file(s, "/proc/sys/vm/swappiness", "10\n");
            file(s, "/proc/sys/fs/file-nr", "2001 0 2000000\n");
            file(s, "/proc/loadavg", "0.1 0.1 0.1 1/300 4243\n");
            s.provenance.kernel = Some("6.19.0".to_owned());
        }),
    );
    let comparison = compare(&before, &after);
    let settings: Vec<&str> = comparison.settings.iter().map(|change| change.name.as_str()).collect();
    assert_eq!(settings, ["/proc/sys/net/core/somaxconn", "/proc/sys/vm/swappiness"]);
    assert_eq!(
        comparison.rulings.iter().map(|change| change.rule).collect::<Vec<_>>(),
        [HostRule::AcceptQueue]
    );
    assert_eq!(comparison.machine.len(), 1);
    assert_eq!(compare(&before, &before).settings, []);
}

#[test]
fn a_snapshot_judged_elsewhere_gives_the_same_report() {
    let snapshot = virtual_machine();
    let stored = serde_json::to_string(&snapshot).expect("it is written");
    let read: HostSnapshot = serde_json::from_str(&stored).expect("it is read");
    assert_eq!(check(&read), check(&snapshot));
}
