//! The JDK's version, as the heap has it: the text of a static field, caught while the objects go by.
//!
//! `java_version` is a static field of `java.lang.VersionProps` (JDK 9 and later) or `sun.misc.Version` (to 8). Classes
//! stand before objects in HotSpot's dumps, so that the string to wait for is known; its array of letters may come before
//! it, so that arrays whose text may be a version are remembered.

use crate::PrimitiveKind;
use std::collections::{HashMap, VecDeque};

/// Letters that a version has at most: `1.8.0_392-internal`, `25.0.3-beta+12-202510`.
const LETTERS_MAX: u64 = 32;
/// Arrays that may be versions: the first ones and the last ones.
const FIRST: usize = 2048;
const LAST: usize = 2048;

/// Looks out for the version.
#[derive(Default)]
pub(super) struct VersionWatch {
    /// The string that has it.
    pub(super) string: Option<u64>,
    /// Where a string's fields have the array of its letters: offset and bytes of the identifier.
    pub(super) value_at: Option<(usize, usize)>,
    /// The array of letters, and the text once it has come by.
    value: Option<u64>,
    found: Option<String>,
    first: HashMap<u64, Box<str>>,
    last: VecDeque<(u64, Box<str>)>,
}

impl VersionWatch {
    /// Whether this is the string.
    #[inline]
    pub(super) fn waits_for_string(&self, id: u64) -> bool {
        self.string == Some(id)
    }

    /// The string has come, with these bytes of fields.
    pub(super) fn string(&mut self, fields: &[u8]) {
        let Some((offset, id_bytes)) = self.value_at else { return };
        let Some(id) = fields.get(offset..).and_then(|from| from.get(..id_bytes)) else { return };
        let id = id.iter().fold(0, |number, byte| number << 8 | u64::from(*byte));
        self.value = Some(id);
        let early = self.last.iter().find(|(of, _)| *of == id).map(|(_, text)| text);
        if let Some(text) = self.first.get(&id).or(early) {
            self.found = Some(text.to_string());
        }
    }

    /// Whether an array may be a version's letters.
    #[inline]
    pub(super) fn is_short_text(kind: PrimitiveKind, length: u64) -> bool {
        matches!(kind, PrimitiveKind::Byte | PrimitiveKind::Char) && length.wrapping_sub(1) < LETTERS_MAX
    }

    /// Such an array has come.
    #[inline]
    pub(super) fn text(&mut self, id: u64, kind: PrimitiveKind, elements: &[u8]) {
        // The first letter's low byte: most are not digits.
        let low = if kind == PrimitiveKind::Char { 1 } else { 0 };
        if elements.get(low).is_some_and(|letter| matches!(letter, b'1'..=b'9')) {
            self.numeric_text(id, kind, elements);
        }
    }

    fn numeric_text(&mut self, id: u64, kind: PrimitiveKind, elements: &[u8]) {
        let letters: Option<Vec<u8>> = match kind {
            PrimitiveKind::Char => {
                elements.chunks_exact(2).map(|pair| (pair[0] == 0).then_some(pair[1])).collect()
            }
            _ => Some(elements.to_vec()),
        };
        let Some(text) =
            letters.filter(|letters| is_version(letters)).and_then(|l| String::from_utf8(l).ok())
        else {
            return;
        };
        if self.value == Some(id) {
            self.found = Some(text);
        } else if self.first.len() < FIRST {
            self.first.insert(id, text.into());
        } else {
            if self.last.len() >= LAST {
                self.last.pop_front();
            }
            self.last.push_back((id, text.into()));
        }
    }

    /// What was found.
    pub(super) fn into_found(self) -> Option<String> {
        self.found
    }
}

/// `25`, `25-ea`, `17.0.15`, `1.8.0_392`: a number, further numbers, and something that is not a sentence.
fn is_version(text: &[u8]) -> bool {
    let digits = text.iter().take_while(|letter| letter.is_ascii_digit()).count();
    let is_plain =
        |letter: &u8| letter.is_ascii_alphanumeric() || matches!(letter, b'.' | b'_' | b'-' | b'+' | b'~');
    (1..=2).contains(&digits)
        && text.get(digits).is_none_or(|after| matches!(after, b'.' | b'-' | b'+' | b'_'))
        && text.iter().all(is_plain)
}
