//! The attach protocol against real JVMs of both word sizes, and against everything that only looks like one.

use assay_hotspot::{AttachError, attach_command};
use assay_linux::ProcRoot;
use assay_testkit::{Running, find_java, skip, start_java};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

const TIMEOUT: Duration = Duration::from_secs(120);

fn waiting(java: &Path) -> Running {
    start_java(java, &["-Xmx128m"], &[], "Waiting")
}

fn is_alive(child: &Running) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{}/stat", child.pid())).unwrap_or_default();
    stat.rsplit_once(") ").is_some_and(|(_, rest)| !rest.starts_with(['Z', 'X']))
}

fn ask(pid: u32, command: &str) -> Result<String, AttachError> {
    attach_command(&ProcRoot::default(), pid, command, TIMEOUT)
}

fn request_file(pid: u32) -> PathBuf {
    Path::new("/tmp").join(format!(".attach_pid{pid}"))
}

fn socket(pid: u32) -> PathBuf {
    Path::new("/tmp").join(format!(".java_pid{pid}"))
}

fn a_jvm_answers(feature: u32, bits: u8) {
    let Some(java) = find_java(feature, bits) else { skip!("no {bits}-bit JDK {feature}") };
    let child = waiting(&java);
    let first = ask(child.pid(), "VM.version").expect("an answer of a JVM that did not listen before");
    assert!(first.contains(&format!("JDK {feature}")), "{first}");
    assert!(!request_file(child.pid()).exists(), "the file that asked for the listener is gone");
    let again = ask(child.pid(), "VM.version").expect("an answer of a JVM that listens");
    assert_eq!(first, again);
    if java.with_file_name("jcmd").exists() {
        // jcmd writes the number of the process first.
        let text = child.jcmd(&java, &["VM.version"]);
        assert_eq!(text.split_once('\n').map(|(_, rest)| rest), Some(first.as_str()), "as jcmd says");
    }
    let refused = ask(child.pid(), "No.such_command").expect_err("a command that no JVM has");
    assert!(matches!(refused, AttachError::Refused { .. }), "{refused}");
    assert!(is_alive(&child));
}

#[test]
fn a_64_bit_jvm_17_answers() {
    a_jvm_answers(17, 64);
}

#[test]
fn a_64_bit_jvm_25_answers() {
    a_jvm_answers(25, 64);
}

#[test]
fn a_32_bit_jvm_17_answers() {
    a_jvm_answers(17, 32);
}

#[test]
fn a_jvm_in_another_pid_namespace_is_asked_by_its_number_in_there() {
    let Some(java) = find_java(17, 64) else { skip!("no 64-bit JDK 17") };
    let namespace = ["--pid", "--fork", "--kill-child", "--mount-proc"];
    let made = Command::new("unshare").args(namespace).arg("true").status();
    if !made.is_ok_and(|status| status.success()) {
        skip!("namespaces cannot be made here")
    }
    let folder = tempfile::tempdir().expect("a temporary folder");
    let inside = folder.path().join("java");
    let script = format!("#!/bin/sh\nexec unshare {} {} \"$@\"\n", namespace.join(" "), java.display());
    std::fs::write(&inside, script).expect("a script");
    std::fs::set_permissions(&inside, PermissionsExt::from_mode(0o700)).expect("mode");
    let outer = waiting(&inside);
    let children = format!("/proc/{0}/task/{0}/children", outer.pid());
    let children = std::fs::read_to_string(children).expect("the children of unshare");
    let pid: u32 = children.trim().parse().expect("one child, the JVM");
    let answer = ask(pid, "VM.version");
    assert!(answer.as_ref().is_ok_and(|a| a.contains("JDK 17")), "{answer:?}");
    assert!(Path::new("/tmp/.java_pid1").exists(), "its socket has its number in there");
    let _ = std::fs::remove_file("/tmp/.java_pid1");
}

#[test]
fn a_process_that_is_no_jvm_is_not_signalled() {
    let child = Running::start(Command::new("sh").args(["-c", "echo waiting; exec sleep 1000"]), "waiting");
    let refused = ask(child.pid(), "VM.version").expect_err("no JVM");
    assert!(matches!(refused, AttachError::NotJvm { .. }), "{refused}");
    assert!(is_alive(&child));
    assert!(!request_file(child.pid()).exists());
}

#[test]
fn a_jvm_that_does_not_catch_quit_is_not_signalled() {
    let Some(java) = find_java(17, 64) else { skip!("no 64-bit JDK 17") };
    let child = start_java(&java, &["-Xmx128m", "-Xrs"], &[], "Waiting");
    let answer = ask(child.pid(), "VM.version");
    assert!(answer.is_ok(), "it listens from its start: {answer:?}");
    std::fs::remove_file(socket(child.pid())).expect("its socket");
    let refused = ask(child.pid(), "VM.version").expect_err("it would die");
    assert!(matches!(refused, AttachError::QuitNotCaught { .. }), "{refused}");
    assert!(is_alive(&child));
    assert!(!request_file(child.pid()).exists());
}

#[test]
fn a_socket_of_another_process_is_refused() {
    let Some(java) = find_java(17, 64) else { skip!("no 64-bit JDK 17") };
    let child = waiting(&java);
    let path = socket(child.pid());
    let foreign = |why: &str| {
        let refused = ask(child.pid(), "VM.version").expect_err("a socket that is not the JVM's");
        assert!(matches!(&refused, AttachError::ForeignSocket { .. }), "{refused}");
        assert!(refused.to_string().contains(why), "{refused}");
    };

    let listener = UnixListener::bind(&path).expect("a socket in the JVM's place");
    std::fs::set_permissions(&path, PermissionsExt::from_mode(0o600)).expect("mode");
    foreign("another process listens");
    std::fs::set_permissions(&path, PermissionsExt::from_mode(0o666)).expect("mode");
    foreign("everybody may write");
    drop(listener);
    std::fs::remove_file(&path).expect("a socket to remove");

    let elsewhere = tempfile::tempdir().expect("a temporary folder");
    let _listener = UnixListener::bind(elsewhere.path().join("s")).expect("a socket elsewhere");
    std::os::unix::fs::symlink(elsewhere.path().join("s"), &path).expect("a link in the JVM's place");
    foreign("not a socket");
    std::fs::remove_file(&path).expect("a link to remove");
    assert!(is_alive(&child));
}

#[test]
fn a_stopped_jvm_is_given_up_in_time_and_nothing_is_left() {
    let Some(java) = find_java(17, 64) else { skip!("no 64-bit JDK 17") };
    let child = waiting(&java);
    child.freeze();
    let timeout = Duration::from_millis(300);
    let late =
        attach_command(&ProcRoot::default(), child.pid(), "VM.version", timeout).expect_err("it is stopped");
    assert!(matches!(late, AttachError::Timeout { .. }), "{late}");
    assert!(!request_file(child.pid()).exists());
}

#[test]
fn commands_that_would_break_the_protocol_are_not_sent() {
    for command in [String::new(), "a\0b".to_owned(), "x".repeat(1025)] {
        assert!(matches!(ask(1, &command), Err(AttachError::BadCommand)));
    }
}
