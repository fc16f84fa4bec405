//! What a JVM before JDK 9 says of itself: version, memory, flags.

use crate::contract::At;
use crate::scan::shortened;
use assay_model::GcJvm;
use assay_text::redact;

const FLAGS_MAX: usize = 1_000;
const CHARS_MAX: usize = 200;

/// The JVM whose log is read, and the one that a header announces: a rotated set repeats it in every file.
#[derive(Debug, Default)]
pub(super) struct Header {
    jvm: GcJvm,
    /// Lines read since the last version line, until a stamp shows whether the JVM is another.
    next: Option<GcJvm>,
    collector_seen: Option<&'static str>,
}

impl Header {
    /// The JVM as it is known now.
    pub fn jvm(&self) -> GcJvm {
        let mut jvm = self.jvm.clone();
        if jvm.collector.is_none() {
            jvm.collector = self.collector_seen.map(str::to_owned);
        }
        jvm
    }

    /// Whether Shenandoah writes.
    pub fn is_shenandoah(&self) -> bool {
        self.collector_seen == Some("Shenandoah") || self.jvm.collector.as_deref() == Some("Shenandoah")
    }

    /// Whether a header announces a JVM that may be another.
    pub fn announces(&self) -> bool {
        self.next.is_some()
    }

    /// The JVM that the header announces begins, or the one without a header.
    pub fn begin(&mut self, at: At) {
        self.jvm = self.next.take().unwrap_or_else(|| GcJvm {
            source: at.source,
            line: at.line,
            ..GcJvm::default()
        });
        self.collector_seen = None;
    }

    /// A line was written at this time; the first counts.
    pub fn written_at(&mut self, unix_ns: Option<i64>) {
        self.jvm.begun_unix_ns = self.jvm.begun_unix_ns.or(unix_ns);
    }

    /// The header was that of the same JVM in a further file.
    pub fn goes_on(&mut self) {
        self.next = None;
    }

    /// `Java HotSpot(TM) 64-Bit Server VM (25.45-b02) for linux-amd64 JRE (1.8.0_45-b14), built on ..`
    pub fn take_version(&mut self, text: &str, at: At) {
        let mut jvm = GcJvm { source: at.source, line: at.line, ..GcJvm::default() };
        let release = text
            .split_once(" JRE (")
            .and_then(|(_, behind)| behind.split_once(')'))
            .map(|(release, _)| release);
        jvm.version = Some(release.map_or_else(|| shortened(text.trim(), CHARS_MAX), str::to_owned));
        let built = text.split_once(", built on").map_or(text, |(before, _)| before);
        jvm.settings.insert("VM".to_owned(), shortened(built.trim(), CHARS_MAX));
        self.next = Some(jvm);
    }

    fn target(&mut self) -> &mut GcJvm {
        self.next.as_mut().unwrap_or(&mut self.jvm)
    }

    /// `Memory: 4k page, physical 8162456k(1234k free), swap 0k(0k free)`
    pub fn take_memory(&mut self, text: &str) {
        let jvm = self.target();
        let physical = text.split_once("physical ").and_then(|(_, behind)| behind.split_once('k'));
        jvm.memory_bytes = physical.and_then(|(number, _)| number.parse::<u64>().ok()?.checked_mul(1024));
        jvm.settings
            .insert("Memory".to_owned(), shortened(text.trim_start_matches("Memory:").trim(), CHARS_MAX));
    }

    /// `CommandLine flags: -XX:InitialHeapSize=.. -XX:+UseG1GC `
    pub fn take_flags(&mut self, text: &str) {
        let jvm = self.target();
        for flag in text.trim_start_matches("CommandLine flags:").split_whitespace().take(FLAGS_MAX) {
            take_flag(jvm, flag);
            jvm.flags.push(redact::word(flag).into_owned());
        }
    }

    /// The collector shows in the names of generations and phases too.
    pub fn take_name(&mut self, name: &str) {
        if self.collector_seen.is_some_and(|seen| seen != "ParNew") {
            return;
        }
        let seen = match name {
            "CMS" | "ASCMS" => "CMS",
            "PSYoungGen" => "Parallel",
            "DefNew" => "Serial",
            "ParNew" => "ParNew",
            "Shenandoah" => "Shenandoah",
            "Eden" | "GC pause" | "GC remark" | "GC cleanup" => "G1",
            _ if name.starts_with("CMS-") => "CMS",
            _ if name.starts_with("GC concurrent-") => "G1",
            _ => return,
        };
        self.collector_seen = Some(seen);
    }
}

fn take_flag(jvm: &mut GcJvm, flag: &str) {
    let Some(flag) = flag.strip_prefix("-XX:") else { return };
    let collector = match flag {
        "+UseG1GC" => Some("G1"),
        "+UseConcMarkSweepGC" => Some("CMS"),
        "+UseParallelGC" | "+UseParallelOldGC" => Some("Parallel"),
        "+UseSerialGC" => Some("Serial"),
        "+UseShenandoahGC" => Some("Shenandoah"),
        _ => None,
    };
    if let Some(collector) = collector {
        jvm.collector = Some(collector.to_owned());
    }
    if matches!(flag, "+UseLargePages" | "-UseLargePages") {
        jvm.large_pages = Some(flag.to_owned());
    }
    if matches!(flag, "+UseCompressedOops" | "-UseCompressedOops") {
        let is_compressed = flag.starts_with('+').to_string();
        jvm.settings.insert("compressed references".to_owned(), is_compressed);
    }
    let Some((name, value)) = flag.split_once('=') else { return };
    let Ok(number) = value.parse::<u64>() else { return };
    match name {
        "InitialHeapSize" => jvm.heap_bytes_initial = Some(number),
        "MaxHeapSize" => jvm.heap_bytes_max = Some(number),
        "G1HeapRegionSize" => jvm.region_bytes = Some(number),
        "ParallelGCThreads" => jvm.parallel_workers = Some(number),
        "ConcGCThreads" => jvm.concurrent_workers = Some(number),
        _ => {}
    }
}
