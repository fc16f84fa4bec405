//! The words of libjvm's variables, for what has no symbol there and is known by its shape.

use crate::Hotspot;

/// Words of libjvm's data that are looked at: 16 MiB.
const DATA_BYTES_MAX: u64 = 16 << 20;

impl Hotspot<'_> {
    /// What is made of the words from each place of libjvm's data on, of which at least so many follow.
    pub(crate) fn found_among_words<T>(
        &self,
        words_min: usize,
        what: impl Fn(&[u64]) -> Option<T>,
    ) -> Vec<T> {
        let (symbols, source) = (self.symbols(), self.source());
        let word_bytes = symbols.word_bytes() as usize;
        let word = |part: &[u8]| part.iter().rev().fold(0, |word, byte| word << 8 | u64::from(*byte));
        let mut found = Vec::new();
        for range in symbols.data_ranges() {
            let mut data = vec![0; (range.end - range.start).min(DATA_BYTES_MAX) as usize];
            if symbols.read(source, range.start, &mut data).is_err() {
                continue;
            }
            let words: Vec<u64> = data.chunks_exact(word_bytes).map(word).collect();
            let places = (words.len() + 1).saturating_sub(words_min);
            found.extend((0..places).filter_map(|at| what(words.get(at..)?)));
        }
        found
    }
}
