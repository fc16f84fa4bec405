//! The rules: what each kind of line says. A line is understood when a rule takes it, and no line is taken by
//! two (the tests at the end hold every rule against every other rule's samples).

use crate::line::Line;
use crate::scan::Scan;
use assay_model::GcEventKind;

/// What a line says.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Fact<'a> {
    Pause(Pause<'a>),
    /// A pause line that breaks off; in words what is missing.
    Torn(&'static str),
    HeapBefore,
    HeapAfter,
    /// One contiguous space of a generation.
    Space {
        space: Space,
        used_bytes: u64,
    },
    /// A whole generation, or G1's whole heap.
    Extent {
        is_whole_heap: bool,
        capacity_bytes: u64,
        used_bytes: u64,
        start_address: u64,
        end_address: u64,
        digits: usize,
    },
    /// Used before, used after and capacity after of a generation, in whole KiB.
    Transition {
        is_old: bool,
        before_bytes: u64,
        after_bytes: u64,
        capacity_bytes: u64,
    },
    CompressedHeap {
        start_address: u64,
        size_bytes: u64,
        mode: &'a str,
    },
    ReservedHeap {
        start_address: u64,
        size_bytes: u64,
        digits: usize,
    },
    /// `Enabled (Zero based)` or `Disabled`.
    CompressedOops(&'a str),
    /// Whether class pointers are compressed, and headers compact where the line tells.
    ClassPointers {
        compressed: bool,
        compact_headers: Option<bool>,
    },
    Version(&'a str),
    Collector(&'a str),
    /// Accounted for, and not needed.
    Unneeded,
}

/// A stop of the application.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Pause<'a> {
    pub kind: GcEventKind,
    pub cause: Option<&'a str>,
    /// Used before, used after, capacity, in whole MiB.
    pub sizes: Option<[u64; 3]>,
    pub pause_ns: u64,
}

/// The contiguous spaces of Serial and Parallel.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Space {
    Eden,
    From,
    To,
    Old,
}

/// One rule: its name, and what it makes of a line.
pub(crate) struct Rule {
    #[cfg_attr(not(test), expect(dead_code, reason = "tests name the rule that failed"))]
    pub name: &'static str,
    pub read: for<'a> fn(&Line<'a>) -> Option<Fact<'a>>,
}

/// All rules, the most frequent lines first.
pub(crate) const RULES: &[Rule] = &[
    Rule { name: "space", read: space },
    Rule { name: "extent", read: extent },
    Rule { name: "unneeded tags", read: unneeded_tags },
    Rule { name: "unneeded text", read: unneeded_text },
    Rule { name: "pause", read: pause },
    Rule { name: "heap before and after", read: heap_block },
    Rule { name: "transition", read: transition },
    Rule { name: "metaspace", read: metaspace },
    Rule { name: "class space", read: class_space },
    Rule { name: "compressed heap", read: compressed_heap },
    Rule { name: "reserved heap", read: reserved_heap },
    Rule { name: "compressed oops", read: compressed_oops },
    Rule { name: "class pointers", read: class_pointers },
    Rule { name: "version", read: version },
    Rule { name: "collector", read: collector },
];

/// What the first rule that takes the line says.
pub(crate) fn read<'a>(line: &Line<'a>) -> Option<Fact<'a>> {
    RULES.iter().find_map(|rule| (rule.read)(line))
}

