//! The library that trims malloc in any program (`preload/trim.c`): what it gives back, and that it disturbs nothing.

use assay_memory::{ReadOptions, SnapshotDepth, read};
use assay_testkit::{Running, each_release, find_java, java_classes, skip, start_buffers};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::time::{Duration, Instant};

const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");
const BUFFERS: u32 = 3000;
const JVM: [&str; 3] = ["-Xmx64m", "-XX:+UseSerialGC", "-XX:MaxDirectMemorySize=1g"];

/// Compiles the library into a folder; an error says why it cannot be.
fn library(folder: &Path) -> Result<PathBuf, String> {
    let path = folder.join("libassay_trim.so");
    let built = Command::new(Path::new(ROOT).join("scripts/build-trim")).arg(&path).output();
    let built = built.map_err(|e| format!("no shell: {e}"))?;
    let compiler_is_here = Command::new("cc").arg("--version").output().is_ok();
    assert!(built.status.success() || !compiler_is_here, "{}", String::from_utf8_lossy(&built.stderr));
    if built.status.success() { Ok(path) } else { Err("no C compiler".to_owned()) }
}

/// Bytes that a trim would give back now.
fn left_bytes(jvm: &Running) -> u64 {
    let report = read(jvm.pid(), &ReadOptions::of_depth(SnapshotDepth::Structures)).expect("our child");
    report.allocator.and_then(|allocator| allocator.trim_gain_bytes).expect("glibc can be trimmed")
}

fn start_preloaded(java: &Path, library: &Path, setting: (&str, &str)) -> Running {
    let mut command = Command::new(java);
    command.args(JVM).arg("-cp").arg(java_classes("allocators/Buffers.java"));
    command.args(["Buffers", &BUFFERS.to_string()]).env("LD_PRELOAD", library).env(setting.0, setting.1);
    command.env_remove("MALLOC_ARENA_MAX").env_remove("GLIBC_TUNABLES");
    Running::start(&mut command, "ready")
}

/// Waits until no more than so much is left to trim; gives what is.
fn left_when_trimmed(jvm: &Running, enough: u64) -> u64 {
    let begun = Instant::now();
    loop {
        let left = left_bytes(jvm);
        if left <= enough || Duration::from_secs(60) < begun.elapsed() {
            return left;
        }
        std::thread::sleep(Duration::from_millis(100));
    }
}

#[test]
fn preloaded_it_gives_back_what_was_predicted_on_every_release() {
    let folder = tempfile::tempdir().expect("a folder");
    let library = match library(folder.path()) {
        Ok(library) => library,
        Err(why) => skip!("{why}"),
    };
    let javas = each_release(64);
    if javas.is_empty() {
        skip!("no 64-bit JDK");
    }
    for (feature, java) in javas {
        let without = start_buffers(&java, &JVM[..2], BUFFERS);
        without.rest();
        let predicted = left_bytes(&without);
        drop(without);
        assert!(4 << 20 < predicted, "JDK {feature}: {predicted} bytes to trim");
        for setting in [("ASSAY_TRIM_PERIOD_MS", "300"), ("ASSAY_TRIM_AFTER_MIB", "1")] {
            let jvm = start_preloaded(&java, &library, setting);
            let left = left_when_trimmed(&jvm, predicted / 20);
            println!("JDK {feature} {setting:?}: {left} of {predicted} bytes left");
            assert!(left <= predicted / 20, "JDK {feature} {setting:?}: {left} of {predicted} bytes left");
        }
    }
}

fn output(library: &Path, preload: &str, command: &[&str]) -> Output {
    let preload = preload.replace("{}", &library.display().to_string());
    let mut command_line = Command::new(command[0]);
    command_line.args(&command[1..]).env("LD_PRELOAD", preload).env("ASSAY_TRIM_PROGRAM", "*");
    command_line.env("ASSAY_TRIM_AFTER_MIB", "1").env("ASSAY_TRIM_PERIOD_MS", "100");
    command_line.output().expect("it starts")
}

#[test]
fn programs_that_fork_and_start_others_do_what_they_did_without_it() {
    let folder = tempfile::tempdir().expect("a folder");
    let library = match library(folder.path()) {
        Ok(library) => library,
        Err(why) => skip!("{why}"),
    };
    let script = "for i in 1 2 3; do (x=$(seq 1 20000 | tail -1); echo $x) & done; wait; exit 7";
    let done = output(&library, "{}", &["sh", "-c", script]);
    assert_eq!(String::from_utf8_lossy(&done.stdout), "20000\n20000\n20000\n");
    assert_eq!((done.status.code(), String::from_utf8_lossy(&done.stderr).as_ref()), (Some(7), ""));
    let Some(java) = find_java(17, 64) else { skip!("no 64-bit JDK 17") };
    let java = java.display().to_string();
    let mut preloads = vec!["{}"];
    if Path::new("/usr/lib/x86_64-linux-gnu/libjemalloc.so.2").exists() {
        preloads.extend(["{}:libjemalloc.so.2", "libjemalloc.so.2:{}"]);
    }
    for preload in preloads {
        let done = output(&library, preload, &[&java, "-Xmx64m", "-version"]);
        assert!(done.status.success(), "{preload}: {}", String::from_utf8_lossy(&done.stderr));
    }
}

#[test]
fn it_acts_in_the_program_that_is_named_and_beside_no_other_allocator() {
    let folder = tempfile::tempdir().expect("a folder");
    let library = match library(folder.path()) {
        Ok(library) => library,
        Err(why) => skip!("{why}"),
    };
    let threads = |preload: String, program: &str| -> usize {
        let script = "echo ready; read line";
        let mut command = Command::new("bash");
        command.args(["-c", script]).env("LD_PRELOAD", preload).env("ASSAY_TRIM_PROGRAM", program);
        let running = Running::start(&mut command, "ready");
        std::fs::read_dir(format!("/proc/{}/task", running.pid())).expect("its threads").count()
    };
    let path = library.display().to_string();
    assert_eq!(threads(path.clone(), "bash"), 2);
    assert_eq!(threads(path.clone(), "*"), 2);
    assert_eq!(threads(path.clone(), "java"), 1);
    if Path::new("/usr/lib/x86_64-linux-gnu/libjemalloc.so.2").exists() {
        assert_eq!(threads(format!("{path}:libjemalloc.so.2"), "*"), 1);
        assert_eq!(threads(format!("libjemalloc.so.2:{path}"), "*"), 1);
    }
}
