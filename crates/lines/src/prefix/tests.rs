//! Prefixes of all kinds, and what is none.

use super::*;
use proptest::prelude::*;

fn is_known(text: &str) -> bool {
    text.starts_with("GC")
}

fn found(lines: &[&str]) -> Prefix {
    let mut search = PrefixSearch::default();
    lines.iter().for_each(|line| search.look(line, &is_known));
    search.best().expect("a known line")
}

#[test]
fn plain_lines_have_no_prefix_though_some_seem_to_have_one() {
    assert!(found(&["GC 1", "app GC 2", "GC 3"]).is_empty());
    assert!(found(&["GC 1", "app GC 2"]).is_empty());
}

#[test]
fn only_what_the_prefix_is_goes_and_blanks_of_the_line_stay() {
    let prefix = found(&["2025-09-16T08:17:32.5Z stdout F GC 1"; 5]);
    let stripped = prefix.strip("2025-09-16T08:17:32.5Z stdout P   eden 5%");
    assert_eq!((&*stripped.text, stripped.goes_on), ("  eden 5%", true));
    assert_eq!(stripped.unix_ns, Some(1_758_010_652_500_000_000));
    assert_eq!(prefix.strip("2025-09-16T08:17:32.5Z stdout F").text, "");
    assert_eq!(prefix.strip("unable to retrieve container logs").text, "unable to retrieve container logs");
}

#[test]
fn the_innermost_time_counts() {
    let line =
        r#"<13>Sep 16 10:17:32 node-7 java[1]: {"@timestamp":"2025-09-16T08:17:32Z","message":"GC 1\nGC 2"}"#;
    let stripped = found(&[line; 5]).strip(line);
    assert_eq!((&*stripped.text, stripped.unix_ns), ("GC 1\nGC 2", Some(1_758_010_652_000_000_000)));
}

#[test]
fn objects_within_objects_and_printed_lists_have_their_line() {
    for line in [
        r#"{"textPayload":"GC 1","timestamp":"2025-09-16T08:17:32Z","receiveTimestamp":"2025-09-16T08:17:33Z"}"#,
        r#"{"jsonPayload":{"message":"GC 1"},"timestamp":"2025-09-16T08:17:32Z"}"#,
        r#"{"instant":{"epochSecond":1758010652,"nanoOfSecond":0},"level":"INFO","message":"GC 1"}"#,
        r#"  {"timestamp": 1758010652000, "message": "GC 1", "ingestionTime": 1758010653000},"#,
    ] {
        let stripped = found(&[line; 5]).strip(line);
        assert_eq!((&*stripped.text, stripped.unix_ns), ("GC 1", Some(1_758_010_652_000_000_000)), "{line}");
    }
    assert_eq!(
        found(&["      \"message\": \"GC 1\","]).strip("      \"message\": \"GC \\\"2\\\"\",").text,
        "GC \"2\""
    );
}

#[test]
fn what_docker_cuts_goes_on() {
    let prefix = found(&[r#"{"log":"GC 1\n","stream":"stdout","time":"2025-09-16T08:17:32Z"}"#; 5]);
    let whole = format!("{{\"log\":\"{}\",\"stream\":\"stdout\"}}", "x".repeat(16 << 10));
    assert!(prefix.strip(&whole).goes_on);
    assert!(!prefix.strip(r#"{"log":"GC","stream":"stdout"}"#).goes_on);
}

proptest! {
    /// Any line, and real prefixes with damage.
    #[test]
    fn any_line_is_looked_at_and_stripped(
        line in ".{0,80}",
        which in 0_usize..PREFIXES.len(),
        cut in 0_usize..120,
    ) {
        let damaged = format!("{}{line}", PREFIXES[which].chars().take(cut).collect::<String>());
        let mut search = PrefixSearch::default();
        for line in [&*line, &*damaged] {
            search.look(line, &|text| text.len() % 2 == 0);
            for element in element::ALL {
                element.take(line);
            }
        }
        search.best().unwrap_or_default().strip(&damaged);
    }
}

const PREFIXES: [&str; 12] = [
    "2025-09-16T08:17:32.5Z stdout F ",
    r#"{"log":"x\n","stream":"stdout","time":"2025-09-16T08:17:32Z"}"#,
    "\u{1b}[36mshop-app-1  |\u{1b}[0m ",
    "[pod/shop/app] ",
    "Sep 16 08:17:32 node-7 java[1]: ",
    "Tue 2025-09-16 08:17:32 UTC node-7 java[1]: ",
    "<13>1 2025-09-16T08:17:32.003Z node-7 app 8710 - [id k=\"v]\"] ",
    "08:17:32.137 [main] INFO  shop.Gc - ",
    "EVENTS\t1758010652137\tx\t1758010652000",
    "2025-09-16 08:17:32.137,\"a \"\"b\"\"\"",
    "1758010652.137000 node-7 java[1]: ",
    "[ 1234.567890] node-7 java[1]: ",
];
