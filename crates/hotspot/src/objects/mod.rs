//! The objects of a Java heap, one after the other, read from outside: the class, the size and the length of each.
//!
//! An object says in its header which class it is of, and class or header say its size, so that the next one is found
//! behind it. What is between objects is known too: the buffers from which threads allocate. What breaks the chain (an
//! object that has no header yet because its thread was stopped between two instructions, one whose class was unloaded,
//! memory of ZGC that nobody fills) is skipped up to the next place from which several objects follow each other, and
//! counted. Every byte up to the tops of the spaces is booked somewhere in [`WalkBytes`].
//!
//! All objects are seen, also those that the program can reach no more.

mod backed;
mod classes;
mod fields;
mod stretches;
mod table;
mod walk;
mod window;

pub use classes::{ClassKind, HeapClass, HeapClasses};
pub use fields::{ClassField, FieldReader};

use crate::{Hotspot, JavaHeap};
use std::sync::atomic::{AtomicUsize, Ordering};
use stretches::Ground;
use table::ClassTable;
use walk::{Format, Walker};
use window::HeapMemory;

/// Threads that walk; where the heap is one space, one of them does.
const WALKERS: usize = 2;

/// What an object is besides its class.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ObjectForm {
    /// An instance as large as all of its class.
    Instance,
    /// An array of so many elements.
    Array {
        /// Its length.
        length: u64,
    },
    /// An object of class `java.lang.Class`.
    Mirror {
        /// The class for which it stands; `None` for primitive types, and where that class was unloaded.
        of: Option<u32>,
    },
    /// A part of a virtual thread's stack.
    StackChunk,
}

/// An object.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HeapObject {
    /// Where it is.
    pub address: u64,
    /// Number of its class in [`HeapClasses::all`].
    pub class: u32,
    /// Its size, alignment included.
    pub bytes: u64,
    /// What else it is.
    pub form: ObjectForm,
}

/// Is shown every object.
pub trait ObjectVisitor: Send {
    /// An object. Those of one space come in the order of their addresses.
    fn object(&mut self, object: &HeapObject);
}

/// Where the bytes of the spaces' used parts went. They add up to `used_bytes`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct WalkBytes {
    /// Up to the tops of the spaces; memory that is mapped several times counts once.
    pub used_bytes: u64,
    /// Objects that were shown.
    pub object_bytes: u64,
    /// Objects of the archive of class data whose class nothing has loaded: nobody can reach them.
    pub dormant_bytes: u64,
    /// Copies that a collector left behind when it moved an object.
    pub moved_bytes: u64,
    /// Kept by threads for their next objects.
    pub buffer_bytes: u64,
    /// Behind the last object of a thread's buffer without a header: being made.
    pub unfinished_bytes: u64,
    /// Behind objects that have regions of their own.
    pub behind_humongous_bytes: u64,
    /// Not resident, or not readable.
    pub absent_bytes: u64,
    /// Not understood.
    pub skipped_bytes: u64,
    /// Not reached: the time was over.
    pub not_walked_bytes: u64,
}

impl WalkBytes {
    /// Σ of all parts.
    pub fn accounted_bytes(&self) -> u64 {
        let parts = [
            self.object_bytes,
            self.dormant_bytes,
            self.moved_bytes,
            self.buffer_bytes,
            self.unfinished_bytes,
            self.behind_humongous_bytes,
            self.absent_bytes,
            self.skipped_bytes,
            self.not_walked_bytes,
        ];
        parts.into_iter().fold(0, u64::saturating_add)
    }

    fn add(&mut self, other: &WalkBytes) {
        self.object_bytes += other.object_bytes;
        self.dormant_bytes += other.dormant_bytes;
        self.moved_bytes += other.moved_bytes;
        self.buffer_bytes += other.buffer_bytes;
        self.unfinished_bytes += other.unfinished_bytes;
        self.behind_humongous_bytes += other.behind_humongous_bytes;
        self.absent_bytes += other.absent_bytes;
        self.skipped_bytes += other.skipped_bytes;
        self.not_walked_bytes += other.not_walked_bytes;
    }
}

/// What a walk gave.
#[derive(Debug)]
pub struct ObjectWalk<V> {
    /// One for each thread that walked.
    pub visitors: Vec<V>,
    /// Where the bytes went.
    pub bytes: WalkBytes,
    /// Objects that were shown.
    pub objects: u64,
    /// Parts of threads' buffers without objects: before it goes over the heap, the JVM fills each with one object.
    pub buffers: u64,
    /// Stretches that were not understood.
    pub skips: u64,
    /// Bytes that were read of the process; bodies of large arrays are not.
    pub bytes_read: u64,
}

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
            while let Some(stretch) = ground.stretches.get(next.fetch_add(1, Ordering::Relaxed)) {
                walker.walk(stretch);
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
        let used = ground.stretches.iter().map(|s| s.addresses.end - s.addresses.start);
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
