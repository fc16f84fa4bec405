//! Names of classes and sizes of objects against a program that knows them and the JVM's histogram.

use crate::support::{Jvm, javas};
use assay_hotspot::{Hotspot, Names};
use assay_linux::MemorySource;
use assay_testkit::{find_java, skip};
use std::collections::BTreeMap;
use std::path::Path;

/// Instances and bytes by class, as `GC.class_histogram -all` prints them: `   1:   123   4567  [B (java.base@17)`.
fn histogram(jvm: &Jvm) -> BTreeMap<String, (u64, u64)> {
    let text = jvm.jcmd(&["GC.class_histogram", "-all"]);
    let row = |line: &str| {
        let mut parts = line.split_whitespace();
        parts.next()?.strip_suffix(':')?;
        let numbers = (parts.next()?.parse().ok()?, parts.next()?.parse().ok()?);
        Some((parts.next()?.to_owned(), numbers))
    };
    text.lines().filter_map(row).collect()
}

/// A reference as the heap holds it, decoded by what the JVM exports.
fn decoded(hotspot: &Hotspot<'_>, raw: u64) -> u64 {
    let (structs, source) = (hotspot.structs(), hotspot.source());
    if source.word_bytes() == 4 || hotspot.flags().bool("UseCompressedOops") == Some(false) {
        return raw;
    }
    let of = |names: [&str; 2]| {
        structs.first_static_address(&names.map(|name| ("CompressedOops", name))).expect("exported")
    };
    let base = source.u64(of(["_narrow_oop._base", "_base"])).expect("a base");
    let shift = source.u32(of(["_narrow_oop._shift", "_shift"])).expect("a shift");
    base + (raw << shift)
}

/// Sum of sizes of all objects of class `java.lang.Class`, by the loaded classes; and the smallest size.
fn mirrors(hotspot: &Hotspot<'_>, names: &Names<'_>) -> (u64, u64, u64) {
    let (structs, source) = (hotspot.structs(), hotspot.source());
    let offset = |type_name, field| structs.offset(type_name, field).expect("exported");
    let word = |address: u64, offset: u64| source.word(address + offset).expect("readable");
    let (mut count, mut bytes, mut smallest) = (0, 0, u64::MAX);
    let mut loader = word(structs.static_address("ClassLoaderDataGraph", "_head").expect("exported"), 0);
    while loader != 0 {
        let mut klass = word(loader, offset("ClassLoaderData", "_klasses"));
        while klass != 0 {
            // A handle: the address of a reference.
            let mirror = word(word(klass, offset("Klass", "_java_mirror")), 0);
            let size = names.instance_bytes(mirror).expect("a size");
            let class = names.klass_of_object(mirror).and_then(|klass| names.class_of_klass(klass));
            assert_eq!(class.as_deref(), Some("java.lang.Class"));
            (count, bytes, smallest) = (count + 1, bytes + size, smallest.min(size));
            klass = word(klass, offset("Klass", "_next_link"));
        }
        loader = word(loader, offset("ClassLoaderData", "_next"));
    }
    (count, bytes, smallest)
}

fn check(java: &Path, options: &[&str]) {
    // A heap in which nothing is collected, and so nothing moves.
    let options = [&["-Xint", "-XX:+UseSerialGC"], options].concat();
    let jvm = Jvm::start_program(java, &options, "Metadata", &[]).expect("a JVM");
    histogram(&jvm);
    let source = jvm.process();
    let hotspot = Hotspot::open(&source).expect("a readable JVM").expect("a JVM");
    let names = hotspot.names();
    let expected = histogram(&jvm);
    let classes = [
        ("Payload", "Metadata$Payload"),
        ("PayloadArray", "[LMetadata$Payload;"),
        ("PayloadArrays", "[[LMetadata$Payload;"),
        ("longs", "[[[J"),
    ];
    for (object, class) in classes {
        let address = said(&jvm, &hotspot, object);
        let klass = names.klass_of_object(address).unwrap_or_else(|| panic!("{object} at {address:x}"));
        assert_eq!(names.class_of_klass(klass).as_deref(), Some(class));
        let bytes = names.instance_bytes(address).expect("a size");
        if object == "Payload" {
            // Each loader has a class of this name, with one instance of the same size.
            assert_eq!(expected.get(class).map(|(count, bytes)| bytes / count), Some(bytes), "{class}");
        } else if object != "PayloadArray" {
            assert_eq!(expected.get(class), Some(&(1, bytes)), "{class}");
        }
    }
    let hidden = names.klass_of_object(said(&jvm, &hotspot, "hidden")).and_then(|k| names.class_of_klass(k));
    let hidden = hidden.expect("a class");
    assert!(hidden.starts_with("Metadata$$Lambda") && hidden.contains("/0x"), "{hidden}");
    assert!(expected.contains_key(&hidden), "{hidden} in the histogram");

    // All objects of class Class at once: each has a size of its own. Those of the nine primitive types have no class in
    // any loader's list, and no statics.
    let (count, bytes, smallest) = mirrors(&hotspot, &names);
    if !options.contains(&"-Xshare:off") {
        // An archive may hold such objects of classes that nobody loaded.
        return;
    }
    let (histogram_count, histogram_bytes) = expected["java.lang.Class"];
    assert_eq!((count + 9, bytes + 9 * smallest), (histogram_count, histogram_bytes), "mirrors {options:?}");
    println!("{} {options:?}: {count} mirrors with {bytes} bytes, equal", java.display());
}

