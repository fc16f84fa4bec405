//! The symbols of one ELF file of a process, at the addresses where it is loaded.
//!
//! Where they come from, the best first: `.symtab` of the file; `.symtab` of the file with debug information that has
//! the same build id; `.dynsym`, which has only what is exported.

use crate::HotspotError;
use crate::elf::{Elf, ElfSymbol, name_hash, name_in};
use crate::image::Image;
use assay_linux::{Mapping, MemorySource, ReadError};
use assay_model::FigureSource;
use rustix::fs::{Mode, OFlags};
use std::fs::File;
use std::ops::Range;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

/// How far the symbol that covers an address is searched among those that begin before it.
const COVERING_STEPS_MAX: usize = 16;
/// Where distributions put files with debug information.
const DEBUG_FOLDER: &str = "/usr/lib/debug";

/// The symbols of one ELF file of the process, at its load bias.
#[derive(Debug)]
pub struct Symbols {
    path: String,
    pub(crate) image: Image,
    word_bytes: u64,
    is_x86: bool,
    build_id: Option<Vec<u8>>,
    known_from: FigureSource,
    data_ranges: Vec<Range<u64>>,
    /// Addresses of sections before the bias, by index.
    sections: Vec<Range<u64>>,
    /// Sorted by address, which is before the bias.
    symbols: Vec<ElfSymbol>,
    strings: Vec<u8>,
    /// Hash of the name and index of the symbol, sorted.
    by_name: Vec<(u32, u32)>,
    /// Vtables, sorted by address, with the class names that were asked for.
    vtables: Vec<Vtable>,
}

#[derive(Debug)]
struct Vtable {
    symbol: u32,
    class: OnceLock<Option<Box<str>>>,
}

impl Symbols {
    /// Reads the file that a mapping of the process maps.
    ///
    /// # Errors
    /// When the file cannot be opened or was replaced since it was mapped, or is not an ELF file.
    pub fn of_mapped_file(source: &dyn MemorySource, mapping: &Mapping) -> Result<Symbols, HotspotError> {
        let path = mapping.name.clone();
        let file = match source.open_mapped_file(mapping) {
            Ok(file) => file,
            Err(source) => return Err(HotspotError::Open { path, source }),
        };
        let not_elf = |what: String| HotspotError::NotReadable { path: path.clone(), what };
        let mut elf = Elf::read(&file).map_err(not_elf)?;
        let mut known_from = if elf.has_symtab { FigureSource::Symbols } else { FigureSource::VmStructs };
        let path_here = source.paths_are_of_this_machine().then_some(Path::new(&path));
        if !elf.has_symtab
            && let Some(debug) = read_debug_file(Path::new(DEBUG_FOLDER), path_here, &elf)
        {
            elf.symbols = debug.symbols;
            elf.strings = debug.strings;
            known_from = FigureSource::DebugInfo;
        }
        let image = Image::new(file, &elf, source, mapping).map_err(not_elf)?;
        Ok(Symbols::new(path, image, elf, known_from))
    }

    fn new(path: String, image: Image, elf: Elf, known_from: FigureSource) -> Symbols {
        let Elf { word_bytes, is_x86, sections, mut symbols, strings, build_id, .. } = elf;
        symbols.sort_unstable_by_key(|s| (s.address, s.size, s.name));
        let mut by_name: Vec<_> =
            symbols.iter().zip(0..).map(|(symbol, index)| (symbol.hash, index)).collect();
        by_name.sort_unstable();
        let begins = |s: &ElfSymbol| strings.get(s.name as usize..).unwrap_or_default();
        let is_vtable = |(symbol, _): &(&ElfSymbol, u32)| begins(symbol).starts_with(b"_ZTV");
        let vtables = symbols.iter().zip(0..).filter(is_vtable);
        let vtables = vtables.map(|(_, symbol)| Vtable { symbol, class: OnceLock::new() }).collect();
        let data_ranges = image.data_ranges();
        Symbols {
            path,
            image,
            word_bytes,
            is_x86,
            build_id,
            known_from,
            data_ranges,
            sections,
            symbols,
            strings,
            by_name,
            vtables,
        }
    }

    /// Address of a function or variable, by its mangled name. Of several private ones of the same name, the first.
    pub fn address(&self, mangled: &str) -> Option<u64> {
        let mut named = self.named(mangled);
        let first = named.next()?;
        let exported = if first.is_local { named.find(|symbol| !symbol.is_local) } else { None };
        Some(self.placed(exported.unwrap_or(first).address))
    }

    /// Addresses of all of a mangled name: each file of the library may have a private one.
    pub fn addresses(&self, mangled: &str) -> impl Iterator<Item = u64> {
        self.named(mangled).map(|symbol| self.placed(symbol.address))
    }

