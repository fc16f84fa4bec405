//! The table of interned strings, recognised among malloc blocks.
//!
//! Native memory tracking gives it the tag of the symbols' table (`mtSymbol` in `stringTable.cpp`, all releases). Since JDK 11 it is a
//! hash table whose buckets begin chains of nodes: the next node, and where the string is referred to, a slot in a block of such
//! references. No release exports where its fields are; the table of buckets is known by its own words.

use crate::Hotspot;

/// Variables beside which `stringTable.cpp` has the pointer to its table.
const BESIDE: &str = "_ZN11StringTable12_oop_storageE";
/// The pointer; other files have private variables of the same name.
const TABLE: &str = "_ZL12_local_table";
/// How far apart both may lie: 184 bytes in 25. Other files' variables begin some KiB further.
const BESIDE_BYTES_MAX: u64 = 512;
/// JDK 11 to 13: an object, whose field points at the table.
const OBJECT: &str = "_ZN11StringTable10_the_tableE";
/// Words of objects that are looked at for pointers.
const OBJECT_WORDS: u64 = 16;
/// The largest table has 2^24 buckets (`StringTable::END_SIZE`).
const BUCKETS_LOG2: std::ops::RangeInclusive<u64> = 4..=24;
/// Of all tables that are found: two, while one grows.
const BUCKETS_MAX: u64 = 1 << 25;
/// Addresses that are kept, two for each string: 32 MiB.
const PLACES_MAX: usize = 1 << 22;
const PROBLEM: &str = "interned strings";
/// The lowest bits of a bucket's word: it is locked, or its nodes have moved to the next table.
const BUCKET_STATE: u64 = 3;
/// Buckets that are read at once.
const BUCKETS_READ: usize = 4096;

/// What belongs to the table of interned strings.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct StringTable {
    /// Addresses in its malloc blocks, sorted: a block that holds any of them belongs to the table.
    places: Vec<u64>,
    buckets: u64,
    entries: u64,
}

impl StringTable {
    /// Whether one of its addresses lies in a block.
    pub fn has(&self, block: std::ops::Range<u64>) -> bool {
        let next = self.places.partition_point(|place| *place < block.start);
        self.places.get(next).is_some_and(|place| *place < block.end)
    }

    /// Its buckets; while the table grows, of both.
    pub fn buckets(&self) -> u64 {
        self.buckets
    }

    /// Interned strings, those of the archive of shared classes not included.
    pub fn entries(&self) -> u64 {
        self.entries
    }
}

impl Hotspot<'_> {
    /// The table of interned strings; of JDK 8, and without private symbols, nothing.
    pub fn string_table(&self) -> StringTable {
        let mut found = StringTable::default();
        for root in [self.table_variable(), self.symbols().address(OBJECT)].into_iter().flatten() {
            let Some(object) = self.source().word(root).filter(|object| *object != 0) else { continue };
            self.take_tables(object, true, &mut found);
        }
        if PLACES_MAX <= found.places.len() {
            let what =
                format!("more than {} strings: the memory of the others is among the symbols", found.entries);
            self.problem(PROBLEM, what);
        }
        found.places.sort_unstable();
        found.places.dedup();
        found
    }

    fn table_variable(&self) -> Option<u64> {
        let beside = self.symbols().address(BESIDE)?;
        let near = self.symbols().addresses(TABLE).map(|address| (address.abs_diff(beside), address));
        near.filter(|(bytes, _)| *bytes <= BESIDE_BYTES_MAX).min().map(|(_, address)| address)
    }

    /// Takes the tables that an object's fields point at, if need be through one object more; both are then the table's, too.
    fn take_tables(&self, object: u64, is_outer: bool, into: &mut StringTable) {
        let word_bytes = self.source().word_bytes();
        let before = into.places.len();
        for number in 0..OBJECT_WORDS {
            let at = object.saturating_add(number * word_bytes);
            let Some(pointer) = self.source().word(at).filter(|word| *word != 0) else { continue };
            if !pointer.is_multiple_of(word_bytes) {
                continue;
            }
            match self.buckets_at(pointer) {
                Some((buckets, count)) if into.buckets + count <= BUCKETS_MAX => {
                    into.places.extend([pointer, buckets]);
                    into.buckets += count;
                    self.take_nodes(buckets, count, into);
                }
                None if is_outer => self.take_tables(pointer, false, into),
                _ => {}
            }
        }
        if before < into.places.len() {
            into.places.push(object);
        }
    }

    /// Where a table has its buckets, and how many: behind the pointer to them come the logarithm of their number, the number itself,
    /// and the number less one.
    fn buckets_at(&self, table: u64) -> Option<(u64, u64)> {
        let word_bytes = self.source().word_bytes();
        let word = |number: u64| self.source().word(table.checked_add(number * word_bytes)?);
        let (log2, count) = (word(1)?, word(2)?);
        let is_table = BUCKETS_LOG2.contains(&log2) && count == 1 << log2 && word(3)? == count - 1;
        let buckets = word(0).filter(|buckets| *buckets != 0)?;
        is_table.then_some((buckets, count))
    }

    fn take_nodes(&self, buckets: u64, count: u64, into: &mut StringTable) {
        let (source, word_bytes) = (self.source(), self.source().word_bytes() as usize);
        let mut buffer = vec![0; BUCKETS_READ * word_bytes];
        let first = (0..count).step_by(BUCKETS_READ);
        for (first, left) in first.map(|first| (first, (count - first) as usize)) {
            let bytes = &mut buffer[..left.min(BUCKETS_READ) * word_bytes];
            let Some(at) = buckets.checked_add(first * word_bytes as u64) else { return };
            if source.read(at, bytes).is_err() {
                continue;
            }
            for bucket in bytes.chunks_exact(word_bytes) {
                let mut word = [0; 8];
                word[..word_bytes].copy_from_slice(bucket);
                let mut node = u64::from_le_bytes(word) & !BUCKET_STATE;
                while node != 0 && into.places.len() < PLACES_MAX {
                    let Some(next) = source.word(node) else { break };
                    into.entries += 1;
                    into.places.push(node);
                    let slot = source.word(node.saturating_add(word_bytes as u64));
                    into.places.extend(slot.filter(|slot| *slot != 0));
                    node = next;
                }
            }
        }
    }
}
