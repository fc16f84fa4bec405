//! Heap sizes at which another model pays.
//!
//! The size of the same objects is one half; the `-Xmx` that still gets a model is the other. A heap beyond the limit of
//! compressed references holds *fewer* objects than the largest below it, until it is larger by the ratio of the two
//! weights: that ratio is the heap's own, not a rule of thumb.

use super::models::{compact_since, is_compact, total_bytes as total_of};
use assay_jdk::modes::{AddressSpace, DecidingOptions, HeapSetting, MAX_HEAP_BYTES_32_BIT, thresholds};
use assay_jdk::{Collector, Release};
use assay_model::{CrossOver, ModelFootprint, ModelName, ReferenceMode};
use assay_text::size;

const MIB: u64 = 1 << 20;

/// The largest `-Xmx` that gets a model with one way of decoding references.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Limit {
    /// The model.
    pub name: ModelName,
    /// `unscaled`, `zero-based`, `base`; `None` where references are full.
    pub decoding: Option<&'static str>,
    /// The largest `-Xmx` in bytes.
    pub max_heap_bytes: u64,
}

/// Limits of HotSpot on x86-64 Linux with G1 and nothing in the way of the heap, computed as the JVM does it
/// ([`assay_jdk::modes`]). Serial, Parallel and Shenandoah have the same to within some MiB.
pub fn usual_limits(jdk: u32) -> Vec<Limit> {
    let families = [
        (ModelName::Compressed, ""),
        (ModelName::CompressedAlign16, "-XX:ObjectAlignmentInBytes=16"),
        (ModelName::CompressedAlign32, "-XX:ObjectAlignmentInBytes=32"),
        (ModelName::Compact, "-XX:+UseCompactObjectHeaders"),
        (ModelName::CompactAlign16, "-XX:+UseCompactObjectHeaders -XX:ObjectAlignmentInBytes=16"),
    ];
    let mut limits =
        vec![Limit { name: ModelName::Bits32, decoding: None, max_heap_bytes: MAX_HEAP_BYTES_32_BIT }];
    for (name, options) in families {
        let options = DecidingOptions::of(options.split_whitespace());
        let feature = if is_compact(name) { jdk.max(compact_since()) } else { jdk };
        let setting = HeapSetting {
            feature: with_known_rules(feature),
            update: None,
            bits: 64,
            collector: Collector::G1,
            options,
        };
        let of = |(mode, max_heap_bytes)| Limit { name, decoding: decoding(mode), max_heap_bytes };
        limits.extend(thresholds(&setting, &AddressSpace::default()).into_iter().map(of));
    }
    limits
}

/// The release, or the next one whose rules are known.
fn with_known_rules(feature: u32) -> u32 {
    let newest = Release::newest().feature;
    let mut from = feature.max(Release::all().first().map_or(newest, |oldest| oldest.feature))..=newest;
    from.find(|feature| Release::of(*feature).modes.are_rules_known).unwrap_or(newest)
}

fn decoding(mode: ReferenceMode) -> Option<&'static str> {
    match mode {
        ReferenceMode::CompressedUnscaled => Some("unscaled"),
        ReferenceMode::CompressedZeroBased => Some("zero-based"),
        ReferenceMode::CompressedDisjointBase | ReferenceMode::CompressedNonZeroBase => Some("base"),
        ReferenceMode::Bits32 | ReferenceMode::Full64 | ReferenceMode::Full64CompressedClassPointers => None,
    }
}

/// What each model with a limit, or beyond one, means for a heap: those that matter to it. Pure: from totals and limits alone.
pub fn cross_overs(now: ModelName, models: &[ModelFootprint], limits: &[Limit]) -> Vec<CrossOver> {
    let Some(now_bytes) = total_of(models, now) else { return Vec::new() };
    let heap = Heap { now, now_bytes, models, limits };
    let names = ModelName::ALL.into_iter().filter(|name| heap.matters(*name));
    names.filter_map(|name| heap.below(name).or_else(|| heap.beyond(name))).collect()
}

struct Heap<'a> {
    now: ModelName,
    now_bytes: u64,
    models: &'a [ModelFootprint],
    limits: &'a [Limit],
}

