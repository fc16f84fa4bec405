//! The function of an allocator that returns freed memory to the kernel, as it has to be called in the process.
//!
//! glibc: `malloc_trim(0)`. jemalloc from 5.0: `mallctl("arena.4096.purge")`, all arenas (`MALLCTL_ARENAS_ALL` of its manual).
//! gperftools: `MallocExtension_ReleaseFreeMemory()` of `malloc_extension_c.h`.

use crate::find::{c_library_by_name, file_name, find, objects};
use crate::{HeapKind, Survey, library};
use assay_linux::{CallArgument, FunctionCall, Mapping, MemorySource};
use assay_model::Allocator;
use object::{Object, ObjectSegment, ObjectSymbol, ReadCache, SegmentFlags, elf};
use std::fs::File;

/// `mov $15, %rax; syscall`: glibc's end of a signal handler, in every release for x86-64.
const RESTORE: [u8; 9] = [0x48, 0xc7, 0xc0, 0x0f, 0, 0, 0, 0x0f, 0x05];
/// Code of a C library; glibc has 1.4 MiB.
const CODE_BYTES_MAX: u64 = 64 << 20;
/// All arenas, with the zero that ends a C string.
const PURGE_ALL: &[u8] = b"arena.4096.purge\0";

/// A call that gives freed memory back.
#[derive(Debug, Clone)]
pub struct GiveBack {
    /// It, as a programmer would write it.
    pub name: &'static str,
    /// What to call.
    pub call: FunctionCall<'static>,
}

/// Finds the function of a process's allocator. `survey` is of the same moment.
///
/// # Errors
/// Why there is none that can be called, as a clause.
pub fn give_back(source: &dyn MemorySource, survey: &Survey) -> Result<GiveBack, String> {
    let found = find(source).ok_or("no allocator was found in it")?;
    let mut own: Vec<_> = survey
        .ranges
        .iter()
        .filter(|of| of.kind == HeapKind::Metadata)
        .map(|of| of.addresses.clone())
        .collect();
    own.extend(library::read(source, found.object).map(|library| library.variables));
    let (name, symbols, arguments): (_, &[&[u8]], _) = match found.kind {
        Allocator::Glibc => ("malloc_trim(0)", &[b"malloc_trim"], vec![CallArgument::Word(0)]),
        Allocator::Jemalloc => {
            let major =
                survey.version.as_deref().and_then(|version| version.split('.').next()?.parse::<u32>().ok());
            if major.is_none_or(|major| major < 5) {
                return Err("its jemalloc is older than 5.0, or of an unknown release".to_owned());
            }
            let purge = [CallArgument::Bytes(PURGE_ALL)].into_iter().chain([CallArgument::Word(0); 4]);
            ("mallctl(\"arena.4096.purge\")", &[b"mallctl", b"je_mallctl"], purge.collect())
        }
        Allocator::Tcmalloc => {
            ("MallocExtension_ReleaseFreeMemory()", &[b"MallocExtension_ReleaseFreeMemory"], Vec::new())
        }
        other => return Err(format!("{other} has no function that is known to give memory back")),
    };
    // Each arena begins with its lock.
    let locks = match found.kind {
        Allocator::Glibc if survey.arenas.is_empty() => return Err("no arena of malloc was found".to_owned()),
        Allocator::Glibc => survey.arenas.iter().map(|arena| arena.address).collect(),
        _ => Vec::new(),
    };
    let function = exported(source, found.object, symbols);
    let function =
        function.ok_or_else(|| format!("{} does not export the function", file_name(found.object)))?;
    let restore = objects(source)
        .into_iter()
        .filter(|object| c_library_by_name(file_name(object)) == Some(Allocator::Glibc));
    let restore = restore.filter_map(|object| restore_in(source, object)).next();
    let restore = restore.ok_or("its C library is not glibc for x86-64")?;
    Ok(GiveBack { name, call: FunctionCall { function, arguments, restore, locks, own } })
}

/// Address of the first of these functions that an object exports.
fn exported(source: &dyn MemorySource, first: &Mapping, names: &[&[u8]]) -> Option<u64> {
    with_object(source, first, |file, bias| {
        let of = |name: &&[u8]| {
            file.dynamic_symbols().find(|symbol| symbol.is_definition() && symbol.name_bytes() == Ok(*name))
        };
        bias.checked_add(names.iter().find_map(of)?.address())
    })
}

/// Address of the code that ends a signal handler.
fn restore_in(source: &dyn MemorySource, first: &Mapping) -> Option<u64> {
    with_object(source, first, |file, bias| {
        let is_code =
            |flags| matches!(flags, SegmentFlags::Elf { p_flags, .. } if p_flags.contains(elf::PF_X));
        let code =
            file.segments().filter(|segment| is_code(segment.flags()) && segment.size() <= CODE_BYTES_MAX);
        let mut found = code.filter_map(|segment| {
            let at = memchr::memmem::find(segment.data().ok()?, &RESTORE)?;
            bias.checked_add(segment.address())?.checked_add(at as u64)
        });
        found.next()
    })
}

/// The file of an object, and by how much the process has moved it.
fn with_object<T>(
    source: &dyn MemorySource,
    first: &Mapping,
    look: impl for<'a> FnOnce(&object::File<'a, &'a ReadCache<File>>, u64) -> Option<T>,
) -> Option<T> {
    let cache = ReadCache::new(source.open_mapped_file(first).ok()?);
    let file = object::File::<&ReadCache<File>>::parse(&cache).ok()?;
    look(&file, library::bias(&file, first)?)
}
