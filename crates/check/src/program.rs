//! The test programs that Cargo builds.

use serde::Deserialize;
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

/// Names what Cargo calls in the place of rustc for the crates of the workspace. `./check` sets it for all that it builds.
pub const WRAPPER: &str = "RUSTC_WORKSPACE_WRAPPER";

/// Ends the name of an executable that has the tests of all files of a crate: to link one takes less than to link each.
const ALL: &str = "/all";
/// How long a program may take to list its tests.
const LISTING_MAX: Duration = Duration::from_secs(60);

/// A program of tests, a file of one, or the documentation tests of all crates.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Program {
    /// Crate and file: `memory/closure`, `memory/lib`; `doc` for the documentation tests.
    pub name: String,
    /// Absent for the documentation tests, which Cargo runs.
    pub executable: Option<PathBuf>,
    /// Folder of the crate, in which its tests run.
    pub folder: PathBuf,
    /// Its tests, as the harness calls them, where the executable has those of other files, too; empty: all that it has.
    pub only: Vec<String>,
}

impl Program {
    /// `PROGRAM::TEST` of a test, by what the harness calls it: in an executable of several files the file comes first.
    pub fn test(&self, called: &str) -> String {
        let test = called.split_once("::").filter(|_| !self.only.is_empty()).map_or(called, |(_, test)| test);
        format!("{}::{test}", self.name)
    }

    /// Parts an executable by its files, each of which is a module of it, so that each runs by itself, with rules of its own.
    fn by_file(self) -> Result<Vec<Program>, String> {
        let cannot = |why: &str| format!("{} does not list its tests: {why}", self.name);
        let output = self.command(&["--list", "--format=terse"], LISTING_MAX).output();
        let output = output.map_err(|error| cannot(&error.to_string()))?;
        if !output.status.success() {
            return Err(cannot(&String::from_utf8_lossy(&output.stderr)));
        }
        let mut files: BTreeMap<String, Vec<String>> = BTreeMap::new();
        for test in
            String::from_utf8_lossy(&output.stdout).lines().filter_map(|line| line.strip_suffix(": test"))
        {
            let (file, _) = test.split_once("::").ok_or_else(|| cannot(&format!("{test} is in no file")))?;
            files.entry(file.to_owned()).or_default().push(test.to_owned());
        }
        let package = self.name.strip_suffix(ALL).unwrap_or(&self.name);
        let parts = files.into_iter();
        Ok(parts
            .map(|(file, only)| Program { name: format!("{package}/{file}"), only, ..self.clone() })
            .collect())
    }

    /// The command that runs its tests, with these arguments for the test harness, and ends it when its time is over.
    pub fn command(&self, arguments: &[&str], time_max: Duration) -> Command {
        let mut command = Command::new("timeout");
        // In our own process group: Ctrl-C reaches the tests, and what they started.
        command.args(["--foreground", "--kill-after=10", &time_max.as_secs().to_string()]);
        match &self.executable {
            // Tests that call Cargo or rustc themselves use the plain compiler, as users do.
            Some(executable) => {
                command.arg(executable).env_remove(WRAPPER).env("CARGO_MANIFEST_DIR", &self.folder)
            }
            None => {
                let options = ["test", "--doc", "--workspace", "--locked", "--no-fail-fast", "--"];
                without_package(&mut command).arg(cargo().get_program()).args(options)
            }
        };
        command.args(arguments).current_dir(&self.folder).stdin(Stdio::null());
        command
    }
}

/// Cargo, as it was called for this program.
pub fn cargo() -> Command {
    let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    without_package(&mut command);
    command
}

/// Removes the variables that `cargo run` sets for this package. The build script of ring depends on them: if they differ from those of the
/// last build, ring and half of our crates are compiled again, which takes two minutes.
fn without_package(command: &mut Command) -> &mut Command {
    let of_package = |name: &OsString| {
        let name = name.to_string_lossy();
        name.starts_with("CARGO_MANIFEST_") || name.starts_with("CARGO_PKG_")
    };
    std::env::vars_os().map(|(name, _)| name).filter(of_package).fold(command, Command::env_remove)
}

/// What Cargo says of something that it built; of other messages nothing is kept.
#[derive(Deserialize)]
struct Message {
    executable: Option<PathBuf>,
    manifest_path: Option<PathBuf>,
    profile: Option<Profile>,
    target: Option<Target>,
}

#[derive(Deserialize)]
struct Profile {
    test: bool,
}

#[derive(Deserialize)]
struct Target {
    name: String,
    kind: Vec<String>,
}

