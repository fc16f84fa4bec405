//! Entries from the kernel's mappings alone: files by their kind, libraries with their data, the kernel's own pages.

use crate::address_map::AddressRange;
use crate::entry_table::{EntryId, EntryTable};
use assay_linux::{Mapping, MemorySource};
use assay_model::{Area, FigureSource};
use object::Endianness;
use object::elf;
use object::read::elf::{FileHeader, ProgramHeader};
use rustix::fs::fstatfs;
use std::collections::{HashMap, HashSet};
use std::fs::File;
use std::ops::Range;
use std::os::unix::fs::FileExt;

/// Enough of an ELF file for its program headers, which stand at its front.
const ELF_HEAD_BYTES: usize = 4096;
/// More program headers than any linker writes.
const LOAD_SEGMENTS_MAX: usize = 256;

/// Behind the kind of a file: pages of it that the program has written to, and has alone.
pub(crate) const WRITTEN: &str = ", written";

/// Spans of all mappings that the kernel names, and of the zero-initialised data of libraries, which it does not.
pub(crate) fn mapped_spans(source: &dyn MemorySource, entries: &mut EntryTable) -> Vec<AddressRange> {
    let mappings = source.mappings();
    let mut files: HashMap<&str, MappedFile> = HashMap::new();
    let mut spans = trampoline_spans(mappings, entries);
    for mapping in mappings.iter().filter(|m| m.rss_bytes != 0 && m.is_file() && !is_trampolines(m)) {
        let known = files.entry(&mapping.name).or_insert_with(|| MappedFile::of(source, mapping));
        let Some(file) = &known.elf else {
            spans.extend(file_spans(source, mapping, known.is_in_memory, entries));
            continue;
        };
        spans.push(AddressRange::new(mapping.addresses.clone(), library_entry(mapping, entries)));
        if let Some(zeroed) = file.zeroed_behind(mapping) {
            let entry = entries.explained(
                Area::Code,
                &[&library_name(&mapping.name), "data"],
                FigureSource::Kernel,
                "variables of the library, written or not",
            );
            spans.push(AddressRange::new(zeroed, entry));
        }
    }
    spans.extend(mappings.iter().filter(|m| m.rss_bytes != 0).filter_map(|m| named_span(m, entries)));
    spans
}

/// The last part of a path, without the kernel's mark of a deleted file.
pub(crate) fn file_name(path: &str) -> &str {
    let path = path.strip_suffix(" (deleted)").unwrap_or(path);
    path.rsplit('/').next().unwrap_or(path)
}

/// Digits in a row that make a name a temporary one.
const TEMPORARY_DIGITS_MIN: usize = 6;

/// The name of a library, without the number that one has which a program unpacked for itself
/// (`librocksdbjni5187246518795245361.so`): it is another at each start.
pub(crate) fn library_name(path: &str) -> String {
    let mut name = String::new();
    let mut digits = String::new();
    for letter in file_name(path).chars().map(Some).chain([None]) {
        match letter.filter(char::is_ascii_digit) {
            Some(digit) => digits.push(digit),
            None => {
                name.push_str(if digits.len() < TEMPORARY_DIGITS_MIN { &digits } else { "#" });
                digits.clear();
                name.extend(letter);
            }
        }
    }
    name
}

/// What libffi 3.4 lets native code call back through: a page of code from a file that nobody else sees (`open_temp_exec_file`),
/// and behind it one of as many bytes for what the code calls (`tramp_table_map`).
fn is_trampolines(mapping: &Mapping) -> bool {
    let name = file_name(&mapping.name);
    let is_temporary = name.len() == "ffiXXXXXX".len() && mapping.name.ends_with(" (deleted)");
    let is_its = (name.starts_with("ffi") && is_temporary) || name == "memfd:libffi";
    is_its && mapping.is_executable() && mapping.permissions[3] == b'p'
}

