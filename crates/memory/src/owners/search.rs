//! The search for owners: content first, then pointers, from the surest roots to the weakest.

use super::bits::Bits;
use super::content::Contents;
use super::filter::AddressFilter;
use super::front::Front;
use super::graph::Graph;
use super::index::{BlockIndex, Target};
use super::room::Room;
use super::scan::{KeptWords, for_each_word};
use super::table::{Owners, Slack};
use super::variables::Variables;
use super::votes::Votes;
use crate::entry_table::EntryId;
use crate::windows::WindowBuffer;
use assay_allocators::Survey;
use assay_linux::MemorySource;
use assay_model::Problem;
use std::collections::HashSet;
use std::ops::Range;

/// What the search found.
#[derive(Debug, Default)]
pub(crate) struct Claims {
    /// Owner of each block of the survey; none for freed blocks, and for those that nobody seems to own.
    pub(crate) owners: Owners,
    /// Of tracked blocks: bytes behind what was asked for.
    pub(crate) slack: Slack,
    /// Regions that no structure named, with the owner of most of the pointers into them.
    pub(crate) regions: Vec<(Range<u64>, EntryId)>,
    /// What could not be followed.
    pub(crate) problems: Vec<Problem>,
}

/// What is searched beside malloc's heap, and how.
#[derive(Clone, Copy)]
pub(crate) struct Searched<'a> {
    /// Memory that no structure names.
    pub(crate) regions: &'a [Range<u64>],
    /// Variables of libraries and of the program.
    pub(crate) variables: &'a Variables<'a>,
    /// Hide the tags of native memory tracking, not the fact that pointers lead behind its header.
    pub(crate) ignore_nmt: bool,
}

/// The state of a search.
pub(crate) struct Search<'a> {
    pub(crate) source: &'a dyn MemorySource,
    pub(crate) index: BlockIndex<'a>,
    pub(crate) owners: Owners,
    slack: Slack,
    starts: Graph,
    insides: Graph,
    chained: Bits,
    votes: Votes<'a>,
    pub(super) variables: &'a Variables<'a>,
    /// Pointers into blocks, for when all pointers to starts have been followed: the first for each block.
    postponed: Vec<(u32, EntryId)>,
    is_postponed: Bits,
    postponed_max: usize,
    /// More pointers into blocks than are kept.
    is_cut_off: bool,
    /// Blocks that got an owner, and whose pointers are still to be followed.
    front: Front,
    buffer: WindowBuffer,
    /// Passes what may lead to a block or into a region.
    filter: AddressFilter,
    kept: KeptWords,
    settled: Settled,
    /// What was not followed to its end.
    pub(super) problems: Vec<Problem>,
}

/// The words that were met last of those that lead to blocks of which nothing more is to be learnt: much metadata points
/// at the same few names. In a Kafka broker it spares 62 of 100 look-ups.
#[derive(Debug)]
struct Settled(Vec<u64>);

impl Settled {
    const COUNT: usize = 1 << 14;

    fn new() -> Settled {
        Settled(vec![0; Settled::COUNT])
    }

    fn place(&mut self, word: u64) -> &mut u64 {
        // Blocks begin at multiples of 16.
        &mut self.0[(word >> 4) as usize % Settled::COUNT]
    }
}

impl<'a> Search<'a> {
    /// Before anything is followed: blocks whose content named an owner are its front.
    pub(crate) fn new(
        source: &'a dyn MemorySource,
        index: BlockIndex<'a>,
        contents: Contents,
        room: Room,
        survey: &Survey,
        searched: Searched<'a>,
    ) -> Search<'a> {
        let Searched { regions, variables, .. } = searched;
        let Contents { owners, slack, chained, starts, insides } = contents;
        let blocks = survey.blocks.len();
        let mut front = Front::new(blocks);
        starts.holders().filter(|block| owners.has(*block)).for_each(|block| front.push(block));
        let ranges = survey.ranges.iter().map(|range| range.addresses.clone());
        Search {
            source,
            index,
            owners,
            slack,
            starts,
            insides,
            chained,
            votes: Votes::new(regions, source.pages().page_bytes()),
            variables,
            postponed: Vec::new(),
            is_postponed: Bits::new(blocks),
            postponed_max: room.postponed,
            is_cut_off: false,
            front,
            buffer: WindowBuffer::default(),
            filter: AddressFilter::new(ranges.chain(regions.iter().cloned())),
            kept: KeptWords::new(room.kept_words),
            settled: Settled::new(),
            problems: Vec::new(),
        }
    }

    /// What was found.
    pub(crate) fn into_claims(self) -> Claims {
        let Search { owners, slack, votes, starts, insides, is_cut_off, mut problems, .. } = self;
        if starts.is_cut_off || insides.is_cut_off || is_cut_off {
            let what = "more pointers to malloc blocks than are kept; blocks to which only others lead have no owner";
            problems.push(Problem::new("owners", what));
        }
        Claims { owners, slack, regions: votes.winners(), problems }
    }
}

