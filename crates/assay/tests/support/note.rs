//! Why a cell that is red is not green: each has its reason.

/// Heading, row, column, and why.
const NOTES: [(&str, &str, &str, &str); 2] = [
    ("CPU time: roles of threads", "21", "ZGC", MOVED),
    ("CPU time: roles of threads", "28", "ZGC", MOVED_TIMER),
];
const MOVED: &str = "In this run, and not in the next one. Probably ZGC had moved the threads' Java objects, and \
    nobody had followed the references since: until a collection marks them, they lead nowhere for \
    who does not know the collector's tables. No role is guessed.";
const MOVED_TIMER: &str = "In this run, and not in the next one. Probably ZGC had moved the thread's name, and nobody had \
    followed the reference since; the kernel's, `ForkJoi..eduler`, leaves out the pool, which tells \
    whose timer it is. No role is guessed.";

/// The reason for a cell.
pub fn of(heading: &str, row: &str, column: &str) -> Option<&'static str> {
    let is_of = |own: &&(&str, &str, &str, &str)| (own.0, own.1, own.2) == (heading, row, column);
    NOTES.iter().find(is_of).map(|(_, _, _, why)| *why)
}
