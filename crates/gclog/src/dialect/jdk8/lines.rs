//! Messages that are not a bracket: what the many `-XX:+Print..` options add.

use super::text::Stamp;

/// A message that stands at the beginning of a line, or breaks into a bracket, and takes the rest of the line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Message {
    /// Nothing of it is kept.
    Ignored,
    /// Something precedes a bracket: `CMS: abort preclean due to time `.
    Prefix(usize),
    /// `Total time for which application threads were stopped: `
    Stopped,
    /// First line of what a JVM says of itself.
    Version,
    Memory,
    Flags,
    /// A pause may be over: the heap after it.
    HeapAfter,
    /// `Metaspace used 25559K, capacity ..` in the heap after a pause.
    Metaspace,
    /// Head of the table of `-XX:+PrintSafepointStatistics`.
    SafepointTable,
    OutOfMemory,
}

use Message::{
    Flags, HeapAfter, Ignored, Memory, Metaspace, OutOfMemory, Prefix, SafepointTable, Stopped, Version,
};

/// Lines by their beginning; by first byte, as most lines are.
fn table(first: u8) -> &'static [(&'static str, Message)] {
    match first {
        b'-' => &[("- age ", Ignored), ("------", Ignored)],
        b'{' => &[("{Heap before ", Ignored)],
        // What `-XX:PrintCMSStatistics=1` says of a phase.
        b'(' => &[("(cardTable: ", Ignored), ("(CMS-concurrent-", Ignored)],
        b'[' => &[("[0x", Ignored)],
        b'}' => &[("}", Prefix(1))],
        b'/' => &[("/proc/meminfo:", Ignored)],
        b'A' => &[
            ("Application time:", Ignored),
            ("AdaptiveSize", Ignored),
            ("After GC:", Ignored),
            ("After GC RS summary", Ignored),
            ("Av.  Block", Ignored),
            ("Avg:", Ignored),
        ],
        b'B' => &[("Before GC:", Ignored), ("Before GC RS summary", Ignored)],
        b'C' => &[
            ("CMS: abort preclean due to time", Prefix(31)),
            ("CMS: abort preclean due to loop", Prefix(31)),
            ("CMS: Large", Ignored),
            ("CMSCollector", Ignored),
            ("CommandLine flags:", Flags),
            ("Conc RS threads times", Ignored),
            ("Concurrent RS ", Ignored),
            ("Concurrent sampling threads times", Ignored),
            ("Cumulative RS summary", Ignored),
            ("Current rem set statistics", Ignored),
            ("Coarse", Ignored),
            ("Clearing", Ignored),
        ],
        b'D' => &[("Desired survivor size ", Ignored), ("Did ", Ignored)],
        b'F' => &[("Finished ", Ignored)],
        b'G' => &[("GC locker: ", Ignored), ("GC Overhead Limit", Ignored), ("GC time ", Ignored)],
        b'H' => &[("Heap after ", HeapAfter), ("Heap", Ignored), ("Humongous", Ignored)],
        b'J' => &[("Java HotSpot(TM) ", Version)],
        b'M' => &[
            ("Memory: ", Memory),
            ("Metaspace ", Metaspace),
            ("Mark stack is full", Ignored),
            ("Max   Chunk Size:", Ignored),
            ("Max size region", Ignored),
            ("Maximum sync time", Ignored),
            ("Maximum vm operation time", Ignored),
            ("Min:", Ignored),
        ],
        b'N' => &[
            ("No shared spaces configured", Ignored),
            ("Number of Blocks:", Ignored),
            ("No GC locker", Ignored),
        ],
        b'O' => &[("OpenJDK ", Version), ("Of ", Ignored), ("OutOfMemoryError", OutOfMemory)],
        b'P' => &[
            ("PSYoungGen ", Ignored),
            ("PSOldGen ", Ignored),
            ("ParOldGen ", Ignored),
            ("PSPermGen ", Ignored),
            ("PSAdaptiveSizePolicy", Ignored),
            ("Polling page always armed", Ignored),
            ("Parallel RS", Ignored),
            ("Processed ", Ignored),
        ],
        b'R' => &[("Recent ", Ignored), ("Region with largest ", Ignored)],
        b'S' => &[
            ("Statistics for BinaryTreeDictionary", Ignored),
            ("Statistics for IndexedFreeLists", Ignored),
            ("Setting abort in CSMarkOopClosure", Ignored),
            ("Static structures", Ignored),
            ("Sum:", Ignored),
            ("Survivor", Ignored),
        ],
        b'T' => &[
            ("TLAB: ", Ignored),
            ("TLAB totals: ", Ignored),
            ("Total time for which application threads were stopped:", Stopped),
            ("Total Free Space:", Ignored),
            ("Total heap region ", Ignored),
            ("Total per region rem sets sizes", Ignored),
            ("Tree      Height:", Ignored),
            ("Total promoted", Ignored),
            ("To tenured", Ignored),
        ],
        b'a' => &[("avg_", Ignored), ("adaptive-size", Ignored)],
        b'b' => &[("bailing out to foreground collection", Ignored)],
        b'c' => &[
            ("class space", Ignored),
            ("compacting perm gen", Ignored),
            ("concurrent mark-sweep generation", Ignored),
            ("concurrent-mark-sweep perm gen", Ignored),
            ("contiguous_available=", Ignored),
            ("cms_", Ignored),
            ("conc-sweep", Ignored),
        ],
        b'd' => &[
            ("def new generation", Ignored),
            ("desired_", Ignored),
            ("data space", Ignored),
            ("demand:", Ignored),
        ],
        b'e' => &[("eden space", Ignored), ("eden [", Ignored)],
        b'f' => &[("from space", Ignored), ("from [", Ignored), ("free=", Ignored), ("from", Ignored)],
        b'g' => &[("garbage-first heap", Ignored)],
        b'i' => &[("initiating", Ignored), ("initiatedBy", Ignored)],
        b'j' => &[("java.lang.OutOfMemoryError", OutOfMemory)],
        b'm' => &[("metadata initialized ", Ignored), ("minor_", Ignored)],
        b'o' => &[
            ("object space", Ignored),
            ("object [", Ignored),
            ("object", Ignored),
            ("occupancy=", Ignored),
            ("occupied cards", Ignored),
        ],
        b'p' => &[("par new generation", Ignored), ("promotion_rate=", Ignored)],
        b'r' => &[("region size", Ignored), ("ro space", Ignored), ("rw space", Ignored)],
        b's' => &[("space ", Ignored), ("size[", Ignored), ("shared", Ignored)],
        b't' => &[
            ("to   space", Ignored),
            ("to space", Ignored),
            ("to [", Ignored),
            ("to", Ignored),
            ("the space", Ignored),
            ("tenured generation", Ignored),
            ("time_until_cms_gen_full", Ignored),
            ("train generation", Ignored),
        ],
        b'v' => &[("vmop ", SafepointTable)],
        _ => &[],
    }
}

