//! What to do about a wanted heap size.
//!
//! Sizes are compared by what they hold: a heap of 40 GiB with full references holds the objects that take 30 GiB with
//! compressed ones, if those occupy a third more. All figures follow from the computed limits and the ratios, so that no rule has a
//! threshold of its own; how much time a mode costs is not in here.

use super::footprint_ratios::FootprintRatios;
use assay_jdk::modes::{AddressSpace, HeapSetting, thresholds};
use assay_jdk::{Collector, Release};
use assay_model::{Explanation, Finding, ReferenceMode, Rule, RuleId, Severity};
use assay_text::size;

const MIB: u64 = 1 << 20;
const GIB: f64 = (1u64 << 30) as f64;
/// A lower base that leaves enough room above `vm.mmap_min_addr`, and for a program without position independence.
const LOWER_BASE_ADDRESS: u64 = 1 << 30;

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

/// What is advised.
type Advice = Finding<RuleId>;

/// A rule, which judges a wanted heap by the mode that it would have.
type ModeRule = Rule<fn(&WantedHeap<'_>, ReferenceMode) -> Option<Advice>>;

/// All rules, the plainest first.
static RULES: &[&ModeRule] =
    &[&KEEP_SIZE, &BELOW_THRESHOLD, &LOWER_BASE, &ALIGNMENT_16, &ABOVE_THRESHOLD, &COMPACT_HEADERS];

/// What each rule says in general.
pub fn rules() -> Vec<Explanation> {
    RULES.iter().map(|rule| rule.explained()).collect()
}

/// What can be done, the plainest first; empty where the mode is not known.
pub fn advise(wanted: &WantedHeap<'_>) -> Vec<Advice> {
    let Some(mode) = wanted.mode() else { return Vec::new() };
    RULES.iter().filter_map(|rule| (rule.judge)(wanted, mode)).collect()
}

/// What a mode costs that another size or option saves.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Cost {
    /// Between the last zero-based size and the end of compressed references: the base costs time, no bytes.
    Base,
    /// Beyond compressed references: the same objects occupy more.
    FullReferences,
    /// Nothing.
    Nothing,
}

impl WantedHeap<'_> {
    fn mode(&self) -> Option<ReferenceMode> {
        self.setting.mode_of(self.max_heap_bytes, self.space).mode
    }

    fn cost(&self, mode: ReferenceMode) -> Cost {
        match mode {
            ReferenceMode::CompressedDisjointBase | ReferenceMode::CompressedNonZeroBase => Cost::Base,
            ReferenceMode::Full64 | ReferenceMode::Full64CompressedClassPointers
                if self.setting.collector != Collector::Z && !self.setting.options.is_compression_off =>
            {
                Cost::FullReferences
            }
            _ => Cost::Nothing,
        }
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

    /// What to do, by the mode that the wanted heap would have and why.
    fn advice(&self, rule: &ModeRule, claim: String, options: &[String]) -> Advice {
        let computed = self.setting.mode_of(self.max_heap_bytes, self.space);
        let mode = computed.mode.map_or("mode not known", ReferenceMode::name);
        let evidence = format!("{}: {mode}, {}", self.xmx(), computed.decided_by);
        rule.finding(claim, evidence).to_do(options.join(" "))
    }

    /// Bytes that hold the same objects with compressed references.
    fn holds(&self) -> f64 {
        self.max_heap_bytes as f64 / self.ratios.full
    }

    /// The largest heap with compressed references.
    fn largest_compressed(&self) -> Option<u64> {
        self.largest(ReferenceMode::CompressedDisjointBase)
            .or_else(|| self.largest(ReferenceMode::CompressedZeroBased))
    }
}

static KEEP_SIZE: ModeRule = Rule {
    id: RuleId::of("keep-size"),
    severity: Severity::Note,
    thresholds: &[],
    evidence: "The mode that the size gets, and why nothing is gained by another size.",
    cause: "Compressed oops are unscaled or zero-based, the cheapest to decode, or the collector has one mode \
        at every size.",
    fix: "The size as it is.",
    alternatives: &[],
    judge: keep_size,
};

fn keep_size(wanted: &WantedHeap<'_>, mode: ReferenceMode) -> Option<Advice> {
    if wanted.cost(mode) != Cost::Nothing {
        return None;
    }
    let why = match mode {
        ReferenceMode::CompressedUnscaled => "compressed oops are unscaled: they are used as addresses",
        ReferenceMode::CompressedZeroBased => "compressed oops are zero-based: decoding is a shift",
        ReferenceMode::Bits32 => "a 32-bit JVM has one mode",
        _ if wanted.setting.collector == Collector::Z => "ZGC has 64-bit references at every size",
        _ => "compressed references are switched off",
    };
    let claim = format!("{} gets {}: {why}", wanted.xmx(), mode.name());
    Some(wanted.advice(&KEEP_SIZE, claim, &[wanted.xmx()]))
}

