//! What is counted while the objects go by.

use super::classes::{ClassTable, OVERFLOW};
use super::fillers::{Candidates, References};
use super::neighbours::{Kind, Neighbours, short};
use super::version::VersionWatch;
use crate::{ArrayLengths, PrimitiveKind};

/// The counts of the first reading, or the references of the second, which counts nothing.
pub(super) struct Tally {
    pub(super) classes: ClassTable,
    /// Arrays of numbers, by kind.
    pub(super) primitives: [ArrayLengths; 8],
    primitive_counts: [u64; 8],
    /// All identifiers of objects, or-ed.
    pub(super) id_bits: u64,
    pub(super) objects: u64,
    pub(super) neighbours: Neighbours,
    pub(super) version: VersionWatch,
    /// Arrays that may be fillers, while it is not known what refers to them.
    pub(super) candidates: Candidates,
    /// In the second reading, and of it.
    pub(super) references: Option<References>,
    /// Names of types whose arrays are as long as a record can be, by identifier of the class.
    pub(super) cut_arrays: Vec<CutArray>,
}

/// An array that a JDK has cut because a record's length has four bytes.
#[derive(Debug, Clone, Copy)]
pub(super) struct CutArray {
    pub(super) class: Option<u64>,
    pub(super) kind: Option<PrimitiveKind>,
    pub(super) length: u64,
}

/// Of arrays that were cut, so many are named.
const CUT_ARRAYS_MAX: usize = 16;
/// JDKs cut an array's bytes to what is left of 2^32 - 1 behind the headers in front of it.
const HEADERS_BYTES_MAX: u64 = 64;

impl Tally {
    pub(super) fn new(references: Option<References>) -> Tally {
        Tally {
            classes: ClassTable::new(),
            primitives: PrimitiveKind::ALL.map(|kind| ArrayLengths::new(Some(kind))),
            primitive_counts: [0; 8],
            id_bits: 0,
            objects: 0,
            neighbours: Neighbours::default(),
            version: VersionWatch::default(),
            candidates: Candidates::default(),
            references,
            cut_arrays: Vec::new(),
        }
    }

    /// Counts an instance; `fields` is what is at hand of its bytes.
    #[inline]
    pub(super) fn instance<const ID: usize>(&mut self, id: u64, class: u64, fields: &[u8]) {
        let slot = self.classes.slot(class);
        if let Some(references) = &mut self.references {
            return references.of_instance::<ID>(slot, &self.classes, fields);
        }
        let count = &mut self.classes.instances[slot as usize];
        let nth = *count;
        *count += 1;
        self.object(id);
        self.neighbours.next(id, nth, || (slot != OVERFLOW).then_some(Kind::Instance(slot)));
        if self.version.waits_for_string(id) {
            self.version.string(fields);
        }
    }

    /// Something in the dump refers to this.
    #[inline]
    pub(super) fn refers_to(&mut self, id: u64) {
        if let Some(references) = &mut self.references {
            references.meet(id);
        }
    }

    /// Goes along the elements of an array of references, or some of them.
    #[inline]
    pub(super) fn elements<const ID: usize>(&mut self, elements: &[u8]) {
        if let Some(references) = &mut self.references {
            references.meet_all::<ID>(elements);
        }
    }

    /// Counts an array of references.
    #[inline]
    pub(super) fn references(&mut self, id: u64, class: u64, length: u64, id_bytes: u64) {
        if self.references.is_some() {
            return;
        }
        let slot = self.classes.slot(class);
        let nth = self.classes.add_array(slot, length);
        self.object(id);
        self.neighbours.next(id, nth, || short(length).map(Kind::References));
        if length * id_bytes + HEADERS_BYTES_MAX > u64::from(u32::MAX) {
            self.cut(CutArray { class: Some(class), kind: None, length });
        }
    }

    /// Counts an array of numbers; `elements` is what is at hand of its bytes.
    #[inline]
    pub(super) fn numbers(&mut self, id: u64, kind: PrimitiveKind, length: u64, elements: &[u8]) {
        if self.references.is_some() {
            return;
        }
        let number = kind as usize;
        let nth = self.primitive_counts[number];
        self.primitive_counts[number] += 1;
        self.primitives[number].add(length);
        self.object(id);
        if kind == PrimitiveKind::Int && 0 < length {
            self.candidates.add(id, length);
        }
        self.neighbours.next(id, nth, || Some(Kind::Primitives(kind, short(length)?)));
        if VersionWatch::is_short_text(kind, length) {
            self.version.text(id, kind, elements);
        } else if length * kind.bytes() + HEADERS_BYTES_MAX > u64::from(u32::MAX) {
            self.cut(CutArray { class: None, kind: Some(kind), length });
        }
    }

    #[inline]
    fn object(&mut self, id: u64) {
        self.id_bits |= id;
        self.objects += 1;
    }

    #[cold]
    fn cut(&mut self, array: CutArray) {
        if self.cut_arrays.len() < CUT_ARRAYS_MAX {
            self.cut_arrays.push(array);
        }
    }
}
