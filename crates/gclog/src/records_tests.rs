//! Whole logs: good, torn, unrecognized.

use super::*;
use assay_testkit::log_of_numbers;
use proptest::prelude::*;

const PARALLEL: &str = "\
[0.004s][2642099533245ns][info ][gc      ] Using Parallel
[0.005s][2642100895369ns][info ][gc,init      ] Version: 17.0.15+6-Debian-1deb12u1 (release)
[0.129s][2642224000000ns][debug][gc,heap      ] GC(0) Heap before GC invocations=1 (full 0):
[0.129s][2642224000001ns][debug][gc,heap      ] GC(0)  PSYoungGen      total 18944K, used 16384K [0x00000000feb00000, 0x0000000100000000, 0x0000000100000000)
[0.129s][2642224000002ns][debug][gc,heap      ] GC(0)   eden space 16384K, 100% used [0x00000000feb00000,0x00000000ffb00000,0x00000000ffb00000)
[0.129s][2642224000003ns][debug][gc,heap      ] GC(0)   from space 2560K, 0% used [0x00000000ffd80000,0x00000000ffd80000,0x0000000100000000)
[0.129s][2642224000004ns][debug][gc,heap      ] GC(0)   to   space 2560K, 0% used [0x00000000ffb00000,0x00000000ffb00000,0x00000000ffd80000)
[0.129s][2642224000005ns][debug][gc,heap      ] GC(0)  ParOldGen       total 44032K, used 1166K [0x00000000fc000000, 0x00000000feb00000, 0x00000000feb00000)
[0.129s][2642224000006ns][debug][gc,heap      ] GC(0)   object space 44032K, 2% used [0x00000000fc000000,0x00000000fc123ab8,0x00000000feb00000)
[0.129s][2642224000007ns][info ][gc,start     ] GC(0) Pause Young (Allocation Failure)
[0.130s][2642225000000ns][info ][gc,heap      ] GC(0) PSYoungGen: 16384K(18944K)->512K(18944K) Eden: 16384K(16384K)->0K(16384K) From: 0K(2560K)->512K(2560K)
[0.130s][2642225000001ns][info ][gc,heap      ] GC(0) ParOldGen: 1166K(44032K)->1166K(44032K)
[0.130s][2642225000002ns][info ][gc           ] GC(0) Pause Young (Allocation Failure) 17M->1M(61M) 0.918ms
[0.130s][2642225000003ns][debug][gc,heap      ] GC(0) Heap after GC invocations=1 (full 0):
[0.130s][2642225000004ns][debug][gc,heap      ] GC(0)  PSYoungGen      total 18944K, used 512K [0x00000000feb00000, 0x0000000100000000, 0x0000000100000000)
[0.130s][2642225000005ns][debug][gc,heap      ] GC(0)   eden space 16384K, 0% used [0x00000000feb00000,0x00000000feb00000,0x00000000ffb00000)
[0.130s][2642225000006ns][debug][gc,heap      ] GC(0)   from space 2560K, 20% used [0x00000000ffb00000,0x00000000ffb80020,0x00000000ffd80000)
[0.130s][2642225000007ns][debug][gc,heap      ] GC(0)   to   space 2560K, 0% used [0x00000000ffd80000,0x00000000ffd80000,0x0000000100000000)
[0.130s][2642225000008ns][debug][gc,heap      ] GC(0)  ParOldGen       total 44032K, used 1166K [0x00000000fc000000, 0x00000000feb00000, 0x00000000feb00000)
[0.130s][2642225000009ns][debug][gc,heap      ] GC(0)   object space 44032K, 2% used [0x00000000fc000000,0x00000000fc123ab8,0x00000000feb00000)
";

/// In use before and after, from the addresses.
const PARALLEL_BYTES: (Option<u64>, Option<u64>) = (Some(0x100_0000 + 0x12_3ab8), Some(0x8_0020 + 0x12_3ab8));

fn read_text(text: &str) -> Records {
    Records::read("test", text.as_bytes())
}

fn only_pause(log: &Records) -> &GcRecord {
    let pauses: Vec<&GcRecord> = log.pauses().collect();
    assert_eq!(pauses.len(), 1);
    pauses[0]
}

