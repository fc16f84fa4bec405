//! Opening real JVMs: version, flags, symbols and exported structures, held against what the JVM itself prints.

use crate::support::{Jvm, javas};
use assay_hotspot::Hotspot;
use assay_linux::{BeforeMemory, LiveProcess, Mapping, MemorySource};
use assay_model::{FigureSource, FlagOrigin};
use assay_testkit::skip;
use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io;
use std::path::PathBuf;
use std::process::Command;

#[test]
fn version_and_word_size_are_the_jvm_s_own() {
    let all: Vec<_> =
        [64, 32].into_iter().flat_map(|bits| javas(bits).into_iter().map(move |j| (bits, j))).collect();
    if all.is_empty() {
        skip!("no JDK 17, 21 or 25");
    }
    for (bits, (feature, java)) in all {
        let jvm = Jvm::start(&java, &[]).expect("a JVM");
        let process = jvm.process();
        let hotspot = Hotspot::open(&process).expect("readable").expect("a JVM");
        let version = hotspot.version().expect("a version");
        let printed = Command::new(&java).arg("-version").output().expect("java runs").stderr;
        let printed = String::from_utf8_lossy(&printed).into_owned();
        assert_eq!(version.feature, feature);
        assert!(printed.contains(&format!("(build {}", version.text)), "{} in {printed}", version.text);
        assert_eq!(hotspot.symbols().word_bytes() * 8, u64::from(bits));
        assert_eq!(process.word_bytes(), hotspot.symbols().word_bytes());
        assert_eq!(hotspot.problems(), []);
    }
}

/// A process whose files say that they are for 64-bit Arm.
struct OfArm<'p> {
    process: &'p LiveProcess,
    copy: PathBuf,
}

impl BeforeMemory for OfArm<'_> {
    fn behind(&self) -> &dyn MemorySource {
        self.process
    }

    fn open_before(&self, mapping: &Mapping) -> io::Result<File> {
        const MACHINE_AT: usize = 18;
        const EM_AARCH64: u16 = 183;
        let mut bytes = fs::read(&mapping.name)?;
        bytes[MACHINE_AT..][..2].copy_from_slice(&EM_AARCH64.to_le_bytes());
        fs::write(&self.copy, bytes)?;
        File::open(&self.copy)
    }
}

#[test]
fn of_a_jvm_for_another_architecture_no_private_offset_is_used_and_that_is_said() {
    let Some((_, java)) = javas(64).into_iter().next() else { skip!("no JDK 17, 21 or 25") };
    let jvm = Jvm::start(&java, &[]).expect("a JVM");
    let process = jvm.process();
    let known = Hotspot::open(&process).expect("readable").expect("a JVM");
    let folder = tempfile::tempdir().expect("a folder");
    let source = OfArm { process: &process, copy: folder.path().join("libjvm.so") };
    let other = Hotspot::open(&source).expect("readable").expect("a JVM");
    assert!(known.pack().is_some() && other.pack().is_none());
    assert_eq!(other.version().map(|v| v.feature), known.version().map(|v| v.feature));
    let problems = other.problems();
    assert!(problems.len() == 1 && problems[0].text.contains("untested architecture"), "{problems:?}");
    assert!(other.heap().is_some(), "what the JVM exports is read");
}

