//! What lines say of the heap and its parts: pictures before and after, transitions, regions, metaspace.

use crate::scan::Scan;

/// The contiguous spaces of Serial, Parallel and CMS.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Contiguous {
    Eden,
    From,
    To,
    Old,
}

/// Used before, used after, and capacity after where the line has it.
pub(super) type Change = (u64, u64, Option<u64>);

/// What a line says.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum HeapLine<'a> {
    /// A picture begins; in JDK 11 to 14 its first line stands behind.
    Before(&'a str),
    After(&'a str),
    Space {
        space: Contiguous,
        used_bytes: u64,
        capacity_bytes: u64,
    },
    /// A whole generation, or the whole heap.
    Extent(Extent),
    /// A generation, in whole KiB; of the young one perhaps eden and survivors too.
    Transition {
        is_old: bool,
        whole: Change,
        eden: Option<Change>,
        survivor: Option<Change>,
    },
    /// G1's regions of a kind, by `Eden`, `Survivor`, `Old`, `Humongous`, `Archive`.
    Regions {
        kind: &'a str,
        before: u64,
        after: u64,
    },
    /// `region size 1024K, 6 young (6144K), 0 survivors (0K)`
    RegionSize(u64),
    /// Metaspace and its part for classes; `None` for that where class pointers are full, absent where it is not said.
    Metaspace {
        whole: Change,
        class: Option<Option<Change>>,
    },
    /// Z's: used after, committed.
    MetaspaceNow {
        used_bytes: u64,
        committed_bytes: u64,
        resolution_bytes: u64,
    },
    /// The picture's line of the class space.
    ClassSpace,
    /// Z's table: capacity at the end, bytes promoted, bytes that the mark of a generation found live.
    CycleCapacity(u64),
    CyclePromoted(u64),
    CycleLive {
        is_old: bool,
        bytes: u64,
    },
    /// Understood, and not needed.
    Unneeded,
}

/// A generation or the heap, as a picture has it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Extent {
    pub is_whole_heap: bool,
    pub capacity_bytes: u64,
    pub used_bytes: u64,
    pub start_address: u64,
    pub end_address: u64,
    pub digits: usize,
}

/// What a line says, or `None` when it says nothing of the heap.
pub(super) fn read(text: &str) -> Option<HeapLine<'_>> {
    match text.as_bytes().first()? {
        b'e' | b'f' => space(text),
        b't' => space(text).or_else(|| extent(text)),
        b'o' => space(text),
        b'd' | b'p' => extent(text),
        b'g' => extent(text),
        b'r' => region_size(text),
        b'D' | b'P' | b'T' => transition(text).or_else(|| extent(text)).or_else(|| promoted(text)),
        b'c' if text.starts_with("concurrent mark-sweep") => extent(text),
        b'c' => class_space(text),
        b'C' => transition(text).or_else(|| cycle_capacity(text)),
        b'H' => picture(text).or_else(|| regions(text)),
        b'O' => transition(text).or_else(|| regions(text)),
        b'E' | b'S' | b'A' => regions(text),
        b'L' => live(text, true),
        b'M' => metaspace(text),
        b'Y' | b'y' => in_generation(text),
        _ => None,
    }
    .or_else(|| if text.starts_with("O: ") { in_generation(text) } else { None })
}

/// Z's lines have their generation before them.
fn in_generation(text: &str) -> Option<HeapLine<'_>> {
    let inside = text.get(3..).filter(|_| text.as_bytes().get(1) == Some(&b':'))?.trim_ascii_start();
    let is_old = text.starts_with('O');
    cycle_capacity(inside)
        .or_else(|| promoted(inside))
        .or_else(|| live(inside, is_old))
        .or_else(|| metaspace(inside))
}

/// `Heap before GC invocations=0 (full 0):`; since JDK 21 with a capital B.
fn picture(text: &str) -> Option<HeapLine<'_>> {
    let rest = text.strip_prefix("Heap ")?;
    let (side, rest) = rest.split_once(" GC invocations=")?;
    let (_, behind) = rest.split_once("):")?;
    let behind = behind.trim_ascii();
    match side {
        "before" | "Before" => Some(HeapLine::Before(behind)),
        "after" | "After" => Some(HeapLine::After(behind)),
        _ => None,
    }
}

