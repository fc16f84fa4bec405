//! Names of a dump (its UTF8 records), packed: all of them stand in front of what uses them, so most are kept in vain.

use std::collections::HashMap;

/// No class or field has a longer name: the class file format counts their bytes in two.
pub(super) const NAME_BYTES_MAX: usize = 65_535;
/// Room for text: a server with 100,000 classes has some 20 MB beside its signatures.
const TEXT_BYTES_MAX: usize = 32 << 20;
/// As many as a table of 2^20 places holds.
const NAMES_MAX: usize = 900_000;
/// When so much of both is taken, only names of classes in packages are kept, and what this reader asks for: pseudo
/// fields, and those that tell the JDK.
const PLAIN_SHARE: (usize, usize) = (3, 5);

const ASKED_FOR: [&[u8]; 8] =
    [b"value", b"offset", b"coder", b"hashIsZero", b"classData", b"holder", b"modifiers", b"java_version"];

/// Names by identifier.
#[derive(Default)]
pub(super) struct Names {
    /// Start and length in `text`.
    places: HashMap<u64, (u32, u16)>,
    text: Vec<u8>,
    /// Names for which there was no room.
    pub(super) dropped: u64,
}

impl Names {
    /// Keeps a name, if it can be one of a class or a field. The last one of an identifier counts.
    pub(super) fn add(&mut self, id: u64, name: &[u8]) {
        // HotSpot writes its whole symbol table: signatures of methods and types of fields are half of it.
        let is_signature =
            name.first() == Some(&b'(') || (name.first() == Some(&b'L') && name.last() == Some(&b';'));
        if is_signature || name.len() > NAME_BYTES_MAX {
            return;
        }
        let is_plain = !name.contains(&b'/') && name.first() != Some(&b'<') && !ASKED_FOR.contains(&name);
        let (of, parts) = if is_plain { PLAIN_SHARE } else { (1, 1) };
        let text_bytes = self.text.len() + name.len();
        if text_bytes > TEXT_BYTES_MAX / parts * of || self.places.len() >= NAMES_MAX / parts * of {
            self.dropped += 1;
            return;
        }
        let start = self.text.len() as u32;
        self.text.extend_from_slice(name);
        self.places.insert(id, (start, name.len() as u16));
    }

    /// The bytes of a name.
    pub(super) fn get(&self, id: u64) -> Option<&[u8]> {
        let (start, length) = self.places.get(&id)?;
        self.text.get(*start as usize..)?.get(..usize::from(*length))
    }
}
