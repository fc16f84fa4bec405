//! The mode in which a heap's objects were, found from the objects alone.
//!
//! A heap dump does not say it: identifiers have 8 bytes in every mode of a 64-bit JVM, and sizes are those of the fields.
//! But objects lie side by side, and a class histogram has a sample of neighbours: what the first one is, and how far behind it the
//! next begins. Each model says how long the first one is; the right model's sizes are the distances.
//!
//! **The likelihood.** In a heap just collected (a dump is taken after a collection) most neighbours touch; some do not, since
//! something lies between that a dump does not have in that place (mirrors, fillers, dead objects). None can overlap. So for a
//! model that gives the size `s`, a distance `d` is taken to be met with the chance
//!
//! ```text
//! d = s   agreement        0.8
//! d > s   slack            0.2 / 64         spread over 64 distances
//! d < s   contradiction    0.000001         a damaged heap, or a class with fields that the model does not know
//! ```
//!
//! The logarithms are summed over kinds of objects (a class, a length of arrays). A kind counts at most [`KIND_WEIGHT_MAX`]
//! times, however many objects it has: objects of one class err together, and a million equal strings say no more than a few.
//! The best model is reported when it is more likely than the next by the factor [`FACTOR_MIN`] and at least
//! [`AGREEMENTS_MIN`] kinds agree; otherwise nothing is. Models that some address rules out (not a multiple of their
//! alignment) are not asked. Collectors that do not compact (ZGC, Shenandoah) leave more slack, which hits all models alike.
//!
//! **Modes that are none of the models.** A JVM has more modes than there are models (full references with objects aligned
//! to 16, say), and such a heap has a likeliest model too, far ahead of the next. So all other sizes that a 64-bit HotSpot
//! can be given are tried as well ([`strangers`]), and the best model has to be likelier than each of them. Against heaps
//! that no HotSpot wrote, the best model has to explain most: [`AGREEING_SHARE_MIN`] of the kinds agree at least once (seen
//! of right models: 0.73 of a small heap of JDK 6, else 0.89 to 1), and at most [`CONTRADICTED_SHARE_MAX`] of the neighbours
//! contradict (0.009 there, else 0).

use super::models::{is_compact, jdk_default};
use crate::layout::{LayoutOrder, Layouts, Sizes, is_estimate};
use crate::{ClassHistogram, FieldKind, Neighbour, NeighbourKind};
use assay_jdk::release::OptionState;
use assay_jdk::{Release, feature_of};
use assay_model::{DumpModel, HeapModel, ModelName, Problem};
use assay_text::percent;
use std::collections::BTreeMap;
use std::sync::Arc;

/// Most that one kind of object counts.
const KIND_WEIGHT_MAX: u64 = 16;
/// How much likelier than the next the best model has to be.
const FACTOR_MIN: f64 = 1000.0;
/// How many kinds have to agree at least.
const AGREEMENTS_MIN: u64 = 3;
/// Share of the kinds that have to agree.
const AGREEING_SHARE_MIN: f64 = 0.6;
/// Share of the neighbours that may contradict: a heap can be damaged.
const CONTRADICTED_SHARE_MAX: f64 = 0.02;
const AGREEMENT: f64 = 0.8;
const SLACK: f64 = 0.2 / 64.0;
const CONTRADICTION: f64 = 1e-6;

fn has_compact_headers(jdk: u32) -> bool {
    Release::of(jdk).option("UseCompactObjectHeaders") != OptionState::Absent
}

/// How well a model explains the neighbours.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Fit {
    /// The model and the release whose rules were tried.
    pub model: HeapModel,
    /// Neighbours exactly as far apart as the first one is long.
    pub agreements: u64,
    /// Neighbours closer than that.
    pub contradictions: u64,
    /// Kinds of objects with an agreement.
    pub agreeing_kinds: u64,
    /// Share of the kinds, weighed as they count, of which at least one object is as long as the model says.
    pub agreeing_share: f64,
    /// Share of the neighbours, weighed as their kinds count, that are closer than the model says.
    pub contradicted_share: f64,
    /// Logarithm of the likelihood.
    pub log_likelihood: f64,
}

