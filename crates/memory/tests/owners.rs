//! Blocks and mappings that have one owner, or none: each is found, and nothing is given to a neighbour.

use crate::program::Program;
use assay_hotspot::Hotspot;
use assay_linux::{AlteredMemory, LiveProcess, ProcRoot};
use assay_memory::{ReadOptions, explain_change, read, read_source};
use assay_model::{Allocator, Area, Cause, MemoryReport};
use assay_testkit::{
    Running, each_java, each_release, skip, start_buffers, start_java, stripped_java, testdata,
};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

/// Of a list that grows while it is looked at: blocks that are newer than the reading of its front.
const NEWEST_BYTES_MAX: u64 = 256 << 10;
const LIST_BLOCKS: u64 = 4000;
const LIST_BLOCK_BYTES: u64 = 1000;

fn area(snapshot: &MemoryReport, area: Area) -> u64 {
    snapshot.areas.iter().find(|a| a.area == area).map_or(0, |a| a.resident_bytes)
}

fn of_library(snapshot: &MemoryReport, name: &str) -> u64 {
    let belongs = |path: &[String]| path.iter().any(|part| part == name) && path[0] != Area::Code.title();
    snapshot.entries.iter().filter(|entry| belongs(&entry.path)).map(|entry| entry.resident_bytes).sum()
}

#[test]
fn a_list_that_grows_while_it_is_read_belongs_to_the_variable_of_the_program_that_leads_to_it() {
    let Some(program) = Program::start("list", "") else { skip!("no C compiler") };
    for _ in 0..3 {
        let snapshot = read(program.pid(), &ReadOptions::default()).expect("our child");
        let (unowned, owned) = (area(&snapshot, Area::MallocHeap), of_library(&snapshot, "hostile"));
        assert!(
            unowned <= NEWEST_BYTES_MAX && (1 << 20) < owned,
            "{unowned} B unowned, {owned}: {snapshot:#?}"
        );
    }
}

#[test]
fn a_mapping_that_nobody_holds_does_not_take_the_name_of_the_one_beside_it() {
    let Some(program) = Program::start("lost", "") else { skip!("no C compiler") };
    let options = ReadOptions { freeze: Some(Duration::from_secs(30)), ..ReadOptions::default() };
    let snapshot = read(program.pid(), &options).expect("our child");
    assert_eq!(area(&snapshot, Area::NativeAnonymous), program.told, "{:#?}", snapshot.entries);
    assert_eq!(of_library(&snapshot, "hostile"), program.told, "{:#?}", snapshot.entries);
}

/// `testdata/linux/lists.c`; `None` where there is no C compiler.
fn agent(folder: &Path) -> Option<PathBuf> {
    let to = folder.join("liblists.so");
    let mut compiler = Command::new("cc");
    compiler.args(["-O1", "-shared", "-fPIC", "-o"]).arg(&to).arg(testdata("linux/lists.c"));
    compiler.status().is_ok_and(|status| status.success()).then_some(to)
}

#[test]
fn lists_of_a_native_library_are_followed_whether_native_memory_is_tracked_or_not() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let Some(agent) = agent(folder.path()) else { skip!("no C compiler") };
    // JDK 8 has no hash in its symbols by which other text is told from them.
    let javas = each_release(64);
    if javas.is_empty() {
        skip!("no JDK");
    }
    let (load, name) = (format!("-agentpath:{}={LIST_BLOCKS}", agent.display()), agent.file_name());
    let name = name.expect("a file").to_string_lossy().into_owned();
    for java in javas.values() {
        for tracking in ["off", "summary"] {
            let tracking = format!("-XX:NativeMemoryTracking={tracking}");
            let jvm = start_java(java, &["-Xmx128m", &load, &tracking], &[], "Waiting");
            let options = ReadOptions { freeze: Some(Duration::from_secs(30)), ..ReadOptions::default() };
            let snapshot = read(jvm.pid(), &options).expect("our child");
            let (owned, held) = (of_library(&snapshot, &name), 2 * LIST_BLOCKS * LIST_BLOCK_BYTES);
            println!("{} {tracking}: {owned} of {held}, {} unknown", java.display(), snapshot.unknown_bytes);
            assert!(
                held <= owned,
                "{} {tracking}: {owned} of {held}: {:#?}",
                java.display(),
                snapshot.entries
            );
            assert!(
                owned <= area(&snapshot, Area::NativeLibraries),
                "not the JDK's: {:#?}",
                snapshot.entries
            );
        }
    }
}

