//! Sums over the entries of a snapshot, and figures as people read and type them.

use assay_model::{Area, JvmMemoryFacts, MemoryEntry, MemoryReport, PageKinds};
pub(crate) use assay_text::percent::of as percent;
use assay_text::size;
pub(crate) use assay_text::size::rounded as bytes;

/// Resident memory of the entries whose path begins like this.
pub(crate) fn under(report: &MemoryReport, path: &[&str]) -> u64 {
    sum(report, |of| is_under(of, path))
}

/// Resident memory of an area.
pub(crate) fn of_area(report: &MemoryReport, area: Area) -> u64 {
    under(report, &[area.title()])
}

/// Whether a path begins like this.
pub(crate) fn is_under(path: &[String], beginning: &[&str]) -> bool {
    beginning.len() <= path.len() && path.iter().zip(beginning).all(|(part, wanted)| part == wanted)
}

/// Whether a path is in an area, and ends like this.
pub(crate) fn ends(path: &[String], area: Area, last: &str) -> bool {
    Area::of_path(path) == Some(area) && path.last().is_some_and(|part| part == last)
}

/// The entries whose paths are wanted.
pub(crate) fn entries_at(report: &MemoryReport, is_wanted: impl Fn(&[String]) -> bool) -> Vec<&MemoryEntry> {
    report.entries.iter().filter(|entry| is_wanted(&entry.path)).collect()
}

/// Resident memory of the entries whose paths are wanted.
pub(crate) fn sum(report: &MemoryReport, is_wanted: impl Fn(&[String]) -> bool) -> u64 {
    memory_of(entries_at(report, is_wanted).into_iter())
}

/// Resident memory of entries: what a process maps several times counts once, since a setting gives it back once.
pub(crate) fn memory_of<'a>(entries: impl Iterator<Item = &'a MemoryEntry>) -> u64 {
    entries.fold(0, |sum, entry| sum.saturating_add(entry.bytes_of_memory()))
}

/// The memory of an entry by the kind of its pages, each page once: those that are mapped a second time are pages of a file, shared or
/// droppable.
pub(crate) fn kinds_of_memory(entry: &MemoryEntry) -> Option<PageKinds> {
    let memory = entry.bytes_of_memory();
    let again = entry.resident_bytes.saturating_sub(memory);
    let pages = entry.pages?;
    let shared_again = pages.shared_bytes.min(again);
    Some(PageKinds {
        private_bytes: pages.private_bytes,
        shared_bytes: pages.shared_bytes - shared_again,
        droppable_bytes: pages.droppable_bytes.saturating_sub(again - shared_again),
        huge_bytes: pages.huge_bytes.map(|huge| huge.min(memory)),
    })
}

/// Resident memory of the entries of an area that end like this.
pub(crate) fn ending(report: &MemoryReport, area: Area, last: &str) -> u64 {
    sum(report, |path| ends(path, area, last))
}

/// The entries of an area.
pub(crate) fn entries_of(report: &MemoryReport, area: Area) -> impl Iterator<Item = &MemoryEntry> {
    report.entries.iter().filter(move |entry| Area::of_path(&entry.path) == Some(area))
}

/// A sum that stays at the largest number: snapshots may come from a file.
pub(crate) fn total<'a>(figures: impl IntoIterator<Item = &'a u64>) -> u64 {
    figures.into_iter().fold(0, |sum, figure| sum.saturating_add(*figure))
}

/// A flag of the JVM as a number.
pub(crate) fn flag(jvm: &JvmMemoryFacts, name: &str) -> Option<u64> {
    jvm.flags.get(name)?.parse().ok()
}

/// Whether a flag of the JVM is on; absent where it does not have it.
pub(crate) fn is_on(jvm: &JvmMemoryFacts, name: &str) -> Option<bool> {
    jvm.flags.get(name)?.parse().ok()
}

/// A size as a JVM option takes it: whole MiB, never less than asked.
pub(crate) fn option_size(bytes: u64) -> String {
    size::option(bytes.checked_next_multiple_of(1 << 20).unwrap_or(bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_option_is_never_less_than_asked() {
        assert_eq!((option_size(1), option_size(2 << 20)), ("1m".to_owned(), "2m".to_owned()));
    }
}