impl Search<'_> {
    /// Takes the words of a range as pointers of owners that `owner_at` gives for the word's address; of variables, also
    /// what they were before malloc's heap was walked.
    pub(crate) fn take_roots(
        &mut self,
        range: Range<u64>,
        owner_at: impl FnMut(u64, u64) -> Option<EntryId>,
    ) {
        let mut buffer = std::mem::take(&mut self.buffer);
        let filter = std::mem::take(&mut self.filter);
        let (source, variables) = (self.source, self.variables);
        let mut take = self.taking(owner_at);
        for_each_word(source, range.clone(), &filter, &mut buffer, &mut take);
        variables.for_each_earlier_word(&range, &filter, &mut take);
        drop(take);
        (self.buffer, self.filter) = (buffer, filter);
    }

    /// The same for a range that is looked through again later: its words are read once.
    pub(crate) fn take_roots_again(
        &mut self,
        range: Range<u64>,
        owner_at: impl FnMut(u64, u64) -> Option<EntryId>,
    ) {
        let mut buffer = std::mem::take(&mut self.buffer);
        let filter = std::mem::take(&mut self.filter);
        let mut kept = std::mem::take(&mut self.kept);
        let source = self.source;
        kept.for_each(source, range, &filter, &mut buffer, self.taking(owner_at));
        (self.buffer, self.filter, self.kept) = (buffer, filter, kept);
    }

    /// Calls `each` with the blocks, their owners, and the address and value of every word of a range that may lead to a block.
    pub(super) fn for_each_word_again(
        &mut self,
        range: Range<u64>,
        mut each: impl FnMut(&BlockIndex<'_>, &Owners, u64, u64),
    ) {
        let mut buffer = std::mem::take(&mut self.buffer);
        let Search { kept, index, owners, filter, source, .. } = self;
        kept.for_each(*source, range, filter, &mut buffer, |address, word| {
            each(index, owners, address, word);
        });
        self.buffer = buffer;
    }

    /// Bytes of a block and of all that it leads to and that have its owner, except blocks already visited.
    pub(super) fn bytes_from(&self, block: u32, seen: &mut HashSet<u32>) -> u64 {
        let owner = self.owners.get(block);
        let (mut left, mut bytes) = (vec![block], 0);
        while let Some(block) = left.pop() {
            if self.owners.get(block) == owner && seen.insert(block) {
                bytes += self.index.bytes_of(block);
                left.extend(self.starts.from(block).chain(self.insides.from(block)));
            }
        }
        bytes
    }

    /// The owner of the block that begins at an address.
    pub(super) fn owner_at(&self, address: u64) -> Option<EntryId> {
        match self.index.target(address) {
            Some(Target::Start(block)) => self.owners.get(block),
            _ => None,
        }
    }

    /// As [`Search::rename`], of the block that begins at an address.
    pub(super) fn rename_at(&mut self, address: u64, owner: EntryId) {
        if let Some(Target::Start(block)) = self.index.target(address) {
            self.rename(block, owner);
        }
    }

    /// Gives a block another owner, and with it all blocks that it leads to and that have the owner that it had.
    pub(super) fn rename(&mut self, block: u32, owner: EntryId) {
        let Some(old) = self.owners.get(block).filter(|old| *old != owner) else { return };
        let mut left = vec![block];
        while let Some(block) = left.pop() {
            if self.owners.get(block) == Some(old) {
                self.owners.set(block, owner);
                left.extend(self.starts.from(block).chain(self.insides.from(block)));
            }
        }
    }

    /// Takes the block that begins at an address, if nobody has it, and its parts, which name it.
    pub(super) fn take_table(&mut self, address: u64, owner: EntryId) {
        if let Some(Target::Start(block)) = self.index.target(address)
            && !self.owners.has(block)
        {
            self.owners.set(block, owner);
        }
        self.take_parts(address, true);
    }

    /// Gives the owner of the block that begins at an address to all blocks without one to which it leads, also into their middle, and so on
    /// through blocks of that owner. Where parts name the table that they are of, only to those and to what the table itself leads to.
    ///
    /// Folklore: places of a part that were never used hold what the memory held before, also addresses of others' blocks. A list of 2.9 MB
    /// of a program was references of native code. Held by: `what_variables_of_a_program_lead_to_that_embeds_a_jvm_is_the_program_s`, in
    /// one of 40 runs beside other work.
    pub(super) fn take_parts(&mut self, address: u64, are_named: bool) {
        let Some(Target::Start(first)) = self.index.target(address) else { return };
        let Some(owner) = self.owners.get(first) else { return };
        let led_to = |block: u32| self.starts.from(block).chain(self.insides.from(block));
        let is_part = |block: u32| !are_named || led_to(block).any(|to| to == first);
        let (mut left, mut seen) = (vec![first], HashSet::from([first]));
        while let Some(block) = left.pop() {
            for to in led_to(block).filter(|to| block == first || is_part(*to)) {
                if !self.owners.has(to) {
                    self.owners.set(to, owner);
                }
                if self.owners.get(to) == Some(owner) && seen.insert(to) {
                    left.push(to);
                }
            }
        }
    }

    /// What is done with an address and the word there.
    fn taking(&mut self, mut owner_at: impl FnMut(u64, u64) -> Option<EntryId>) -> impl FnMut(u64, u64) {
        let Search {
            index,
            owners,
            starts,
            votes,
            postponed,
            is_postponed,
            postponed_max,
            is_cut_off,
            front,
            settled,
            ..
        } = self;
        move |address, word| {
            if *settled.place(word) == word {
                return;
            }
            match index.target(word) {
                Some(Target::Start(block)) if !owners.has(block) => {
                    let Some(owner) = owner_at(address, word) else { return };
                    owners.set(block, owner);
                    if starts.has(block) {
                        front.push(block);
                    }
                }
                Some(Target::Inside(block)) if !owners.has(block) && !is_postponed.is_set(block) => {
                    let Some(owner) = owner_at(address, word) else { return };
                    if postponed.len() < *postponed_max {
                        is_postponed.set(block);
                        postponed.push((block, owner));
                    } else {
                        *is_cut_off = true;
                    }
                }
                Some(_) => *settled.place(word) = word,
                // Such a region may lie between the ranges of malloc's heap.
                None => votes.add(word, || owner_at(address, word)),
            }
        }
    }

    /// Gives a block an owner by name, if it is in use and has none.
    pub(crate) fn take_block(&mut self, address: u64, owner: EntryId) {
        if let Some(Target::Start(block)) = self.index.target(address) {
            self.take(block, owner);
        }
    }

    fn take(&mut self, block: u32, owner: EntryId) {
        if !self.owners.has(block) {
            self.owners.set(block, owner);
            if self.starts.has(block) {
                self.front.push(block);
            }
        }
    }

    /// Regions that no structure names, with the owner of most of the pointers into them that were met so far.
    pub(crate) fn claimed_regions(&self) -> Vec<(Range<u64>, EntryId)> {
        self.votes.winners()
    }

    /// Gives an owner to chunks of arenas that nobody points at: a compiler that gives an arena back has the rest of its
    /// chunks in a register only.
    pub(crate) fn take_lost_chunks(&mut self, owner: EntryId) {
        for chunk in self.chained.iter() {
            if !self.owners.has(chunk) {
                self.owners.set(chunk, owner);
            }
        }
    }

    /// Follows the pointers from all blocks that got an owner since the last time: what is reached gets the owner of the
    /// block that it was reached from, nearest first.
    pub(crate) fn follow(&mut self) {
        let Search { starts, owners, front, .. } = self;
        while let Some(block) = front.pop() {
            let Some(owner) = owners.get(block) else { continue };
            for child in starts.from(block) {
                if !owners.has(child) {
                    owners.set(child, owner);
                    if starts.has(child) {
                        front.push(child);
                    }
                }
            }
        }
    }

    /// Follows pointers into the middle of blocks, where nobody points at the start.
    pub(crate) fn follow_insides(&mut self) {
        for (block, owner) in std::mem::take(&mut self.postponed) {
            self.take(block, owner);
        }
        self.follow();
        let Search { starts, insides, owners, front, .. } = self;
        // One step from all that have an owner by now.
        let mut fresh = Bits::new(self.index.blocks().len());
        for (from, to) in insides.all() {
            if !owners.has(to)
                && !fresh.is_set(from)
                && let Some(owner) = owners.get(from)
            {
                owners.set(to, owner);
                fresh.set(to);
            }
        }
        // And on from there, by pointers of both kinds.
        let leads_on = |block: u32| starts.has(block) || insides.has(block);
        fresh.iter().filter(|block| leads_on(*block)).for_each(|block| front.push(block));
        while let Some(block) = front.pop() {
            let Some(owner) = owners.get(block) else { continue };
            for child in starts.from(block).chain(insides.from(block)) {
                if !owners.has(child) {
                    owners.set(child, owner);
                    if leads_on(child) {
                        front.push(child);
                    }
                }
            }
        }
    }
}
