//! What a walk through the heap gives.

/// The kind of an object besides its class.
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
    /// Number of its class in [`HeapClasses::all`](super::HeapClasses::all).
    pub class: u32,
    /// Its size, alignment included.
    pub bytes: u64,
    /// Its kind.
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

    pub(super) fn add(&mut self, other: &WalkBytes) {
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
    /// Ranges that were not understood.
    pub skips: u64,
    /// Bytes that were read of the process; bodies of large arrays are not.
    pub bytes_read: u64,
}