static BELOW_THRESHOLD: ModeRule = Rule {
    id: RuleId::of("below-threshold"),
    severity: Severity::Note,
    thresholds: &[],
    evidence: "The size, its mode, the largest size of a cheaper mode, and the bytes that 64-bit references \
        add to the objects.",
    cause: "Above about 30 GB each decoded reference has a base added. Above about 32 GB references have 64 \
        bits, and the same objects need more.",
    fix: "The `-Xmx` just below the threshold.",
    alternatives: &[],
    judge: below_threshold,
};

fn below_threshold(wanted: &WantedHeap<'_>, mode: ReferenceMode) -> Option<Advice> {
    let zero_based = wanted.largest(ReferenceMode::CompressedZeroBased);
    let (below, claim) = match wanted.cost(mode) {
        Cost::Base => {
            let below = zero_based.filter(|below| *below < wanted.max_heap_bytes)?;
            let claim = format!(
                "{} adds a base to every decoded reference. -Xmx{} is the last size without one, and holds {} \
                    less",
                wanted.xmx(),
                size::option(below),
                size::exact(wanted.max_heap_bytes - below),
            );
            (below, claim)
        }
        Cost::FullReferences => {
            let holds = wanted.holds();
            let largest = [zero_based, wanted.largest(ReferenceMode::CompressedDisjointBase)];
            let below = largest.into_iter().flatten().find(|below| holds <= *below as f64)?;
            let claim = format!(
                "{} has 64-bit references and holds what {:.1} GiB hold with compressed ones: -Xmx{} holds more ({})",
                wanted.xmx(),
                holds / GIB,
                size::option(below),
                wanted.ratios.source(),
            );
            (below, claim)
        }
        Cost::Nothing => return None,
    };
    Some(wanted.advice(&BELOW_THRESHOLD, claim, &[format!("-Xmx{}", size::option(below))]))
}

static LOWER_BASE: ModeRule = Rule {
    id: RuleId::of("lower-base"),
    severity: Severity::Note,
    thresholds: &[],
    evidence: "The mode with and without `-XX:HeapBaseMinAddress`, by the address space of this host.",
    cause: "The heap must end below 32 GB to need no base, and begins higher than it could.",
    fix: "`-XX:HeapBaseMinAddress` as named.",
    alternatives: &[],
    judge: lower_base,
};

fn lower_base(wanted: &WantedHeap<'_>, mode: ReferenceMode) -> Option<Advice> {
    let lower = wanted.with(|setting| setting.options.heap_base_min_address = Some(LOWER_BASE_ADDRESS));
    let with_lower = lower.mode_of(wanted.max_heap_bytes, wanted.space).mode;
    if wanted.cost(mode) != Cost::Base || with_lower != Some(ReferenceMode::CompressedZeroBased) {
        return None;
    }
    let base = format!("-XX:HeapBaseMinAddress={}", size::option(LOWER_BASE_ADDRESS));
    let claim = format!(
        "with {base} {} is zero-based on this host: the heap may begin lower, where nothing lies",
        wanted.xmx()
    );
    Some(wanted.advice(&LOWER_BASE, claim, &[wanted.xmx(), base]))
}

static ALIGNMENT_16: ModeRule = Rule {
    id: RuleId::of("alignment-16"),
    severity: Severity::Note,
    thresholds: &[],
    evidence: "The mode with 16-byte alignment, and how much more the heap would hold.",
    cause: "Compressed oops are scaled by the object alignment: with 16 bytes they reach 64 GB. Padding costs some of it.",
    fix: "`-XX:ObjectAlignmentInBytes=16`.",
    alternatives: &[],
    judge: alignment_16,
};

fn alignment_16(wanted: &WantedHeap<'_>, mode: ReferenceMode) -> Option<Advice> {
    if wanted.cost(mode) != Cost::FullReferences {
        return None;
    }
    let weight = wanted.ratios.alignment_16.filter(|weight| *weight < wanted.ratios.full)?;
    let aligned = wanted.with(|setting| setting.options.object_alignment_bytes = 16);
    let mode = aligned.mode_of(wanted.max_heap_bytes, wanted.space).mode?;
    if !matches!(mode, ReferenceMode::CompressedZeroBased | ReferenceMode::CompressedDisjointBase) {
        return None;
    }
    let claim = format!(
        "with alignment 16 {} is {}, and holds {:.0} % more: {:.1} GiB would hold the same ({})",
        wanted.xmx(),
        mode.name(),
        (wanted.ratios.full / weight - 1.0) * 100.0,
        wanted.holds() * weight / GIB,
        wanted.ratios.source(),
    );
    let options = [wanted.xmx(), "-XX:ObjectAlignmentInBytes=16".to_owned()];
    Some(wanted.advice(&ALIGNMENT_16, claim, &options))
}

