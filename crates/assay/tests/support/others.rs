//! What is not supported, and what Assay still says of it, as far as it can be tried without it.

use super::cell::Cell;
use super::subject::assay;
use assay_model::{GcReport, MemoryReport};
use assay_testkit::{Running, testdata};
use std::process::Command;

/// The rows.
pub const NAMES: [&str; 4] =
    ["OpenJ9, from outside", "GraalVM native images", "JVMs on musl", "programs that are not JVMs"];

/// What each row says: what it is about, what Assay still reports, and what a test run found.
pub fn tested() -> Vec<[String; 3]> {
    let [openj9, graal, musl, none] = NAMES;
    let row = |what: &str, remains: &str, cell: Cell| [what, remains, &cell.to_string()].map(str::to_owned);
    vec![
        row(
            openj9,
            "Verbose GC logs whole (`assay gc LOG`); of a process what holds for every program: the sum, mappings, malloc, threads by \
             the kernel's names. No heap, no class metadata, no reference mode. No such JVM was at hand: the logs are written after its schema",
            logs_of_openj9(),
        ),
        row(
            graal,
            "What holds for every program; that it is a native image is recognized by its section, and said. Tried with a program that has \
             that section alone",
            native_image(),
        ),
        row(
            musl,
            "The C library is recognized by its files' names, and its malloc is not walked. Nothing of it was tried: no such JVM was at hand",
            Cell::NotTested,
        ),
        row(
            none,
            "The sum, mappings, malloc, stacks, by `assay memory PID`; CPU time by thread, with roles unknown, by `assay time PID`",
            no_jvm(),
        ),
    ]
}

fn logs_of_openj9() -> Cell {
    let names = ["balanced.xml", "gencon.xml", "pre-r26.xml"];
    let read = names.iter().filter(|name| {
        let path = testdata("gclog/j9").join(name).display().to_string();
        let report: Result<GcReport, String> = assay(&["gc", &path]);
        report.is_ok_and(|report| report.not_understood.lines == 0 && report.pauses.count != 0)
    });
    let read = read.count();
    Cell::of(read == names.len(), format!("{read} of {} logs without an unknown line", names.len()))
}

fn native_image() -> Cell {
    let Ok(folder) = tempfile::tempdir() else { return Cell::NotTested };
    let program = folder.path().join("image");
    let made = Command::new("cc").arg("-o").arg(&program).arg(testdata("linux/native_image.c")).status();
    if !made.is_ok_and(|status| status.success()) {
        return Cell::NotTested;
    }
    sum_of(&mut Command::new(&program), |report| {
        report.problems.iter().any(|problem| problem.about == "native image")
    })
}

fn no_jvm() -> Cell {
    sum_of(Command::new("sh").args(["-c", "echo ready; read line"]), |report| report.jvm.is_none())
}

fn sum_of(program: &mut Command, is_right: impl Fn(&MemoryReport) -> bool) -> Cell {
    let running = Running::start(program, "ready");
    let report: Result<MemoryReport, String> = assay(&["memory", &running.pid().to_string()]);
    match report {
        Ok(report) => {
            let sum: u64 = report.entries.iter().map(|entry| entry.resident_bytes).sum();
            let off_by = sum.abs_diff(report.rss_bytes);
            Cell::of(is_right(&report) && off_by == 0, format!("{off_by} B off"))
        }
        Err(why) => Cell::Wrong(why),
    }
}
