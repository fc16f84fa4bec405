//! Starts of scripts in place of JVMs: output, options, environment, end.

use super::*;
use std::path::PathBuf;

const TIME: Duration = Duration::from_secs(120);

/// A script in place of `java`. Another process writes it: a child that another test starts while this one has the file
/// open for writing has it open, too, for a moment, and what is open for writing cannot be run ("text file busy").
fn script(text: &str) -> (assay_testkit::FakeTree, PathBuf) {
    let tree = assay_testkit::FakeTree::with(&[]);
    tree.write("text", format!("#!/bin/sh\n{text}\n").as_bytes());
    let (text, java) = (tree.path().join("text"), tree.path().join("java"));
    let copied = Command::new("install").args(["-m", "755"]).args([&text, &java]).status();
    assert!(copied.expect("install runs").success());
    (tree, java)
}

fn run(text: &str, time: Duration) -> Result<JvmOutput, StartError> {
    let (_tree, java) = script(text);
    run_java(&java, &["-Xmx1g".to_owned()], time, &AtomicBool::new(false))
}

#[test]
fn both_outputs_the_options_and_the_exit_code_come_back() {
    let output = run("echo out $*; echo err >&2; exit 3", TIME).expect("it ends");
    assert_eq!(output.text, "out -Xmx1g -XX:-UsePerfData -version\nerr\n");
    assert_eq!(output.exit_code, Some(3));
}

#[test]
fn options_in_the_environment_do_not_reach_it() {
    let output = run("env", TIME).expect("it ends");
    let foreign = |line: &&str| {
        !["PATH=", "PWD=", "LD_LIBRARY_PATH=", "_=", "SHLVL=", "OLDPWD="].iter().any(|n| line.starts_with(n))
    };
    assert_eq!(output.text.lines().filter(foreign).collect::<Vec<_>>(), Vec::<&str>::new());
}

#[test]
fn endless_output_is_cut_and_does_not_block() {
    let output = run("head -c 3000000 /dev/zero", TIME).expect("it ends");
    assert_eq!((output.text.len(), output.exit_code), (OUTPUT_BYTES_MAX, Some(0)));
}

fn is_alive(pid: &str) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    !stat.is_empty() && !stat.contains(") Z ")
}

/// Its children are ended with it.
fn assert_killed(text: &str) {
    let pids: Vec<&str> = text.split_whitespace().collect();
    assert_eq!(pids.len(), 2, "{text:?}");
    let gone = (0..12_000).any(|_| {
        std::thread::sleep(Duration::from_millis(10));
        !pids.iter().any(|pid| is_alive(pid))
    });
    assert!(gone, "{pids:?}");
}

const SLEEPER: &str = "sleep 100 & echo $$ $!; wait";

#[test]
fn one_that_does_not_end_is_killed_with_its_children() {
    let (_tree, java) = script(SLEEPER);
    let mut jvm = StartedJvm::start(&java, &[], Duration::from_secs(5)).expect("it starts");
    let never = AtomicBool::new(false);
    assert!(jvm.read_until("\n", &never).expect("it writes its numbers"));
    let text = jvm.text();
    let ended = jvm.read_until("nothing more", &never);
    assert!(matches!(ended, Err(StartError::TimeOver(_))), "{ended:?}");
    drop(jvm);
    assert_killed(&text);
}

#[test]
fn the_users_stop_ends_it() {
    let (_tree, java) = script(SLEEPER);
    let stop = AtomicBool::new(false);
    let mut jvm = StartedJvm::start(&java, &[], TIME).expect("it starts");
    assert!(jvm.read_until("\n", &stop).expect("it writes its numbers"));
    let text = jvm.text();
    stop.store(true, Ordering::SeqCst);
    assert!(matches!(jvm.read_until("nothing more", &stop), Err(StartError::Stopped)));
    drop(jvm);
    assert_killed(&text);
}

#[test]
fn what_is_not_there_cannot_be_started() {
    let started = run_java(Path::new("/nowhere/java"), &[], TIME, &AtomicBool::new(false));
    assert!(matches!(started, Err(StartError::Io(_))));
}

#[test]
fn a_jvm_whose_output_is_not_read_stands_still() {
    let Some(java) = assay_testkit::find_java(17, 64) else { assay_testkit::skip!("no JDK 17") };
    let options = ["-Xmx64m".to_owned(), "-Xlog:all=debug".to_owned()];
    let mut jvm = StartedJvm::start(&java, &options, TIME).expect("it starts");
    let stop = AtomicBool::new(false);
    assert!(jvm.read_until("Using G1", &stop).expect("it writes") || jvm.text().contains("Using"));
    std::thread::sleep(Duration::from_millis(500));
    assert!(is_alive(&jvm.pid().to_string()));
}
