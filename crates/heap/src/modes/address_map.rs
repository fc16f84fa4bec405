//! What lies where in a JVM's process, as far as it concerns a heap: the paper's address map, of this host.

use assay_jdk::modes::{AddressSpace, BASE_MIN_ADDRESS};
use assay_linux::Mapping;
use assay_model::AddressRange;
use std::ops::Range;

/// The map is whole up to here; above it, only what is mapped is listed.
const SHOWN_END: u64 = 64 << 30;
/// Mappings above that with less between them are listed as one.
const NEIGHBOURS_BYTES: u64 = 1 << 30;
/// Kinds named in one range.
const KINDS_MAX: usize = 4;

/// A JVM that was stopped after its start.
#[derive(Debug, Clone, Default)]
pub struct StoppedJvm {
    /// Its mappings.
    pub mappings: Vec<Mapping>,
    /// Its heap, as its log says.
    pub heap: Option<Range<u64>>,
    /// Its compressed class space.
    pub class_space: Option<Range<u64>>,
    /// Its archive of classes, with the inaccessible page before it and what is left up to the class space.
    pub archive: Option<Range<u64>>,
}

/// Where archive and class space lie, from the JVM's log (`gc+metaspace=info`).
pub fn classes_in_log(log: &str) -> (Option<Range<u64>>, Option<Range<u64>>) {
    let addresses = |before: &str| {
        let (_, rest) = log.split_once(before)?;
        let (start, rest) = rest.split_once('-')?;
        let end = rest.split([',', '-', ')']).next()?;
        let address = |text: &str| u64::from_str_radix(text.trim().strip_prefix("0x")?, 16).ok();
        Some(address(start)?..address(end)?).filter(|range| range.start < range.end)
    };
    let class_space = addresses("Compressed class space mapped at: ");
    let archive = addresses("CDS archive(s) mapped at: [").map(|archive| match &class_space {
        // Both are of one reservation, in this order.
        Some(space) if archive.end <= space.start => archive.start..space.start,
        _ => archive,
    });
    (archive, class_space)
}

/// Where the inaccessible piece in front of a heap with a base begins (`gc+heap+coops=debug`): it is reserved with the
/// heap, and is not in the heap's address.
pub fn protected_page_in_log(log: &str) -> Option<u64> {
    let (_, rest) = log.split_once("Protected page at the reserved heap base: 0x")?;
    u64::from_str_radix(rest.split(' ').next()?, 16).ok()
}

impl StoppedJvm {
    /// Mappings made before the heap, or placed elsewhere whatever the heap does: everything but the heap, the class
    /// space and the archive of classes, for which the JVM looks for a place after the heap. With 32 bits, where all lies
    /// close together, what is anonymous comes mostly after the heap too, and is left out.
    pub fn space(&self, limits: AddressSpace) -> AddressSpace {
        let is_narrow = limits.end_address <= 1 << 32;
        let comes_later = |kind: Kind| kind.gives_way() || (is_narrow && kind == Kind::Anonymous);
        let taken = self.mappings.iter().filter(|m| !comes_later(self.kind(m)));
        limits.occupied_by(taken.map(|m| m.addresses.clone()).filter(|range| !range.is_empty()))
    }

    /// Addresses that the JVM takes beside its heap.
    pub fn bytes_beside_heap(&self) -> u64 {
        let beside = self.mappings.iter().filter(|m| self.kind(m) != Kind::Heap);
        beside.fold(0, |sum: u64, m| sum.saturating_add(m.size_bytes()))
    }

    fn kind(&self, mapping: &Mapping) -> Kind {
        let is_in = |range: &Option<Range<u64>>| {
            range.as_ref().is_some_and(|r| mapping.addresses.start < r.end && r.start < mapping.addresses.end)
        };
        let name = mapping.name.as_str();
        if is_in(&self.heap) {
            Kind::Heap
        } else if is_in(&self.class_space) {
            Kind::ClassSpace
        } else if name.ends_with(".jsa") || is_in(&self.archive) {
            Kind::Archive
        } else if name == "[heap]" {
            Kind::Malloc
        } else if name.starts_with("[stack") {
            Kind::Stack
        } else if ["[vdso]", "[vvar", "[vsyscall]"].iter().any(|start| name.starts_with(start)) {
            Kind::Kernel
        } else if name.ends_with("/bin/java") {
            Kind::Program
        } else if mapping.is_file() {
            Kind::Files
        } else {
            Kind::Anonymous
        }
    }

