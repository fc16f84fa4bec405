//! Following references: which objects a root leads to, and what they add up to.

use super::bits::HeapBits;
use super::pages::Pages;
use assay_hotspot::{ClassKind, HeapClass, HeapObject, ObjectForm, ObjectReader, References};
use std::collections::HashMap;

/// Bytes that are looked at in one piece.
const PIECE_BYTES: u64 = 32 << 10;

/// What of an object may be a reference.
#[derive(Clone, Copy)]
enum Follow {
    /// Nothing: an array of numbers. A mirror's statics are roots of their own.
    Nothing,
    /// Every word behind the header, but the one at this offset: the referent of a weak reference.
    Words { but: Option<u64> },
}

/// Objects and bytes by the number of their class.
#[derive(Debug, Default)]
pub(super) struct Flooded {
    pub(super) objects: u64,
    pub(super) bytes: u64,
    pub(super) by_class: HashMap<u32, (u64, u64)>,
}

impl Flooded {
    fn add(&mut self, object: &HeapObject) {
        self.objects += 1;
        self.bytes = self.bytes.saturating_add(object.bytes);
        let (objects, bytes) = self.by_class.entry(object.class).or_default();
        *objects += 1;
        *bytes = bytes.saturating_add(object.bytes);
    }

    pub(super) fn merge(&mut self, other: Flooded) {
        self.objects += other.objects;
        self.bytes = self.bytes.saturating_add(other.bytes);
        for (class, (objects, bytes)) in other.by_class {
            let sum = self.by_class.entry(class).or_default();
            *sum = (sum.0 + objects, sum.1.saturating_add(bytes));
        }
    }
}

/// Marks what roots lead to. Whatever looks like a reference to the start of an object is one.
pub(super) struct Flood<'a, 'c, 'm> {
    pub(super) starts: &'a HeapBits,
    marked: HeapBits,
    reader: ObjectReader<'c, 'm>,
    references: References,
    pages: Pages<'m>,
    follow: Vec<Follow>,
    /// Objects that were reached and not looked at yet.
    open: Vec<u64>,
    piece: Vec<u8>,
    reads_max: u64,
    objects_left: u64,
}

impl<'a, 'c, 'm> Flood<'a, 'c, 'm> {
    /// `weak_at` gives, for the classes of weak references, where their referent lies. At most so many pages are read, and so many objects
    /// looked at.
    pub(super) fn new(
        starts: &'a HeapBits,
        reader: ObjectReader<'c, 'm>,
        references: References,
        pages: Pages<'m>,
        (classes, weak_at): (&[HeapClass], impl Fn(&HeapClass) -> Option<u64>),
        (reads_max, objects_left): (u64, u64),
    ) -> Option<Self> {
        let follow = |class: &HeapClass| match class.kind {
            ClassKind::Array { element: b'L' | b'[', .. } | ClassKind::StackChunk { .. } => {
                Follow::Words { but: None }
            }
            ClassKind::Instance { .. } => Follow::Words { but: weak_at(class) },
            ClassKind::Array { .. } | ClassKind::Mirror { .. } => Follow::Nothing,
        };
        Some(Flood {
            starts,
            marked: HeapBits::new(starts.range().clone())?,
            reader,
            references,
            pages,
            follow: classes.iter().map(follow).collect(),
            open: Vec::new(),
            piece: vec![0; PIECE_BYTES as usize],
            reads_max,
            objects_left,
        })
    }

    /// Bytes of a reference in an object.
    pub(super) fn reference_bytes(&self) -> u64 {
        self.references.bytes()
    }

    /// Whether it broke off.
    pub(super) fn is_over(&self) -> bool {
        self.objects_left == 0 || self.reads_max < self.pages.reads
    }

    /// The object to which the reference at an address leads; `None` where it leads to none.
    pub(super) fn referred(&mut self, address: u64) -> Option<u64> {
        let mut word = [0; 8];
        let bytes = self.references.bytes() as usize;
        (self.pages.read(address, word.get_mut(..bytes)?) == bytes).then_some(())?;
        Some(self.references.object_of(u64::from_le_bytes(word))).filter(|object| self.starts.has(*object))
    }

    /// A word of an object that is no reference.
    pub(super) fn word(&mut self, address: u64) -> Option<u64> {
        let mut word = [0; 8];
        (self.pages.read(address, &mut word) == 8).then(|| u64::from_le_bytes(word))
    }

    /// The object at an address.
    pub(super) fn object(&mut self, address: u64) -> Option<HeapObject> {
        let mut bytes = [0; ObjectReader::BYTES];
        let read = self.pages.read(address, &mut bytes);
        self.reader.object(address, &bytes[..read])
    }

    /// Keeps others from leading to an object: what it holds is its own.
    pub(super) fn set_apart(&mut self, root: u64) {
        self.marked.set(root);
    }

    /// As [`Flood::take`], of an object that was set apart.
    pub(super) fn take_apart(&mut self, root: u64) -> Flooded {
        self.open.push(root);
        self.follow_open()
    }

    /// Everything that an object leads to and nothing has led to before, itself included.
    pub(super) fn take(&mut self, root: u64) -> Flooded {
        self.reach(root);
        self.follow_open()
    }

    fn follow_open(&mut self) -> Flooded {
        let mut flooded = Flooded::default();
        while let Some(address) = self.open.pop() {
            // What is left stays marked and counts as garbage: the mark says that it broke off.
            if self.is_over() {
                self.open.clear();
                break;
            }
            if let Some(object) = self.object(address) {
                flooded.add(&object);
                self.objects_left = self.objects_left.saturating_sub(1);
                self.look_into(&object);
            }
        }
        flooded
    }

    #[inline]
    fn reach(&mut self, object: u64) {
        if self.starts.has(object) && self.marked.set(object) {
            self.open.push(object);
        }
    }

    /// The same from an object, whose references may lead to what was made since the walk: the larger table of a map that grew.
    #[inline]
    fn reach_from_object(&mut self, object: u64) {
        if self.starts.has(object) {
            self.reach(object);
        } else if object.is_multiple_of(8)
            && self.starts.range().contains(&object)
            && self.object(object).is_some()
            && self.marked.set(object)
        {
            self.open.push(object);
        }
    }

    fn look_into(&mut self, object: &HeapObject) {
        let Some(Follow::Words { but }) = self.follow.get(object.class as usize).copied() else { return };
        let step = self.references.bytes() as usize;
        let end = object.address.saturating_add(object.bytes).min(self.starts.range().end);
        let is_array = matches!(object.form, ObjectForm::Array { .. });
        // Mark and class; an array's length is no address.
        let mut at = object.address + 8;
        let but = but.filter(|_| !is_array).and_then(|offset| object.address.checked_add(offset));
        let mut piece = std::mem::take(&mut self.piece);
        while at < end && !self.is_over() {
            let wanted = (end - at).min(PIECE_BYTES) as usize;
            let read = self.pages.read(at, &mut piece[..wanted]);
            for (index, word) in piece[..read].chunks_exact(step).enumerate() {
                let mut bytes = [0; 8];
                bytes[..step].copy_from_slice(word);
                let word = u64::from_le_bytes(bytes);
                if word != 0 && but != Some(at + (index * step) as u64) {
                    self.reach_from_object(self.references.object_of(word));
                }
            }
            at += wanted as u64;
        }
        self.piece = piece;
    }
}
