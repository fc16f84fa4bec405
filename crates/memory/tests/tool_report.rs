//! Reports of other tools about memory: their figures, what is wrong with a file, and any bytes at all (the seeds of the fuzz target
//! `memory_report_read`).

use assay_linux::ProcRoot;
use assay_memory::{ToolReportError, read_tool_report, tool_of, tool_report};
use assay_model::{MemoryTool, MemoryToolReport, ReportedMemory};
use assay_testkit::testdata;
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

fn read(text: &str) -> Result<MemoryToolReport, ToolReportError> {
    tool_report(Path::new("report.txt"), text)
}

/// A JVM in small: program, a heap that G1 reserved, malloc, two stacks of a shape, ZGC's heap.
const SMAPS: &str = "\
55e970d16000-55e970d18000 r-xp 00002000 fe:00 247026                     /usr/lib/jvm/bin/java
Size:                  8 kB
Rss:                   8 kB
Pss:                   3 kB
Swap:                  0 kB
55e97b6f5000-55e97b716000 rw-p 00000000 00:00 0                          [heap]
Size:                132 kB
Rss:                 100 kB
Pss:                 100 kB
Swap:                  4 kB
7f0000000000-7f0040000000 rw-p 00000000 00:00 0
Size:            1048576 kB
Rss:              300000 kB
Pss:              300000 kB
Swap:                  0 kB
7f0050000000-7f0051000000 rwxp 00000000 00:00 0
Size:              16384 kB
Rss:                4000 kB
Pss:                4000 kB
Swap:                  0 kB
7f0060000000-7f0060010000 rw-s 00000000 00:01 1234                       /memfd:java_heap (deleted)
Size:                 64 kB
Rss:                  64 kB
Pss:                  64 kB
Swap:                  0 kB
";

#[track_caller]
fn resident_kib(report: &MemoryToolReport, area: &str) -> u64 {
    let of_area = report.entries.iter().filter(|entry| entry.path[0] == area);
    of_area.map(|entry| entry.memory.resident_bytes.expect("resident bytes") >> 10).sum()
}

#[test]
fn mappings_have_the_area_that_they_alone_show_and_the_rest_stays_unknown() {
    let report = read(SMAPS).expect("a report");
    assert_eq!((report.tool, report.pid, report.problems.len()), (MemoryTool::Smaps, None, 0));
    assert_eq!(report.total.resident_bytes, Some(304_172 << 10));
    assert_eq!((report.total.swap_bytes, report.total.committed_bytes), (Some(4 << 10), None));
    for (area, kib) in [
        ("code", 8),
        ("malloc", 100),
        ("anonymous memory", 300_000),
        ("JIT-compiled code", 4_000),
        ("Java heap", 64),
    ] {
        assert_eq!(resident_kib(&report, area), kib, "{area}");
    }
    assert_eq!(report.entries[0].path, ["anonymous memory", "7f0000000000-7f0040000000 rw-p"]);
}

#[test]
fn the_file_of_a_process_adds_up_to_the_kernels_own_sum() {
    let mut sleeper = Command::new("sleep").arg("600").stdout(Stdio::null()).spawn().expect("sleep");
    let (pid, proc) = (sleeper.id(), ProcRoot::default());
    // Until it has become `sleep`, and waits.
    while proc.read_process_stat(pid).is_ok_and(|stat| stat.command != "sleep" || stat.state != 'S') {
        std::thread::yield_now();
    }
    let report = read_tool_report(Path::new(&format!("/proc/{pid}/smaps")));
    let rollup = proc.read_smaps_rollup(pid);
    let _ = (sleeper.kill(), sleeper.wait());
    let report = report.expect("a report");
    let Some(rollup) = rollup.expect("a sum") else { return };
    assert_eq!(report.total.resident_bytes, Some(rollup.rss_bytes));
    assert!(0 < resident_kib(&report, "stacks") && 0 < resident_kib(&report, "code"), "{report:?}");
}

