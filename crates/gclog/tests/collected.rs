//! Logs of every dialect behind every prefix of collectors of logs: they say what the plain log says.

use crate::told::{Told, read as told};
use assay_model::{GcJvm, GcRecord};
use serde_json::json;
use std::fs;

/// Puts a prefix before the line of this number.
type Wrap = fn(usize, &str) -> String;

/// Milliseconds of a second, so that times rise.
fn ms(number: usize) -> usize {
    number % 1000
}

/// By the name of the collector: whether it gives a date, and how it writes a line.
const FORMS: [(&str, bool, Wrap); 29] = [
    ("CRI", true, |n, line| format!("2025-09-16T08:17:32.{:03}000000Z stdout F {line}", ms(n))),
    ("CRI in pieces", true, |n, line| {
        let at = format!("2025-09-16T08:17:32.{:03}000000Z", ms(n));
        if n % 3 > 0 {
            return format!("{at} stdout F {line}");
        }
        let cut = (0..=line.len() / 2).rev().find(|at| line.is_char_boundary(*at)).unwrap_or(0);
        format!("{at} stdout P {}\n{at} stdout F {}", &line[..cut], &line[cut..])
    }),
    ("Docker's file", true, |n, line| {
        let time = format!("2025-09-16T08:17:32.{:03}123456Z", ms(n));
        json!({"log": format!("{line}\n"), "stream": "stdout", "time": time}).to_string()
    }),
    ("docker logs --timestamps", true, |n, line| format!("2025-09-16T08:17:32.{:03}123456Z {line}", ms(n))),
    ("docker compose", false, |_, line| format!("shop-app-1  | {line}")),
    ("docker compose in colour", false, |_, line| format!("\u{1b}[36mshop-app-1  |\u{1b}[0m {line}")),
    ("docker compose --timestamps", true, |n, line| {
        format!("shop-app-1  | 2025-09-16T08:17:32.{:03}123456Z {line}", ms(n))
    }),
    ("docker service logs", false, |_, line| format!("shop_app.1.qnsxj2i6hqga@node-7    | {line}")),
    ("kubectl --prefix", false, |_, line| format!("[pod/shop-7d9f6c-x2x/app] {line}")),
    ("kubectl --prefix --timestamps", true, |n, line| {
        format!("[pod/shop-7d9f6c-x2x/app] 2025-09-16T08:17:32.{:03}456789Z {line}", ms(n))
    }),
    ("stern", false, |_, line| format!("shop-7d9f6c-x2x app {line}")),
    ("journald short", false, |n, line| format!("Sep 16 08:17:{:02} node-7 java[4711]: {line}", n % 60)),
    ("journald short-precise", false, |n, line| {
        format!("Sep 16 08:17:32.{:06} node-7 java[4711]: {line}", ms(n))
    }),
    ("journald short-iso", true, |n, line| {
        format!("2025-09-16T08:17:{:02}+0200 node-7 java[4711]: {line}", n % 60)
    }),
    ("journald short-full", true, |n, line| {
        format!("Tue 2025-09-16 08:17:{:02} UTC node-7 java[4711]: {line}", n % 60)
    }),
    ("journald short-unix", true, |n, line| format!("1758010652.{:06} node-7 java[4711]: {line}", ms(n))),
    ("journald short-monotonic", false, |n, line| format!("[ 5123.{:06}] node-7 java[4711]: {line}", ms(n))),
    ("journald with-unit", true, |n, line| {
        format!("Tue 2025-09-16 08:17:{:02} UTC node-7 shop.service[4711]: {line}", n % 60)
    }),
    ("journald json", true, |n, line| {
        let time = format!("1758010652{:06}", ms(n));
        json!({"MESSAGE": line, "__REALTIME_TIMESTAMP": time, "_PID": "4711", "PRIORITY": "6"}).to_string()
    }),
    ("journald json of bytes", true, |n, line| {
        let time = format!("1758010652{:06}", ms(n));
        json!({"MESSAGE": line.as_bytes(), "__REALTIME_TIMESTAMP": time}).to_string()
    }),
    ("syslog RFC 3164", false, |n, line| format!("<13>Sep  6 08:17:{:02} node-7 java[4711]: {line}", n % 60)),
    ("syslog RFC 5424", true, |n, line| {
        format!(
            "<13>1 2025-09-16T08:17:32.{:03}Z node-7 java 4711 - [origin ip=\"10.0.0.1\" x=\"a]b\\\"\"] {line}",
            ms(n)
        )
    }),
    ("ECS", true, |n, line| {
        let time = format!("2025-09-16T08:17:32.{:03}Z", ms(n));
        json!({"@timestamp": time, "log.level": "INFO", "message": line, "ecs.version": "1.2.0"}).to_string()
    }),
    ("fluent-bit", true, |n, line| {
        json!({"date": 1_758_010_652.0 + n as f64 / 1e3, "log": line, "kubernetes": {"pod_name": "shop"}})
            .to_string()
    }),
    ("logback", false, |n, line| format!("08:17:32.{:03} [gc-reader] INFO  shop.Gc - {line}", ms(n))),
    ("Spring Boot", true, |n, line| {
        format!("2025-09-16T08:17:32.{:03}Z  INFO 4711 --- [shop] [main] shop.Gc    : {line}", ms(n))
    }),
    ("Heroku", true, |n, line| format!("2025-09-16T08:17:32.{:06}+00:00 app[web.1]: {line}", ms(n))),
    ("aws logs tail", true, |n, line| format!("2025-09-16T08:17:32.{:06}+00:00 shop/app/0f3a {line}", ms(n))),
    ("aws logs get-log-events", true, |n, line| {
        let time = 1_758_010_652_000 + n;
        format!("EVENTS\t{}\t{line}\t{time}", time + 5)
    }),
];

