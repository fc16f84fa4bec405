//! The table of size classes.
//!
//! Layout (gperftools 2.10, `SizeMap` in `common.h`): bytes of an object for each class as 32-bit numbers, then pages of
//! a span for each class as words, then the number of classes. Class 0 stands for no class.

use crate::word_reader::WordReader;
use std::ops::Range;

/// Classes that a build may have room for; gperftools 2.10 has 128.
const CLASSES_MAX: usize = 256;
/// The smallest table that is believed: the classes up to 1 KiB alone are 30.
const CLASSES_MIN: usize = 24;
/// Pages of a span.
const SPAN_PAGES_MAX: u64 = 256;

/// Bytes of classes 0 and 1 in one word, little endian.
const FIRST_TWO: u64 = 8 << 32;
/// Bytes of classes 1 and 2 in one word.
const SECOND_TWO: u64 = 16 << 32 | 8;

/// A size class.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct SizeClass {
    pub object_bytes: u64,
    pub span_pages: u64,
}

/// The classes by number; the first stands for none.
pub(super) fn find(reader: &WordReader<'_>, variables: Range<u64>) -> Option<Vec<SizeClass>> {
    let mut found = None;
    // Class 0 has no bytes, class 1 has 8 and class 2 has 16. The table begins in the middle of a word, or with one.
    reader.each_word(variables, |at, word| {
        found = match word {
            FIRST_TWO => table_at(reader, at),
            SECOND_TWO => at.checked_sub(4).and_then(|at| table_at(reader, at)),
            _ => None,
        };
        found.is_none()
    });
    found
}

fn table_at(reader: &WordReader<'_>, at: u64) -> Option<Vec<SizeClass>> {
    let mut bytes = vec![u64::from(reader.u32(at)?)];
    if bytes != [0] {
        return None;
    }
    while bytes.len() < CLASSES_MAX {
        let next = u64::from(reader.u32(at.checked_add(bytes.len() as u64 * 4)?)?);
        if next <= *bytes.last()? || !next.is_multiple_of(8) {
            break;
        }
        bytes.push(next);
    }
    if bytes.len() < CLASSES_MIN {
        return None;
    }
    // The table is as long as the build has room for; the number of classes behind both tables says where that ends.
    let pages_at = |room: usize| Some(at.checked_add(room as u64 * 4)?.next_multiple_of(8));
    (bytes.len()..=CLASSES_MAX).find_map(|room| pages_behind(reader, pages_at(room)?, room, &bytes))
}

fn pages_behind(reader: &WordReader<'_>, at: u64, room: usize, bytes: &[u64]) -> Option<Vec<SizeClass>> {
    let word = |index: usize| reader.u64(at.checked_add(index as u64 * 8)?);
    if word(room)? != bytes.len() as u64 || word(0)? != 0 {
        return None;
    }
    let mut classes = vec![SizeClass { object_bytes: 0, span_pages: 0 }];
    for (class, object_bytes) in bytes.iter().enumerate().skip(1) {
        let span_pages = word(class).filter(|pages| (1..=SPAN_PAGES_MAX).contains(pages))?;
        classes.push(SizeClass { object_bytes: *object_bytes, span_pages });
    }
    Some(classes)
}
