//! A program whose CPU time is known by its own clock: total, split, threads that ended, the control group.

use crate::program::Program;
use assay_counters::TimeGauge;
use assay_linux::{ExitListener, SysRoot};
use assay_model::{ThreadRole, TimeReport};
use assay_testkit::skip;
use rustix::thread::{CapabilitySet, capabilities, set_capabilities};
use std::fs;
use std::path::Path;

/// Standard errors of an interval of 95 %, and of one that a right figure leaves once in a thousand runs.
const WIDER: f64 = 3.29 / 1.96;

fn start() -> (Program, TimeGauge) {
    let program = Program::start();
    let gauge = TimeGauge::start(program.pid()).expect("our child");
    (program, gauge)
}

fn report(gauge: &mut TimeGauge) -> TimeReport {
    assert!(gauge.read().expect("our child"), "it lives");
    gauge.report(None)
}

#[track_caller]
fn is_within(figure: u64, known: u64, share: f64) {
    let off = figure.abs_diff(known) as f64;
    assert!(off <= share * known as f64, "{figure}, but {known} is known");
}

#[test]
#[ignore = "long: neighbours that take turns at the kernel's ticks skew what the ticks say"]
fn the_split_of_a_known_program_lies_within_its_interval() {
    let (mut program, mut gauge) = start();
    // Looks as `assay time` takes them: every half second at least.
    let mut take = |what: &str, times: u32| -> u64 {
        let each = (0..times).map(|_| {
            let took_ns = program.take(what);
            assert!(gauge.read().expect("our child"));
            took_ns
        });
        each.sum()
    };
    let user_ns = take("user 250", 12);
    let kernel_ns = take("kernel 250", 6);
    let report = report(&mut gauge);
    is_within(report.process.cpu_ns, user_ns + kernel_ns, 0.01);
    is_within(report.threads_cpu_ns, user_ns + kernel_ns, 0.01);
    let known = kernel_ns as f64 / (user_ns + kernel_ns) as f64;
    for share in [report.process.kernel_share, report.roles[0].sums.kernel_share] {
        let share = share.expect("ticks");
        let (low, high) = share.ends().expect("an interval");
        let room = if known < share.estimate { share.estimate - low } else { high - share.estimate };
        assert!((share.estimate - known).abs() <= room * WIDER, "{share:?}, but {known} is known");
        assert!(high - low < 0.15, "{share:?} tells nothing");
    }
}

#[test]
fn a_busy_loop_has_no_kernel_time_and_reading_zeros_hardly_user_time() {
    for (what, known) in [("user 1500", 0.0), ("kernel 1500", 1.0)] {
        let (mut program, mut gauge) = start();
        program.take(what);
        let share = report(&mut gauge).process.kernel_share.expect("ticks");
        assert!((share.estimate - known).abs() < 0.05, "{what}: {share:?}");
    }
}

fn adds_up(report: &TimeReport) {
    let sum = |of: &mut dyn Iterator<Item = u64>| of.sum::<u64>();
    let groups = sum(&mut report.groups.iter().map(|group| group.sums.cpu_ns));
    assert_eq!(groups, report.threads_cpu_ns);
    assert_eq!(sum(&mut report.roles.iter().map(|role| role.sums.cpu_ns)), report.threads_cpu_ns);
    let total = report.threads_cpu_ns.cast_signed() + report.difference_ns;
    assert_eq!(total.cast_unsigned(), report.process.cpu_ns);
    for role in &report.roles {
        let split = role.sums.user_ns.zip(role.sums.kernel_ns).map(|(user, kernel)| user + kernel);
        assert!(split.is_none_or(|split| split == role.sums.cpu_ns), "{role:?}");
    }
}

/// Whether this machine sends records of ended threads to us.
fn gets_exit_records() -> bool {
    match ExitListener::start(&SysRoot::default()) {
        Ok(_) => true,
        Err(denial) => {
            eprintln!("{denial}");
            false
        }
    }
}

#[test]
fn a_thousand_threads_that_came_and_went_between_two_readings_are_in_the_account() {
    if !gets_exit_records() {
        skip!("no records of ended threads");
    }
    let (mut program, mut gauge) = start();
    let told_ns = program.take("brief 1000");
    let report = report(&mut gauge);
    adds_up(&report);
    is_within(report.process.cpu_ns, told_ns, 0.01);
    let records = report.exit_records.expect("they come");
    assert_eq!((records.threads_unseen, records.has_lost), (1000, false), "{records:?}");
    let brief = report.groups.iter().find(|group| group.name == "brief-*").expect("a group");
    assert_eq!((brief.role, brief.sums.threads), (ThreadRole::Unknown, 1000));
    let delays = brief.sums.run_delay_ns.zip(brief.sums.voluntary_switches);
    assert!(delays.is_some(), "{brief:?}");
    let kernel = brief.sums.kernel_share.expect("some timer interrupts met them");
    assert!(kernel.low.is_some_and(|low| low < 0.1), "they hardly do more than loop: {kernel:?}");
    // Beyond its record a thread takes 20 to 60 µs to end.
    is_within(report.threads_cpu_ns, told_ns, 0.01);
}

