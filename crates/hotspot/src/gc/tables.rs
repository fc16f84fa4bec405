//! Tables of Serial, Parallel, G1 and Shenandoah.

use super::Tables;
use crate::fields::Spelling;
use assay_jdk::Collector;
use assay_model::FigureSource;
use std::ops::Range;

/// Words of G1's heap object that are searched for its concurrent marking.
const G1_HEAP_WORDS: u64 = 256;
/// Mark stacks of JDK 23 and later grow by blocks, each as large as all before.
const MARK_STACK_BLOCKS_MAX: u64 = 40;
/// A row of G1's cache of cards, or any other static table.
const STATIC_TABLE_BYTES_MAX: u64 = 1 << 32;

/// Shenandoah's bitmaps: two bits for each eight bytes, and one in JDK 11.
const SHENANDOAH_HEAP_BYTES_PER_BITMAP_BYTE: [u64; 2] = [32, 64];
/// By how much a field may have moved between updates of one release: 25.0.3 and 25.0.5 differ by 24.
const MOVED_BYTES_MAX: u64 = 64;

/// Offsets at which a field is looked for, the stated one first. The value there must prove itself.
fn moved(stated: u64) -> impl Iterator<Item = u64> {
    let near = (8..=MOVED_BYTES_MAX).step_by(8);
    std::iter::once(stated).chain(near.flat_map(move |by| [stated.saturating_sub(by), stated + by]))
}

impl Tables<'_, '_> {
    pub(super) fn find_all(&mut self) {
        let Some(collector) = self.hotspot.collector() else { return };
        if self.hotspot.pack().is_none() {
            self.hotspot
                .problem("GC structures", "no layout pack for this JVM: only its card table is known");
            if !matches!(collector, Collector::Z | Collector::Shenandoah | Collector::Epsilon) {
                self.card_table();
            }
            return;
        }
        match collector {
            Collector::Serial => self.serial(),
            Collector::Parallel => self.parallel(),
            Collector::ConcMarkSweep => self.concurrent_mark_sweep(),
            Collector::G1 => self.g1(),
            Collector::Z => self.z(),
            Collector::Shenandoah => self.shenandoah(),
            // It never collects.
            Collector::Epsilon => {}
        }
    }

