//! What programs in the kernel say of programs of which it is known what they do.

use crate::program::Program;
use assay_counters::{TRACED_COVERAGE, TimeGauge};
use assay_model::{KernelActivity, TimeReport, TimeSource, TimeTraced};
use assay_testkit::{Running, skip};
use rustix::thread::{CapabilitySet, capabilities, set_capabilities};
use std::collections::BTreeSet;
use std::fs;
use std::process::Command;
use std::time::Duration;

/// A program that is traced; `None` where the machine does not allow it.
fn traced_program() -> Option<(Program, TimeGauge)> {
    let program = Program::start();
    let mut gauge = TimeGauge::start(program.pid()).expect("our child");
    gauge.start_tracing().expect("our child");
    let report = gauge.report(None);
    if report.traced.is_none() {
        eprintln!("{:?}", report.left_out);
    }
    report.traced.is_some().then_some((program, gauge))
}

fn report(gauge: &mut TimeGauge) -> (TimeReport, TimeTraced) {
    assert!(gauge.read().expect("our child"), "it lives");
    let report = gauge.report(None);
    let traced = report.traced.clone().expect("it was there before");
    (report, traced)
}

fn kernel_share(traced: &TimeTraced) -> f64 {
    traced.kernel_ns as f64 / traced.cpu_ns as f64
}

/// By how much programs in the kernel may see more CPU time than the process's clock.
///
/// Folklore: where the kernel knows what the hypervisor takes (`CONFIG_PARAVIRT_TIME_ACCOUNTING`), that clock leaves it out; the one that
/// programs in the kernel read does not.
fn stolen(report: &TimeReport) -> f64 {
    report.machine.steal_ns.unwrap_or(0) as f64 / report.process.cpu_ns as f64
}

/// CPU time, times, waits, blocked time.
fn part(traced: &TimeTraced, activity: KernelActivity) -> (u64, u64, u64, u64) {
    let part = traced.kernel.iter().find(|part| part.activity == activity);
    part.map_or((0, 0, 0, 0), |part| (part.cpu_ns, part.count, part.waits, part.blocked_ns))
}

#[test]
fn user_and_kernel_of_a_known_program_lie_within_a_point() {
    let Some((mut program, mut gauge)) = traced_program() else { skip!("the machine allows no BPF") };
    let mut take = |what: &str| -> u64 { (0..6).map(|_| program.take(what)).sum() };
    let (user_ns, kernel_ns) = (take("user 200"), take("kernel 100"));
    let (report, traced) = report(&mut gauge);
    let known = kernel_ns as f64 / (user_ns + kernel_ns) as f64;
    let share = kernel_share(&traced);
    let coverage = traced.coverage.expect("CPU time");
    if !TRACED_COVERAGE.contains(&coverage) && 0.01 < stolen(&report) {
        skip!("the machine is busy: the hypervisor took {:.3} of what the program used", stolen(&report));
    }
    assert!((share - known).abs() < 0.01, "{share}, but {known} is known: {traced:?}");
    assert!((0.99..1.01 + stolen(&report)).contains(&coverage), "{coverage}, stolen {}", stolen(&report));
    assert!(report.figures.iter().any(|figure| figure.source == TimeSource::Tracing), "{:?}", report.figures);
}

#[test]
fn the_parts_of_each_role_add_up_and_are_joined() {
    let Some((mut program, mut gauge)) = traced_program() else { skip!("the machine allows no BPF") };
    for what in ["user 100", "threads 20", "send 100", "fault 100"] {
        program.take(what);
    }
    let (report, traced) = report(&mut gauge);
    for role in &traced.roles {
        assert_eq!(role.user_ns + role.kernel_ns, role.cpu_ns, "{role:?}");
        assert_eq!(role.parts.iter().map(|part| part.cpu_ns).sum::<u64>(), role.kernel_ns);
    }
    assert_eq!(traced.roles.iter().map(|role| role.cpu_ns).sum::<u64>(), traced.cpu_ns);
    assert_eq!(traced.kernel.iter().map(|part| part.cpu_ns).sum::<u64>(), traced.kernel_ns);
    let coverage = traced.cpu_ns as f64 / report.process.cpu_ns as f64;
    assert!((0.98..1.02 + stolen(&report)).contains(&coverage), "{coverage} {traced:?}");
    assert!(20 <= traced.threads, "ended threads are in it: {}", traced.threads);
}

