//! Blocks of all extents: regions of slabs, large blocks, free extents.

use super::extent::{Extent, State};
use super::thread_cache::{Cached, Caches};
use crate::word_reader::WordReader;
use crate::{self as allocators, Arena, Block, BlockState};
use assay_linux::MemorySource;
use std::ops::Range;

/// Blocks in order, without overlap.
#[derive(Debug, Default)]
pub(super) struct Blocks {
    pub blocks: allocators::Blocks,
    /// Active extents whose structure is not understood, and those for whose blocks there is no room.
    pub not_walkable: Vec<Range<u64>>,
    /// Extents as above, and cached blocks that are none.
    pub torn: u64,
    /// Cached blocks and jemalloc's own, by address, as far as they are not met yet.
    cached: Vec<Cached>,
    own: Vec<u64>,
}

impl Blocks {
    /// Of extents in order of their addresses. `arenas` are the numbers of all their arenas, in order.
    pub fn of(reader: &WordReader<'_>, extents: &[Extent], caches: &Caches, arenas: &[u16]) -> Blocks {
        let mut all =
            Blocks { cached: caches.cached.clone(), own: caches.stacks.clone(), ..Blocks::default() };
        // Taken from the end, so that the smallest must be there.
        all.cached.reverse();
        all.own.sort_unstable_by(|a, b| b.cmp(a));
        for extent in extents {
            if all.blocks.is_full() {
                all.not_walkable.push(extent.addresses.clone());
                continue;
            }
            let arena = arenas.binary_search(&extent.arena).unwrap_or(0) as u16;
            match extent.state {
                State::Active if extent.is_slab => all.add_slab(reader, extent, arena),
                State::Active => all.add_large(extent, arena),
                State::Dirty | State::Muzzy => all.add_free(extent, arena, BlockState::Binned),
                State::Retained => all.add_free(extent, arena, BlockState::Top),
                State::Changing => all.leave_out(extent),
            }
        }
        all.torn += all.cached.len() as u64;
        all
    }

    fn leave_out(&mut self, extent: &Extent) {
        self.torn += 1;
        self.not_walkable.push(extent.addresses.clone());
    }

    fn add_free(&mut self, extent: &Extent, arena: u16, state: BlockState) {
        let bytes = extent.addresses.end - extent.addresses.start;
        self.blocks.push(Block { address: extent.addresses.start, bytes, state, header_bytes: 0, arena });
    }

    fn add_large(&mut self, extent: &Extent, arena: u16) {
        match extent.block_bytes() {
            Some(bytes) => self.add(extent.block, bytes, extent.class, arena),
            None => self.leave_out(extent),
        }
    }

    fn add_slab(&mut self, reader: &WordReader<'_>, slab: &Extent, arena: u16) {
        let facts = slab.free_bits(reader).zip(slab.block_bytes()).zip(slab.regions());
        let Some(((free, bytes), regions)) = facts else { return self.leave_out(slab) };
        // Free regions beside each other are one block.
        let mut run: Option<Block> = None;
        for index in 0..regions {
            let address = slab.addresses.start + index * bytes;
            if free[(index / 64) as usize] >> (index % 64) & 1 != 0 {
                let fresh = Block { address, bytes: 0, state: BlockState::Binned, header_bytes: 0, arena };
                run.get_or_insert(fresh).bytes += bytes;
                continue;
            }
            run.take().into_iter().for_each(|run| self.blocks.push(run));
            self.add(address, bytes, slab.class, arena);
        }
        run.into_iter().for_each(|run| self.blocks.push(run));
    }

    /// Adds a block that is allocated: to the program, to a thread's cache, or to jemalloc itself.
    fn add(&mut self, address: u64, bytes: u64, class: u8, arena: u16) {
        while self.cached.last().is_some_and(|cached| cached.address < address) {
            self.cached.pop();
            self.torn += 1;
        }
        let is_cached = self.cached.pop_if(|cached| *cached == Cached { address, class }).is_some();
        let mut is_own = false;
        while self.own.pop_if(|own| *own < address + bytes).is_some_and(|own| {
            is_own |= address <= own;
            true
        }) {}
        if !is_own {
            let state = if is_cached { BlockState::ThreadCache } else { BlockState::Used };
            self.blocks.push(Block { address, bytes, state, header_bytes: 0, arena });
        }
    }

    /// Sums for each arena.
    pub fn count(&self, source: &dyn MemorySource, arenas: &mut [Arena]) {
        for arena in arenas.iter_mut() {
            arena.facts.bins_bytes = Some(0);
            arena.facts.thread_cache_bytes = Some(0);
            arena.facts.top_bytes = Some(0);
            arena.facts.freed_resident_bytes = Some(0);
        }
        for block in &self.blocks {
            let Some(arena) = arenas.get_mut(usize::from(block.arena)) else { continue };
            let facts = &mut arena.facts;
            let sum = match block.state {
                BlockState::Used => {
                    facts.used_bytes += block.bytes;
                    continue;
                }
                BlockState::ThreadCache => &mut facts.thread_cache_bytes,
                BlockState::Top => &mut facts.top_bytes,
                BlockState::Binned | BlockState::Fast => &mut facts.bins_bytes,
            };
            let resident = source.pages().resident_bytes_in(block.addresses());
            *sum = sum.map(|sum| sum + block.bytes);
            facts.freed_resident_bytes = facts.freed_resident_bytes.map(|sum| sum + resident);
        }
    }
}
