//! The workflow, the action and the template in `deploy/ci`: their YAML is read, the program understands the commands in them, a shell
//! their steps, and the action runs a gate.

use assay_testkit::{checkout, skip, testdata};
use serde_json::Value;
use std::collections::BTreeMap;
use std::fs;
use std::io::Write;
use std::path::Path;
use std::process::{Command, Output, Stdio};

const FILES: [&str; 3] = ["github-ab.yml", "gitlab.yml", "action/action.yml"];
const ASSAY: &str = env!("CARGO_BIN_EXE_assay");

fn read(name: &str) -> Value {
    let path = checkout().join("deploy/ci").join(name);
    let text = fs::read_to_string(&path).unwrap_or_else(|e| panic!("{name}: {e}"));
    serde_saphyr::from_str(&text).unwrap_or_else(|e| panic!("{name}: {e}"))
}

/// Texts in a value, each with the key that it stands under.
fn texts<'a>(value: &'a Value, key: &'a str, found: &mut Vec<(&'a str, &'a str)>) {
    match value {
        Value::String(text) => found.push((key, text)),
        Value::Array(items) => items.iter().for_each(|item| texts(item, key, found)),
        Value::Object(of) => of.iter().for_each(|(key, value)| texts(value, key, found)),
        _ => {}
    }
}

/// The shell scripts of a file: steps, and what comes before them.
fn scripts(file: &Value) -> Vec<String> {
    let mut found = Vec::new();
    texts(file, "", &mut found);
    let is_script = |key: &str| ["run", "script", "before_script"].contains(&key);
    // Expressions of GitHub are none of a shell.
    let scripts = found.into_iter().filter(|(key, _)| is_script(key));
    scripts.map(|(_, text)| text.replace("${{", "$(: ").replace("}}", ")")).collect()
}

/// The values that a file gives to variables.
fn variables(file: &Value) -> BTreeMap<&str, &str> {
    let mut found = Vec::new();
    texts(file, "", &mut found);
    found.into_iter().filter(|(key, _)| key.chars().all(|c| c.is_ascii_uppercase() || c == '_')).collect()
}

/// What a shell says of a script that it only reads.
fn said_of(command: &[&str], script: &str) -> Option<Output> {
    let mut shell = Command::new(command[0])
        .args(&command[1..])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .ok()?;
    let mut input = shell.stdin.take().expect("it is piped");
    input.write_all(script.as_bytes()).expect("it reads");
    drop(input);
    Some(shell.wait_with_output().expect("it ends"))
}

#[test]
fn steps_are_shell() {
    for name in FILES {
        let scripts = scripts(&read(name));
        assert!(!scripts.is_empty(), "{name}");
        for script in scripts {
            let output = said_of(&["bash", "-n"], &script).expect("there is bash");
            assert!(output.status.success(), "{name}: {script}");
        }
    }
    let output = said_of(&["bash", "-n"], "if true; then").expect("there is bash");
    assert!(!output.status.success());
}

#[test]
fn steps_pass_shellcheck() {
    for name in FILES {
        // The lines of a job of GitLab are one script, in which variables of the job are set.
        let script = scripts(&read(name)).join("\n");
        let command = ["shellcheck", "--shell=bash", "-"];
        let Some(output) = said_of(&command, &script) else { skip!("there is no shellcheck") };
        assert!(output.status.success(), "{name}: {}", String::from_utf8_lossy(&output.stdout));
    }
}

/// The commands in scripts, with the values of the file's variables.
fn commands(file: &Value) -> Vec<Vec<String>> {
    let lines = scripts(file).join("\n");
    let commands = lines.lines().filter_map(|line| line.trim().strip_prefix("assay "));
    let commands = commands.map(|rest| rest.split(" ||").next().unwrap_or_default());
    let words = commands.map(|rest| {
        let values = variables(file);
        let value = |word: &String| {
            values
                .iter()
                .find(|(name, _)| word.strip_prefix('$') == Some(*name))
                .map(|(_, value)| (*value).to_owned())
        };
        let words = shell_words::split(rest).expect("words");
        words.into_iter().map(|word| value(&word).unwrap_or(word)).collect()
    });
    words.collect()
}

#[test]
fn the_program_understands_the_commands() {
    let is_understood =
        |words: &[String]| Command::new(ASSAY).args(words).arg("--help").output().expect("it starts");
    for (name, count) in [(FILES[0], 1), (FILES[1], 3)] {
        let commands = commands(&read(name));
        assert_eq!(commands.len(), count, "{name}: {commands:?}");
        for words in commands {
            assert!(!words.iter().any(|word| word == "$COMMAND" || word == "$LIMIT"), "{words:?}");
            let output = is_understood(&words);
            assert!(
                output.status.success(),
                "{name}: {words:?}: {}",
                String::from_utf8_lossy(&output.stderr)
            );
        }
    }
    assert!(!is_understood(&["ab".to_owned(), "--no-such-option".to_owned()]).status.success());
}