/// Trampolines, and the data behind each: empty where that was not found.
fn trampolines(mappings: &[Mapping]) -> impl Iterator<Item = (Range<u64>, Range<u64>)> + '_ {
    mappings.iter().enumerate().filter(|(_, code)| is_trampolines(code)).map(|(index, code)| {
        let (end, bytes) = (code.addresses.end, code.size_bytes());
        let is_data = |m: &&Mapping| !m.is_file() && m.addresses.start == end && bytes <= m.size_bytes();
        let data_bytes = mappings.get(index + 1).filter(is_data).map_or(0, |_| bytes);
        (code.addresses.clone(), end..end + data_bytes)
    })
}

fn trampoline_spans(mappings: &[Mapping], entries: &mut EntryTable) -> Vec<AddressRange> {
    let span = |(code, data): (Range<u64>, Range<u64>)| {
        let entry = entries.explained(
            Area::Code,
            &["libffi", "trampolines"],
            FigureSource::Kernel,
            "code through which native libraries call Java back, made at run time, with its data",
        );
        AddressRange::new(code.start..data.end, entry)
    };
    trampolines(mappings).map(span).collect()
}

/// Where libraries and the program itself keep their variables: the path of each, and a range. What the kernel merged with the zero-initialised
/// part, a mapping of somebody else's directly behind it, is not in the range.
pub(crate) fn library_data(source: &dyn MemorySource) -> Vec<(&str, Range<u64>)> {
    let is_data = |m: &&Mapping| !m.is_executable() && m.permissions[3] == b'p';
    let is_code = |m: &&Mapping| m.is_file() && m.is_executable();
    let objects: HashSet<&str> = source.mappings().iter().filter(is_code).map(|m| m.name.as_str()).collect();
    let mut elf_files: HashMap<&str, Option<Elf>> = HashMap::new();
    let mut data = Vec::new();
    for mapping in source.mappings().iter().filter(|m| m.is_file()).filter(is_data) {
        let name = mapping.name.as_str();
        // A file that cannot be opened any more (a library that was deleted) is recognised by its name.
        if !objects.contains(name) && !is_library(name) {
            continue;
        }
        let file = elf_files.entry(name).or_insert_with(|| MappedFile::of(source, mapping).elf);
        if file.is_none() && !is_library(name) {
            continue;
        }
        if mapping.permissions[1] == b'w' {
            data.push((name, mapping.addresses.clone()));
        }
        let zeroed = file.as_ref().and_then(|file| file.zeroed_behind(mapping));
        data.extend(zeroed.map(|zeroed| (name, zeroed)));
    }
    // libffi describes the targets of trampolines in memory that it maps for itself; only trampolines lead there.
    data.extend(trampolines(source.mappings()).map(|(_, called)| ("libffi", called)));
    data
}

/// By its name: `libzip.so`, `libc.so.6`.
fn is_library(path: &str) -> bool {
    let name = file_name(path);
    name.ends_with(".so") || name.contains(".so.")
}

fn library_entry(mapping: &Mapping, entries: &mut EntryTable) -> EntryId {
    let part = if mapping.is_executable() {
        "machine code"
    } else if mapping.permissions[1] == b'w' {
        "data"
    } else {
        "read-only data"
    };
    entries.entry(Area::Code, &[library_name(&mapping.name).as_str(), part], FigureSource::Kernel)
}

/// Mappings that are not files but have a name.
fn named_span(mapping: &Mapping, entries: &mut EntryTable) -> Option<AddressRange> {
    let entry = match mapping.name.as_str() {
        "[stack]" => entries.explained(
            Area::Stacks,
            &["native", "first thread"],
            FigureSource::Kernel,
            "the stack that the kernel gave the program; a JVM's launcher only waits on it",
        ),
        "[vdso]" | "[vvar]" | "[vvar_vclock]" | "[vsyscall]" | "[uprobes]" => entries.explained(
            Area::Other,
            &["pages of the kernel", &mapping.name],
            FigureSource::Kernel,
            "pages that the kernel maps into every process",
        ),
        // The allocator's walk paints over it what it finds there.
        "[heap]" => entries.entry(Area::MallocHeap, &["heap that could not be walked"], FigureSource::Kernel),
        _ => return None,
    };
    Some(AddressRange::new(mapping.addresses.clone(), entry))
}