/// `Pause Young (Normal) (G1 Evacuation Pause) 23M->1M(64M) 1.987ms`. Without sizes and length it is the line
/// that announces the pause.
fn pause<'a>(line: &Line<'a>) -> Option<Fact<'a>> {
    let mut scan = Scan(line.text);
    scan.literal("Pause ")?;
    let name_ends = scan.0.find(|c: char| c == '(' || c.is_ascii_digit()).unwrap_or(scan.0.len());
    let (name, rest) = scan.0.split_at(name_ends);
    scan.0 = rest;
    let mut kind = match name.trim_end() {
        "Young" => GcEventKind::Young,
        "Mixed" => GcEventKind::Mixed, // JDK 9 and 10
        "Full" => GcEventKind::Full,
        _ => GcEventKind::ConcurrentStop,
    };
    let mut cause = None;
    while let Some(group) = scan.group() {
        match group {
            "Mixed" => kind = GcEventKind::Mixed,
            "Normal" | "Concurrent Start" | "Prepare Mixed" | "Initial Mark" => {}
            failure if failure.starts_with("Evacuation Failure") => {}
            words => cause = Some(words),
        }
        scan.blanks();
    }
    if scan.0.is_empty() {
        return Some(if line.text.contains('(') { Fact::Unneeded } else { announced_without_cause(line) });
    }
    if scan.0.starts_with('(') {
        return Some(Fact::Torn("pause whose cause breaks off"));
    }
    let mut with_sizes = scan;
    let sizes = sizes(&mut with_sizes);
    if sizes.is_some() {
        scan = with_sizes;
        scan.blanks();
    }
    let pause_ns = scan.milliseconds_as_ns().filter(|_| scan.0.is_empty());
    Some(match pause_ns {
        Some(pause_ns) => Fact::Pause(Pause { kind, cause, sizes, pause_ns }),
        None => Fact::Torn("pause without its length"),
    })
}

/// `Pause Remark` announces; a bare `Pause Yo` is the stump of a torn line.
fn announced_without_cause<'a>(line: &Line<'_>) -> Fact<'a> {
    if line.tags.contains("start") || line.text.ends_with("Remark") || line.text.ends_with("Cleanup") {
        Fact::Unneeded
    } else {
        Fact::Torn("pause that breaks off")
    }
}

/// `23M->1M(64M)`
fn sizes(scan: &mut Scan<'_>) -> Option<[u64; 3]> {
    let before = scan.size()?;
    scan.literal("->")?;
    let after = scan.size()?;
    scan.literal("(")?;
    let capacity = scan.size()?;
    scan.literal(")")?;
    Some([before, after, capacity])
}

/// `Heap before GC invocations=0 (full 0):`; since JDK 21 with a capital B.
fn heap_block<'a>(line: &Line<'a>) -> Option<Fact<'a>> {
    let mut scan = Scan(line.text);
    scan.literal("Heap ")?;
    match scan.until(" GC invocations=")? {
        "before" | "Before" => Some(Fact::HeapBefore),
        "after" | "After" => Some(Fact::HeapAfter),
        _ => None,
    }
}

/// `eden space 17472K, 100% used [0x00000000fc000000, 0x00000000fd110000, 0x00000000fd110000)`: bottom, top,
/// end. Serial of JDK 17 has a fourth address in the old space, Parallel writes no blanks.
fn space<'a>(line: &Line<'a>) -> Option<Fact<'a>> {
    let mut scan = Scan(line.text);
    let space = match scan.until("space ")?.trim_end() {
        "eden" => Space::Eden,
        "from" => Space::From,
        "to" => Space::To,
        "the" | "object" => Space::Old,
        _ => return None,
    };
    scan.blanks();
    scan.size()?;
    scan.literal(",")?;
    scan.until("% used [")?;
    let (bottom, _) = scan.address()?;
    scan.literal(",")?;
    scan.blanks();
    let (top, _) = scan.address()?;
    scan.until(")")?;
    scan.end()?;
    Some(Fact::Space { space, used_bytes: top.checked_sub(bottom)? })
}

/// `def new generation   total 19648K, used 17472K [0x.., 0x.., 0x..)`: start, end of what is committed, end;
/// `garbage-first heap   total 65536K, used 7092K [0x.., 0x..)`: start and end;
/// since JDK 25 `garbage-first heap   total reserved 65536K, committed 65536K, used 15502K [0x.., 0x..)`.
fn extent<'a>(line: &Line<'a>) -> Option<Fact<'a>> {
    let mut scan = Scan(line.text);
    let is_whole_heap = match scan.until(" total ")?.trim_end() {
        "def new generation" | "DefNew" | "PSYoungGen" => false,
        "tenured generation" | "Tenured" | "ParOldGen" => false,
        "garbage-first heap" => true,
        _ => return None,
    };
    if scan.literal("reserved ").is_some() {
        scan.until(", committed ")?;
    }
    let capacity_bytes = scan.size()?;
    scan.literal(", used ")?;
    let used_bytes = scan.size()?;
    scan.literal(" [")?;
    let (start_address, digits) = scan.address()?;
    scan.literal(", ")?;
    let (mut end_address, _) = scan.address()?;
    if scan.literal(", ").is_some() {
        end_address = scan.address()?.0;
    }
    scan.literal(")")?;
    scan.end()?;
    Some(Fact::Extent { is_whole_heap, capacity_bytes, used_bytes, start_address, end_address, digits })
}

