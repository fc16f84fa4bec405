//! Lines that are accounted for and say nothing which is needed.
//!
//! A line with tags was written by a JVM; those of details are known by their tags alone, as long as they do not look like
//! something that happened. Without tags, and for `gc` itself, a line must begin as one of the lists has it.

use super::known_lines::{EXACT, GC, INIT, UNTAGGED};
use crate::scan::Scan;

/// A line of `gc` that announces what the collector is about to do, or advises.
pub(super) fn gc(text: &str) -> Option<()> {
    begins_as_one_of(&GC, text)
}

/// A line without tags.
pub(super) fn untagged(text: &str) -> Option<()> {
    if text.as_bytes().first().is_some_and(u8::is_ascii_digit) {
        return begins_with_figure(text);
    }
    let text = match text.as_bytes() {
        [b'Y' | b'y' | b'O', b':', b' ', ..] => text[3..].trim_ascii_start(), // generations of Z
        _ => text,
    };
    if EXACT.binary_search(&text).is_ok() {
        return Some(());
    }
    // A row of a table of regions: `|  12|R  |O|BTE   f3c00000, ..`.
    let is_row = text.starts_with('|') && text.matches('|').count() > 2
        // Heads and a row of Z's tables.
        || text.starts_with("Cache  ")
        || text.starts_with("Avg / Max  ")
        || text.starts_with("Last 10s  ");
    is_row
        .then_some(())
        .or_else(|| begins_as_one_of(&UNTAGGED, text))
        .or_else(|| gc(text))
        .or_else(|| table_row(text))
        .or_else(|| continuation(text))
}

/// A row of the tables of statistics: `Choose Collection Set   34 us`, `Finish Mark = 0.029 s (a = 1291 us) ..`,
/// `Memory: Defragment   0.000 / 0.000 .. ops/s`, `G1PauseRemark [ 12 0 ][ 0 1 ] 0`, `G1PauseRemark   3`, and rules of them.
fn table_row(text: &str) -> Option<()> {
    if text.len() > 20 && text.bytes().all(|b| matches!(b, b'=' | b'-' | b' ' | b'\t')) {
        return Some(());
    }
    // A long name leaves no blanks: `ShenandoahFinalMarkStartEvac [   14   1 ][ .. ]   0`.
    let counts = text.find(" [ ").filter(|at| !text[..*at].contains(' '));
    if counts.is_some_and(|at| text[at..].contains(" ][ ")) {
        return Some(());
    }
    let name_ends = text.find("  ").or_else(|| text.find(" = "))?;
    let mut scan = Scan(text.get(name_ends..)?);
    scan.blanks();
    let is_sum = scan.literal("= ").is_some();
    scan.blanks();
    if scan.literal("[ ").is_some() {
        return text.contains(" ][ ").then_some(());
    }
    scan.number()?;
    let is_row = if is_sum {
        scan.0.contains(" s (a = ")
    } else {
        scan.0.is_empty() || scan.0 == " ns" || scan.0.starts_with(" us") || scan.0.contains(" / ")
    };
    is_row.then_some(())
}

/// A line of the tags of details.
pub(super) fn detail(text: &str) -> Option<()> {
    let is_pause = text.starts_with("Pause ") && !is_part_of_a_pause_of_z(text);
    let is_event = is_pause || text.starts_with("GC(");
    (!is_event && is_sound(text)).then_some(())
}

/// At `debug`, Z writes what it does in a pause: it tries to end marking; and in JDK 11 with the thread that does it,
/// `Pause Roots Threads (ZWorker#1) 0.257ms`, `Pause Retire TLABS (VM Thread) 0.001ms`.
fn is_part_of_a_pause_of_z(text: &str) -> bool {
    text.starts_with("Pause Mark Try Complete")
        || text.contains(" (ZWorker#")
        || text.contains(" (VM Thread)")
}

/// A line of the tables of statistics. Rows of pauses say whether theirs are gross or net times:
/// `Pause Init Mark (G) 1788 us`, at the end `Pause Init Mark (G) = 0.029 s (a = 1291 us) (n = 23) (lvls, us = ..)`.
pub(super) fn statistics(text: &str) -> Option<()> {
    let is_row = text.contains(" (G) ") || text.contains(" (N) ");
    ((is_row || !text.starts_with("Pause ")) && is_sound(text)).then_some(())
}

/// The second line of a message, which JDK 17 writes bare: of workers, or of an exception, whose place and thread follow it.
pub(super) fn continuation(text: &str) -> Option<()> {
    const BEGINNINGS: [&str; 6] =
        ["active_workers_by_JT: ", "thrown in ", "thrown [", "for thread 0x", "at bci ", "at PC"];
    BEGINNINGS.iter().any(|beginning| text.starts_with(beginning)).then_some(())
}

/// A line of other tags of the JVM.
pub(super) fn other(text: &str) -> Option<()> {
    is_sound(text).then_some(())
}

/// Whether no other line has been written into this one: no decorators stand in its middle.
fn is_sound(text: &str) -> bool {
    let bytes = text.as_bytes();
    !memchr::memchr_iter(b']', bytes).any(|at| {
        bytes.get(at + 1) == Some(&b'[') && bytes.get(at + 2).is_some_and(|next| next.is_ascii_lowercase())
    })
}

/// Whether the line is one of the start: a setting with its value.
pub(super) fn is_init(text: &str) -> bool {
    begins_as_one_of(&INIT, text).is_some()
}

/// Figures stand first in few lines.
fn begins_with_figure(text: &str) -> Option<()> {
    let rest = text.trim_start_matches(|c: char| c.is_ascii_digit());
    const AFTER: &[&str] = &[
        " Completed GCs",
        " Completed Old GCs",
        " Degenerated GCs",
        " Full GCs",
        " Successful Concurrent GCs",
        " abbreviated",
        " caused by ",
        " happened at ",
        " interruptions",
        " invoked ",
        " mixed",
        " of ",
        " successful concurrent GCs",
        " upgraded ",
        " x ",
        ": Minimum young ",
        "K max, ",
        "M max, ",
    ];
    AFTER.iter().any(|after| rest.starts_with(after)).then_some(())
}

/// `list` is sorted and none of it begins with another: so that which may begin the text stands before it.
fn begins_as_one_of(list: &[&str], text: &str) -> Option<()> {
    let after = list.partition_point(|start| *start <= text);
    let start = list.get(after.checked_sub(1)?)?;
    text.starts_with(start).then_some(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_happened_is_no_detail() {
        assert_eq!(detail("Pause Reticulate 1.2ms"), None);
        assert_eq!(detail("Desired survivor size 1114[0.1s][info][gc] GC(1) Pause"), None);
        assert_eq!(
            detail("Desired survivor size 1114112 bytes, new threshold 1 (max threshold 6)"),
            Some(())
        );
        assert_eq!(detail("Pause Roots Threads (ZWorker#1) 0.257ms"), Some(()));
        assert_eq!(detail("Pause Retire TLABS (VM Thread) 0.001ms"), Some(()));
        assert_eq!(detail("ShenandoahInitMark [ threads: 1 ][ time: 2 ]"), Some(()));
        assert_eq!(statistics("Pause Reticulate 1.2ms"), None);
        assert_eq!(statistics("Pause Init Mark (G)                1788 us"), Some(()));
        assert_eq!(gc("something new"), None);
        assert_eq!(untagged("Served 200 requests in 3.4ms"), None);
    }
}
