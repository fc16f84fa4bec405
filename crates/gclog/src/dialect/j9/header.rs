//! What a J9 says of itself: `<initialized>` with its attributes, system and arguments.

use super::root::Root;
use super::tag::{Attributes, unescaped};
use crate::contract::At;
use assay_model::GcJvm;
use assay_text::redact;

const FLAGS_MAX: usize = 1_000;
const SETTINGS_MAX: usize = 200;

/// The JVM as it is known.
#[derive(Debug, Default)]
pub(super) struct Header {
    jvm: GcJvm,
    root: Option<Root>,
    page: Option<u64>,
    page_asked: Option<u64>,
    architecture: Option<String>,
}

impl Header {
    /// A header that begins here.
    pub fn at(at: At) -> Self {
        Header { jvm: GcJvm { source: at.source, line: at.line, ..GcJvm::default() }, ..Header::default() }
    }

    pub fn jvm(&self) -> GcJvm {
        let mut jvm = self.jvm.clone();
        if let Some(read) = self.root.clone().map(Root::mode) {
            // The mark of the version alone does not show the shift, and so not the mode.
            if let Some(is_compressed) = read.is_compressed {
                jvm.settings.insert("compressed references".to_owned(), is_compressed.to_string());
            }
            jvm.mode = read.mode;
        }
        if let (Some(asked), Some(got)) = (self.page_asked, self.page) {
            jvm.large_pages = Some(format!("requested {asked} bytes, got {got} bytes"));
        }
        jvm
    }

    /// `<verbosegc version="..">`
    pub fn take_root(&mut self, attributes: &Attributes<'_>, text: &str) {
        let version = attributes.get("version");
        self.jvm.version = version.map(str::to_owned);
        // A rotated file has the root without the attributes; those of the file before stay valid.
        if self.root.is_none() {
            self.root = version.map(|version| Root::begin(version, text));
        }
    }

    /// When the first line was written, on the machine's own clock.
    pub fn begun(&mut self, timestamp: &str) {
        let clock = format!("local time without a zone; times are counted from {timestamp}");
        self.jvm.settings.entry("clock".to_owned()).or_insert(clock);
    }

    /// `<attribute name=".." value=".." />`
    pub fn take_attribute(&mut self, attributes: &Attributes<'_>, text: &str) {
        let [Some(name), Some(value)] = attributes.values(["name", "value"]) else { return };
        if let Some(root) = &mut self.root {
            root.take_attribute(name, value, text);
        }
        let number = number(value);
        let jvm = &mut self.jvm;
        match name {
            "gcPolicy" => {
                let policy = value.rsplit(':').next().unwrap_or(value);
                jvm.collector = Some(policy.to_owned());
                jvm.is_generational = match policy {
                    "gencon" => Some(true),
                    "optthruput" | "optavgpause" | "metronome" | "nogc" => Some(false),
                    _ => None,
                };
            }
            "maxHeapSize" => jvm.heap_bytes_max = number,
            "initialHeapSize" => jvm.heap_bytes_initial = number,
            "regionSize" => jvm.region_bytes = number,
            "gcthreads" => jvm.parallel_workers = number,
            "gcthreads Concurrent Mark" => jvm.concurrent_workers = number,
            "physicalMemory" => jvm.memory_bytes = number,
            "numCPUs" => jvm.processors = number,
            "pageSize" => self.page = number,
            "requestedPageSize" => self.page_asked = number,
            "architecture" => self.architecture = Some(value.to_owned()),
            _ => {}
        }
        if self.jvm.settings.len() < SETTINGS_MAX {
            self.jvm.settings.insert(name.to_owned(), unescaped(value));
        }
    }

    /// `<vmarg name="-Xmx1g" />`
    pub fn take_argument(&mut self, attributes: &Attributes<'_>) {
        if let Some(name) = attributes.get("name").filter(|_| self.jvm.flags.len() < FLAGS_MAX) {
            self.jvm.flags.push(redact::word(&unescaped(name)).into_owned());
        }
    }
}

/// `0x40000000` or `8589934592`
fn number(text: &str) -> Option<u64> {
    text.strip_prefix("0x").map_or_else(|| text.parse().ok(), |digits| u64::from_str_radix(digits, 16).ok())
}
