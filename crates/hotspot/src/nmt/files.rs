//! Memory of files that the JVM tracks apart since JDK 24: the one behind ZGC's heap, which is mapped where it is needed.

use crate::Hotspot;

const TRACKER: &str = "_ZN17MemoryFileTracker8Instance8_trackerE";
/// The tracker lists its files within so many words.
const TRACKER_WORDS: u64 = 64;
/// A JVM has one file.
const FILES_MAX: u64 = 64;
const NAME_BYTES_MAX: usize = 64;

impl Hotspot<'_> {
    /// Tables of address space, as words, of all files, each with as many words as that of the JVM. The list of files proves itself: an
    /// array with its length and room, of files that each begin with a name among libjvm's constants.
    pub(super) fn tracked_files(&self, words: usize) -> Vec<Vec<u64>> {
        let (symbols, source) = (self.symbols(), self.source());
        let tracker = symbols.address(TRACKER);
        let word_bytes = symbols.word_bytes();
        let word = |at: u64, index: u64| source.word(at.checked_add(index * word_bytes)?);
        let table = |file: u64| -> Option<Vec<u64>> {
            let name = symbols.c_string(source, word(file, 0)?, NAME_BYTES_MAX)?;
            let is_name = !name.is_empty() && name.chars().all(|c| c.is_ascii() && !c.is_control());
            is_name.then(|| (1..=words as u64).map(|index| word(file, index)).collect())?
        };
        let list = |tracker: u64, index: u64| -> Option<Vec<Vec<u64>>> {
            let at = tracker.checked_add(index * word_bytes)?;
            let (length, room) = (u64::from(source.u32(at)?), u64::from(source.u32(at.checked_add(4)?)?));
            let data = source.word(at.checked_add(8)?)?;
            let is_list = 0 < length && length <= room && room <= FILES_MAX && data != 0;
            is_list.then(|| (0..length).map(|i| table(word(data, i)?)).collect())?
        };
        let found = tracker.and_then(|tracker| (0..TRACKER_WORDS).find_map(|index| list(tracker, index)));
        found.unwrap_or_default()
    }
}
