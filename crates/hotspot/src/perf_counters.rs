//! The JVM's performance counters, which `jcmd PID PerfCounter.print` prints: a memory with a head and an entry for each counter
//! (`perfMemory.hpp`). With `-XX:-UsePerfData` there are none.

use crate::Hotspot;

/// First bytes of the memory, in any order of bytes.
const MAGIC: [u8; 4] = [0xca, 0xfe, 0xc0, 0xc0];
/// Bytes of the head: magic, order of bytes, two of version, one flag, bytes used, overflow, time, offset of the first entry, entries.
const HEAD_BYTES: usize = 32;
/// Bytes of an entry before its name: its length, offset of the name, length of a vector, type, flags, unit, variability, offset of the value.
const ENTRY_BYTES: usize = 20;
/// Memory that is read. `PerfDataMemorySize` is 32 KiB where nobody sets it.
const BYTES_MAX: usize = 4 << 20;
/// The type of a counter that is one number: a Java `long`.
const LONG: u8 = b'J';

/// Performance counters of a JVM, as they were at one look.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PerfCounters {
    bytes: Vec<u8>,
}

impl PerfCounters {
    /// A counter that is one number, by its name, such as `java.cls.loadedClasses`; `None` where there is none.
    pub fn number(&self, name: &str) -> Option<i64> {
        let entries = self.u32(28)?;
        let mut at = self.u32(24)?;
        for _ in 0..entries {
            let bytes = self.u32(at)?;
            if bytes < ENTRY_BYTES {
                return None;
            }
            let found = self.bytes.get(at.checked_add(self.u32(at + 4)?)?..)?;
            if found.strip_prefix(name.as_bytes()).is_some_and(|rest| rest.first() == Some(&0)) {
                let is_number = self.u32(at + 8)? == 0 && *self.bytes.get(at + 12)? == LONG;
                let value = at.checked_add(self.u32(at + 16)?)?;
                let value = self.bytes.get(value..)?.first_chunk().filter(|_| is_number)?;
                return Some(i64::from_le_bytes(*value));
            }
            at = at.checked_add(bytes)?;
        }
        None
    }

    fn u32(&self, at: usize) -> Option<usize> {
        let bytes = self.bytes.get(at..)?.first_chunk()?;
        Some(u32::from_le_bytes(*bytes) as usize)
    }
}

impl Hotspot<'_> {
    /// The JVM's performance counters; `None` where it keeps none.
    pub fn perf_counters(&self) -> Option<PerfCounters> {
        let source = self.source();
        let start = self.structs().static_address("PerfMemory", "_start")?;
        let start = source.word(start).filter(|start| *start != 0)?;
        let mut head = [0; HEAD_BYTES];
        source.read(start, &mut head).ok()?;
        let head = PerfCounters { bytes: head.to_vec() };
        let bytes = head.u32(8).filter(|bytes| head.bytes.starts_with(&MAGIC) && *bytes <= BYTES_MAX)?;
        let mut bytes = vec![0; bytes];
        source.read(start, &mut bytes).ok()?;
        Some(PerfCounters { bytes })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// A memory with these counters.
    fn memory(counters: &[(&str, u8, i64)]) -> PerfCounters {
        let mut bytes = MAGIC.to_vec();
        bytes.extend([1, 2, 0, 1]);
        bytes.resize(24, 0);
        for word in [HEAD_BYTES, counters.len()] {
            bytes.extend((word as u32).to_le_bytes());
        }
        for (name, kind, value) in counters {
            let value_at = (ENTRY_BYTES + name.len() + 1).next_multiple_of(8);
            let at = bytes.len();
            for word in [value_at + 8, ENTRY_BYTES, 0] {
                bytes.extend((word as u32).to_le_bytes());
            }
            bytes.extend([*kind, 0, 1, 1]);
            bytes.extend((value_at as u32).to_le_bytes());
            bytes.extend(name.as_bytes());
            bytes.resize(at + value_at, 0);
            bytes.extend(value.to_le_bytes());
        }
        PerfCounters { bytes }
    }

    #[test]
    fn a_counter_is_found_by_its_whole_name() {
        let counters = memory(&[("java.cls.loaded", LONG, 1), ("java.cls.loadedClasses", LONG, -7)]);
        assert_eq!(counters.number("java.cls.loadedClasses"), Some(-7));
        assert_eq!(counters.number("java.cls.loaded"), Some(1));
        assert_eq!(counters.number("java.cls.load"), None);
        assert_eq!(memory(&[("java.cls.loaded", b'B', 1)]).number("java.cls.loaded"), None, "a text");
    }

    proptest! {
        #[test]
        fn no_bytes_bring_it_down(bytes in proptest::collection::vec(any::<u8>(), 0..200), at in 0..90_usize, byte in any::<u8>()) {
            let _ = PerfCounters { bytes }.number("x");
            let mut counters = memory(&[("a", LONG, 1), ("x", LONG, 2)]);
            if let Some(changed) = counters.bytes.get_mut(at) {
                *changed = byte;
            }
            let _ = counters.number("x");
        }
    }
}