/// By the dialect: the log.
const LOGS: [(&str, &str); 9] = [
    ("unified G1", "17-g1.log"),
    ("unified CMS", "releases/11-cms.log"),
    ("Z", "kinds/17-z-normal/star.default.log"),
    ("generational Z", "kinds/25-genz-normal/star.default.log"),
    ("Shenandoah", "kinds/25-shenandoah-normal/star.default.log"),
    ("JDK 8 G1 with details", "releases/8-g1.log"),
    ("JDK 8 CMS with details", "releases/8-cms.log"),
    ("JDK 8 Parallel with details", "jdk8/parallel-cause.log"),
    ("OpenJ9", "j9/gencon.xml"),
];

fn text_of(log: &str) -> String {
    fs::read_to_string(assay_testkit::testdata("gclog").join(log)).expect("the log")
}

fn wrapped(text: &str, wrap: Wrap) -> String {
    let lines = text.lines().enumerate().filter(|(_, line)| !line.is_empty());
    lines.map(|(number, line)| wrap(number, line) + "\n").collect()
}

/// Without dates and places, which a prefix may change.
fn undated(told: &Told) -> (Vec<GcRecord>, Vec<GcJvm>, Vec<u64>) {
    let mut records = told.records.clone();
    for record in &mut records {
        record.end.unix_ns = None;
        (record.first_line, record.line) = (0, 0);
    }
    let mut jvms = told.jvms.clone();
    for jvm in &mut jvms {
        (jvm.begun_unix_ns, jvm.line) = (None, 0);
    }
    (records, jvms, told.sources.iter().map(|source| source.lines_not_understood).collect())
}

#[test]
fn every_dialect_says_the_same_behind_every_prefix() {
    for (dialect, log) in LOGS {
        let text: String =
            text_of(log).lines().filter(|line| !line.is_empty()).map(|l| format!("{l}\n")).collect();
        let plain = told(text.as_bytes());
        assert!(plain.records.len() > 3, "{dialect}");
        for (form, has_dates, wrap) in FORMS {
            let collected = told(wrapped(&text, wrap).as_bytes());
            assert_eq!(undated(&collected), undated(&plain), "{dialect} behind {form}");
            let dated = collected.records.iter().filter(|record| record.end.unix_ns.is_some()).count();
            let dated_plain = plain.records.iter().filter(|record| record.end.unix_ns.is_some()).count();
            let wanted = if has_dates { plain.records.len() } else { dated_plain };
            assert_eq!(dated, wanted, "{dialect} behind {form}");
        }
    }
}