/// A mapped file that is not a library.
fn file_spans(
    source: &dyn MemorySource,
    mapping: &Mapping,
    is_in_memory: bool,
    entries: &mut EntryTable,
) -> Vec<AddressRange> {
    let name = file_name(&mapping.name).to_owned();
    let whole = |entry| vec![AddressRange::new(mapping.addresses.clone(), entry)];
    let ends_with = |ends: &[&str]| ends.iter().any(|end| name.to_ascii_lowercase().ends_with(end));
    let starts_with = |starts: &[&str]| starts.iter().any(|start| mapping.name.starts_with(start));
    if ends_with(&[".jsa", ".aot"]) {
        return archive_spans(source, mapping, entries);
    }
    if mapping.name.starts_with("/memfd:java_heap") {
        return whole(entries.entry(Area::JavaHeap, &["pages of the heap"], FigureSource::Kernel));
    }
    if mapping.name.contains("/hsperfdata_") {
        return whole(entries.explained(
            Area::JvmWork,
            &["performance counters"],
            FigureSource::Kernel,
            "counters that jps and jstat read; -XX:-UsePerfData does without",
        ));
    }
    if is_in_memory || starts_with(&["/dev/zero", "/dev/shm/", "/memfd:", "/SYSV"]) {
        return whole(entries.explained(
            Area::Other,
            &["shared memory and devices", &name],
            FigureSource::Kernel,
            "memory that has a name, as files in tmpfs are: no disk has it, so that the kernel cannot drop it",
        ));
    }
    if starts_with(&["anon_inode:", "/dev/"]) {
        return whole(entries.entry(
            Area::Other,
            &["shared memory and devices", &name],
            FigureSource::Kernel,
        ));
    }
    let (area, kind) = if name == "modules" && mapping.name.ends_with("/lib/modules") {
        (Area::Code, "class files")
    } else if ends_with(&[".jar", ".zip", ".war", ".jmod"]) {
        (Area::Code, "mapped jars")
    } else if ends_with(&[".ttf", ".otf", ".ttc", ".pfb", ".pcf", ".afm", ".pcf.gz"]) {
        (Area::Code, "fonts")
    } else if mapping.name.contains("/locale/") || ends_with(&[".mo", ".cache", "locale-archive"]) {
        (Area::Code, "locale")
    } else {
        (Area::Buffers, "mapped files")
    };
    let of_file = entries.explained(
        area,
        &[kind, &name],
        FigureSource::Kernel,
        "pages of a file that is mapped: the kernel can drop them, and reads them again",
    );
    let written = entries.explained(
        area,
        &[&format!("{kind}{WRITTEN}"), &name],
        FigureSource::Kernel,
        "pages of a private mapping that the program wrote to: memory of its own, which the kernel cannot drop",
    );
    by_page(source, &mapping.addresses, of_file, written)
}

/// The class-data archive: pages still shared with the file, and pages that the JVM has written to.
pub(crate) fn archive_spans(
    source: &dyn MemorySource,
    mapping: &Mapping,
    entries: &mut EntryTable,
) -> Vec<AddressRange> {
    let shared = entries.explained(
        Area::ClassMetadata,
        &["CDS archive", "shared"],
        FigureSource::Kernel,
        "classes that the JDK prepared; clean pages, which other JVMs share",
    );
    let private = entries.explained(
        Area::ClassMetadata,
        &["CDS archive", "private"],
        FigureSource::Kernel,
        "pages of the archive that this JVM has written to or moved",
    );
    by_page(source, &mapping.addresses, shared, private)
}

