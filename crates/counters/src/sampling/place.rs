//! In whose code user mode was, by the address.

use super::jvm_group::jvm_group_of;
use super::perf_map::PerfMap;
use assay_hotspot::{BlobKind, CodeCache, Hotspot, Symbols};
use assay_linux::{CachedMemory, LinuxError, LiveProcess, Mapping, MemorySource, ProcRoot};
use assay_model::{CodePlace, FrameKind, SampledFrame};
use std::collections::{BTreeSet, HashMap};

/// Libraries whose symbols are read.
const LIBRARIES_MAX: usize = 64;
/// Longest name of a function that is kept.
const NAME_CHARS_MAX: usize = 200;
/// The C library, its loader and what used to be files of their own, by glibc's and musl's names.
const C_LIBRARY: [&str; 12] = [
    "libc.so",
    "libc-2",
    "libc.musl",
    "ld-linux",
    "ld-musl",
    "ld-2",
    "ld.so",
    "libpthread",
    "libm.so",
    "libm-2",
    "libdl",
    "librt",
];

/// The code at an address.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct CodeLocation {
    pub(crate) place: CodePlace,
    /// Name of a native library.
    pub(crate) library: Option<String>,
    pub(crate) frame: SampledFrame,
}

impl CodeLocation {
    pub(crate) fn unknown() -> CodeLocation {
        CodeLocation::named(CodePlace::Unknown, "unknown code", FrameKind::Native)
    }

    fn named(place: CodePlace, name: &str, kind: FrameKind) -> CodeLocation {
        let name = name.chars().take(NAME_CHARS_MAX).collect();
        CodeLocation { place, library: None, frame: SampledFrame { name, kind } }
    }
}

/// Looks addresses up in the process as it is now. `methods`: names of compiled ones, where the JVM was asked for them.
///
/// # Errors
/// When the process is gone or belongs to somebody else.
pub(crate) fn place_all(
    proc: &ProcRoot,
    pid: u32,
    addresses: &BTreeSet<u64>,
    methods: Option<&PerfMap>,
) -> Result<HashMap<u64, CodeLocation>, LinuxError> {
    let process = LiveProcess::open(proc, pid)?;
    let memory = CachedMemory::new(&process);
    let hotspot = Hotspot::open(&memory).ok().flatten();
    let mut finder = Finder {
        code_cache: hotspot.as_ref().and_then(Hotspot::code_cache),
        hotspot: hotspot.as_ref(),
        memory: &memory,
        program: proc.read_program_path(pid).ok().map(|path| path.display().to_string()),
        libraries: HashMap::new(),
        methods,
    };
    Ok(addresses.iter().map(|address| (*address, finder.find(*address))).collect())
}

struct Finder<'a> {
    code_cache: Option<CodeCache>,
    hotspot: Option<&'a Hotspot<'a>>,
    memory: &'a dyn MemorySource,
    program: Option<String>,
    libraries: HashMap<&'a str, Option<Symbols>>,
    methods: Option<&'a PerfMap>,
}

impl<'a> Finder<'a> {
    fn find(&mut self, address: u64) -> CodeLocation {
        if let Some(placed) = self.code_cache.as_ref().and_then(|cache| in_code_cache(cache, address)) {
            return match self.methods.and_then(|methods| methods.name_at(address)) {
                Some(method) if placed.place == CodePlace::CompiledJava => {
                    CodeLocation::named(placed.place, &without_arguments(method), FrameKind::Java)
                }
                _ => placed,
            };
        }
        let mappings = self.memory.mappings();
        let index = mappings.partition_point(|mapping| mapping.addresses.end <= address);
        match mappings.get(index).filter(|mapping| mapping.addresses.contains(&address)) {
            Some(mapping) => self.in_mapping(mapping, address),
            None => CodeLocation::unknown(),
        }
    }

    fn in_mapping(&mut self, mapping: &'a Mapping, address: u64) -> CodeLocation {
        if mapping.name == "[vdso]" {
            return CodeLocation::named(CodePlace::Vdso, "vdso", FrameKind::Native);
        }
        if !mapping.is_file() || !mapping.name.starts_with('/') {
            return CodeLocation::unknown();
        }
        let path = mapping.name.trim_end_matches(" (deleted)");
        if let Some(hotspot) = self.hotspot.filter(|hotspot| hotspot.symbols().path() == mapping.name) {
            let Some(function) = hotspot.symbols().function_at(address) else {
                return CodeLocation::named(CodePlace::Jvm, "libjvm", FrameKind::Jvm);
            };
            return CodeLocation::named(
                jvm_group_of(&function),
                &without_arguments(&function),
                FrameKind::Jvm,
            );
        }
        let file = path.rsplit('/').next().unwrap_or(path);
        let function = self.symbols_of(mapping).and_then(|symbols| symbols.function_at(address));
        let name = function
            .map_or_else(|| file.to_owned(), |function| format!("{} ({file})", without_arguments(&function)));
        let is_program =
            self.program.as_deref().is_some_and(|own| own.trim_end_matches(" (deleted)") == path);
        let place = if is_program {
            CodePlace::Program
        } else if C_LIBRARY.iter().any(|own| file.starts_with(own)) {
            CodePlace::CLibrary
        } else {
            CodePlace::NativeLibrary
        };
        let library = (place == CodePlace::NativeLibrary).then(|| file.to_owned());
        CodeLocation { library, ..CodeLocation::named(place, &name, FrameKind::Native) }
    }

