//! What shells are offered: the program answers as the scripts ask it.

use assay_testkit::{find_java, skip, start_buffers};
use std::process::Command;

/// Shells that ask by the number of the word, and fish, which asks for the last one.
const SHELLS: [&str; 3] = ["bash", "zsh", "fish"];

/// The values that a shell is offered for the last of these words.
fn offered(shell: &str, words: &[&str]) -> Vec<String> {
    let output = Command::new(env!("CARGO_BIN_EXE_assay"))
        .args(["--", "assay"])
        .args(words)
        .env("ASSAY_COMPLETE", shell)
        .env("_CLAP_COMPLETE_INDEX", words.len().to_string())
        .env("_CLAP_IFS", "\n")
        .output()
        .expect("assay starts");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let said = String::from_utf8(output.stdout).expect("a text");
    // What a value means stands behind it: with a colon for zsh, behind a tabulator for fish.
    let ends: &[char] = if shell == "zsh" { &[':'] } else { &['\t'] };
    said.lines().map(|line| line.split(ends).next().unwrap_or_default().to_owned()).collect()
}

#[track_caller]
fn has(words: &[&str], wanted: &str) {
    for shell in SHELLS {
        let offered = offered(shell, words);
        assert!(offered.iter().any(|value| value == wanted), "{shell}: {wanted} is not in {offered:?}");
    }
}

#[test]
fn studies_scenarios_and_metrics_are_offered_in_each_shell() {
    has(&["run", "compressed"], "compressed-references");
    has(&["studies", "supermarket"], "supermarket-small");
    has(&["load", "http://127.0.0.1:1/", "--scenario", "kio"], "kiosk");
    has(&["run", "check", "--fail-if", "cpu_ms"], "cpu_ms_per_request");
    has(&["gc", "gc.log", "--fail-if", "pause_max"], "pause_max_ms");
    has(&["gc", "diff", "a.log", "b.log", "--fail-if", "pause_max"], "pause_max_ms");
}

#[test]
fn commands_options_and_their_words_are_offered() {
    has(&["mem"], "memory");
    has(&["memory", "--jc"], "--jcmd");
    has(&["report", "a.json", "--format", "nd"], "ndjson");
}

#[test]
fn a_running_jvm_is_offered_by_its_number() {
    let Some(java) = find_java(17, 64).or_else(|| find_java(25, 64)) else { skip!("no JDK") };
    let jvm = start_buffers(&java, &["-Xmx64m"], 1);
    let pid = jvm.pid().to_string();
    for command in
        [&["memory", ""][..], &["memory", "advise", ""], &["time", ""], &["heap", "predict", "--pid", ""]]
    {
        has(command, &pid);
    }
}

#[test]
fn scripts_ask_the_program() {
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let output = Command::new(env!("CARGO_BIN_EXE_assay")).args(["completions", shell]).output();
        let script = String::from_utf8(output.expect("assay starts").stdout).expect("a text");
        assert!(script.contains("ASSAY_COMPLETE") && script.contains("assay"), "{shell}: {script}");
    }
}
