//! The objects of a Java heap, one after the other, read from outside: the class, the size and the length of each.
//!
//! An object says in its header which class it is of, and class or header say its size, so that the next one is found
//! behind it. The gaps between objects are known too: the buffers from which threads allocate. What breaks the chain (an
//! object that has no header yet because its thread was stopped between two instructions, one whose class was unloaded,
//! memory of ZGC that nobody fills) is skipped up to the next place from which several objects follow each other, and
//! counted. Every byte up to the tops of the spaces is booked somewhere in [`WalkBytes`].
//!
//! All objects are visited, also unreachable ones.

mod backed;
mod classes;
mod fields;
mod object;
mod ranges;
mod reader;
mod table;
mod walk;
mod window;

pub use classes::{ClassKind, HeapClass, HeapClasses};
pub use fields::{ClassField, FieldReader};
pub use object::{HeapObject, ObjectForm, ObjectVisitor, ObjectWalk, WalkBytes};
pub use reader::ObjectReader;

use crate::{Hotspot, JavaHeap};
use ranges::Ground;
use std::sync::atomic::{AtomicUsize, Ordering};
use table::ClassTable;
use walk::{Format, Walker};
use window::HeapMemory;

/// Threads that walk; where the heap is one space, one of them does.
const WALKERS: usize = 2;

impl Hotspot<'_> {
    /// Shows every object of a heap to visitors, one for each of two threads.
    ///
    /// `is_standing` is asked after each read (512 KiB) whether the process stands still; when it no longer does, what was
    /// read last is not used, and the walk ends. `None` where it is not known how objects point at their class.
    pub fn walk_objects<V: ObjectVisitor>(
        &self,
        heap: &JavaHeap,
        classes: &HeapClasses<'_>,
        is_standing: &(dyn Fn() -> bool + Sync),
        visitor: impl Fn() -> V + Sync,
    ) -> Option<ObjectWalk<V>> {
        let format = Format::of(self, classes)?;
        let ground = Ground::of(self, heap);
        let memory = HeapMemory::new(&classes.backed, ground.views.clone());
        let next = AtomicUsize::new(0);
        let work = || {
            let mut walker =
                Walker::new(format, &memory, &ground.holes, ClassTable::new(classes), is_standing, visitor());
            while let Some(range) = ground.ranges.get(next.fetch_add(1, Ordering::Relaxed)) {
                walker.walk(range);
            }
            walker.finish()
        };
        let walked = std::thread::scope(|scope| {
            let others: Vec<_> = (1..WALKERS).map(|_| scope.spawn(work)).collect();
            let mut walked = vec![work()];
            // A thread that panicked has shown nothing; its bytes are missing in the sum, which says so.
            walked.extend(others.into_iter().filter_map(|other| other.join().ok()));
            walked
        });
        let used = ground.ranges.iter().map(|s| s.addresses.end - s.addresses.start);
        let mut all = ObjectWalk {
            visitors: Vec::new(),
            bytes: WalkBytes { used_bytes: used.fold(0, u64::saturating_add), ..WalkBytes::default() },
            objects: 0,
            buffers: 0,
            skips: 0,
            bytes_read: 0,
        };
        for part in walked {
            all.bytes.add(&part.bytes);
            all.objects += part.objects;
            all.buffers += part.buffers;
            all.skips += part.skips;
            all.bytes_read += part.bytes_read;
            all.visitors.extend(part.visitors);
        }
        Some(all)
    }
}
