//! The records of a dump, from its header to its end.

use super::classes::ClassDump;
use super::cursor::{Cursor, PIECE_BYTES_MAX};
use super::dump::{Dump, Stop};
use super::fillers::References;
use super::header::{Header, HprofError};
use super::payload::{HEADER_BYTES, RecordHeader};
use super::{fillers, finish, shape};
use crate::{ClassHistogram, FieldKind};

const UTF8: u8 = 0x01;
const LOAD_CLASS: u8 = 0x02;

/// Reads the same dump again, to find what refers to some arrays; `None` where it is not the same any more.
pub(super) type Again<'a> = &'a dyn Fn(References) -> Result<Option<References>, HprofError>;

/// Reads the records behind the header, to a class histogram.
pub(super) fn read(
    cursor: Cursor<'_>,
    header: &Header,
    name: &str,
    again: Option<Again<'_>>,
) -> Result<ClassHistogram, HprofError> {
    match header.id_bytes {
        4 => Dump::<4>::new(cursor, header, name, None).read(name, again),
        _ => Dump::<8>::new(cursor, header, name, None).read(name, again),
    }
}

/// Goes along the references of a dump that was whole when it was read before, and counts nothing; `None` where it is not whole any more.
pub(super) fn follow(
    cursor: Cursor<'_>,
    header: &Header,
    name: &str,
    references: References,
) -> Option<References> {
    match header.id_bytes {
        4 => Dump::<4>::new(cursor, header, name, Some(references)).follow(),
        _ => Dump::<8>::new(cursor, header, name, Some(references)).follow(),
    }
}

