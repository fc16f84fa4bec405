//! Names of a dump (its UTF8 records), packed: all of them stand in front of what uses them, so most are kept in vain.

/// No class or field has a longer name: the class file format counts their bytes in two.
pub(super) const NAME_BYTES_MAX: usize = 65_535;
/// Room for text: a server with 100,000 classes has some 20 MB beside its signatures.
const TEXT_BYTES_MAX: usize = 32 << 20;
/// 11 MB of places.
const NAMES_MAX: usize = 900_000;
/// When so much of both is taken, only names of classes in packages are kept, and what this reader asks for: pseudo
/// fields, and those that tell the JDK.
const PLAIN_SHARE: (usize, usize) = (3, 5);

const ASKED_FOR: [&[u8]; 8] =
    [b"value", b"offset", b"coder", b"hashIsZero", b"classData", b"holder", b"modifiers", b"java_version"];
/// Those of them, and the classes, that are asked for while the dump is read.
const ASKED_EARLY: [&[u8]; 5] =
    [b"value", b"java_version", b"java/lang/VersionProps", b"sun/misc/Version", b"java/lang/String"];
/// A symbol table has each once.
const EARLY_MAX: usize = 64;

/// Names by identifier.
///
/// They are looked up when all have come, so that they need no table with room to spare: 12 bytes each and their text.
#[derive(Default)]
pub(super) struct Names {
    /// In the order in which they came, then in that of the identifiers.
    places: Vec<NamePosition>,
    is_sorted: bool,
    /// Each name behind its length in two bytes.
    text: Vec<u8>,
    /// Identifiers of [`ASKED_EARLY`].
    early: Vec<(u64, &'static [u8])>,
    /// Names for which there was no room.
    pub(super) dropped: u64,
}

/// Identifier, and where the name is in the text; in halves, so that it takes 12 bytes.
#[derive(Clone, Copy)]
struct NamePosition {
    id: [u32; 2],
    start: u32,
}

impl NamePosition {
    fn id(self) -> u64 {
        u64::from(self.id[0]) << 32 | u64::from(self.id[1])
    }
}

impl Names {
    /// Keeps a name, if it can be one of a class or a field. The last one of an identifier counts.
    pub(super) fn add(&mut self, id: u64, name: &[u8]) {
        // HotSpot writes its whole symbol table: signatures of methods and types of fields are half of it. No name has a semicolon
        // but those of classes of arrays.
        let is_signature =
            name.first() == Some(&b'(') || (name.first() != Some(&b'[') && name.contains(&b';'));
        if is_signature || name.len() > NAME_BYTES_MAX {
            return;
        }
        let is_plain = !name.contains(&b'/') && name.first() != Some(&b'<') && !ASKED_FOR.contains(&name);
        let (of, parts) = if is_plain { PLAIN_SHARE } else { (1, 1) };
        let text_bytes = self.text.len() + 2 + name.len();
        if text_bytes > TEXT_BYTES_MAX / parts * of || self.places.len() >= NAMES_MAX / parts * of {
            self.dropped += 1;
            return;
        }
        self.early.retain(|(known, _)| *known != id);
        if self.early.len() < EARLY_MAX {
            self.early.extend(ASKED_EARLY.into_iter().find(|asked| *asked == name).map(|asked| (id, asked)));
        }
        let start = self.text.len() as u32;
        self.text.extend_from_slice(&(name.len() as u16).to_ne_bytes());
        self.text.extend_from_slice(name);
        self.places.push(NamePosition { id: [(id >> 32) as u32, id as u32], start });
        self.is_sorted = false;
    }

    /// Whether a name is one of [`ASKED_EARLY`]: which.
    pub(super) fn asked_early(&self, id: u64) -> Option<&'static [u8]> {
        self.early.iter().find(|(known, _)| *known == id).map(|(_, name)| *name)
    }

    /// All have come. Of one identifier the last stays.
    pub(super) fn sort(&mut self) {
        self.places.sort_by_key(|place| place.id());
        self.is_sorted = true;
    }

    /// The bytes of a name. To be sorted before, or it takes long.
    pub(super) fn get(&self, id: u64) -> Option<&[u8]> {
        let place = if self.is_sorted {
            let next = self.places.partition_point(|place| place.id() <= id);
            next.checked_sub(1).map(|last| self.places[last]).filter(|place| place.id() == id)
        } else {
            self.places.iter().rev().find(|place| place.id() == id).copied()
        };
        let (length, behind) = self.text.get(place?.start as usize..)?.split_first_chunk()?;
        behind.get(..usize::from(u16::from_ne_bytes(*length)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_name_of_an_identifier_counts_before_and_after_sorting() {
        let mut names = Names::default();
        for (id, name) in
            [(7, "value"), (3, "java/lang/String"), (7, "other"), (1 << 40, "[La/B;"), (9, "La/B;")]
        {
            names.add(id, name.as_bytes());
        }
        names.add(5, b"<T:Ljava/lang/Object;>(TT;)V");
        for _ in 0..2 {
            let all =
                [1, 3, 5, 7, 9, 1 << 40].map(|id| names.get(id).map(|name| str::from_utf8(name).unwrap()));
            assert_eq!(all, [None, Some("java/lang/String"), None, Some("other"), None, Some("[La/B;")]);
            names.sort();
        }
        let early = [3, 7].map(|id| names.asked_early(id));
        assert_eq!(early, [Some(b"java/lang/String".as_slice()), None], "7 is another name by now");
    }
}
