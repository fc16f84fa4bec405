//! Classes of a dump by identifier, with their counts. Objects may come before their class, so that a class begins as an
//! identifier that something used.

use crate::{ArrayLengths, FieldKind};
use std::collections::HashMap;

/// Where a class is in [`ClassTable`].
pub(super) type SlotIndex = u32;

/// The place of everything that is of a class for which there was no room.
pub(super) const OVERFLOW: SlotIndex = 0;
/// Identifiers of classes: large servers have 100,000 classes.
const SLOTS_MAX: usize = 250_000;
/// Fields of all classes: each takes up to 64 bytes until the end.
const FIELDS_MAX: usize = 600_000;
/// Classes of arrays that keep their own lengths, which take up to 2 KiB each; usually 40 bytes.
const ARRAY_CLASSES_MAX: usize = 20_000;
/// Places of the cache in front of the table, which is sound against identifiers made up to collide and slower.
const CACHE: usize = 1 << 12;

/// What the records say of a class.
#[derive(Default)]
pub(super) struct Slot {
    pub(super) id: u64,
    /// Identifier of its name.
    pub(super) name: Option<u64>,
    pub(super) dump: Option<ClassDump>,
    pub(super) arrays: Option<Box<ArrayLengths>>,
}

/// What a CLASS_DUMP says, in its order.
#[derive(Default, PartialEq)]
pub(super) struct ClassDump {
    pub(super) super_id: u64,
    pub(super) fields: Box<[RawField]>,
    pub(super) statics: Box<[RawField]>,
}

/// A field with the identifier of its name; in nine bytes, since servers have half a million.
#[derive(Clone, Copy, PartialEq)]
pub(super) struct RawField {
    name: [u8; 8],
    pub(super) kind: FieldKind,
}

impl RawField {
    pub(super) fn new(name: u64, kind: FieldKind) -> RawField {
        RawField { name: name.to_ne_bytes(), kind }
    }

    pub(super) fn name(&self) -> u64 {
        u64::from_ne_bytes(self.name)
    }
}

/// All of them.
pub(super) struct ClassTable {
    pub(super) slots: Vec<Slot>,
    /// Instances by slot, apart so that counting touches little memory.
    pub(super) instances: Vec<u64>,
    by_id: HashMap<u64, SlotIndex>,
    cache: Box<[(u64, SlotIndex); CACHE]>,
    fields: usize,
    array_classes: usize,
    /// Classes whose fields were too many to keep.
    pub(super) without_fields: u64,
}

impl ClassTable {
    pub(super) fn new() -> ClassTable {
        // No place holds an identifier that belongs there: 0 belongs to place 0, which holds 1.
        let mut cache = Box::new([(0, OVERFLOW); CACHE]);
        cache[0].0 = 1;
        let slots = vec![Slot::default()];
        ClassTable {
            slots,
            instances: vec![0],
            by_id: HashMap::new(),
            cache,
            fields: 0,
            array_classes: 0,
            without_fields: 0,
        }
    }

    /// The slot of an identifier, made when it is new.
    #[inline]
    pub(super) fn slot(&mut self, id: u64) -> SlotIndex {
        // Multiplicative hashing by 2^64 divided by the golden ratio: its high bits are the place.
        let place = (id.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> (64 - CACHE.trailing_zeros())) as usize;
        let (cached, slot) = self.cache[place];
        if cached == id {
            return slot;
        }
        let slot = self.look_up(id);
        self.cache[place] = (id, slot);
        slot
    }

    #[cold]
    fn look_up(&mut self, id: u64) -> SlotIndex {
        if let Some(slot) = self.by_id.get(&id) {
            return *slot;
        }
        if self.slots.len() >= SLOTS_MAX {
            return OVERFLOW;
        }
        let slot = self.slots.len() as SlotIndex;
        self.slots.push(Slot { id, ..Slot::default() });
        self.instances.push(0);
        self.by_id.insert(id, slot);
        slot
    }

    /// The slot of an identifier, if something has it.
    pub(super) fn find(&self, id: u64) -> Option<SlotIndex> {
        self.by_id.get(&id).copied()
    }

    /// Counts an array of references; the number of its class's arrays before it.
    #[inline]
    pub(super) fn add_array(&mut self, slot: SlotIndex, length: u64) -> u64 {
        if let Some(arrays) = &mut self.slots[slot as usize].arrays {
            arrays.add(length);
            let before = self.instances[slot as usize];
            self.instances[slot as usize] += 1;
            return before;
        }
        self.add_first_array(slot, length)
    }

    #[cold]
    fn add_first_array(&mut self, slot: SlotIndex, length: u64) -> u64 {
        let slot = if self.array_classes < ARRAY_CLASSES_MAX { slot } else { OVERFLOW };
        self.array_classes += 1;
        let arrays = &mut self.slots[slot as usize].arrays;
        arrays.get_or_insert_with(|| Box::new(ArrayLengths::new(None))).add(length);
        let before = self.instances[slot as usize];
        self.instances[slot as usize] += 1;
        before
    }

    /// Keeps what a CLASS_DUMP says; false when the class has one that says otherwise, which stays.
    pub(super) fn add_dump(&mut self, slot: SlotIndex, mut dump: ClassDump) -> bool {
        let kept = &mut self.slots[slot as usize].dump;
        if let Some(kept) = kept {
            return *kept == dump;
        }
        let fields = dump.fields.len() + dump.statics.len();
        if self.fields + fields > FIELDS_MAX {
            self.without_fields += 1;
            dump.fields = Box::default();
            dump.statics = Box::default();
        } else {
            self.fields += fields;
        }
        *kept = Some(dump);
        true
    }
}
