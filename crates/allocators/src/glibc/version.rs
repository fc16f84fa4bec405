//! What the C library's file says of itself: its version and its machine.

use assay_linux::{Mapping, MemorySource};
use object::read::elf::ElfFile;
use object::{Architecture, Object, ObjectSection, ReadCache};

/// The text that glibc prints when it is run as a program has this in it.
const VERSION_MARK: &[u8] = b" stable release version ";
/// `.rodata` of a C library is far smaller.
const TEXT_BYTES_MAX: u64 = 16 << 20;
const NUMBER_BYTES_MAX: usize = 16;

/// The release, for example `2.36`.
pub(crate) fn read(source: &dyn MemorySource, object: &Mapping) -> Option<String> {
    let cache = ReadCache::new(source.open_mapped_file(object).ok()?);
    let file = object::File::parse(&cache).ok()?;
    let section = file.section_by_name(".rodata")?;
    if TEXT_BYTES_MAX < section.size() {
        return None;
    }
    let text = section.data().ok()?;
    let at = text.windows(VERSION_MARK.len()).position(|window| window == VERSION_MARK)?;
    let text = &text[at + VERSION_MARK.len()..];
    let end = text.iter().take(NUMBER_BYTES_MAX).position(|byte| !byte.is_ascii_digit() && *byte != b'.')?;
    let number = std::str::from_utf8(&text[..end]).ok()?.trim_end_matches('.');
    (!number.is_empty()).then(|| number.to_owned())
}

/// Major and minor number of a release.
pub(crate) fn number(release: &str) -> Option<(u32, u32)> {
    let (major, minor) = release.split_once('.')?;
    let minor = minor.split('.').next()?;
    Some((major.parse().ok()?, minor.parse().ok()?))
}

/// Whether an object is for i386.
pub(crate) fn is_i386(source: &dyn MemorySource, object: &Mapping) -> Option<bool> {
    let cache = ReadCache::new(source.open_mapped_file(object).ok()?);
    let file: ElfFile<'_, object::elf::FileHeader32<object::Endianness>, _> = ElfFile::parse(&cache).ok()?;
    Some(file.architecture() == Architecture::I386)
}

#[cfg(test)]
mod tests {
    #[test]
    fn numbers_of_releases() {
        assert_eq!(super::number("2.36"), Some((2, 36)));
        assert_eq!(super::number("2.3.6"), Some((2, 3)));
        assert_eq!(super::number("two"), None);
    }
}
