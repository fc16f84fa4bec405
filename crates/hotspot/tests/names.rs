//! Names of classes and sizes of objects against a program that knows them and the JVM's histogram.

use crate::support::flipped::put;
use crate::support::{Jvm, javas, stopped};
use assay_hotspot::{Hotspot, Names};
use assay_linux::{AlteredMemory, MemorySource};
use assay_testkit::{each_release, find_java, skip};
use std::collections::{BTreeMap, BTreeSet};
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

/// Structures of all loaded classes; in JDK 8, which does not export its lists of them, of those that the JVM itself refers to.
fn klasses(hotspot: &Hotspot<'_>) -> Vec<u64> {
    let (structs, source) = (hotspot.structs(), hotspot.source());
    let offset = |type_name, field| structs.offset(type_name, field).expect("exported");
    let word = |address: u64, offset: u64| source.word(address + offset).expect("readable");
    let Some(first) = structs.offset("ClassLoaderData", "_klasses") else {
        let known =
            structs.statics().filter(|(of, field, _)| *of == "SystemDictionary" && field.contains("_klass"));
        let klasses = known.filter_map(|(_, _, at)| source.word(at).filter(|klass| *klass != 0));
        return klasses.collect();
    };
    let mut found = Vec::new();
    let mut loader = word(structs.static_address("ClassLoaderDataGraph", "_head").expect("exported"), 0);
    while loader != 0 {
        let mut klass = word(loader, first);
        while klass != 0 {
            found.push(klass);
            klass = word(klass, offset("Klass", "_next_link"));
        }
        loader = word(loader, offset("ClassLoaderData", "_next"));
    }
    found
}

/// The JVM keeps the structures of classes in memory of their own; without the archive of class data, all of them are in lists.
#[test]
fn nothing_but_classes_is_taken_for_a_class() {
    let javas: Vec<_> = each_release(64).into_iter().filter(|(feature, _)| 11 <= *feature).collect();
    if javas.is_empty() {
        skip!("no 64-bit JDK of 11 or later");
    }
    for (feature, java) in javas {
        let Some(jvm) = Jvm::start(&java, &["-Xshare:off", "-XX:+UseSerialGC", "-Xmx64m"]) else { continue };
        jvm.freeze();
        let process = jvm.process();
        let hotspot = Hotspot::open(&process).expect("readable").expect("a JVM");
        let (names, known) = (hotspot.names(), klasses(&hotspot).into_iter().collect::<BTreeSet<u64>>());
        let (first, last) = known.first().zip(known.last()).expect("classes");
        let mut taken = BTreeSet::new();
        let mut words = 0;
        for part in process.pages().resident_in(*first..*last + 1024) {
            words += (part.end - part.start) / 8;
            taken.extend(part.step_by(8).filter(|at| names.class_of_klass(*at).is_some()));
        }
        println!("JDK {feature}: {} classes in {words} words", known.len());
        assert!(400 < known.len(), "JDK {feature}: {}", known.len());
        let others: Vec<_> = taken.difference(&known).map(|at| (*at, names.class_of_klass(*at))).collect();
        assert_eq!((taken.len(), others), (known.len(), vec![]), "JDK {feature}");
    }
}

/// Addresses of their objects of class `java.lang.Class`.
fn mirrors(hotspot: &Hotspot<'_>) -> Vec<u64> {
    let (structs, source, names) = (hotspot.structs(), hotspot.source(), hotspot.names());
    let mirror = structs.offset("Klass", "_java_mirror").expect("exported");
    let word = |address: u64| source.word(address).expect("readable");
    let of = |klass: u64| {
        let held = word(klass + mirror);
        // In JDK 8 the reference itself; in JDK 11 and later a handle, the address of one.
        if names.klass_of_object(held).is_some() { held } else { word(held) }
    };
    klasses(hotspot).into_iter().map(of).collect()
}

/// Sum of their sizes; and the smallest size.
fn sizes(mirrors: &[u64], names: &Names<'_>) -> (u64, u64) {
    let (mut bytes, mut smallest) = (0, u64::MAX);
    for mirror in mirrors {
        let size = names.instance_bytes(*mirror).expect("a size");
        let class = names.klass_of_object(*mirror).and_then(|klass| names.class_of_klass(klass));
        assert_eq!(class.as_deref(), Some("java.lang.Class"));
        (bytes, smallest) = (bytes + size, smallest.min(size));
    }
    (bytes, smallest)
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
    let mirrors = mirrors(&hotspot);
    let (count, (bytes, smallest)) = (mirrors.len() as u64, sizes(&mirrors, &names));
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

#[test]
fn a_mirror_of_another_size_than_its_class_says_is_none() {
    let releases = each_release(64);
    if releases.is_empty() {
        skip!("no 64-bit JDK");
    }
    for (feature, java) in releases {
        let (_jvm, process) = stopped(&java);
        let hotspot = Hotspot::open(&process).expect("a readable JVM").expect("a JVM");
        let mirrors = mirrors(&hotspot);
        assert!(20 < mirrors.len(), "JDK {feature}: {}", mirrors.len());
        sizes(&mirrors, &hotspot.names());
        let size_at = hotspot.structs().static_address("java_lang_Class", "_oop_size_offset");
        let size_at = size_at.and_then(|at| hotspot.source().u32(at)).expect("exported");
        let (stale, whole) = (mirrors[0], mirrors[1]);
        // Another object was written over its end.
        let written = AlteredMemory::new(&process, |address, bytes| {
            put(&0x0040_0000_u32.to_le_bytes(), stale + u64::from(size_at), address, bytes);
        });
        let hotspot = Hotspot::open(&written).expect("a readable JVM").expect("a JVM");
        assert_eq!(hotspot.names().instance_bytes(stale), None, "JDK {feature}");
        assert!(hotspot.names().instance_bytes(whole).is_some(), "JDK {feature}");
    }
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