/// Mappings of the files that the archive of class data was mapped from, whatever they are called: an AOT cache has parts that do not lie
/// among the classes.
pub(crate) fn archive_files(
    source: &dyn MemorySource,
    archive: &[Range<u64>],
    entries: &mut EntryTable,
) -> Vec<AddressRange> {
    let is_inside = |m: &&Mapping| {
        archive.iter().any(|range| range.start <= m.addresses.start && m.addresses.end <= range.end)
    };
    let mapped = || source.mappings().iter().filter(|m| m.is_file());
    let files: HashSet<(&str, u64)> =
        mapped().filter(is_inside).map(|m| (m.device.as_str(), m.inode)).collect();
    let of_files = mapped().filter(|m| m.rss_bytes != 0 && files.contains(&(&m.device, m.inode)));
    of_files.flat_map(|mapping| archive_spans(source, mapping, entries)).collect()
}

/// The resident parts of a mapping: pages of the file, and pages that belong to the process alone.
fn by_page(
    source: &dyn MemorySource,
    addresses: &Range<u64>,
    of_file: EntryId,
    own: EntryId,
) -> Vec<AddressRange> {
    let Range { start, end } = *addresses;
    let runs = source.pages().runs();
    let first = runs.partition_point(|run| run.addresses.end <= start);
    let inside = runs[first..].iter().take_while(|run| run.addresses.start < end);
    inside
        .map(|run| {
            let part = run.addresses.start.max(start)..run.addresses.end.min(end);
            AddressRange::new(part, if run.is_file { of_file } else { own })
        })
        .collect()
}

/// What a mapped file is.
#[derive(Default)]
struct MappedFile {
    /// A library, or a program.
    elf: Option<Elf>,
    /// It lies in a file system that has no disk: its pages are memory.
    is_in_memory: bool,
}

impl MappedFile {
    fn of(source: &dyn MemorySource, mapping: &Mapping) -> MappedFile {
        let Ok(file) = source.open_mapped_file(mapping) else { return MappedFile::default() };
        // Files of a recording lie in memory, wherever they came from.
        let system = source.paths_are_of_this_machine().then(|| fstatfs(&file).ok()).flatten();
        // `TMPFS_MAGIC` of `linux/magic.h`.
        let is_in_memory = system.is_some_and(|system| system.f_type == 0x0102_1994);
        MappedFile { elf: Elf::read(&file), is_in_memory }
    }
}

/// Where the segments of an ELF file end in memory, relative to each other.
struct Elf {
    segments: Vec<Segment>,
}

struct Segment {
    file: Range<u64>,
    memory_bytes: u64,
    is_writable: bool,
}

impl Elf {
    /// The segments of a file, if it is one of ELF.
    fn read(file: &File) -> Option<Elf> {
        let mut head = vec![0; ELF_HEAD_BYTES];
        let read = file.read_at(&mut head, 0).ok()?;
        head.truncate(read);
        parse_elf::<elf::FileHeader64<Endianness>>(&head)
            .or_else(|| parse_elf::<elf::FileHeader32<Endianness>>(&head))
    }

    /// The zero-initialised data behind the last mapping of a writable segment: anonymous, and without a name of its own. The
    /// mapping itself need not be writable: where all that the file has of the segment is relocated constants, the loader
    /// protects all of it.
    fn zeroed_behind(&self, mapping: &Mapping) -> Option<Range<u64>> {
        let from = mapping.offset_bytes;
        let to = from.checked_add(mapping.size_bytes())?;
        // The front of a segment may be a mapping of its own: the loader protects relocated constants (RELRO).
        let ends_here = |s: &&Segment| from < s.file.end && s.file.end <= to;
        let is_data = mapping.permissions[3] == b'p' && !mapping.is_executable();
        let segment = self.segments.iter().rev().find(|s| is_data && s.is_writable && ends_here(s))?;
        let start = mapping.addresses.start.checked_add(segment.file.start)?.checked_sub(from)?;
        let end = start.checked_add(segment.memory_bytes)?.checked_next_multiple_of(4096)?;
        (mapping.addresses.end < end).then_some(mapping.addresses.end..end)
    }
}

