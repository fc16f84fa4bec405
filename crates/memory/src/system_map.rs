//! The JVM's own map of its address space, `jcmd PID System.map` (JDK 22 and later, Linux): for what nothing else names,
//! and only when it was asked for, since the JVM has to work for it.
//!
//! A line is `0xFROM-0xTO size prot rss hugetlb pgsz notes info file`, with `-` for what is empty. `info` names areas
//! only while native memory tracking is on; where the kernel has merged several, it lists them all, and none is used.

use assay_hotspot::{AttachError, attach_command};
use assay_linux::ProcRoot;
use assay_model::{Area, Problem};
use std::ops::Range;
use std::time::Duration;

/// The JVM answers within milliseconds unless its threads take long to stop.
const TIMEOUT: Duration = Duration::from_secs(10);
/// Counted from 1.
const INFO_COLUMN: usize = 8;

/// An address range that the JVM names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct NamedRange {
    pub(crate) addresses: Range<u64>,
    pub(crate) area: Area,
    pub(crate) name: String,
}

/// Asks the JVM for its map.
pub(crate) fn ask(proc: &ProcRoot, pid: u32, problems: &mut Vec<Problem>) -> Vec<NamedRange> {
    let ranges = match attach_command(proc, pid, "System.map", TIMEOUT) {
        Ok(map) => parse(&map),
        Err(AttachError::Refused { .. }) => {
            problems.push(Problem::new(
                "jcmd System.map",
                "this JVM does not know the command: it came with JDK 22",
            ));
            return Vec::new();
        }
        Err(error) => {
            problems.push(Problem::new("jcmd System.map", error.to_string()));
            return Vec::new();
        }
    };
    if ranges.is_empty() {
        problems.push(Problem::new(
            "jcmd System.map",
            "names nothing: the JVM knows areas only with -XX:NativeMemoryTracking=summary",
        ));
    }
    ranges
}

fn parse(map: &str) -> Vec<NamedRange> {
    map.lines().filter_map(named_range).collect()
}

fn named_range(line: &str) -> Option<NamedRange> {
    let mut columns = line.split_ascii_whitespace();
    let (from, to) = columns.next()?.strip_prefix("0x")?.split_once("-0x")?;
    let addresses = u64::from_str_radix(from, 16).ok()?..u64::from_str_radix(to, 16).ok()?;
    let info = columns.nth(INFO_COLUMN - 2)?;
    let (area, name) = area_of(info)?;
    (addresses.start < addresses.end).then_some(NamedRange { addresses, area, name })
}

fn area_of(info: &str) -> Option<(Area, String)> {
    let area = match info {
        "JAVAHEAP" => Area::JavaHeap,
        "CDS" | "CLASS" | "META" => Area::ClassMetadata,
        "CODE" => Area::JitCode,
        "CARDTBL" | "GC" => Area::GcStructures,
        "INTERN" | "JDK" | "POLL" | "TEST" => Area::JvmWork,
        _ if info.starts_with("STACK-") && !info.contains(',') => Area::Stacks,
        _ => return None,
    };
    Some((area, info.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_lines_with_one_name_are_taken() {
        let map = "\
4711:
from               to                        vsize prot          rss      hugetlb pgsz notes            info     file
================================================
0x0000000029000000-0x0000000029010000        65536 rw-p         8192            0 4K   com              CLASS    -
0x00007f4264000000-0x00007f426407b000       503808 rw-p       479232            0 4K   -                -        -
0x00007f427c000000-0x00007f427c021000       135168 rw-p        24576            0 4K   com              CODE,GC  -
0x00007f4280000000-0x00007f4280100000      1048576 rw-p        24576            0 4K   com              STACK-12-main -
0x00007f4290000000-0x00007f4280100000      1048576 rw-p        24576            0 4K   com              GC -
";
        let told: Vec<_> = parse(map).into_iter().map(|s| (s.area, s.name)).collect();
        let expected =
            [(Area::ClassMetadata, "CLASS".to_owned()), (Area::Stacks, "STACK-12-main".to_owned())];
        assert_eq!(told, expected);
    }
}