impl Heap<'_> {
    /// Whether anybody with this heap would think of a model: its own; those that a release has beyond the limit; a larger
    /// alignment than 16, and one of 16 beside compact headers, where the smaller does not hold it.
    fn matters(&self, name: ModelName) -> bool {
        let is_held = |name| total_of(self.models, name) <= self.largest(name);
        let jdk = self.models.iter().find(|model| model.name == self.now).map_or(0, |model| model.jdk);
        let beyond_is_ccp = Release::of(jdk).modes.class_pointers_stay_compressed;
        name == self.now
            || match name {
                ModelName::Bits32 => false,
                ModelName::Bits64 => !beyond_is_ccp,
                ModelName::Bits64CompressedClassPointers => beyond_is_ccp,
                ModelName::CompressedAlign32 => !is_held(ModelName::CompressedAlign16),
                ModelName::CompactAlign16 => !is_held(ModelName::Compact),
                _ => true,
            }
    }

    /// A model with limits: the cheapest decoding whose limit holds the objects.
    fn below(&self, name: ModelName) -> Option<CrossOver> {
        let total_bytes = total_of(self.models, name)?;
        let mut limits: Vec<&Limit> = self.limits.iter().filter(|limit| limit.name == name).collect();
        limits.sort_by_key(|limit| limit.max_heap_bytes);
        let holds = limits.iter().find(|limit| total_bytes <= limit.max_heap_bytes);
        let limit = holds.or(limits.last())?;
        let claim = match holds {
            Some(limit) => self.claim_of_fit(name, total_bytes, limit),
            None => format!(
                "This heap of {} {} would take {} {}, where -Xmx{} is the largest: it does not fit.",
                size::rounded(self.now_bytes),
                with(self.now),
                size::rounded(total_bytes),
                with(name),
                xmx(limit.max_heap_bytes)
            ),
        };
        let break_even_bytes = self.break_even_bytes(name);
        let pays = break_even_bytes.zip(model_below(name).and_then(|below| self.largest(below)));
        let pays = pays.map_or_else(String::new, |(from, threshold)| {
            format!(
                " It holds more objects than -Xmx{} without it from -Xmx{} on.",
                xmx(threshold),
                xmx(from)
            )
        });
        Some(CrossOver {
            name,
            total_bytes,
            max_heap_bytes: Some(limit.max_heap_bytes),
            decoding: limit.decoding.map(str::to_owned),
            break_even_bytes,
            claim: claim + &pays,
        })
    }

    fn claim_of_fit(&self, name: ModelName, total_bytes: u64, limit: &Limit) -> String {
        let spare = limit.max_heap_bytes - total_bytes;
        let decoding = limit.decoding.map_or_else(String::new, |word| format!(" ({word})"));
        let fit = if name == self.now {
            format!("This heap takes {} {}", size::rounded(total_bytes), with(name))
        } else {
            format!(
                "This heap of {} {} fits in {} {}",
                size::rounded(self.now_bytes),
                with(self.now),
                size::rounded(total_bytes),
                with(name)
            )
        };
        format!(
            "{fit}: -Xmx{}{decoding} holds it, with {} to spare.",
            xmx(limit.max_heap_bytes),
            size::rounded(spare)
        )
    }

    /// A model with full references: only memory limits it, but it pays only from some size on.
    fn beyond(&self, name: ModelName) -> Option<CrossOver> {
        let total_bytes = total_of(self.models, name)?;
        let below = model_below(name)?;
        let threshold = self.largest(below)?;
        let break_even_bytes = self.break_even_bytes(name)?;
        let below_bytes = total_of(self.models, below).filter(|bytes| 0 < *bytes)?;
        let ratio = total_bytes as f64 / below_bytes as f64;
        let claim = format!(
            "Beyond -Xmx{} these objects take {ratio:.2} times as much ({} instead of {}): only -Xmx{} holds as many \
            objects as -Xmx{} does {}. Sizes between hold fewer.",
            xmx(threshold),
            size::rounded(total_bytes),
            size::rounded(below_bytes),
            xmx(break_even_bytes),
            xmx(threshold),
            with(below)
        );
        Some(CrossOver {
            name,
            total_bytes,
            max_heap_bytes: None,
            decoding: None,
            break_even_bytes: Some(break_even_bytes),
            claim,
        })
    }

    /// The smallest `-Xmx` that holds, in this model, what the largest of the model below its limit holds, rounded up to a
    /// whole MiB.
    fn break_even_bytes(&self, name: ModelName) -> Option<u64> {
        let below = model_below(name)?;
        let (here, there) = (total_of(self.models, below)?, total_of(self.models, name)?);
        break_even_bytes(self.largest(below)?, here, there)
    }

    fn largest(&self, name: ModelName) -> Option<u64> {
        self.limits.iter().filter(|limit| limit.name == name).map(|limit| limit.max_heap_bytes).max()
    }
}

