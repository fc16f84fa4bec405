//! Reference mode and place of the heap, as the log shows them.
//!
//! What distinguishes the modes (verified on JDK 17.0.15 and 25.0.3, 64-bit, and 17.0.19, 32-bit, with Serial,
//! Parallel, G1, ZGC, Shenandoah; held by `tests/modes.rs`):
//!
//! - Compressed references: `gc+heap+coops=debug` prints the mode and the shift; `gc+init=info` prints
//!   `Compressed Oops: Enabled (..)`. Both are absent, or say `Disabled`, when they are off.
//! - A **32-bit JVM says `Compressed Oops: Disabled` too**, and its version line does not name the word size.
//!   Its addresses have 8 digits, those of a 64-bit JVM 16.
//! - **ZGC says nothing of compressed references**, which it does not have; its name alone shows them full.
//! - Compressed class pointers: there is a compressed class space, or the metaspace line of a collection has
//!   a `Class:` part. That they are full is only taken from a metaspace line without that part (JDK 16 and
//!   later), not from silence: so `64-bit` is known from the first collection on.
//! - Compact headers: JDK 24 and later print `UseCompactObjectHeaders`; before there were none, and without
//!   compressed class pointers there are none.

use super::heap_lines::Extent;
use crate::scan::shortened;
use assay_model::{HeapRange, ModeRead, ReferenceMode};

/// First feature release with compact object headers; `crates/jdk/tests/modes.rs` holds it to be that of the releases' data.
const COMPACT_HEADERS_SINCE: u32 = 24;
/// Characters of a log line that are kept as evidence.
const EVIDENCE_CHARS_MAX: usize = 160;
/// How the line begins that says it before JDK 9.
const BEFORE_XLOG: &str = "heap address: 0x";
/// Evidence in the log so far.
#[derive(Debug, Clone, Default)]
pub(super) struct ModeEvidence {
    /// From the line of `gc+heap+coops`, else from `gc+init`.
    compressed: Option<(ReferenceMode, Option<u8>)>,
    compressed_line: Option<String>,
    is_disabled: bool,
    is_z: bool,
    address_digits: Option<(usize, String)>,
    class_pointers: Option<(bool, String)>,
    compact_headers: Option<bool>,
    feature: Option<u32>,
    /// Heap of the compressed-oops line, else of the page-size line.
    announced: Option<HeapRange>,
    is_from_coops: bool,
    /// Union of the extents of the generations.
    extents: Option<(u64, u64)>,
}

impl ModeEvidence {
    /// `Heap address: 0x.., size: 64 MB, Compressed Oops mode: Zero based, Oop shift amount: 3`, of `gc+heap+coops`.
    pub fn take_compressed_heap(&mut self, heap: HeapRange, mode: &str, text: &str) {
        self.announced = Some(heap);
        self.is_from_coops = true;
        self.compressed = mode_by_name(mode).map(|named| (named, shift_bits(named, mode)));
        self.compressed_line = Some(shortened(text, EVIDENCE_CHARS_MAX));
    }

    /// Heap of the page-size line, or of Shenandoah's picture; its address has so many digits.
    pub fn take_reserved_heap(&mut self, heap: HeapRange, digits: usize, text: &str) {
        if !self.is_from_coops {
            self.announced = Some(heap);
        }
        self.take_address(digits, text);
    }

    /// A generation, or the heap, as a picture has it.
    pub fn take_extent(&mut self, extent: &Extent, text: &str) {
        let (start, end) = self.extents.unwrap_or((extent.start_address, extent.end_address));
        self.extents = Some((start.min(extent.start_address), end.max(extent.end_address)));
        self.take_address(extent.digits, text);
    }

    /// `Compressed Oops: Enabled (Zero based)` or `Disabled`.
    pub fn take_compressed_oops(&mut self, value: &str, text: &str) {
        if value == "Disabled" {
            self.is_disabled = true;
        } else {
            self.take_init_line(value, text);
        }
    }

    /// The collector is Z, by its own words or its lines.
    pub fn take_z(&mut self) {
        self.is_z = true;
    }

    /// Whether class pointers are compressed.
    pub fn take_class_pointers(&mut self, compressed: bool, text: &str) {
        if self.class_pointers.is_none() {
            self.class_pointers = Some((compressed, shortened(text, EVIDENCE_CHARS_MAX)));
        }
    }

    /// `UseCompressedClassPointers 1, UseCompactObjectHeaders 0`, since JDK 24.
    pub fn take_compact_headers(&mut self, compact: bool) {
        self.compact_headers = self.compact_headers.or(Some(compact));
    }

    /// `17.0.15+6-Debian-1deb12u1`
    pub fn take_version(&mut self, version: &str) {
        let digits = version.split(|c: char| !c.is_ascii_digit()).next();
        self.feature = digits.and_then(|d| d.parse().ok());
    }

    fn take_init_line(&mut self, enabled: &str, text: &str) {
        let inside = enabled.strip_prefix("Enabled (").and_then(|rest| rest.strip_suffix(')'));
        if let (None, Some(named)) = (self.compressed, inside.and_then(mode_by_name)) {
            self.compressed = Some((named, (named == ReferenceMode::CompressedUnscaled).then_some(0)));
            self.compressed_line = Some(shortened(text, EVIDENCE_CHARS_MAX));
        }
    }