#[test]
fn flags_are_those_that_the_jvm_prints() {
    let all: Vec<_> = [64, 32].into_iter().flat_map(javas).collect();
    if all.is_empty() {
        skip!("no JDK 17, 21 or 25");
    }
    for (feature, java) in all {
        let set = ["-XX:+UseSerialGC", "-XX:ThreadStackSize=777", "-XX:OnError=a b"];
        let jvm = Jvm::start(&java, &[&set[..], &["-XX:+PrintFlagsFinal"]].concat()).expect("a JVM");
        let process = jvm.process();
        let hotspot = Hotspot::open(&process).expect("readable").expect("a JVM");
        let flags = hotspot.flags();
        assert_eq!(flags.bool("UseSerialGC"), Some(true));
        assert_eq!(flags.is_default("UseSerialGC"), Some(false));
        assert_eq!((flags.bool("NoSuchFlag"), flags.int("UseSerialGC")), (None, None));
        assert_eq!(flags.int("ThreadStackSize"), Some(777));
        assert_eq!(flags.text("OnError"), Some("a b"));
        assert_eq!(flags.uint("MaxHeapSize"), Some(256 << 20));
        //      size_t MaxHeapSize       = 268435456         {product} {command line}
        let printed = jvm.log.lines().filter_map(|line| {
            let (head, tail) = line.split_once('=')?;
            let name = head.split_whitespace().last()?;
            // Texts may hold anything, braces included.
            let origin = tail.rfind(" {")?;
            let value = &tail[..tail[..origin].rfind(" {")?];
            let origin = tail[origin..].trim().trim_matches(['{', '}']);
            Some((name.to_owned(), (value.trim().to_owned(), set_by(origin))))
        });
        let printed: BTreeMap<_, _> = printed.collect();
        assert!(400 < printed.len(), "{} flags in {}", printed.len(), jvm.log);
        for (name, (value, set_by)) in printed {
            let read = flags.value(&name).map(ToString::to_string);
            assert_eq!(read.as_ref(), Some(&value), "{feature} {name}");
            assert_eq!(flags.set_by(&name), Some(set_by), "{feature} {name}");
        }
    }
}

fn set_by(printed: &str) -> FlagOrigin {
    match printed {
        "default" => FlagOrigin::Default,
        "command line" | "environment" | "config file" => FlagOrigin::User,
        "ergonomic" | "internal" => FlagOrigin::Ergonomics,
        "management" | "attach" => FlagOrigin::Running,
        other => panic!("{other}"),
    }
}

#[test]
fn a_vtable_and_an_address_name_what_gdb_would() {
    let all: Vec<_> = [64, 32].into_iter().flat_map(javas).collect();
    if all.is_empty() {
        skip!("no JDK 17, 21 or 25");
    }
    for (feature, java) in all {
        let jvm = Jvm::start(&java, &["-XX:+UseSerialGC"]).expect("a JVM");
        let process = jvm.process();
        let hotspot = Hotspot::open(&process).expect("readable").expect("a JVM");
        let (symbols, structs) = (hotspot.symbols(), hotspot.structs());
        if !symbols.has_symtab() {
            assert_eq!(symbols.known_from(), FigureSource::VmStructs);
            println!("skipped: JDK {feature} at {} has no private symbols", symbols.path());
            continue;
        }
        // What the JVM exports as an address, the symbol table knows by name.
        let place = structs.static_address("Universe", "_collectedHeap").expect("exported");
        let named = "_ZN8Universe14_collectedHeapE";
        assert_eq!(symbols.address(named), Some(place));
        assert_eq!(symbols.name_at(place), Some((named, 0)));
        assert_eq!(symbols.name_at(place + 3), Some((named, 3)));
        assert!(symbols.data_ranges().iter().any(|range| range.contains(&place)));
        let heap = process.word(place).expect("readable");
        let class = symbols.class_of_vtable(process.word(heap).expect("readable"));
        let expected = if feature == 17 { "GenCollectedHeap" } else { "SerialHeap" };
        // Before JDK 21 SerialHeap was a class of its own above GenCollectedHeap.
        assert!(class == Some("SerialHeap") || class == Some(expected), "{class:?}");
        assert_eq!(symbols.class_of_vtable(heap), None);
        assert_eq!(symbols.address("no_such_symbol"), None);
    }
}

#[test]
fn a_process_without_a_jvm_is_none() {
    let process = LiveProcess::open(&assay_linux::ProcRoot::default(), std::process::id());
    let process = process.expect("our own memory");
    assert!(Hotspot::open(&process).expect("no error").is_none());
}
