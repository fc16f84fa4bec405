//! A process that was never there: malloc's structures as each release of glibc lays them out, with blocks that are known.

use assay_allocators::BlockState;
use assay_linux::{Mapping, MemorySource, PageMap, PageRun, ReadError, ThreadFacts};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use std::fs::File;
use std::io;
use std::ops::Range;

/// Bytes of memory with their mappings.
pub struct Image {
    pub word: u64,
    pub regions: Vec<(u64, Vec<u8>)>,
    pub mappings: Vec<Mapping>,
    pub pages: PageMap,
}

impl Image {
    /// From regions in the order of their addresses: address, bytes, name, inode.
    pub fn new(word: u64, regions: Vec<(u64, Vec<u8>, &str)>) -> Image {
        let mappings = regions.iter().map(|(at, bytes, name)| mapping(*at, bytes.len(), name)).collect();
        let runs = regions
            .iter()
            .map(|(at, bytes, _)| PageRun { addresses: *at..*at + bytes.len() as u64, is_file: false });
        let pages = PageMap::new(runs.collect(), 4096);
        Image {
            word,
            regions: regions.into_iter().map(|(at, bytes, _)| (at, bytes)).collect(),
            mappings,
            pages,
        }
    }
}

pub fn mapping(at: u64, length: usize, name: &str) -> Mapping {
    let is_file = name.starts_with('/');
    Mapping {
        addresses: at..at + length as u64,
        permissions: if name.ends_with("(code)") { *b"r-xp" } else { *b"rw-p" },
        device: if is_file { "fe:00" } else { "00:00" }.to_owned(),
        inode: if is_file { 7 } else { 0 },
        name: name.trim_end_matches("(code)").to_owned(),
        rss_bytes: length as u64,
        ..Mapping::default()
    }
}

impl MemorySource for Image {
    fn pid(&self) -> u32 {
        1
    }

    fn word_bytes(&self) -> u64 {
        self.word
    }

    fn mappings(&self) -> &[Mapping] {
        &self.mappings
    }

    fn pages(&self) -> &PageMap {
        &self.pages
    }

    fn threads(&self) -> &[ThreadFacts] {
        &[]
    }

    fn read(&self, address: u64, buffer: &mut [u8]) -> Result<(), ReadError> {
        let index = self.regions.partition_point(|(at, _)| *at <= address).checked_sub(1);
        let (at, bytes) = index.and_then(|i| self.regions.get(i)).ok_or(ReadError::Unmapped)?;
        let from = (address - at) as usize;
        let part = from.checked_add(buffer.len()).and_then(|to| bytes.get(from..to));
        buffer.copy_from_slice(part.ok_or(ReadError::Unmapped)?);
        Ok(())
    }

    fn open_mapped_file(&self, _: &Mapping) -> io::Result<File> {
        Err(io::ErrorKind::NotFound.into())
    }
}

/// How entries of a thread's cache are marked.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Key {
    None,
    Cache,
    Random,
}

/// A release's layouts.
#[derive(Clone, Copy, Debug)]
pub struct Release {
    pub name: &'static str,
    pub word: u64,
    /// Offset and number of fast bins.
    pub fast: (u64, u64),
    pub links_are_safe: bool,
    /// Bytes of a count, number of bins, and how many chunks a bin takes if counts are of free slots.
    pub cache: Option<(u64, u64, Option<u64>)>,
    pub key: Key,
    /// Words of `heap_info`.
    pub heap_info: u64,
    /// `thp_pagesize` and its neighbours, since 2.35.
    pub has_huge_pages: bool,
}

const fn release(name: &'static str, fast: (u64, u64), links_are_safe: bool) -> Release {
    Release {
        name,
        word: 8,
        fast,
        links_are_safe,
        cache: Some((2, 64, None)),
        key: Key::Random,
        heap_info: 4,
        has_huge_pages: false,
    }
}

pub const RELEASES: [Release; 10] = [
    Release { cache: None, ..release("2.25", (8, 10), false) },
    Release { cache: Some((1, 64, None)), key: Key::None, ..release("2.26", (8, 10), false) },
    Release { cache: Some((1, 64, None)), key: Key::Cache, ..release("2.29", (16, 10), false) },
    Release { key: Key::Cache, ..release("2.31", (16, 10), false) },
    Release { key: Key::Cache, ..release("2.33", (16, 10), true) },
    release("2.34", (16, 10), true),
    Release { heap_info: 6, has_huge_pages: true, ..release("2.36", (16, 10), true) },
    Release {
        cache: Some((2, 76, Some(7))),
        heap_info: 6,
        has_huge_pages: true,
        ..release("2.42", (16, 10), true)
    },
    Release {
        cache: Some((2, 76, Some(16))),
        heap_info: 6,
        has_huge_pages: true,
        ..release("after 2.42", (8, 0), true)
    },
    Release { word: 4, heap_info: 6, has_huge_pages: true, ..release("2.36 i386", (12, 11), true) },
];

