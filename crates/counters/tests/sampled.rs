//! Samples of programs of which it is known what they do: user mode and kernel, and what the kernel does.

use crate::observed::observed;
use crate::program::Program;
use assay_counters::TimeGauge;
use assay_model::{CodePlace, KernelActivity, TimeReport, TimeSamples};
use assay_testkit::skip;

/// Standard errors of an interval that a right figure leaves once in a thousand runs.
const ERRORS: f64 = 3.29;
/// The same as a multiple of those of an interval of 95 %.
const WIDER: f64 = ERRORS / 1.96;

/// Has a program do this, sampled, and gives the report and the CPU time of each by the program's own clock. `None` where the machine
/// does not let sample.
fn sampled(what: &[String]) -> Option<(TimeReport, Vec<u64>)> {
    let program = Program::start();
    let mut gauge = TimeGauge::start(program.pid()).expect("our child");
    gauge.start_sampling().expect("our child");
    let (program, took) = observed(&mut gauge, program, what.to_vec());
    let report = gauge.report(None);
    drop(program);
    if report.samples.is_none() {
        let why = report.left_out.iter().find(|left_out| left_out.figure == "what the kernel did");
        eprintln!("{why:?}");
    }
    report.samples.is_some().then_some((report, took))
}

fn share(samples: &TimeSamples, activity: KernelActivity) -> f64 {
    let part = samples.kernel.iter().find(|part| part.activity == Some(activity));
    let kernel: u64 = samples.kernel.iter().map(|part| part.samples).sum();
    part.map_or(0.0, |part| part.samples as f64) / kernel as f64
}

#[test]
fn user_and_kernel_of_a_known_program_lie_within_two_points_or_the_interval() {
    let tasks: Vec<String> = (0..8).flat_map(|_| ["user 500", "kernel 250"]).map(str::to_owned).collect();
    let Some((report, took)) = sampled(&tasks) else { skip!("the machine does not let sample") };
    let samples = report.samples.as_ref().expect("samples");
    let kernel_ns: u64 = took.iter().skip(1).step_by(2).sum();
    let known = kernel_ns as f64 / took.iter().sum::<u64>() as f64;
    let share = samples.kernel_share.expect("samples");
    let (low, high) = share.ends().expect("an interval");
    let room = if known < share.estimate { share.estimate - low } else { high - share.estimate };
    let off = (share.estimate - known).abs();
    assert!(off <= 0.02 || off <= room * WIDER, "{share:?}, but {known} is known");
    assert!(high - low < 0.08, "{share:?} tells nothing");
    let coverage = samples.coverage.expect("CPU time");
    assert!((0.9..1.1).contains(&coverage) && samples.lost == 0, "{coverage} {}", samples.lost);
    assert!(samples.user.iter().any(|part| part.place == Some(CodePlace::Program)), "{:?}", samples.user);
}

#[test]
fn the_parts_add_up_to_the_cpu_time_of_the_clocks() {
    let tasks = ["user 300", "threads 20", "send 300"].map(str::to_owned);
    let Some((report, _)) = sampled(&tasks) else { skip!("the machine does not let sample") };
    let samples = report.samples.as_ref().expect("samples");
    for role in &samples.roles {
        let parts: u64 = role.parts.iter().map(|part| part.cpu_ns).sum();
        assert!(role.samples == 0 || parts == role.cpu_ns, "{role:?}");
        assert_eq!(role.samples, role.parts.iter().map(|part| part.samples).sum::<u64>());
    }
    let roles: u64 = samples.roles.iter().map(|role| role.cpu_ns).sum();
    assert_eq!(roles, report.process.cpu_ns.max(report.threads_cpu_ns), "{:?}", samples.roles);
    let all = samples.kernel.iter().chain(&samples.user).map(|part| part.cpu_ns);
    assert_eq!(all.sum::<u64>(), report.process.cpu_ns);
    let listed: u64 = samples.stacks.iter().map(|stack| stack.samples).sum();
    assert_eq!(listed + samples.other_stacks_samples, samples.samples);
    let of_roles: u64 = samples.roles.iter().map(|role| role.samples).sum();
    assert_eq!(of_roles, samples.samples);
}

/// Where some records were lost, some threads have no role.
#[test]
#[ignore = "long: beside busy neighbours a sample of a thread that ends may lack its record"]
fn threads_that_came_and_went_have_a_role_by_the_records_of_their_ends_and_else_none() {
    let Some((report, _)) = sampled(&["threads 20".to_owned()]) else {
        skip!("the machine does not let sample")
    };
    let samples = report.samples.as_ref().expect("samples");
    let unseen: u64 = samples.roles.iter().filter(|role| role.role.is_none()).map(|role| role.samples).sum();
    let records = report.exit_records.as_ref();
    if !records.is_some_and(|records| records.has_lost) {
        assert_eq!(unseen == 0, records.is_some(), "{records:?} {:?}", samples.roles);
    }
}

#[test]
#[ignore = "long: beside busy neighbours a storm is sampled too seldom to tell shares"]
fn storms_have_the_name_of_what_they_do() {
    use KernelActivity::*;
    let storms: [(&str, &[KernelActivity]); 6] = [
        ("send 1500", &[NetworkSend, NetworkReceive, Softirq]),
        ("fault 1500", &[PageFaults, MemoryMappings]),
        ("futex 1000", &[Futex]),
        ("poll 1500", &[Polling]),
        ("file 1500", &[Files]),
        ("call 1500", &[OtherCalls, Crossing]),
    ];
    for (storm, expected) in storms {
        let Some((report, _)) = sampled(&[storm.to_owned()]) else {
            skip!("the machine does not let sample")
        };
        let samples = report.samples.expect("samples");
        if samples.kernel.iter().all(|part| part.activity == Some(Unknown)) {
            skip!("the kernel hides its symbols");
        }
        let shares: Vec<f64> = expected.iter().map(|activity| share(&samples, *activity)).collect();
        // What every system call has, and what befalls whoever runs.
        let befalls = [Crossing, Scheduling, Interrupts].into_iter().filter(|one| !expected.contains(one));
        let of_all: f64 = befalls.map(|activity| share(&samples, activity)).sum();
        let own: f64 = shares.iter().sum();
        // Of nine in ten samples, as many may be seen less as chance takes away.
        let rest = (1.0 - of_all) * samples.kernel.iter().map(|part| part.samples).sum::<u64>() as f64;
        let least = 0.9 - ERRORS * (0.9 * 0.1 / rest).sqrt();
        assert!(
            least * (1.0 - of_all) <= own && 0.5 <= own,
            "{storm}: {own} {of_all} {least} {:?}",
            samples.kernel
        );
        assert!(shares.iter().all(|share| 0.02 <= *share), "{storm}: {shares:?} {:?}", samples.kernel);
        let first = samples.kernel.iter().find(|part| part.activity != Some(Crossing));
        let first = first.and_then(|part| part.activity).expect("samples");
        assert!(expected.contains(&first), "{storm}: {:?}", samples.kernel);
    }
}
