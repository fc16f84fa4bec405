//! Whether an OpenJ9 or IBM J9 compresses references, as its verbose GC log or its javacore says.
//!
//! A version that ends in `CMPRSS` marks compressed references. There are three spellings: `20080724_AA CMPRSS` (IBM's
//! paper on compressed references of 2009), `R26_Java626_GA_FP1_20110418_1915_B80450_CMPRSS`, and `fa000e8_CMPRSS`. Logs
//! from R26 on also have `<attribute name="compressedRefs" value="true" />` with the shift, which is more than the mark
//! says, and is preferred. A javacore has the mark behind `1CIGCVERSION`.
//!
//! The text is searched line by line and not parsed: logs are read while they are written, so that the root has no end,
//! a restart adds a second one, and messages of the JVM stand between. Of several roots the last counts.

use super::tag::{self, LinePart};
use crate::scan::shortened;
use assay_model::{ModeRead, ReferenceMode};
use std::io::{BufRead, Read};

/// Before this the mark must have come; a log of standard error may begin with other text.
const SEARCHED_BYTES_MAX: u64 = 8 << 20;
/// Bytes that are read of such a log.
const LOG_BYTES_MAX: u64 = 1 << 30;
/// The class path in a javacore is the longest line.
const LINE_BYTES_MAX: u64 = 64 << 10;
const EVIDENCE_CHARS_MAX: usize = 160;
/// As `os.arch` spells them.
const ARCHITECTURES_64: [&str; 9] =
    ["amd64", "x86_64", "ppc64", "ppc64le", "s390x", "aarch64", "ia64", "riscv64", "riscv"];
const ARCHITECTURES_32: [&str; 6] = ["x86", "i386", "ppc", "s390", "arm", "aarch32"];

/// What a J9 says of itself.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct J9Mode {
    /// Whether references are compressed.
    pub is_compressed: Option<bool>,
    /// The mode; absent when the shift, or the word size, is not logged.
    pub mode: Option<ModeRead>,
}

/// Reads a J9's verbose GC log or javacore; `None` when the text is neither. Content is never an error, and an I/O error
/// ends the text.
pub fn read_j9(from: impl BufRead) -> Option<J9Mode> {
    let mut from = from.take(LOG_BYTES_MAX);
    let (mut line, mut read_bytes, mut root) = (Vec::new(), 0u64, None::<Root>);
    let mut javacore_bits = None;
    loop {
        line.clear();
        let bytes = (&mut from).take(LINE_BYTES_MAX).read_until(b'\n', &mut line).unwrap_or(0);
        if bytes == 0 || (root.is_none() && SEARCHED_BYTES_MAX < read_bytes) {
            return root.map(Root::mode);
        }
        read_bytes += bytes as u64;
        let text = String::from_utf8_lossy(&line);
        if let Some(version) = text.strip_prefix("1CIJAVAVERSION") {
            javacore_bits = bits_of_javacore(version);
        } else if let Some(version) = text.strip_prefix("1CIGCVERSION") {
            root = Some(Root { bits: javacore_bits.take(), ..Root::begin(version, &text) });
        }
        let mut rest = &*text;
        while let Some(piece) = tag::next(&mut rest) {
            let LinePart::Open { name, attributes, .. } = piece else { continue };
            match (name, attributes.values(["version", "name", "value"]), &mut root) {
                ("verbosegc", [Some(version), ..], _) => root = Some(Root::begin(version, &text)),
                ("attribute", [_, Some(name), Some(value)], Some(root)) => {
                    root.take_attribute(name, value, &text);
                }
                _ => {}
            }
        }
    }
}

/// What one JVM wrote.
#[derive(Debug, Default, Clone)]
pub(super) struct Root {
    version_line: String,
    is_marked: bool,
    compressed: Option<(bool, String)>,
    shift_bits: Option<u8>,
    displacement: Option<u64>,
    bits: Option<u8>,
}

impl Root {
    /// A root with the version that stands on this line.
    pub(super) fn begin(version: &str, text: &str) -> Self {
        let marked = version.trim_end().strip_suffix("CMPRSS");
        Root {
            version_line: shortened(text.trim(), EVIDENCE_CHARS_MAX),
            is_marked: marked.is_some_and(|rest| rest.ends_with(['_', ' '])),
            ..Root::default()
        }
    }

    /// Takes an attribute of this line.
    pub(super) fn take_attribute(&mut self, name: &str, value: &str, text: &str) {
        match name {
            "compressedRefs" => {
                self.compressed = Some((value == "true", shortened(text.trim(), EVIDENCE_CHARS_MAX)));
            }
            "compressedRefsShift" => self.shift_bits = hexadecimal(value).and_then(|v| u8::try_from(v).ok()),
            "compressedRefsDisplacement" => self.displacement = hexadecimal(value),
            "architecture" if ARCHITECTURES_64.contains(&value) => self.bits = Some(64),
            "architecture" if ARCHITECTURES_32.contains(&value) => self.bits = Some(32),
            _ => {}
        }
    }

    /// What the root says of references.
    pub(super) fn mode(self) -> J9Mode {
        let (is_compressed, evidence) = self.compressed.unwrap_or((self.is_marked, self.version_line));
        let mode = match (is_compressed, self.shift_bits, self.bits) {
            (true, Some(0), _) => Some(ReferenceMode::CompressedUnscaled),
            (true, Some(_), _) if self.displacement.is_none_or(|d| d == 0) => {
                Some(ReferenceMode::CompressedZeroBased)
            }
            (true, Some(_), _) => Some(ReferenceMode::CompressedNonZeroBase),
            (true, None, _) | (false, _, None) => None,
            (false, _, Some(32)) => Some(ReferenceMode::Bits32),
            // A J9 with full references has full class pointers.
            (false, _, Some(_)) => Some(ReferenceMode::Full64),
        };
        let mode = mode.map(|mode| ModeRead {
            mode,
            compact_headers: Some(false),
            shift_bits: self.shift_bits.filter(|_| is_compressed),
            heap_base_address: None,
            evidence,
        });
        J9Mode { is_compressed: Some(is_compressed), mode }
    }
}

fn hexadecimal(text: &str) -> Option<u64> {
    u64::from_str_radix(text.strip_prefix("0x")?, 16).ok()
}

/// `JRE 1.7.0 Linux amd64-64 build 20130205_137358 (...)`
fn bits_of_javacore(version: &str) -> Option<u8> {
    version.split_whitespace().find_map(|word| match word.rsplit_once('-')? {
        (_, "64") => Some(64),
        (_, "32" | "31") => Some(32),
        _ => None,
    })
}

#[cfg(test)]
#[path = "root_tests.rs"]
mod tests;
