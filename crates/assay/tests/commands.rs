//! Commands that our texts show, as they are typed: those of the README, the documentation and the other Markdown files, and the examples
//! in the program's help. All of them are understood. Those of the README, the documentation and the help are run, with files and a JVM of
//! the tests in the place of the reader's; which are not, and why, says `ways::NOT_RUN`.

mod fixtures;
mod shown;
mod ways;

use assay_testkit::{CountingServer, each_java, java_classes, skip, start_java};
use fixtures::{Fixtures, run_in};
use shown::{Shown, in_help, in_markdown, words};
use std::collections::BTreeMap;
use std::process::{Command, Output};
use std::sync::Mutex;
use ways::{NOT_RUN, Way, has_its_options, is_name, is_right, way, with_our_words};

const ASSAY: &str = env!("CARGO_BIN_EXE_assay");
/// Words of the launcher, which `scripts/test-setup` tests.
const OF_THE_LAUNCHER: [&str; 2] = ["setup", "demo"];

/// Whether the program understands it: asked for help at the end it fails at the first word that it does not know.
fn is_understood(shown: &Shown) -> Output {
    let words =
        with_our_words(shown).into_iter().map(|word| if word == "PID" { "1".to_owned() } else { word });
    Command::new(ASSAY).args(words).arg("--help").output().expect("assay starts")
}

#[test]
fn every_command_that_is_shown_is_understood() {
    let in_markdown = in_markdown(|_| true);
    let in_help = in_help();
    let inline = in_markdown.iter().filter(|shown| shown.is_inline).count();
    let counts = [in_markdown.len() - inline, inline, in_help.examples.len()];
    assert!(counts.iter().all(|count| 20 < *count), "{counts:?}");
    let mut wrong = Vec::new();
    for shown in in_markdown.iter().chain(&in_help.examples) {
        let Shown { command, place, .. } = shown;
        if OF_THE_LAUNCHER.iter().any(|word| command.split(' ').next() == Some(*word)) {
            continue;
        }
        if is_name(shown, &in_help) {
            if !has_its_options(shown, &in_help) {
                wrong.push(format!("{place}: {command}: no such option"));
            }
            continue;
        }
        let output = is_understood(shown);
        if !output.status.success() {
            wrong.push(format!("{place}: {command}\n{}", String::from_utf8_lossy(&output.stderr)));
        }
    }
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
    let made_up =
        |command: &str| Shown { command: command.to_owned(), place: String::new(), is_inline: true };
    assert!(!is_understood(&made_up("memory 1 --no-such-option")).status.success());
    assert!(
        is_name(&made_up("gc --no-such"), &in_help) && !has_its_options(&made_up("gc --no-such"), &in_help)
    );
}

/// Commands that are to be run, each once, as they are shown first; by the words with which they are run.
fn to_be_run() -> BTreeMap<Vec<String>, Shown> {
    let in_help = in_help();
    let shown = in_markdown(|path| path == "README.md" || path.starts_with("docs/"));
    let typed = shown.into_iter().chain(in_help.examples.clone());
    let typed = typed.filter(|shown| !is_name(shown, &in_help));
    typed.map(|shown| (with_our_words(&shown), shown)).collect()
}

/// Whether a command looks at a process or at what only a JVM leaves.
fn needs_jvm(command: &[String]) -> bool {
    match command[0].as_str() {
        "memory" | "time" => command.get(1).is_some_and(|word| word != "diff"),
        "heap" => true,
        "flags" | "why" => command.iter().any(|word| word == "PID"),
        _ => false,
    }
}

/// Runs commands, some at a time, and says which went wrong.
fn run_all(commands: Vec<(Vec<String>, Shown)>, fixtures: &Fixtures, at_once: usize) {
    let count = commands.len();
    let commands = Mutex::new(commands.into_iter());
    let wrong = Mutex::new(Vec::new());
    let next = || commands.lock().expect("nobody panics with it").next();
    std::thread::scope(|scope| {
        for _ in 0..at_once {
            scope.spawn(|| {
                while let Some((command, shown)) = next() {
                    let (code, said) = run_in(fixtures, &command, way(&words(&shown.command)));
                    if !is_right(&command, code, &said) {
                        let Shown { command: typed, place, .. } = shown;
                        let what = format!("{place}: assay {typed}\n  run as {command:?}: {code:?}\n{said}");
                        wrong.lock().expect("nobody panics with it").push(what);
                    }
                }
            });
        }
    });
    let wrong = wrong.into_inner().expect("nobody panics with it");
    assert!(wrong.is_empty(), "{} of {count}:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn every_command_of_our_texts_that_needs_no_jvm_does_what_they_say() {
    let server = CountingServer::start();
    let fixtures = Fixtures::new(std::process::id(), Some(&server.url));
    let commands: Vec<_> = to_be_run().into_iter().filter(|(command, _)| !needs_jvm(command)).collect();
    assert!(40 < commands.len(), "{commands:#?}");
    // A search waits most of the time.
    run_all(commands, &fixtures, 6);
    assert!(100 < server.count());
}

#[test]
fn every_command_of_our_texts_that_looks_at_a_jvm_does_what_they_say() {
    let Some((_, java)) = each_java(64).pop_first() else { skip!("no 64-bit JDK") };
    let jvm = start_java(&java, &["-Xmx128m"], &[], "Waiting");
    let mut fixtures = Fixtures::new(jvm.pid(), None);
    fixtures.add_those_of_a_jvm(&java, &jvm, &java_classes("java/Waiting.java"));
    let commands: Vec<_> = to_be_run().into_iter().filter(|(command, _)| needs_jvm(command)).collect();
    assert!(30 < commands.len(), "{commands:#?}");
    run_all(commands, &fixtures, 3);
}

#[test]
fn each_reason_not_to_run_a_command_is_that_of_one() {
    let commands = to_be_run();
    let ways: Vec<Way> = commands.values().map(|shown| way(&words(&shown.command))).collect();
    for (wanted, why) in NOT_RUN {
        let is_its =
            |shown: &Shown| wanted.iter().all(|word| words(&shown.command).iter().any(|of| of == word));
        assert!(commands.values().any(is_its), "no text shows {wanted:?} any more: {why}");
    }
    let helped = ways.iter().filter(|way| matches!(way, Way::Help(_))).count();
    assert!(helped * 4 < ways.len(), "{helped} of {} commands are not run", ways.len());
}

/// `assay ... 2>&1 | head -1`: what is told goes nowhere, and the exit code is that of the command.
#[test]
fn a_closed_standard_error_changes_no_exit_code() {
    let (reader, writer) = std::io::pipe().expect("a pipe");
    drop(reader);
    let mut command = Command::new(ASSAY);
    command.args(["run", "/no/such/study.toml"]).stderr(writer);
    assert_eq!(command.status().expect("it runs").code(), Some(2));
}