    /// The map: every address below 64 GiB, and what is mapped above, sorted. `lowest` is `HeapBaseMinAddress`, if it is
    /// given.
    pub fn map(&self, space: &AddressSpace, lowest: Option<u64>) -> Vec<AddressRange> {
        let lowest = lowest.unwrap_or(BASE_MIN_ADDRESS);
        let mut map = vec![range(0..space.lowest_address, Kind::Reserved.name(), false, false)];
        let mut next = space.lowest_address;
        for piece in self.pieces().into_iter().filter(|piece| piece.addresses.start < SHOWN_END) {
            free(&mut map, next..piece.addresses.start, lowest);
            next = next.max(piece.addresses.end);
            map.push(piece.into_range());
        }
        free(&mut map, next..SHOWN_END.min(space.end_address), lowest);
        let above = self.pieces().into_iter().filter(|piece| SHOWN_END <= piece.addresses.start);
        map.extend(above.map(DrawnPiece::into_range));
        map
    }

    /// Mappings joined by kind; above 64 GiB, by neighbourhood.
    fn pieces(&self) -> Vec<DrawnPiece> {
        let mut mappings: Vec<&Mapping> = self.mappings.iter().collect();
        mappings.sort_by_key(|m| m.addresses.start);
        let mut pieces: Vec<DrawnPiece> = Vec::new();
        for mapping in mappings {
            let kind = self.kind(mapping);
            let addresses = match (kind, &self.class_space) {
                // Of the class space only what is committed may be a mapping of its own.
                (Kind::ClassSpace, Some(whole)) => whole.clone(),
                _ => mapping.addresses.clone(),
            };
            if let Some(last) = pieces.last_mut().filter(|last| last.takes(kind, &addresses)) {
                last.addresses.end = last.addresses.end.max(addresses.end);
                if !last.kinds.contains(&kind) {
                    last.kinds.push(kind);
                }
            } else {
                pieces.push(DrawnPiece { addresses, kinds: vec![kind] });
            }
        }
        pieces
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Reserved,
    Heap,
    ClassSpace,
    Archive,
    Malloc,
    Stack,
    Kernel,
    Program,
    Files,
    Anonymous,
}

impl Kind {
    fn name(self) -> &'static str {
        match self {
            Kind::Reserved => "reserved by the kernel",
            Kind::Heap => "heap",
            Kind::ClassSpace => "class space",
            Kind::Archive => "archive",
            Kind::Malloc => "malloc",
            Kind::Stack => "stack",
            Kind::Kernel => "kernel's pages",
            Kind::Program => "program",
            Kind::Files => "libraries",
            Kind::Anonymous => "JVM's own",
        }
    }

    /// Whether it is placed after the heap, so that the heap may lie there instead.
    fn gives_way(self) -> bool {
        matches!(self, Kind::Heap | Kind::ClassSpace | Kind::Archive)
    }
}

struct DrawnPiece {
    addresses: Range<u64>,
    kinds: Vec<Kind>,
}

impl DrawnPiece {
    fn takes(&self, kind: Kind, addresses: &Range<u64>) -> bool {
        let gap = addresses.start.saturating_sub(self.addresses.end);
        let is_far = SHOWN_END <= self.addresses.start;
        let are_alike = self.kinds.iter().all(|known| *known == kind);
        let are_of_jvm = !kind.gives_way() && !self.kinds.iter().any(|known| known.gives_way());
        (are_alike && gap == 0) || (is_far && gap < NEIGHBOURS_BYTES && are_of_jvm)
    }

    fn into_range(self) -> AddressRange {
        let names: Vec<&str> = self.kinds.iter().map(|kind| kind.name()).collect();
        let what = match names.len() {
            0..=KINDS_MAX => names.join(", "),
            _ => format!("{} and others", names[..KINDS_MAX].join(", ")),
        };
        range(self.addresses, &what, false, self.kinds.iter().all(|kind| kind.gives_way()))
    }
}

fn range(addresses: Range<u64>, what: &str, is_free: bool, may_hold_heap: bool) -> AddressRange {
    AddressRange {
        start_address: addresses.start,
        end_address: addresses.end,
        what: what.to_owned(),
        is_free: Some(is_free),
        may_hold_heap,
    }
}