/// How well sizes that no model has explain the neighbours.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct NullModel {
    /// The sizes.
    pub sizes: Sizes,
    /// Neighbours exactly as far apart as the first one is long.
    pub agreements: u64,
    /// Logarithm of the likelihood.
    pub log_likelihood: f64,
}

/// What the objects say.
#[derive(Debug, Clone)]
pub struct Detected {
    /// Fits of all models that were asked, the likeliest first; of each model the likeliest rules.
    pub fits: Vec<Fit>,
    /// The likeliest sizes that no model has.
    pub stranger: Option<NullModel>,
    /// Neighbours in all.
    pub neighbours: u64,
    /// Whether the first fit is reported.
    pub is_sure: bool,
    /// Release whose rules fit best, or the heap's own; `None` when nothing is reported.
    pub jdk: Option<u32>,
    /// Why no model is reported, or what is odd about the one that is.
    reason: Option<String>,
}

/// Finds the mode of a class histogram.
pub fn detect(histogram: &ClassHistogram) -> Detected {
    let neighbours =
        histogram.neighbours.iter().map(|(_, count)| count).fold(0u64, |sum, n| sum.saturating_add(*n));
    let own_jdk = histogram.jdk();
    let mut detected =
        Detected { fits: Vec::new(), stranger: None, neighbours, is_sure: false, jdk: own_jdk, reason: None };
    if histogram.is_android {
        detected.reason =
            Some("it is a heap of Android's runtime, whose layout Assay does not know".to_owned());
        return detected;
    }
    let widest = ModelName::ALL.iter().map(|name| alignment_bytes(*name)).max().unwrap_or(0);
    if let Some(alignment) = histogram.alignment_bytes.filter(|alignment| widest < *alignment) {
        detected.reason =
            Some(format!("objects are aligned to {alignment} bytes, as in no layout that Assay knows"));
        return detected;
    }
    let kinds = kinds(histogram);
    let order = LayoutOrder::of_objects(histogram);
    let rules = own_jdk.map_or_else(Release::first_of_each_layout, |jdk| vec![jdk]);
    for name in candidates(histogram) {
        let jdks = rules.iter().filter(|jdk| !is_compact(name) || has_compact_headers(**jdk));
        let layouts = jdks.map(|jdk| Layouts::of_some(histogram, &order, HeapModel { name, jdk: *jdk }));
        let fits = layouts.map(|layouts| fit(&kinds, &layouts));
        // Of rules that fit alike the newest: `max_by` gives the last.
        detected.fits.extend(fits.max_by(|a, b| a.log_likelihood.total_cmp(&b.log_likelihood)));
    }
    let strangers = rules.iter().flat_map(|jdk| {
        let sizes = strangers(histogram, *jdk);
        sizes.map(|sizes| stranger(histogram, &order, &kinds, *jdk, sizes)).collect::<Vec<_>>()
    });
    detected.stranger = strangers.max_by(|a, b| a.log_likelihood.total_cmp(&b.log_likelihood));
    detected.fits.sort_by(|a, b| b.log_likelihood.total_cmp(&a.log_likelihood));
    detected.decide(own_jdk);
    detected
}