/// A process and its blocks: address, usable bytes, state.
pub struct Process {
    pub image: Image,
    pub blocks: Vec<(u64, u64, BlockState)>,
}

struct Writer {
    base: u64,
    bytes: Vec<u8>,
    word: u64,
}

impl Writer {
    fn new(base: u64, length: usize, word: u64) -> Writer {
        Writer { base, bytes: vec![0; length], word }
    }

    fn put(&mut self, at: u64, value: u64, bytes: u64) {
        let from = (at - self.base) as usize;
        self.bytes[from..from + bytes as usize].copy_from_slice(&value.to_le_bytes()[..bytes as usize]);
    }

    fn word(&mut self, at: u64, value: u64) {
        self.put(at, value, self.word);
    }
}

const LIBC: u64 = 0x7000_0000;
const STATE: u64 = LIBC + 0x10c8;
const SETTINGS: u64 = LIBC + 0x800;
const MAIN_HEAP: u64 = 0x1000_0000;
const KEY: u64 = 0x7bad_cafe;

impl Release {
    fn align(&self) -> u64 {
        16
    }

    fn bins(&self) -> u64 {
        self.fast.0 + (self.fast.1 + 2) * self.word
    }

    fn next(&self) -> u64 {
        self.bins() + 254 * self.word + 16
    }

    fn chunk_for(&self, bytes: u64) -> u64 {
        ((bytes + self.word + 15) & !15).max(4 * self.word)
    }

    fn cache_bytes(&self) -> u64 {
        let Some((count, bins, _)) = self.cache else { return 0 };
        (count * bins).next_multiple_of(self.word) + bins * self.word
    }

    /// A process of this release: a main arena and one more, each with `chunks` chunks and one thread's cache.
    pub fn process(&self, seed: u64, chunks: usize) -> Process {
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        let mut blocks = Vec::new();
        let mut libc = Writer::new(LIBC, 0x4000, self.word);
        let span = if self.word == 8 { 64 << 20 } else { 1 << 20 };
        let room = (chunks as u64 * 1200 + 0x4000).next_multiple_of(4096);
        assert!(room < span, "an arena of one heap");
        let second = MAIN_HEAP.next_multiple_of(span) + 4 * span.max(room.next_multiple_of(span));
        let mut main = Writer::new(MAIN_HEAP, room as usize, self.word);
        let mut other = Writer::new(second, room as usize, self.word);
        let info = self.heap_info * self.word;
        let state = second + info;
        let state_end = state + self.next() + 5 * self.word;
        let end = second + room;
        for (at, value) in [(0, state), (1, 0), (2, room), (3, room), (4, 4096)] {
            other.word(second + at * self.word, value);
        }
        let first_main = self.first_chunk(MAIN_HEAP);
        let main_end = MAIN_HEAP + room;
        let of_main = self.fill(&mut random, &mut main, first_main, main_end, 0, chunks, &mut blocks);
        let of_other =
            self.fill(&mut random, &mut other, self.first_chunk(state_end), end, 4, chunks, &mut blocks);
        self.state(&mut libc, STATE, state, &of_main, room);
        self.state(&mut other, state, STATE, &of_other, room);
        self.settings(&mut libc);
        let regions = vec![
            (MAIN_HEAP, main.bytes, "[heap]"),
            (second, other.bytes, ""),
            (LIBC + 0x1000_0000, libc.bytes, "/lib/libc.so.6"),
        ];
        let mut regions: Vec<_> = regions.into_iter().collect();
        regions[2].0 = LIBC;
        regions.push((LIBC + 0x10_0000, vec![0; 4096], "/lib/libc.so.6(code)"));
        regions.sort_by_key(|region| region.0);
        Process { image: Image::new(self.word, regions), blocks }
    }

    fn first_chunk(&self, at: u64) -> u64 {
        (at + 2 * self.word).next_multiple_of(self.align()) - 2 * self.word
    }

    fn settings(&self, libc: &mut Writer) {
        let caches = SETTINGS;
        libc.word(caches, 64);
        libc.word(caches + self.word, if self.word == 8 { 1032 } else { 1036 });
        libc.word(caches + 2 * self.word, 7);
        libc.word(caches - self.word, MAIN_HEAP);
        let counts = match (self.word, self.has_huge_pages) {
            (8, true) => caches - 44,
            (8, false) => caches - 40,
            _ => caches - 28,
        };
        libc.put(counts + 4, 65_536, 4);
    }

    fn state(&self, to: &mut Writer, at: u64, next: u64, filled: &Filled, system: u64) {
        for (bin, head) in filled.fast.iter().enumerate() {
            to.word(at + self.fast.0 + bin as u64 * self.word, *head);
        }
        to.word(at + self.bins() - 2 * self.word, filled.top);
        for bin in 0..127 {
            let head = at + self.bins() + bin * 2 * self.word;
            to.word(head, head - 2 * self.word);
            to.word(head + self.word, head - 2 * self.word);
        }
        to.word(at + self.next(), next);
        to.word(at + self.next() + 3 * self.word, system);
        to.word(at + self.next() + 4 * self.word, system);
    }

