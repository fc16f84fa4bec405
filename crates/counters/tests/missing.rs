//! Kernels that lack something: the figure is absent, never zero, and the account says why and what would give it.

use assay_counters::TimeGauge;
use assay_linux::{ProcRoot, SysRoot};
use assay_model::{Certainty, TimeReport, TimeRung};
use assay_testkit::FakeTree;

fn stat(tid: u32, start: u64, (user, system): (u64, u64), block_io: u64) -> String {
    format!(
        "{tid} (a b) c) S 1 7 7 0 -1 0 11 0 2 0 {user} {system} 0 0 20 0 2 0 {start} 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 17 0 0 {block_io} 0 0"
    )
}

/// A process 7 with threads 7 and 8, which has everything.
fn whole() -> FakeTree {
    let tree = FakeTree::with(&[
        ("proc/7/cgroup", "0::/shop\n"),
        ("proc/self/mountinfo", "31 23 0:28 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n"),
        ("proc/sys/kernel/task_delayacct", "1\n"),
        ("proc/sys/kernel/random/boot_id", "0-1-2\n"),
    ]);
    advance(&tree, 0);
    tree
}

/// Writes what there is after so many steps, in each of which thread 8 runs for 1 s, 0.25 s of it in the kernel, and waits for 0.5 s.
fn advance(tree: &FakeTree, step: u64) {
    let write = |path: &str, text: String| tree.write(path, text.as_bytes());
    write("proc/7/stat", stat(7, 50, (100 + 75 * step, 40 + 25 * step), 0));
    write("proc/7/task/7/stat", stat(7, 50, (60, 20), 0));
    write("proc/7/task/8/stat", stat(8, 60, (40 + 75 * step, 20 + 25 * step), 30 * step));
    write("proc/7/task/7/schedstat", "800000000 5 9\n".to_owned());
    let run = (600_000_000 + 1_000_000_000 * step, 500_000_000 * step);
    write("proc/7/task/8/schedstat", format!("{} {} {}\n", run.0, run.1, 10 + step));
    for tid in [7, 8] {
        let switches =
            format!("voluntary_ctxt_switches:\t{}\nnonvoluntary_ctxt_switches:\t{step}\n", 5 * step);
        write(&format!("proc/7/task/{tid}/status"), switches);
    }
    write(
        "sys/fs/cgroup/shop/cpu.stat",
        format!(
            "usage_usec {}\nnr_throttled {step}\nthrottled_usec {}\n",
            2_000_000 + 1_200_000 * step,
            7 * step
        ),
    );
    write(
        "proc/stat",
        format!("cpu  {} 0 50 900 0 0 1 {step} 0 0\ncpu0 1 0 5 90 0 0 1 0 0 0\n", 100 + 110 * step),
    );
}

/// The account of one step in a tree that was changed before it.
fn account(change: impl Fn(&FakeTree)) -> TimeReport {
    let tree = whole();
    change(&tree);
    let (proc, sys) = (ProcRoot::at(tree.path().join("proc")), SysRoot::at(tree.path().join("sys")));
    let mut gauge = TimeGauge::at(proc, &sys, 7).expect("a process");
    advance(&tree, 1);
    change(&tree);
    assert!(gauge.look().expect("readable"));
    gauge.report(None)
}

fn remove(tree: &FakeTree, path: &str) {
    let path = tree.path().join(path);
    let _ = if path.is_dir() { std::fs::remove_dir_all(path) } else { std::fs::remove_file(path) };
}

/// What is said of a figure that is not there.
fn left_out(report: &TimeReport, figure: &str) -> Option<(String, String)> {
    let found = report.left_out.iter().find(|left_out| left_out.figure == figure)?;
    assert!(!found.why.is_empty() && !found.enable.is_empty(), "{found:?}");
    Some((found.why.clone(), found.enable.clone()))
}

#[test]
fn a_kernel_that_has_everything_gives_every_figure_of_the_files() {
    let report = account(|_| {});
    assert_eq!(
        (report.process.cpu_ns, report.threads_cpu_ns, report.difference_ns),
        (1_000_000_000, 1_000_000_000, 0)
    );
    assert_eq!((report.process.user_ns, report.process.kernel_ns), (750_000_000, 250_000_000));
    let sums = report.roles[0].sums;
    assert_eq!(
        (sums.cpu_ns, sums.user_ns, sums.kernel_ns),
        (1_000_000_000, Some(750_000_000), Some(250_000_000))
    );
    assert_eq!((sums.run_delay_ns, sums.block_io_ns), (Some(500_000_000), Some(300_000_000)));
    // Thread 7 has not run, so that only its `schedstat` was read.
    assert_eq!((sums.voluntary_switches, sums.involuntary_switches), (Some(5), Some(1)));
    let group = report.cgroup.clone().expect("a group");
    assert_eq!(
        (group.path.as_str(), group.cpu_ns, group.others_cpu_ns),
        ("/shop", 1_200_000_000, 200_000_000)
    );
    assert_eq!((group.throttled_periods, group.throttled_ns, group.cpus_max), (Some(1), Some(7_000), None));
    let machine = &report.machine;
    assert_eq!((machine.cpus, machine.steal_ns), (Some(1), Some(10_000_000)));
    // In less time than a tick nothing is idle.
    assert!(machine.busy_ns.is_some_and(|busy_ns| busy_ns <= report.duration_ns), "{machine:?}");
    assert_eq!(report.groups[0].name, "a b) c");
    assert!(left_out(&report, "blocked on block devices").is_none());
    assert_eq!(report.problems, []);
}