/// In use before and after the only collection.
#[track_caller]
fn bytes(text: &str) -> (Option<u64>, Option<u64>) {
    let log = read_text(text);
    let heap = only_pause(&log).heap;
    (heap.before_bytes, heap.after_bytes)
}

#[test]
fn a_pause_has_its_exact_bytes_even_when_the_picture_follows_it() {
    let log = read_text(PARALLEL);
    assert_eq!((log.lines, log.lines_not_understood, log.problems.len()), (20, 0, 0));
    assert_eq!(log.jvm.version.as_deref(), Some("17.0.15+6-Debian-1deb12u1"));
    assert_eq!(log.jvm.collector.as_deref(), Some("Parallel"));
    let pause = only_pause(&log);
    assert_eq!((pause.heap.before_bytes, pause.heap.after_bytes), PARALLEL_BYTES);
    assert_eq!(pause.heap.capacity_bytes, Some((18944 + 44032) * 1024));
    assert_eq!((pause.duration_ns, pause.line), (Some(918_000), 13));
    assert_eq!((pause.end.monotonic_ns, pause.end.uptime_ns), (Some(2_642_225_000_002), Some(130_000_000)));
    assert_eq!(log.jvm.heap.unwrap().start_address, 0xfc00_0000);
    assert_eq!(log.jvm.heap.unwrap().reserved_bytes, 64 << 20);
}

#[test]
fn a_picture_with_a_missing_space_gives_way_to_the_next_finer_source() {
    let without_a_space: String =
        PARALLEL.lines().filter(|l| !l.contains("224000003ns")).map(|l| format!("{l}\n")).collect();
    assert_eq!(bytes(&without_a_space), (Some((16384 + 1166) << 10), Some((512 + 1166) << 10)));
    let bare: String =
        PARALLEL.lines().filter(|l| !l.contains("gc,heap")).map(|l| format!("{l}\n")).collect();
    assert_eq!(bytes(&bare), (Some(17 << 20), Some(1 << 20)));
}

#[test]
fn a_line_that_comes_twice_makes_the_picture_doubtful() {
    let doubled = PARALLEL.replacen("GC(0)   from space", "GC(0)   eden space", 1);
    assert_eq!(bytes(&doubled), (Some((16384 + 1166) << 10), Some((512 + 1166) << 10)));
}

#[test]
fn both_stops_of_a_concurrent_cycle_are_pauses() {
    let log = read_text(
        "[1.0s][info][gc] GC(5) Pause Remark 30M->28M(64M) 2.1ms\n\
         [1.1s][info][gc] GC(6) Pause Young (Normal) (G1 Evacuation Pause) 40M->10M(64M) 1.0ms\n\
         [1.2s][info][gc] GC(5) Pause Cleanup 28M->28M(64M) 0.1ms\n",
    );
    let seen: Vec<_> = log.pauses().map(|p| (p.cycle_id, p.heap.before_bytes.unwrap() >> 20)).collect();
    assert_eq!(seen, [(Some(5), 30), (Some(6), 40), (Some(5), 28)]);
    assert!(log.problems.is_empty());
}

#[test]
fn unrecognized_lines_are_counted_and_the_first_are_shown() {
    let unrecognized = "[1.0s][info][gc] entirely new\n".repeat(100);
    let log = read_text(&format!("{PARALLEL}{unrecognized}"));
    assert_eq!((log.lines, log.lines_not_understood, log.problems.len()), (120, 100, 3));
    assert_eq!(log.problems[0].line, Some(21));
}

#[test]
fn problems_without_end_are_counted_not_kept() {
    let log = read_text(&"[1.0s][info][gc] GC(1) Pause Yo\n".repeat(1_000));
    assert_eq!(log.lines_not_understood, 1_000);
    assert_eq!(log.problems.len(), 1 + UNRECOGNIZED_LINES_LISTED as usize);
    let log = read_text(&format!("{}\n", "x".repeat(70_000)).repeat(100));
    assert_eq!((log.lines_not_understood, log.problems.len()), (100, PROBLEMS_MAX + 2));
    assert_eq!(log.problems.last().unwrap().text, "50 further problems");
}

