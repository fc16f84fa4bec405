//! `assay heap predict --pid` as it is typed.

use assay_model::{HeapPrediction, ModelName};
use assay_testkit::{each_java, find_java, skip, start_java};
use std::process::{Command, Output, Stdio};

fn assay(arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_assay"));
    command.args(arguments).env("COLUMNS", "100").stdin(Stdio::null()).output().expect("assay starts")
}

#[test]
fn the_heap_of_a_running_jvm_is_weighed_with_no_dump() {
    let Some((_, java)) = each_java(64).pop_last() else { skip!("no 64-bit JDK") };
    let jvm = start_java(&java, &["-Xmx200m", "-Dobjects=20000"], &[], "Objects");
    let pid = jvm.pid().to_string();
    let output = assay(&["heap", "predict", "--pid", &pid, "--json"]);
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{said}");
    assert!(said.contains(&format!("stopping process {pid} while")) && said.contains("(--freeze)"), "{said}");
    let prediction: HeapPrediction = serde_json::from_slice(&output.stdout).expect("the stored form");
    assert_eq!(prediction.dump_model, Some(ModelName::Compressed));
    assert_eq!(prediction.source, format!("process {pid}"));
    assert!(prediction.frozen_ms.is_some_and(|ms| 0.0 < ms), "{:?}", prediction.frozen_ms);
    assert!(20_000 < prediction.objects);
    assert!(prediction.problems.iter().any(|problem| problem.text.contains("nobody can reach any more")));
    let output = assay(&["heap", "predict", "--pid", &pid, "--freeze", "20s", "--class", "Objects$Mixed"]);
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success() && text.contains("compressed"), "{text}");
    println!("{text}");
}

#[test]
fn flags_that_no_model_has_and_rules_of_another_jdk_are_told() {
    let Some(java) = find_java(25, 64) else { skip!("no JDK 25") };
    let options = ["-Xmx100m", "-XX:-UseCompressedOops", "-XX:ObjectAlignmentInBytes=16", "-Dobjects=1000"];
    let jvm = start_java(&java, &options, &[], "Objects");
    let output = assay(&["heap", "predict", "--pid", &jvm.pid().to_string(), "--jdk", "17", "--json"]);
    let prediction: HeapPrediction = serde_json::from_slice(&output.stdout).expect("the stored form");
    assert_eq!(prediction.dump_model, None);
    let told: Vec<&str> = prediction.problems.iter().map(|problem| problem.text.as_str()).collect();
    let has = |part: &str| told.iter().any(|what| what.contains(part));
    assert!(
        has("-UseCompressedOops") && has("ObjectAlignmentInBytes=16: Assay knows no such layout"),
        "{told:?}"
    );
    assert!(has("a heap of JDK 25, sized by the layout rules of JDK 17"), "{told:?}");
}

#[test]
fn a_process_that_is_no_jvm_is_wrong_use() {
    let own = std::process::id().to_string();
    let output = assay(&["heap", "predict", "--pid", &own]);
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(2), "{said}");
    assert!(said.contains("is not a HotSpot JVM"), "{said}");
    let output = assay(&["heap", "predict", "--pid", "4194303"]);
    assert_eq!(output.status.code(), Some(2), "{}", String::from_utf8_lossy(&output.stderr));
}
