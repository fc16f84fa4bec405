//! `assay run --on`: blocks on several hosts. `ssh` is a script that runs the command here; hosts of some names fail.

use assay_model::{StoredRun, file};
use std::io::{BufRead, BufReader, Read};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Output, Stdio};

const ASSAY: &str = env!("CARGO_BIN_EXE_assay");

/// A host `flaky` gives its plan and fails once after that; `dead` never answers; `old` has another version.
const SSH: &str = r#"#!/bin/sh
while [ "$1" != -- ]; do shift; done
host=$2
shift 2
case $host in
dead) echo 'ssh: connect to host dead port 22: No route to host' >&2; exit 255 ;;
old) echo '{"hello":{"version":"0.0.1","host":"old"}}'; cat >/dev/null; exit 0 ;;
flaky)
    if [ ! -e "$STATE/planned" ]; then touch "$STATE/planned"
    elif [ ! -e "$STATE/failed" ]; then touch "$STATE/failed"; echo 'client_loop: send disconnect: Broken pipe' >&2; exit 255
    fi ;;
esac
echo 'Welcome to this host.'
exec sh -c "$*"
"#;

/// A study of short windows with the server of the tests of `run`, in fresh processes. The metric needs no quiet machine.
pub fn study(folder: &Path) {
    let program = std::env::current_exe().expect("a path");
    let text = format!(
        r#"
schema = "assay.study/1"
name = "elsewhere"
scenario = "scenario.toml"
primary_metric = "rss_bytes"
load = {{ kind = "closed", users = 1, think = "20ms" }}
[server]
command = "{} run::as_server --exact --nocapture {{port}}"
ready_url = "http://127.0.0.1:{{port}}/"
[[factor]]
name = "setting"
level = [{{ name = "one" }}, {{ name = "two", environment = {{ OTHER = "1" }} }}]
[design]
kind = "fresh"
blocks = 3
repeats_max = 0
window = "300ms"
warm_up = {{ cap = "0s" }}
"#,
        program.display()
    );
    std::fs::write(folder.join("study.toml"), text).expect("a study file");
    let scenario = "schema = \"assay.scenario/1\"\nname = \"n\"\n[[operation]]\nname = \"a\"\npath = \"/\"\ncontains = \"no\"\n";
    std::fs::write(folder.join("scenario.toml"), scenario).expect("a scenario");
    let ssh = folder.join("bin/ssh");
    std::fs::create_dir_all(folder.join("bin")).expect("a folder");
    std::fs::write(&ssh, SSH).expect("a script");
    std::fs::set_permissions(&ssh, std::fs::Permissions::from_mode(0o755)).expect("a mode");
}

/// The run on these hosts, in the folder of the study.
fn command(folder: &Path, hosts: &str) -> Command {
    let path = format!("{}:{}", folder.join("bin").display(), std::env::var("PATH").unwrap_or_default());
    let mut command = Command::new(ASSAY);
    command.args(["run", "study.toml", "--out", "run", "--program", ASSAY, "--on", hosts]);
    command.current_dir(folder).env("PATH", path).env("STATE", folder);
    command
}

fn ran(folder: &Path, hosts: &str, more: &[&str]) -> (Option<i32>, String) {
    let Output { status, stderr, .. } = command(folder, hosts).args(more).output().expect("assay starts");
    (status.code(), String::from_utf8_lossy(&stderr).into_owned())
}

/// The run has every block once, and nothing else is left.
#[track_caller]
pub fn assert_whole(folder: &Path) {
    let run: StoredRun = assay_results::load_run(&folder.join("run")).expect("a run directory");
    let mut blocks: Vec<(u32, &str)> =
        run.trials.iter().map(|stored| (stored.trial.block, &*stored.trial.variant)).collect();
    blocks.sort_unstable();
    assert_eq!(blocks, [(1, "one"), (1, "two"), (2, "one"), (2, "two"), (3, "one"), (3, "two")]);
    assert!(run.hosts.is_some() && run.plan.part.is_empty());
    assert!(!folder.join("run/parts").exists());
    assert!(folder.join("run").join(file::REPORT).is_file());
}

