//! What to do about a wanted heap size.
//!
//! Sizes are compared by what they hold: a heap of 40 GiB with full references holds the objects that take 30 GiB with
//! compressed ones, if those occupy a third more. All figures follow from the computed limits and the ratios; how much
//! time a mode costs is not in here.

use super::footprint_ratios::FootprintRatios;
use assay_jdk::modes::{AddressSpace, HeapSetting, thresholds};
use assay_jdk::{Collector, Release};
use assay_model::{Finding, ModeRule, ReferenceMode, Severity};
use assay_text::size;

const MIB: u64 = 1 << 20;
const GIB: f64 = (1u64 << 30) as f64;
/// A lower base that leaves enough room above `vm.mmap_min_addr`, and for a program without position independence.
const LOWER_BASE: u64 = 1 << 30;

/// A heap size that is wanted, on one JVM.
#[derive(Debug, Clone, Copy)]
pub struct WantedHeap<'a> {
    /// `-Xmx`, in bytes.
    pub max_heap_bytes: u64,
    /// The JVM, its collector and options.
    pub setting: &'a HeapSetting,
    /// Addresses on this host.
    pub space: &'a AddressSpace,
    /// What objects occupy.
    pub ratios: FootprintRatios,
}

/// Possible actions, the simplest first; empty where the mode is not known.
pub fn advise(wanted: &WantedHeap<'_>) -> Vec<Finding<ModeRule>> {
    let Some(mode) = wanted.mode() else { return Vec::new() };
    let mut advice = match mode {
        ReferenceMode::CompressedDisjointBase | ReferenceMode::CompressedNonZeroBase => wanted.with_base(),
        ReferenceMode::Full64 | ReferenceMode::Full64CompressedClassPointers
            if wanted.setting.collector != Collector::Z && !wanted.setting.options.is_compression_off =>
        {
            wanted.full()
        }
        _ => vec![wanted.stay(mode)],
    };
    advice.extend(wanted.compact_headers(mode));
    advice
}

