//! The JVM that writes: what its first lines and its pictures of the heap say of it.

use super::heap_lines::HeapLine;
use super::mode::ModeEvidence;
use crate::scan::{Scan, shortened};
use assay_model::{GcJvm, HeapRange};
use assay_text::redact;

/// Settings and flags that are kept.
const SETTINGS_MAX: usize = 200;
/// Characters of a setting.
const CHARS_MAX: usize = 400;

/// What is known of the JVM by now.
#[derive(Debug, Clone, Default)]
pub(super) struct JvmSoFar {
    jvm: GcJvm,
    mode: ModeEvidence,
}

impl JvmSoFar {
    /// As it is logged.
    pub fn told(&self) -> GcJvm {
        GcJvm { mode: self.mode.mode(), heap: self.mode.heap(), ..self.jvm.clone() }
    }

    /// Where and when it begins.
    pub fn begin(&mut self, source: usize, line: u64, unix_ns: Option<i64>) {
        (self.jvm.source, self.jvm.line, self.jvm.begun_unix_ns) = (source, line, unix_ns);
    }

    pub fn has_collector(&self) -> bool {
        self.jvm.collector.is_some()
    }

    pub fn is_cms(&self) -> bool {
        self.jvm.collector.as_deref() == Some("CMS")
    }

    pub fn is_shenandoah(&self) -> bool {
        self.jvm.collector.as_deref() == Some("Shenandoah")
    }

    pub fn region_bytes(&self) -> Option<u64> {
        self.jvm.region_bytes
    }

    /// Takes it from a line of a collection, where the log has lost its beginning.
    pub fn infer_collector(&mut self, name: &str, is_generational: Option<bool>) {
        if self.jvm.collector.is_none() {
            self.set_collector(name);
        }
        self.jvm.is_generational = self.jvm.is_generational.or(is_generational);
    }

    fn set_collector(&mut self, name: &str) {
        if name == "Z" {
            self.mode.take_z();
        }
        self.jvm.collector = Some(shortened(name, CHARS_MAX));
    }

    /// `Using G1`. `Using 2 workers of 2 for evacuation` is something else.
    pub fn take_using(&mut self, text: &str) -> Option<()> {
        self.set_collector(collector_used(text)?);
        Some(())
    }

    /// A line of the heap may contain the size of regions, the place of the heap, the mode of references.
    pub fn take_heap_line(&mut self, line: &HeapLine<'_>, text: &str) {
        match line {
            HeapLine::Extent(extent) => self.mode.take_extent(extent, text),
            HeapLine::RegionSize(bytes) => self.jvm.region_bytes = self.jvm.region_bytes.or(Some(*bytes)),
            HeapLine::Metaspace { class: Some(class), .. } => {
                self.mode.take_class_pointers(class.is_some(), text);
            }
            HeapLine::ClassSpace => self.mode.take_class_pointers(true, text),
            _ => {}
        }
    }

    /// A line of the start: `Key: value` in most cases.
    pub fn take_init(&mut self, text: &str) -> Option<()> {
        if self.take_addresses(text).is_some() || self.take_sizes(text).is_some() {
            return Some(());
        }
        let (key, value) = text.split_once(": ")?;
        let value = value.trim_ascii();
        match key {
            "Version" => {
                let version = value.strip_suffix(" (release)").unwrap_or(value);
                self.mode.take_version(version);
                self.jvm.version = Some(shortened(version, CHARS_MAX));
            }
            "Compressed Oops" => {
                self.mode.take_compressed_oops(value, text);
                self.take_setting("compressed references", &(value != "Disabled").to_string());
            }
            "CPUs" => self.jvm.processors = number_before(value, " available").or(self.jvm.processors),
            "Memory" => self.jvm.memory_bytes = Scan(value).size(),
            "Large Page Support" => self.jvm.large_pages = Some(shortened(value, CHARS_MAX)),
            "Heap Region Size" | "Heap region size" => self.jvm.region_bytes = Scan(value).size(),
            "Heap Min Capacity" | "Min Capacity" => self.jvm.heap_bytes_min = Scan(value).size(),
            "Heap Initial Capacity" | "Initial Capacity" => self.jvm.heap_bytes_initial = Scan(value).size(),
            "Heap Max Capacity" | "Max Capacity" => self.jvm.heap_bytes_max = Scan(value).size(),
            "Parallel Workers" => self.jvm.parallel_workers = Scan(value).number(),
            "Concurrent Workers" | "GC Workers" => self.jvm.concurrent_workers = Scan(value).number(),
            _ => self.take_setting(key, value),
        }
        if key == "Mode" {
            self.jvm.is_generational = Some(value == "Generational");
        } else if key == "GC Workers for Old Generation" {
            self.jvm.is_generational = Some(true);
        }
        Some(())
    }

    fn take_setting(&mut self, key: &str, value: &str) {
        if key.len() <= CHARS_MAX && self.jvm.settings.len() < SETTINGS_MAX {
            self.jvm.settings.insert(key.to_owned(), shortened(value, CHARS_MAX));
        }
    }