/// `DefNew: 17472K(19648K)->856K(19648K) Eden: ..`, `ParOldGen: 1166K(44032K)->1166K(44032K)`.
fn transition<'a>(line: &Line<'a>) -> Option<Fact<'a>> {
    let mut scan = Scan(line.text);
    let is_old = match scan.until(": ")? {
        "DefNew" | "PSYoungGen" => false,
        "Tenured" | "ParOldGen" => true,
        _ => return None,
    };
    let before_bytes = scan.size()?;
    scan.literal("(")?;
    scan.until(")->")?;
    let after_bytes = scan.size()?;
    scan.literal("(")?;
    let capacity_bytes = scan.size()?;
    scan.literal(")")?;
    Some(Fact::Transition { is_old, before_bytes, after_bytes, capacity_bytes })
}

/// `Metaspace: 130K(320K)->130K(320K) NonClass: 126K(192K)->126K(192K) Class: 3K(128K)->3K(128K)`. Since JDK
/// 16 the two parts are there exactly when class pointers are compressed; the older form
/// (`5678K->5678K(1056768K)`) does not tell.
fn metaspace<'a>(line: &Line<'a>) -> Option<Fact<'a>> {
    let mut scan = Scan(line.text);
    scan.literal("Metaspace: ")?;
    scan.size()?;
    if scan.literal("->").is_some() {
        return Some(Fact::Unneeded);
    }
    scan.literal("(")?;
    scan.until(")->")?;
    scan.size()?;
    scan.until(")")?;
    match scan.0.trim_end() {
        "" => Some(Fact::ClassPointers { compressed: false, compact_headers: None }),
        parts if parts.contains(" Class: ") => {
            Some(Fact::ClassPointers { compressed: true, compact_headers: None })
        }
        _ => None,
    }
}

/// `Compressed class space mapped at: 0x..-0x.., reserved size: 1073741824`, and the line of the heap's
/// picture.
fn class_space<'a>(line: &Line<'a>) -> Option<Fact<'a>> {
    let is_there = line.text.starts_with("Compressed class space mapped at: ")
        || line.text.strip_prefix("class space").is_some_and(|rest| rest.trim_start().starts_with("used "));
    is_there.then_some(Fact::ClassPointers { compressed: true, compact_headers: None })
}

/// `Heap address: 0x00000000fc000000, size: 64 MB, Compressed Oops mode: Zero based, Oop shift amount: 3`
fn compressed_heap<'a>(line: &Line<'a>) -> Option<Fact<'a>> {
    let mut scan = Scan(line.text);
    scan.literal("Heap address: ")?;
    let (start_address, _) = scan.address()?;
    scan.literal(", size: ")?;
    let size_bytes = scan.number()?.checked_mul(1 << 20)?;
    scan.literal(" MB, Compressed Oops mode: ")?;
    Some(Fact::CompressedHeap { start_address, size_bytes, mode: scan.0 })
}

/// `Heap:  min=8M max=64M base=0x00000000fc000000 page_size=4K size=64M`; JDK 25 has the last two in turn.
fn reserved_heap<'a>(line: &Line<'a>) -> Option<Fact<'a>> {
    let mut scan = Scan(line.text);
    scan.literal("Heap:")?;
    scan.until(" base=")?;
    let (start_address, digits) = scan.address()?;
    scan.until(" size=")?;
    let size_bytes = scan.size()?;
    Some(Fact::ReservedHeap { start_address, size_bytes, digits })
}