fn said(jvm: &Jvm, hotspot: &Hotspot<'_>, object: &str) -> u64 {
    let raw = jvm
        .log
        .lines()
        .find_map(|line| line.strip_prefix("object ")?.strip_prefix(object)?.strip_prefix(' '));
    decoded(hotspot, raw.and_then(|raw| raw.parse().ok()).expect("the program said where it is"))
}

#[test]
fn classes_and_sizes_equal_the_jvm_s_histogram() {
    let javas = javas(64);
    if javas.is_empty() {
        skip!("no 64-bit JDK");
    }
    for (feature, java) in &javas {
        let off = "-Xshare:off";
        check(java, &[]);
        check(java, &[off]);
        check(java, &[off, "-XX:-UseCompressedOops"]);
        check(java, &[off, "-XX:-UseCompressedOops", "-XX:-UseCompressedClassPointers"]);
        check(java, &[off, "-XX:ObjectAlignmentInBytes=16"]);
        if *feature == 25 {
            check(java, &["-XX:+UseCompactObjectHeaders"]);
            check(java, &[off, "-XX:+UseCompactObjectHeaders"]);
            check(java, &[off, "-XX:+UseCompactObjectHeaders", "-XX:-UseCompressedOops"]);
        }
    }
}

#[test]
fn classes_and_sizes_of_a_32_bit_jvm() {
    let Some(java) = find_java(17, 32) else { skip!("no 32-bit JVM") };
    check(&java, &["-Xshare:off"]);
}

/// Blocks with the tag of symbols are told from all others by content alone: precision and recall, by the tags.
#[test]
fn symbols_are_told_by_content() {
    let javas = javas(64);
    if javas.is_empty() {
        skip!("no 64-bit JDK");
    }
    for (feature, java) in &javas {
        // Without an archive, the JVM makes all its symbols itself.
        let options = ["-XX:NativeMemoryTracking=summary", "-Xshare:off"];
        let jvm = Jvm::start_program(java, &options, "Metadata", &[]).expect("a JVM");
        jvm.freeze();
        let source = jvm.process();
        let hotspot = Hotspot::open(&source).expect("a readable JVM").expect("a JVM");
        let (nmt, names) = (hotspot.nmt(), hotspot.names());
        let symbol = nmt.tags.iter().position(|tag| tag == "Symbol").expect("a tag for symbols");
        let (mut right, mut missed, mut wrong, mut others) = (0_u64, 0_u64, 0_u64, 0_u64);
        for mapping in source.mappings().iter().filter(|m| m.permissions.starts_with(b"rw") && !m.is_file()) {
            nmt.scan(&source, mapping.addresses.clone(), |payload, header| {
                let mut bytes = vec![0; header.asked_bytes.min(4096) as usize];
                if source.read(payload, &mut bytes).is_err() {
                    return;
                }
                match (usize::from(header.tag) == symbol, names.is_symbol(&bytes)) {
                    (true, true) => right += 1,
                    // The symbol table's own nodes and bits have the same tag.
                    (true, false) => missed += 1,
                    (false, true) => wrong += 1,
                    (false, false) => others += 1,
                }
            });
        }
        println!(
            "{feature}: {right} symbols, {missed} more with their tag, {wrong} of {} other blocks",
            wrong + others
        );
        assert!(1_000 < right);
        // At most one block in a thousand that is none.
        assert!(wrong * 1000 <= wrong + others, "{wrong} of {others}");
    }
}
