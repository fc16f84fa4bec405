//! What the garbage of a GC log would be in every model.
//!
//! A log has bytes, not objects. If what dies is composed as what was found in the heap is (the same mix of classes), its
//! bytes change from model to model as the heap's do. That is an assumption, and is said so: short-lived objects are often
//! smaller and have other fields than those that stay.

use super::models::{self, total_bytes};
use assay_model::{
    GarbageInModel, GcRecord, GcRecordKind, HeapPrediction, ModeRead, ModelName, ReferenceMode,
};

/// Freed bytes for each second in every model, and what that rests on: the records of a GC log, and the reference mode that it shows.
///
/// # Errors
/// When the log has no two collections with bytes and times, or neither it nor the heap shows in which model its bytes are.
pub fn garbage(
    prediction: &HeapPrediction,
    mode: Option<&ModeRead>,
    records: &[GcRecord],
) -> Result<(Vec<GarbageInModel>, String), String> {
    let section = LogSection::of(records)
        .ok_or("it has no two collections with bytes and times: no rate of garbage")?;
    let of_log = mode.and_then(|mode| model_of(mode, prediction.dump_model));
    let base = of_log
        .or(prediction.dump_model)
        .ok_or("neither the log nor the heap says in which layout its bytes are")?;
    let base_bytes =
        total_bytes(&prediction.models, base).filter(|bytes| 0 < *bytes).ok_or("the heap has no objects")?;
    let garbage = prediction.models.iter().map(|model| {
        let ratio = model.total_bytes as f64 / base_bytes as f64;
        GarbageInModel { name: model.name, freed_bytes_per_s: section.freed_bytes_per_s() * ratio, ratio }
    });
    let source_of_mode =
        if of_log.is_some() { "the log's" } else { "assumed to be the dump's: the log does not say" };
    let basis = format!(
        "{} freed in {:.1} s between the first and the last of {} collections, in the layout {} \
            ({source_of_mode}). Assumption: garbage has the same composition as the objects in the heap.",
        assay_text::size::rounded(section.freed_bytes),
        section.seconds,
        section.collections,
        base.name()
    );
    Ok((garbage.collect(), basis))
}

/// The part of a log between the ends of its first and its last collection.
struct LogSection {
    freed_bytes: u64,
    seconds: f64,
    collections: usize,
}

impl LogSection {
    fn of(records: &[GcRecord]) -> Option<LogSection> {
        let pauses = records.iter().filter(|record| record.kind == GcRecordKind::Pause);
        let known: Vec<(f64, u64, u64)> = pauses
            .filter_map(|pause| {
                let at_ns = pause.end.uptime_ns.or(pause.end.monotonic_ns)?;
                Some((at_ns as f64 / 1e9, pause.heap.before_bytes?, pause.heap.after_bytes?))
            })
            .collect();
        let ((first_s, ..), (last_s, ..)) = (known.first()?, known.last()?);
        let seconds = last_s - first_s;
        // The first collection freed garbage from before this section.
        let freed: i128 =
            known[1..].iter().map(|(_, before, after)| i128::from(*before) - i128::from(*after)).sum();
        let freed_bytes = u64::try_from(freed).ok()?;
        (0.0 < seconds).then_some(LogSection { freed_bytes, seconds, collections: known.len() })
    }

    fn freed_bytes_per_s(&self) -> f64 {
        self.freed_bytes as f64 / self.seconds
    }
}

/// The model of a mode that a log shows. Facts that a log leaves open are taken from the dump: whether headers are compact, and
/// the alignment where references are not shifted.
fn model_of(mode: &ModeRead, dump: Option<ModelName>) -> Option<ModelName> {
    use ModelName::*;
    let is_compact = mode.compact_headers.unwrap_or_else(|| dump.is_some_and(models::is_compact));
    let by_shift = match (mode.mode, mode.shift_bits, is_compact) {
        (ReferenceMode::Bits32, ..) => return Some(Bits32),
        (ReferenceMode::Full64, ..) => return Some(Bits64),
        (ReferenceMode::Full64CompressedClassPointers, _, false) => {
            return Some(Bits64CompressedClassPointers);
        }
        (ReferenceMode::Full64CompressedClassPointers, _, true) => return Some(Compact64),
        (_, Some(4), false) => return Some(CompressedAlign16),
        (_, Some(4), true) => return Some(CompactAlign16),
        (_, Some(5), false) => return Some(CompressedAlign32),
        (_, Some(0 | 3) | None, false) => Compressed,
        (_, Some(0 | 3) | None, true) => Compact,
        _ => return None,
    };
    let has_same_family = |dump: &ModelName| match by_shift {
        Compressed => matches!(dump, Compressed | CompressedAlign16 | CompressedAlign32),
        _ => matches!(dump, Compact | CompactAlign16),
    };
    Some(dump.filter(|dump| mode.shift_bits != Some(3) && has_same_family(dump)).unwrap_or(by_shift))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mode(mode: ReferenceMode, shift_bits: Option<u8>, compact_headers: Option<bool>) -> ModeRead {
        ModeRead { mode, compact_headers, shift_bits, heap_base_address: None, evidence: String::new() }
    }

    #[test]
    fn the_log_says_the_model_and_the_dump_what_it_leaves_open() {
        use ModelName::*;
        let unscaled = mode(ReferenceMode::CompressedUnscaled, Some(0), None);
        let zero_based = mode(ReferenceMode::CompressedZeroBased, Some(3), Some(false));
        assert_eq!(model_of(&unscaled, None), Some(Compressed));
        assert_eq!(model_of(&unscaled, Some(CompressedAlign16)), Some(CompressedAlign16));
        assert_eq!(model_of(&unscaled, Some(Compact)), Some(Compact));
        assert_eq!(model_of(&zero_based, Some(CompressedAlign16)), Some(Compressed));
        assert_eq!(model_of(&zero_based, Some(Compact)), Some(Compressed));
        let full = mode(ReferenceMode::Full64CompressedClassPointers, None, Some(true));
        assert_eq!(model_of(&full, Some(Compressed)), Some(Compact64));
        assert_eq!(model_of(&mode(ReferenceMode::CompressedZeroBased, Some(7), None), None), None);
    }
}