/// `eden space 17472K, 100% used [0x00000000fc000000, 0x00000000fd110000, 0x00000000fd110000)`: bottom, top, end. Serial of JDK 17
/// has a fourth address in the old space, Parallel writes no blanks.
fn space(text: &str) -> Option<HeapLine<'_>> {
    let mut scan = Scan(text);
    let space = match scan.until("space ")?.trim_ascii_end() {
        "eden" => Contiguous::Eden,
        "from" => Contiguous::From,
        "to" => Contiguous::To,
        "the" | "object" => Contiguous::Old,
        _ => return None,
    };
    scan.blanks();
    let capacity_bytes = scan.size()?;
    scan.literal(",")?;
    scan.until("% used [")?;
    let (bottom, _) = scan.address()?;
    scan.literal(",")?;
    scan.blanks();
    let (top, _) = scan.address()?;
    scan.until(")")?;
    scan.end()?;
    Some(HeapLine::Space { space, used_bytes: top.checked_sub(bottom)?, capacity_bytes })
}

/// `def new generation   total 19648K, used 17472K [0x.., 0x.., 0x..)`: start, end of what is committed, end;
/// `garbage-first heap   total 65536K, used 7092K [0x.., 0x..)`: start and end;
/// since JDK 25 `garbage-first heap   total reserved 65536K, committed 65536K, used 15502K [0x.., 0x..)`.
fn extent(text: &str) -> Option<HeapLine<'_>> {
    let mut scan = Scan(text);
    let is_whole_heap = match scan.until(" total ")?.trim_ascii_end() {
        "def new generation" | "DefNew" | "PSYoungGen" | "par new generation" => false,
        "tenured generation" | "Tenured" | "ParOldGen" | "concurrent mark-sweep generation" => false,
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
    Some(HeapLine::Extent(Extent {
        is_whole_heap,
        capacity_bytes,
        used_bytes,
        start_address,
        end_address,
        digits,
    }))
}

/// `DefNew: 17472K(19648K)->856K(19648K) Eden: ..`, `ParOldGen: 1166K(44032K)->1166K(44032K)`; before JDK 14
/// `ParNew: 17334K->2175K(19648K)`.
fn transition(text: &str) -> Option<HeapLine<'_>> {
    let mut scan = Scan(text);
    let is_old = match scan.until(": ")? {
        "DefNew" | "PSYoungGen" | "ParNew" => false,
        "Tenured" | "ParOldGen" | "CMS" | "Old" | "PSOldGen" => true,
        _ => return None,
    };
    let whole = change(&mut scan)?;
    let mut part = |name: &str| -> Option<Change> {
        scan.literal(name)?;
        change(&mut scan)
    };
    let (eden, survivor) = (part(" Eden: "), part(" From: "));
    scan.end()?;
    Some(HeapLine::Transition { is_old, whole, eden, survivor })
}

/// `17472K(19648K)->856K(19648K)` or `17334K->2175K(19648K)`.
fn change(scan: &mut Scan<'_>) -> Option<Change> {
    let before = scan.size()?;
    if scan.literal("(").is_some() {
        scan.size()?;
        scan.literal(")")?;
    }
    scan.literal("->")?;
    let after = scan.size()?;
    scan.literal("(")?;
    let capacity = scan.size()?;
    scan.literal(")")?;
    Some((before, after, Some(capacity)))
}

/// `Eden regions: 14->0(28)`, `Old regions: 5->5`.
fn regions(text: &str) -> Option<HeapLine<'_>> {
    let mut scan = Scan(text);
    let kind = scan.until(" regions: ")?;
    if !matches!(kind, "Eden" | "Survivor" | "Old" | "Humongous" | "Archive") {
        return None;
    }
    let before = scan.number()?;
    scan.literal("->")?;
    let after = scan.number()?;
    if scan.literal("(").is_some() {
        scan.number()?;
        scan.literal(")")?;
    }
    scan.end()?;
    Some(HeapLine::Regions { kind, before, after })
}

fn region_size(text: &str) -> Option<HeapLine<'_>> {
    let mut scan = Scan(text);
    scan.literal("region size ")?;
    let bytes = scan.size()?;
    scan.literal(", ")?;
    Some(HeapLine::RegionSize(bytes))
}

