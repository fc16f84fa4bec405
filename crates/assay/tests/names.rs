//! Processes and studies by their names.

use assay_model::GcReport;
use assay_testkit::{find_java, skip, start_java};
use std::process::Command;

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