/// The message that the text begins with.
pub(super) fn message(text: &str) -> Option<Message> {
    let entries = table(*text.as_bytes().first()?);
    entries.iter().find(|(prefix, _)| text.starts_with(prefix)).map(|(_, message)| *message)
}

/// Where a pause begins behind a stamp, or ends, in a line that another message stands at the front of: the text from there on.
pub(super) fn pause_within(text: &str) -> Option<usize> {
    // By its brackets: a search for words prepares itself anew for each line, which took a tenth of the time for a log.
    let begins = |at: &usize| {
        text[..*at].ends_with(": ") && (text[*at..].starts_with("[GC") || text[*at..].starts_with("[Full GC"))
    };
    let begin = memchr::memchr_iter(b'[', text.as_bytes()).find(begins);
    let with_stamp = begin.map(|at| Stamp::behind(&text[..at]).0.len());
    let ends = || {
        let seconds = |at: usize| text[..at].strip_suffix(" secs");
        memchr::memchr_iter(b']', text.as_bytes()).find_map(seconds).and_then(|before| before.rfind(", "))
    };
    with_stamp.or_else(ends)
}

/// The figures of a line about stopped threads, whose beginning may be torn off.
pub(super) fn behind_stopped(text: &str) -> Option<&str> {
    // By its colons, for the same reason.
    let figures = |at: usize| text[..at].ends_with(" threads were stopped").then(|| &text[at + 1..]);
    memchr::memchr_iter(b':', text.as_bytes()).find_map(figures)?.strip_prefix(' ')
}