    /// Heap addresses.
    fn take_addresses(&mut self, text: &str) -> Option<()> {
        let mut scan = Scan(text);
        if scan.literal("Heap address: ").is_some() {
            let (start_address, _) = scan.address()?;
            scan.literal(", size: ")?;
            let reserved_bytes = scan.number()?.checked_mul(1 << 20)?;
            scan.literal(" MB, Compressed Oops mode: ")?;
            let heap = HeapRange { start_address, reserved_bytes };
            self.mode.take_compressed_heap(heap, scan.0, text);
            return Some(());
        }
        // `Heap:  min=8M max=64M base=0x00000000fc000000 page_size=4K size=64M`; JDK 25 has the last two in turn.
        scan.literal("Heap:")?;
        scan.until(" base=")?;
        let (start_address, digits) = scan.address()?;
        scan.until(" size=")?;
        let reserved_bytes = scan.size()?;
        self.mode.take_reserved_heap(HeapRange { start_address, reserved_bytes }, digits, text);
        Some(())
    }

    /// Shenandoah's picture of the heap: `- [0x00000000c0000000, 0x0000000100000000)` below `Reserved region:`.
    pub fn take_reserved_region(&mut self, text: &str) -> Option<()> {
        let mut scan = Scan(text);
        scan.literal("- [")?;
        let (start_address, digits) = scan.address()?;
        scan.literal(", ")?;
        let (end_address, _) = scan.address()?;
        scan.literal(")")?;
        scan.end()?;
        let reserved_bytes = end_address.checked_sub(start_address)?;
        self.mode.take_reserved_heap(HeapRange { start_address, reserved_bytes }, digits, text);
        Some(())
    }

    /// Sizes that stand several in a line.
    fn take_sizes(&mut self, text: &str) -> Option<()> {
        let mut scan = Scan(text);
        if scan.literal("Minimum heap ").is_some() {
            let min = scan.number()?;
            scan.blanks();
            scan.literal("Initial heap ")?;
            let initial = scan.number()?;
            scan.blanks();
            scan.literal("Maximum heap ")?;
            let max = scan.number()?;
            self.jvm.heap_bytes_min = Some(min);
            self.jvm.heap_bytes_initial = Some(initial);
            self.jvm.heap_bytes_max = Some(max);
        } else if scan.literal("Initialize Shenandoah heap: ").is_some() {
            self.jvm.heap_bytes_initial = Some(scan.size()?);
            scan.literal(" initial, ")?;
            self.jvm.heap_bytes_min = Some(scan.size()?);
            scan.literal(" min, ")?;
            self.jvm.heap_bytes_max = Some(scan.size()?);
        } else if scan.literal("Regions: ").is_some() {
            scan.number()?;
            scan.literal(" x ")?;
            self.jvm.region_bytes = Some(scan.size()?);
        } else if scan.literal("GC threads: ").is_some() {
            self.jvm.parallel_workers = Some(scan.number()?);
            scan.literal(" parallel, ")?;
            self.jvm.concurrent_workers = Some(scan.number()?);
        } else if scan.literal("UseCompressedClassPointers ").is_some() {
            let compressed = scan.number()? == 1;
            scan.literal(", UseCompactObjectHeaders ")?;
            let compact = scan.number()? == 1;
            self.mode.take_class_pointers(compressed, text);
            self.mode.take_compact_headers(compact);
        } else if text.starts_with("Compressed class space mapped at: ") {
            self.mode.take_class_pointers(true, text);
        } else {
            return None;
        }
        Some(())
    }

    /// `jvm_args: -Xmx64m -Dkey=value`, of `arguments`.
    pub fn take_arguments(&mut self, text: &str) {
        let Some(flags) = text.strip_prefix("jvm_args: ") else { return };
        // Blanks within a value are not marked: a word that does not begin as a flag is the rest of one, perhaps of a secret.
        let flags = flags.split_ascii_whitespace().filter(|flag| flag.starts_with('-'));
        for flag in flags.take(SETTINGS_MAX) {
            self.jvm.flags.push(shortened(&redact::word(flag), CHARS_MAX));
        }
    }
}

/// `20 total, 2 available` has 2 before ` available`.
fn number_before(text: &str, word: &str) -> Option<u64> {
    text.strip_suffix(word)?.rsplit(' ').next()?.parse().ok()
}

/// The collector that `Using ..` names.
pub(super) fn collector_used(text: &str) -> Option<&str> {
    match text.strip_prefix("Using ")? {
        "The Z Garbage Collector" => Some("Z"),
        "Concurrent Mark Sweep" => Some("CMS"),
        name @ ("Serial" | "Parallel" | "G1" | "Shenandoah" | "Epsilon") => Some(name),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_a_value_with_blanks_nothing_is_kept() {
        let mut so_far = JvmSoFar::default();
        so_far.take_arguments("jvm_args: -Xmx64m -Ddb.password=three word secret -XX:+UseG1GC");
        assert_eq!(so_far.told().flags, ["-Xmx64m", "-Ddb.password=<redacted>", "-XX:+UseG1GC"]);
    }
}