#[test]
fn a_line_without_end_is_one_that_is_not_understood() {
    let text = format!("{}\n[1.0s][info][gc] Using G1\n", "x".repeat(1_000_000));
    let log = read_text(&text);
    assert_eq!((log.lines, log.lines_not_understood), (2, 1));
    assert_eq!(log.jvm.collector.as_deref(), Some("G1"));
}

#[test]
fn a_text_that_is_no_log_says_so() {
    let log = read_text("Once upon a time\nthere was a JVM.\n");
    assert!(log.problems[0].text.contains("no line of a GC log"), "{:?}", log.problems);
    assert!(read_text("").problems.is_empty());
}

#[test]
fn an_input_that_fails_keeps_what_was_read() {
    struct Failing(bool);
    impl Read for Failing {
        fn read(&mut self, into: &mut [u8]) -> std::io::Result<usize> {
            if std::mem::replace(&mut self.0, true) {
                return Err(std::io::Error::other("disk gone"));
            }
            let line = b"[1.0s][info][gc] Using G1\n";
            into[..line.len()].copy_from_slice(line);
            Ok(line.len())
        }
    }
    let log = Records::read("gc.log", Failing(false));
    assert_eq!(log.jvm.collector.as_deref(), Some("G1"));
    assert_eq!(log.problems[0].text, "reading ended early: disk gone");
}

#[test]
fn nanoseconds_alone_are_uptime_when_the_log_begins_near_zero() {
    let pause = "[info][gc] GC(0) Pause Young (Allocation Failure) 17M->1M(61M) 0.918ms\n";
    let from_start = read_text(&format!("[4000000ns][info][gc] Using G1\n[90000000000ns]{pause}"));
    let end = only_pause(&from_start).end;
    assert_eq!((end.monotonic_ns, end.uptime_ns), (None, Some(90_000_000_000)));
    let clock = read_text(&format!("[2642099533245ns][info][gc] Using G1\n[2642225000002ns]{pause}"));
    assert_eq!(only_pause(&clock).end.monotonic_ns, Some(2_642_225_000_002));
}

/// Comes in these portions, in turn.
struct Portions<'a>(&'a [u8], std::iter::Cycle<std::slice::Iter<'a, usize>>);

impl Read for Portions<'_> {
    fn read(&mut self, into: &mut [u8]) -> std::io::Result<usize> {
        let portion = self.1.next().map_or(1, |p| (*p).min(self.0.len()).min(into.len()));
        let (now, later) = self.0.split_at(portion);
        into[..portion].copy_from_slice(now);
        self.0 = later;
        Ok(portion)
    }
}

proptest! {
    #[test]
    fn any_portions_give_the_same_log(portions in prop::collection::vec(1usize..200, 1..20)) {
        let from = Portions(PARALLEL.as_bytes(), portions.iter().cycle());
        prop_assert_eq!(Records::read("test", from), read_text(PARALLEL));
    }

    #[test]
    fn a_log_cut_anywhere_gives_whole_pauses_or_none(cut in 0usize..PARALLEL.len()) {
        let log = read_text(&PARALLEL[..cut]);
        prop_assert!(log.lines_not_understood <= 1);
        for pause in log.pauses() {
            let bytes = (pause.heap.before_bytes, pause.heap.after_bytes);
            // Exact once the picture is whole; before that rounded to KiB, from the same collection.
            prop_assert!(bytes == PARALLEL_BYTES || bytes == (Some(17550 << 10), Some(1678 << 10)), "{:?}", bytes);
        }
    }

    #[test]
    fn damaged_bytes_never_panic_and_every_line_is_counted(
        damage in prop::collection::vec((0usize..PARALLEL.len(), any::<u8>()), 0..40),
    ) {
        let mut bytes = PARALLEL.as_bytes().to_vec();
        for (at, byte) in damage {
            bytes[at] = if byte == b'\r' { b'?' } else { byte };
        }
        let lines = bytes.split(|b| *b == b'\n').count() as u64 - u64::from(bytes.ends_with(b"\n"));
        let log = Records::read("test", &bytes[..]);
        prop_assert_eq!(log.lines, lines);
        prop_assert!(log.lines_not_understood <= log.lines);
    }

    #[test]
    fn huge_numbers_never_panic(numbers in prop::array::uniform8("[0-9]{1,25}")) {
        let log = read_text(&log_of_numbers(&numbers));
        prop_assert_eq!(log.lines, 6);
    }
}