    fn symbols_of(&mut self, mapping: &'a Mapping) -> Option<&Symbols> {
        let path = mapping.name.as_str();
        if !self.libraries.contains_key(path) && self.libraries.len() < LIBRARIES_MAX {
            self.libraries.insert(path, Symbols::of_mapped_file(self.memory, mapping).ok());
        }
        self.libraries.get(path)?.as_ref()
    }
}

/// The JVM's entry at an address of its code cache.
fn in_code_cache(cache: &CodeCache, address: u64) -> Option<CodeLocation> {
    let heap = cache.heaps.iter().find(|heap| heap.reserved.contains(&address))?;
    let index = heap.blobs.partition_point(|blob| blob.addresses.end <= address);
    let blob = heap.blobs.get(index).filter(|blob| blob.addresses.contains(&address));
    let generated = |place: CodePlace| CodeLocation::named(place, place.title(), FrameKind::Generated);
    Some(match blob.map(|blob| (blob.kind, &*blob.name)) {
        Some((BlobKind::Method, _)) => {
            CodeLocation::named(CodePlace::CompiledJava, CodePlace::CompiledJava.title(), FrameKind::Java)
        }
        Some((BlobKind::NativeMethod, _)) => generated(CodePlace::NativeWrappers),
        // The only name of a blob that the JVM gives to its interpreter.
        Some((BlobKind::Stub | BlobKind::Buffer, "Interpreter")) => {
            CodeLocation::named(CodePlace::Interpreter, CodePlace::Interpreter.title(), FrameKind::Java)
        }
        Some((BlobKind::Adapter | BlobKind::Stub | BlobKind::Buffer, name)) => {
            CodeLocation::named(CodePlace::Stubs, name, FrameKind::Generated)
        }
        None => generated(CodePlace::CodeCache),
    })
}

/// `G1Foo::bar` of `void G1Foo::bar<int>(char*) const`.
fn without_arguments(function: &str) -> String {
    let mut depth = 0u32;
    let mut name = String::new();
    for c in function.chars() {
        match c {
            '<' => depth += 1,
            '>' => depth = depth.saturating_sub(1),
            '(' if depth == 0 && !name.is_empty() => break,
            ' ' if depth == 0 => name.clear(),
            c if depth == 0 => name.push(c),
            _ => {}
        }
    }
    if name.is_empty() { function.to_owned() } else { name }
}

#[cfg(test)]
mod tests {
    use super::*;
    use assay_hotspot::{CodeBlob, CodeHeap};
    use assay_model::FigureSource;

    fn blob(start: u64, kind: BlobKind, name: &str) -> CodeBlob {
        CodeBlob { addresses: start..start + 0x10, kind, malloc_parts: Vec::new(), name: name.into() }
    }

    #[test]
    fn the_jvm_s_own_blobs_decide_what_is_in_the_code_cache() {
        let blobs = vec![
            blob(0x1000, BlobKind::Stub, "Interpreter"),
            blob(0x1010, BlobKind::Stub, "StubRoutines (1)"),
            blob(0x1030, BlobKind::Method, "nmethod"),
            blob(0x1040, BlobKind::NativeMethod, "native nmethod"),
            blob(0x1050, BlobKind::Adapter, "I2C/C2I adapters"),
        ];
        let heap = CodeHeap {
            name: "CodeCache".to_owned(),
            reserved: 0x1000..0x9000,
            committed: 0x1000..0x2000,
            segment_map: 0..0,
            blobs,
            used_bytes: 0,
            frontier: 0x1060,
        };
        let cache = CodeCache { heaps: vec![heap], known_from: FigureSource::VmStructs };
        let place = |address| in_code_cache(&cache, address).map(|placed| placed.place);
        assert_eq!(place(0xfff), None);
        assert_eq!(place(0x100f), Some(CodePlace::Interpreter));
        assert_eq!(place(0x1010), Some(CodePlace::Stubs));
        assert_eq!(place(0x1020), Some(CodePlace::CodeCache), "nothing is there any more");
        assert_eq!(place(0x1035), Some(CodePlace::CompiledJava));
        assert_eq!(place(0x1040), Some(CodePlace::NativeWrappers));
        assert_eq!(place(0x1050), Some(CodePlace::Stubs));
        assert_eq!(place(0x8fff), Some(CodePlace::CodeCache));
        assert_eq!(place(0x9000), None);
    }

    #[test]
    fn names_of_functions_lose_their_arguments() {
        for (function, name) in [
            ("void G1Foo::bar<int>(char*) const", "G1Foo::bar"),
            ("epoll_wait", "epoll_wait"),
            ("std::vector<int (*)(), A>::push(int)", "std::vector::push"),
            ("", ""),
        ] {
            assert_eq!(without_arguments(function), name);
        }
    }
}