    fn take_address(&mut self, digits: usize, text: &str) {
        if self.address_digits.is_none() {
            self.address_digits = Some((digits, shortened(text, EVIDENCE_CHARS_MAX)));
        }
    }

    /// Where the heap lies.
    pub fn heap(&self) -> Option<HeapRange> {
        self.announced.or_else(|| {
            let (start_address, end) = self.extents?;
            Some(HeapRange { start_address, reserved_bytes: end.checked_sub(start_address)? })
        })
    }

    /// The mode, once the log has shown enough.
    pub fn mode(&self) -> Option<ModeRead> {
        let (mode, shift_bits, evidence) = match (&self.compressed, &self.address_digits) {
            (Some((mode, shift)), _) => (*mode, *shift, self.compressed_line.clone()?),
            (None, Some((8, line))) => {
                (ReferenceMode::Bits32, None, format!("addresses of 8 digits: {line}"))
            }
            _ => self.full_references()?,
        };
        Some(ModeRead {
            mode,
            compact_headers: self.compact_headers(mode),
            shift_bits,
            heap_base_address: self.heap().map(|heap| heap.start_address),
            evidence,
        })
    }

    fn full_references(&self) -> Option<(ReferenceMode, Option<u8>, String)> {
        let (compressed, line) = self.class_pointers.as_ref()?;
        // A 32-bit JVM has no compressed class pointers.
        let is_full = self.is_z || (self.is_disabled && (self.address_digits.is_some() || *compressed));
        let mode =
            if *compressed { ReferenceMode::Full64CompressedClassPointers } else { ReferenceMode::Full64 };
        let words = match &self.address_digits {
            _ if self.is_z => format!("Using The Z Garbage Collector, {line}"),
            Some(_) => format!("Compressed Oops: Disabled, addresses of 16 digits, {line}"),
            None => format!("Compressed Oops: Disabled, {line}"),
        };
        is_full.then_some((mode, None, words))
    }

    fn compact_headers(&self, mode: ReferenceMode) -> Option<bool> {
        let cannot_be = mode == ReferenceMode::Bits32
            || self.feature.is_some_and(|feature| feature < COMPACT_HEADERS_SINCE)
            || matches!(self.class_pointers, Some((false, _)));
        self.compact_headers.or(cannot_be.then_some(false))
    }
}

/// Output of a JVM before JDK 9 about it with `-XX:+PrintCompressedOopsMode`, among other lines: nothing where references are full.
pub fn mode_before_xlog(printed: &str) -> Option<ModeRead> {
    let line = printed.lines().map(str::trim).find(|line| line.starts_with(BEFORE_XLOG))?;
    let (address, rest) = line.strip_prefix(BEFORE_XLOG)?.split_once(',')?;
    let (_, words) = rest.split_once("Compressed Oops mode: ")?;
    let mode = mode_by_name(words)?;
    Some(ModeRead {
        mode,
        compact_headers: Some(false),
        shift_bits: shift_bits(mode, words),
        heap_base_address: u64::from_str_radix(address, 16).ok(),
        evidence: shortened(line, EVIDENCE_CHARS_MAX),
    })
}

/// HotSpot's names, in the coops line followed by `, Oop shift amount: 3` or `: 0x0000001000000000, Oop ..`.
fn mode_by_name(text: &str) -> Option<ReferenceMode> {
    let name = text.split([',', ':']).next()?.trim();
    match name {
        "32-bit" => Some(ReferenceMode::CompressedUnscaled), // HotSpot's name: the JVM is a 64-bit one
        "Zero based" => Some(ReferenceMode::CompressedZeroBased),
        "Non-zero disjoint base" => Some(ReferenceMode::CompressedDisjointBase),
        "Non-zero based" => Some(ReferenceMode::CompressedNonZeroBase),
        _ => None,
    }
}

fn shift_bits(mode: ReferenceMode, text: &str) -> Option<u8> {
    if mode == ReferenceMode::CompressedUnscaled {
        return Some(0);
    }
    text.rsplit_once("Oop shift amount: ")?.1.trim().parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn before_jdk_9_a_line_of_its_own_says_the_mode() {
        let printed = |mode: &str| {
            format!(
                "Java HotSpot\n\nheap address: 0x00000000c0000000, size: 1024 MB, Compressed Oops mode: {mode}\n\n"
            )
        };
        let read = |mode: &str| mode_before_xlog(&printed(mode)).map(|read| (read.mode, read.shift_bits));
        assert_eq!(read("32-bit"), Some((ReferenceMode::CompressedUnscaled, Some(0))));
        let zero = read("Zero based, Oop shift amount: 3");
        assert_eq!(zero, Some((ReferenceMode::CompressedZeroBased, Some(3))));
        let base = read("Non-zero based:0x00007f04ac9ff000, Oop shift amount: 3");
        assert_eq!(base, Some((ReferenceMode::CompressedNonZeroBase, Some(3))));
        assert_eq!(
            mode_before_xlog(&printed("32-bit")).and_then(|read| read.heap_base_address),
            Some(0xc000_0000)
        );
        assert_eq!(read("of another kind"), None);
        assert_eq!(mode_before_xlog("heap address: 0x"), None);
    }
}