/// Runs the action as GitHub does: exit code, summary, outputs, and what it says.
fn act(folder: &Path, variables: &[(&str, &str)]) -> (Option<i32>, String, String, String) {
    let action = read("action/action.yml");
    let step = &action["runs"]["steps"][0];
    let mut command = Command::new("bash");
    command.args(["-c", step["run"].as_str().expect("a script")]).current_dir(folder);
    for name in step["env"].as_object().expect("variables").keys() {
        command.env(name, "");
    }
    let (summary, outputs) = (folder.join("summary.md"), folder.join("outputs"));
    command.env("GITHUB_ACTION_PATH", checkout().join("deploy/ci/action")).env("RUNNER_TEMP", folder);
    command.env("GITHUB_STEP_SUMMARY", &summary).env("GITHUB_OUTPUT", &outputs);
    let output = command.envs(variables.iter().copied()).output().expect("bash starts");
    let said = String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned();
    let text = |path: &Path| fs::read_to_string(path).unwrap_or_default();
    (output.status.code(), text(&summary), text(&outputs), said)
}

#[test]
fn the_action_runs_a_gate_and_shows_its_result() {
    let folder = tempfile::tempdir().expect("a folder");
    let log = testdata("gclog/17-g1.log").display().to_string();
    let gate = |command: &str, undecided: &str| {
        let command = command.replace("LOG", &log);
        let variables =
            [("ASSAY_COMMAND", command.as_str()), ("ASSAY_PATH", ASSAY), ("ASSAY_UNDECIDED", undecided)];
        act(folder.path(), &variables)
    };
    let (code, summary, outputs, said) = gate("assay gc LOG --fail-if 'pause_max_ms > 0'", "warn");
    assert_eq!(code, Some(1), "{said}");
    assert!(
        summary.contains(": fails, 1 of 1 condition") && outputs.ends_with("exit-code=1\n"),
        "{summary}{outputs}"
    );
    let (code, ..) = gate("gc LOG --fail-if 'pause_max_ms > 100000'", "warn");
    assert_eq!(code, Some(0));
    // The log is of a run without concurrent cycles.
    let run = testdata("formats/run").display().to_string();
    let (code, summary, ..) = gate(&format!("compare {run} {run}"), "warn");
    assert_ne!(code, Some(2), "{summary}");
    assert!(summary.contains("# "), "the result is the summary: {summary}");
    let (code, _, _, said) = gate("gc LOG --no-such-option", "warn");
    assert!(code == Some(2) && said.contains("::error::this is not a command of Assay"), "{code:?} {said}");
    let (code, _, _, said) = gate(" ", "warn");
    assert!(code == Some(2) && said.contains("::error::no command was given"), "{code:?} {said}");
}

#[test]
fn the_action_takes_what_cannot_be_determined_as_it_was_asked_to() {
    let folder = tempfile::tempdir().expect("a folder");
    let program = folder.path().join("assay");
    fs::write(
        &program,
        "#!/bin/sh\ncase \"$*\" in *--help) echo 'a command' ;; *) echo \"$@\"; exit 3 ;; esac\n",
    )
    .expect("written");
    let mut mode = fs::metadata(&program).expect("it is there").permissions();
    std::os::unix::fs::PermissionsExt::set_mode(&mut mode, 0o755);
    fs::set_permissions(&program, mode).expect("it is ours");
    let path = program.display().to_string();
    let gate = |undecided| {
        act(
            folder.path(),
            &[
                ("ASSAY_COMMAND", "x 'a b' \"c d\" $HOME"),
                ("ASSAY_PATH", &path),
                ("ASSAY_UNDECIDED", undecided),
            ],
        )
    };
    let (code, summary, _, said) = gate("warn");
    assert!(code == Some(0) && said.contains("::warning::"), "{code:?} {said}");
    assert_eq!(summary, "x a b c d $HOME --format md\n", "nothing is expanded");
    assert_eq!(gate("fail").0, Some(3));
}

#[test]
fn the_action_downloads_a_release_and_compares_its_checksum() {
    let folder = tempfile::tempdir().expect("a folder");
    let architecture = std::env::consts::ARCH;
    let release = folder.path().join("v1.2.3");
    let name = format!("assay-1.2.3-{architecture}-linux");
    fs::create_dir_all(release.join(&name)).expect("ours");
    fs::write(release.join(&name).join("assay"), "#!/bin/sh\necho downloaded\n").expect("written");
    let shell = |script: &str| {
        let status =
            Command::new("sh").args(["-c", script]).current_dir(&release).status().expect("it starts");
        assert!(status.success(), "{script}");
    };
    shell(&format!(
        "chmod +x {name}/assay && tar czf {name}.tar.gz {name} && sha256sum {name}.tar.gz >SHA256SUMS"
    ));
    let releases = format!("file://{}", folder.path().display());
    let get = |version| {
        act(
            folder.path(),
            &[("ASSAY_COMMAND", "host"), ("ASSAY_RELEASES", &releases), ("ASSAY_VERSION", version)],
        )
    };
    if Command::new("curl").arg("--version").output().is_err() {
        skip!("there is no curl");
    }
    let (code, summary, _, said) = get("v1.2.3");
    assert!(code == Some(0) && summary == "downloaded\n", "{code:?} {summary} {said}");
    let (code, _, _, said) = get("1.2.4");
    assert!(code == Some(2) && said.contains("::error::no release v1.2.4 at"), "{code:?} {said}");
    shell(&format!("echo more >>{name}.tar.gz"));
    let (code, _, outputs, said) = get("1.2.3");
    assert!(code != Some(0) && said.contains("FAILED"), "{code:?} {said}");
    assert_eq!(outputs, "exit-code=0\n", "nothing more was run");
}