/// Builds all tests, or those of the crates that some programs belong to. Cargo's own words go to stderr.
///
/// # Errors
/// They do not compile, or Cargo cannot be run.
pub fn build(only: &[String]) -> Result<Vec<Program>, String> {
    let mut command = cargo();
    command.args(["test", "--locked", "--no-run"]);
    if only.is_empty() {
        command.arg("--workspace");
    }
    for name in only.iter().filter_map(|name| name.split_once('/')).map(|(name, _)| name) {
        let package = if name == "assay" { name.to_owned() } else { format!("assay-{name}") };
        command.args(["-p", &package]);
    }
    let output = command.arg("--message-format=json-render-diagnostics").stderr(Stdio::inherit()).output();
    let output = output.map_err(|error| format!("cargo cannot be run: {error}"))?;
    if !output.status.success() {
        return Err("the tests do not compile".to_owned());
    }
    let mut programs = programs(&String::from_utf8_lossy(&output.stdout))?;
    let of_files: Vec<_> = programs.extract_if(.., |program| program.name.ends_with(ALL)).collect();
    for program in of_files {
        programs.extend(program.by_file()?);
    }
    programs.sort_by(|a, b| a.name.cmp(&b.name));
    let folder = std::env::current_dir().map_err(|error| error.to_string())?;
    programs.push(Program { name: "doc".to_owned(), executable: None, folder, only: Vec::new() });
    Ok(programs)
}

/// The programs in Cargo's messages.
fn programs(messages: &str) -> Result<Vec<Program>, String> {
    let mut programs = Vec::new();
    for line in messages.lines().filter(|line| line.starts_with('{')) {
        let message: Message =
            serde_json::from_str(line).map_err(|error| format!("cargo's message: {error}"))?;
        let (Some(executable), Some(manifest), Some(target)) =
            (message.executable, message.manifest_path, message.target)
        else {
            continue;
        };
        if !message.profile.is_some_and(|profile| profile.test) {
            continue;
        }
        let folder = manifest.parent().unwrap_or(Path::new("/")).to_owned();
        let package = folder.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let file = match target.kind.first().map(String::as_str) {
            Some("test") => target.name,
            Some("bin") => format!("bin-{}", target.name),
            _ => "lib".to_owned(),
        };
        programs.push(Program {
            name: format!("{package}/{file}"),
            executable: Some(executable),
            folder,
            only: Vec::new(),
        });
    }
    Ok(programs)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    #[test]
    fn test_programs_are_named_after_crate_and_file() {
        let said = r#"{"reason":"compiler-artifact","manifest_path":"/w/crates/memory/Cargo.toml","target":{"kind":["test"],"name":"closure"},"profile":{"test":true},"executable":"/w/target/debug/deps/closure-1"}
{"reason":"compiler-artifact","manifest_path":"/w/crates/memory/Cargo.toml","target":{"kind":["lib"],"name":"assay_memory"},"profile":{"test":true},"executable":"/w/target/debug/deps/assay_memory-1"}
{"reason":"compiler-artifact","manifest_path":"/w/crates/assay/Cargo.toml","target":{"kind":["bin"],"name":"assay"},"profile":{"test":false},"executable":"/w/target/debug/assay"}
{"reason":"build-finished","success":true}
"#;
        let names: Vec<_> = programs(said).expect("messages").into_iter().map(|p| p.name).collect();
        assert_eq!(names, ["memory/closure", "memory/lib"]);
    }

    #[test]
    fn an_executable_of_several_files_is_a_program_for_each() {
        let folder = tempfile::tempdir().expect("a folder");
        let executable = folder.path().join("all");
        let lists =
            "#!/bin/sh\necho 'truth::known: test'\necho 'closure::jdk::17: test'\necho 'truth::leak: test'\n";
        std::fs::write(&executable, lists).expect("a script");
        std::fs::set_permissions(&executable, PermissionsExt::from_mode(0o700)).expect("our file");
        let all = Program {
            name: "memory/all".to_owned(),
            executable: Some(executable),
            folder: folder.path().to_owned(),
            only: Vec::new(),
        };
        let files = all.by_file().expect("a list");
        let tests: Vec<_> =
            files.iter().flat_map(|file| file.only.iter().map(|called| file.test(called))).collect();
        assert_eq!(tests, ["memory/closure::jdk::17", "memory/truth::known", "memory/truth::leak"]);
        assert_eq!(files[1].only, ["truth::known", "truth::leak"], "as the harness calls them");
    }
}
