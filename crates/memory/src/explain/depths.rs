//! Snapshots of different depth, made comparable: causes that only one of them distinguishes are one cause in both.

use assay_model::{Area, FigureSource, MemoryEntry, MemoryReport, Problem};
use std::collections::BTreeSet;

/// The cause that holds entries which only one of the snapshots distinguishes.
pub(super) const NOT_SPLIT: &str = "malloc and nameless memory, split in one snapshot only";
/// Its explanation, with the next step.
pub(super) const EXPLANATION: &str = "in use in malloc, or mapped without a name: only one of the snapshots searched for its owners. \
                                      Next: both snapshots with --depth owners";

/// The entries of two snapshots. Where one did not look for owners, what the other found by doing so would seem to have come or
/// gone: it is taken together in both, and that is reported.
pub(super) fn comparable(
    before: &MemoryReport,
    after: &MemoryReport,
    problems: &mut Vec<Problem>,
) -> [Vec<MemoryEntry>; 2] {
    let [of_before, of_after] = [before, after].map(MemoryReport::has_owners);
    if of_before == of_after {
        return [before.entries.clone(), after.entries.clone()];
    }
    let which = if of_before { "the first" } else { "the second" };
    let what = format!(
        "only {which} searched for the owners of malloc's blocks: they are compared as one, \"{NOT_SPLIT}\"; with --depth owners \
         each snapshot does"
    );
    problems.push(Problem::new("snapshots", what));
    let found = before.entries.iter().chain(&after.entries).filter(|entry| is_found_by_search(entry));
    let found: BTreeSet<&[String]> = found.map(|entry| entry.path.as_slice()).collect();
    [before, after].map(|snapshot| {
        let entries = snapshot.entries.iter().cloned();
        entries
            .map(
                |entry| {
                    if found.contains(&*entry.path) || is_unknown(&entry) { not_split(entry) } else { entry }
                },
            )
            .collect()
    })
}

/// What a search for owners gives to entries. It follows the pointers of blocks that tracking names too, so that those
/// differ as well; stacks are found by their content at every depth, and headers belong to blocks, whoever owns them.
fn is_found_by_search(entry: &MemoryEntry) -> bool {
    let is_of = |area: Area| Area::of_path(&entry.path) == Some(area);
    let is_of_code = is_of(Area::JitCode) && entry.path.get(1).is_some_and(|part| part == "malloc parts");
    // Blocks that the JVM's own lists have, such as idle chunks of its arenas, are named on the way.
    let is_listed_block = entry.source == FigureSource::Symbols && entry.size_bytes.is_some();
    let is_named = entry.source.is_inference() || entry.source == FigureSource::Nmt || is_listed_block;
    is_of_code || is_named && !is_of(Area::Stacks) && !is_of(Area::AllocatorOverhead)
}

fn is_unknown(entry: &MemoryEntry) -> bool {
    matches!(Area::of_path(&entry.path), Some(Area::MallocHeap | Area::NativeAnonymous))
}

fn not_split(entry: MemoryEntry) -> MemoryEntry {
    MemoryEntry { path: vec![NOT_SPLIT.to_owned()], ..entry }
}
