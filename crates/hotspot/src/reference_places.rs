//! Which object a word of another object refers to, whichever of the object's addresses it names: ZGC without generations has three for
//! each, and an object may have moved since the reference to it was written.

use crate::heap::{Forwardings, ZViews};
use crate::java_string::References;
use assay_linux::MemorySource;
use std::cell::RefCell;
use std::collections::HashMap;

/// The places of objects: one number for each, the same for all references to it.
pub struct ReferencePlaces<'a> {
    source: &'a dyn MemorySource,
    references: References,
    /// Of ZGC's granules whether objects of it may have moved: nearly none has.
    moved: RefCell<HashMap<u64, bool>>,
}

impl<'a> ReferencePlaces<'a> {
    /// Of a process whose references are stored so.
    pub fn new(source: &'a dyn MemorySource, references: References) -> Self {
        ReferencePlaces { source, references, moved: RefCell::default() }
    }

    /// The place of the object at an address; what refers to it gives the same.
    pub fn of_object(&self, address: u64) -> Option<u64> {
        match self.references.views() {
            Some(views) => views.offset_of(address),
            None => self.references.word_of(address),
        }
    }

    /// The place that a word in an object refers to, if it is a reference.
    #[inline]
    pub fn of_word(&self, word: u64) -> Option<u64> {
        match self.references.views() {
            Some(views) => self.of_coloured(views, word),
            None => Some(word),
        }
    }

    fn of_coloured(&self, views: &ZViews, word: u64) -> Option<u64> {
        let address = self.references.without_colour(word);
        let offset = views.offset_of(address)?;
        match self.references.forwardings_of(word) {
            Some(forwardings) if self.may_have_moved(forwardings, offset) => {
                views.offset_of(self.references.of_word(self.source, word)?)
            }
            _ => Some(offset),
        }
    }

    fn may_have_moved(&self, forwardings: &Forwardings, offset: u64) -> bool {
        let mut moved = self.moved.borrow_mut();
        let granule = forwardings.granule_of(offset);
        *moved.entry(granule).or_insert_with(|| forwardings.may_have(self.source, offset))
    }
}
