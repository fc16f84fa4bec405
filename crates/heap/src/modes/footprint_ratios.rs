//! What the same objects occupy in other modes, as ratios to compressed references at alignment 8.

use assay_model::{HeapPrediction, ModelName};

/// Without a dump: the middle of two programs on JDK 25 (`jcmd GC.class_histogram`, the same objects in each mode). 360,000
/// records, strings and byte arrays in maps: full 1.23, alignment 16 1.11, compact 0.96, compact and full 1.15. 1,600,000
/// nodes of linked lists, trees and sets of numbers: 1.35, 1.13, 0.86, 1.21. A heap of large arrays is near 1 everywhere.
const TYPICAL: FootprintRatios = FootprintRatios {
    full: 1.29,
    alignment_16: Some(1.12),
    compact: Some(0.91),
    compact_full: Some(1.18),
    is_typical: true,
};

/// Bytes of the same objects in a mode by bytes with compressed references, alignment 8 and ordinary headers.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct FootprintRatios {
    /// References of 64 bits, class pointers compressed.
    pub full: f64,
    /// Compressed references, alignment 16.
    pub alignment_16: Option<f64>,
    /// Compressed references, compact headers.
    pub compact: Option<f64>,
    /// References of 64 bits, compact headers.
    pub compact_full: Option<f64>,
    /// Whether these are typical figures, and not those of the user's own objects.
    pub is_typical: bool,
}

impl FootprintRatios {
    /// Where no dump is at hand.
    pub fn typical() -> FootprintRatios {
        TYPICAL
    }

    /// Those of a heap; `None` when the prediction has not the two models that all rests on.
    pub fn of(prediction: &HeapPrediction) -> Option<FootprintRatios> {
        let total = |name| prediction.model(name).map(|model| model.total_bytes).filter(|bytes| *bytes != 0);
        let compressed = total(ModelName::Compressed)? as f64;
        let ratio = |name| total(name).map(|bytes| bytes as f64 / compressed);
        Some(FootprintRatios {
            full: ratio(ModelName::Bits64CompressedClassPointers)?,
            alignment_16: ratio(ModelName::CompressedAlign16),
            compact: ratio(ModelName::Compact),
            compact_full: ratio(ModelName::Compact64),
            is_typical: false,
        })
    }

    /// Name of the figures, for a sentence.
    pub(super) fn source(&self) -> &'static str {
        if self.is_typical { "typical objects; --dump takes yours" } else { "the dump's objects" }
    }
}
