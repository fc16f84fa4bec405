//! Processes and studies by their names.

use assay_model::GcReport;
use assay_testkit::{Running, find_java, java_classes, skip, start_java};
use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;
use zip::write::SimpleFileOptions;

const ASSAY: &str = env!("CARGO_BIN_EXE_assay");

#[test]
fn the_log_of_a_running_jvm_is_found_by_its_pid() {
    let Some(java) = find_java(17, 64) else { skip!("no JDK 17") };
    let folder = tempfile::tempdir().expect("a folder");
    let option = format!("-Xlog:gc*:file={}/gc-%p-%t.log:uptime,level,tags", folder.path().display());
    let jvm = start_java(&java, &[&option, "-Xmx256m"], &[], "Waiting");
    let output =
        Command::new(ASSAY).args(["gc", &jvm.pid().to_string(), "--json"]).output().expect("assay starts");
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success() && said.contains(&format!("gc-{}-2", jvm.pid())), "{said}");
    let report: GcReport = serde_json::from_slice(&output.stdout).expect("a report");
    assert!(report.jvms[0].version.as_deref().is_some_and(|version| version.starts_with("17")), "{said}");
    let silent = start_java(&java, &["-Xmx256m"], &[], "Waiting");
    let pid = silent.pid().to_string();
    let output = Command::new(ASSAY).args(["gc", &pid]).output().expect("assay starts");
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.code() == Some(2) && said.contains(&format!("jcmd {pid} VM.log")), "{said}");
}

/// A jar of this name that runs `Waiting`, so that no other JVM has its name.
fn waiting_jar(folder: &Path, name: &str) -> PathBuf {
    let classes = java_classes("java/Waiting.java");
    let manifest =
        format!("Manifest-Version: 1.0\nMain-Class: Waiting\nClass-Path: file:{}/\n", classes.display());
    // A line of a manifest has at most 72 bytes; a blank begins its continuation.
    let folded = |line: &str| {
        line.as_bytes().chunks(70).map(|part| String::from_utf8_lossy(part).into_owned()).collect::<Vec<_>>()
    };
    let lines: Vec<String> = manifest.lines().map(|line| folded(line).join("\n ") + "\n").collect();
    let path = folder.join(format!("{name}.jar"));
    let mut jar = zip::ZipWriter::new(File::create(&path).expect("a jar"));
    jar.start_file("META-INF/MANIFEST.MF", SimpleFileOptions::default()).expect("an entry");
    jar.write_all(lines.concat().as_bytes()).expect("written");
    jar.finish().expect("a jar");
    path
}

#[test]
fn every_command_about_a_process_takes_its_name() {
    let Some(java) = find_java(17, 64) else { skip!("no JDK 17") };
    let folder = tempfile::tempdir().expect("a folder");
    let name = format!("shop{}", std::process::id());
    let log = format!("-Xlog:gc:file={}/gc.log", folder.path().display());
    let mut command = Command::new(&java);
    command.args([log.as_str(), "-Xmx256m", "-jar"]).arg(waiting_jar(folder.path(), &name));
    let jvm = Running::start(&mut command, "waiting");
    let said = format!("{name} is process {}", jvm.pid());
    let closed = "http://127.0.0.1:1/";
    for (words, code) in [
        (&["gc", &name][..], 0),
        (&["gc", &name, "--follow", "--for", "10ms"], 0),
        (&["flags", &name], 0),
        (&["heap", "predict", "--pid", &name], 0),
        (&["heap", "modes", "--pid", &name], 0),
        // What follows needs a server.
        (&["capacity", closed, "--pid", &name], 3),
    ] {
        let output = Command::new(ASSAY).args(words).output().expect("assay starts");
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert!(stderr.contains(&said) && output.status.code() == Some(code), "{words:?}: {stderr}");
    }
}

#[test]
fn a_ready_made_study_runs_by_its_name() {
    let plan = |study: &str| {
        Command::new(ASSAY).args(["run", study, "--plan", "--json"]).output().expect("assay starts")
    };
    let of_file = plan(concat!(env!("CARGO_MANIFEST_DIR"), "/../../studies/check.toml"));
    let of_name = plan("check");
    let said = String::from_utf8_lossy(&of_name.stderr).into_owned();
    assert!(said.contains("studies/check.toml") || !of_file.status.success(), "{said}");
    assert_eq!((of_name.status.code(), &of_name.stdout), (of_file.status.code(), &of_file.stdout), "{said}");
}