#[test]
fn without_schedstat_time_comes_from_ticks_and_waiting_is_unknown() {
    let report = account(|tree| {
        remove(tree, "proc/7/task/7/schedstat");
        remove(tree, "proc/7/task/8/schedstat");
    });
    let sums = report.roles[0].sums;
    assert_eq!((sums.cpu_ns, sums.run_delay_ns), (1_000_000_000, None));
    let (why, enable) = left_out(&report, "waiting for a processor").expect("said");
    assert!(why.contains("schedstat") && enable.contains("CONFIG_SCHED_INFO"), "{why} {enable}");
    let of_threads =
        report.figures.iter().find(|figure| figure.figure == "CPU time of threads").expect("named");
    assert!(of_threads.from.contains("ticks"), "{of_threads:?}");
}

#[test]
fn one_thread_without_schedstat_makes_the_waiting_of_all_unknown() {
    let report = account(|tree| remove(tree, "proc/7/task/7/schedstat"));
    assert_eq!(report.roles[0].sums.run_delay_ns, None);
    assert!(left_out(&report, "waiting for a processor").is_some());
}

#[test]
fn delays_that_are_not_accounted_are_unknown_and_not_zero() {
    let report = account(|tree| tree.write("proc/sys/kernel/task_delayacct", b"0\n"));
    assert_eq!(report.roles[0].sums.block_io_ns, None);
    let (why, enable) = left_out(&report, "blocked on block devices").expect("said");
    assert!(
        why.contains("task_delayacct is 0") && enable == "sysctl -w kernel.task_delayacct=1",
        "{why} {enable}"
    );
}

#[test]
fn a_kernel_that_does_not_say_whether_it_accounts_delays_leaves_them_unknown() {
    let report = account(|tree| remove(tree, "proc/sys/kernel/task_delayacct"));
    assert_eq!(report.roles[0].sums.block_io_ns, None);
    let (why, enable) = left_out(&report, "blocked on block devices").expect("said");
    assert!(why.contains("does not tell") && enable.contains("5.14"), "{why} {enable}");
}

#[test]
fn without_control_groups_there_is_none() {
    let report = account(|tree| remove(tree, "proc/7/cgroup"));
    assert!(report.cgroup.is_none());
    assert!(left_out(&report, "control group").is_some_and(|(_, enable)| enable.contains("cpuacct")));
}

#[test]
fn a_group_that_does_not_count_throttling_leaves_it_unknown() {
    let report = account(|tree| tree.write("sys/fs/cgroup/shop/cpu.stat", b"usage_usec 5\n"));
    let group = report.cgroup.expect("a group");
    assert_eq!((group.cpu_ns, group.throttled_periods, group.throttled_ns), (0, None, None));
}

#[test]
fn a_group_with_a_limit_has_it() {
    let report = account(|tree| tree.write("sys/fs/cgroup/shop/cpu.max", b"150000 100000\n"));
    assert_eq!(report.cgroup.and_then(|group| group.cpus_max), Some(1.5));
}

#[test]
fn the_first_version_of_control_groups_counts_nanoseconds() {
    let report = account(|tree| {
        tree.write("proc/7/cgroup", b"2:cpuacct:/shop\n1:cpu:/shop\n");
        let mounts = "32 31 0:29 / /sys/fs/cgroup/cpu rw - cgroup cgroup rw,cpu\n33 31 0:30 / /sys/fs/cgroup/cpuacct rw - cgroup cgroup rw,cpuacct\n";
        tree.write("proc/self/mountinfo", mounts.as_bytes());
        tree.write("sys/fs/cgroup/cpuacct/shop/cpuacct.usage", b"77\n");
        tree.write("sys/fs/cgroup/cpu/shop/cpu.stat", b"nr_periods 1\nnr_throttled 3\nthrottled_time 9\n");
    });
    let group = report.cgroup.expect("a group");
    assert_eq!((group.cpu_ns, group.throttled_periods, group.throttled_ns), (0, Some(0), Some(0)));
}

#[test]
fn without_the_machine_s_figures_steal_and_busy_time_are_unknown() {
    let report = account(|tree| remove(tree, "proc/stat"));
    assert_eq!((report.machine.cpus, report.machine.busy_ns, report.machine.steal_ns), (None, None, None));
    assert!(left_out(&report, "the machine").is_some() && !report.problems.is_empty());
}

#[test]
fn a_kernel_without_steal_time_leaves_it_unknown() {
    let report = account(|tree| tree.write("proc/stat", b"cpu 1 0 5 90 0 0 1\ncpu0 1 0 5 90 0 0 1\n"));
    assert_eq!(report.machine.steal_ns, None);
}