    fn serial(&mut self) {
        self.card_table();
        let hotspot = self.hotspot;
        let table: &[Spelling<'_>] = &[("TenuredGeneration", "_bts"), ("CardGeneration", "_bts")];
        let space: &[Spelling<'_>] = &[("SerialBlockOffsetTable", "_vs"), ("BlockOffsetSharedArray", "_vs")];
        let old = hotspot.serial_generations().map(|[_, old]| old);
        let space =
            old.and_then(|old| hotspot.pointer(old, table)).and_then(|table| hotspot.place(table, space));
        let [low, high] = [("VirtualSpace", "_low_boundary"), ("VirtualSpace", "_high_boundary")];
        self.push_bounds("block offset table", space, low, high);
    }

    /// Its generations are as Serial's; marking has a bitmap of its own.
    fn concurrent_mark_sweep(&mut self) {
        self.serial();
        let hotspot = self.hotspot;
        let collector = hotspot.static_pointer(&[("ConcurrentMarkSweepThread", "_collector")]);
        let bitmap = collector.and_then(|of| hotspot.place(of, &[("CMSCollector", "_markBitMap")]));
        let space = bitmap.and_then(|of| hotspot.place(of, &[("CMSBitMap", "_virtual_space")]));
        let [low, high] = [("VirtualSpace", "_low_boundary"), ("VirtualSpace", "_high_boundary")];
        self.push_bounds("mark bitmap", space, low, high);
    }

    fn parallel(&mut self) {
        self.card_table();
        let hotspot = self.hotspot;
        let old = hotspot.parallel_generation("_old_gen");
        // The start array lies in the old generation before JDK 23, and is pointed at since.
        let inside = ("PSOldGen", "_start_array._virtual_space._reserved_low_addr");
        if hotspot.offset(&[inside]).is_some() {
            let high = ("PSOldGen", "_start_array._virtual_space._reserved_high_addr");
            self.push_bounds("block offset table", old, inside, high);
        } else {
            let array = old.and_then(|old| hotspot.pointer(old, &[("PSOldGen", "_start_array")]));
            self.push_ps_space("block offset table", array, ("ObjectStartArray", "_virtual_space"));
        }
        let bitmap = hotspot.symbols().address("_ZN17PSParallelCompact12_mark_bitmapE");
        self.push_ps_space("mark bitmap", bitmap, ("ParMarkBitMap", "_virtual_space"));
        let summary = hotspot.symbols().address("_ZN17PSParallelCompact13_summary_dataE");
        self.push_ps_space("region table", summary, ("ParallelCompactData", "_region_vspace"));
        let blocks = ("ParallelCompactData", "_block_vspace");
        if hotspot.offset(&[blocks]).is_some() {
            self.push_ps_space("block table", summary, blocks);
        }
    }

    /// The reserved addresses of the `PSVirtualSpace` that a field points at.
    fn push_ps_space(&mut self, name: &str, object: Option<u64>, field: Spelling<'_>) {
        let space = object.and_then(|object| self.hotspot.pointer(object, &[field]));
        let [low, high] =
            [("PSVirtualSpace", "_reserved_low_addr"), ("PSVirtualSpace", "_reserved_high_addr")];
        self.push_bounds(name, space, low, high);
    }

    fn g1(&mut self) {
        let hotspot = self.hotspot;
        let Some(heap) = hotspot.collected_heap() else { return };
        let manager = hotspot.place(heap, &[("G1CollectedHeap", "_hrm")]);
        let has_symtab = hotspot.symbols().has_symtab();
        for (name, field) in [
            ("block offset table", "_bot_mapper"),
            ("card table", "_cardtable_mapper"),
            ("card table", "_card_table_mapper"),
            ("card table", "_refinement_table_mapper"),
            ("card counts", "_card_counts_mapper"),
            ("mark bitmap", "_prev_bitmap_mapper"),
            ("mark bitmap", "_next_bitmap_mapper"),
            ("mark bitmap", "_bitmap_mapper"),
        ] {
            let spellings = [("G1HeapRegionManager", field), ("HeapRegionManager", field)];
            // Each release has some of them.
            if hotspot.offset(&spellings).is_none() {
                continue;
            }
            let mapper = manager.and_then(|manager| hotspot.pointer(manager, &spellings));
            let [low, high] = [
                ("G1RegionToSpaceMapper", "_storage._low_boundary"),
                ("G1RegionToSpaceMapper", "_storage._high_boundary"),
            ];
            let is_mapper =
                |m: &u64| self.is_a(*m, "Mapper") && (has_symtab || self.covers_heap(*m, low, high));
            self.push_bounds(name, mapper.filter(is_mapper), low, high);
        }
        // Found a second time when the layout pack knows the manager, and the only time when it does not.
        self.card_table();
        let start = hotspot.symbols().address("_ZN15G1FromCardCache6_cacheE");
        let size = hotspot.symbols().address("_ZN15G1FromCardCache16_static_mem_sizeE");
        let cache = start.zip(size).and_then(|(start, size)| {
            let start = hotspot.source().word(start)?;
            let bytes = hotspot.source().word(size).filter(|bytes| *bytes <= STATIC_TABLE_BYTES_MAX)?;
            Some(start..start.checked_add(bytes)?)
        });
        self.push("card cache", cache, FigureSource::Symbols);
        self.g1_mark_stack(heap);
    }

    /// Whether the boundaries in two fields of an object are as far apart as those of a table of the whole heap: with a byte for each card of
    /// 512 bytes, or a bit for each word.
    fn covers_heap(&self, object: u64, low: Spelling<'_>, high: Spelling<'_>) -> bool {
        let of = |field| self.hotspot.pointer(object, &[field]);
        let heap_bytes = self.heap.first().map_or(0, |heap| heap.end - heap.start);
        let table_bytes = of(low).zip(of(high)).and_then(|(low, high)| high.checked_sub(low));
        table_bytes.is_some_and(|bytes| {
            bytes != 0 && [512, 64].iter().any(|by| bytes.checked_mul(*by) == Some(heap_bytes))
        })
    }

    /// Whether the class of an object is one that ends so; true where the classes are not known.
    fn is_a(&self, object: u64, class_end: &str) -> bool {
        let symbols = self.hotspot.symbols();
        let class = self.hotspot.source().word(object).and_then(|word| symbols.class_of_vtable(word));
        !symbols.has_symtab() || class.is_some_and(|class| class.ends_with(class_end))
    }

    /// The concurrent marking points back at the heap, by which it is found: between updates of one release the heap's
    /// object has got fields (21.0.8 and 21.0.13 differ).
    fn g1_concurrent_mark(&self, heap: u64) -> Option<u64> {
        let hotspot = self.hotspot;
        let reserved = self.heap.first()?;
        let word_bytes = hotspot.source().word_bytes();
        let is_marking = |object: &u64| {
            hotspot.field(*object, &[("G1ConcurrentMark", "_g1h")]) == Some(heap)
                && hotspot
                    .place(*object, &[("G1ConcurrentMark", "_heap")])
                    .and_then(|at| hotspot.mem_region(at))
                    == Some(reserved.clone())
        };
        let stated = hotspot.pointer(heap, &[("G1CollectedHeap", "_cm")]);
        stated.filter(is_marking).or_else(|| {
            let words =
                (1..G1_HEAP_WORDS).filter_map(|i| hotspot.source().word(heap.checked_add(i * word_bytes)?));
            words.filter(|word| *word != 0).find(is_marking)
        })
    }

    fn g1_mark_stack(&mut self, heap: u64) {
        let hotspot = self.hotspot;
        let marking = self.g1_concurrent_mark(heap);
        let stack = marking.and_then(|m| hotspot.place(m, &[("G1ConcurrentMark", "_global_mark_stack")]));
        let chunk_bytes = hotspot.pack().and_then(|pack| pack.size_of("G1CMMarkStack::TaskQueueEntryChunk"));
        let (Some(stack), Some(chunk_bytes)) = (stack, chunk_bytes) else {
            return self.push("mark stack", None, FigureSource::Symbols);
        };
        let Some(allocator) = hotspot.place(stack, &[("G1CMMarkStack", "_chunk_allocator")]) else {
            let (start, count) = (("G1CMMarkStack", "_base"), ("G1CMMarkStack", "_chunk_capacity"));
            return self.push_array("mark stack", Some(stack), start, count, chunk_bytes);
        };
        let of = |field| hotspot.field(allocator, &[("G1CMMarkStack::ChunkAllocator", field)]);
        let blocks = of("_buckets").zip(of("_num_buckets")).zip(of("_min_capacity"));
        let Some(((blocks, count), chunks_min)) = blocks else {
            return self.push("mark stack", None, FigureSource::Symbols);
        };
        for i in 0..count.min(MARK_STACK_BLOCKS_MAX) {
            // The first two blocks are as large as the smallest stack, and each further one twice the one before.
            let chunks = chunks_min.checked_shl(i.saturating_sub(1) as u32);
            let at = blocks.checked_add(i * hotspot.source().word_bytes());
            let Some(start) = at.and_then(|at| hotspot.source().word(at)).filter(|start| *start != 0) else {
                continue;
            };
            let bytes = chunks.and_then(|chunks| chunks.checked_mul(chunk_bytes));
            let end = bytes.and_then(|bytes| start.checked_add(bytes));
            self.push("mark stack", end.map(|end| start..end), FigureSource::Symbols);
        }
    }

    fn shenandoah(&mut self) {
        let hotspot = self.hotspot;
        let Some(heap) = hotspot.collected_heap() else { return };
        let (bitmap, auxiliary) = self.shenandoah_bitmaps(heap).unzip();
        self.push("mark bitmap", bitmap, FigureSource::Symbols);
        self.push("auxiliary bitmap", auxiliary, FigureSource::Symbols);
        let set = self.shenandoah_collection_set(heap);
        let [base, size] = ["_map_space._base", "_map_space._size"].map(|f| ("ShenandoahCollectionSet", f));
        self.push_array("collection set map", set, base, size, 1);
        self.push("region table", self.shenandoah_regions(heap), FigureSource::Symbols);
        if hotspot.flags().text("ShenandoahGCMode") == Some("generational") {
            let set = hotspot.static_pointer(&[("BarrierSet", "_barrier_set")]);
            let table = set.and_then(|set| hotspot.pointer(set, &[("ShenandoahBarrierSet", "_card_table")]));
            for map in ["_read_byte_map", "_write_byte_map"] {
                let start = ("ShenandoahCardTable", map);
                self.push_array("card table", table, start, ("ShenandoahCardTable", "_byte_map_size"), 1);
            }
        }
    }

    /// The regions of the two bitmaps are beside each other. A bitmap's size follows from that of the heap, by which it is
    /// known when the heap's object has got fields in an update.
    fn shenandoah_bitmaps(&self, heap: u64) -> Option<(Range<u64>, Range<u64>)> {
        let hotspot = self.hotspot;
        let covered = self.heap.first()?;
        let page_bytes = hotspot.source().pages().page_bytes();
        let sizes = SHENANDOAH_HEAP_BYTES_PER_BITMAP_BYTE
            .map(|per_byte| ((covered.end - covered.start) / per_byte).checked_next_multiple_of(page_bytes));
        let bitmap = |at: u64| {
            let region = hotspot.mem_region(at)?;
            let has_size = sizes.contains(&Some(region.end - region.start));
            (region.start.is_multiple_of(page_bytes) && has_size).then_some(region)
        };
        let second = hotspot.structs().size_of("MemRegion").unwrap_or(16);
        moved(hotspot.pack()?.about("ShenandoahHeap", "_bitmap_region")?).find_map(|offset| {
            let at = heap.checked_add(offset)?;
            Some((bitmap(at)?, bitmap(at.checked_add(second)?)?))
        })
    }

    /// It points back at the heap.
    fn shenandoah_collection_set(&self, heap: u64) -> Option<u64> {
        let hotspot = self.hotspot;
        let stated = hotspot.pack()?.about("ShenandoahHeap", "_collection_set")?;
        moved(stated).find_map(|offset| {
            let set = hotspot.source().word(heap.checked_add(offset)?).filter(|set| *set != 0)?;
            let back = hotspot.field(set, &[("ShenandoahCollectionSet", "_heap")])?;
            (back == heap).then_some(set)
        })
    }

    /// Regions are objects in memory of their own, one beside the other in the order of their numbers.
    fn shenandoah_regions(&self, heap: u64) -> Option<Range<u64>> {
        let hotspot = self.hotspot;
        let table = hotspot.pointer(heap, &[("ShenandoahHeap", "_regions")])?;
        let count = hotspot.field(heap, &[("ShenandoahHeap", "_num_regions")])?;
        let at = |index: u64| {
            hotspot.source().word(table.checked_add(index.checked_mul(hotspot.source().word_bytes())?)?)
        };
        let (first, second, last) = (at(0)?, at(1)?, at(count.checked_sub(1)?)?);
        Some(first..last.checked_add(second.checked_sub(first)?)?)
    }

    /// The card table of the barrier set, by exported structures alone.
    fn card_table(&mut self) {
        let hotspot = self.hotspot;
        let of_heap = || hotspot.pointer(hotspot.collected_heap()?, &[("CollectedHeap", "_barrier_set")]);
        let set = hotspot.static_pointer(&[("BarrierSet", "_barrier_set")]).or_else(of_heap);
        // Before JDK 10 the barrier set is the table.
        let table: &[Spelling<'_>] = &[("CardTableBarrierSet", "_card_table")];
        let table = set.and_then(|set| {
            if hotspot.offset(table).is_some() { hotspot.pointer(set, table) } else { Some(set) }
        });
        let bounds = table.and_then(|table| {
            let of = |field| hotspot.pointer(table, &[("CardTable", field), ("CardTableModRefBS", field)]);
            let start = of("_byte_map")?;
            Some(start..start.checked_add(of("_byte_map_size")?)?)
        });
        self.push("card table", bounds, FigureSource::VmStructs);
    }
}