#[test]
fn without_symbols_what_the_jvm_s_own_variables_lead_to_is_the_jvm_s_and_the_look_says_what_it_lacks() {
    let Some((_, java)) = each_java(64).into_iter().next() else { skip!("no 64-bit JDK") };
    let folder = tempfile::tempdir().expect("a temporary folder");
    let Some(stripped) = stripped_java(&java, folder.path(), false) else { skip!("no strip") };
    let nameless = |snapshot: &MemoryReport| -> u64 {
        let of = snapshot
            .entries
            .iter()
            .filter(|entry| entry.path.iter().any(|part| part == "variables without names"));
        of.map(|entry| entry.resident_bytes).sum()
    };
    let [whole, snapshot] = [&java, &stripped].map(|java| {
        // Its table of strings has grown, which no exported structure tells.
        let jvm = start_java(java, &["-Xmx128m", "-XX:StringTableSize=1048576"], &[], "Waiting");
        let options = ReadOptions { freeze: Some(Duration::from_secs(30)), ..ReadOptions::default() };
        read(jvm.pid(), &options).expect("our child")
    });
    println!(
        "{} unknown, {} with symbols; {} B nameless",
        snapshot.unknown_bytes,
        whole.unknown_bytes,
        nameless(&snapshot)
    );
    assert_eq!(nameless(&whole), 0);
    assert!((8 << 20) <= nameless(&snapshot), "{:#?}", snapshot.entries);
    assert!(snapshot.unknown_bytes < snapshot.rss_bytes / 100, "{:#?}", snapshot.unknown);
    assert!(
        snapshot.problems.iter().any(|p| p.text.contains("has no symbols: objects held")),
        "{:?}",
        snapshot.problems
    );
}

/// As a release is whose class metadata cannot be told apart: in one of unknown layout the JVM's own pointer leads nowhere.
#[test]
fn class_metadata_of_unknown_layout_is_unknown_and_not_the_property_of_who_points_at_it() {
    const CONTEXT: &str = "_ZN9metaspace16MetaspaceContext23_nonclass_space_contextE";
    const CLASS_CONTEXT: &str = "_ZN9metaspace16MetaspaceContext20_class_space_contextE";
    let javas: Vec<PathBuf> = each_java(64).into_values().chain(each_java(32).into_values()).collect();
    if javas.is_empty() {
        skip!("no JDK");
    }
    for java in javas {
        let jvm = start_java(&java, &["-Xmx128m", "-Xshare:off", "-XX:+UseSerialGC"], &[], "Waiting");
        jvm.freeze();
        let source = LiveProcess::open(&ProcRoot::default(), jvm.pid()).expect("our child");
        let known = read_source(&source, &ReadOptions::default());
        let hotspot = Hotspot::open(&source).expect("readable").expect("a JVM");
        let hidden = [CONTEXT, CLASS_CONTEXT].map(|name| hotspot.symbols().address(name).unwrap_or(u64::MAX));
        let altered = AlteredMemory::new(&source, |address, bytes| {
            for hidden in hidden {
                let at = hidden.checked_sub(address).and_then(|at| usize::try_from(at).ok());
                if let Some(pointer) = at.and_then(|at| bytes.get_mut(at..)) {
                    pointer.iter_mut().take(size_of::<u64>()).for_each(|byte| *byte = 0);
                }
            }
        });
        let snapshot = read_source(&altered, &ReadOptions::default());
        let metadata = area(&known, Area::ClassMetadata) - area(&snapshot, Area::ClassMetadata);
        let unknown = area(&snapshot, Area::NativeAnonymous);
        println!("{}: {metadata} B of metadata, {unknown} B unknown", java.display());
        assert!((2 << 20) < metadata && metadata <= unknown + (64 << 10), "{metadata} {unknown}");
        for grown in [Area::JvmWork, Area::Buffers, Area::GcStructures, Area::JitWork] {
            assert!(
                area(&snapshot, grown) <= area(&known, grown) + (64 << 10),
                "{grown:?}: {:#?}",
                snapshot.entries
            );
        }
        assert!(
            snapshot.problems.iter().any(|problem| problem.about == "metaspace"),
            "{:?}",
            snapshot.problems
        );
    }
}