static ABOVE_THRESHOLD: ModeRule = Rule {
    id: RuleId::of("above-threshold"),
    severity: Severity::Note,
    thresholds: &[],
    evidence: "From which size on full references hold more than the largest heap with compressed ones.",
    cause: "Full references make the same objects larger by a factor, which a much larger heap makes up for.",
    fix: "A heap from the named size on.",
    alternatives: &[],
    judge: above_threshold,
};

fn above_threshold(wanted: &WantedHeap<'_>, mode: ReferenceMode) -> Option<Advice> {
    if wanted.cost(mode) != Cost::FullReferences {
        return None;
    }
    let limit = wanted.largest_compressed()?;
    let pays_from = limit as f64 * wanted.ratios.full;
    let pays_from_gib = (pays_from / GIB).ceil();
    let claim = format!(
        "64-bit references hold more than -Xmx{} from -Xmx{pays_from_gib:.0}g on ({}); {} holds what {:.1} GiB hold with compressed ones",
        size::option(limit),
        wanted.ratios.source(),
        wanted.xmx(),
        wanted.holds() / GIB,
    );
    let is_above = pays_from <= wanted.max_heap_bytes as f64;
    let above = if is_above { wanted.max_heap_bytes } else { (pays_from_gib as u64) << 30 };
    Some(wanted.advice(&ABOVE_THRESHOLD, claim, &[format!("-Xmx{}", size::option(above))]))
}

static COMPACT_HEADERS: ModeRule = Rule {
    id: RuleId::of("compact-headers"),
    severity: Severity::Note,
    thresholds: &[],
    evidence: "The `-Xmx` that would hold the same with headers of 8 bytes.",
    cause: "Headers of 12 or 16 bytes are a large part of small objects.",
    fix: "`-XX:+UseCompactObjectHeaders` (a product option since JDK 25) with the named `-Xmx`.",
    alternatives: &[],
    judge: compact_headers,
};

/// Headers of 8 bytes instead of 12 make room in every mode of a 64-bit JVM; what they save may bring a heap below the threshold.
fn compact_headers(wanted: &WantedHeap<'_>, mode: ReferenceMode) -> Option<Advice> {
    let options = &wanted.setting.options;
    let is_possible = wanted.setting.bits == 64
        && Release::product_since("UseCompactObjectHeaders") <= wanted.setting.feature
        && !options.has_compact_headers
        && !options.are_class_pointers_full;
    let is_full = matches!(mode, ReferenceMode::Full64 | ReferenceMode::Full64CompressedClassPointers);
    let ratio =
        if is_full { wanted.ratios.compact_full? / wanted.ratios.full } else { wanted.ratios.compact? };
    if !is_possible || 1.0 <= ratio {
        return None;
    }
    // Objects that the wanted heap would hold, without full references where they then fit.
    let compressed = if is_full { wanted.ratios.compact? / wanted.ratios.full } else { ratio };
    let needed = whole_mib(wanted.max_heap_bytes as f64 * compressed);
    let fitting = wanted.setting.mode_of(needed, wanted.space).mode;
    let is_better = fitting != Some(mode) && fitting == Some(ReferenceMode::CompressedZeroBased);
    let max = if is_better { needed } else { whole_mib(wanted.max_heap_bytes as f64 * ratio) };
    let claim = format!(
        "with compact headers -Xmx{} holds what {} holds without{} ({})",
        size::option(max),
        wanted.xmx(),
        if is_better { ", and is zero-based" } else { "" },
        wanted.ratios.source(),
    );
    let options = vec![format!("-Xmx{}", size::option(max)), "-XX:+UseCompactObjectHeaders".to_owned()];
    Some(wanted.advice(&COMPACT_HEADERS, claim, &options))
}

/// Rounded up, so that it holds what it should.
fn whole_mib(bytes: f64) -> u64 {
    ((bytes / MIB as f64).ceil() as u64).saturating_mul(MIB)
}

#[cfg(test)]
#[path = "advice_tests.rs"]
mod tests;
