//! The heap that options set.

/// How an option for the largest heap begins; the size follows.
const LARGEST: [&str; 3] = ["-Xmx", "-XX:MaxHeapSize=", "-mx"];

/// The largest heap that words of a command line set, bytes; the last word counts. Absent where none sets it.
pub fn max_heap_bytes<'a>(words: impl IntoIterator<Item = &'a str>) -> Option<u64> {
    let size = |word: &str| {
        let size = LARGEST.iter().find_map(|start| word.strip_prefix(start))?;
        assay_text::size::parse(size).ok()
    };
    words.into_iter().filter_map(size).last()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_word_that_sets_the_largest_heap_counts() {
        assert_eq!(
            max_heap_bytes(["java", "-Xmx1g", "-Xms4g", "-XX:MaxHeapSize=2g", "-jar", "a.jar"]),
            Some(2 << 30)
        );
        assert_eq!(max_heap_bytes(["-mx64m"]), Some(64 << 20));
        assert_eq!(max_heap_bytes(["java", "-Xmxlots", "-Xmn1g"]), None);
    }
}
