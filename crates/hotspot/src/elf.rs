//! One ELF file: where it is loaded, its symbol table, and its identity. 64-bit and 32-bit files alike.
//!
//! Only the parts that are needed are read: headers, the symbol table, its strings, and the build id (7 of the 24 MB
//! of a libjvm). Sizes from the file are bounded before anything is allocated.

use object::elf::{self, FileHeader32, FileHeader64};
use object::read::elf::{FileHeader, ProgramHeader, SectionHeader, SectionTable, Sym};
use object::read::{ReadCache, ReadRef, SectionIndex};
use object::{Endianness, FileKind};
use std::error::Error;
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::ops::Range;

/// The largest symbol table or string table that is read. A browser's debug file has 200 MB of strings.
const TABLE_BYTES_MAX: u64 = 512 << 20;
/// A file's name and a checksum.
const LINK_BYTES_MAX: u64 = 4096;
/// Segments and sections that are looked at.
const HEADERS_MAX: usize = 4096;

/// A part of the file that is loaded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Segment {
    /// Addresses before the bias is added, memory beyond the file's end (bss) included.
    pub addresses: Range<u64>,
    /// Where it begins in the file.
    pub file_offset: u64,
    /// How much of it is in the file.
    pub file_bytes: u64,
    pub is_writable: bool,
}

/// A function or variable.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct ElfSymbol {
    /// Before the bias is added.
    pub address: u64,
    /// 0 where the file does not give it.
    pub size: u32,
    /// Offset in the strings.
    pub name: u32,
    /// [`name_hash`] of the name: taken in the order of the file, in which names lie one behind the other.
    pub hash: u32,
    pub section: u16,
    pub is_local: bool,
}

/// The name that begins at an offset of the strings.
pub(crate) fn name_in(strings: &[u8], offset: u32) -> &[u8] {
    let from = strings.get(offset as usize..).unwrap_or_default();
    &from[..memchr::memchr(0, from).unwrap_or(0)]
}

/// FNV-1a over words of eight bytes: names are long, and only their equality is asked.
pub(crate) fn name_hash(name: &[u8]) -> u32 {
    let (words, rest) = name.as_chunks::<8>();
    let mut last = [0; 8];
    last[..rest.len()].copy_from_slice(rest);
    let words = words.iter().chain(std::iter::once(&last)).map(|word| u64::from_le_bytes(*word));
    let hash = words.fold(0xcbf2_9ce4_8422_2325_u64, |hash, word| {
        (hash ^ word).wrapping_mul(0x0000_0100_0000_01b3).rotate_left(23)
    });
    (hash ^ hash >> 32) as u32
}

/// All of a part of a file.
fn read_at(mut file: &File, offset: u64, bytes: u64) -> io::Result<Vec<u8>> {
    let length = usize::try_from(bytes).map_err(io::Error::other)?;
    let mut read = Vec::new();
    read.try_reserve_exact(length)?;
    file.seek(SeekFrom::Start(offset))?;
    file.take(bytes).read_to_end(&mut read)?;
    if read.len() == length { Ok(read) } else { Err(io::ErrorKind::UnexpectedEof.into()) }
}

/// What is read of an ELF file.
#[derive(Debug, Default)]
pub(crate) struct Elf {
    pub word_bytes: u64,
    /// Whether its code is for x86, of 64 or of 32 bits.
    pub is_x86: bool,
    pub segments: Vec<Segment>,
    /// Addresses of sections that are loaded, by index; empty ranges for others.
    pub sections: Vec<Range<u64>>,
    /// Constants: sections whose name begins with `.rodata`, in the file.
    pub constants: Vec<Segment>,
    pub symbols: Vec<ElfSymbol>,
    /// Names of symbols, each ended by a zero byte.
    pub strings: Vec<u8>,
    /// Whether the symbols are those of `.symtab`, which has the private ones too, rather than of `.dynsym`.
    pub has_symtab: bool,
    pub build_id: Option<Vec<u8>>,
    /// Name of the file with debug information (`.gnu_debuglink`).
    pub debug_link: Option<String>,
}

impl Elf {
    /// Reads a file.
    ///
    /// # Errors
    /// When it is not a whole ELF file, as a fragment that says why.
    pub fn read(file: &File) -> Result<Elf, String> {
        let cache = ReadCache::new(file);
        let kind = FileKind::parse(&cache).map_err(|e| e.to_string())?;
        let read = match kind {
            FileKind::Elf64 => read_as::<FileHeader64<Endianness>, _>(&cache, file),
            FileKind::Elf32 => read_as::<FileHeader32<Endianness>, _>(&cache, file),
            _ => return Err("not an ELF file".to_owned()),
        };
        read.map_err(|e| e.to_string())
    }
}