/// As RocksDB and JNA do: a program unpacks its library to a file with another number at each start.
#[test]
fn a_library_with_another_temporary_number_is_the_same_after_a_restart() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let Some(agent) = agent(folder.path()) else { skip!("no C compiler") };
    let Some((_, java)) = each_java(64).into_iter().next() else { skip!("no JDK") };
    let snapshot = |number: &str, blocks: u64| {
        let library = folder.path().join(format!("liblists{number}.so"));
        fs::copy(&agent, &library).expect("a copy");
        let load = format!("-agentpath:{}={blocks}", library.display());
        let jvm = start_java(&java, &["-Xmx128m", &load], &[], "Waiting");
        let options = ReadOptions { freeze: Some(Duration::from_secs(30)), ..ReadOptions::default() };
        read(jvm.pid(), &options).expect("our child")
    };
    let (before, after) =
        (snapshot("5187246518795245361", LIST_BLOCKS), snapshot("70000123456", 2 * LIST_BLOCKS));
    let change = explain_change(&before, &after);
    let of_lists: Vec<&Cause> =
        change.causes.iter().filter(|c| c.path.iter().any(|part| part.starts_with("liblists"))).collect();
    let [cause] = of_lists[..] else { panic!("one cause is of the library: {of_lists:#?}") };
    assert_eq!(cause.path[..2], [Area::NativeLibraries.title(), "liblists#.so"]);
    let grown = u64::try_from(cause.change_bytes()).expect("it grew");
    let more = 2 * LIST_BLOCKS * LIST_BLOCK_BYTES;
    assert!(grown.abs_diff(more) <= more / 20, "{grown} of {more}: {:#?}", change.causes);
}

/// `testdata/linux/embed.c`, linked as distributions do and as older programs are; `None` where there is no C compiler.
fn embedding(folder: &Path, linked: &str) -> Option<PathBuf> {
    let to = folder.join(format!("embedding{linked}"));
    let mut compiler = Command::new("cc");
    compiler.args(["-O1", linked, "-o"]).arg(&to).arg(testdata("linux/embed.c")).arg("-ldl");
    compiler.status().is_ok_and(|status| status.success()).then_some(to)
}

#[test]
fn what_variables_of_a_program_lead_to_that_embeds_a_jvm_is_the_program_s() {
    const BLOCKS: u64 = 8_000;
    let folder = tempfile::tempdir().expect("a temporary folder");
    let programs = ["-pie", "-no-pie"].map(|linked| embedding(folder.path(), linked));
    let [Some(movable), Some(fixed)] = programs else { skip!("no C compiler") };
    let javas = each_java(64);
    if javas.is_empty() {
        skip!("no JDK");
    }
    for java in javas.values() {
        let libjvm = java.parent().and_then(Path::parent).expect("a JDK").join("lib/server/libjvm.so");
        for (program, tracking) in [(&movable, "off"), (&movable, "summary"), (&fixed, "off")] {
            let mut command = Command::new(program);
            command.arg(&libjvm).arg(BLOCKS.to_string()).arg("-Xmx64m");
            command.arg(format!("-XX:NativeMemoryTracking={tracking}"));
            let jvm = Running::start(&mut command, "ready");
            let options = ReadOptions { freeze: Some(Duration::from_secs(30)), ..ReadOptions::default() };
            let snapshot = read(jvm.pid(), &options).expect("our child");
            let name = program.file_name().expect("a file").to_string_lossy();
            let (owned, held) = (of_library(&snapshot, &name), 2 * BLOCKS * LIST_BLOCK_BYTES);
            let case = format!("{} in {name}, {tracking}", java.display());
            println!(
                "{case}: {owned} of {held}, {} of {} unknown",
                snapshot.unknown_bytes, snapshot.rss_bytes
            );
            assert!(snapshot.jvm.is_some(), "{case}");
            // A number in the JVM's memory may look like the address of a block, and the table's variables come behind those of the JVM.
            let is_held = held - held / 100 <= owned && owned < held + held / 10;
            assert!(is_held, "{case}: {owned}: {:#?}", snapshot.entries);
            assert!(snapshot.unknown_bytes < snapshot.rss_bytes / 100, "{case}: {:#?}", snapshot.unknown);
        }
    }
}

/// Of the bytes that classes of the program hold.
const RIGHT_PERCENT_MIN: u64 = 90;

