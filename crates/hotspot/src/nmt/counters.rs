//! Level, tags and counters of native memory tracking, from the JVM's own statics.
//!
//! The tables have a row for each tag. Their widths differ from release to release (peaks came later) and follow from
//! the size of their symbols, so that no version is asked.

use super::{HeaderForm, Nmt, NmtLevel, TagCounters};
use crate::Hotspot;

/// No release has more tags.
const TAGS_MAX: u64 = 64;
/// A tag's name.
const NAME_BYTES_MAX: usize = 64;
/// Words of a table that is read: 64 tags with 8 words each, and more.
const TABLE_WORDS_MAX: u64 = 1024;
const PROBLEM: &str = "native memory tracking";

const LEVEL: &str = "_ZN10MemTracker15_tracking_levelE";
/// Only the first generation, whose levels are numbered differently, has it.
const OLD_LEVELS: &str = "_ZN10MemTracker17_is_nmt_env_validE";
const MALLOC: &str = "_ZN19MallocMemorySummary9_snapshotE";
const VIRTUAL: &str = "_ZN20VirtualMemorySummary9_snapshotE";
const STACKS: &str = "_ZN18ThreadStackTracker13_thread_countE";
/// Tables of names, and words of an entry: JDK 8 to 17, then later ones, whose entries begin with the spelling of the
/// JVM's source and end with that of its reports.
const NAMES: [(&str, u64); 2] = [("_ZN7NMTUtil18_memory_type_namesE", 1), ("_ZN7NMTUtil8_stringsE", 2)];

impl Hotspot<'_> {
    /// State of native memory tracking: level, tags, counters, and how headers look. Level `Off` when nothing is
    /// tracked; where the level cannot be read, a problem says so.
    pub fn nmt(&self) -> Nmt {
        let level = self.nmt_level();
        if level == NmtLevel::Off {
            return Nmt::off();
        }
        let form = self.header_form();
        let tags = self.nmt_tags();
        let counters = self.nmt_counters(&tags);
        Nmt {
            level,
            counters,
            tags,
            thread_stacks: self.symbols().address(STACKS).and_then(|at| self.source().word(at)),
            header_bytes: form.header_bytes(),
            footer_bytes: form.footer_bytes(),
            form,
        }
    }

    fn nmt_level(&self) -> NmtLevel {
        let read = self.symbols().address(LEVEL).and_then(|at| self.symbols().u32(self.source(), at));
        let is_old = self.symbols().address(OLD_LEVELS).is_some();
        let level = read.and_then(|value| level_of(value, is_old));
        level.unwrap_or_else(|| {
            // Without symbols the flag is what is left. It says what was asked for, which a shutdown may have ended.
            match self.flags().text("NativeMemoryTracking") {
                Some("off") => NmtLevel::Off,
                Some(asked @ ("summary" | "detail")) => {
                    self.problem(PROBLEM, format!("its level cannot be read; the flag says {asked}"));
                    if asked == "summary" { NmtLevel::Summary } else { NmtLevel::Detail }
                }
                _ => {
                    self.problem(PROBLEM, "whether it is on cannot be read; taken for off");
                    NmtLevel::Off
                }
            }
        })
    }

    /// Folklore: canaries came with JDK 18 and were carried back to 17.0.6 (JDK-8275320); 8 and 11 never got them.
    /// Held by: `canaries_came_with_17_0_6`.
    pub(super) fn header_form(&self) -> HeaderForm {
        let text = self.version().map(|version| version.text.as_str());
        let has_canary = text.is_none_or(has_canary);
        match (has_canary, self.symbols().word_bytes()) {
            (true, 4) => HeaderForm::Canary32,
            (true, _) => HeaderForm::Canary64,
            (false, 4) => HeaderForm::Plain32,
            (false, _) => HeaderForm::Plain64,
        }
    }

    fn nmt_tags(&self) -> Vec<String> {
        let (symbols, source) = (self.symbols(), self.source());
        let word = symbols.word_bytes();
        let table = NAMES.iter().find_map(|(name, words)| Some((symbols.address(name)?, words * word)));
        let sized = table.and_then(|(at, stride)| Some((at, stride, symbols.size_at(at)? / stride)));
        let Some((at, stride, tags)) = sized.filter(|(_, _, tags)| *tags <= TAGS_MAX) else {
            if !symbols.has_symtab()
                && let Some(tags) = self.tags_by_shape()
            {
                return tags;
            }
            self.problem(PROBLEM, "libjvm has no table of tag names: tags are numbers");
            return Vec::new();
        };
        let name = |tag: u64| {
            let place = at.checked_add(tag * stride + stride - word)?;
            symbols.c_string(source, symbols.word(source, place)?, NAME_BYTES_MAX)
        };
        (0..tags).map(|tag| name(tag).unwrap_or_else(|| format!("tag {tag}"))).collect()
    }

    fn nmt_counters(&self, tags: &[String]) -> Vec<TagCounters> {
        let rows = tags.len() as u64;
        // Each tag has a counter of blocks and one of arenas; behind them is one of all blocks.
        // A variable without a symbol is looked for by its shape.
        let is_shape_asked = !self.symbols().has_symtab() && !tags.is_empty();
        let by_shape = || is_shape_asked.then(|| self.malloc_by_shape(tags.len())).flatten();
        let malloc = self.nmt_table(MALLOC).or_else(by_shape);
        let malloc = malloc.and_then(|words| {
            let width = words.len() as u64 / (2 * rows + 1);
            (2 <= width && rows != 0).then_some((width as usize, words))
        });
        let Some((width, malloc)) = malloc else {
            self.problem(PROBLEM, "its counters cannot be read");
            return Vec::new();
        };
        let by_shape = || is_shape_asked.then(|| self.virtual_by_shape(tags)).flatten();
        let by_tag = self.nmt_table(VIRTUAL).or_else(by_shape);
        let by_tag = by_tag.and_then(|words| {
            let width = words.len() as u64 / rows;
            (2 <= width).then_some((width as usize, words))
        });
        // Committed memory of files is counted separately, and added when the JVM reports.
        let files = by_tag.as_ref().map_or_else(Vec::new, |(_, words)| self.tracked_files(words.len()));
        if by_tag.is_none() {
            self.problem(PROBLEM, "its counters of address space cannot be read");
        }
        let counter = |words: &[u64], at: usize| words.get(at).copied();
        let of_files = |tag: usize| {
            let width = by_tag.as_ref().map_or(0, |(width, _)| *width);
            let committed = files.iter().filter_map(|words| counter(words, tag * width + 1));
            committed.fold(0, u64::saturating_add)
        };
        let row = |(tag, name): (usize, &String)| {
            let at = tag * 2 * width;
            let mapped = |i| by_tag.as_ref().and_then(|(width, words)| counter(words, tag * width + i));
            Some(TagCounters {
                tag: name.clone(),
                malloc_count: counter(&malloc, at)?,
                malloc_bytes: counter(&malloc, at + 1)?,
                arena_count: counter(&malloc, at + width)?,
                arena_bytes: counter(&malloc, at + width + 1)?,
                reserved_bytes: mapped(0),
                committed_bytes: mapped(1).map(|own| own.saturating_add(of_files(tag))),
            })
        };
        tags.iter().enumerate().filter_map(row).collect()
    }

    /// A static table as words.
    fn nmt_table(&self, name: &str) -> Option<Vec<u64>> {
        let at = self.symbols().address(name)?;
        let word_bytes = self.symbols().word_bytes();
        let words = self.symbols().size_at(at)? / word_bytes;
        let mut bytes = vec![0; (words.min(TABLE_WORDS_MAX) * word_bytes) as usize];
        self.symbols().read(self.source(), at, &mut bytes).ok()?;
        let word = |part: &[u8]| part.iter().rev().fold(0, |word, byte| word << 8 | u64::from(*byte));
        Some(bytes.chunks_exact(word_bytes as usize).map(word).collect())
    }
}

