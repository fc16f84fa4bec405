//! Live processes held against what the kernel says of them elsewhere, and against what they know of themselves.

use crate::target::{ALTERNATING_BYTES, MIB, Target, UNTOUCHED_BYTES};
use assay_linux::{LiveProcess, Mapping, MemorySource, ProcRoot, ReadError};
use assay_testkit::{find_java, find_tool, skip, start_java};
use std::fs;

fn open(pid: u32) -> LiveProcess {
    LiveProcess::open(&ProcRoot::default(), pid).expect("our child")
}

/// What must not change when somebody looks. Pages shared with other processes may change owner meanwhile.
fn footprint(mappings: &[Mapping]) -> Vec<Mapping> {
    let of = |m: &Mapping| Mapping { pss_bytes: None, private_bytes: None, shared_bytes: None, ..m.clone() };
    mappings.iter().map(of).collect()
}

fn page_tables_bytes(pid: u32) -> Option<u64> {
    ProcRoot::default().read_process_status(pid).expect("our child").page_table_bytes
}

#[test]
fn the_page_map_of_a_stopped_child_is_its_rss_mapping_by_mapping() {
    let target = Target::start("memory");
    target.stop();
    let live = open(target.pid());
    for mapping in live.mappings() {
        let resident_bytes = live.pages().resident_bytes_in(mapping.addresses.clone());
        assert_eq!(resident_bytes, mapping.rss_bytes, "{mapping:x?}");
    }
    assert_eq!(live.pages().resident_bytes(), live.rss_bytes());
    let rollup = ProcRoot::default().read_smaps_rollup(target.pid()).expect("our child");
    assert_eq!(rollup.map(|r| r.rss_bytes), Some(live.rss_bytes()));
    assert!(live.problems().is_empty(), "{:?}", live.problems());
    // What the child knows of itself.
    let page = live.pages().page_bytes();
    let resident = |key: &str, bytes: usize| {
        let at = target.told[key];
        live.pages().resident_bytes_in(at..at + bytes as u64)
    };
    assert_eq!(resident("alternating", ALTERNATING_BYTES), ALTERNATING_BYTES as u64 / 2);
    assert_eq!(resident("untouched", UNTOUCHED_BYTES), 0);
    assert_eq!(resident("zeros", MIB), 0);
    // The page cache may hold the file in large folios, which become resident whole.
    assert!((page..=2 * MIB as u64).contains(&resident("file", 32 * MIB)));
    assert_eq!(resident("memfd", MIB), 10 * page);
    assert_eq!(resident("huge_zeros", 4 * MIB), 0);
}

#[test]
fn files_and_anonymous_pages_are_told_apart() {
    let target = Target::start("memory");
    target.stop();
    let live = open(target.pid());
    let file_bytes: u64 =
        live.pages().runs().iter().filter(|r| r.is_file).map(|r| r.addresses.end - r.addresses.start).sum();
    let anonymous_bytes: u64 = live.mappings().iter().filter_map(|m| m.anonymous_bytes).sum();
    assert_eq!(file_bytes, live.rss_bytes() - anonymous_bytes);
}

#[test]
fn pages_of_hugetlbfs_are_readable_and_no_part_of_the_rss() {
    let target = Target::start("memory");
    let Some(at) = target.told.get("hugetlb").copied() else {
        skip!("no pages of hugetlbfs on this machine")
    };
    target.stop();
    let live = open(target.pid());
    let mapping = live.mappings().iter().find(|m| m.addresses.contains(&at)).expect("mapped");
    assert_eq!((mapping.rss_bytes, mapping.hugetlb_bytes), (0, Some(2 * MIB as u64)));
    assert_eq!(live.pages().resident_bytes_in(mapping.addresses.clone()), 0);
    assert_eq!(live.readable_pages().resident_bytes() - live.pages().resident_bytes(), 2 * MIB as u64);
    assert_eq!(live.u8(at + 2 * MIB as u64 - 1), Some(3));
    let beside = ProcRoot::default().read_beside_rss(target.pid()).expect("our child");
    assert_eq!(beside.hugetlb_bytes, Some(2 * MIB as u64));
}

