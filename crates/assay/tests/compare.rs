//! `assay compare`: a stored run beside another one, made of it by changing what it measured.

use assay_model::{CircumstanceOf, RunComparison, Verdict};
use assay_testkit::testdata;
use serde_json::Value;
use std::fs;
use std::path::Path;
use std::process::Command;

const ASSAY: &str = env!("CARGO_BIN_EXE_assay");

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).expect("a folder");
    for entry in fs::read_dir(from).expect("a folder").flatten() {
        let (source, target) = (entry.path(), to.join(entry.file_name()));
        if source.is_dir() {
            copy(&source, &target);
        } else {
            fs::copy(&source, &target).expect("copied");
        }
    }
}

fn change(path: &Path, change: impl FnOnce(&mut Value)) {
    let mut value: Value = serde_json::from_slice(&fs::read(path).expect("a file")).expect("JSON");
    change(&mut value);
    fs::write(path, serde_json::to_vec(&value).expect("JSON")).expect("written");
}

fn compare(before: &Path, after: &Path, more: &[&str]) -> (Option<i32>, String) {
    let mut command = Command::new(ASSAY);
    let output = command.arg("compare").args([before, after]).args(more).output().expect("assay starts");
    let said = [output.stdout, output.stderr].concat();
    (output.status.code(), String::from_utf8_lossy(&said).into_owned())
}

#[test]
fn a_run_beside_itself_differs_in_nothing() {
    let run = testdata("formats/run");
    let (code, said) = compare(&run, &run, &[]);
    assert_eq!(code, Some(0), "{said}");
    assert!(said.contains("Nothing that was stored: machine, JVMs and study are the same."), "{said}");
    let (_, stored) = compare(&run, &run, &["--json"]);
    let comparison: RunComparison = serde_json::from_str(&stored).expect("a comparison");
    assert!(!comparison.changes.is_empty() && comparison.circumstances.is_empty(), "{stored}");
    let is_equal = |ratio: f64| (ratio - 1.0).abs() < 1e-9;
    assert!(comparison.changes.iter().all(|change| is_equal(change.ratio.estimate)), "{stored}");
}

#[test]
fn what_was_changed_is_found_and_named() {
    let folder = tempfile::tempdir().expect("a folder");
    let (before, after) = (folder.path().join("before"), folder.path().join("after"));
    // The stored run is too short for intervals: each of its windows is measured four times, and slightly otherwise.
    for (run, factor) in [(&before, 1.0), (&after, 1.5)] {
        copy(&testdata("formats/run"), run);
        // A server for each block: of one server for each variant no time shows a difference.
        change(&run.join("plan.json"), |plan| plan["design"] = "fresh".into());
        for trial in fs::read_dir(run.join("trials")).expect("trials").flatten() {
            change(&trial.path().join("trial.json"), |trial| {
                let windows = trial["windows"].as_array().expect("windows").clone();
                let again = (0..4_u32).flat_map(|block| {
                    windows.iter().map(move |window| {
                        let mut window = window.clone();
                        window["block"] = (block + 1).into();
                        window["disturbances"] = Value::Array(Vec::new());
                        for (id, value) in window["metrics"].as_object_mut().expect("metrics") {
                            let factor = if id == "cpu_ms_per_request" { factor } else { 1.0 };
                            let noise = 1.0 + 0.01 * f64::from(block);
                            *value = (value.as_f64().expect("a number") * factor * noise).into();
                        }
                        window
                    })
                });
                trial["windows"] = again.collect();
            });
        }
    }
    change(&after.join("host.json"), |host| host["provenance"]["kernel"] = "9.9".into());
    change(&after.join("plan.json"), |plan| plan["load"] = "closed loop, 99 users".into());
    let (code, said) = compare(&before, &after, &["--json"]);
    assert_eq!(code, Some(0), "{said}");
    let comparison: RunComparison = serde_json::from_str(&said).expect("a comparison");
    for change in &comparison.changes {
        let is_changed = change.metric == "cpu_ms_per_request";
        assert_eq!(change.verdict == Verdict::Higher, is_changed, "{change:?}");
        assert_eq!(change.verdict == Verdict::NoDifferenceShown, !is_changed, "{change:?}");
    }
    assert!(comparison.changes.iter().any(|change| change.verdict == Verdict::Higher), "{said}");
    let of =
        |about| comparison.circumstances.iter().find(|one| one.about == about).map(|one| one.what.as_str());
    assert_eq!(of(CircumstanceOf::Host), Some("kernel"));
    assert_eq!(of(CircumstanceOf::Study), Some("load"));
    let (_, said) = compare(&before, &after, &[]);
    // Sentences are broken where the terminal ends.
    let said = said.split_whitespace().collect::<Vec<_>>().join(" ");
    for part in
        ["more than the runs' own noise", "1.50 [", "kernel ", "99 users", "not measured side by side"]
    {
        assert!(said.contains(part), "{part} is missing in\n{said}");
    }
}
