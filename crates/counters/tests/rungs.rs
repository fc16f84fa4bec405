//! The rungs against each other and against programs whose CPU time is known, over many seconds; what each costs the program.
//! The figures that the documentation gives are printed by these: `cargo test -p assay-counters --test all rungs:: -- --ignored --nocapture`.

use crate::observed::observed;
use crate::program::Program;
use assay_counters::TimeGauge;
use assay_testkit::skip;
use serde_json::json;

#[test]
#[ignore = "long: half a minute of CPU time, for samples that tell a point"]
fn samples_and_programs_in_the_kernel_agree_with_each_other_and_with_a_known_program() {
    let program = Program::start();
    let mut gauge = TimeGauge::start(program.pid()).expect("our child");
    gauge.start_sampling().expect("our child");
    gauge.start_tracing().expect("our child");
    let turns = ["user 500", "kernel 200", "user 300"].map(str::to_owned);
    let what: Vec<String> = (0..30).flat_map(|_| turns.clone()).collect();
    let (program, took) = observed(&mut gauge, program, what);
    let report = gauge.report(None);
    drop(program);
    let Some((traced, samples)) = report.traced.as_ref().zip(report.samples.as_ref()) else {
        skip!("the machine does not allow both: {:?}", report.left_out);
    };
    let kernel_ns: u64 = took.iter().skip(1).step_by(3).sum();
    let known = kernel_ns as f64 / took.iter().sum::<u64>() as f64;
    let by_programs = traced.kernel_ns as f64 / traced.cpu_ns as f64;
    let by_samples = samples.kernel_share.expect("samples").estimate;
    let coverage = (traced.coverage, samples.coverage, traced.kernel_coverage);
    println!(
        "kernel share: known {known:.4}, programs in the kernel {by_programs:.4}, {} samples {by_samples:.4}; coverage {coverage:?}",
        samples.samples
    );
    assert!((by_programs - known).abs() < 0.01 && (by_samples - known).abs() < 0.01);
    assert!((by_programs - by_samples).abs() < 0.02);
}

/// How a rung begins.
type Begin = fn(&mut TimeGauge);

#[test]
#[ignore = "long: 20 paired runs of some tenths of a second for each rung"]
fn what_each_rung_costs_a_program_that_counts_its_own_work() {
    const PAIRS: usize = 20;
    const UNITS: &str = "units 2500";
    let begin: [(&str, f64, Begin); 4] = [
        ("nothing, against nothing", 1.01, |_| {}),
        ("/proc", 1.01, |_| {}),
        ("samples", 1.01, |gauge| gauge.start_sampling().expect("our child")),
        ("programs in the kernel", 1.03, |gauge| gauge.start_tracing().expect("our child")),
    ];
    let mut shown_dearer = Vec::new();
    for (number, (what, allowed, begin)) in begin.into_iter().enumerate() {
        let mut program = Program::start();
        program.take(UNITS);
        let mut calls = 0.0;
        let mut pairs = Vec::new();
        for pair in 0..PAIRS {
            let mut with = |program: Program| -> (Program, u64) {
                if number == 0 {
                    let mut program = program;
                    let took = program.take(UNITS);
                    return (program, took);
                }
                let mut gauge = TimeGauge::start(program.pid()).expect("our child");
                begin(&mut gauge);
                let (program, took) = observed(&mut gauge, program, vec![UNITS.to_owned()]);
                let report = gauge.report(None);
                let made: u64 = report.traced.iter().flat_map(|t| &t.roles).map(|role| role.calls).sum();
                calls = made as f64 * 1e9 / report.process.cpu_ns as f64;
                (program, took[0])
            };
            let (first, second);
            // Which comes first changes from pair to pair.
            if pair % 2 == 0 {
                (program, first) = with(program);
                second = program.take(UNITS);
            } else {
                second = program.take(UNITS);
                (program, first) = with(program);
            }
            pairs.push((first as f64, second as f64));
        }
        let ratio = assay_stats::compare_paired(&pairs, 1).expect("CPU time").ratio;
        let calls = Some(calls).filter(|calls| *calls > 0.0);
        println!("{}", json!({ "what": what, "ratio": ratio, "pairs": PAIRS, "calls_per_cpu_s": calls }));
        if ratio.low.is_some_and(|low| allowed < low) {
            shown_dearer.push((what, ratio));
        }
    }
    assert!(shown_dearer.is_empty(), "{shown_dearer:?}");
}

#[test]
#[ignore = "long: 10,000 threads"]
fn each_of_ten_thousand_threads_is_traced() {
    let mut program = Program::start();
    program.take("many 10000");
    let mut gauge = TimeGauge::start(program.pid()).expect("our child");
    let first_ns = gauge.reading_cpu_ns();
    gauge.start_tracing().expect("our child");
    gauge.read().expect("our child");
    let sleeping_ns = gauge.reading_cpu_ns();
    drop(gauge);
    // All of them run once while they are traced, so that each has a record.
    let mut program = Program::start();
    let mut gauge = TimeGauge::start(program.pid()).expect("our child");
    gauge.start_tracing().expect("our child");
    program.take("many 10000");
    gauge.read().expect("our child");
    let started_ns = gauge.reading_cpu_ns();
    let report = gauge.report(None);
    let Some(traced) = &report.traced else { skip!("the machine allows no BPF") };
    println!(
        "CPU time of a reading: the first {first_ns} ns, traced while they sleep {sleeping_ns} ns, all of them traced {started_ns} ns"
    );
    assert!(10_000 <= traced.threads && traced.lost == 0, "{} threads, {} lost", traced.threads, traced.lost);
}