impl Detected {
    fn decide(&mut self, own_jdk: Option<u32>) {
        let Some(best) = self.fits.first() else {
            self.reason = Some("no layout that Assay knows has identifiers of this size".to_owned());
            return;
        };
        let lead = self.fits.get(1).map(|next| best.log_likelihood - next.log_likelihood);
        let name = best.model.name.name();
        let stranger_lead = self.stranger.map(|stranger| stranger.log_likelihood - best.log_likelihood);
        if best.agreeing_kinds < AGREEMENTS_MIN || best.agreements < best.contradictions {
            self.reason = Some(format!(
                "only {} of {} adjacent objects have the size that the likeliest layout ({}) gives them, {} overlap",
                best.agreements, self.neighbours, name, best.contradictions
            ));
        } else if let (Some(NullModel { sizes, agreements, .. }), Some(stranger_lead)) =
            (self.stranger, stranger_lead)
            && -FACTOR_MIN.ln() < stranger_lead
        {
            let Sizes { reference_bytes, header_bytes, alignment_bytes } = sizes;
            let sizes = format!(
                "{reference_bytes}-byte references, {header_bytes}-byte headers, {alignment_bytes}-byte object alignment"
            );
            self.reason = Some(if 0.0 < stranger_lead {
                format!(
                    "its layout is none that Assay knows: {agreements} of {} adjacent objects fit {sizes}; {} fit the likeliest \
                     known layout ({name})",
                    self.neighbours, best.agreements
                )
            } else {
                format!(
                    "{} adjacent objects do not distinguish {name} from an unknown layout ({sizes})",
                    self.neighbours
                )
            });
        } else if best.agreeing_share < AGREEING_SHARE_MIN || CONTRADICTED_SHARE_MAX < best.contradicted_share
        {
            self.reason = Some(format!(
                "Assay probably does not know its layout. By the likeliest ({name}), {:.0} % of the kinds of \
                    objects have the right size and {:.0} % of the objects overlap. By the right one it \
                    would be at least {:.0} % and at most {:.0} %",
                100.0 * best.agreeing_share,
                100.0 * best.contradicted_share,
                100.0 * AGREEING_SHARE_MIN,
                100.0 * CONTRADICTED_SHARE_MAX,
            ));
        } else if lead.is_some_and(|lead| lead < FACTOR_MIN.ln()) {
            let names: Vec<&str> = self.fits.iter().take(2).map(|fit| fit.model.name.name()).collect();
            self.reason = Some(format!(
                "{} adjacent objects do not distinguish {}",
                self.neighbours,
                names.join(" from ")
            ));
        } else {
            self.is_sure = true;
            self.jdk = own_jdk.or(Some(best.model.jdk));
        }
    }

    /// The model with its evidence; `None` when the objects leave it open.
    pub fn dump_model(&self, histogram: &ClassHistogram) -> Option<DumpModel> {
        let best = self.fits.first().filter(|_| self.is_sure)?;
        Some(DumpModel {
            name: best.model.name,
            evidence: self.evidence(best),
            jdk: histogram.jdk_version.as_deref().and_then(feature_of),
            jdk_version: histogram.jdk_text(),
            alignment_bytes: histogram.alignment_bytes,
        })
    }

    fn evidence(&self, best: &Fit) -> String {
        let mut text = format!(
            "layout confirmed by {} of adjacent objects ({} of {}, {} contradict it)",
            percent::of(best.agreements, self.neighbours),
            best.agreements,
            self.neighbours,
            best.contradictions
        );
        if let Some(next) = self.fits.get(1) {
            let name = next.model.name.name();
            text += &format!(
                "; next, {name}: {} of them, {} contradict it",
                next.agreements, next.contradictions
            );
        }
        text
    }

    /// Why the model is not known; `None` when it is.
    pub fn problem(&self, source: &str) -> Option<Problem> {
        let reason = self.reason.as_ref().filter(|_| !self.is_sure)?;
        Some(Problem::new(source, format!("the layout of the heap is not known: {reason}")))
    }
}

/// Models of HotSpot JVMs with such identifiers whose alignment no address breaks.
fn candidates(histogram: &ClassHistogram) -> impl Iterator<Item = ModelName> {
    let is_32_bit = histogram.word_bytes == 4;
    let seen = histogram.alignment_bytes.unwrap_or(u64::MAX);
    ModelName::ALL.into_iter().filter(move |name| {
        !is_estimate(*name) && (*name == ModelName::Bits32) == is_32_bit && alignment_bytes(*name) <= seen
    })
}

/// Sizes that a 64-bit HotSpot of this release can have, no address breaks, and no model has.
fn strangers(histogram: &ClassHistogram, jdk: u32) -> impl Iterator<Item = Sizes> {
    let seen = histogram.alignment_bytes.unwrap_or(u64::MAX);
    let known = ModelName::ALL.map(|name| Sizes::of(HeapModel { name, jdk }));
    let headers = [8, 12, 16].into_iter().filter(move |bytes| *bytes != 8 || has_compact_headers(jdk));
    let all =
        headers.flat_map(|header_bytes| {
            [(4, 8), (4, 16), (4, 32), (8, 8), (8, 16), (8, 32)].map(|(reference_bytes, alignment_bytes)| {
                Sizes { reference_bytes, header_bytes, alignment_bytes }
            })
        });
    let has_64_bits = histogram.word_bytes == 8;
    all.filter(move |sizes| has_64_bits && sizes.alignment_bytes <= seen && !known.contains(sizes))
}

