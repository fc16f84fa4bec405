//! Where pointers to malloc's blocks start: the surest first, since who comes first owns.

use super::holders::{ARRAY_BYTES, Holders, OBJECT_BYTES, entry_of_class};
use super::rules::{JNI_REFERENCES, Owner, is_known, of_name, of_oop_storage};
use super::search::Search;
use crate::entry_table::{EntryId, EntryTable};
use crate::jvm::Jvm;
use crate::mapped::library_name;
use crate::stacks::stack_in_use;
use assay_hotspot::{JavaHeap, Symbols};
use assay_model::{Area, FigureSource, Problem, ThreadKind};
use std::collections::{HashMap, HashSet};
use std::ops::Range;
use std::path::Path;

/// `OopStorageSet::_storages`: pointers to the storages (JDK 14 and later).
const OOP_STORAGES: &str = "_ZN13OopStorageSet9_storagesE";
/// Its tables of references of native code: storages, and lists of blocks until JDK 10. Their symbols, and their names among what it exports.
const JNI_HANDLES: [(&str, &str); 2] = [
    ("_ZN10JNIHandles15_global_handlesE", "_global_handles"),
    ("_ZN10JNIHandles20_weak_global_handlesE", "_weak_global_handles"),
];
const OOP_STORAGE_BYTES_MAX: u64 = 512;
const NAME_BYTES_MAX: usize = 64;
/// How far a neighbour of a static is looked for, in words.
const NEIGHBOUR_WORDS: i64 = 16;
/// What the JDK's own libraries keep, by library.
pub(crate) const JDK_LIBRARIES: &str = "libraries of the JDK";
/// Blocks to which nothing but stacks leads.
pub(crate) const ON_STACKS: &str = "on stacks only";
/// Tables that lead to tables are followed so far.
const REGION_STEPS_MAX: usize = 8;

/// Takes all roots, one kind after the other, and follows each to its end.
pub(crate) fn take_all(search: &mut Search<'_>, jvm: Option<&Jvm<'_>>, entries: &mut EntryTable) {
    if let Some(jvm) = jvm {
        take_code_parts(search, jvm, entries);
        take_known_structures(search, jvm, entries);
        take_oop_storages(search, jvm, entries);
        rename_jni_references(search, jvm, entries);
        take_java_objects(search, jvm, entries, OBJECT_BYTES, is_buffer);
        take_statics(search, jvm, entries);
        take_collector_tables(search, jvm, entries);
        search.follow();
        take_jni_reference_parts(search, jvm);
        take_nameless_statics(search, jvm, entries);
        search.follow();
    }
    take_libraries(search, jvm, entries);
    search.follow();
    let mut regions = HashSet::new();
    take_regions(search, &mut regions);
    if let Some(jvm) = jvm {
        take_metadata(search, jvm, entries);
        search.follow();
        take_java_objects(search, jvm, entries, ARRAY_BYTES, |_| true);
        search.follow();
        take_stacks(search, jvm, entries);
        search.follow();
        search.take_lost_chunks(entries.entry(Area::JitWork, &["arenas"], FigureSource::Content));
        take_regions(search, &mut regions);
    }
    search.follow_insides();
}

fn take_code_parts(search: &mut Search<'_>, jvm: &Jvm<'_>, entries: &mut EntryTable) {
    let Some(code) = &jvm.code else { return };
    let entry = entries.explained(
        Area::JitCode,
        &["malloc parts"],
        code.known_from,
        "what compiled methods keep outside the code cache: relocations, debug information",
    );
    let blobs = code.heaps.iter().flat_map(|heap| &heap.blobs);
    for part in blobs.flat_map(|blob| &blob.malloc_parts) {
        search.take_block(*part, entry);
    }
}

/// Structures whose addresses the JVM exports: class loaders' data and threads.
fn take_known_structures(search: &mut Search<'_>, jvm: &Jvm<'_>, entries: &mut EntryTable) {
    if let Some(metaspace) = &jvm.metaspace {
        let entry = entries.entry(Area::ClassMetadata, &["malloc"], FigureSource::Pointers);
        for loader in &metaspace.loaders {
            search.take_block(loader.address, entry);
        }
    }
    let entry = entries.entry(Area::JvmWork, &["threads"], FigureSource::Pointers);
    for thread in &jvm.threads {
        search.take_block(thread.address, entry);
    }
}

