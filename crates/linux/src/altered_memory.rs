//! Memory that reads otherwise than it is, or that is watched while it is read: what tests of readers need.

use crate::{BeforeMemory, MemorySource, ReadError};

/// A source whose bytes pass through a function on their way to the reader.
///
/// ```
/// use assay_linux::{AlteredMemory, MemorySource, Recording};
/// let nothing = Recording::of_nothing(8);
/// let zeros = AlteredMemory::new(&nothing, |_address, bytes| bytes.fill(0));
/// assert_eq!(zeros.word_bytes(), 8);
/// ```
pub struct AlteredMemory<'a, F> {
    source: &'a dyn MemorySource,
    alter: F,
}

impl<'a, F: Fn(u64, &mut [u8]) + Sync> AlteredMemory<'a, F> {
    /// `alter` gets the address and the bytes of each read that succeeded.
    pub fn new(source: &'a dyn MemorySource, alter: F) -> Self {
        AlteredMemory { source, alter }
    }
}

impl<F: Fn(u64, &mut [u8]) + Sync> BeforeMemory for AlteredMemory<'_, F> {
    fn behind(&self) -> &dyn MemorySource {
        self.source
    }

    fn read_before(&self, address: u64, buffer: &mut [u8]) -> Result<(), ReadError> {
        self.source.read(address, buffer)?;
        (self.alter)(address, buffer);
        Ok(())
    }
}
