//! The rules of JDK 8 to 14: longs, ints, shorts, bytes, then references; what is small fills the gap before the longs.
//!
//! A class begins where the one above ends, rounded up to the size of a reference: holes above are lost. Sixteen classes
//! of which the JVM knows the layout by heart have references first and fill no gap.

use super::best_fit::CONTENDED_PADDING_BYTES;
use super::fields::{Contention, FieldToPlace, InheritedLayout};
use std::ops::Range;

/// Classes whose offsets the JVM once had as constants.
const REFERENCES_FIRST: [&str; 16] = [
    "java.lang.AssertionStatusDirectives",
    "java.lang.Class",
    "java.lang.ClassLoader",
    "java.lang.ref.Reference",
    "java.lang.ref.SoftReference",
    "java.lang.StackTraceElement",
    "java.lang.String",
    "java.lang.Throwable",
    "java.lang.Boolean",
    "java.lang.Character",
    "java.lang.Float",
    "java.lang.Double",
    "java.lang.Byte",
    "java.lang.Short",
    "java.lang.Integer",
    "java.lang.Long",
];

/// Places the own fields of a class behind those of its super class. Offsets are in the order of `wanted`.
pub fn place(
    class: &str,
    ground: &InheritedLayout,
    wanted: &[FieldToPlace<'_>],
    is_contended: bool,
    reference_bytes: u64,
) -> (Vec<u64>, InheritedLayout) {
    let mut offsets = vec![0; wanted.len()];
    let padding = if is_contended { CONTENDED_PADDING_BYTES } else { 0 };
    let start = ground.end.next_multiple_of(reference_bytes) + padding;
    let mut end = if REFERENCES_FIRST.contains(&class) {
        place_references_first(start, wanted, &mut offsets)
    } else {
        place_longs_first(start, wanted, reference_bytes, &mut offsets)
    };
    end = place_contended(end, wanted, &mut offsets) + padding;
    let ground = InheritedLayout {
        end,
        fields_end: end,
        holes: Vec::new(),
        ends_with_reference: false,
        is_apart: false,
        has_fields: ground.has_fields || !wanted.is_empty(),
        has_lock_word: false,
    };
    (offsets, ground)
}

/// Fields that are not contended: primitives of a size, or references.
fn of_size<'a>(wanted: &'a [FieldToPlace<'_>], bytes: Option<u64>) -> impl Iterator<Item = usize> + 'a {
    wanted.iter().enumerate().filter_map(move |(at, field)| {
        let is_of_size = match bytes {
            Some(bytes) => !field.is_reference && field.bytes == bytes,
            None => field.is_reference,
        };
        (is_of_size && field.contention == Contention::None).then_some(at)
    })
}

fn append(
    mut end: u64,
    fields: impl Iterator<Item = usize>,
    wanted: &[FieldToPlace<'_>],
    offsets: &mut [u64],
) -> u64 {
    for at in fields {
        end = end.next_multiple_of(wanted[at].bytes);
        offsets[at] = end;
        end += wanted[at].bytes;
    }
    end
}

fn place_references_first(start: u64, wanted: &[FieldToPlace<'_>], offsets: &mut [u64]) -> u64 {
    let order = [None, Some(8), Some(4), Some(2), Some(1)];
    order.into_iter().fold(start, |end, bytes| append(end, of_size(wanted, bytes), wanted, offsets))
}

fn place_longs_first(
    start: u64,
    wanted: &[FieldToPlace<'_>],
    reference_bytes: u64,
    offsets: &mut [u64],
) -> u64 {
    let has_longs = of_size(wanted, Some(8)).next().is_some();
    let aligned = if has_longs { start.next_multiple_of(8) } else { start };
    let mut gap = start..aligned;
    // Of each size those that lie in the gap, then the others behind the longs.
    let mut in_gap = [0; 3];
    for (taken, bytes) in in_gap.iter_mut().zip([4, 2, 1]) {
        *taken = fill_gap(&mut gap, of_size(wanted, Some(bytes)), bytes, offsets);
    }
    let references_in_gap = if gap.end - gap.start < reference_bytes {
        0
    } else {
        fill_gap(&mut gap, of_size(wanted, None), reference_bytes, offsets)
    };
    let mut end = append(aligned, of_size(wanted, Some(8)), wanted, offsets);
    for (taken, bytes) in in_gap.into_iter().zip([4, 2, 1]) {
        end = append(end, of_size(wanted, Some(bytes)).skip(taken), wanted, offsets);
    }
    append(end, of_size(wanted, None).skip(references_in_gap), wanted, offsets)
}

/// Fills a gap, and says how many went into it.
fn fill_gap(
    gap: &mut Range<u64>,
    fields: impl Iterator<Item = usize>,
    bytes: u64,
    offsets: &mut [u64],
) -> usize {
    let room = (gap.end - gap.start) / bytes;
    let mut taken = 0;
    for at in fields.take(room as usize) {
        offsets[at] = gap.start;
        gap.start += bytes;
        taken += 1;
    }
    taken
}

/// Fields that are kept apart, those of the nameless group first, each in its order; padding before and behind.
fn place_contended(mut end: u64, wanted: &[FieldToPlace<'_>], offsets: &mut [u64]) -> u64 {
    let apart = || wanted.iter().enumerate().filter(|(_, field)| field.contention != Contention::None);
    if apart().next().is_none() {
        return end;
    }
    end += CONTENDED_PADDING_BYTES;
    for (at, _) in apart().filter(|(_, field)| field.contention == Contention::Alone) {
        end = append(end, std::iter::once(at), wanted, offsets) + CONTENDED_PADDING_BYTES;
    }
    let mut done: Vec<Contention<'_>> = vec![Contention::Alone];
    for (_, first) in apart() {
        if done.contains(&first.contention) {
            continue;
        }
        let group = apart().filter(|(_, field)| field.contention == first.contention).map(|(at, _)| at);
        end = append(end, group, wanted, offsets) + CONTENDED_PADDING_BYTES;
        done.push(first.contention);
    }
    end
}
