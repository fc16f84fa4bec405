//! A JVM whose libjvm was stripped: what is lost, what is not, and what separate debug information brings back.

use crate::support::{Jvm, javas};
use assay_hotspot::Hotspot;
use assay_model::{FigureSource, ThreadKind};
use assay_testkit::{skip, stripped_java};
use std::path::Path;

#[test]
fn a_stripped_libjvm_still_tells_heap_cards_threads_and_flags() {
    let Some((feature, java)) = javas(64).into_iter().next() else { skip!("no 64-bit JDK") };
    let folder = tempfile::tempdir().expect("a temporary folder");
    let Some(java) = stripped_java(&java, folder.path(), false) else { skip!("no strip") };
    for collector in ["-XX:+UseSerialGC", "-XX:+UseG1GC", "-XX:+UseParallelGC"] {
        let jvm = Jvm::start(&java, &[collector]).expect("a JVM");
        let process = jvm.process();
        let hotspot = Hotspot::open(&process).expect("readable").expect("a JVM");
        assert_eq!(hotspot.version().map(|v| v.feature), Some(feature));
        assert!(!hotspot.symbols().has_symtab() && hotspot.symbols().known_from() == FigureSource::VmStructs);
        assert!(32 << 20 <= hotspot.heap().expect("a heap").used_bytes());
        assert!(hotspot.gc_tables().iter().any(|t| t.name == "card table"), "{:?}", hotspot.gc_tables());
        let threads = hotspot.threads();
        assert!(12 < threads.iter().filter(|t| t.kind == ThreadKind::Java).count(), "{threads:?}");
        // What is missing is said.
        let problems = hotspot.problems();
        assert!(problems.iter().any(|p| p.about == "threads"), "{problems:?}");
    }
}

#[test]
fn debug_information_of_the_same_build_stands_in_for_the_symbols() {
    let Some((_, java)) = javas(64).into_iter().next() else { skip!("no 64-bit JDK") };
    let folder = tempfile::tempdir().expect("a temporary folder");
    let Some(java) = stripped_java(&java, folder.path(), true) else { skip!("no objcopy") };
    let jvm = Jvm::start(&java, &[]).expect("a JVM");
    let process = jvm.process();
    let source_and_names = || {
        let hotspot = Hotspot::open(&process).expect("readable").expect("a JVM");
        let named = hotspot.threads().iter().filter(|t| t.name.is_some()).count();
        (hotspot.symbols().known_from(), named)
    };
    let (known_from, named) = source_and_names();
    assert_eq!(known_from, FigureSource::DebugInfo);
    assert!(20 < named, "{named}");
    // Anybody could have written a file that the world may write to.
    use std::os::unix::fs::PermissionsExt;
    let debug = folder.path().join("home/lib/server/libjvm.so.debug");
    std::fs::set_permissions(&debug, std::fs::Permissions::from_mode(0o666)).expect("our file");
    assert_eq!(source_and_names().0, FigureSource::VmStructs);
    // And another build's file is not this one's.
    let other = javas(64).into_iter().next_back().expect("a JDK").1;
    let other = other.parent().and_then(Path::parent).expect("a home").join("lib/server/libjvm.so");
    std::fs::set_permissions(&debug, std::fs::Permissions::from_mode(0o644)).expect("our file");
    std::fs::write(&debug, std::fs::read(other).expect("a library")).expect("our file");
    assert_eq!(source_and_names().0, FigureSource::VmStructs);
}
