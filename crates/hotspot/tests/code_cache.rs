//! The code cache against the JVM's own reports.

use crate::support::{Jvm, javas};
use assay_hotspot::{BlobKind, CodeCache, Hotspot};
use assay_linux::MemorySource;
use assay_testkit::{find_java, skip};
use std::collections::BTreeSet;
use std::path::Path;

/// The number behind a label like `nmethods=`.
fn number(text: &str, label: &str) -> Option<u64> {
    let digits = &text[text.find(label)? + label.len()..];
    digits[..digits.find(|c: char| !c.is_ascii_digit()).unwrap_or(digits.len())].parse().ok()
}

fn count(cache: &CodeCache, kinds: &[BlobKind]) -> u64 {
    let blobs = cache.heaps.iter().flat_map(|heap| &heap.blobs);
    blobs.filter(|blob| kinds.contains(&blob.kind)).count() as u64
}

fn check(java: &Path, options: &[&str]) {
    let jvm = Jvm::start(java, options).expect("a JVM");
    // What was asked to be compiled at the start is done, and what the command needs.
    jvm.jcmd(&["Compiler.codelist"]);
    let (mut before, mut attempts) = ([String::new(), String::new()], 0);
    let (cache, after, list, problems, word_bytes) = loop {
        let source = jvm.process();
        let hotspot = Hotspot::open(&source).expect("a readable JVM").expect("a JVM");
        let cache = hotspot.code_cache().expect("a code cache");
        // Both, since a method may be compiled between the two commands.
        let after = [jvm.jcmd(&["Compiler.codecache"]), jvm.jcmd(&["Compiler.codelist"])];
        if before == after {
            let [after, list] = after;
            break (cache, after, list, hotspot.problems(), source.word_bytes());
        }
        (before, attempts) = (after, attempts + 1);
        assert!(attempts < 50, "the JVM compiles without an end");
    };
    let own: Vec<_> = problems.iter().filter(|problem| problem.about == "code cache").collect();
    assert!(own.is_empty(), "{own:?}");

    // `CodeHeap 'profiled nmethods': size=120036Kb used=58Kb max_used=58Kb free=119977Kb`, or `CodeCache: size=...` when
    // there is one heap only.
    let mut heaps = 0;
    for line in after.lines().filter(|line| line.contains("max_used=")) {
        let name = line.split(':').next().expect("a name");
        let name = name.strip_prefix("CodeHeap '").and_then(|n| n.strip_suffix('\'')).unwrap_or(name);
        let Some(heap) = cache.heaps.iter().find(|heap| heap.name == name) else {
            assert_eq!(name, "CodeCache", "{line}: not read");
            continue;
        };
        heaps += 1;
        assert_eq!(number(line, " used="), Some(heap.used_bytes / 1024), "{line}");
        assert_eq!(number(line, "size="), Some((heap.reserved.end - heap.reserved.start) / 1024), "{line}");
        let high_water = (heap.frontier - heap.reserved.start) / 1024;
        assert!(
            number(line, "max_used=").is_some_and(|max| max <= high_water),
            "{line}, frontier {high_water} KB"
        );
        assert!(heap.blobs.windows(2).all(|pair| pair[0].addresses.end <= pair[1].addresses.start));
        let in_blobs: u64 = heap.blobs.iter().map(|blob| blob.addresses.end - blob.addresses.start).sum();
        assert_eq!(in_blobs, heap.used_bytes, "{name}: each block in use is a blob");
    }
    assert_eq!(heaps, cache.heaps.len(), "{after}");
    let methods = count(&cache, &[BlobKind::Method, BlobKind::NativeMethod]);
    assert_eq!(number(&after, "nmethods="), Some(methods), "{after}");
    let total = cache.heaps.iter().map(|heap| heap.blobs.len() as u64).sum::<u64>();
    // Folklore: the JVM counts a blob less when it puts a block into its free list, also when that block is but the
    // tail that the interpreter, the one blob that is cut once it is made, did not need.
    assert_eq!(number(&after, "total_blobs=").map(|blobs| blobs + 1), Some(total), "{after}");
    // One line for each method that lives: `1234 2 java.lang.String.hashCode()I [0x..., 0x... - 0x...]`.
    let listed = list.lines().filter(|line| line.contains("[0x")).count() as u64;
    assert_eq!(listed, methods, "Compiler.codelist and blobs");
    println!("{} {options:?}: {total} blobs, {methods} methods, equal; {word_bytes}", java.display());
    if options.is_empty() {
        assert!(1 <= count(&cache, &[BlobKind::NativeMethod]));
        assert!(1 <= count(&cache, &[BlobKind::Buffer]), "the first compiler has one");
    }
}

#[test]
fn used_bytes_equal_what_the_jvm_says() {
    let javas = javas(64);
    if javas.is_empty() {
        skip!("no 64-bit JDK");
    }
    for (_, java) in &javas {
        check(java, &[]);
        check(java, &["-XX:-SegmentedCodeCache"]);
        check(java, &["-XX:TieredStopAtLevel=1"]);
    }
}

#[test]
fn a_32_bit_jvm_has_its_code_cache() {
    let Some(java) = find_java(17, 32) else { skip!("no 32-bit JVM") };
    check(&java, &[]);
}

/// Parts that a blob has in malloc's heap are tracked blocks, if native memory tracking is on: that of code.
#[test]
fn parts_in_malloc_are_blocks_of_code() {
    let javas = javas(64);
    if javas.is_empty() {
        skip!("no 64-bit JDK");
    }
    for (feature, java) in &javas {
        let jvm = Jvm::start(java, &["-XX:NativeMemoryTracking=summary"]).expect("a JVM");
        jvm.freeze();
        let source = jvm.process();
        let hotspot = Hotspot::open(&source).expect("a readable JVM").expect("a JVM");
        let (nmt, cache) = (hotspot.nmt(), hotspot.code_cache().expect("a code cache"));
        let code = nmt.tags.iter().position(|tag| tag == "Code").expect("a tag for code");
        let mut parts = BTreeSet::new();
        for blob in cache.heaps.iter().flat_map(|heap| &heap.blobs) {
            for part in &blob.malloc_parts {
                let mut header = [0; 16];
                source.read(part - 16, &mut header).expect("a header");
                let header = nmt.header_in(&header);
                assert!(header.is_some_and(|h| usize::from(h.tag) == code), "{blob:x?}: {header:?}");
                assert!(parts.insert(*part), "{blob:x?}: a part of two");
            }
        }
        let blocks = nmt.counters_of("Code").expect("a counter").malloc_count;
        println!("{feature}: {} parts of {blocks} blocks of code", parts.len());
        assert!(50 < parts.len());
        if 23 <= *feature {
            let methods =
                cache.heaps.iter().flat_map(|heap| &heap.blobs).filter(|b| b.kind == BlobKind::Method);
            let without: Vec<_> = methods.filter(|blob| blob.malloc_parts.len() < 2).collect();
            assert!(
                without.is_empty(),
                "relocations and debug information are in malloc's heap: {without:x?}"
            );
        }
    }
}