/// A line of a class histogram, whose names of arrays look like brackets: `   1:        24519        5783400  [C`.
pub(super) fn is_of_histogram(text: &str) -> bool {
    // Nearly every line is none: a stamp has a point or a hyphen where a rank has its colon.
    let is_digit = |b: &u8| b.is_ascii_digit();
    let behind_digits = text.bytes().find(|b| !is_digit(b));
    if behind_digits != Some(b':') && !matches!(behind_digits, Some(b'T' | b'n')) {
        return false;
    }
    let mut words = text.split_ascii_whitespace();
    let is_number = |word: &str| word.bytes().all(|b| b.is_ascii_digit());
    let first = words.next().unwrap_or_default();
    let is_rank = first == "Total" || first.strip_suffix(':').is_some_and(is_number) && first.len() > 1;
    let is_row = is_rank && words.next().is_some_and(is_number) && words.next().is_some_and(is_number);
    is_row || text.starts_with("num ") && text.contains("#instances")
}

/// A word among sizes and times within brackets: its length.
pub(super) fn word(text: &str) -> Option<usize> {
    const WORDS: [&str; 12] = [
        "icms_dc=",
        "eden",
        "survivor",
        "tenured",
        "new ",
        "permanent",
        "avg ",
        "invoke=",
        "size=",
        "deleted ",
        "entries",
        "%",
    ];
    let word = WORDS.iter().find(|word| text.starts_with(**word))?;
    // `avg 98.9%` of a deduplication of strings.
    let is_of_value = |b: &u8| b.is_ascii_digit() || *b == b'.';
    let value =
        text[word.len()..].bytes().take_while(|b| word.ends_with(['=', ' ']) && is_of_value(b)).count();
    Some(word.len() + value)
}

/// Numbers alone: rows of tables that G1 writes at its finer levels of detail (`-XX:G1LogLevel=finest`).
pub(super) fn is_row_of_numbers(text: &str) -> bool {
    let is_of_row = |b: u8| b.is_ascii_digit() || matches!(b, b'.' | b',' | b' ' | b'(' | b')' | b'%' | b'-');
    text.bytes().next().is_some_and(|b| b.is_ascii_digit()) && text.bytes().all(is_of_row)
}

/// Rows of `-XX:+G1SummarizeRSetStats` and the end of `-XX:+PrintSafepointStatistics` begin with numbers.
pub(super) fn ends_known(text: &str) -> bool {
    const ENDS: [&str; 10] = [
        "by conc RS threads.",
        "by concurrent RS threads.",
        "by mutator threads.",
        "occupied cards represented.",
        "code roots represented.",
        " Young regions",
        " Free regions",
        " Old regions",
        // The JVM spells it so.
        " Humonguous regions",
        "VM operations coalesced during safepoint",
    ];
    let text = text.trim_end();
    ENDS.iter().any(|end| text.ends_with(end))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn longer_messages_are_not_hidden_by_those_that_they_begin_with() {
        for first in 0..=u8::MAX {
            for (index, (prefix, what)) in table(first).iter().enumerate() {
                assert_eq!(prefix.as_bytes().first(), Some(&first), "{prefix}");
                let hidden = table(first)[..index]
                    .iter()
                    .any(|(other, kind)| prefix.starts_with(other) && kind != what);
                assert!(!hidden, "{prefix}");
            }
        }
    }
}