#[test]
fn system_calls_are_counted_one_by_one_and_a_storm_of_them_is_found() {
    let Some((mut program, mut gauge)) = traced_program() else { skip!("the machine allows no BPF") };
    program.take("calls 2000000");
    let (report, traced) = report(&mut gauge);
    let call = traced.calls.iter().find(|call| call.name == "getppid").expect("made");
    assert_eq!((call.count, call.waits), (2_000_000, 0));
    let (_, crossings, ..) = part(&traced, KernelActivity::Crossing);
    assert!((2_000_000..2_001_000).contains(&crossings), "{crossings}");
    let share = kernel_share(&traced);
    assert!(0.8 < share, "a loop of nothing but calls is in the kernel: {share} {traced:?}");
    let found = report.findings.iter().find(|finding| finding.rule == "one-kind-of-call");
    assert!(
        found.is_some_and(|finding| finding.evidence_line().contains("getppid")),
        "{:?}",
        report.findings
    );
}

#[test]
fn what_a_program_does_has_its_activity() {
    let Some((mut program, mut gauge)) = traced_program() else { skip!("the machine allows no BPF") };
    let cases = [
        (
            "send 200",
            vec![KernelActivity::NetworkSend, KernelActivity::NetworkReceive, KernelActivity::Softirq],
        ),
        ("file 200", vec![KernelActivity::Files]),
        ("poll 200", vec![KernelActivity::Polling]),
        ("fault 200", vec![KernelActivity::PageFaults, KernelActivity::MemoryMappings]),
        ("futex 200", vec![KernelActivity::Futex]),
    ];
    for (what, activities) in cases {
        gauge.read().expect("our child");
        gauge.restart();
        program.take(what);
        let (_, traced) = report(&mut gauge);
        let own: u64 = activities.iter().map(|activity| part(&traced, *activity).0).sum();
        let crossing = part(&traced, KernelActivity::Crossing).0;
        let share = own as f64 / (traced.kernel_ns - crossing) as f64;
        assert!(0.8 < share, "{what}: {share} {:?}", traced.kernel);
        assert!(
            activities.iter().all(|activity| part(&traced, *activity).0 != 0),
            "{what}: {:?}",
            traced.kernel
        );
    }
}

#[test]
fn a_wait_for_a_lock_is_counted_with_its_time() {
    let Some((mut program, mut gauge)) = traced_program() else { skip!("the machine allows no BPF") };
    program.take("futex 200");
    let (report, traced) = report(&mut gauge);
    let (_, _, waits, blocked_ns) = part(&traced, KernelActivity::Futex);
    let switches: u64 = report.roles.iter().filter_map(|role| role.sums.voluntary_switches).sum();
    let counted: u64 = traced.roles.iter().map(|role| role.voluntary_switches).sum();
    assert!(switches.abs_diff(counted) <= switches / 100 + 5, "the kernel counts {switches}: {counted}");
    assert!(counted * 9 / 10 <= waits, "hand-overs wait in futex: {waits} of {counted}");
    // Two threads take turns: one of them always waits, and the first one waits for both to end.
    assert!(blocked_ns <= 4 * report.duration_ns && 0 < blocked_ns, "{blocked_ns} of {}", report.duration_ns);
    let delays: u64 = report.roles.iter().filter_map(|role| role.sums.run_delay_ns).sum();
    let counted: u64 = traced.roles.iter().map(|role| role.run_delay_ns).sum();
    assert!(delays.abs_diff(counted) <= delays / 50 + 2_000_000, "the kernel says {delays}: {counted}");
}

