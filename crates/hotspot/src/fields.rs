//! Following the JVM's objects: fields by name, exported offsets first, then those of the layout pack.

use crate::Hotspot;

/// A field: its type and name, in one of several releases.
pub(crate) type Spelling<'s> = (&'s str, &'s str);

impl Hotspot<'_> {
    /// Offset of the first spelling that is exported, else of the first that the layout pack has.
    pub(crate) fn offset(&self, spellings: &[Spelling<'_>]) -> Option<u64> {
        let packed = || {
            let pack = self.pack()?;
            spellings.iter().find_map(|(type_name, field)| pack.offset(type_name, field))
        };
        self.structs().first_offset(spellings).or_else(packed)
    }

    /// Address of a field of an object.
    pub(crate) fn place(&self, object: u64, spellings: &[Spelling<'_>]) -> Option<u64> {
        if object == 0 {
            return None;
        }
        object.checked_add(self.offset(spellings)?)
    }

    /// The word in a field of an object.
    pub(crate) fn field(&self, object: u64, spellings: &[Spelling<'_>]) -> Option<u64> {
        self.source().word(self.place(object, spellings)?)
    }

    /// The pointer in a field of an object; `None` where it is null.
    pub(crate) fn pointer(&self, object: u64, spellings: &[Spelling<'_>]) -> Option<u64> {
        self.field(object, spellings).filter(|pointer| *pointer != 0)
    }

    /// The pointer in an exported static field; `None` where it is null.
    pub(crate) fn static_pointer(&self, spellings: &[Spelling<'_>]) -> Option<u64> {
        let place = self.structs().first_static_address(spellings)?;
        self.source().word(place).filter(|pointer| *pointer != 0)
    }

    /// A generation of Parallel by its field: static until JDK 26, and one of the heap's since.
    pub(crate) fn parallel_generation(&self, field: &str) -> Option<u64> {
        let spelling = [("ParallelScavengeHeap", field)];
        self.static_pointer(&spelling).or_else(|| self.pointer(self.collected_heap()?, &spelling))
    }

    /// The object that stands for the whole heap, of whichever collector.
    pub(crate) fn collected_heap(&self) -> Option<u64> {
        self.static_pointer(&[("Universe", "_collectedHeap")])
    }
}