    fn named(&self, mangled: &str) -> impl Iterator<Item = &ElfSymbol> {
        let wanted = name_hash(mangled.as_bytes());
        let first = self.by_name.partition_point(|(hash, _)| *hash < wanted);
        let same = self.by_name[first..].iter().take_while(move |(hash, _)| *hash == wanted);
        let symbols = same.map(|(_, index)| &self.symbols[*index as usize]);
        symbols.filter(move |symbol| name_in(&self.strings, symbol.name) == mangled.as_bytes())
    }

    /// The symbol that covers an address, and how far into it the address is. A symbol without a size reaches to the
    /// next one of its section.
    pub fn name_at(&self, address: u64) -> Option<(&str, u64)> {
        let address = address.checked_sub(self.image.bias)?;
        let section = self.sections.iter().position(|range| range.contains(&address))?;
        let next = self.symbols.partition_point(|symbol| symbol.address <= address);
        let before = self.symbols[..next].iter().rev().take(COVERING_STEPS_MAX);
        let before: Vec<_> = before.filter(|symbol| usize::from(symbol.section) == section).collect();
        let covers = |s: &&&ElfSymbol| address - s.address < u64::from(s.size);
        let found = before.iter().find(covers).or_else(|| before.first())?;
        Some((self.name(found)?, address - found.address))
    }

    /// The readable name of the function whose bytes an address lies in: none where symbols were stripped, rather than the one before.
    pub fn function_at(&self, address: u64) -> Option<String> {
        let (name, offset) = self.name_at(address)?;
        let is_covered = offset < self.size_at(address - offset)?;
        is_covered.then(|| demangled(name).unwrap_or_else(|| name.to_owned()))
    }

    /// The class of a C++ object, by the pointer to its vtable that is its first word.
    pub fn class_of_vtable(&self, vtable_pointer: u64) -> Option<&str> {
        // An object points behind the two words (offset to top, type information) with which its vtable begins.
        let start = vtable_pointer.checked_sub(2 * self.word_bytes)?.checked_sub(self.image.bias)?;
        let address = |vtable: &Vtable| self.symbols[vtable.symbol as usize].address;
        let vtable = &self.vtables[self.vtables.binary_search_by_key(&start, address).ok()?];
        let demangled = || self.name(&self.symbols[vtable.symbol as usize]).and_then(class_name);
        vtable.class.get_or_init(demangled).as_deref()
    }

    /// Writable memory of the file: data, relocated constants and bss.
    pub fn data_ranges(&self) -> &[Range<u64>] {
        &self.data_ranges
    }

    /// Whether private symbols are known, from the file itself or from debug information.
    pub fn has_symtab(&self) -> bool {
        self.known_from != FigureSource::VmStructs
    }

    /// What the symbols come from: [`FigureSource::Symbols`], [`FigureSource::DebugInfo`], or [`FigureSource::VmStructs`] when only exported
    /// symbols are known.
    pub fn known_from(&self) -> FigureSource {
        self.known_from
    }

    /// The file's build id.
    pub fn build_id(&self) -> Option<&[u8]> {
        self.build_id.as_deref()
    }

    /// The file as the kernel names it.
    pub fn path(&self) -> &str {
        &self.path
    }

    /// Bytes of a pointer.
    pub fn word_bytes(&self) -> u64 {
        self.word_bytes
    }

    /// Whether the file is for x86, of 64 or of 32 bits: what was tested.
    pub fn is_x86(&self) -> bool {
        self.is_x86
    }

    /// Size of the symbol at exactly this address, where the file gives it.
    pub fn size_at(&self, address: u64) -> Option<u64> {
        let address = address.checked_sub(self.image.bias)?;
        let first = self.symbols.partition_point(|symbol| symbol.address < address);
        let at = self.symbols[first..].iter().take_while(|symbol| symbol.address == address);
        at.map(|symbol| u64::from(symbol.size)).max().filter(|size| *size != 0)
    }

    /// Fills the buffer from memory, and where a page is absent from the file.
    ///
    /// # Errors
    /// When a part lies outside of the file and is not resident, or was swapped out.
    pub fn read(&self, source: &dyn MemorySource, address: u64, buffer: &mut [u8]) -> Result<(), ReadError> {
        self.image.read(source, address, buffer)
    }

    /// The word at an address of the file, from memory or from the file.
    pub fn word(&self, source: &dyn MemorySource, address: u64) -> Option<u64> {
        let mut bytes = [0; 8];
        self.read(source, address, &mut bytes[..self.word_bytes as usize]).ok()?;
        Some(u64::from_le_bytes(bytes))
    }

    /// 64 bits at an address of the file, from memory or from the file.
    pub fn u64(&self, source: &dyn MemorySource, address: u64) -> Option<u64> {
        let mut bytes = [0; 8];
        self.read(source, address, &mut bytes).ok()?;
        Some(u64::from_le_bytes(bytes))
    }

