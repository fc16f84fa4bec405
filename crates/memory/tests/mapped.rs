//! Pages of mapped files are called what they are: the file's, the program's own, memory without a disk, the archive of classes.

use crate::program::Program;
use assay_memory::{ReadOptions, read};
use assay_model::{Area, MemoryReport};
use assay_testkit::{Running, c_program, find_java, java_classes, skip};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

const HALF_BYTES: u64 = 4 << 20;

/// Resident bytes of an entry.
fn entry(report: &MemoryReport, path: &[&str]) -> u64 {
    let of = report.entries.iter().filter(|entry| entry.path == path);
    of.map(|entry| entry.resident_bytes).sum()
}

/// A file whose bytes are on the disk, and not only on their way to it.
fn file(folder: &Path, name: &str) -> PathBuf {
    let path = folder.join(name);
    let bytes: Vec<u8> = (0..2 * HALF_BYTES).map(|i| (i >> 12) as u8 | 1).collect();
    fs::write(&path, bytes).expect("room for 8 MiB");
    path
}

#[test]
fn pages_that_were_written_in_a_private_mapping_are_the_program_s_and_no_file_s() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let folder = tempfile::tempdir_in(folder).expect("a temporary folder");
    let kinds = [
        ("data.bin", Area::Buffers, "mapped files"),
        ("app.jar", Area::Code, "mapped jars"),
        ("letters.ttf", Area::Code, "fonts"),
    ];
    for (name, area, kind) in kinds {
        let path = file(folder.path(), name);
        let Some(program) = Program::start("written", &path.to_string_lossy()) else {
            skip!("no C compiler")
        };
        assert_eq!(program.told, HALF_BYTES);
        program.stop();
        let report = read(program.pid(), &ReadOptions::default()).expect("our child");
        let written = format!("{kind}, written");
        let [clean, own] = [kind, written.as_str()].map(|kind| entry(&report, &[area.title(), kind, name]));
        assert_eq!((clean, own), (HALF_BYTES, HALF_BYTES), "{kind}: {:#?}", report.entries);
    }
}

#[test]
fn a_file_in_memory_is_no_file_that_the_kernel_can_drop() {
    let Some(program) = c_program("linux/hostile.c", &[]) else { skip!("no C compiler") };
    let can_mount = Command::new("unshare").args(["-m", "mount", "-t", "tmpfs", "tmpfs", "/mnt"]).output();
    if !can_mount.is_ok_and(|output| output.status.success()) {
        skip!("no right to mount tmpfs");
    }
    let folder = tempfile::tempdir().expect("a temporary folder");
    let mount = tempfile::tempdir().expect("a temporary folder");
    let path = file(folder.path(), "data.bin");
    // Nothing in the name of the file says that it is in memory.
    let script = r#"mount -t tmpfs tmpfs "$1" && cp "$2" "$1" && exec "$3" written "$1/data.bin""#;
    let mut command = Command::new("unshare");
    command.args(["-m", "sh", "-c", script, "sh"]).arg(mount.path()).arg(&path).arg(&program);
    let running = Running::start(&mut command, "ready");
    let report = read(running.pid(), &ReadOptions::default()).expect("our child");
    let of = entry(&report, &[Area::Other.title(), "shared memory and devices", "data.bin"]);
    assert_eq!(of, 2 * HALF_BYTES, "{:#?}", report.entries);
}

/// An AOT cache (JDK 24 and later) is an archive of class data, whatever its file is called.
#[test]
fn an_aot_cache_is_the_archive_of_class_data() {
    let Some(java) = find_java(25, 64) else { skip!("no 64-bit JDK 25") };
    let folder = tempfile::tempdir().expect("a temporary folder");
    let (jar, cache) = (folder.path().join("app.jar"), folder.path().join("app.cached"));
    // Folders in the class path are refused.
    let mut packing = Command::new(java.with_file_name("jar"));
    packing.args(["--create", "--file"]).arg(&jar).arg("-C").arg(java_classes("java/Waiting.java")).arg(".");
    if !packing.status().is_ok_and(|status| status.success()) {
        skip!("no tool that makes a jar");
    }
    let command = |option: &str| {
        let mut command = Command::new(&java);
        command.arg(format!("-XX:{option}={}", cache.display())).arg("-Xmx128m").arg("-cp").arg(&jar);
        command.arg("Waiting");
        command
    };
    let made = command("AOTCacheOutput").output().expect("the JVM starts");
    assert!(cache.exists(), "{made:?}");
    let jvm = Running::start(&mut command("AOTCache"), "waiting");
    let report = read(jvm.pid(), &ReadOptions::default()).expect("our child");
    let named = |area: Area| {
        let of = report.entries.iter().filter(|entry| Area::of_path(&entry.path) == Some(area));
        of.filter(|entry| entry.path.iter().any(|part| part == "app.cached")).count()
    };
    assert_eq!((named(Area::Buffers), named(Area::Code)), (0, 0), "{:#?}", report.entries);
    let archive: u64 = ["shared", "private"]
        .iter()
        .map(|kind| entry(&report, &[Area::ClassMetadata.title(), "CDS archive", kind]))
        .sum();
    assert!(4 << 20 < archive, "{archive}: {:#?}", report.entries);
}