#[test]
fn native_memory_of_java_objects_is_named_by_the_class_of_the_program_that_holds_it() {
    let javas: Vec<(u32, PathBuf)> = each_java(64).into_iter().chain(each_java(32)).collect();
    if javas.is_empty() {
        skip!("no JDK");
    }
    for (feature, java) in javas {
        for tracking in ["off", "summary"] {
            let tracking = format!("-XX:NativeMemoryTracking={tracking}");
            let jvm = start_java(&java, &["-Xmx128m", &tracking], &[], "Holding");
            let held = jvm.said.lines().filter_map(|line| line.split_once(' '));
            let held: Vec<(&str, u64)> =
                held.filter_map(|(class, bytes)| Some((class, bytes.parse().ok()?))).collect();
            // Six kinds of holders of buffers, and three of foreign memory.
            let kinds = if feature < 22 { 6 } else { 9 };
            assert_eq!(held.len(), kinds, "{}", jvm.said);
            let options = ReadOptions { freeze: Some(Duration::from_secs(30)), ..ReadOptions::default() };
            let snapshot = read(jvm.pid(), &options).expect("our child");
            let named = |class: &str| {
                let is_it = |path: &[String]| {
                    path[0] == Area::Buffers.title() && path.last().is_some_and(|last| last == class)
                };
                snapshot
                    .entries
                    .iter()
                    .filter(|entry| is_it(&entry.path))
                    .map(|entry| entry.resident_bytes)
                    .sum::<u64>()
            };
            let right: u64 = held.iter().map(|(class, bytes)| named(class).min(*bytes)).sum();
            let all: u64 = held.iter().map(|(_, bytes)| bytes).sum();
            println!("{} {tracking}: {right} of {all}", java.display());
            let of_java: Vec<_> =
                snapshot.entries.iter().filter(|l| l.path[0] == Area::Buffers.title()).collect();
            let case = format!("{} {tracking} {held:?}", java.display());
            assert!(all * RIGHT_PERCENT_MIN <= right * 100, "{case}: {right} of {all}: {of_java:#?}");
        }
    }
}

#[test]
fn memory_of_an_allocator_that_cannot_be_read_is_unknown() {
    let library =
        PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("libmimalloc-{}.so", std::process::id()));
    let mut compiler = Command::new("cc");
    compiler.args(["-O1", "-shared", "-fPIC", "-pthread", "-o"]).arg(&library);
    if !compiler.arg(testdata("allocators/bump.c")).status().is_ok_and(|status| status.success()) {
        skip!("no C compiler");
    }
    let javas = each_java(64);
    if javas.is_empty() {
        skip!("no JDK");
    }
    for java in javas.values() {
        let options = ["-Xmx128m", "-XX:+UseSerialGC"];
        let snapshot = |preloaded: &str| {
            let jvm = start_java(java, &options, &[("LD_PRELOAD", preloaded)], "Holding");
            let options = ReadOptions { freeze: Some(Duration::from_secs(30)), ..ReadOptions::default() };
            read(jvm.pid(), &options).expect("our child")
        };
        let (plain, snapshot) = (snapshot(""), snapshot(&library.to_string_lossy()));
        let (unknown, held) = (area(&snapshot, Area::NativeAnonymous), area(&plain, Area::Buffers));
        println!("{}: {unknown} B unknown, {held} B of buffers", java.display());
        assert_eq!(snapshot.allocator.as_ref().map(|allocator| allocator.name), Some(Allocator::Mimalloc));
        assert!(
            held < unknown && snapshot.unknown_bytes == unknown,
            "{held} {unknown}: {:#?}",
            snapshot.entries
        );
        for shown in [Area::ClassMetadata, Area::Buffers, Area::JvmWork, Area::GcStructures, Area::JitWork] {
            let (bytes, at_most) = (area(&snapshot, shown), area(&plain, shown) + (256 << 10));
            assert!(bytes <= at_most, "{shown:?}: {bytes}, {at_most}: {:#?}", snapshot.entries);
        }
        assert!(
            snapshot.problems.iter().any(|problem| problem.about == "mimalloc"),
            "{:?}",
            snapshot.problems
        );
    }
    let _ = fs::remove_file(library);
}

/// The RSS does not have these pages: on JDK 25 what Java objects hold was without owner for as long as nobody read them.
#[test]
fn what_java_objects_hold_has_its_owner_where_the_heap_is_in_reserved_huge_pages() {
    /// Of 2 MiB: a heap of 64 MiB, and what else the JVM has in them.
    const PAGES_MIN: u64 = 160;
    let free =
        fs::read_to_string("/sys/kernel/mm/hugepages/hugepages-2048kB/free_hugepages").unwrap_or_default();
    if free.trim().parse::<u64>().unwrap_or(0) < PAGES_MIN {
        skip!("no pages of hugetlbfs");
    }
    for java in each_java(64).values() {
        let jvm = start_buffers(java, &["-XX:+UseG1GC", "-XX:+UseLargePages", "-Xmx64m"], 300);
        for freeze in [None, Some(Duration::from_secs(30))] {
            let snapshot =
                read(jvm.pid(), &ReadOptions { freeze, ..ReadOptions::default() }).expect("our child");
            assert!(0 < snapshot.outside_rss.hugetlb_bytes.unwrap_or(0), "{:?}", snapshot.outside_rss);
            assert!(1000 * snapshot.unknown_bytes <= snapshot.rss_bytes, "{:#?}", snapshot.unknown);
            assert!(0 < area(&snapshot, Area::Buffers), "{:#?}", snapshot.areas);
        }
    }
}