fn read_as<'d, H, R>(data: R, file: &File) -> Result<Elf, Box<dyn Error>>
where
    H: FileHeader<Endian = Endianness>,
    R: ReadRef<'d>,
{
    let header = H::parse(data)?;
    let endian = header.endian()?;
    let mut elf = Elf {
        word_bytes: if header.is_class_64() { 8 } else { 4 },
        is_x86: [elf::EM_X86_64, elf::EM_386].contains(&header.e_machine(endian)),
        ..Elf::default()
    };
    for segment in header.program_headers(endian, data)?.iter().take(HEADERS_MAX) {
        if segment.p_type(endian) == elf::PT_LOAD {
            let start: u64 = segment.p_vaddr(endian).into();
            let bytes: u64 = segment.p_memsz(endian).into();
            elf.segments.push(Segment {
                addresses: start..start.saturating_add(bytes),
                file_offset: segment.p_offset(endian).into(),
                file_bytes: segment.p_filesz(endian).into(),
                is_writable: segment.p_flags(endian).contains(elf::PF_W),
            });
        }
    }
    let sections = header.sections(endian, data)?;
    for section in sections.iter().take(HEADERS_MAX) {
        elf.add_section::<H, R>(endian, data, &sections, section);
    }
    elf.has_symtab = elf.read_symbols::<H, R>(endian, data, file, &sections, elf::SHT_SYMTAB)?;
    if !elf.has_symtab {
        elf.read_symbols::<H, R>(endian, data, file, &sections, elf::SHT_DYNSYM)?;
    }
    Ok(elf)
}

impl Elf {
    fn add_section<'d, H, R>(
        &mut self,
        endian: Endianness,
        data: R,
        sections: &SectionTable<'d, H, R>,
        section: &'d H::SectionHeader,
    ) where
        H: FileHeader<Endian = Endianness>,
        R: ReadRef<'d>,
    {
        let start: u64 = section.sh_addr(endian).into();
        let bytes: u64 = section.sh_size(endian).into();
        let addresses = if start == 0 { 0..0 } else { start..start.saturating_add(bytes) };
        let name = sections.section_name(endian, section).unwrap_or_default();
        if name.starts_with(b".rodata") && start != 0 {
            self.constants.push(Segment {
                addresses: addresses.clone(),
                file_offset: section.sh_offset(endian).into(),
                file_bytes: bytes,
                is_writable: false,
            });
        }
        self.sections.push(addresses);
        if name == b".gnu_debuglink" && bytes <= LINK_BYTES_MAX {
            let link = section.data(endian, data).unwrap_or_default();
            let name = link.split(|byte| *byte == 0).next().unwrap_or_default();
            self.debug_link = std::str::from_utf8(name).ok().map(str::to_owned);
        }
        if let Ok(Some(mut notes)) = section.notes(endian, data) {
            // A note section has a handful of notes; the iterator is bounded by its bytes.
            while let Ok(Some(note)) = notes.next() {
                if note.name() == elf::ELF_NOTE_GNU && note.n_type(endian) == elf::NT_GNU_BUILD_ID {
                    self.build_id = Some(note.desc().to_vec());
                }
            }
        }
    }

    /// Whether there is such a table.
    fn read_symbols<'d, H, R>(
        &mut self,
        endian: Endianness,
        data: R,
        file: &File,
        sections: &SectionTable<'d, H, R>,
        kind: elf::SectionType,
    ) -> Result<bool, Box<dyn Error>>
    where
        H: FileHeader<Endian = Endianness>,
        R: ReadRef<'d>,
    {
        let bounded = |s: &H::SectionHeader| s.sh_size(endian).into() <= TABLE_BYTES_MAX;
        let table = sections.iter().find(|s| s.sh_type(endian) == kind);
        let Some(table) = table.filter(|s| bounded(s)) else { return Ok(false) };
        let strings = sections.section(SectionIndex(table.sh_link(endian) as usize))?;
        if !bounded(strings) {
            return Ok(false);
        }
        // Of a file that was stripped into another one, the section is there, but without bytes.
        let symbols: &[H::Sym] = table.data_as_array(endian, data)?;
        let defined = symbols.iter().filter(|s| {
            let kind = s.st_type();
            let is_named_thing =
                kind == elf::STT_FUNC || kind == elf::STT_OBJECT || kind == elf::STT_GNU_IFUNC;
            is_named_thing && s.st_shndx(endian) != elf::SHN_UNDEF && s.st_value(endian).into() != 0
        });
        // Past the cache, which would keep a second copy of several MB.
        let names =
            strings.file_range(endian).map_or(Ok(Vec::new()), |(at, bytes)| read_at(file, at, bytes))?;
        let kept = defined.map(|s| ElfSymbol {
            address: s.st_value(endian).into(),
            size: u32::try_from(s.st_size(endian).into()).unwrap_or(u32::MAX),
            name: s.st_name(endian),
            hash: name_hash(name_in(&names, s.st_name(endian))),
            section: s.st_shndx(endian).0,
            is_local: s.st_bind() == elf::STB_LOCAL,
        });
        self.symbols = kept.collect();
        self.strings = names;
        self.symbols.shrink_to_fit();
        Ok(!self.symbols.is_empty())
    }
}
