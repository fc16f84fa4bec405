//! Bytes in use before and after a collection, from the finest lines that the log has for it.

use crate::rules::{Fact, Space};

/// Bytes of an event: before, after, capacity after.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct HeapBytes {
    pub before: Option<u64>,
    pub after: Option<u64>,
    pub capacity: Option<u64>,
}

/// What the lines of one collection say of the heap.
#[derive(Debug, Clone, Default)]
pub(crate) struct HeapLines {
    before: Picture,
    after: Picture,
    drawing: Option<Side>,
    transitions: Transitions,
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Side {
    Before,
    After,
}

impl HeapLines {
    /// Takes a line of this collection.
    pub fn take(&mut self, fact: &Fact<'_>) {
        match *fact {
            Fact::HeapBefore => self.drawing = Some(Side::Before),
            Fact::HeapAfter => self.drawing = Some(Side::After),
            Fact::Space { space, used_bytes } => {
                if let Some(picture) = self.drawn() {
                    picture.take_space(space, used_bytes);
                }
            }
            Fact::Extent { is_whole_heap, capacity_bytes, used_bytes, .. } => {
                if let Some(picture) = self.drawn() {
                    picture.take_extent(is_whole_heap, capacity_bytes, used_bytes);
                }
            }
            Fact::Transition { is_old, before_bytes, after_bytes, capacity_bytes } => {
                self.transitions.take(is_old, [before_bytes, after_bytes, capacity_bytes]);
            }
            _ => {}
        }
    }

    fn drawn(&mut self) -> Option<&mut Picture> {
        match self.drawing? {
            Side::Before => Some(&mut self.before),
            Side::After => Some(&mut self.after),
        }
    }

    /// The finest source that has both sides; `pause_line` is the pause's own. Both sides come from the same
    /// source, since the difference of an exact value and a rounded one would be off by the rounding.
    pub fn finest(&self, pause_line: Option<[u64; 3]>) -> HeapBytes {
        if let (Some(before), Some(after)) = (self.before.used_bytes(), self.after.used_bytes()) {
            let capacity = self.after.capacity_bytes.or(pause_line.map(|[_, _, capacity]| capacity));
            return HeapBytes { before: Some(before), after: Some(after), capacity };
        }
        match self.transitions.sum().or(pause_line) {
            Some([before, after, capacity]) => {
                HeapBytes { before: Some(before), after: Some(after), capacity: Some(capacity) }
            }
            None => HeapBytes::default(),
        }
    }
}

/// The heap at one moment.
#[derive(Debug, Clone, Default)]
struct Picture {
    /// G1: the whole heap's line.
    whole_heap_bytes: Option<u64>,
    /// Serial, Parallel: eden, from, to, old. A torn log may lack one; then there is no sum.
    spaces: [Option<u64>; 4],
    capacity_bytes: Option<u64>,
    /// A line came twice: two collections got mixed up, so nothing here can be trusted.
    is_doubtful: bool,
}

impl Picture {
    fn take_space(&mut self, space: Space, used_bytes: u64) {
        let slot = &mut self.spaces[space as usize];
        self.is_doubtful |= slot.is_some();
        *slot = Some(used_bytes);
    }

    fn take_extent(&mut self, is_whole_heap: bool, capacity_bytes: u64, used_bytes: u64) {
        let sum = self.capacity_bytes.unwrap_or(0).checked_add(capacity_bytes);
        self.is_doubtful |= sum.is_none();
        self.capacity_bytes = sum;
        if is_whole_heap {
            self.is_doubtful |= self.whole_heap_bytes.is_some();
            self.whole_heap_bytes = Some(used_bytes);
        }
    }

    fn used_bytes(&self) -> Option<u64> {
        if self.is_doubtful {
            return None;
        }
        let sum_of_spaces = || self.spaces.iter().try_fold(0_u64, |sum, space| sum.checked_add((*space)?));
        self.whole_heap_bytes.or_else(sum_of_spaces)
    }
}

/// `DefNew: ..` and `Tenured: ..`, or `PSYoungGen: ..` and `ParOldGen: ..`.
#[derive(Debug, Clone, Default)]
struct Transitions {
    young: Option<[u64; 3]>,
    old: Option<[u64; 3]>,
}

impl Transitions {
    fn take(&mut self, is_old: bool, sizes: [u64; 3]) {
        *(if is_old { &mut self.old } else { &mut self.young }) = Some(sizes);
    }

    fn sum(&self) -> Option<[u64; 3]> {
        let (young, old) = (self.young?, self.old?);
        Some([young[0].checked_add(old[0])?, young[1].checked_add(old[1])?, young[2].checked_add(old[2])?])
    }
}