impl<const ID: usize> Dump<'_, ID> {
    fn read(mut self, name: &str, again: Option<Again<'_>>) -> Result<ClassHistogram, HprofError> {
        while self.record() {}
        self.names.sort();
        let offset = self.cursor.offset();
        if let Some(failure) = self.cursor.failure.take() {
            let is_cut = failure.kind() == std::io::ErrorKind::UnexpectedEof;
            let how = if is_cut { "it is cut off".to_owned() } else { failure.to_string() };
            self.problems.add_missing(format!("nothing could be read behind byte {offset}: {how}"));
        }
        if self.unknown_records > 0 {
            let what = match self.unknown_records {
                1 => "1 record of an unknown kind was passed over".to_owned(),
                many => format!("{many} records of unknown kinds were passed over"),
            };
            self.problems.add(what);
        }
        if self.tally.objects == 0 {
            let what = self.problems.list.first().map_or("it has no heap record", |problem| &problem.text);
            return Err(HprofError::NoObjects { name: name.to_owned(), offset, what: what.to_owned() });
        }
        let candidates = std::mem::take(&mut self.tally.candidates);
        if self.has_class(fillers::CLASS) && candidates.matter(self.cursor.offset()) {
            let why = match (again, candidates.into_references()) {
                _ if self.problems.is_something_missing => Some("the dump is not whole"),
                (None, _) => Some("to find them, a dump is read twice, which only a file can be"),
                (_, None) => Some("there are too many arrays of int"),
                (Some(again), Some(references)) => {
                    self.tally.references = again(references)?;
                    self.tally.references.is_none().then_some("the dump changed while it was read")
                }
            };
            why.into_iter().for_each(|why| self.problems.add(fillers::unknown(why)));
        }
        let mut histogram = finish::histogram(self);
        shape::name_release(&mut histogram, name);
        Ok(histogram)
    }

    fn follow(mut self) -> Option<References> {
        while self.record() {}
        let is_whole = self.cursor.failure.is_none() && !self.problems.is_something_missing;
        self.tally.references.filter(|_| is_whole)
    }

    fn has_class(&self, wanted: &[u8]) -> bool {
        let names = self.tally.classes.slots.iter().filter_map(|slot| self.names.get(slot.name?));
        names.into_iter().any(|name| name == wanted)
    }

    /// Reads a record; false when there is no further one.
    fn record(&mut self) -> bool {
        let offset = self.cursor.offset();
        if !self.cursor.has(HEADER_BYTES) {
            if !self.cursor.rest().is_empty() {
                self.problems
                    .add_missing(format!("the dump ends within a record's header, at byte {offset}"));
            }
            return false;
        }
        let Some(header) = RecordHeader::parse(self.cursor.rest()) else { return false };
        self.cursor.advance(HEADER_BYTES);
        let length = u64::from(header.length);
        let end = self.cursor.offset().saturating_add(length);
        match header.tag {
            _ if header.is_heap() => return self.heap_record(header),
            UTF8 if length as usize <= PIECE_BYTES_MAX && header.length as usize >= ID => {
                // References need no names.
                if self.tally.references.is_none() && self.cursor.has(header.length as usize) {
                    let (id, name) = self.cursor.rest()[..header.length as usize].split_at(ID);
                    self.names.add(number(id), name);
                }
            }
            LOAD_CLASS if length == 8 + 2 * ID as u64 && self.cursor.has(8 + 2 * ID) => {
                let rest = self.cursor.rest();
                let (id, name) = (number(&rest[4..4 + ID]), number(&rest[8 + ID..8 + 2 * ID]));
                let slot = self.tally.classes.slot(id);
                self.tally.classes.slots[slot as usize].name = Some(name);
            }
            0x01..=0x0e | 0x10 | 0x11 | 0x2c => {}
            _ => self.unknown_records += 1,
        }
        let is_whole = self.cursor.skip(end - self.cursor.offset());
        if !is_whole {
            self.problems.add_missing(format!(
                "the dump ends within a record (0x{:02x}) that began at byte {offset}",
                header.tag
            ));
        }
        is_whole
    }

    fn heap_record(&mut self, header: RecordHeader) -> bool {
        self.begin_segment(header);
        match self.sub_records() {
            Ok(()) => true,
            Err(Stop::Over) => {
                let offset = self.cursor.offset();
                self.problems.add_missing(format!(
                    "the dump ends within a heap record, at byte {offset}: what follows is missing"
                ));
                false
            }
            Err(Stop::Torn) => {
                let offset = self.cursor.offset();
                self.problems.add_missing(format!(
                    "a sub-record goes beyond its heap record, which ends at byte {offset}"
                ));
                self.tally.neighbours.interrupt();
                true
            }
            Err(Stop::Damaged(what)) => {
                let offset = self.cursor.offset();
                self.problems.add_missing(format!(
                    "{what}, before byte {offset}: the rest of this heap record is passed over"
                ));
                self.leave_segment()
            }
        }
    }

    /// Keeps a class, and the string that has the JDK's version, if the class has it.
    pub(super) fn add_class(&mut self, id: u64, dump: ClassDump, objects: &[(u64, u64)]) {
        let slot = self.tally.classes.slot(id);
        let name = self.tally.classes.slots[slot as usize].name.and_then(|name| self.names.asked_early(name));
        match name {
            Some(b"java/lang/VersionProps" | b"sun/misc/Version") => {
                let is_version = |name: u64| self.names.asked_early(name) == Some(b"java_version");
                let version = objects.iter().find(|(name, _)| is_version(*name));
                self.tally.version.string = version.map(|(_, string)| *string).filter(|string| *string != 0);
            }
            Some(b"java/lang/String") => {
                let is_value = |name: u64| self.names.asked_early(name) == Some(b"value");
                let place = dump.fields.iter().position(|field| is_value(field.name()));
                self.tally.version.value_at = place.map(|place| {
                    let before = dump.fields[..place].iter().map(|field| match field.kind {
                        FieldKind::Primitive(kind) => kind.bytes() as usize,
                        FieldKind::Reference => ID,
                    });
                    (before.sum(), ID)
                });
            }
            _ => {}
        }
        if !self.tally.classes.add_dump(slot, dump) {
            self.problems
                .add_once("classes are described more than once, and differently: the first time counts");
        }
    }
}

fn number(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0, |number, byte| number << 8 | u64::from(*byte))
}
