//! Heaps with contiguous spaces: Serial, Parallel, Epsilon.

use super::Spaces;
use crate::Hotspot;
use crate::fields::Spelling;
use std::ops::Range;

// `Space` lost its superclass `Space` in JDK 22; the offsets moved with it.
const BOTTOM: &[Spelling<'_>] = &[("ContiguousSpace", "_bottom"), ("Space", "_bottom")];
const END: &[Spelling<'_>] = &[("ContiguousSpace", "_end"), ("Space", "_end")];
const TOP: &[Spelling<'_>] = &[("ContiguousSpace", "_top")];
const MUTABLE_BOTTOM: &[Spelling<'_>] = &[("MutableSpace", "_bottom"), ("ImmutableSpace", "_bottom")];
const MUTABLE_END: &[Spelling<'_>] = &[("MutableSpace", "_end"), ("ImmutableSpace", "_end")];
const MUTABLE_TOP: &[Spelling<'_>] = &[("MutableSpace", "_top")];

impl<'m> Hotspot<'m> {
    pub(super) fn serial_heap(&self) -> Option<Spaces<'_, 'm>> {
        let [young, old] = self.serial_generations()?;
        let mut spaces = Spaces::new(self, vec![self.reserved_heap()?]);
        let young_spaces = [("eden", "_eden_space"), ("survivor", "_from_space"), ("survivor", "_to_space")];
        for (name, field) in young_spaces {
            self.push_contiguous(&mut spaces, name, self.pointer(young, &[("DefNewGeneration", field)])?)?;
        }
        let old_space = [("TenuredGeneration", "_the_space"), ("OneContigSpaceCardGeneration", "_the_space")];
        let old_space = self.pointer(old, &old_space)?;
        self.push_contiguous(&mut spaces, "old", old_space)?;
        for generation in [young, old] {
            let committed = self.place(generation, &[("Generation", "_virtual_space")]);
            if let Some(committed) = committed.and_then(|at| self.virtual_space(at)) {
                spaces.push_rest(committed);
            }
        }
        Some(spaces)
    }

    /// Young and old generation of Serial; before JDK 9 they lie in an array.
    pub(crate) fn serial_generations(&self) -> Option<[u64; 2]> {
        let heap = self.collected_heap()?;
        let named = |field| self.pointer(heap, &[("SerialHeap", field), ("GenCollectedHeap", field)]);
        if let Some(both) = named("_young_gen").zip(named("_old_gen")) {
            return Some(both.into());
        }
        let (array, word_bytes) =
            (self.place(heap, &[("GenCollectedHeap", "_gens")])?, self.source().word_bytes());
        let at = |i: u64| self.source().word(array.checked_add(i * word_bytes)?).filter(|word| *word != 0);
        Some([at(0)?, at(1)?])
    }

    pub(super) fn parallel_heap(&self) -> Option<Spaces<'_, 'm>> {
        let young = self.parallel_generation("_young_gen")?;
        let old = self.parallel_generation("_old_gen")?;
        let mut spaces = Spaces::new(self, vec![self.reserved_heap()?]);
        let young_spaces = [("eden", "_eden_space"), ("survivor", "_from_space"), ("survivor", "_to_space")];
        for (name, field) in young_spaces {
            self.push_mutable(&mut spaces, name, self.pointer(young, &[("PSYoungGen", field)])?)?;
        }
        self.push_mutable(&mut spaces, "old", self.pointer(old, &[("PSOldGen", "_object_space")])?)?;
        for (generation, type_name) in [(young, "PSYoungGen"), (old, "PSOldGen")] {
            let space = self.pointer(generation, &[(type_name, "_virtual_space")]);
            if let Some(committed) = space.and_then(|at| self.ps_virtual_space(at)) {
                spaces.push_rest(committed);
            }
        }
        Some(spaces)
    }

    pub(super) fn epsilon_heap(&self) -> Option<Spaces<'_, 'm>> {
        let heap = self.collected_heap()?;
        let mut spaces = Spaces::new(self, vec![self.reserved_heap()?]);
        self.push_contiguous(&mut spaces, "objects", self.pointer(heap, &[("EpsilonHeap", "_space")])?)?;
        if let Some(committed) = self.virtual_space(self.place(heap, &[("EpsilonHeap", "_virtual_space")])?) {
            spaces.push_rest(committed);
        }
        Some(spaces)
    }

    fn push_contiguous(&self, spaces: &mut Spaces<'_, '_>, name: &'static str, space: u64) -> Option<()> {
        let (start, end) = (self.field(space, BOTTOM)?, self.field(space, END)?);
        spaces.push(name, start, self.field(space, TOP)?, end);
        Some(())
    }

    fn push_mutable(&self, spaces: &mut Spaces<'_, '_>, name: &'static str, space: u64) -> Option<()> {
        let (start, end) = (self.field(space, MUTABLE_BOTTOM)?, self.field(space, MUTABLE_END)?);
        spaces.push(name, start, self.field(space, MUTABLE_TOP)?, end);
        Some(())
    }

    /// The committed part of a `VirtualSpace`.
    fn virtual_space(&self, at: u64) -> Option<Range<u64>> {
        let low = self.field(at, &[("VirtualSpace", "_low")])?;
        Some(low..self.field(at, &[("VirtualSpace", "_high")])?)
    }

    /// The committed part of a `PSVirtualSpace`.
    fn ps_virtual_space(&self, at: u64) -> Option<Range<u64>> {
        let low = self.field(at, &[("PSVirtualSpace", "_committed_low_addr")])?;
        Some(low..self.field(at, &[("PSVirtualSpace", "_committed_high_addr")])?)
    }
}
