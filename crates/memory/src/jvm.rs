//! What the JVM's structures say, read once.

use assay_hotspot::{
    Arenas, CodeCache, GcTable, Hotspot, HotspotError, JavaHeap, JvmThread, Metaspace, Names, Nmt,
    StringTable,
};
use assay_linux::MemorySource;
use std::ops::Range;

/// The parts of a JVM that are joined.
pub(crate) struct Jvm<'m> {
    pub(crate) hotspot: Hotspot<'m>,
    /// Collections before anything of the heap was read; absent where one was at work.
    pub(crate) collections: Option<u32>,
    pub(crate) heap: Option<JavaHeap>,
    pub(crate) gc_tables: Vec<GcTable>,
    pub(crate) code: Option<CodeCache>,
    pub(crate) metaspace: Option<Metaspace>,
    pub(crate) threads: Vec<JvmThread>,
    /// Whether another reading may show more of them at once: see [`assay_hotspot::ThreadLists::may_tell_more`].
    pub(crate) may_tell_more_threads: bool,
    pub(crate) nmt: Nmt,
    pub(crate) arenas: Arenas,
    pub(crate) names: Names<'m>,
    pub(crate) strings: StringTable,
    /// Methods that are being compiled.
    pub(crate) compiling: Vec<String>,
}

impl<'m> Jvm<'m> {
    /// Finds the JVM of a process and reads it; `None` where there is none.
    ///
    /// # Errors
    /// As of [`Hotspot::open`].
    pub(crate) fn find(source: &'m dyn MemorySource) -> Result<Option<Jvm<'m>>, HotspotError> {
        Ok(Hotspot::open(source)?.map(Jvm::read))
    }

    pub(crate) fn read(hotspot: Hotspot<'m>) -> Jvm<'m> {
        // First: a running JVM may start or end a thread at any time.
        let lists = hotspot.thread_lists();
        let collections = hotspot.collections_now().filter(|_| hotspot.is_collecting() != Some(true));
        let names = hotspot.names();
        Jvm {
            collections,
            heap: hotspot.heap(),
            gc_tables: hotspot.gc_tables(),
            code: hotspot.code_cache(),
            metaspace: hotspot.metaspace(),
            may_tell_more_threads: lists.may_tell_more(),
            compiling: hotspot.compilations(&lists.threads, &names),
            threads: lists.threads,
            nmt: hotspot.nmt(),
            arenas: hotspot.arenas(),
            names,
            strings: hotspot.string_table(),
            hotspot,
        }
    }

    /// Bytes before the content of a malloc block that native memory tracking takes; 0 when nothing is tracked.
    pub(crate) fn tracked_header_bytes(&self) -> u64 {
        if self.nmt.is_tracking() { u64::from(self.nmt.header_bytes) } else { 0 }
    }

    /// Memory that is the JVM's own and can hold no block of malloc.
    pub(crate) fn not_malloc(&self) -> Vec<Range<u64>> {
        let heap = self.heap.iter().flat_map(|h| h.reserved.iter().cloned());
        let tables = self.gc_tables.iter().map(|t| t.addresses.clone());
        let heaps = self.code.iter().flat_map(|c| &c.heaps);
        let code = heaps.flat_map(|h| [h.reserved.clone(), h.segment_map.clone()]);
        let metaspace = self.metaspace.iter();
        let classes = metaspace
            .flat_map(|m| m.nodes.iter().map(|n| n.addresses.clone()).chain(m.archive.iter().cloned()));
        let stacks = self.threads.iter().filter_map(|t| t.stack.clone());
        heap.chain(tables).chain(code).chain(classes).chain(stacks).collect()
    }
}