    fn link(&self, to: u64, stored_at: u64) -> u64 {
        if self.links_are_safe { to ^ (stored_at >> 12) } else { to }
    }

    /// Fills a heap with chunks of random sizes and states, a thread's cache first and the top last.
    #[expect(clippy::too_many_arguments, reason = "a heap has that many properties")]
    fn fill(
        &self,
        random: &mut ChaCha8Rng,
        to: &mut Writer,
        first: u64,
        end: u64,
        arena_flag: u64,
        chunks: usize,
        blocks: &mut Vec<(u64, u64, BlockState)>,
    ) -> Filled {
        let (word, header) = (self.word, 2 * self.word);
        let mut at = first;
        let mut is_before_free = 0;
        let cache = at + header;
        let (count_bytes, bins, free_slots) = self.cache.unwrap_or((0, 0, None));
        let mut counts = vec![0_u64; bins as usize];
        let mut heads = vec![0_u64; bins as usize];
        let mut fast = vec![0_u64; self.fast.1 as usize];
        for chunk in 0..=chunks {
            let is_cache = chunk == 0 && self.cache.is_some();
            let payload = if is_cache { self.cache_bytes() } else { random.random_range(1..1000) };
            let size = self.chunk_for(payload);
            let bin = ((size - 4 * word) / 16) as usize;
            let fast_bin = (size / if word == 8 { 16 } else { 8 }) as usize - 2;
            let mut state = match random.random_range(0..10) {
                _ if is_cache => BlockState::Used,
                0..3 if is_before_free == 0 => BlockState::Binned,
                3..6 if counts.get(bin).is_some_and(|count| *count < 7) => BlockState::ThreadCache,
                6..8 if fast_bin < fast.len() => BlockState::Fast,
                _ => BlockState::Used,
            };
            // A free chunk at the end would have been merged with the top.
            if chunk == chunks && state == BlockState::Binned {
                state = BlockState::Used;
            }
            let flags = if state == BlockState::Binned { 0 } else { arena_flag };
            to.word(at + word, size | flags | u64::from(is_before_free == 0));
            let user = at + header;
            match state {
                BlockState::ThreadCache => {
                    to.word(user, self.link(heads[bin], user));
                    let key = match self.key {
                        Key::None => 0,
                        Key::Cache => cache,
                        Key::Random => KEY,
                    };
                    to.word(user + word, key);
                    (heads[bin], counts[bin]) = (user, counts[bin] + 1);
                }
                BlockState::Fast => {
                    to.word(user, self.link(fast[fast_bin], user));
                    fast[fast_bin] = at;
                }
                _ => {}
            }
            blocks.push((user, size - word, state));
            is_before_free = 0;
            at += size;
            if state == BlockState::Binned {
                is_before_free = 1;
                to.word(at, size);
            }
        }
        to.word(at + word, (end - at) | u64::from(is_before_free == 0));
        blocks.push((at + header, end - at - header, BlockState::Top));
        for (bin, count) in counts.iter().enumerate() {
            let count = free_slots.map_or(*count, |all| all - count);
            to.put(cache + bin as u64 * count_bytes, count, count_bytes);
            let heads_at = cache + (count_bytes * bins).next_multiple_of(word);
            to.word(heads_at + bin as u64 * word, heads[bin]);
        }
        Filled { top: at, fast }
    }
}

struct Filled {
    top: u64,
    fast: Vec<u64>,
}

/// Changes some bytes of an image, more often in the structures than elsewhere.
pub fn damage(image: &mut Image, random: &mut ChaCha8Rng, changes: usize) {
    for _ in 0..changes {
        let region = random.random_range(0..image.regions.len());
        let bytes = &mut image.regions[region].1;
        let at = if random.random_bool(0.5) {
            random.random_range(0..bytes.len())
        } else {
            random.random_range(0..bytes.len().min(0x4000))
        };
        match random.random_range(0..4) {
            0 => bytes[at] ^= 1 << random.random_range(0..8),
            1 => bytes[at] = random.random(),
            2 => {
                let end = (at + 8).min(bytes.len());
                bytes[at..end].fill(if random.random_bool(0.5) { 0xff } else { 0 });
            }
            // A word from elsewhere: pointers that lead somewhere, but not where they should.
            _ => {
                let from = random.random_range(0..bytes.len() - 8) & !7;
                let at = at.min(bytes.len() - 8) & !7;
                bytes.copy_within(from..from + 8, at);
            }
        }
    }
}

/// Length of a range.
pub fn length(range: &Range<u64>) -> u64 {
    range.end - range.start
}
