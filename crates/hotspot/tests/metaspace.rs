//! Class metadata against the JVM's own report.

use crate::support::{Jvm, javas};
use assay_hotspot::{ChunkState, Hotspot, Metaspace};
use assay_linux::MemorySource;
use assay_model::FigureSource;
use assay_testkit::skip;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

/// What `VM.metaspace show-loaders scale=1` says of one loader: used bytes outside and inside the class space, classes.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
struct Reported {
    non_class_bytes: u64,
    class_bytes: u64,
    classes: u64,
}

/// Loaders by the address of their data (hidden ones as one, at 0), and used bytes in all.
fn reported(text: &str) -> (BTreeMap<u64, Reported>, u64) {
    let mut by_loader: BTreeMap<u64, Reported> = BTreeMap::new();
    let mut loader = None;
    let mut total = 0;
    for line in text.lines() {
        if let Some((_, rest)) = line.split_once(": CLD 0x") {
            let (address, rest) = rest.split_once(':').expect("an address");
            let is_hidden = rest.contains("<hidden class>");
            let of = if is_hidden { 0 } else { u64::from_str_radix(address, 16).expect("hexadecimal") };
            loader = Some(of);
            let classes = rest.rsplit(", ").next().and_then(|part| part.split(' ').next());
            by_loader.entry(of).or_default().classes +=
                classes.and_then(|n| n.parse::<u64>().ok()).expect("a number of classes");
        } else if line.starts_with("Total Usage") {
            loader = None;
        }
        // Without a class space, lines have no kind in front.
        let (kind, rest) =
            line.split_once(": ").filter(|(kind, _)| !kind.contains(',')).unwrap_or(("", line));
        let used = rest.split(',').find(|part| part.contains(" used"));
        let used = used.and_then(|part| part.trim().split(' ').next()?.parse::<u64>().ok());
        match (kind.trim(), loader, used) {
            ("Both" | "", None, Some(used)) if total == 0 => total = used,
            ("Non-Class" | "", Some(of), Some(used)) => {
                by_loader.entry(of).or_default().non_class_bytes += used;
            }
            ("Class", Some(of), Some(used)) => by_loader.entry(of).or_default().class_bytes += used,
            _ => {}
        }
    }
    (by_loader, total)
}

fn read(metaspace: &Metaspace) -> BTreeMap<u64, Reported> {
    let mut by_loader = BTreeMap::new();
    for (i, loader) in metaspace.loaders.iter().enumerate() {
        let address = if loader.name == "hidden classes" { 0 } else { loader.address };
        let used = |is_class_space| -> u64 {
            let nodes = metaspace.nodes.iter().filter(|node| node.is_class_space == is_class_space);
            let chunks = nodes.flat_map(|node| &node.chunks);
            chunks.filter(|chunk| chunk.loader == Some(i as u32)).map(|chunk| chunk.used_bytes).sum()
        };
        let classes = loader.classes.expect("a list of classes");
        let reported = Reported { non_class_bytes: used(false), class_bytes: used(true), classes };
        by_loader.insert(address, reported);
    }
    by_loader
}

/// Without the compilers and with a collector that does nothing by itself: nothing loads classes between two looks.
const QUIET: [&str; 2] = ["-Xint", "-XX:+UseSerialGC"];

fn check_against_report(java: &Path, options: &[&str]) {
    let options = [&QUIET, options].concat();
    let jvm = Jvm::start_program(java, &options, "Metadata", &[]).expect("a JVM");
    let ask = || jvm.jcmd(&["VM.metaspace", "show-loaders", "scale=1"]);
    // The first command loads what commands need.
    ask();
    let source = jvm.process();
    let hotspot = Hotspot::open(&source).expect("a readable JVM").expect("a JVM");
    let metaspace = hotspot.metaspace().expect("metaspace");
    let (loaders, total) = reported(&ask());
    let mut found = read(&metaspace);
    // The report leaves out loaders that have loaded nothing.
    found.retain(|address, reported| *reported != Reported::default() || loaders.contains_key(address));
    assert_eq!(found, loaders, "{} {options:?}", java.display());
    assert_eq!(metaspace.used_bytes(), total);
    assert!(5 <= loaders.len(), "boot, application, two of the program's own, hidden: {loaders:?}");
    assert_eq!(metaspace.known_from, FigureSource::Symbols);
    println!("{} {options:?}: {} loaders, {total} bytes, equal", java.display(), loaders.len());

    let names: Vec<_> = metaspace.loaders.iter().map(|loader| loader.name.as_str()).collect();
    for name in [
        "boot",
        "hidden classes",
        "Metadata$Loader",
        "Metadata$Loader \"mine\"",
        "jdk.internal.loader.ClassLoaders$AppClassLoader \"app\"",
    ] {
        assert!(names.contains(&name), "{name} in {names:?}");
    }
    let hidden = metaspace.loaders.iter().find(|loader| loader.name == "hidden classes").expect("lambdas");
    assert!(2 <= hidden.count && hidden.classes == Some(hidden.count), "{hidden:?}");
    for node in &metaspace.nodes {
        assert!(node.chunks.windows(2).all(|pair| pair[0].addresses.end <= pair[1].addresses.start));
        for chunk in &node.chunks {
            // Without an archive, the class space's first chunk is nobody's: no class must begin at its base, whose
            // compressed pointer would be 0.
            let is_first = chunk.addresses.start == node.addresses.start && node.is_class_space;
            let is_owned = chunk.loader.is_some() || (is_first && chunk.used_bytes == 0);
            assert!(is_owned == (chunk.state == ChunkState::InUse), "{chunk:x?}");
        }
    }
    let own = hotspot.problems().into_iter().filter(|p| ["metaspace", "class loaders"].contains(&&*p.about));
    assert_eq!(own.count(), 0, "{:?}", hotspot.problems());
}