impl WantedHeap<'_> {
    fn mode(&self) -> Option<ReferenceMode> {
        self.setting.mode_of(self.max_heap_bytes, self.space).mode
    }

    fn largest(&self, mode: ReferenceMode) -> Option<u64> {
        let mut thresholds = thresholds(self.setting, self.space).into_iter();
        thresholds.find(|(found, _)| *found == mode).map(|(_, bytes)| bytes)
    }

    /// The same JVM with other options.
    fn with(&self, change: impl FnOnce(&mut HeapSetting)) -> HeapSetting {
        let mut setting = self.setting.clone();
        change(&mut setting);
        setting
    }

    fn xmx(&self) -> String {
        format!("-Xmx{}", size::option(self.max_heap_bytes))
    }

    /// The actions, by the mode that the wanted heap would have and why.
    fn advice(&self, rule: ModeRule, claim: String, options: &[String]) -> Finding<ModeRule> {
        let computed = self.setting.mode_of(self.max_heap_bytes, self.space);
        let mode = computed.mode.map_or("mode not known", ReferenceMode::name);
        let evidence = format!("{}: {mode}, {}", self.xmx(), computed.decided_by);
        Finding::measured(rule, Severity::Note, claim, evidence).to_do(options.join(" "))
    }

    fn stay(&self, mode: ReferenceMode) -> Finding<ModeRule> {
        let why = match mode {
            ReferenceMode::CompressedUnscaled => "compressed oops are unscaled: they are used as addresses",
            ReferenceMode::CompressedZeroBased => "compressed oops are zero-based: decoding is a shift",
            ReferenceMode::Bits32 => "a 32-bit JVM has one mode",
            _ if self.setting.collector == Collector::Z => "ZGC has 64-bit references at every size",
            _ => "compressed references are switched off",
        };
        let claim = format!("{} gets {}: {why}", self.xmx(), mode.name());
        self.advice(ModeRule::KeepSize, claim, &[self.xmx()])
    }

    /// Between the last zero-based size and the end of compressed references: the base costs time, no bytes.
    fn with_base(&self) -> Vec<Finding<ModeRule>> {
        let mut advice = Vec::new();
        if let Some(under) =
            self.largest(ReferenceMode::CompressedZeroBased).filter(|u| *u < self.max_heap_bytes)
        {
            let claim = format!(
                "{} adds a base to every decoded reference; -Xmx{} is the last size without one, and holds {} less",
                self.xmx(),
                size::option(under),
                size::exact(self.max_heap_bytes - under),
            );
            let options = vec![format!("-Xmx{}", size::option(under))];
            advice.push(self.advice(ModeRule::BelowThreshold, claim, &options));
        }
        let lower = self.with(|setting| setting.options.heap_base_min_address = Some(LOWER_BASE));
        let zero_based = Some(ReferenceMode::CompressedZeroBased);
        if lower.mode_of(self.max_heap_bytes, self.space).mode == zero_based {
            let base = format!("-XX:HeapBaseMinAddress={}", size::option(LOWER_BASE));
            let claim = format!(
                "with {base} {} is zero-based on this host: the heap may begin lower, where nothing lies",
                self.xmx()
            );
            advice.push(self.advice(ModeRule::LowerBase, claim, &[self.xmx(), base]));
        }
        advice
    }

    /// Beyond compressed references: the same objects occupy more.
    fn full(&self) -> Vec<Finding<ModeRule>> {
        let wanted = self.max_heap_bytes as f64;
        let holds = wanted / self.ratios.full;
        let mut advice = Vec::new();
        let limit = self.largest(ReferenceMode::CompressedDisjointBase);
        let under = self.largest(ReferenceMode::CompressedZeroBased);
        if let Some(under) = [under, limit].into_iter().flatten().find(|under| holds <= *under as f64) {
            let claim = format!(
                "{} has 64-bit references and holds what {:.1} GiB hold with compressed ones: -Xmx{} holds more ({})",
                self.xmx(),
                holds / GIB,
                size::option(under),
                self.ratios.source(),
            );
            let options = vec![format!("-Xmx{}", size::option(under))];
            advice.push(self.advice(ModeRule::BelowThreshold, claim, &options));
        }
        advice.extend(self.alignment_16());
        if let Some(limit) = limit.or(under) {
            let pays_from = limit as f64 * self.ratios.full;
            let is_past = pays_from <= wanted;
            let claim = format!(
                "64-bit references hold more than -Xmx{} from -Xmx{:.0}g on ({}); {} holds what {:.1} GiB hold with compressed ones",
                size::option(limit),
                (pays_from / GIB).ceil(),
                self.ratios.source(),
                self.xmx(),
                holds / GIB,
            );
            let past = if is_past { self.max_heap_bytes } else { ((pays_from / GIB).ceil() as u64) << 30 };
            let options = vec![format!("-Xmx{}", size::option(past))];
            advice.push(self.advice(ModeRule::AboveThreshold, claim, &options));
        }
        advice
    }

    fn alignment_16(&self) -> Option<Finding<ModeRule>> {
        let weight = self.ratios.alignment_16.filter(|weight| *weight < self.ratios.full)?;
        let aligned = self.with(|setting| setting.options.object_alignment_bytes = 16);
        let mode = aligned.mode_of(self.max_heap_bytes, self.space).mode?;
        if !matches!(mode, ReferenceMode::CompressedZeroBased | ReferenceMode::CompressedDisjointBase) {
            return None;
        }
        let same = self.max_heap_bytes as f64 / self.ratios.full * weight;
        let claim = format!(
            "with alignment 16 {} is {}, and holds {:.0} % more: {:.1} GiB would hold the same ({})",
            self.xmx(),
            mode.name(),
            (self.ratios.full / weight - 1.0) * 100.0,
            same / GIB,
            self.ratios.source(),
        );
        let options = vec![self.xmx(), "-XX:ObjectAlignmentInBytes=16".to_owned()];
        Some(self.advice(ModeRule::Alignment16, claim, &options))
    }

    /// Headers of 8 bytes instead of 12 make room in every mode of a 64-bit JVM; what they save may bring a heap under the
    /// threshold.
    fn compact_headers(&self, mode: ReferenceMode) -> Option<Finding<ModeRule>> {
        let options = &self.setting.options;
        let is_possible = self.setting.bits == 64
            && Release::product_since("UseCompactObjectHeaders") <= self.setting.feature
            && !options.has_compact_headers
            && !options.are_class_pointers_full;
        let is_full = matches!(mode, ReferenceMode::Full64 | ReferenceMode::Full64CompressedClassPointers);
        let ratio =
            if is_full { self.ratios.compact_full? / self.ratios.full } else { self.ratios.compact? };
        if !is_possible || 1.0 <= ratio {
            return None;
        }
        // Objects that the wanted heap would hold, without full references where they then fit.
        let compressed = if is_full { self.ratios.compact? / self.ratios.full } else { ratio };
        let needed = whole_mib(self.max_heap_bytes as f64 * compressed);
        let fitting = self.setting.mode_of(needed, self.space).mode;
        let is_better = fitting != Some(mode) && fitting == Some(ReferenceMode::CompressedZeroBased);
        let max = if is_better { needed } else { whole_mib(self.max_heap_bytes as f64 * ratio) };
        let claim = format!(
            "with compact headers -Xmx{} holds what {} holds without{} ({})",
            size::option(max),
            self.xmx(),
            if is_better { ", and is zero-based" } else { "" },
            self.ratios.source(),
        );
        let options = vec![format!("-Xmx{}", size::option(max)), "-XX:+UseCompactObjectHeaders".to_owned()];
        Some(self.advice(ModeRule::CompactHeaders, claim, &options))
    }
}

/// Rounded up, so that it holds what it should.
fn whole_mib(bytes: f64) -> u64 {
    ((bytes / MIB as f64).ceil() as u64).saturating_mul(MIB)
}

#[cfg(test)]
#[path = "advice_tests.rs"]
mod tests;
