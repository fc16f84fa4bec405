//! What options demand of each other, and of their values beyond a range. Each was measured on the JVMs: `tests/flags` holds them.

use super::Judge;
use super::remark::remark;
use crate::options::parse::Setting;
use assay_model::{Certainty, OptionRemark, RemarkOnOption};

const MIB: i128 = 1 << 20;
const GIB: i128 = 1 << 30;
/// From here on no reference of 32 bits reaches the end of a heap of 8-byte objects.
const COMPRESSED_MAX: i128 = 32 * GIB;
/// Below it the least stack decides, which differs with release and processor.
const SURE_STACK_KIB: i128 = 256;
/// Since then a bound that is given alone moves its counterpart.
const RATIOS_MOVE_SINCE: u32 = 27;
/// JDK 8 compares MinHeapFreeRatio with this default. It lists 100, which its default collector, Parallel, sets after the check.
const MAX_HEAP_FREE_RATIO_OF_8: i128 = 70;
/// Heuristics that exist in some release; which release has which was not looked up.
const SHENANDOAH_HEURISTICS: [&str; 4] = ["adaptive", "aggressive", "compact", "static"];

/// Flags that bound another: this one must not be above that one.
const ORDERED: [(&str, &str, ValidIn); 9] = [
    ("InitialHeapSize", "MaxHeapSize", ValidIn::All),
    ("MinHeapSize", "MaxHeapSize", ValidIn::All),
    ("MinHeapSize", "InitialHeapSize", ValidIn::All),
    ("InitialCodeCacheSize", "ReservedCodeCacheSize", ValidIn::All),
    ("MinHeapFreeRatio", "MaxHeapFreeRatio", ValidIn::RatiosSince(8)),
    ("MinMetaspaceFreeRatio", "MaxMetaspaceFreeRatio", ValidIn::RatiosSince(8)),
    ("ConcGCThreads", "ParallelGCThreads", ValidIn::Releases(11, 20)),
    ("InitialTenuringThreshold", "MaxTenuringThreshold", ValidIn::Releases(8, 8)),
    ("G1NewSizePercent", "G1MaxNewSizePercent", ValidIn::RatiosSince(11)),
];

/// Where two flags bound each other.
#[derive(Clone, Copy)]
enum ValidIn {
    /// In each release, where both are set.
    All,
    /// From a release on, where both are set; until 26 where one is set, against the other's default.
    RatiosSince(u32),
    /// In these, where both are set.
    Releases(u32, u32),
}