/// Tables of the collector that hold pointers: of its pages or regions, and where those were moved to.
fn take_collector_tables(search: &mut Search<'_>, jvm: &Jvm<'_>, entries: &mut EntryTable) {
    let entry = entries.entry(Area::GcStructures, &["malloc"], FigureSource::Pointers);
    let of_pointers = |name: &str| ["page table", "forwarding table", "region table"].contains(&name);
    for table in jvm.gc_tables.iter().filter(|table| of_pointers(&table.name)) {
        search.take_roots(table.addresses.clone(), |_, _| Some(entry));
    }
}

/// The tables of references that the JVM holds into the Java heap: each has a name, which identifies its owner.
fn take_oop_storages(search: &mut Search<'_>, jvm: &Jvm<'_>, entries: &mut EntryTable) {
    let (symbols, source) = (jvm.hotspot.symbols(), search.source);
    let Some(table) = symbols.address(OOP_STORAGES) else { return };
    let Some(size) = symbols.size_at(table) else { return };
    for slot in (0..size.min(OOP_STORAGE_BYTES_MAX)).step_by(8) {
        let Some(storage) = source.u64(table + slot) else { continue };
        // Its first field is the name; one that is not text is of another release's layout.
        let name = source.u64(storage).and_then(|name| symbols.c_string(source, name, NAME_BYTES_MAX));
        let Some((area, entry)) = name.map(|name| of_oop_storage(&name)) else { continue };
        // Not as other blocks are followed: places of its parts that were never used may hold addresses of anybody's.
        search.take_table(storage, entries.entry(area, &[entry], FigureSource::Pointers));
    }
}

/// References of native code to Java objects, which native memory tracking counts among the JVM's internal memory: a leak of them would
/// have neither name nor next step.
fn rename_jni_references(search: &mut Search<'_>, jvm: &Jvm<'_>, entries: &mut EntryTable) {
    let (area, name) = JNI_REFERENCES;
    for table in jni_reference_tables(search, jvm) {
        let tagged = search.owner_at(table).and_then(|owner| entries.keys().get(owner.index()));
        if tagged.is_some_and(|key| key.source == FigureSource::Nmt) {
            let entry = entries.entry(area, &[name], FigureSource::Pointers);
            search.rename_at(table, entry);
        }
    }
}

/// The parts of the tables of references of native code. Each part is aligned within its block, so that pointers lead into the middle of the
/// block: followed last as others are, the block would belong to any Java object that keeps the address of a reference.
fn take_jni_reference_parts(search: &mut Search<'_>, jvm: &Jvm<'_>) {
    // Blocks of the lists until JDK 10 do not name their table.
    let are_named = jvm.hotspot.version().is_some_and(|version| 11 <= version.feature);
    for table in jni_reference_tables(search, jvm) {
        search.take_parts(table, are_named);
    }
}

/// The addresses of the tables of references of native code.
fn jni_reference_tables(search: &Search<'_>, jvm: &Jvm<'_>) -> Vec<u64> {
    let (symbols, structs) = (jvm.hotspot.symbols(), jvm.hotspot.structs());
    let place = |(symbol, field): &(&str, &str)| {
        symbols.address(symbol).or_else(|| structs.static_address("JNIHandles", field))
    };
    JNI_HANDLES.iter().filter_map(place).filter_map(|place| search.source.u64(place)).collect()
}

/// The JVM's own variables, by the names of their symbols; without symbols, by the names that it exports for debuggers.
fn take_statics(search: &mut Search<'_>, jvm: &Jvm<'_>, entries: &mut EntryTable) {
    let symbols = jvm.hotspot.symbols();
    if !symbols.has_symtab() {
        let exported = jvm.hotspot.structs().statics().map(|(type_name, field, address)| {
            let (area, entry) = of_name(&format!("{type_name}::{field}"));
            (address, entries.entry(area, &[entry], FigureSource::Pointers))
        });
        let exported: HashMap<u64, EntryId> = exported.collect();
        for range in symbols.data_ranges().to_vec() {
            search.take_roots(range, |address, _| exported.get(&address).copied());
        }
        return;
    }
    let mut by_start: HashMap<u64, EntryId> = HashMap::new();
    for range in symbols.data_ranges().to_vec() {
        search.take_roots(range, |address, _| {
            let (name, offset) = symbols.name_at(address)?;
            let entry = by_start.entry(address - offset).or_insert_with(|| {
                let (area, entry) = static_owner(symbols, address - offset, name);
                entries.entry(area, &[entry], FigureSource::Pointers)
            });
            Some(*entry)
        });
    }
}

