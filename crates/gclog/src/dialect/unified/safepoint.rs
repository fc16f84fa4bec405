//! Safepoints: lines of `safepoint`, which say for what, how long it took to reach it, and how long all stood still.

use crate::decimal::Decimal;
use crate::scan::Scan;

/// A stop for whatever the JVM does at a safepoint.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Safepoint<'a> {
    /// `G1CollectForAllocation`; absent in JDK 9 to 12.
    pub operation: &'a str,
    /// Until all threads stood still, nanoseconds.
    pub reaching_ns: u64,
    pub total_ns: u64,
    /// Smallest step of these.
    pub resolution_ns: u64,
}

/// What JDK 9 to 12 do not name.
const UNNAMED: &str = "Safepoint";

/// The safepoint of a line; `None` when it is another line, or breaks off.
pub(super) fn read(text: &str) -> Option<Safepoint<'_>> {
    if text.starts_with("Safepoint \"") { since_13(text) } else { before_13(text) }
}

/// JDK 17: `Safepoint "Op", Time since last: N ns, Reaching safepoint: N ns, Cleanup: N ns, At safepoint: N ns, Total: N ns`. JDK 13
/// has no cleanup; 25 has instead `Leaving safepoint: N ns` before the total and `Threads: N runnable, N total` behind.
fn since_13(text: &str) -> Option<Safepoint<'_>> {
    let mut scan = Scan(text);
    scan.literal("Safepoint \"")?;
    let operation = scan.until("\", ")?;
    let mut safepoint = Safepoint { operation, reaching_ns: 0, total_ns: 0, resolution_ns: 1 };
    let (mut has_reaching, mut has_total) = (false, false);
    loop {
        let name = scan.until(": ")?;
        let value = scan.number()?;
        if name == "Threads" {
            scan.literal(" runnable, ")?;
            scan.number()?;
            scan.literal(" total")?;
        } else {
            scan.literal(" ns")?;
        }
        match name {
            "Reaching safepoint" => (safepoint.reaching_ns, has_reaching) = (value, true),
            "Total" => (safepoint.total_ns, has_total) = (value, true),
            "Time since last" | "Cleanup" | "At safepoint" | "Leaving safepoint" | "Threads" => {}
            _ => return None,
        }
        if scan.literal(", ").is_none() {
            break;
        }
    }
    scan.end()?;
    (has_reaching && has_total).then_some(safepoint)
}

/// JDK 9 to 12: `Total time for which application threads were stopped: 0.0001542 seconds, Stopping threads took: 0.0000327 seconds`.
fn before_13(text: &str) -> Option<Safepoint<'_>> {
    let mut scan = Scan(text);
    scan.literal("Total time for which application threads were stopped: ")?;
    let (total_ns, resolution_ns) = seconds(&mut scan)?;
    scan.literal(", Stopping threads took: ")?;
    let (reaching_ns, _) = seconds(&mut scan)?;
    scan.end()?;
    Some(Safepoint { operation: UNNAMED, reaching_ns, total_ns, resolution_ns })
}

fn seconds(scan: &mut Scan<'_>) -> Option<(u64, u64)> {
    Decimal::parse(scan.until(" seconds")?)?.scaled(9)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn safepoints_of_every_release_are_read() {
        for (text, operation, reaching_ns, total_ns) in [
            (
                "Safepoint \"GenCollectForAllocation\", Time since last: 20068764 ns, Reaching safepoint: 33458 ns, Cleanup: 1 ns, At safepoint: 50 ns, Total: 33509 ns",
                "GenCollectForAllocation",
                33_458,
                33_509,
            ),
            (
                "Safepoint \"G1CollectFull\", Time since last: 2 ns, Reaching safepoint: 3 ns, At safepoint: 5 ns, Leaving safepoint: 1 ns, Total: 9 ns, Threads: 2 runnable, 13 total",
                "G1CollectFull",
                3,
                9,
            ),
            (
                "Safepoint \"Cleanup\", Time since last: 1 ns, Reaching safepoint: 2 ns, At safepoint: 3 ns, Total: 5 ns",
                "Cleanup",
                2,
                5,
            ),
            (
                "Total time for which application threads were stopped: 0.0001542 seconds, Stopping threads took: 0.0000327 seconds",
                UNNAMED,
                32_700,
                154_200,
            ),
        ] {
            let got = read(text).unwrap_or_else(|| panic!("{text}"));
            assert_eq!(
                (got.operation, got.reaching_ns, got.total_ns),
                (operation, reaching_ns, total_ns),
                "{text}"
            );
        }
    }

    #[test]
    fn a_line_that_breaks_off_is_no_safepoint() {
        let whole = "Safepoint \"Cleanup\", Time since last: 1 ns, Reaching safepoint: 2 ns, At safepoint: 3 ns, Total: 5 ns";
        for end in 0..whole.len() {
            assert_eq!(read(&whole[..end]), None, "{}", &whole[..end]);
        }
    }
}
