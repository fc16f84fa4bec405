//! Snapshots of a program's threads while it works, as `assay time` takes them.

use crate::program::Program;
use assay_counters::TimeGauge;
use std::time::{Duration, Instant};

/// Takes snapshots until a program has done all of this; gives the CPU time of each by the program's own clock.
pub fn observed(gauge: &mut TimeGauge, program: Program, what: Vec<String>) -> (Program, Vec<u64>) {
    let doing = std::thread::spawn(move || {
        let mut program = program;
        let took = what.iter().map(|what| program.take(what)).collect();
        (program, took)
    });
    let mut next = Instant::now();
    while !doing.is_finished() {
        gauge.keep_up();
        if next <= Instant::now() {
            gauge.read().expect("our child");
            next += Duration::from_millis(500);
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    let done = doing.join().expect("no panic");
    assert!(gauge.read().expect("our child"), "it lives");
    done
}