/// All other variables of a libjvm without symbols. Blocks that they lead to are the JVM's own, and nothing more is known of them.
fn take_nameless_statics(search: &mut Search<'_>, jvm: &Jvm<'_>, entries: &mut EntryTable) {
    let symbols = jvm.hotspot.symbols();
    if symbols.has_symtab() {
        return;
    }
    let entry = entries.explained(
        Area::JvmWork,
        &["variables without names"],
        FigureSource::Pointers,
        "libjvm has no symbols: it is the JVM's own, and may also be of the collector or the compilers",
    );
    for range in symbols.data_ranges().to_vec() {
        search.take_roots(range, |_, _| Some(entry));
    }
    let what = "libjvm has no symbols: objects held by its own variables alone are one entry, \"variables \
        without names\". A file with its debug information names more (package openjdk-*-dbg)";
    search.problems.push(Problem::new("owners", what));
}

/// The owner that a static stands for. The name of one that is private to its file does not show its class, but the linker keeps the
/// statics of a file together: a neighbour shows it.
fn static_owner(symbols: &Symbols, address: u64, name: &str) -> Owner {
    let name = readable(name);
    if name.contains("::") || is_known(&name) {
        return of_name(&name);
    }
    let near = |step: i64| {
        let beside = address.checked_add_signed(step)?;
        let (name, _) = symbols.name_at(beside)?;
        Some(readable(name)).filter(|name| is_known(name))
    };
    let neighbour = (1..=NEIGHBOUR_WORDS).find_map(|words| near(-8 * words).or_else(|| near(8 * words)));
    of_name(neighbour.as_deref().unwrap_or(&name))
}

/// Variables of other libraries: the C library, zlib, the JDK's own, those of the program; and of the program itself.
fn take_libraries(search: &mut Search<'_>, jvm: Option<&Jvm<'_>>, entries: &mut EntryTable) {
    let libjvm = jvm.map(|j| j.hotspot.symbols().path().to_owned());
    // It lies in a folder of its own beside the JDK's other libraries: `lib/server/libjvm.so`.
    let of_jdk = libjvm.as_deref().and_then(|path| Path::new(path).parent()?.parent());
    let variables = search.variables;
    for (path, range) in variables.ranges.iter().filter(|(path, _)| Some(*path) != libjvm.as_deref()) {
        let name = library_name(path);
        let entry = match of_jdk.is_some_and(|folder| Path::new(path).starts_with(folder)) {
            true => entries.entry(Area::JvmWork, &[JDK_LIBRARIES, &name], FigureSource::Pointers),
            false => entries.entry(Area::NativeLibraries, &[&name], FigureSource::Pointers),
        };
        search.take_roots(range.clone(), |_, _| Some(entry));
    }
}

/// Memory that somebody mapped for pointers to blocks, such as a table that has outgrown malloc: what it holds belongs
/// to whoever holds it. Such a table may lead to the next.
fn take_regions(search: &mut Search<'_>, taken: &mut HashSet<u64>) {
    for _ in 0..REGION_STEPS_MAX {
        let mut fresh = search.claimed_regions();
        fresh.retain(|(range, _)| taken.insert(range.start));
        if fresh.is_empty() {
            return;
        }
        for (range, owner) in fresh {
            search.take_roots(range, |_, _| Some(owner));
        }
        search.follow();
    }
}