#[test]
fn used_bytes_of_each_loader_equal_the_jvm_s_report() {
    let javas = javas(64);
    if javas.is_empty() {
        skip!("no 64-bit JDK");
    }
    for (feature, java) in &javas {
        check_against_report(java, &[]);
        check_against_report(java, &["-Xshare:off"]);
        check_against_report(java, &["-XX:-UseCompressedClassPointers"]);
        if *feature == 25 {
            check_against_report(java, &["-XX:+UseCompactObjectHeaders"]);
        }
    }
}

#[test]
fn the_archive_is_where_it_is_mapped() {
    let javas = javas(64);
    if javas.is_empty() {
        skip!("no 64-bit JDK");
    }
    for (_, java) in &javas {
        // Some builds come without an archive.
        let Some(jvm) = Jvm::start(java, &["-Xshare:on"]) else { continue };
        let source = jvm.process();
        let metaspace =
            Hotspot::open(&source).expect("readable").expect("a JVM").metaspace().expect("metaspace");
        let mapped = source.mappings().iter().filter(|m| m.name.ends_with(".jsa"));
        let in_archive = |m: &&assay_linux::Mapping| {
            metaspace.archive.iter().any(|a| a.start <= m.addresses.start && m.addresses.end <= a.end)
        };
        // Besides, a part of the archive may be mapped into the Java heap.
        let bytes: u64 = mapped.filter(in_archive).map(|m| m.size_bytes()).sum();
        assert_eq!(metaspace.archive.len(), 1, "{:x?}", metaspace.archive);
        let range = &metaspace.archive[0];
        assert!(8 << 20 < bytes && bytes <= range.end - range.start, "{bytes} {range:x?}");

        let jvm = Jvm::start(java, &["-Xshare:off"]).expect("a JVM");
        let source = jvm.process();
        let metaspace =
            Hotspot::open(&source).expect("readable").expect("a JVM").metaspace().expect("metaspace");
        assert_eq!(metaspace.archive, []);
    }
}

/// A copy of a Java home in which libjvm has no symbol table; the rest are links.
fn stripped_home(java: &Path, to: &Path) -> Option<PathBuf> {
    let home = java.canonicalize().ok()?.parent()?.parent()?.to_owned();
    let link_all = |from: &Path, to: &Path, but: &[&str]| {
        std::fs::create_dir_all(to).expect("a folder");
        for entry in std::fs::read_dir(from).expect("a Java home").flatten() {
            if !but.iter().any(|name| entry.file_name() == *name) {
                std::os::unix::fs::symlink(entry.path(), to.join(entry.file_name())).expect("a link");
            }
        }
    };
    link_all(&home, to, &["lib", "bin"]);
    link_all(&home.join("lib"), &to.join("lib"), &["server", "libjli.so"]);
    link_all(&home.join("lib/server"), &to.join("lib/server"), &["libjvm.so"]);
    std::fs::create_dir_all(to.join("bin")).expect("a folder");
    for file in ["bin/java", "lib/libjli.so"] {
        std::fs::copy(home.join(file), to.join(file)).expect("a copy");
    }
    let libjvm = "lib/server/libjvm.so";
    let mut strip = Command::new("strip");
    strip.arg("--strip-unneeded").arg("-o").args([to.join(libjvm), home.join(libjvm)]);
    strip.status().is_ok_and(|status| status.success()).then(|| to.join("bin/java"))
}

#[test]
fn without_symbols_nodes_are_found_by_their_shape() {
    let javas = javas(64);
    if javas.is_empty() {
        skip!("no 64-bit JDK");
    }
    for (_, java) in &javas {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let Some(java) = stripped_home(java, folder.path()) else { skip!("no strip") };
        let jvm = Jvm::start_program(&java, &QUIET, "Metadata", &[]).expect("a JVM");
        let ask = || jvm.jcmd(&["VM.metaspace", "show-loaders", "scale=1"]);
        ask();
        let source = jvm.process();
        let hotspot = Hotspot::open(&source).expect("a readable JVM").expect("a JVM");
        assert!(!hotspot.symbols().has_symtab());
        let metaspace = hotspot.metaspace().expect("metaspace");
        let (_, total) = reported(&ask());
        assert_eq!(metaspace.known_from, FigureSource::Content);
        assert_eq!(metaspace.used_bytes(), total);
        assert_eq!(metaspace.nodes.len(), 2);
    }
}

#[test]
fn used_bytes_of_each_loader_of_a_32_bit_jvm_equal_its_report() {
    let javas = javas(32);
    if javas.is_empty() {
        skip!("no 32-bit JVM whose private offsets are known");
    }
    for (_, java) in &javas {
        check_against_report(java, &[]);
        check_against_report(java, &["-Xshare:off"]);
    }
}