fn parse_elf<H: FileHeader<Endian = Endianness>>(head: &[u8]) -> Option<Elf> {
    let header = H::parse(head).ok()?;
    let endian = header.endian().ok()?;
    let headers = header.program_headers(endian, head).ok()?;
    let loads = headers.iter().filter(|h| h.p_type(endian) == elf::PT_LOAD).take(LOAD_SEGMENTS_MAX);
    let segments = loads
        .map(|h| {
            let offset: u64 = h.p_offset(endian).into();
            let file_bytes: u64 = h.p_filesz(endian).into();
            Segment {
                file: offset..offset.saturating_add(file_bytes),
                memory_bytes: h.p_memsz(endian).into(),
                is_writable: h.p_flags(endian).contains(elf::PF_W),
            }
        })
        .collect();
    Some(Elf { segments })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mapping(start: u64, pages: u64, permissions: &[u8; 4], offset_bytes: u64, name: &str) -> Mapping {
        Mapping {
            addresses: start..start + 4096 * pages,
            permissions: *permissions,
            offset_bytes,
            name: name.to_owned(),
            ..Mapping::default()
        }
    }

    /// As netty's library for epoll is: all that its file has of the writable segment is protected once it is relocated.
    #[test]
    fn variables_behind_protected_data_are_the_library_s() {
        let segment = |file, memory_bytes, is_writable| Segment { file, memory_bytes, is_writable };
        let file = Elf {
            segments: vec![segment(0..0x11744, 0x11744, false), segment(0x11c40..0x12fe8, 0x14f8, true)],
        };
        let library = "/tmp/libnetty.so (deleted)";
        let protected = mapping(0x7f00_0021_1000, 2, b"r--p", 0x11000, library);
        assert_eq!(file.zeroed_behind(&protected), Some(0x7f00_0021_3000..0x7f00_0021_4000));
        let code = mapping(0x7f00_0000_0000, 0x12, b"r-xp", 0, library);
        assert_eq!(file.zeroed_behind(&code), None);
        let shared = mapping(0x7f00_0021_1000, 2, b"r--s", 0x11000, library);
        assert_eq!(file.zeroed_behind(&shared), None);
    }

    #[test]
    fn a_library_has_one_name_at_each_start() {
        for (path, name) in [
            ("/tmp/librocksdbjni5187246518795245361.so (deleted)", "librocksdbjni#.so"),
            (
                "/tmp/libnetty_transport_native_epoll_x86_6412345678.so",
                "libnetty_transport_native_epoll_x86_#.so",
            ),
            ("/usr/lib/libstdc++.so.6.0.30", "libstdc++.so.6.0.30"),
            ("/tmp/jna-110/jna16270539741987654321.tmp", "jna#.tmp"),
        ] {
            assert_eq!(library_name(path), name);
        }
    }

    #[test]
    fn the_page_behind_trampolines_is_theirs() {
        let told = |mappings: &[Mapping]| {
            let spans = trampoline_spans(mappings, &mut EntryTable::default());
            spans.iter().map(|span| (span.addresses.start, span.addresses.end)).collect::<Vec<_>>()
        };
        let code = mapping(0x10000, 1, b"r-xp", 0, "/tmp/ffirZBvL1 (deleted)");
        let data = mapping(0x11000, 1, b"rw-p", 0, "");
        assert_eq!(told(&[code.clone(), data.clone()]), [(0x10000, 0x12000)]);
        assert_eq!(told(std::slice::from_ref(&code)), [(0x10000, 0x11000)]);
        let apart = mapping(0x12000, 1, b"rw-p", 0, "");
        assert_eq!(told(&[code, apart]), [(0x10000, 0x11000)]);
        let other = mapping(0x10000, 1, b"r-xp", 0, "/opt/ffi (deleted)");
        assert_eq!(told(&[other, data]), []);
    }
}