fn compressed_oops<'a>(line: &Line<'a>) -> Option<Fact<'a>> {
    line.text.strip_prefix("Compressed Oops: ").map(Fact::CompressedOops)
}

/// `UseCompressedClassPointers 1, UseCompactObjectHeaders 0`, since JDK 24.
fn class_pointers<'a>(line: &Line<'a>) -> Option<Fact<'a>> {
    let mut scan = Scan(line.text);
    scan.literal("UseCompressedClassPointers ")?;
    let compressed = scan.number()? == 1;
    scan.literal(", UseCompactObjectHeaders ")?;
    Some(Fact::ClassPointers { compressed, compact_headers: Some(scan.number()? == 1) })
}

/// `Version: 17.0.15+6-Debian-1deb12u1 (release)`
fn version<'a>(line: &Line<'a>) -> Option<Fact<'a>> {
    let version = line.text.strip_prefix("Version: ")?;
    Some(Fact::Version(version.strip_suffix(" (release)").unwrap_or(version)))
}

/// `Using G1`. `Using 2 workers of 2 for evacuation` is something else.
fn collector<'a>(line: &Line<'a>) -> Option<Fact<'a>> {
    let name = line.text.strip_prefix("Using ")?;
    let is_name = line.gc_id.is_none() && name.starts_with(|c: char| c.is_ascii_uppercase());
    is_name.then_some(Fact::Collector(name))
}

/// Lines whose last tags say that they hold nothing which is needed here.
fn unneeded_tags<'a>(line: &Line<'a>) -> Option<Fact<'a>> {
    const LAST_TAGS: &[&str] = &[
        "phases",
        "cpu",
        "task",
        "pagesize",
        "age",
        "marking",
        "ref",
        "start",
        "ergo",
        "stats",
        "region",
        "ihop",
        "refine",
        "mmu",
        "humongous",
        "remset",
        "plab",
        "tlab",
        "liveness",
    ];
    let is_needed = ["Pause ", "Heap:"].iter().any(|start| line.text.starts_with(start));
    let unneeded =
        line.tags.split(',').skip(1).any(|tag| LAST_TAGS.contains(&tag)) || line.tags == "pagesize";
    (unneeded && !is_needed).then_some(Fact::Unneeded)
}

/// Lines known by how they begin; without tags they are the same.
fn unneeded_text<'a>(line: &Line<'a>) -> Option<Fact<'a>> {
    const BEGINNINGS: &[&str] = &[
        "Metaspace       used ",
        "region size ",
        "Eden regions: ",
        "Survivor regions: ",
        "Old regions: ",
        "Archive regions: ",
        "Humongous regions: ",
        "Concurrent ",
        "To-space exhausted",
        "CPUs: ",
        "Memory: ",
        "Large Page Support: ",
        "NUMA Support: ",
        "NUMA Nodes: ",
        "Heap Min Capacity: ",
        "Heap Initial Capacity: ",
        "Heap Max Capacity: ",
        "Heap Region Size: ",
        "Heap region size: ",
        "Pre-touch: ",
        "Parallel Workers: ",
        "Concurrent Workers: ",
        "Periodic GC: ",
        "Alignments: ",
        "CardTable entry size: ",
        "Minimum heap ",
        "Minimum old ",
        "CDS archive(s) ",
        "CDS disabled",
        "Narrow klass ",
        "Encoding Range: ",
        "Klass Range: ",
        "Klass ID Range: ",
        "Protection zone: ",
        "No protection zone.",
        "Protected page at the reserved heap base: ",
        "Trying to allocate at address ",
        "Accumulated ",
        "ConcGCThreads: ",
    ];
    if !line.tags.is_empty() && unneeded_tags(line).is_some() {
        return None;
    }
    let is_known = line.text == "Heap" || BEGINNINGS.iter().any(|start| line.text.starts_with(start));
    is_known.then_some(Fact::Unneeded)
}

#[cfg(test)]
#[path = "rules_tests.rs"]
mod tests;