    /// 32 bits at an address of the file, from memory or from the file.
    pub fn u32(&self, source: &dyn MemorySource, address: u64) -> Option<u32> {
        let mut bytes = [0; 4];
        self.read(source, address, &mut bytes).ok()?;
        Some(u32::from_le_bytes(bytes))
    }

    /// The text at an address of the file or anywhere else, up to its zero byte, which must come within `bytes_max`.
    pub fn c_string(&self, source: &dyn MemorySource, address: u64, bytes_max: usize) -> Option<String> {
        assay_linux::c_string(|at, buffer| self.read(source, at, buffer).ok(), address, bytes_max)
    }

    fn placed(&self, address: u64) -> u64 {
        address.saturating_add(self.image.bias)
    }

    fn name(&self, symbol: &ElfSymbol) -> Option<&str> {
        std::str::from_utf8(name_in(&self.strings, symbol.name)).ok()
    }
}

/// The class in `_ZTV13InstanceKlass`: `InstanceKlass`.
fn class_name(vtable: &str) -> Option<Box<str>> {
    let text = demangled(vtable)?;
    text.strip_prefix("{vtable(").and_then(|t| t.strip_suffix(")}")).map(Box::from)
}

/// The readable form of a C++ name.
pub(crate) fn demangled(mangled: &str) -> Option<String> {
    /// Names nest, and the demangler recurses as they do; a name of libjvm has at most some hundred bytes.
    const BYTES_MAX: usize = 4096;
    if BYTES_MAX < mangled.len() {
        return None;
    }
    let symbol = cpp_demangle::Symbol::new(mangled).ok()?;
    symbol.demangle().ok()
}

/// The symbols of the file with debug information of the same build id.
///
/// It is data from a place that only root or Assay's own user may write to.
fn read_debug_file(folder: &Path, path: Option<&Path>, elf: &Elf) -> Option<Elf> {
    let build_id = elf.build_id.as_deref()?;
    let candidates = debug_files(folder, path, build_id, elf.debug_link.as_deref());
    candidates.iter().find_map(|candidate| {
        // Without waiting, should it be a pipe.
        let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
        let file = File::from(rustix::fs::open(candidate, flags, Mode::empty()).ok()?);
        let facts = file.metadata().ok()?;
        let own = rustix::process::geteuid().as_raw();
        let is_trusted = facts.is_file() && [0, own].contains(&facts.uid()) && facts.mode() & 0o002 == 0;
        let debug = is_trusted.then(|| Elf::read(&file).ok()).flatten()?;
        (debug.has_symtab && debug.build_id.as_deref() == Some(build_id)).then_some(debug)
    })
}

fn debug_files(folder: &Path, path: Option<&Path>, build_id: &[u8], link: Option<&str>) -> Vec<PathBuf> {
    let mut files = Vec::new();
    if let Some((first, rest)) = build_id.split_first() {
        let rest: String = rest.iter().map(|byte| format!("{byte:02x}")).collect();
        files.push(folder.join(format!(".build-id/{first:02x}/{rest}.debug")));
    }
    if let (Some(link), Some(beside)) = (link, path.and_then(Path::parent))
        && Path::new(link).file_name().is_some_and(|name| name == link)
    {
        files.push(beside.join(link));
        files.push(beside.join(".debug").join(link));
        files.push(folder.join(beside.strip_prefix("/").unwrap_or(beside)).join(link));
    }
    files
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_vtable_names_its_class() {
        assert_eq!(class_name("_ZTV13InstanceKlass").as_deref(), Some("InstanceKlass"));
        assert_eq!(class_name("_ZTVN9metaspace12ChunkManagerE").as_deref(), Some("metaspace::ChunkManager"));
        assert_eq!(class_name("_ZTI13InstanceKlass"), None);
        assert_eq!(class_name("gibberish"), None);
    }

    #[test]
    fn debug_files_are_looked_for_by_build_id_and_by_link_but_never_elsewhere() {
        let files = debug_files(
            Path::new("/d"),
            Some(Path::new("/lib/x/libjvm.so")),
            &[0xab, 0x1, 0xff],
            Some("l.debug"),
        );
        let files: Vec<_> = files.iter().map(|f| f.display().to_string()).collect();
        assert_eq!(
            files,
            ["/d/.build-id/ab/01ff.debug", "/lib/x/l.debug", "/lib/x/.debug/l.debug", "/d/lib/x/l.debug"]
        );
        assert_eq!(
            debug_files(Path::new("/d"), Some(Path::new("/lib/x")), &[0xab], Some("../../etc/shadow")).len(),
            1
        );
        assert_eq!(debug_files(Path::new("/d"), None, &[0xab], Some("l.debug")).len(), 1, "of a recording");
    }
}
