//! Lints of the whole workspace.
//!
//! `cargo clippy` would compile every library a second time, without code: it only checks. Clippy's compiler makes code, too, if
//! it is asked to build, so what it has looked at is what the tests run: on two processors that saves a fifth of `./check`. What clippy
//! compiles and what rustc does is decided in `clippy-driver`, beside this crate's manifest.

use serde::Deserialize;
use std::process::{Command, Stdio};

/// Names what Cargo calls in the place of rustc for the crates of the workspace. `./check` sets it for all that it builds.
const WRAPPER: &str = "RUSTC_WORKSPACE_WRAPPER";

/// A message of Cargo.
#[derive(Deserialize)]
struct Message {
    /// What the compiler says.
    message: Option<Diagnostic>,
}

#[derive(Deserialize)]
struct Diagnostic {
    rendered: Option<String>,
}

/// Builds everything and returns whether the compiler and clippy reported nothing. Their messages go to stderr.
///
/// # Errors
/// Cargo cannot be run, or would not call clippy.
pub fn are_clean() -> Result<bool, String> {
    if !std::env::var(WRAPPER).is_ok_and(|wrapper| wrapper.ends_with("clippy-driver")) {
        return Err(format!("without {WRAPPER}=crates/check/clippy-driver nothing looks for lints"));
    }
    // `--all-targets` would build examples as tests, and the Rust tests would then build them again, as programs.
    let tests = builds_without_a_word(&[])?;
    Ok(builds_without_a_word(&["--benches"])? && tests)
}

/// Builds some targets, and prints what the compiler says.
fn builds_without_a_word(targets: &[&str]) -> Result<bool, String> {
    let mut command = Command::new("cargo");
    command.args(["test", "--workspace", "--locked", "--no-run", "--message-format=json"]).args(targets);
    let output = command.stderr(Stdio::inherit()).output();
    let output = output.map_err(|error| format!("cargo cannot be run: {error}"))?;
    let said = said(&String::from_utf8_lossy(&output.stdout))?;
    said.iter().for_each(|text| eprintln!("{text}"));
    Ok(said.is_empty() && output.status.success())
}

/// What the compiler said. Of libraries it says nothing: Cargo caps their lints. Cargo repeats what was said of unchanged crates.
fn said(messages: &str) -> Result<Vec<String>, String> {
    let mut all = Vec::new();
    for line in messages.lines().filter(|line| line.starts_with('{')) {
        let message: Message =
            serde_json::from_str(line).map_err(|error| format!("cargo's message: {error}"))?;
        all.extend(message.message.map(|diagnostic| diagnostic.rendered.unwrap_or_default()));
    }
    Ok(all)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_warning_is_heard_and_what_was_built_is_not() {
        let messages = r#"   Executable unittests src/lib.rs
{"reason":"compiler-artifact","manifest_path":"/w/crates/memory/Cargo.toml","target":{"kind":["lib"],"name":"assay_memory"}}
{"reason":"compiler-message","target":{"kind":["lib"]},"message":{"rendered":"warning: length comparison to zero","level":"warning"}}
{"reason":"build-script-executed","package_id":"x"}
{"reason":"build-finished","success":true}
"#;
        assert_eq!(said(messages).expect("messages"), ["warning: length comparison to zero"]);
        assert!(said("{\"reason\"").is_err());
    }
}
