//! `assay host` as it is typed: exit codes, messages, and what a snapshot holds.

use assay_model::{FlagOrigin, HostComparison, HostReport, HostSnapshot, HostVerdict, Severity, schema};
use assay_testkit::{find_java, skip, start_java};
use std::path::Path;
use std::process::{Command, Output};

fn assay(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_assay"))
        .arg("host")
        .args(arguments)
        .env("COLUMNS", "100")
        .output()
        .expect("assay starts")
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

fn read<T: serde::de::DeserializeOwned>(path: &Path) -> T {
    serde_json::from_slice(&fs_err::read(path).expect("a file")).expect("the stored form")
}

#[test]
fn a_snapshot_is_judged_and_compared_as_the_machine_was() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("a.json");
    let name = path.to_str().expect("a name");
    let live = assay(&["--json", "--snapshot", name]);
    assert_eq!(live.status.code(), Some(0), "{}", text(&live.stderr));
    let report: HostReport = serde_json::from_slice(&live.stdout).expect("the stored form");
    assert_eq!(report.schema, schema::HOST_CHECK);
    let elsewhere = assay(&[name, "--json"]);
    assert_eq!(serde_json::from_slice::<HostReport>(&elsewhere.stdout).expect("the stored form"), report);
    let same = assay(&["diff", name, name]);
    assert!(
        text(&same.stdout).contains("No difference in machine, settings and verdicts."),
        "{}",
        text(&same.stdout)
    );
    let mut changed: HostSnapshot = read(&path);
    let swappiness = "/proc/sys/vm/swappiness".to_owned();
    changed.files.insert(swappiness.clone(), assay_model::FileRead::Text("77\n".to_owned()));
    let other = folder.path().join("b.json");
    fs_err::write(&other, serde_json::to_vec(&changed).expect("JSON")).expect("written");
    let differs = assay(&["diff", name, other.to_str().expect("a name"), "--json"]);
    let comparison: HostComparison = serde_json::from_slice(&differs.stdout).expect("the stored form");
    assert_eq!(comparison.settings.iter().map(|change| &change.name).collect::<Vec<_>>(), [&swappiness]);
}

#[test]
fn an_exit_code_says_whether_something_grave_is_bad() {
    let output = assay(&["--json"]);
    let report: HostReport = serde_json::from_slice(&output.stdout).expect("the stored form");
    for (word, least) in
        [("note", Severity::Note), ("warning", Severity::Warning), ("error", Severity::Error)]
    {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("a.json");
        let name = path.to_str().expect("a name");
        assert!(assay(&["--snapshot", name]).status.success());
        let judged: HostReport =
            serde_json::from_slice(&assay(&[name, "--json"]).stdout).expect("the stored form");
        let is_bad =
            judged.rulings.iter().any(|of| of.verdict == HostVerdict::Bad && least <= of.finding.severity);
        assert_eq!(assay(&[name, "--fail-on", word]).status.code(), Some(i32::from(is_bad)), "{word}");
    }
    assert!(!report.rulings.is_empty());
}

#[test]
fn what_is_not_a_snapshot_is_wrong_input() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("a.json");
    fs_err::write(&path, "{\"schema\":\"assay.host/2\"}").expect("written");
    for arguments in [
        &[path.to_str().expect("a name")][..],
        &["/no/such/file"],
        &["diff", "/no/a", "/no/b"],
        &["--fail-on", "bad"],
    ] {
        let output = assay(arguments);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}");
        assert!(output.stdout.is_empty() && !output.stderr.is_empty());
    }
}

#[test]
fn a_jvm_is_in_the_snapshot_with_its_flags_and_without_its_secrets() {
    let Some(java) = find_java(17, 64) else { skip!("no JDK 17") };
    let options = ["-XX:+UseSerialGC", "-Xmx64m", "-Dshop.password=hunter22hunter", "-Xlog:gc:stderr"];
    let jvm = start_java(&java, &options, &[("API_TOKEN", "tokentoken4711")], "Waiting");
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("a.json");
    assert!(assay(&["--snapshot", path.to_str().expect("a name")]).status.success());
    let stored = fs_err::read_to_string(&path).expect("a file");
    assert!(!stored.contains("hunter22") && !stored.contains("tokentoken"), "a secret is stored");
    let snapshot: HostSnapshot = read(&path);
    let found = snapshot.jvms.iter().find(|of| of.pid == jvm.pid()).expect("the JVM");
    let flag = |name: &str| {
        let flag = &found.flags.as_ref().expect("its flags")[name];
        (flag.value.clone(), flag.set_by)
    };
    assert_eq!(flag("MaxHeapSize"), ((64 << 20).to_string(), FlagOrigin::User));
    assert_eq!(flag("UseSerialGC"), ("true".to_owned(), FlagOrigin::User));
    assert_eq!(flag("ThreadStackSize").1, FlagOrigin::Default);
    assert_eq!(
        (found.collector.as_deref(), found.feature, found.logs_collections),
        (Some("Serial"), Some(17), Some(true))
    );
    assert!(found.open_files > Some(2) && found.mappings > Some(20) && found.group.is_some(), "{found:?}");
}