#[test]
fn blocks_run_on_two_hosts_and_become_one_run() {
    let folder = tempfile::tempdir().expect("a folder");
    study(folder.path());
    let (code, said) = ran(folder.path(), "ssh:a,b", &[]);
    assert_eq!(code, Some(0), "{said}");
    assert_eq!(said.matches(" is complete").count(), 3, "{said}");
    assert_whole(folder.path());
}

#[test]
fn a_block_of_a_host_that_fails_is_made_by_another() {
    let folder = tempfile::tempdir().expect("a folder");
    study(folder.path());
    let (code, said) = ran(folder.path(), "ssh:flaky,dead,b", &[]);
    assert_eq!(code, Some(0), "{said}");
    assert!(said.contains("dead is left out: ") && said.contains("No route to host"), "{said}");
    assert!(said.contains("failed on flaky and is tried again") && said.contains("Broken pipe"), "{said}");
    assert_whole(folder.path());
}

#[test]
fn hosts_and_places_that_cannot_be_used_are_named_before_anything_runs() {
    let folder = tempfile::tempdir().expect("a folder");
    study(folder.path());
    let refused = |hosts: &str, more: &[&str], code: i32, words: &[&str]| {
        let (ended, said) = ran(folder.path(), hosts, more);
        assert_eq!(ended, Some(code), "{hosts}: {said}");
        words.iter().for_each(|words| assert!(said.contains(words), "{hosts}: {words} is not in {said}"));
        assert!(!folder.path().join("run").exists(), "{hosts}");
    };
    refused("ssh:dead", &[], 3, &["dead is left out", "No route to host", "no host can run the study"]);
    refused("ssh:a,old", &[], 2, &["old has Assay 0.0.1", "install the same there"]);
    refused("nowhere", &[], 2, &["\"nowhere\" is not a place", "ssh:HOST,HOST"]);
    refused("ssh:-oProxyCommand=x", &[], 2, &["is not the name of a host"]);
    refused("ssh:a", &["--blocks", "1"], 2, &["--blocks"]);
    refused("ssh:a", &["--send", "/etc/hostname"], 2, &["/etc/hostname", "the folder of the study file"]);
    let text = std::fs::read_to_string(folder.path().join("study.toml")).expect("the study");
    std::fs::write(folder.path().join("study.toml"), text.replace("\"fresh\"", "\"resident\""))
        .expect("a study");
    refused("ssh:a", &[], 2, &["kind = \"fresh\""]);
}

#[test]
fn an_interrupted_run_keeps_complete_blocks_and_goes_on() {
    let folder = tempfile::tempdir().expect("a folder");
    study(folder.path());
    let mut child = command(folder.path(), "ssh:a").stderr(Stdio::piped()).spawn().expect("assay starts");
    let mut lines = BufReader::new(child.stderr.take().expect("its output"));
    let mut line = String::new();
    while !line.contains("block 1 is complete") {
        line.clear();
        assert_ne!(lines.read_line(&mut line).expect("a line"), 0, "it ended");
    }
    let pid = rustix::process::Pid::from_child(&child);
    rustix::process::kill_process(pid, rustix::process::Signal::INT).expect("it runs");
    let mut said = String::new();
    lines.read_to_string(&mut said).expect("text");
    assert_eq!(child.wait().expect("it ends").code(), Some(130), "{said}");
    assert!(said.contains("--resume --out run"), "{said}");
    let (code, said) = ran(folder.path(), "ssh:a", &[]);
    assert!(code == Some(2) && said.contains("--resume"), "{said}");
    let (code, said) = ran(folder.path(), "ssh:a", &["--resume"]);
    assert_eq!(code, Some(0), "{said}");
    assert!(!said.contains("block 1 runs on"), "{said}");
    assert_whole(folder.path());
}