/// Folklore: off was 0 and minimal 1; since JDK 18 (and in later updates of 17) off is 1. Summary is 2 and detail 3 in both.
/// Held by: `levels_of_both_generations`, `the_level_of_each_release_is_the_one_that_was_asked_for`.
fn level_of(value: u32, is_old: bool) -> Option<NmtLevel> {
    match (value, is_old) {
        (0, true) | (1, false) => Some(NmtLevel::Off),
        (1, true) => Some(NmtLevel::Minimal),
        (2, _) => Some(NmtLevel::Summary),
        (3, _) => Some(NmtLevel::Detail),
        _ => None,
    }
}

/// Whether headers of this version end with a canary. `version` begins with the feature release (`17.0.15+6`), or as
/// JDK 8 numbered its HotSpot (`25.402-b06`).
fn has_canary(version: &str) -> bool {
    if version.contains("-b") && !version.contains('+') {
        return false;
    }
    let end = version.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(version.len());
    let mut numbers = version[..end].split('.').map(|part| part.parse::<u32>().unwrap_or(0));
    let (feature, _interim, update) = (numbers.next(), numbers.next(), numbers.next());
    match feature {
        Some(17) => 6 <= update.unwrap_or(0),
        Some(feature) => 17 < feature,
        None => true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn canaries_came_with_17_0_6() {
        let with = ["17.0.6+10", "17.0.15+6-Debian-1deb12u1", "18+36", "25.0.3+9-LTS", "21.0.8.2+1"];
        assert!(with.into_iter().all(has_canary));
        let without = ["17+35", "17.0.5+8", "11.0.22+7", "16.0.2+7", "25.402-b06"];
        assert!(!without.into_iter().any(has_canary));
    }

    #[test]
    fn levels_of_both_generations() {
        assert_eq!(level_of(0, true), Some(NmtLevel::Off));
        assert_eq!(level_of(1, true), Some(NmtLevel::Minimal));
        assert_eq!(level_of(1, false), Some(NmtLevel::Off));
        for is_old in [true, false] {
            assert_eq!(level_of(2, is_old), Some(NmtLevel::Summary));
            assert_eq!(level_of(3, is_old), Some(NmtLevel::Detail));
            assert_eq!(level_of(15, is_old), None);
        }
        // Not yet initialised.
        assert_eq!(level_of(0, false), None);
    }
}
