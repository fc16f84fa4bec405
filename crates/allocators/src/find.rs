//! Which allocator serves a process, by the objects that it maps and their exports.

use assay_linux::{Mapping, MemorySource};
use assay_model::Allocator;
use object::read::elf::{ElfFile, FileHeader, Sym};
use object::{File, Object, ObjectSection, ObjectSymbol, ReadCache, ReadRef};
use std::collections::HashSet;

/// Objects whose symbols are looked at.
const OBJECTS_MAX: usize = 4096;
/// Symbols of one object that are looked at.
const SYMBOLS_MAX: usize = 1 << 20;

/// Names of one object that are looked through; libjvm exports 30 KiB of them.
const NAMES_BYTES_MAX: u64 = 16 << 20;

/// An allocator and the first mapping of the object that holds it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct AllocatorFound<'a> {
    pub kind: Allocator,
    pub object: &'a Mapping,
    /// Only its walk shows whether it is there.
    pub is_guess: bool,
}

/// Finds the allocator of a process. A program may map several: what takes `malloc` over from the C library is the one
/// that counts. Of a static program it is a guess that its walk must confirm.
pub(crate) fn find(source: &dyn MemorySource) -> Option<AllocatorFound<'_>> {
    let objects = objects(source);
    let first = |kind_of: &dyn Fn(&Mapping) -> Option<Allocator>| {
        objects
            .iter()
            .find_map(|object| Some(AllocatorFound { kind: kind_of(object)?, object, is_guess: false }))
    };
    // The kernel maps the program first of all, unless it is asked to place it elsewhere.
    let program =
        || Some(AllocatorFound { kind: Allocator::Glibc, object: objects.first()?, is_guess: true });
    first(&|object| interposer_by_name(file_name(object)))
        .or_else(|| first(&|object| interposer_in(source, object)))
        .or_else(|| first(&|object| c_library_by_name(file_name(object))))
        .or_else(program)
}

/// The first mapping of each object: files of which something is executable, the program first.
pub(crate) fn objects(source: &dyn MemorySource) -> Vec<&Mapping> {
    let is_code = |m: &&Mapping| m.is_file() && m.is_executable();
    let code: HashSet<_> =
        source.mappings().iter().filter(is_code).map(|m| (m.device.as_str(), m.inode)).collect();
    let mut seen = HashSet::new();
    let mut first = Vec::new();
    for mapping in source.mappings() {
        let id = (mapping.device.as_str(), mapping.inode);
        if first.len() < OBJECTS_MAX && code.contains(&id) && seen.insert(id) {
            first.push(mapping);
        }
    }
    first
}

pub(crate) fn file_name(object: &Mapping) -> &str {
    let name = object.name.strip_suffix(" (deleted)").unwrap_or(&object.name);
    name.rsplit('/').next().unwrap_or(name)
}

fn interposer_by_name(file: &str) -> Option<Allocator> {
    let starts = |name: &str| file.starts_with(name);
    if starts("libjemalloc") {
        Some(Allocator::Jemalloc)
    } else if starts("libtcmalloc") {
        Some(Allocator::Tcmalloc)
    } else if starts("libmimalloc") {
        Some(Allocator::Mimalloc)
    } else {
        None
    }
}

pub(crate) fn c_library_by_name(file: &str) -> Option<Allocator> {
    if file == "libc.so.6" || file.starts_with("libc-2.") {
        Some(Allocator::Glibc)
    } else if file.starts_with("ld-musl-") || file.starts_with("libc.musl-") {
        Some(Allocator::Musl)
    } else {
        None
    }
}

/// An allocator that an object under another name brings along: it exports `malloc`, and has a name that only that
/// allocator has. The C libraries export `malloc` as well, but none of those names.
fn interposer_in(source: &dyn MemorySource, object: &Mapping) -> Option<Allocator> {
    if c_library_by_name(file_name(object)).is_some() {
        return None;
    }
    let cache = ReadCache::new(source.open_mapped_file(object).ok()?);
    match File::parse(&cache).ok()? {
        File::Elf64(file) => interposer_of(&file),
        File::Elf32(file) => interposer_of(&file),
        _ => None,
    }
}

fn interposer_of<'d, H: FileHeader, R: ReadRef<'d>>(file: &ElfFile<'d, H, R>) -> Option<Allocator> {
    let names = file.section_by_name(".dynstr").filter(|section| section.size() <= NAMES_BYTES_MAX);
    let names = names.and_then(|section| section.data().ok());
    // Most libraries do not even mention the name. Linkers let a name be the tail of a longer one.
    if names.is_some_and(|names| memchr::memmem::find(names, b"malloc\0").is_none()) {
        return None;
    }
    let mut has_malloc = false;
    let mut kind = None;
    for symbol in file.dynamic_symbols().take(SYMBOLS_MAX).filter(ObjectSymbol::is_definition) {
        // A symbol that is asked for its name reads the file once more.
        let known = names.and_then(|names| names.get(symbol.elf_symbol().st_name(file.endian()) as usize..));
        let known = known.and_then(|name| name.split(|byte| *byte == 0).next());
        match known.map_or_else(|| symbol.name_bytes(), Ok) {
            Ok(b"malloc") => has_malloc = true,
            Ok(name) => kind = kind.or_else(|| mark(name)),
            Err(_) => {}
        }
    }
    if !has_malloc {
        return None;
    }
    // A program exports what the libraries ask for, `malloc` among it, and keeps the rest to itself.
    kind.or_else(|| file.symbols().take(SYMBOLS_MAX).find_map(|symbol| mark(symbol.name_bytes().ok()?)))
}

fn mark(name: &[u8]) -> Option<Allocator> {
    match name {
        b"mallctl" | b"je_mallctl" => Some(Allocator::Jemalloc),
        b"tc_malloc" | b"TCMallocInternalMalloc" => Some(Allocator::Tcmalloc),
        b"mi_malloc" => Some(Allocator::Mimalloc),
        _ => None,
    }
}