#[test]
fn looking_and_reading_leave_no_footprint() {
    let target = Target::start("memory");
    target.stop();
    let before = page_tables_bytes(target.pid());
    let live = open(target.pid());
    let mut buffer = vec![0; MIB];
    let mut bytes_read = 0;
    for run in live.pages().runs() {
        let mut at = run.addresses.start;
        while at < run.addresses.end {
            let wanted = (run.addresses.end - at).min(MIB as u64) as usize;
            live.read(at, &mut buffer[..wanted]).unwrap_or_else(|e| panic!("{at:x}: {e}"));
            at += wanted as u64;
            bytes_read += wanted as u64;
        }
    }
    assert_eq!(bytes_read, live.rss_bytes());
    let untouched = target.told["untouched"];
    assert_eq!(live.read(untouched, &mut [0; 8]), Err(ReadError::Absent));
    assert_eq!(live.read(target.told["file"] + 16 * MIB as u64, &mut [0; 8]), Err(ReadError::Absent));
    assert_eq!(live.read(u64::MAX - 3, &mut [0; 8]), Err(ReadError::Unmapped));
    let after = live.mappings_now().expect("still there");
    assert_eq!(footprint(live.mappings()), footprint(&after));
    assert_eq!(before, page_tables_bytes(target.pid()));
}

#[test]
fn every_byte_is_the_one_that_the_child_wrote() {
    let target = Target::start("memory");
    let live = open(target.pid());
    let page = live.pages().page_bytes();
    let at = target.told["alternating"];
    let mut bytes = vec![0; page as usize];
    for i in 0..ALTERNATING_BYTES as u64 / page / 2 {
        live.read(at + 2 * i * page, &mut bytes).expect("resident");
        assert!(bytes.iter().all(|b| *b == i as u8), "page {i}");
    }
    // Across a page that is not resident, nothing is read, and what is resident stays readable to its last byte.
    assert_eq!(live.read(at + page - 1, &mut [0; 2]), Err(ReadError::Absent));
    assert_eq!(live.u8(at + 3 * page - 1), Some(1));
    // A page that was touched and then lost its access can be read through the file only.
    assert_eq!(live.u8(target.told["guard"]), Some(9));
    assert_eq!(live.word_bytes(), 8);
    assert_eq!(live.pid(), target.pid());
}

#[test]
fn this_very_process_is_a_source_too() {
    let live = open(std::process::id());
    let value = Box::new(0x1122_3344_5566_7788_u64);
    let live = {
        drop(live);
        open(std::process::id())
    };
    assert_eq!(live.u64(std::ptr::from_ref(&*value) as u64), Some(*value));
    assert!(live.threads().iter().any(|t| t.tid == rustix::thread::gettid().as_raw_nonzero().get() as u32));
    // Its own heap moves while it looks at itself.
    let drift = live.rss_bytes().abs_diff(live.pages().resident_bytes());
    assert!(drift <= live.rss_bytes() / 10, "{drift} of {}", live.rss_bytes());
}

#[test]
fn a_process_that_ends_or_becomes_another_is_told() {
    let mut target = Target::start("waiter");
    let live = open(target.pid());
    assert!(live.mappings_now().is_ok());
    let at = live.pages().runs()[0].addresses.start;
    target.child.kill().expect("our child");
    target.wait_for_state('Z');
    assert_eq!(live.read(at, &mut [0]), Err(ReadError::Unmapped));
    assert!(live.mappings_now().expect_err("no memory").is_absent());
    let zombie = LiveProcess::open(&ProcRoot::default(), target.pid()).expect_err("no memory");
    assert!(zombie.is_absent(), "{zombie}");
    target.child.wait().expect("our child");
    let gone = LiveProcess::open(&ProcRoot::default(), target.pid()).expect_err("nothing there");
    assert!(gone.is_absent(), "{gone}");
    // A shell that becomes another program keeps its number and its start time.
    let mut shell = std::process::Command::new("sh")
        .args(["-c", "read line; exec sleep 1000"])
        .stdin(std::process::Stdio::piped())
        .spawn()
        .expect("sh runs");
    while fs::read_to_string(format!("/proc/{}/syscall", shell.id())).is_ok_and(|s| !s.starts_with("0 ")) {
        std::thread::yield_now();
    }
    let live = open(shell.id());
    drop(shell.stdin.take());
    while fs::read_to_string(format!("/proc/{}/comm", shell.id())).is_ok_and(|s| s != "sleep\n") {
        std::thread::yield_now();
    }
    let error = live.mappings_now().map(|_| ()).expect_err("another program").to_string();
    shell.kill().expect("our child");
    shell.wait().expect("our child");
    assert!(error.contains("became another program"), "{error}");
}