#[test]
fn a_kernel_that_counts_no_switches_leaves_them_unknown() {
    let report = account(|tree| {
        tree.write("proc/7/task/7/status", b"Name:\tx\n");
        tree.write("proc/7/task/8/status", b"Name:\tx\n");
    });
    let sums = report.roles[0].sums;
    assert_eq!((sums.voluntary_switches, sums.involuntary_switches, sums.threads), (None, None, 2));
}

#[test]
fn the_time_blocked_that_the_kernel_does_not_write_is_unknown() {
    let short = "8 (x) S 1 7 7 0 -1 0 11 0 2 0 40 20 0 0 20 0 2 0 60\n";
    let report = account(|tree| {
        tree.write("proc/7/task/7/stat", short.replace("8 (x)", "7 (x)").as_bytes());
        tree.write("proc/7/task/8/stat", short.as_bytes());
    });
    assert_eq!(report.roles[0].sums.block_io_ns, None);
}

#[test]
fn cpu_time_without_a_tick_is_not_split() {
    let report = account(|tree| {
        tree.write("proc/7/task/8/stat", stat(8, 60, (40, 20), 0).as_bytes());
    });
    let sums = report.roles[0].sums;
    assert_eq!(
        (sums.cpu_ns, sums.user_ns, sums.kernel_ns, sums.kernel_share),
        (1_000_000_000, None, None, None)
    );
}

#[test]
fn a_thread_that_ends_counts_up_to_its_last_look_and_what_is_not_in_threads_is_stated() {
    let report = account(|tree| {
        if std::fs::read_to_string(tree.path().join("proc/7/task/8/schedstat"))
            .is_ok_and(|text| text.ends_with(" 11\n"))
        {
            remove(tree, "proc/7/task/8");
        }
    });
    assert_eq!((report.threads_ended, report.threads_cpu_ns, report.difference_ns), (1, 0, 1_000_000_000));
}

#[test]
fn a_number_that_a_new_thread_has_taken_over_is_another_thread() {
    let report = account(|tree| {
        if std::fs::read_to_string(tree.path().join("proc/7/task/8/schedstat"))
            .is_ok_and(|text| text.ends_with(" 11\n"))
        {
            tree.write("proc/7/task/8/stat", stat(8, 90, (3, 1), 0).as_bytes());
            tree.write("proc/7/task/8/schedstat", b"40000000 2 1\n");
        }
    });
    assert_eq!((report.threads_ended, report.threads_cpu_ns), (1, 40_000_000));
    assert_eq!(report.roles[0].sums.threads, 3, "the old one, the new one, and the first");
}

#[test]
fn a_process_of_which_only_files_are_known_has_ticks_and_no_roles() {
    let report = account(|_| {});
    let total = &report.figures[0];
    assert_eq!((total.rung, total.basis), (TimeRung::Procfs, Certainty::Known));
    assert!(total.from.contains("ticks") && report.process.cpu_resolution_ns == 20_000_000, "{total:?}");
    assert!(left_out(&report, "roles and Java names").is_some() && report.jvm.is_none());
}

#[test]
fn a_process_of_which_only_files_are_known_has_no_samples() {
    let report = account(|_| {});
    for figure in ["what the kernel did", "where in the code"] {
        let (why, enable) = left_out(&report, figure).expect("said");
        assert!(why.contains("live process") && enable.contains("live process"), "{why} {enable}");
    }
    assert_eq!(report.samples, None);
}

#[test]
fn a_process_that_is_gone_ends_the_account_and_one_that_never_was_is_an_error() {
    let tree = whole();
    let (proc, sys) = (ProcRoot::at(tree.path().join("proc")), SysRoot::at(tree.path().join("sys")));
    assert!(TimeGauge::at(proc.clone(), &sys, 9).expect_err("nobody").is_absent());
    let mut gauge = TimeGauge::at(proc, &sys, 7).expect("a process");
    remove(&tree, "proc/7");
    assert!(!gauge.look().expect("no error"));
    assert_eq!(gauge.report(Some(5.0)).looks, 1, "the report covers the looks that were taken");
}

#[test]
fn a_process_with_the_number_of_the_one_that_ended_is_not_taken_for_it() {
    let tree = whole();
    let (proc, sys) = (ProcRoot::at(tree.path().join("proc")), SysRoot::at(tree.path().join("sys")));
    let mut gauge = TimeGauge::at(proc, &sys, 7).expect("a process");
    tree.write("proc/7/stat", stat(7, 51, (9, 9), 0).as_bytes());
    assert!(!gauge.look().expect("no error"));
    assert_eq!(gauge.report(None).process.cpu_ns, 0);
}

#[test]
fn text_that_is_not_the_kernel_s_is_an_error_that_names_the_file() {
    let tree = whole();
    tree.write("proc/7/task/8/schedstat", b"many 1 2\n");
    let (proc, sys) = (ProcRoot::at(tree.path().join("proc")), SysRoot::at(tree.path().join("sys")));
    let error = TimeGauge::at(proc, &sys, 7).expect_err("not a number").to_string();
    assert!(error.contains("task/8/schedstat") && error.contains("run time"), "{error}");
}
