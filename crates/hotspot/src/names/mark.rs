//! Whether a word can be the first of an object: its mark (`markWord.hpp`; `markOop.hpp` until JDK 13).
//!
//! Folklore: what is no mark is seldom like one. The address of an object that lies low in ZGC's heap ends in bits that are a class pointer
//! too, and its upper half is the length of an array of 4,096 elements: behind a class pointer or a null, each such reference looked
//! like an array of 32 KiB, which took all buffers in it for its own. Held by:
//! `holders_are_found_among_objects_that_zgc_without_generations_has_moved`, in one of four runs beside other work.

/// The lowest bits: who has the object.
const STATE: u64 = 0b11;
/// The address of the thread's copy of the mark; with lightweight locks the mark itself.
const LOCKED: u64 = 0b00;
const UNLOCKED: u64 = 0b01;
/// Set beside `UNLOCKED` where the rest is the address of a thread (until JDK 17).
const BIASED: u64 = 0b100;
/// The age and the state: all of a mark that has no hash yet.
const WITHOUT_HASH_BITS: u32 = 7;
/// The hash has 31 bits, from bit 8 or, since JDK 24, from bit 11 on.
const MARK_BITS: u32 = 42;
/// Addresses of a process.
const ADDRESS_BITS: u32 = 48;

/// How sure it is that a word is a mark.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MarkTrust {
    /// Of an object that nobody has locked or moves: nearly no other word is like it.
    Sure,
    /// Of an object that is locked or being moved, if it is one: small numbers and addresses look the same.
    Unsure,
}

/// Whether a word of 64 bits can be the mark of an object whose class pointer is behind it; `None` where it cannot. What `is_in_heap` is
/// the address of an object, and the mark of none.
pub(super) fn mark_trust(word: u64, is_in_heap: impl Fn(u64) -> bool) -> Option<MarkTrust> {
    let (is_mark, trust) = match word & STATE {
        UNLOCKED if word & BIASED == 0 => (word >> MARK_BITS == 0, MarkTrust::Sure),
        LOCKED => (is_locked(word) && !is_in_heap(word), MarkTrust::Unsure),
        _ => (word >> ADDRESS_BITS == 0, MarkTrust::Unsure),
    };
    is_mark.then_some(trust)
}

/// Stacks lie above 4 GiB, and few hashes of 31 bits are so small that the upper half is zero; class pointers of 32 bits all are.
fn is_locked(word: u64) -> bool {
    let has_no_hash = word != 0 && word >> WITHOUT_HASH_BITS == 0;
    word & BIASED == 0 && (has_no_hash || word >> u32::BITS != 0 && word >> ADDRESS_BITS == 0)
}

#[cfg(test)]
mod tests {
    use super::{MarkTrust, mark_trust};

    #[test]
    fn marks_are_told_from_class_pointers_nulls_and_references() {
        let is_in_heap = |word: u64| word >> 42 != 0 && word >> 45 == 0;
        let words: [(u64, Option<MarkTrust>, &str); 14] = [
            (0x1, Some(MarkTrust::Sure), "neither locked nor hashed"),
            (0x18_b4aa_c201, Some(MarkTrust::Sure), "a hash"),
            (0x3a5_60c8_5801, Some(MarkTrust::Sure), "a hash of JDK 25"),
            (0x7fb1_971f_e930, Some(MarkTrust::Unsure), "locked: the mark is on a stack"),
            (0x18, Some(MarkTrust::Unsure), "locked in place, of age 3, or the number 24"),
            (0x7fb1_9009_9a52, Some(MarkTrust::Unsure), "the address of a monitor"),
            (0x7faf_8400_0805, Some(MarkTrust::Unsure), "biased towards a thread"),
            (0, None, "null"),
            (0x14, None, "the length of a list: 20"),
            (0x4_df88, None, "a class pointer, and a gap of zeros"),
            (0x1000_0000_3198, None, "a reference"),
            (0xc0e1_2345_0001_b610, None, "two compressed references"),
            (0xffff_ffff_0008_8b00, None, "a class pointer, and a field of -1"),
            (0x0010_0000_0000_0001, None, "bits above the hash"),
        ];
        for (word, trust, what) in words {
            assert_eq!(mark_trust(word, is_in_heap), trust, "{what}: {word:x}");
        }
    }
}
