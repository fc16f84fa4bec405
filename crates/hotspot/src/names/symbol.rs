//! Symbols: the JVM's names of classes, fields, methods and types. Each is a malloc block, or lies in an arena.

use super::Names;

/// What an allocator leaves behind a symbol at most: its smallest block, or the rounding to its size classes.
const ROUNDING_BYTES_MAX: u64 = 24;
/// Without references, a shorter text proves too little.
const LENGTH_UNUSED_MIN: u64 = 4;
/// Addresses of a process end before.
const ADDRESSES_END: u64 = 1 << 57;
/// Those that the kernel gives to a program that does not ask for more.
const USER_ADDRESSES_END: u64 = 1 << 47;

impl Names<'_> {
    /// The text of the symbol at an address. `None` when none lies there: its length is 0, or its text is none.
    pub fn symbol_at(&self, address: u64) -> Option<String> {
        let layout = self.symbol?;
        let length = self.source.u16(address.checked_add(layout.length)?)?;
        let mut text = vec![0; usize::from(length)];
        self.source.read(address.checked_add(layout.body)?, &mut text).ok()?;
        is_text(&text).then(|| String::from_utf8_lossy(&text).into_owned())
    }

    /// Whether a block's content, given whole, is a symbol: its hash is set, the length fills the block but for the
    /// allocator's rounding, and the text is one.
    ///
    /// A block that begins with an address is none: two letters or a random hash lie where an address has zeros. Lists of a library whose
    /// blocks hold text were symbols in JDK 8, which has no hash and count that could be checked.
    ///
    /// Bytes behind the text are what the block held before, and say nothing. Since JDK 21 the node of the symbol table
    /// is before the symbol, in the same block: a pointer to the next node.
    ///
    /// Folklore: JDK 21 asks for the symbol's bytes twice; and symbols that nobody refers to any more stay in the table
    /// until it is cleaned, most of them in a JVM that has just loaded classes. Held by: `symbols_are_told_by_content`.
    pub fn is_symbol(&self, bytes: &[u8]) -> bool {
        let node_bytes = self.object.word_bytes as usize;
        let behind_node = || {
            let (next, symbol) = bytes.split_at_checked(node_bytes)?;
            let next = next.iter().rev().fold(0_u64, |word, byte| word << 8 | u64::from(*byte));
            let is_pointer = next.is_multiple_of(node_bytes as u64) && next < ADDRESSES_END;
            is_pointer.then_some(symbol)
        };
        self.is_whole_symbol(bytes, false) && !self.begins_with_address(bytes)
            || behind_node().is_some_and(|symbol| self.is_whole_symbol(symbol, true))
    }

    fn begins_with_address(&self, bytes: &[u8]) -> bool {
        let word = bytes.first_chunk().map_or(0, |word| u64::from_le_bytes(*word));
        self.object.word_bytes == 8 && word < USER_ADDRESSES_END
    }

    fn is_whole_symbol(&self, bytes: &[u8], is_in_node: bool) -> bool {
        let looks = || {
            let layout = self.symbol?;
            let at = |offset: u64| bytes.get(usize::try_from(offset).ok()?..);
            let length = u64::from(u16::from_le_bytes(*at(layout.length)?.first_chunk()?));
            if let Some(offset) = layout.hash_and_count {
                let both = u32::from_le_bytes(*at(offset)?.first_chunk()?);
                let (hash, references) = (both >> 16, both & 0xffff);
                if hash == 0 || (references == 0 && length < LENGTH_UNUSED_MIN) {
                    return None;
                }
            }
            let text = at(layout.body)?.get(..usize::try_from(length).ok()?)?;
            let own = layout.body + length.max(2);
            // Size classes of jemalloc and tcmalloc are up to an eighth apart from each other above 128 bytes.
            let is_tight = |needed: u64| {
                let rest = (bytes.len() as u64).checked_sub(needed);
                rest.is_some_and(|rest| rest < ROUNDING_BYTES_MAX.max(needed / 7))
            };
            let fits = is_tight(own) || (is_in_node && is_tight(2 * own));
            (fits && is_text(text)).then_some(())
        };
        looks().is_some()
    }
}

/// A name or a type: UTF-8 as Java writes it, without control characters. Pieces of surrogate pairs are not UTF-8 to
/// anybody else, and are taken as text.
pub(crate) fn is_text(bytes: &[u8]) -> bool {
    let mut rest = bytes;
    while let Some((first, behind)) = rest.split_first() {
        let more = match first {
            0x20..=0x7e => 0,
            0xc2..=0xdf => 1,
            // Java writes the zero character as two bytes.
            0xc0 if behind.first() == Some(&0x80) => 1,
            0xe0..=0xef => 2,
            _ => return false,
        };
        let Some((tail, behind)) = behind.split_at_checked(more) else { return false };
        if tail.iter().any(|byte| byte & 0xc0 != 0x80) {
            return false;
        }
        rest = behind;
    }
    !bytes.is_empty()
}

#[cfg(test)]
mod tests {
    use super::is_text;

    #[test]
    fn text_is_told_from_other_bytes() {
        assert!(is_text(b"()Ljava/lang/String;"));
        assert!(is_text("naïve→".as_bytes()));
        assert!(is_text(&[0xc0, 0x80]));
        // A half of a surrogate pair.
        assert!(is_text(&[0xed, 0xa0, 0xbd]));
        assert!(!is_text(b""));
        assert!(!is_text(b"a\0b"));
        assert!(!is_text(&[0xe2, 0x86]));
        assert!(!is_text(&[0xff, b'a']));
        assert!(!is_text(b"\x7f\x45"));
    }
}
