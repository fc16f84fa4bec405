//! From the word with which an object points at its class to what its size needs: one look, mostly one cache line.

use super::classes::{ClassKind, HeapClasses};
use std::collections::HashMap;

/// Words that were met and point at no class that is loaded; kept so that each is looked up once.
const STRANGERS_MAX: usize = 1 << 16;
/// No class has this number.
const EMPTY: u32 = u32::MAX;

/// What an object's size needs of its class.
#[derive(Debug, Clone, Copy)]
pub(super) struct Facts {
    pointer: u64,
    pub(super) number: u32,
    /// Size of an instance, or where elements begin.
    pub(super) bytes: u32,
    pub(super) form: Form,
    pub(super) element_log2: u8,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Form {
    Instance,
    Array,
    Mirror,
    StackChunk,
}

impl Facts {
    fn of(pointer: u64, number: u32, kind: ClassKind) -> Facts {
        let (bytes, form, element_log2) = match kind {
            ClassKind::Instance { bytes } => (bytes, Form::Instance, 0),
            ClassKind::Mirror { bytes } => (bytes, Form::Mirror, 0),
            ClassKind::StackChunk { bytes } => (bytes, Form::StackChunk, 0),
            ClassKind::Array { header_bytes, element_log2, .. } => (header_bytes, Form::Array, element_log2),
        };
        Facts {
            pointer,
            number,
            bytes: u32::try_from(bytes).unwrap_or(0),
            form,
            element_log2: element_log2 as u8,
        }
    }
}

/// Loaded classes by the word that points at them, and what else was met.
pub(super) struct ClassTable<'c, 'm> {
    classes: &'c HeapClasses<'m>,
    /// A power of two of them, half empty at least.
    slots: Vec<Facts>,
    shift: u32,
    strangers: HashMap<u64, Option<Facts>>,
}

impl<'c, 'm> ClassTable<'c, 'm> {
    pub(super) fn new(classes: &'c HeapClasses<'m>) -> Self {
        let size = (2 * classes.loaded().len()).next_power_of_two().max(64);
        let empty = Facts { pointer: 0, number: EMPTY, bytes: 0, form: Form::Instance, element_log2: 0 };
        let mut table = ClassTable {
            classes,
            slots: vec![empty; size],
            shift: 64 - size.trailing_zeros(),
            strangers: HashMap::new(),
        };
        for (class, number) in classes.loaded().iter().zip(0..) {
            if let Some(pointer) = classes.pointer_to(class.address) {
                let facts = Facts::of(pointer, number, class.kind);
                let mut at = table.place(pointer);
                while table.slots[at].number != EMPTY {
                    at = (at + 1) & (size - 1);
                }
                table.slots[at] = facts;
            }
        }
        table
    }

    #[inline]
    fn place(&self, pointer: u64) -> usize {
        (pointer.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> self.shift) as usize
    }

    /// The loaded class that a word points at.
    #[inline]
    pub(super) fn loaded(&self, pointer: u64) -> Option<Facts> {
        let mut at = self.place(pointer);
        loop {
            let facts = self.slots[at];
            if facts.number == EMPTY {
                return None;
            }
            if facts.pointer == pointer {
                return Some(facts);
            }
            at = (at + 1) & (self.slots.len() - 1);
        }
    }

    /// The class of the archive that a word points at, which nothing has loaded.
    #[cold]
    pub(super) fn dormant(&mut self, pointer: u64) -> Option<Facts> {
        if let Some(known) = self.strangers.get(&pointer) {
            return *known;
        }
        let read = || {
            let address = self.classes.pointed_at(pointer).filter(|_| pointer != 0)?;
            let (number, kind) = self.classes.number_at(address)?;
            Some(Facts::of(pointer, number, kind))
        };
        let facts = read();
        if self.strangers.len() < STRANGERS_MAX {
            self.strangers.insert(pointer, facts);
        }
        facts
    }

    /// Number of the class at an address.
    pub(super) fn number_at(&self, address: u64) -> Option<u32> {
        self.classes.number_at(address).map(|(number, _)| number)
    }
}
