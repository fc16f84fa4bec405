//! Gauges of disturbance over two states of a fake machine, and on this one.

use assay_host::{HostGauge, HostReading, host_facts, provenance};
use assay_linux::{CgroupThrottling, CpuTicks, MachineCpu, ProcRoot, SysRoot, process_cpu};
use assay_testkit::FakeTree;
use std::process::Command;

/// Two processors, after so many ticks of 10 ms of each kind.
fn reading(seconds: u64, idle: u64, steal: u64) -> HostReading {
    let all = CpuTicks { idle, steal: Some(steal), ..CpuTicks::default() };
    HostReading {
        monotonic_ns: seconds * 1_000_000_000,
        cpu_some_us: Some(seconds * 250_000),
        cpu: Some(MachineCpu { all, each: vec![CpuTicks::default(); 2] }),
        throttling: Some(CgroupThrottling { periods: seconds, throttled_ns: seconds * 20_000_000 }),
    }
}

#[test]
fn what_is_neither_idle_nor_stolen_nor_ours_is_foreign() {
    // Ten seconds of two processors are 2,000 ticks: 900 idle, 100 stolen, so 10 s of CPU time were used.
    let interval = reading(20, 1900, 150).since(&reading(10, 1000, 50));
    assert_eq!(
        (interval.duration_ns, interval.cpus, interval.busy_ns),
        (10_000_000_000, Some(2), Some(10_000_000_000))
    );
    assert_eq!(interval.steal_share, Some(0.05));
    assert_eq!(interval.cpu_some_share, Some(0.25));
    assert_eq!((interval.throttled_share, interval.throttled_periods), (Some(0.01), Some(10)));
    assert_eq!(interval.foreign_cpu_share(7_000_000_000), Some(0.15));
}

#[test]
fn rounding_does_not_make_foreign_time_negative() {
    assert_eq!(
        reading(20, 1900, 150).since(&reading(10, 1000, 50)).foreign_cpu_share(11_000_000_000),
        Some(0.0)
    );
}

#[test]
fn a_gauge_that_is_missing_is_absent_and_the_others_stay() {
    let mut later = reading(20, 1900, 150);
    later.cpu_some_us = None;
    let interval = later.since(&reading(10, 1000, 50));
    assert_eq!((interval.cpu_some_share, interval.steal_share), (None, Some(0.05)));
    later.cpu = None;
    later.cpu_some_us = Some(5_000_000);
    let interval = later.since(&reading(10, 1000, 50));
    assert_eq!((interval.cpu_some_share, interval.steal_share, interval.busy_ns), (Some(0.25), None, None));
    assert_eq!(interval.foreign_cpu_share(0), None);
    // Throttling does not need the processors, but is a share of their time.
    assert_eq!((interval.throttled_share, interval.throttled_periods), (None, Some(10)));
}

#[test]
fn a_processor_that_came_or_went_makes_the_interval_unknown() {
    let mut later = reading(20, 1900, 150);
    later.cpu.as_mut().expect("read").each.pop();
    assert_eq!(later.since(&reading(10, 1000, 50)).busy_ns, None);
}

#[test]
fn readings_of_the_same_moment_have_no_shares() {
    let interval = reading(10, 1000, 50).since(&reading(10, 1000, 50));
    assert_eq!(
        (interval.duration_ns, interval.cpu_some_share, interval.foreign_cpu_share(0)),
        (0, None, None)
    );
}

#[test]
fn gauges_that_the_machine_lacks_are_named_once() {
    let tree = FakeTree::with(&[("stat", "cpu  4 3 2 1 5 6 7 8 9 10\ncpu0 4 3 2 1 5 6 7 8 9 10\n")]);
    let gauge = HostGauge::at(ProcRoot::at(tree.path()), &SysRoot::at(tree.path()));
    let named: Vec<&str> = gauge.problems().iter().map(|p| p.about.as_str()).collect();
    assert_eq!(named, ["/proc/pressure/cpu", "cpu.stat of the control group"]);
    let reading = gauge.read();
    assert_eq!((reading.cpu_some_us, reading.throttling), (None, None));
    assert_eq!(reading.cpu.expect("there").all.steal, Some(8));
}

#[test]
fn on_this_machine_busy_time_covers_what_this_process_burned() {
    let gauge = HostGauge::new();
    let ours = || process_cpu(std::process::id()).expect("this process").total_ns;
    let (before, before_ns) = (gauge.read(), ours());
    while ours() < before_ns + 500_000_000 {
        std::hint::spin_loop();
    }
    let (after, after_ns) = (gauge.read(), ours());
    let interval = after.since(&before);
    let busy_ns = interval.busy_ns.expect("/proc/stat");
    // Ticks of 10 ms are rounded for each processor; steal is taken out of the machine's time, not of ours.
    let stolen_ns = interval.steal_share.unwrap_or(0.0)
        * interval.duration_ns as f64
        * f64::from(interval.cpus.unwrap_or(1));
    let rounding_ns = 20_000_000 * u64::from(interval.cpus.expect("a count"));
    assert!(
        after_ns - before_ns <= busy_ns + rounding_ns + stolen_ns as u64,
        "{} {busy_ns}",
        after_ns - before_ns
    );
    let foreign = interval.foreign_cpu_share(after_ns - before_ns).expect("derivable");
    assert!((0.0..=1.0).contains(&foreign), "{foreign}");
}

#[test]
fn what_another_process_burns_is_foreign() {
    let gauge = HostGauge::new();
    let before = gauge.read();
    let mut burner = Command::new("sh").args(["-c", "while :; do :; done"]).spawn().expect("sh runs");
    let mut burned_ns = 0;
    while burned_ns < 400_000_000 {
        burned_ns = process_cpu(burner.id()).expect("our child").total_ns;
        std::thread::yield_now();
    }
    let interval = gauge.read().since(&before);
    burner.kill().and_then(|()| burner.wait()).expect("our child");
    let cpus = interval.cpus.expect("a count");
    let machine_ns = interval.duration_ns as f64 * f64::from(cpus);
    let foreign_ns = interval.foreign_cpu_share(0).expect("derivable") * machine_ns;
    let stolen_ns = interval.steal_share.unwrap_or(0.0) * machine_ns;
    assert!(burned_ns as f64 <= foreign_ns + stolen_ns + 20e6 * f64::from(cpus), "{burned_ns} {interval:?}");
}

#[test]
fn facts_of_this_machine_are_there_or_absent_with_a_problem() {
    let facts = host_facts(&ProcRoot::default(), &SysRoot::default(), "0.1.0", Vec::new(), Vec::new());
    assert_eq!(facts.problems, []);
    assert_eq!(facts.provenance, provenance(&ProcRoot::default(), "0.1.0"));
    assert!(facts.provenance.memory_bytes.is_some() && facts.provenance.kernel.is_some());
}

#[test]
fn a_fake_machine_without_files_has_no_facts_but_problems() {
    let tree = FakeTree::with(&[]);
    let facts =
        host_facts(&ProcRoot::at(tree.path()), &SysRoot::at(tree.path()), "0.1.0", Vec::new(), Vec::new());
    assert_eq!(
        (facts.provenance.memory_bytes, facts.provenance.kernel, facts.hypervisor),
        (None, None, None)
    );
    assert_eq!((facts.cgroup_cpu_limit, facts.cpu_pressure_some_percent), (None, None));
    let sources: Vec<&str> = facts.problems.iter().filter_map(|p| p.about.rsplit('/').next()).collect();
    assert_eq!(sources, ["meminfo", "cpuinfo", "osrelease", "boot_id"]);
}