#[test]
fn what_the_application_writes_between_is_counted_and_nothing_else() {
    let text = text_of("17-g1.log");
    let plain = told(text.as_bytes());
    for (form, _, wrap) in FORMS {
        let mixed: String = text
            .lines()
            .enumerate()
            .map(|(number, line)| {
                let own =
                    if number % 9 == 4 { wrap(number, "Order 12 took 7 ms") + "\n" } else { String::new() };
                own + &wrap(number, line) + "\n"
            })
            .collect();
        let mixed = told(mixed.as_bytes());
        assert_eq!(undated(&mixed).0, undated(&plain).0, "{form}");
        assert_eq!(mixed.unrecognized.len(), (text.lines().count() + 4) / 9, "{form}");
    }
}

#[test]
fn the_date_of_a_record_is_that_of_its_own_line() {
    let text = "2025-09-16T08:17:32.012Z [0.012s][info][gc] Using G1\n\
                2025-09-16T08:17:33.070Z [1.070s][info][gc] GC(0) Pause Young (Normal) 24M->5M(96M) 4.000ms\n\
                2025-09-16T08:19:12.000Z [100.000s][info][gc] GC(1) Pause Young (Normal) 24M->5M(96M) 4.000ms\n";
    let told = told(text.as_bytes());
    let dates: Vec<Option<i64>> = told.records.iter().map(|record| record.end.unix_ns).collect();
    // 2025-09-16T08:17:32Z, where the JVM's clock began.
    const ZERO_NS: i64 = 1_758_010_652_000_000_000;
    assert_eq!(dates, [Some(ZERO_NS + 1_070_000_000), Some(ZERO_NS + 100_000_000_000)]);
    assert_eq!(told.jvms.last().and_then(|jvm| jvm.begun_unix_ns), Some(ZERO_NS + 12_000_000));
}

/// One line of each is torn at each third byte; the rest of the log is read.
#[test]
fn after_a_torn_line_reading_goes_on_with_the_next_record() {
    for (dialect, log) in LOGS {
        let text = text_of(log);
        let lines: Vec<&str> = text.lines().take(400).collect();
        let plain = told(lines.join("\n").as_bytes());
        for torn in (0..lines.len()).step_by(1 + lines.len() / 40) {
            let line = lines[torn];
            for cut in (1..line.len()).step_by(7).filter(|cut| line.is_char_boundary(*cut)) {
                let mut damaged = lines.clone();
                damaged[torn] = &line[..cut];
                let read = told(damaged.join("\n").as_bytes());
                let lost = read.unrecognized.len().saturating_sub(plain.unrecognized.len());
                assert!(lost <= 6, "{dialect}: {lost} lines lost by {:?}", &line[..cut]);
                let records = plain.records.len().abs_diff(read.records.len());
                assert!(records <= 3, "{dialect}: {records} records lost by {:?}", &line[..cut]);
            }
        }
    }
}

#[test]
fn a_torn_cpu_time_does_not_swallow_the_stops_behind_it() {
    let stop = |s: &str, took: &str| {
        format!(
            "2018-11-29T23:12:10.114+0000: {s}: Total time for which application threads were stopped: {took} seconds, Stopping threads took: 0.0000137 seconds\n"
        )
    };
    let torn = "2018-11-29T23:12:10.100+0000: 28.141: [CMS-concurrent-reset: 0.001/0.001 secs] [Times: user=0.00 sys\n";
    let text = stop("27.894", "0.5") + torn + &stop("28.154", "0.25") + &stop("28.240", "0.125");
    let told = told(text.as_bytes());
    let stops: Vec<Option<u64>> =
        told.records.iter().filter(|r| r.phase == "Safepoint").map(|record| record.duration_ns).collect();
    assert_eq!(stops, [Some(500_000_000), Some(250_000_000), Some(125_000_000)]);
    assert_eq!(told.unrecognized.len(), 1, "{:?}", told.unrecognized);
}
