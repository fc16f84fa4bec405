//! Differential flame graphs of a study: what a request costs a variant beyond its baseline, by stack.

use crate::rendered::html;
use crate::sample;
use assay_model::{Check, Disturbance, FrameKind, SampledFrame, SampledStack, StoredRun, WindowStacks};

/// 1,000 requests, 400 µs each: of 100 samples so many in the collector, 10 in stacks that are not listed, the rest in Java.
fn stacks(in_collector: u64, name: &str) -> WindowStacks {
    let frame = |name: &str, kind| SampledFrame { name: name.to_owned(), kind };
    WindowStacks {
        requests: 1000.0,
        cpu_ns: 400_000_000,
        samples: 100,
        frames: vec![
            frame("application", FrameKind::Role),
            frame(name, FrameKind::Java),
            frame("collector", FrameKind::Role),
            frame("libjvm: collection", FrameKind::Jvm),
        ],
        stacks: vec![
            SampledStack { frames: vec![0, 1], samples: 90 - in_collector },
            // A number that names nothing is left out.
            SampledStack { frames: vec![2, 3, 77], samples: in_collector },
        ],
    }
}

/// A run in which the variants that the predicate takes have stacks.
fn run_with(has_stacks: impl Fn(&str) -> bool, name: &str) -> StoredRun {
    let mut run = sample::demo_run();
    for stored in &mut run.trials {
        let variant = stored.trial.variant.clone();
        for window in &mut stored.trial.windows {
            let collector = if variant.contains("64-bit") { 30 } else { 10 };
            window.stacks = has_stacks(&variant).then(|| stacks(collector, name));
        }
    }
    run
}

const TITLE: &str = "Where the CPU time of a request changed";

#[test]
fn a_variant_against_its_baseline_is_drawn_by_request_with_its_figures() {
    let page = html(&run_with(|_| true, "compiled Java"));
    assert!(page.contains(TITLE) && page.contains("400 µs instead of 400 µs"), "the whole did not change");
    // 10 % of 400 µs in the baseline, 30 % in the variant.
    assert!(page.contains("libjvm: collection: before 40.0 µs, after 120 µs, +80.0 µs"));
    assert!(page.contains("compiled Java: before 320 µs, after 240 µs, -80.0 µs"));
    assert!(page.contains("other stacks: before 40.0 µs, after 40.0 µs"));
    assert!(page.contains("class=\"more4 area\"") && page.contains("class=\"less4 area\""));
}

#[test]
fn without_stacks_of_both_nothing_is_drawn() {
    assert!(!html(&sample::demo_run()).contains(TITLE));
    assert!(!html(&run_with(|variant| variant.contains("64-bit"), "Java")).contains(TITLE));
}

#[test]
fn windows_that_do_not_count_have_no_part_in_it() {
    let mut run = run_with(|_| true, "compiled Java");
    for window in run.trials.iter_mut().flat_map(|stored| &mut stored.trial.windows) {
        let evidence = "others ran".to_owned();
        window.disturbances.push(Disturbance { kind: Check::CpuPressure, evidence });
    }
    assert!(!html(&run).contains(TITLE));
}

#[test]
fn names_and_figures_from_outside_cannot_harm_the_page() {
    let hostile = sample::hostile_text();
    let page = html(&run_with(|_| true, &hostile));
    assert!(page.contains(TITLE) && !page.contains("<script>alert"));
    let mut run = run_with(|_| true, "Java");
    for (number, window) in run.trials.iter_mut().flat_map(|stored| &mut stored.trial.windows).enumerate() {
        let stacks = window.stacks.as_mut().expect("set above");
        match number % 3 {
            0 => stacks.requests = f64::NAN,
            1 => stacks.stacks.iter_mut().for_each(|stack| stack.samples = u64::MAX),
            _ => (stacks.samples, stacks.cpu_ns) = (0, u64::MAX),
        }
    }
    html(&run);
}
