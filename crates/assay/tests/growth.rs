//! Leaks of twelve kinds, recorded for a minute by the program: is each named?
//!
//! `cargo test -p assay --test all growth:: -- --ignored --nocapture` prints a line for each, and the count for each release.

use assay_model::{GrowthKind, MemoryChange};
use assay_testkit::{Running, each_release, java_command, skip, testdata};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

const ASSAY: &str = env!("CARGO_BIN_EXE_assay");
/// Programs that are recorded beside each other.
const AT_ONCE: usize = 2;
/// Kinds that may be missed on a release.
const MISSED_MAX: usize = 1;
/// Releases that have foreign memory.
const SEGMENTS_SINCE: u32 = 22;
/// Of each long-term release that most people run; the other releases are much the same.
const RELEASES: [u32; 4] = [8, 17, 21, 25];

/// The argument of `Growing.java`, and what stands in the path of the first cause that grows.
const LEAKS: [(&str, &[&str]); 12] = [
    ("direct", &["direct and mapped buffers", "java.nio.DirectByteBuffer", "Growing$BufferPool"]),
    ("malloc", &["native libraries", "libgrowing.so"]),
    ("inflaters", &["direct and mapped buffers", "java.util.zip.Inflater", "Growing$Decoder"]),
    ("loaders", &["class metadata"]),
    ("mapped", &["direct and mapped buffers", "mapped files"]),
    ("stacks", &["stacks", "Java"]),
    // JDK 8 keeps no name of the thread that Assay could read.
    ("thread-locals", &["Java heap", "thread-local Growing.SESSION of "]),
    ("arenas", &["retained by malloc"]),
    ("statics", &["Java heap", "static field Growing$QuoteCache.QUOTES"]),
    ("references", &["Java heap", "JVM or native code (JNI references)"]),
    ("segments", &["direct and mapped buffers", "java.lang.foreign.MemorySegment", "Growing$Arenas"]),
    ("queue", &["Java heap", "thread mail-sender"]),
];

fn library(folder: &Path) -> Option<PathBuf> {
    let to = folder.join("libgrowing.so");
    let mut compiler = Command::new("cc");
    compiler.args(["-O1", "-shared", "-fPIC", "-o"]).arg(&to).arg(testdata("linux/growing.c"));
    compiler.status().is_ok_and(|status| status.success()).then_some(to)
}

/// Records a program for a minute. Gives the kind of verdict, and the path of the first cause that grows.
fn recorded(java: &Path, folder: &Path, library: &Path, way: &str) -> (GrowthKind, Vec<String>) {
    let files = tempfile::tempdir_in(folder).expect("a folder");
    let options = [
        "-Xmx400m".to_owned(),
        format!("-Dlibrary={}", library.display()),
        format!("-Djava.io.tmpdir={}", files.path().display()),
    ];
    let options: Vec<&str> = options.iter().map(String::as_str).collect();
    let mut command = java_command(java, &options, "Growing");
    command.arg(way).env_remove("JAVA_TOOL_OPTIONS").env_remove("MALLOC_ARENA_MAX");
    let jvm = Running::start(&mut command, "leaking");
    let record = files.path().join("record").display().to_string();
    let pid = jvm.pid().to_string();
    let recording = ["memory", &pid, "--record", &record, "--every", "10s", "--for", "62s"];
    let output = Command::new(ASSAY).args(recording).output().expect("assay starts");
    assert!(output.status.success(), "{way}: {}", String::from_utf8_lossy(&output.stderr));
    let output = Command::new(ASSAY).args(["memory", "diff", &record, &record, "--json"]).output();
    let output = output.expect("assay starts");
    let change: MemoryChange = serde_json::from_slice(&output.stdout).expect("the stored form");
    let verdict = change.growth.expect("a verdict");
    let first = verdict.growing.first().map_or_else(Vec::new, |first| first.path.clone());
    (verdict.kind, first)
}

#[test]
#[ignore = "long: a minute for each of 45 leaks, two at a time"]
fn a_leak_is_named_first_within_a_minute_of_recording() {
    let folder = tempfile::tempdir().expect("a folder");
    let Some(library) = library(folder.path()) else { skip!("no C compiler") };
    let javas: Vec<_> = each_release(64).into_iter().filter(|(of, _)| RELEASES.contains(of)).collect();
    if javas.is_empty() {
        skip!("no 64-bit JDK");
    }
    let has = |feature: u32, way: &str| way != "segments" || SEGMENTS_SINCE <= feature;
    let all = javas.iter().flat_map(|(feature, java)| LEAKS.iter().map(move |leak| (*feature, java, leak)));
    let all: Vec<_> = all.filter(|(feature, _, (way, _))| has(*feature, way)).collect();
    let (next, found) = (AtomicUsize::new(0), Mutex::new(BTreeMap::<u32, (usize, usize)>::new()));
    let work = || {
        while let Some((feature, java, (way, expected))) = all.get(next.fetch_add(1, Ordering::Relaxed)) {
            let (kind, path) = recorded(java, folder.path(), &library, way);
            let fits =
                path.len() >= expected.len() && path.iter().zip(*expected).all(|(a, b)| a.starts_with(b));
            let is_named = kind == GrowthKind::Growing && fits;
            let right = if is_named { "named" } else { "NOT NAMED" };
            println!("JDK {feature} | {way:13} | {right} | {kind} | {}", path.join(" > "));
            let mut found = found.lock().expect("no other test failed");
            let (named, of) = found.entry(*feature).or_default();
            *named += usize::from(is_named);
            *of += 1;
        }
    };
    std::thread::scope(|scope| (0..AT_ONCE).for_each(|_| drop(scope.spawn(work))));
    let found = found.into_inner().expect("no other test failed");
    println!("named, of all: {found:?}");
    assert!(found.values().all(|(named, of)| *of <= named + MISSED_MAX), "{found:?}");
}