impl Judge<'_> {
    /// Of a value that cannot stand beside another, or that no range shows to be wrong.
    pub(super) fn relation(&self, at: usize, name: &str) -> Option<RemarkOnOption> {
        let name = self.target(name);
        if !self.is_last(at, name) {
            return None;
        }
        self.order(at, name).or_else(|| self.single(at, name)).or_else(|| self.beyond_compression(at, name))
    }

    /// Of references that are to be compressed in a heap that is too large for it.
    fn beyond_compression(&self, at: usize, name: &str) -> Option<RemarkOnOption> {
        let is_asked = self.settings[at] == Setting::Switch(name, true) && name == "UseCompressedOops";
        let alignment = self.set_number("ObjectAlignmentInBytes").unwrap_or(8);
        let is_beyond = COMPRESSED_MAX * alignment / 8 <= self.set_number("MaxHeapSize")?;
        let why = "a heap of that size is beyond compressed references, and the JVM switches them off";
        (is_asked && is_beyond).then(|| remark(at, OptionRemark::Changed, Certainty::Inferred, why))
    }

    fn set_number(&self, name: &str) -> Option<i128> {
        self.last(name, self.settings.len())?.number()
    }

    fn default_number(&self, name: &str) -> Option<i128> {
        if self.release == 8 && name == "MaxHeapFreeRatio" {
            return Some(MAX_HEAP_FREE_RATIO_OF_8);
        }
        self.flag(name)?.default.as_deref()?.parse().ok()
    }

    fn order(&self, at: usize, name: &str) -> Option<RemarkOnOption> {
        ORDERED.iter().filter(|(low, high, _)| *low == name || *high == name).find_map(
            |(low, high, valid)| {
                let with_default = match valid {
                    ValidIn::All => false,
                    ValidIn::RatiosSince(since) if self.release < *since => return None,
                    ValidIn::RatiosSince(_) => self.release < RATIOS_MOVE_SINCE,
                    ValidIn::Releases(from, to) if (from..=to).contains(&&self.release) => false,
                    ValidIn::Releases(..) => return None,
                };
                let number = |of: &str| {
                    self.set_number(of).or_else(|| self.default_number(of).filter(|_| with_default))
                };
                let (least, most) = (number(low)?, number(high)?);
                // 0 leaves the choice to the JVM.
                let is_wrong = most < least && (most != 0 || *high != "MaxHeapSize");
                let why = format!("{low} is above {high}, and the JVM does not start");
                is_wrong.then(|| remark(at, OptionRemark::Conflict, Certainty::Known, why))
            },
        )
    }

    fn single(&self, at: usize, name: &str) -> Option<RemarkOnOption> {
        if let (Setting::Value(_, text), "NativeMemoryTracking") = (&self.settings[at], name) {
            let is_wrong = !["off", "summary", "detail"].contains(text);
            let why = "it takes off, summary or detail, and the JVM does not start";
            return is_wrong.then(|| remark(at, OptionRemark::OutOfRange, Certainty::Known, why));
        }
        if let (Setting::Value(_, text), "ShenandoahGCHeuristics") = (&self.settings[at], name) {
            let why = "which heuristics a release has was not looked up";
            let is_known = SHENANDOAH_HEURISTICS.contains(text);
            return (!is_known).then(|| remark(at, OptionRemark::NotJudged, Certainty::Unknown, why));
        }
        if super::OPENED.contains(&name) {
            let why = "the JVM opens or reads what it names, which is not done here";
            return Some(remark(at, OptionRemark::NotJudged, Certainty::Unknown, why));
        }
        let value = self.settings[at].number()?;
        let wrong = |what: &str| {
            Some(remark(
                at,
                OptionRemark::OutOfRange,
                Certainty::Known,
                format!("{what}, and the JVM does not start"),
            ))
        };
        let open = |why: &str| Some(remark(at, OptionRemark::NotJudged, Certainty::Unknown, why));
        match name {
            "MaxHeapSize" if 8 < self.release && value < 2 * MIB => wrong("the least heap is 2m"),
            "MaxHeapSize" | "InitialHeapSize" if value != 0 && value < 2 * MIB => {
                open("how small a heap may be differs between JVMs")
            }
            "ThreadStackSize" if value != 0 && value < SURE_STACK_KIB => {
                open("how small a stack may be differs between JVMs")
            }
            "MaxMetaspaceSize" if value == 0 => wrong("metaspace needs some memory"),
            "ReservedCodeCacheSize" if 2 * GIB < value => wrong("the code cache has at most 2g"),
            "ObjectAlignmentInBytes" if value.count_ones() != 1 => wrong("it must be a power of two"),
            "CICompilerCount" if value < 2 => {
                open("how many compiler threads are needed depends on the compilers")
            }
            "ParallelGCThreads" if value == 0 => self.without_threads(at),
            _ => None,
        }
    }

    /// Collectors that work with threads cannot have none.
    fn without_threads(&self, at: usize) -> Option<RemarkOnOption> {
        let asked = self.collectors().next();
        if matches!(asked, Some((_, "Serial" | "Epsilon"))) {
            return None;
        }
        let (who, certainty) = match asked {
            Some((flag, _)) => (flag, Certainty::Known),
            None => ("the collector that a server gets", Certainty::Inferred),
        };
        let why = format!("{who} needs threads, and the JVM does not start");
        Some(remark(at, OptionRemark::Conflict, certainty, why))
    }
}
