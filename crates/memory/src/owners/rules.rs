//! What the JVM's own names say about an owner: classes by their vtable, statics by their symbol, tags of native memory
//! tracking.

use assay_model::Area;

/// An area and the entry in it.
pub(crate) type Owner = (Area, &'static str);

const CLASSES: Owner = (Area::ClassMetadata, "malloc");
const MODULES: Owner = (Area::ClassMetadata, "modules and packages");
const SYMBOLS: Owner = (Area::JvmWork, "symbols");
const STRINGS: Owner = (Area::JvmWork, "strings");
const THREADS: Owner = (Area::JvmWork, "threads");
const LOCKS: Owner = (Area::JvmWork, "synchronizer");
const SERVICES: Owner = (Area::JvmWork, "services");
const TRACING: Owner = (Area::JvmWork, "tracing");
const LOGGING: Owner = (Area::JvmWork, "logging");
const ARGUMENTS: Owner = (Area::JvmWork, "arguments");
const SAFEPOINT: Owner = (Area::JvmWork, "safepoint");
/// References of native code to Java objects.
pub(crate) const JNI_REFERENCES: Owner = (Area::JvmWork, "JNI references");
const INTERNAL: Owner = (Area::JvmWork, "internal");
const TRACKING: Owner = (Area::JvmWork, "native memory tracking");
const STATISTICS: Owner = (Area::JvmWork, "statistics");
const COMPILER: Owner = (Area::JitWork, "compiler data");
const ARENAS: Owner = (Area::JitWork, "arenas");
const CODE: Owner = (Area::JitCode, "malloc parts");
const COLLECTOR: Owner = (Area::GcStructures, "malloc");
const REMEMBERED: Owner = (Area::GcStructures, "remembered sets");
/// The entry of what Java code allocates through `Unsafe`, where no object leads to it.
pub(crate) const JAVA_OBJECTS: &str = "native memory of Java objects";
const UNSAFE: Owner = (Area::Buffers, JAVA_OBJECTS);

/// What a tag of native memory tracking names, by the JVM's own spelling of it (JDK 8 to 25).
pub(crate) fn of_tag(tag: &str) -> Owner {
    match tag {
        "Class" | "Metaspace" | "Shared class space" => CLASSES,
        "Module" => MODULES,
        "Thread" | "Thread Stack" => THREADS,
        "Code" => CODE,
        "GC" | "Java Heap" | "String Deduplication" => COLLECTOR,
        "GCCardSet" => REMEMBERED,
        "Compiler" | "JVMCI" => COMPILER,
        "Arena Chunk" => ARENAS,
        "Other" => UNSAFE,
        "Symbol" => SYMBOLS,
        "Native Memory Tracking" => TRACKING,
        "Tracing" => TRACING,
        "Logging" => LOGGING,
        "Arguments" => ARGUMENTS,
        "Safepoint" => SAFEPOINT,
        "Synchronization" | "Synchronizer" | "Object Monitors" => LOCKS,
        "Serviceability" => SERVICES,
        "Statistics" => STATISTICS,
        _ => INTERNAL,
    }
}

/// Beginnings of names in the JVM, and what they own. The longest that fits holds.
///
/// The names are those of HotSpot's classes and statics in 17 and 25; what a class allocates is tagged so in its source
/// (`CHeapObj<mtGC>` and the like). Held by: `owners_agree_with_the_tags_that_were_hidden`.
const OWNERS: &[(&str, Owner)] = &[
    ("AbstractGangTask", COLLECTOR),
    ("AdapterHandler", CODE),
    ("AdaptiveSize", COLLECTOR),
    ("Arguments", ARGUMENTS),
    ("AsyncLog", LOGGING),
    ("AttachListener", SERVICES),
    ("BarrierSet", COLLECTOR),
    ("BufferBlob", CODE),
    ("BufferNode", COLLECTOR),
    ("C2Compiler", COMPILER),
    ("CDS", CLASSES),
    ("Card", COLLECTOR),
    ("Cgroup", INTERNAL),
    ("ChunkManager", CLASSES),
    ("ChunkPool", ARENAS),
    ("ClassLoader", CLASSES),
    ("ClassLoadingService", SERVICES),
    ("ClassPath", CLASSES),
    ("CodeBlob", CODE),
    ("CodeCache", CODE),
    ("CodeHeap", CODE),
    ("CollectedHeap", COLLECTOR),
    ("CollectorPolicy", COLLECTOR),
    ("Compilation", COMPILER),
    ("Compile", COMPILER),
    ("Compiler", COMPILER),
    ("ConcurrentGCThread", COLLECTOR),
    ("ConcurrentMark", COLLECTOR),
    ("DCmd", SERVICES),
    ("DependencyContext", CODE),
    ("Dictionary", CLASSES),
    ("Directives", COMPILER),
    ("DirtyCard", COLLECTOR),
    ("ExceptionCache", CODE),
    ("EventLog", INTERNAL),
    ("FileMapInfo", CLASSES),
    ("FlatProfiler", SERVICES),
    ("FreeRegionList", COLLECTOR),
    ("G1", COLLECTOR),
    ("G1CardSet", REMEMBERED),
    ("GC", COLLECTOR),
    ("GCHeapLog", INTERNAL),
    ("GCMetaspaceLog", INTERNAL),
    ("Gang", COLLECTOR),
    ("GangWorker", THREADS),
    ("Gen", COLLECTOR),
    ("GenericTaskQueue", COLLECTOR),
    ("HeapDump", SERVICES),
    ("HeapRegion", COLLECTOR),
    ("HeapShared", CLASSES),
    ("ICStub", CODE),
    ("ImmutableOopMap", CODE),
    ("InlineCacheBuffer", CODE),
    ("InstanceKlass", CLASSES),
    ("JNIHandle", JNI_REFERENCES),
    ("JNIMethodBlock", CLASSES),
    ("JVMCI", COMPILER),
    ("JVMFlag", ARGUMENTS),
    ("JavaThread", THREADS),
    ("Jfr", TRACING),
    ("Jvmti", SERVICES),
    ("Klass", CLASSES),
    ("LoaderConstraint", CLASSES),
    ("Log", LOGGING),
    ("LowMemoryDetector", SERVICES),
    ("MallocSite", TRACKING),
    ("Management", SERVICES),
    ("Matcher", COMPILER),
    ("MemBaseline", TRACKING),
    ("MemReporter", TRACKING),
    ("MemTracker", TRACKING),
    ("MemoryFileTracker", TRACKING),
    ("MemoryManager", SERVICES),
    ("MemoryPool", SERVICES),
    ("MemoryService", SERVICES),
    ("Metachunk", CLASSES),
    ("Metaspace", CLASSES),
    ("MethodArityHistogram", COMPILER),
    ("MethodData", CLASSES),
    ("MethodMatcher", COMPILER),
    ("ModRefBarrier", COLLECTOR),
    ("ModuleEntry", MODULES),
    ("Modules", MODULES),
    ("Monitor", LOCKS),
    ("Mutable", COLLECTOR),
    ("Mutex", LOCKS),
    ("NMT", TRACKING),
    ("Node", COMPILER),
    ("ObjectMonitor", LOCKS),
    ("ObjectSynchronizer", LOCKS),
    ("OldGen", COLLECTOR),
    ("OopMapCache", CLASSES),
    ("OopMapSet", CODE),
    ("OopStorage", COLLECTOR),
    ("OptoRuntime", COMPILER),
    ("PLAB", COLLECTOR),
    ("PS", COLLECTOR),
    ("PackageEntry", MODULES),
    ("Par", COLLECTOR),
    ("Parallel", COLLECTOR),
    ("ParkEvent", LOCKS),
    ("Parker", LOCKS),
    ("Placeholder", CLASSES),
    ("PlatformEvent", LOCKS),
    ("PreservedMarks", COLLECTOR),
    ("ProtectionDomain", CLASSES),
    ("PtrQueue", COLLECTOR),
    ("ReferenceProcessor", COLLECTOR),
    ("ResolutionError", CLASSES),
    ("ResolvedMethodTable", CLASSES),
    ("Runtime1", COMPILER),
    ("RuntimeService", SERVICES),
    ("SATB", COLLECTOR),
    ("Safepoint", SAFEPOINT),
    ("Serial", COLLECTOR),
    ("ServiceThread", SERVICES),
    ("ServiceUtil", SERVICES),
    ("SharedHeap", COLLECTOR),
    ("Shenandoah", COLLECTOR),
    ("SoftRefPolicy", COLLECTOR),
    ("StackChunk", THREADS),
    ("StringDedup", COLLECTOR),
    ("StringTable", STRINGS),
    ("StubCodeDesc", CODE),
    ("StubQueue", CODE),
    ("SuspendibleThreadSet", COLLECTOR),
    ("SymbolTable", SYMBOLS),
    ("SystemDictionary", CLASSES),
    ("TaskQueue", COLLECTOR),
    ("TaskTerminator", COLLECTOR),
    ("Tenured", COLLECTOR),
    ("Thread", THREADS),
    ("ThreadHeapSampler", SERVICES),
    ("ThreadService", SERVICES),
    ("VMThread", THREADS),
    ("VirtualMemory", TRACKING),
    ("WatcherThread", THREADS),
    ("Work", COLLECTOR),
    ("X", COLLECTOR),
    ("Young", COLLECTOR),
    ("Z", COLLECTOR),
    ("ci", COMPILER),
    ("_adapter_handler_table", CODE),
    ("_invoke_method", CLASSES),
    ("_loader_constraint", CLASSES),
    ("_pd_cache_table", CLASSES),
    ("_placeholders", CLASSES),
    ("_resolution_errors", CLASSES),
    ("gInflationLocks", LOCKS),
    ("metaspace::", CLASSES),
    ("nmethod", CODE),
    ("vmClasses", CLASSES),
];

/// Ends of the names of classes that are threads, whomever they work for.
const THREAD_CLASSES: [&str; 2] = ["Thread", "WorkerThread"];

/// What a class or a static of the JVM owns, by its C++ name without template arguments; internal matters when no rule
/// knows it.
pub(crate) fn of_name(name: &str) -> Owner {
    let class = name.split("::").next().unwrap_or(name);
    if THREAD_CLASSES.iter().any(|end| class.ends_with(end)) {
        return THREADS;
    }
    let fits = OWNERS.iter().filter(|(start, _)| is_beginning(name, start));
    fits.max_by_key(|(start, _)| start.len()).map_or(INTERNAL, |(_, owner)| *owner)
}

/// Whether a rule knows a name.
pub(crate) fn is_known(name: &str) -> bool {
    OWNERS.iter().any(|(start, _)| is_beginning(name, start))
}

/// `X` and `Z` are the prefixes of the two ZGCs: `ZHeap`, but not `Zip`.
fn is_beginning(name: &str, start: &str) -> bool {
    let Some(rest) = name.strip_prefix(start) else { return false };
    start.len() > 1 || rest.starts_with(|letter: char| letter.is_ascii_uppercase())
}

/// The tables of references into the Java heap, by the names that they have in 17 and 25.
pub(crate) fn of_oop_storage(name: &str) -> Owner {
    match name.split(' ').next() {
        Some("StringTable") => STRINGS,
        Some("ResolvedMethodTable" | "ClassLoaderData" | "Nmethod") => CLASSES,
        Some("StringDedup") => COLLECTOR,
        Some("ThreadService" | "JVMTI" | "JvmtiTagMap") => SERVICES,
        Some("ObjectSynchronizer" | "ObjectMonitor") => LOCKS,
        Some("Thread" | "ThreadIdTable") => THREADS,
        Some("JNI") => JNI_REFERENCES,
        Some("Jfr" | "JFR") => TRACING,
        _ => INTERNAL,
    }
}

/// Java classes that hold pointers to structures of the JVM itself, and what those are.
pub(crate) fn of_java_class(name: &str) -> Option<Owner> {
    match name {
        "java.lang.Thread" | "jdk.internal.misc.CarrierThread" => Some(THREADS),
        "java.lang.Class" | "java.lang.invoke.MemberName" | "java.lang.invoke.ResolvedMethodName" => {
            Some(CLASSES)
        }
        "java.lang.Module" => Some(MODULES),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_longest_beginning_holds() {
        assert_eq!(of_name("G1CardSetFreePool"), REMEMBERED);
        assert_eq!(of_name("G1CollectedHeap"), COLLECTOR);
        assert_eq!(of_name("ThreadService::_threads"), SERVICES);
        assert_eq!(of_name("Zip"), INTERNAL);
        assert_eq!(of_name("ZHeap::_heap"), COLLECTOR);
        assert_eq!(of_name("SomethingNew"), INTERNAL);
        assert_eq!(of_name("JNIHandles::_global_handles"), JNI_REFERENCES);
        assert_eq!(of_oop_storage("JNI Weak"), JNI_REFERENCES);
    }
}