#[test]
fn faults_are_those_of_the_kernel_and_a_page_takes_longer_than_nothing() {
    let Some((mut program, mut gauge)) = traced_program() else { skip!("the machine allows no BPF") };
    program.take("fault 300");
    let (report, traced) = report(&mut gauge);
    let counted: u64 = traced.roles.iter().map(|role| role.faults_user + role.faults_kernel).sum();
    let minor = report.process.minor_faults;
    assert!(minor.abs_diff(counted) <= minor / 50 + 50, "the kernel counts {minor}: {counted}");
    let (ns, count, ..) = part(&traced, KernelActivity::PageFaults);
    assert!(100 < ns / count.max(1), "{ns} for {count}");
}

#[test]
fn without_the_right_to_it_the_report_says_so_and_the_rest_holds() {
    // Capabilities are a thread's own.
    let looked = std::thread::spawn(|| {
        let mut sets = capabilities(None).expect("our own");
        sets.effective.remove(CapabilitySet::BPF | CapabilitySet::SYS_ADMIN);
        set_capabilities(None, sets).expect("less is always allowed");
        let mut program = Program::start();
        let mut gauge = TimeGauge::start(program.pid()).expect("our child");
        gauge.start_tracing().expect("our child");
        let took_ns = program.take("user 100");
        gauge.read().expect("our child");
        (took_ns, gauge.report(None))
    });
    let (took_ns, report) = looked.join().expect("no panic");
    assert!(report.traced.is_none());
    let left_out = report.left_out.iter().find(|left_out| left_out.figure.contains("system calls"));
    let left_out = left_out.expect("listed");
    assert!(left_out.why.contains("CAP_BPF") && left_out.enable.contains("cap_bpf"), "{left_out:?}");
    assert!(took_ns <= report.process.cpu_ns + 1_000_000);
}

const TRACER: &str = "ASSAY_COUNTERS_TRACER";

/// A process that traces the one named and waits.
#[test]
fn as_tracer() {
    let Ok(pid) = std::env::var(TRACER) else { return };
    let mut gauge = TimeGauge::start(pid.parse().expect("a number")).expect("it lives");
    gauge.start_tracing().expect("it lives");
    println!("\ntracer ready");
    std::thread::sleep(Duration::from_secs(3600));
}

/// Programs in the kernel that a process has open.
fn programs_of(pid: u32) -> BTreeSet<u32> {
    let mut programs = BTreeSet::new();
    for file in fs::read_dir(format!("/proc/{pid}/fdinfo")).expect("it lives").flatten() {
        let text = fs::read_to_string(file.path()).unwrap_or_default();
        let numbers = text.lines().filter_map(|line| line.strip_prefix("prog_id:"));
        programs.extend(numbers.filter_map(|number| number.trim().parse::<u32>().ok()));
    }
    programs
}

#[test]
fn a_killed_tracer_leaves_no_program_in_the_kernel() {
    if traced_program().is_none() {
        skip!("the machine allows no BPF");
    }
    let program = Program::start();
    let mut command = Command::new(std::env::current_exe().expect("this test"));
    command.args(["--exact", "traced::as_tracer", "--nocapture", "--test-threads=1"]);
    command.env(TRACER, program.pid().to_string());
    let tracer = Running::start(&mut command, "tracer ready");
    let programs = programs_of(tracer.pid());
    assert!(10 < programs.len(), "{programs:?}");
    let pid = rustix::process::Pid::from_raw(tracer.pid().cast_signed()).expect("a child");
    rustix::process::kill_process(pid, rustix::process::Signal::KILL).expect("our child");
    drop(tracer);
    let left = || -> Vec<u32> {
        let loaded = aya::programs::loaded_programs().flatten().map(|program| program.id());
        loaded.filter(|id| programs.contains(id)).collect()
    };
    // The kernel frees them a little after the process is gone.
    for _ in 0..200 {
        if left().is_empty() {
            return;
        }
        std::thread::sleep(Duration::from_millis(50));
    }
    panic!("{:?} are still there", left());
}