/// `Metaspace: 130K(320K)->130K(320K) NonClass: 126K(192K)->126K(192K) Class: 3K(128K)->3K(128K)`. Since JDK 16 the two parts are
/// there exactly when class pointers are compressed; the older form (`5678K->5678K(1056768K)`) does not show it, and its last figure
/// is what is reserved.
fn metaspace(text: &str) -> Option<HeapLine<'_>> {
    let mut scan = Scan(text);
    scan.literal("Metaspace")?;
    if scan.0.starts_with(' ') {
        let is_picture =
            scan.0.trim_ascii_start().starts_with("used ") || scan.0.contains(" GC invocations=");
        return is_picture.then_some(HeapLine::Unneeded);
    }
    scan.literal(": ")?;
    if let Some(now) = metaspace_now(scan) {
        return Some(now);
    }
    let mut old_form = scan;
    if let (Some(before), Some(())) = (old_form.size(), old_form.literal("->")) {
        let after = old_form.size()?;
        old_form.literal("(")?;
        old_form.size()?;
        old_form.literal(")")?;
        old_form.end()?;
        return Some(HeapLine::Metaspace { whole: (before, after, None), class: None });
    }
    let whole = change(&mut scan)?;
    if scan.0.is_empty() {
        return Some(HeapLine::Metaspace { whole, class: Some(None) });
    }
    scan.literal(" NonClass: ")?;
    change(&mut scan)?;
    scan.literal(" Class: ")?;
    let class = change(&mut scan)?;
    scan.end()?;
    Some(HeapLine::Metaspace { whole, class: Some(Some(class)) })
}

/// Z: `0M used, 0M committed, 1088M reserved`; at the end Epsilon: `1088M reserved, 192K (0.02%) committed, ..`.
fn metaspace_now(mut scan: Scan<'_>) -> Option<HeapLine<'_>> {
    let (used_bytes, resolution_bytes) = scan.size_with_step()?;
    if scan.literal(" reserved, ").is_some() {
        return Some(HeapLine::Unneeded);
    }
    scan.literal(" used, ")?;
    let committed_bytes = scan.size()?;
    scan.literal(" committed, ")?;
    scan.size()?;
    scan.literal(" reserved")?;
    scan.end()?;
    Some(HeapLine::MetaspaceNow { used_bytes, committed_bytes, resolution_bytes })
}

fn class_space(text: &str) -> Option<HeapLine<'_>> {
    let rest = text.strip_prefix("class space")?;
    rest.trim_ascii_start().starts_with("used ").then_some(HeapLine::ClassSpace)
}

/// `Capacity: 96M (50%) 96M (50%) 96M (50%) 98M (51%) ..`: at mark start, mark end, relocate start, relocate end.
fn cycle_capacity(text: &str) -> Option<HeapLine<'_>> {
    let mut scan = Scan(text);
    scan.literal("Capacity:")?;
    let mut bytes = None;
    for _ in 0..4 {
        scan.blanks();
        bytes = Some(scan.size()?);
        scan.blanks();
        scan.literal("(")?;
        scan.until("%)")?;
    }
    bytes.map(HeapLine::CycleCapacity)
}

/// `Promoted: - - 0M (0%) 12M (6%)`: at relocate start, relocate end.
fn promoted(text: &str) -> Option<HeapLine<'_>> {
    let mut scan = Scan(text);
    scan.literal("Promoted:")?;
    let mut words = scan.0.split_ascii_whitespace().filter(|word| !word.starts_with('(') && *word != "-");
    let bytes = words.next_back().and_then(|word| Scan(word).size())?;
    Some(HeapLine::CyclePromoted(bytes))
}

/// `Live: - 9M (19%) 9M (19%) 9M (19%) - -`: from the end of the mark on.
fn live(text: &str, is_old: bool) -> Option<HeapLine<'_>> {
    let mut scan = Scan(text);
    scan.literal("Live:")?;
    let bytes = scan.0.split_ascii_whitespace().find(|word| *word != "-")?;
    Some(HeapLine::CycleLive { is_old, bytes: Scan(bytes).size()? })
}

#[cfg(test)]
#[path = "heap_lines_tests.rs"]
mod tests;