/// The smallest heap, in whole MiB, that holds in a model where some objects occupy `there_bytes` what `threshold_bytes` hold in
/// one where they weigh `here_bytes`. `None` where nothing weighs anything.
fn break_even_bytes(threshold_bytes: u64, here_bytes: u64, there_bytes: u64) -> Option<u64> {
    if here_bytes == 0 {
        return None;
    }
    let needed = (u128::from(threshold_bytes) * u128::from(there_bytes)).div_ceil(u128::from(here_bytes));
    u64::try_from(needed).ok()?.checked_next_multiple_of(MIB)
}

/// The model that a heap just below the limit has, and that it loses beyond.
fn model_below(name: ModelName) -> Option<ModelName> {
    match name {
        ModelName::CompressedAlign16 | ModelName::Bits64CompressedClassPointers | ModelName::Bits64 => {
            Some(ModelName::Compressed)
        }
        ModelName::CompressedAlign32 => Some(ModelName::CompressedAlign16),
        ModelName::CompactAlign16 | ModelName::Compact64 => Some(ModelName::Compact),
        ModelName::Bits32 | ModelName::Compressed | ModelName::Compact => None,
        ModelName::OpenJ9Compressed | ModelName::OpenJ9Full => None,
    }
}

/// A model in the words of a sentence: "fits in 20 GiB ...".
fn with(name: ModelName) -> &'static str {
    match name {
        ModelName::Bits32 => "on a 32-bit JVM",
        ModelName::Compressed => "with compressed references",
        ModelName::CompressedAlign16 => "with compressed references and -XX:ObjectAlignmentInBytes=16",
        ModelName::CompressedAlign32 => "with compressed references and -XX:ObjectAlignmentInBytes=32",
        ModelName::Bits64CompressedClassPointers => "without compressed references",
        ModelName::Bits64 => "without compressed references and class pointers",
        ModelName::Compact => "with compressed references and compact headers",
        ModelName::CompactAlign16 => {
            "with compressed references, compact headers and -XX:ObjectAlignmentInBytes=16"
        }
        ModelName::Compact64 => "with compact headers, without compressed references",
        ModelName::OpenJ9Compressed => "on OpenJ9 with compressed references",
        ModelName::OpenJ9Full => "on OpenJ9 without compressed references",
    }
}

/// A heap size as `-Xmx` takes it, down to a whole MiB: `30g`, `32736m`.
fn xmx(bytes: u64) -> String {
    size::option(bytes / MIB * MIB)
}

#[cfg(test)]
mod tests {
    use super::*;
    use assay_model::FootprintParts;

    const GIB: u64 = 1 << 30;

    fn models(weights: &[(ModelName, u64)]) -> Vec<ModelFootprint> {
        let model = |(name, total_bytes): &(ModelName, u64)| ModelFootprint {
            name: *name,
            jdk: 17,
            is_estimate: false,
            is_in_release: true,
            total_bytes: *total_bytes,
            difference_bytes: None,
            parts: FootprintParts::default(),
            classes: Vec::new(),
        };
        weights.iter().map(model).collect()
    }

    fn of(now: ModelName, weights: &[(ModelName, u64)], name: ModelName) -> CrossOver {
        let all = cross_overs(now, &models(weights), &usual_limits(17));
        all.into_iter().find(|cross_over| cross_over.name == name).expect("a cross-over")
    }

    #[test]
    fn a_heap_beyond_the_threshold_that_fits_below_it_is_told_so() {
        let weights =
            [(ModelName::Bits64CompressedClassPointers, 34 * GIB), (ModelName::Compressed, 238 * GIB / 10)];
        let found = of(ModelName::Bits64CompressedClassPointers, &weights, ModelName::Compressed);
        assert_eq!((found.max_heap_bytes, found.decoding.as_deref()), (Some(30 * GIB), Some("zero-based")));
        assert_eq!(
            found.claim,
            "This heap of 34.0 GiB without compressed references fits in 23.8 GiB with compressed references: -Xmx30g \
            (zero-based) holds it, with 6.2 GiB to spare."
        );
    }

