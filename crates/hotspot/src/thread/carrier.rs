//! Whether a carrier has a virtual thread.

use crate::java_string::References;
use crate::{Hotspot, Names};

const VIRTUAL_THREAD: &str = "java.lang.VirtualThread";

/// Carriers of virtual threads, for looks at them that take microseconds.
pub struct Carriers<'h, 'm> {
    hotspot: &'h Hotspot<'m>,
    names: Names<'m>,
}

impl<'m> Hotspot<'m> {
    /// For looks at carriers.
    pub fn carriers(&self) -> Carriers<'_, 'm> {
        Carriers { hotspot: self, names: self.names() }
    }
}

impl Carriers<'_, '_> {
    /// Whether the thread at this address, a carrier, has a virtual thread at this moment: what Java code on it takes for the current thread
    /// is a virtual one. The JVM keeps a second handle for that, which refers to the carrier's own object while there is none (since JDK 21).
    ///
    /// Folklore: this handle, `_vthread`, is not exported; it lies behind that of the thread's own object. If it did not, no object of
    /// the class would be there. Held by: `carriers_that_a_monitor_keeps_are_found_in_releases_that_pin_them`.
    pub fn is_taken(&self, carrier: u64) -> bool {
        let class = || {
            let source = self.hotspot.source();
            let own = self.hotspot.place(carrier, &[("JavaThread", "_threadObj")])?;
            let handle = source.word(own.checked_add(source.word_bytes())?).filter(|handle| *handle != 0)?;
            let object = References::of(self.hotspot)?.of_word(source, source.word_anew(handle)?)?;
            self.names.class_of_klass(self.names.klass_of_object(object)?)
        };
        class().as_deref() == Some(VIRTUAL_THREAD)
    }
}
