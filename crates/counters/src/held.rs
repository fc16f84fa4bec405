//! What a JVM holds while its CPU time is counted: what fills its heap, and the classes that it makes.

use crate::jvm::Holds;
use assay_model::JvmHeld;

/// Looks at it.
#[derive(Debug, Default)]
pub(crate) struct HeldGauge {
    held: JvmHeld,
    /// Of the first look.
    first: Option<(u64, Holds)>,
}

impl HeldGauge {
    /// Adds a look at this moment.
    pub(crate) fn add(&mut self, at_ns: u64, holds: Holds) {
        let (first_ns, first) = *self.first.get_or_insert((at_ns, holds));
        let least = [self.held.heap_bytes_least, holds.heap_bytes].into_iter().flatten().min();
        self.held = JvmHeld {
            looks: self.held.looks + 1,
            duration_ns: at_ns.saturating_sub(first_ns),
            heap_bytes_least: least,
            heap_bytes_max: holds.heap_bytes_max,
            classes_loaded: holds
                .classes_loaded
                .zip(first.classes_loaded)
                .and_then(|(now, first)| now.checked_sub(first)),
        };
    }

    /// All looks together; `None` where there are none.
    pub(crate) fn held(&self) -> Option<JvmHeld> {
        self.first.map(|_| self.held)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_emptiest_look_counts_and_classes_are_those_made_meanwhile() {
        let mut gauge = HeldGauge::default();
        assert_eq!(gauge.held(), None);
        let holds =
            |heap, classes| Holds { heap_bytes: heap, heap_bytes_max: Some(100), classes_loaded: classes };
        for (at_ns, look) in
            [(5, holds(Some(90), Some(1000))), (7, holds(None, None)), (9, holds(Some(95), Some(1010)))]
        {
            gauge.add(at_ns, look);
        }
        let held = JvmHeld {
            looks: 3,
            duration_ns: 4,
            heap_bytes_least: Some(90),
            heap_bytes_max: Some(100),
            classes_loaded: Some(10),
        };
        assert_eq!(gauge.held(), Some(held));
        gauge.add(10, holds(Some(95), Some(9)));
        assert_eq!(gauge.held().and_then(|held| held.classes_loaded), None, "another JVM in its place");
    }
}