#[test]
fn a_thread_that_was_seen_counts_until_its_end() {
    if !gets_exit_records() {
        skip!("no records of ended threads");
    }
    let (mut program, mut gauge) = start();
    let told_ns = program.take("threads 40");
    let report = report(&mut gauge);
    adds_up(&report);
    is_within(report.threads_cpu_ns, told_ns, 0.01);
    gauge.restart();
    let mut told_ns = program.take("begin 100");
    assert!(gauge.read().expect("our child"));
    told_ns += program.take("end 200");
    let report = self::report(&mut gauge);
    adds_up(&report);
    let records = report.exit_records.expect("they come");
    assert_eq!((records.threads_seen, records.threads_unseen), (1, 0), "{records:?}");
    assert!(200_000_000 <= records.cpu_ns, "it ran on after it was last seen: {records:?}");
    is_within(report.threads_cpu_ns, told_ns, 0.01);
}

#[test]
fn without_the_right_to_records_the_missing_amount_is_the_difference() {
    // Capabilities are a thread's own.
    let looked = std::thread::spawn(|| {
        let mut sets = capabilities(None).expect("our own");
        sets.effective.remove(CapabilitySet::NET_ADMIN);
        set_capabilities(None, sets).expect("less is always allowed");
        let (mut program, mut gauge) = start();
        let told_ns = program.take("threads 40");
        (told_ns, report(&mut gauge))
    });
    let (told_ns, report) = looked.join().expect("no panic");
    adds_up(&report);
    is_within(report.process.cpu_ns, told_ns, 0.01);
    let missing = report.difference_ns.unsigned_abs();
    assert!(report.difference_ns > 0 && report.difference_reading_ns < missing, "{report:?}");
    is_within(missing, told_ns, 0.05);
    assert!(report.exit_records.is_none());
    let left_out = report.left_out.iter().find(|left_out| left_out.figure.contains("last sample"));
    assert!(left_out.is_some_and(|of| of.why.contains("CAP_NET_ADMIN")), "{:?}", report.left_out);
}

#[test]
fn a_thread_that_started_meanwhile_counts_from_its_start_and_a_restart_from_the_last_look() {
    let (mut program, mut gauge) = start();
    program.take("stay 400");
    let first = report(&mut gauge);
    let stays = |report: &TimeReport| {
        let group = report.groups.iter().find(|group| group.name == "stays-*");
        group.map(|group| (group.role, group.sums.threads, group.sums.cpu_ns))
    };
    let (role, threads, cpu_ns) = stays(&first).expect("a group");
    assert_eq!((role, threads), (ThreadRole::Unknown, 1), "a process that is no JVM has no roles");
    is_within(cpu_ns, 400_000_000, 0.05);
    assert!(first.jvm.is_none() && first.left_out.iter().any(|left_out| left_out.figure.contains("roles")));
    gauge.restart();
    let user_ns = program.take("user 300");
    let second = report(&mut gauge);
    is_within(second.process.cpu_ns, user_ns, 0.02);
    // It may have gone to sleep a little after it told.
    assert!(
        stays(&second).is_some_and(|(_, threads, cpu_ns)| threads == 1 && cpu_ns < 1_000_000),
        "{second:?}"
    );
    assert!(
        first.monotonic_ns + first.duration_ns == second.monotonic_ns && second.readings == 2,
        "{second:?}"
    );
}

#[test]
fn switches_and_faults_are_those_of_the_kernel() {
    let (mut program, mut gauge) = start();
    program.take("kernel 10");
    gauge.read().expect("our child");
    gauge.restart();
    let before = fs::read_to_string(format!("/proc/{}/status", program.pid())).expect("our child");
    // The buffer is made anew, so that its 256 pages are faulted in.
    program.take("kernel 50");
    // Its main thread waits for another one.
    program.take("stay 10");
    let report = report(&mut gauge);
    assert!(256 <= report.process.minor_faults, "{report:?}");
    let sums = report.roles[0].sums;
    assert!(256 <= sums.minor_faults && sums.voluntary_switches.is_some_and(|n| 0 < n), "{sums:?}");
    assert!(before.contains("voluntary_ctxt_switches"));
}

/// A control group that is removed when dropped.
struct Group(std::path::PathBuf);

impl Group {
    fn make() -> Option<Group> {
        let path = Path::new("/sys/fs/cgroup/cpuacct").join(format!("assay-test-{}", std::process::id()));
        fs::create_dir(&path).ok().map(|()| Group(path))
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        let _ = fs::remove_dir(&self.0);
    }
}

#[test]
fn the_total_is_that_of_a_control_group_with_this_process_alone() {
    let Some(group) = Group::make() else { skip!("no cpuacct controller of version 1 that may be written") };
    {
        let mut program = Program::start();
        fs::write(group.0.join("cgroup.procs"), program.pid().to_string()).expect("root may move its child");
        let mut gauge = TimeGauge::start(program.pid()).expect("our child");
        program.take("user 1000");
        program.take("kernel 500");
        program.take("threads 20");
        let report = report(&mut gauge);
        let of_group = report.cgroup.expect("a group");
        assert!(of_group.path.starts_with("/assay-test-"), "{of_group:?}");
        is_within(report.process.cpu_ns, of_group.cpu_ns, 0.01);
    }
    // The kernel lets go of a member that has ended a little later.
    std::thread::sleep(std::time::Duration::from_millis(50));
}
