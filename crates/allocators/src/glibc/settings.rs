//! `mp_`: malloc's settings and its count of mapped chunks, found by what they hold.

use super::arena::Data;

/// Bins of a thread's cache, and what the largest of them holds: 1032 bytes (1041 since 2.42) with 64-bit pointers.
const CACHE_BINS_DEFAULT: u64 = 64;
/// More bins than any release has.
const CACHE_BINS_MAX: u64 = 128;
/// Chunks in a bin of a thread's cache (`glibc.malloc.tcache_count`).
const CACHE_COUNT_MAX: u64 = u16::MAX as u64;
/// The largest chunk that 2.42 caches.
const CACHE_BYTES_MAX: u64 = 8 << 20;
/// `DEFAULT_MMAP_MAX`.
const MAPPED_MAX_DEFAULT: u32 = 65_536;

/// What of `malloc_par` matters here.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Settings {
    /// Where the break was when malloc began; 0 before that.
    pub sbrk_base: u64,
    /// Mapped chunks.
    pub mapped: u32,
    /// Their bytes.
    pub mapped_bytes: u64,
    /// How many chunks a thread caches in a bin.
    pub cache_count: u64,
    /// Size of the huge pages that `glibc.malloc.hugetlb=1` asks for; 0 without, or before 2.35.
    pub huge_page_bytes: u64,
}

/// Finds the settings in the data of the C library.
///
/// Fields in front of `tcache_bins` have kept their places since 2.26, but for `thp_pagesize`, `hp_pagesize` and
/// `hp_flags`, which came before the counts in 2.35: the counts are found by `n_mmaps_max`, 65536 unless it was set.
pub(crate) fn find(data: &[Data], word: u64, version: Option<(u32, u32)>) -> Option<Settings> {
    // Exactly the defaults first: other places may look like settings that somebody changed.
    let cache_is_default =
        |bins: u64, bytes: u64| bins == CACHE_BINS_DEFAULT && (word * 64..word * 256).contains(&bytes);
    let both =
        |bins: u64, bytes: u64, mapped_is_default: bool| mapped_is_default && cache_is_default(bins, bytes);
    let mapped_only = |_: u64, _: u64, mapped_is_default: bool| mapped_is_default;
    let cache_only = |bins: u64, bytes: u64, _: bool| cache_is_default(bins, bytes);
    let tries: [&Accept<'_>; 3] = [&both, &mapped_only, &cache_only];
    tries.iter().find_map(|accept| data.iter().find_map(|data| find_in(data, word, version, accept)))
}

/// Judges bins and bytes of the thread caches, and whether the maximum of mapped chunks is the default.
type Accept<'a> = dyn Fn(u64, u64, bool) -> bool + 'a;

fn find_in(data: &Data, word: u64, version: Option<(u32, u32)>, accept: &Accept<'_>) -> Option<Settings> {
    data.addresses().find_map(|at| {
        let (bins, bytes, count) = (data.word(at)?, data.word(at + word)?, data.word(at + 2 * word)?);
        if CACHE_BINS_MAX < bins || CACHE_BYTES_MAX < bytes || CACHE_COUNT_MAX < count {
            return None;
        }
        let (counts_at, is_default) = counts(data, at, word, version)?;
        if !accept(bins, bytes, is_default) {
            return None;
        }
        let (mapped, mapped_bytes) = (data.u32(counts_at)?, data.word(at - 3 * word)?);
        let sbrk_base = data.word(at - word)?;
        // Bytes and number are zero together, and chunks are whole pages.
        let counts_agree = (mapped == 0) == (mapped_bytes == 0) && mapped_bytes.is_multiple_of(4096);
        if !counts_agree || (1..4096).contains(&sbrk_base) {
            return None;
        }
        let has_huge_pages = version.is_none_or(|version| (2, 35) <= version);
        let huge = if has_huge_pages { data.word(counts_at - 4 - 2 * word)? } else { 0 };
        let is_page = huge.is_power_of_two() && (1 << 20..=1 << 32).contains(&huge);
        let huge_page_bytes = if is_page { huge } else { 0 };
        Some(Settings { sbrk_base, mapped, mapped_bytes, cache_count: count, huge_page_bytes })
    })
}

/// Where the counts of mapped chunks are, found by the maximum behind the first of them, else by the version; and whether
/// that maximum is the default.
fn counts(data: &Data, at: u64, word: u64, version: Option<(u32, u32)>) -> Option<(u64, bool)> {
    // With 64 bits: five numbers of 32 bits and a hole since 2.35, four before.
    let offsets: &[u64] = match (word, version) {
        (8, Some(version)) if version < (2, 35) => &[3 * 8 + 16, 3 * 8 + 20],
        (8, _) => &[3 * 8 + 20, 3 * 8 + 16],
        _ => &[3 * 4 + 16],
    };
    // `thp_pagesize` lies lowest of what is read: a chunk of data that begins later is none.
    let counts_at = |offset: &u64| at.checked_sub(offset + 4 + 2 * word).map(|_| at - offset);
    let is_default = |counts_at: &u64| data.u32(counts_at + 4) == Some(MAPPED_MAX_DEFAULT);
    let by_maximum = offsets.iter().filter_map(counts_at).find(is_default);
    by_maximum.map(|at| (at, true)).or_else(|| counts_at(offsets.first()?).map(|at| (at, false)))
}