    #[test]
    fn between_30_and_32_gib_only_a_base_holds_it_and_beyond_nothing_does() {
        let now = ModelName::Bits64CompressedClassPointers;
        let at = |bytes| of(now, &[(now, 50 * GIB), (ModelName::Compressed, bytes)], ModelName::Compressed);
        assert_eq!(at(30 * GIB).decoding.as_deref(), Some("zero-based"));
        assert_eq!(at(30 * GIB + 1).decoding.as_deref(), Some("base"));
        assert_eq!(at(32736 * MIB).max_heap_bytes, Some(32736 * MIB));
        assert!(at(32736 * MIB).claim.contains("holds it"));
        assert!(at(32736 * MIB + 1).claim.contains("it does not fit"), "{}", at(32736 * MIB + 1).claim);
        assert_eq!(at(GIB).decoding.as_deref(), Some("unscaled"));
    }

    #[test]
    fn how_far_past_the_threshold_it_pays_is_the_ratio_of_this_heap() {
        let full = ModelName::Bits64CompressedClassPointers;
        let weights =
            [(ModelName::Compressed, 10 * GIB), (full, 15 * GIB), (ModelName::CompressedAlign16, 11 * GIB)];
        let found = of(ModelName::Compressed, &weights, full);
        assert_eq!((found.max_heap_bytes, found.break_even_bytes), (None, Some(32736 * MIB * 3 / 2)));
        assert!(found.claim.contains("1.50 times as much"), "{}", found.claim);
        assert!(
            found.claim.contains("only -Xmx49104m holds as many objects as -Xmx32736m does"),
            "{}",
            found.claim
        );
        let aligned = of(ModelName::Compressed, &weights, ModelName::CompressedAlign16);
        assert_eq!(aligned.break_even_bytes, Some((32736 * 11u64).div_ceil(10) * MIB));
    }

    #[test]
    fn nothing_is_said_of_an_empty_heap_and_nothing_overflows() {
        let full = ModelName::Bits64CompressedClassPointers;
        assert_eq!(break_even_bytes(GIB, 0, 1), None);
        assert_eq!(break_even_bytes(u64::MAX, 1, u64::MAX), None);
        let none = cross_overs(ModelName::Compressed, &models(&[(full, 5)]), &usual_limits(17));
        assert_eq!(none, Vec::new());
        let huge = [(ModelName::Compressed, u64::MAX), (full, u64::MAX)];
        assert!(of(ModelName::Compressed, &huge, ModelName::Compressed).claim.contains("does not fit"));
    }

    #[test]
    fn usual_limits_are_those_at_which_the_mode_changes() {
        let limits = usual_limits(25);
        let found = limits.iter().filter(|limit| limit.name == ModelName::Compressed);
        let found: Vec<_> =
            found.map(|limit| (limit.decoding.expect("compressed"), limit.max_heap_bytes)).collect();
        assert_eq!(found, [("unscaled", 2 * GIB), ("zero-based", 30 * GIB), ("base", 32736 * MIB)]);
    }

    #[test]
    fn only_models_that_matter_to_a_heap_are_told() {
        let names = |now, gib: u64, jdk| {
            let mut models = models(&ModelName::ALL.map(|name| (name, gib * GIB)));
            models.iter_mut().for_each(|model| model.jdk = jdk);
            let all = cross_overs(now, &models, &usual_limits(jdk));
            all.into_iter().map(|cross_over| cross_over.name.name()).collect::<Vec<_>>()
        };
        let usual = ["compressed", "compressed-align16", "64-bit-ccp", "compact", "compact-64-bit"];
        assert_eq!(names(ModelName::Compressed, 1, 17), usual);
        assert!(names(ModelName::Compressed, 1, 8).contains(&"64-bit"));
        assert!(!names(ModelName::Compressed, 1, 8).contains(&"64-bit-ccp"));
        assert_eq!(names(ModelName::Bits32, 1, 17)[0], "32-bit");
        let large = names(ModelName::Bits64CompressedClassPointers, 100, 17);
        assert!(large.contains(&"compressed-align32") && large.contains(&"compact-align16"), "{large:?}");
    }

    #[test]
    fn sizes_are_spelt_as_xmx_takes_them() {
        assert_eq!([30 * GIB, 32736 * MIB, 62 * GIB, 0].map(xmx), ["30g", "32736m", "62g", "0"]);
    }
}