#[test]
fn a_file_that_is_not_whole_is_read_as_far_as_it_goes_and_says_so() {
    let cut = SMAPS.find("Rss:              300000").expect("a line");
    let torn = read(&SMAPS[..cut]).expect("a report");
    assert_eq!(torn.total.resident_bytes, Some(108 << 10));
    assert!(torn.problems[0].text.contains("it is not whole") && torn.problems[0].text.contains("cut off"));
    let nmt = "Native Memory Tracking:\n\nTotal: reserved=900KB, committed=800KB\n\n- Java Heap (reserved=200KB, committed=100KB)\n";
    let torn = read(nmt).expect("a report");
    assert_eq!(torn.total.committed_bytes, Some(800 << 10));
    assert!(torn.problems[0].text.contains("its total has 819200"), "{:?}", torn.problems);
}

#[test]
fn a_foreign_or_an_empty_file_says_what_is_read() {
    for (text, why) in [
        ("", "it is empty"),
        (" \n", "it is empty"),
        ("[0.1s] GC(0) Pause Young", "it has another form"),
        ("7f0050000000-7f0051000000 rwxp 00000000 00:00 0\n", "it has another form"),
        ("Native Memory Tracking:\n", "it has no total"),
        ("55e970d16000-55e970d18000 r-xp 00002000 fe:00 247026 x\nSize:  8 kB\n", "cut off"),
    ] {
        let error = read(text).expect_err(text).to_string();
        assert!(error.contains(why) && error.contains("pmap -X PID"), "{error}");
    }
    assert!(matches!(read_tool_report(Path::new("/no/such/file")), Err(ToolReportError::Io { .. })));
}

#[test]
fn categories_add_up_to_the_total_with_what_their_parts_leave() {
    let text = "7:\n\nNative Memory Tracking:\n\nTotal: reserved=600KB, committed=300KB\n\n\
                -  Java Heap (reserved=400KB, committed=200KB)\n   (mmap: reserved=400KB, committed=200KB)\n\n\
                -  Class (reserved=200KB, committed=100KB)\n   (classes #12)\n   (malloc=30KB #40)\n   (mmap: reserved=165KB, committed=65KB)\n";
    let report = read(text).expect("a report");
    assert_eq!((report.tool, report.pid), (MemoryTool::Nmt, Some(7)));
    let paths: Vec<String> = report.entries.iter().map(|entry| entry.path.join("/")).collect();
    assert_eq!(paths, ["Java Heap/mmap", "Class/mmap", "Class/malloc", "Class/not split"]);
    let sum = report.entries.iter().map(|entry| entry.memory).reduce(ReportedMemory::and).expect("entries");
    assert_eq!(sum, report.total);
    assert_eq!((report.total.resident_bytes, report.problems.len()), (None, 0));
}

#[test]
fn no_seed_whole_cut_or_torn_makes_it_panic_and_mappings_add_up() {
    let seeds = fs::read_dir(testdata("../fuzz/corpus/memory_report_read")).expect("the seeds").flatten();
    let mut tools = Vec::new();
    for seed in seeds {
        let bytes = fs::read(seed.path()).expect("a seed");
        let text = String::from_utf8_lossy(&bytes);
        tools.push(tool_of(&text).unwrap_or_else(|| panic!("{}", seed.path().display())));
        adds_up(&bytes);
        for at in (0..bytes.len()).step_by(499) {
            adds_up(&bytes[..at]);
            adds_up(&[&bytes[..at], bytes.get(at + 41..).unwrap_or_default()].concat());
        }
    }
    for tool in MemoryTool::ALL {
        assert!(tools.contains(tool), "no seed of {tool}");
    }
}

fn adds_up(bytes: &[u8]) {
    let Ok(report) = read(&String::from_utf8_lossy(bytes)) else { return };
    if report.tool != MemoryTool::Nmt {
        let sum = report.entries.iter().map(|entry| entry.memory).reduce(ReportedMemory::and);
        assert_eq!(sum.unwrap_or_default(), report.total);
    }
}