fn stranger(
    histogram: &ClassHistogram,
    order: &LayoutOrder,
    kinds: &Kinds,
    jdk: u32,
    sizes: Sizes,
) -> NullModel {
    let rules = HeapModel { name: ModelName::Bits64, jdk };
    let layouts = Layouts::with(histogram, order, rules, sizes, Arc::clone(&Release::of(jdk).objects));
    let Fit { agreements, log_likelihood, .. } = fit(kinds, &layouts);
    NullModel { sizes, agreements, log_likelihood }
}

fn alignment_bytes(name: ModelName) -> u64 {
    Sizes::of(HeapModel { name, jdk: jdk_default() }).alignment_bytes
}

/// Kinds of objects with the distances to their neighbours.
type Kinds = BTreeMap<KindKey, Vec<(u64, u64)>>;

/// A kind in an order that is the same in every run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum KindKey {
    Instance(u32),
    Primitives(crate::PrimitiveKind, u64),
    References(u64),
}

fn kinds(histogram: &ClassHistogram) -> Kinds {
    let mut kinds = Kinds::new();
    for (Neighbour { kind, gap_bytes }, count) in &histogram.neighbours {
        let key = match kind {
            NeighbourKind::Instance(class) => KindKey::Instance(*class),
            NeighbourKind::Primitives(kind, length) => KindKey::Primitives(*kind, *length),
            NeighbourKind::References(length) => KindKey::References(*length),
        };
        kinds.entry(key).or_default().push((*gap_bytes, *count));
    }
    kinds
}

fn fit(kinds: &Kinds, layouts: &Layouts) -> Fit {
    let mut fit = Fit {
        model: layouts.model(),
        agreements: 0,
        contradictions: 0,
        agreeing_kinds: 0,
        agreeing_share: 0.0,
        contradicted_share: 0.0,
        log_likelihood: 0.0,
    };
    let (mut weights, mut agreeing, mut contradicted) = (0.0, 0.0, 0.0);
    for (kind, gaps) in kinds {
        let Some(size_bytes) = size_bytes(layouts, *kind) else { continue };
        let count_where = |is: &dyn Fn(u64) -> bool| {
            gaps.iter().filter(|(gap, _)| is(*gap)).fold(0u64, |sum, (_, count)| sum.saturating_add(*count))
        };
        let agreements = count_where(&|gap| gap == size_bytes);
        let contradictions = count_where(&|gap| gap < size_bytes);
        let slacks = count_where(&|gap| size_bytes < gap);
        let total = agreements + contradictions + slacks;
        if total == 0 {
            continue;
        }
        let kind_weight = total.min(KIND_WEIGHT_MAX) as f64;
        let weight = kind_weight / total as f64;
        weights += kind_weight;
        agreeing += if agreements == 0 { 0.0 } else { kind_weight };
        contradicted += weight * contradictions as f64;
        fit.log_likelihood += weight
            * (agreements as f64 * AGREEMENT.ln()
                + slacks as f64 * SLACK.ln()
                + contradictions as f64 * CONTRADICTION.ln());
        fit.agreements = fit.agreements.saturating_add(agreements);
        fit.contradictions = fit.contradictions.saturating_add(contradictions);
        fit.agreeing_kinds += u64::from(0 < agreements);
    }
    if 0.0 < weights {
        fit.agreeing_share = agreeing / weights;
        fit.contradicted_share = contradicted / weights;
    }
    fit
}

/// Bytes of an object of a kind.
fn size_bytes(layouts: &Layouts, kind: KindKey) -> Option<u64> {
    let sizes = layouts.sizes();
    let array = |element: Option<crate::PrimitiveKind>, length: u64| {
        let element_bytes = sizes.bytes_of(element.map_or(FieldKind::Reference, FieldKind::Primitive));
        let end = length.checked_mul(element_bytes)?.checked_add(layouts.array_base_bytes(element))?;
        end.checked_next_multiple_of(sizes.alignment_bytes)
    };
    match kind {
        KindKey::Instance(class) => layouts.instance_bytes(class),
        KindKey::Primitives(kind, length) => array(Some(kind), length),
        KindKey::References(length) => array(None, length),
    }
}