#[test]
fn threads_have_names_numbers_and_stack_pointers() {
    let target = Target::start_with("threads", "50");
    target.wait_for_state('S');
    let live = open(target.pid());
    let mut waiting: Vec<_> = live.threads().iter().filter(|t| t.name.starts_with("waits-")).collect();
    waiting.sort_by_key(|t| t.name[6..].parse::<u32>().expect("a number"));
    assert_eq!(waiting.len(), 50);
    for (i, thread) in waiting.iter().enumerate() {
        assert_eq!(thread.name, format!("waits-{i}"));
        assert_eq!(thread.tid_inside, thread.tid);
        // A stack pointer lies in memory that is writable and resident.
        let sp = thread.stack_pointer.expect("it waits");
        let mapping = live.mappings().iter().find(|m| m.addresses.contains(&sp)).expect("mapped");
        assert!(mapping.permissions.starts_with(b"rw"), "{mapping:?}");
        assert!(live.u64(sp).is_some());
    }
    assert!(live.threads().iter().any(|t| t.tid == target.pid()));
    assert!(live.problems().is_empty(), "{:?}", live.problems());
}

#[test]
fn a_thread_in_another_namespace_has_the_number_that_it_knows() {
    // The first process of a new namespace is 1 there.
    let unshared = std::process::Command::new("unshare")
        .args(["--pid", "--fork", "--kill-child", "sleep", "1000"])
        .spawn();
    let Ok(mut unshared) = unshared else { skip!("no unshare") };
    let children = format!("/proc/{0}/task/{0}/children", unshared.id());
    let mut found = None;
    // It ends at once where it may not.
    while unshared.try_wait().expect("our child").is_none() {
        let text = fs::read_to_string(&children).unwrap_or_default();
        found = text.split_ascii_whitespace().next().and_then(|pid| pid.parse::<u32>().ok());
        let comm = found.and_then(|pid| fs::read_to_string(format!("/proc/{pid}/comm")).ok());
        if comm.as_deref() == Some("sleep\n") {
            break;
        }
        found = None;
        std::thread::sleep(std::time::Duration::from_millis(10));
    }
    let threads = found.map(|pid| open(pid).threads().to_vec());
    unshared.kill().expect("our child");
    unshared.wait().expect("our child");
    let Some(threads) = threads else { skip!("no right to make a PID namespace") };
    assert_eq!(threads.len(), 1);
    assert_eq!((Some(threads[0].tid), threads[0].tid_inside), (found, 1));
}

#[test]
fn the_archive_of_a_jvm_s_classes_is_no_variable() {
    let Some(java) = find_java(17, 64) else { skip!("no 64-bit JDK 17") };
    if find_tool("javac").is_none() {
        skip!("no javac");
    }
    let jvm = start_java(&java, &["-XX:+UseSerialGC", "-Xmx128m"], &[], "Waiting");
    let live = open(jvm.pid());
    let of_library = |m: &&Mapping| m.name.ends_with("/libjvm.so") && &m.permissions == b"rw-p";
    let of_archive = |m: &&Mapping| m.name.ends_with(".jsa") && &m.permissions == b"rw-p";
    let kept = |mapping: &Mapping| {
        live.earlier_variables().iter().any(|kept| mapping.addresses.contains(&kept.address))
    };
    assert!(live.mappings().iter().filter(of_library).all(kept));
    let archive: Vec<_> = live.mappings().iter().filter(of_archive).collect();
    if archive.is_empty() {
        skip!("this JVM does not take an archive of classes");
    }
    assert!(!archive.into_iter().any(kept));
}