/// A free range, in two where `HeapBaseMinAddress` lies in it.
fn free(map: &mut Vec<AddressRange>, addresses: Range<u64>, lowest: u64) {
    let middle = lowest.clamp(addresses.start, addresses.end.max(addresses.start));
    for (part, may_hold_heap) in [(addresses.start..middle, false), (middle..addresses.end, true)] {
        let what = if may_hold_heap { "free" } else { "free, below HeapBaseMinAddress" };
        if !part.is_empty() {
            map.push(range(part, what, true, may_hold_heap));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mapping(addresses: Range<u64>, name: &str) -> Mapping {
        let inode = u64::from(name.starts_with('/'));
        Mapping { addresses, name: name.to_owned(), inode, ..Mapping::default() }
    }

    fn jvm() -> StoppedJvm {
        StoppedJvm {
            mappings: vec![
                mapping(0x40_0000..0x41_0000, "/opt/jdk/bin/java"),
                mapping(0x41_0000..0x45_0000, "[heap]"),
                mapping(0x8ff_f000..0x900_0000, ""),
                mapping(0x900_0000..0x9d0_0000, "/opt/jdk/lib/server/classes.jsa"),
                mapping(0xa00_0000..0xa01_0000, ""),
                mapping(0xc000_0000..0xc040_0000, ""),
                mapping(0xc040_0000..0x1_0000_0000, ""),
                mapping(0x7f00_0000_0000..0x7f00_0001_0000, "/opt/jdk/lib/server/libjvm.so"),
                mapping(0x7f00_0002_0000..0x7f00_0003_0000, ""),
                mapping(0x7fff_0000_0000..0x7fff_0001_0000, "[stack]"),
            ],
            heap: Some(0xc000_0000..0x1_0000_0000),
            class_space: Some(0xa00_0000..0x4a00_0000),
            archive: Some(0x8ff_f000..0xa00_0000),
        }
    }

    #[test]
    fn the_map_is_whole_below_64_gib_and_says_what_may_hold_a_heap() {
        let map = jvm().map(&AddressSpace::default(), None);
        let shown: Vec<(u64, &str, bool)> =
            map.iter().map(|r| (r.start_address, r.what.as_str(), r.may_hold_heap)).collect();
        let expected = [
            (0, "reserved by the kernel", false),
            (0x1_0000, "free, below HeapBaseMinAddress", false),
            (0x40_0000, "program", false),
            (0x41_0000, "malloc", false),
            (0x45_0000, "free, below HeapBaseMinAddress", false),
            (0x8ff_f000, "archive", true),
            (0x9d0_0000, "free, below HeapBaseMinAddress", false),
            (0xa00_0000, "class space", true),
            (0x4a00_0000, "free, below HeapBaseMinAddress", false),
            (0x8000_0000, "free", true),
            (0xc000_0000, "heap", true),
            (0x1_0000_0000, "free", true),
            (0x7f00_0000_0000, "libraries, JVM's own", false),
            (0x7fff_0000_0000, "stack", false),
        ];
        assert_eq!(shown, expected);
        let below: Vec<_> = map.iter().filter(|r| r.start_address < SHOWN_END).collect();
        assert!(below.windows(2).all(|pair| pair[0].end_address == pair[1].start_address));
        assert_eq!(below.last().map(|r| r.end_address), Some(SHOWN_END));
    }

    #[test]
    fn what_is_placed_after_the_heap_is_not_in_its_way() {
        let space = jvm().space(AddressSpace::default());
        assert_eq!(space.obstacle(0x900_0000, 1 << 30), None);
        assert_eq!(space.obstacle(0x44_0000, 1 << 20), Some(0x40_0000..0x45_0000));
    }

    #[test]
    fn archive_and_class_space_are_read_from_the_log() {
        let log = "x\n[0.1s][info][gc,metaspace] CDS archive(s) mapped at: [0x0000000009000000-0x0000000009d96000-0x0000000009d96000), size 14245888, SharedBaseAddress: 0x0000000009000000, ArchiveRelocationMode: 1.\n[0.1s][info][gc,metaspace] Compressed class space mapped at: 0x000000000a000000-0x000000004a000000, reserved size: 1073741824\n";
        assert_eq!(classes_in_log(log), (Some(0x900_0000..0xa00_0000), Some(0xa00_0000..0x4a00_0000)));
        let page = "[0.1s][debug][gc,heap,coops] Protected page at the reserved heap base: 0x0000001000000000 / 2097152 bytes\n";
        assert_eq!((protected_page_in_log(page), protected_page_in_log("")), (Some(64 << 30), None));
        for strange in
            ["", "Compressed class space mapped at: 0x1", "Compressed class space mapped at: 0x2-0x1,"]
        {
            assert_eq!(classes_in_log(strange), (None, None));
        }
    }
}
