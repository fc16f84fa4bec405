//! One object, from its first bytes: for readers that follow references instead of walking.

use super::classes::HeapClasses;
use super::object::HeapObject;
use super::table::ClassTable;
use super::walk::{Format, LOOK_BYTES};
use crate::Hotspot;

/// Recognises objects of loaded classes by their headers.
pub struct ObjectReader<'c, 'm> {
    format: Format,
    table: ClassTable<'c, 'm>,
}

impl Hotspot<'_> {
    /// A reader of single objects; `None` where it is not known how objects point at their class.
    pub fn object_reader<'c, 'm>(&self, classes: &'c HeapClasses<'m>) -> Option<ObjectReader<'c, 'm>> {
        Some(ObjectReader { format: Format::of(self, classes)?, table: ClassTable::new(classes) })
    }
}

impl ObjectReader<'_, '_> {
    /// So many bytes of an object tell what it is.
    pub const BYTES: usize = LOOK_BYTES;

    /// The object that begins at an address with these bytes; `None` where they are not those of an object of a loaded class.
    pub fn object(&self, address: u64, bytes: &[u8]) -> Option<HeapObject> {
        let facts = self.table.loaded(self.format.class_pointer(bytes)?)?;
        let (size, form) = self.format.measured(&facts, bytes, |class| self.table.number_at(class))?;
        Some(HeapObject { address, class: facts.number, bytes: size, form })
    }
}
