//! `assay judge`: what it refuses, in whose words, and what it would do.

use assay_testkit::{each_java, skip};
use std::process::Command;

const ASSAY: &str = env!("CARGO_BIN_EXE_assay");
const SHOP: &str = "java -jar shop.jar {port}";

fn judge(arguments: &[&str]) -> (Option<i32>, String, String) {
    let folder = tempfile::tempdir().expect("a folder");
    let mut command = Command::new(ASSAY);
    let output =
        command.arg("judge").args(arguments).current_dir(folder.path()).output().expect("assay starts");
    let text = |bytes| String::from_utf8_lossy(bytes).into_owned();
    (output.status.code(), text(&output.stdout), text(&output.stderr))
}

fn refused(arguments: &[&str], wanted: &[&str]) {
    let (code, said, told) = judge(arguments);
    assert_eq!(code, Some(2), "{arguments:?}: {said}{told}");
    for words in wanted {
        assert!(told.contains(words), "{arguments:?}: {words} is not in {told}");
    }
}

#[test]
fn each_mistake_is_named_with_what_to_do() {
    refused(&["", "--command", SHOP], &["no flag is given", "assay judge '"]);
    refused(
        &["-Xmx1g -Xmx2g", "--command", SHOP],
        &["-Xmx1g and -Xmx2g set the same", "leave one of them out"],
    );
    refused(&["-Xmx1g shop", "--command", SHOP], &["\"shop\" is not a JVM flag", "in one argument"]);
    refused(&["-Xmx1g", "--command", "java -jar shop.jar"], &["--command", "{port}"]);
    refused(&["-Xmx1g"], &["<STUDY>", "--command <COMMAND>"]);
    refused(&["-Xmx1g", "none.toml", "--rate", "5"], &["leave --rate out"]);
    refused(&["-Xmx1g", "none.toml"], &["none.toml"]);
}

#[test]
fn flags_that_no_jvm_starts_with_are_refused_in_the_words_of_the_jvm() {
    let Some((_, java)) = each_java(64).pop_first() else { skip!("no 64-bit JVM") };
    let command = format!("{} -jar shop.jar {{port}}", java.display());
    refused(
        &["-Xmx1g -XX:+UseNoSuchThing", "--command", &command],
        &["does not start with these flags", "-XX:+UseNoSuchThing", "Unrecognized VM option"],
    );
    refused(
        &["-Xms2g -Xmx1g", "--command", &command],
        &["does not start with these flags", "InitialHeapSize is above MaxHeapSize"],
    );
}

#[test]
fn the_plan_says_what_costs_no_trial_and_what_would_be_compared() {
    let Some((_, java)) = each_java(64).pop_first() else { skip!("no 64-bit JVM") };
    let command = format!("{} -jar shop.jar {{port}}", java.display());
    let flags = "-Xmx256m -XX:+UseSerialGC -XX:MaxTenuringThreshold=2 -XX:SurvivorRatio=8";
    let (code, said, told) = judge(&[flags, "--command", &command, "--plan"]);
    assert_eq!(code, Some(0), "{said}{told}");
    for words in [
        "-XX:SurvivorRatio=8: default",
        "all 4 flags, heap size, collector, -XX:+UseSerialGC, -XX:MaxTenuringThreshold=2",
    ] {
        assert!(said.contains(words), "{words} is not in {said}");
    }
    let (code, said, told) = judge(&[flags, "--command", &command, "--budget", "20s"]);
    assert!(code == Some(2) && told.contains("too short"), "{said}{told}");
}