/// Class metadata and compiled code.
fn take_metadata(search: &mut Search<'_>, jvm: &Jvm<'_>, entries: &mut EntryTable) {
    if let Some(metaspace) = &jvm.metaspace {
        let entry = entries.entry(Area::ClassMetadata, &["malloc"], FigureSource::Pointers);
        let nodes = metaspace.nodes.iter().map(|node| node.addresses.clone());
        for range in nodes.chain(metaspace.archive.iter().cloned()) {
            search.take_roots(range, |_, _| Some(entry));
        }
    }
    if let Some(code) = &jvm.code {
        let entry = entries.entry(Area::JitCode, &["malloc parts"], FigureSource::Pointers);
        for heap in &code.heaps {
            search.take_roots(heap.committed.clone(), |_, _| Some(entry));
        }
    }
}

/// Java objects: a pointer in the heap belongs to the object that it lies in, if its class is one of those asked for.
fn take_java_objects(
    search: &mut Search<'_>,
    jvm: &Jvm<'_>,
    entries: &mut EntryTable,
    reach_bytes: u64,
    is_asked_for: fn(&str) -> bool,
) {
    let Some(heap) = &jvm.heap else { return };
    let mut of_klasses: HashMap<u64, Option<EntryId>> = HashMap::new();
    for range in object_ranges(heap) {
        let mut holders = Holders::new(jvm, range.start, reach_bytes);
        search.take_roots_again(range, |address, _| {
            let Some(klass) = holders.klass_at(address) else {
                let name = "object not known";
                return is_asked_for(name)
                    .then(|| entries.entry(Area::Buffers, &[name], FigureSource::Pointers));
            };
            *of_klasses.entry(klass).or_insert_with(|| {
                let name = jvm.names.class_of_klass(klass).filter(|name| is_asked_for(name))?;
                Some(entry_of_class(&name, entries))
            })
        });
    }
}

/// Where objects lie in the Java heap, all of which is read: all of it where its spaces are not known.
pub(crate) fn object_ranges(heap: &JavaHeap) -> Vec<Range<u64>> {
    let used = heap.spaces.iter().filter(|s| s.name != "free").map(|s| s.addresses.start..s.top);
    if heap.spaces.is_empty() { heap.reserved.clone() } else { used.collect() }
}

/// Buffers and what frees them: their field is a pointer to malloc's heap and nothing else, so that they are believed
/// before any pointer of the JVM's own.
fn is_buffer(class: &str) -> bool {
    class.starts_with("java.nio.Direct") || class.starts_with("java.nio.Mapped")
}

/// Stacks, above the stack pointer: what a thread works on at the moment.
///
/// Leftovers of calls that have returned lie on the stack too, several times. So a stack claims only regions to which
/// nothing else leads: a region just mapped for a Java object would otherwise be the thread's. Held by
/// `known_amounts_are_told_on_jdk_25` (huge), which failed in one run of four.
fn take_stacks(search: &mut Search<'_>, jvm: &Jvm<'_>, entries: &mut EntryTable) {
    let source = search.source;
    let mut claimed: Vec<Range<u64>> = search.claimed_regions().into_iter().map(|(range, _)| range).collect();
    claimed.sort_unstable_by_key(|range| range.start);
    let is_claimed = |word: u64| {
        let next = claimed.partition_point(|range| range.end <= word);
        claimed.get(next).is_some_and(|range| range.contains(&word))
    };
    for thread in &jvm.threads {
        let Some(live) = stack_in_use(source, thread) else { continue };
        let (area, name) = match thread.kind {
            ThreadKind::Compiler => (Area::JitWork, "compiler data"),
            ThreadKind::Gc => (Area::GcStructures, "malloc"),
            ThreadKind::Java | ThreadKind::Vm | ThreadKind::Native | ThreadKind::Other => {
                // Not what the JVM keeps for each thread: it may be anybody's work under way.
                (Area::JvmWork, ON_STACKS)
            }
        };
        let entry = entries.entry(area, &[name], FigureSource::Pointers);
        search.take_roots(live, |_, word| (!is_claimed(word)).then_some(entry));
    }
}

/// A C++ name as it is written in the source, without parameters; others as they are.
fn readable(mangled: &str) -> String {
    let symbol = cpp_demangle::Symbol::new(mangled).ok();
    let options = cpp_demangle::DemangleOptions::new().no_params();
    symbol.and_then(|s| s.demangle_with_options(&options).ok()).unwrap_or_else(|| mangled.to_owned())
}
