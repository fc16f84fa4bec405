//! The allocation that is read from a JVM, against a program that allocates a known amount.

use assay_counters::AllocationGauge;
use assay_testkit::{each_release, skip, start_java};

const MIB: f64 = 1024.0 * 1024.0;
const KIB: f64 = 1024.0;
const THREADS: f64 = 4.0;

#[test]
fn what_threads_allocate_is_read_to_the_kib_on_each_release() {
    let all = each_release(64);
    if all.is_empty() {
        skip!("no 64-bit JVM");
    }
    for (release, java) in all {
        for collector in ["-XX:+UseSerialGC", "-XX:+UseParallelGC", "-XX:+UseG1GC"] {
            let mut program = start_java(&java, &[collector, "-Xmx256m"], &[], "Allocating");
            // The first step compiles and loads what the others use.
            assert_eq!(program.ask("1"), "done");
            let mut gauge = AllocationGauge::start(program.pid()).expect("a JVM that exports its counts");
            for step in [1.0, 16.0, 64.0] {
                gauge.restart();
                assert_eq!(program.ask(&format!("{step}")), "done");
                gauge.read().expect("it runs");
                let found = gauge.between().expect("no thread has ended").bytes as f64;
                let known = THREADS * step * MIB;
                // What reading a line and waking threads take besides.
                let besides = found - known;
                // JDK 8 counts part of the TLABs that a collection takes away twice: up to 3 MB of 268 with Serial and Parallel.
                let most = if release == 8 { 0.05 * known + 64.0 * KIB } else { 64.0 * KIB };
                assert!((0.0..most).contains(&besides), "{release} {collector}: {found} of {known}");
            }
        }
    }
}

#[test]
fn what_a_thread_allocated_that_has_ended_is_in_the_figure_or_there_is_none() {
    let all = each_release(64);
    if all.is_empty() {
        skip!("no 64-bit JVM");
    }
    for (release, java) in all {
        let mut program = start_java(&java, &["-Xmx256m"], &[], "Allocating");
        assert_eq!(program.ask("1 end"), "done");
        let mut gauge = AllocationGauge::start(program.pid()).expect("a JVM that exports its counts");
        assert_eq!(program.ask("8 end"), "done");
        gauge.read().expect("it runs");
        match gauge.between() {
            Ok(found) => {
                let known = (THREADS + 1.0) * 8.0 * MIB;
                let besides = found.bytes as f64 - known;
                let most = if release == 8 { 0.05 * known + 64.0 * KIB } else { 64.0 * KIB };
                assert!((0.0..most).contains(&besides), "{release}: {found:?}");
            }
            Err(why) => assert!(why.starts_with("1 threads ended"), "{release}: {why}"),
        }
    }
}
