//! The attach protocol against real JVMs of both word sizes, and against everything that only looks like one.

use assay_hotspot::{AttachError, SetFlagError, attach_command, set_flag};
use assay_linux::ProcRoot;
use assay_testkit::{Running, each_release, find_java, short_run, skip, start_java};
use std::os::unix::fs::{PermissionsExt, symlink};
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
        let jcmd =
            short_run(&java.with_file_name("jcmd")).args([&child.pid().to_string(), "VM.version"]).output();
        let text = String::from_utf8(jcmd.expect("it runs").stdout).expect("UTF-8");
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
    let child = Running::start(Command::new("sh").args(["-c", "echo waiting; read line"]), "waiting");
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
    symlink(elsewhere.path().join("s"), &path).expect("a link in the JVM's place");
    foreign("not a socket");
    std::fs::remove_file(&path).expect("a link to remove");
    assert!(is_alive(&child));
}

/// A process like a JVM that ignores SIGQUIT, and what `/proc` shows of it: with a root that somebody made.
fn behind_a_root(root: &Path) -> (tempfile::TempDir, Running, ProcRoot) {
    let script = "trap '' QUIT; echo waiting; while true; do sleep 1; done";
    let child = Running::start(Command::new("sh").args(["-c", script]), "waiting");
    let proc = tempfile::tempdir().expect("a temporary folder");
    let folder = proc.path().join(child.pid().to_string());
    std::fs::create_dir(&folder).expect("a folder");
    let user = rustix::process::geteuid().as_raw();
    let status =
        format!("Uid:\t{user}\t{user}\t{user}\t{user}\nGid:\t0\t0\t0\t0\nSigCgt:\t0000000000000004\n");
    std::fs::write(folder.join("status"), status).expect("a file");
    let smaps = "7f0000000000-7f0000001000 r-xp 00000000 fd:01 7 /opt/jdk/lib/server/libjvm.so\nRss: 4 kB\nVmFlags: rd ex\n";
    std::fs::write(folder.join("smaps"), smaps).expect("a file");
    symlink(root, folder.join("root")).expect("a link");
    let root = ProcRoot::at(proc.path());
    (proc, child, root)
}

#[test]
fn a_link_in_the_place_of_tmp_leads_nowhere_else() {
    let (root, outside) = (tempfile::tempdir().expect("a folder"), tempfile::tempdir().expect("a folder"));
    symlink(outside.path(), root.path().join("tmp")).expect("a link");
    let (_proc, child, proc) = behind_a_root(root.path());
    let ask = || attach_command(&proc, child.pid(), "VM.version", Duration::from_millis(300));
    // Where it led, the JVM would seem to listen.
    let trap = outside.path().join(format!(".java_pid{}", child.pid()));
    let _listener = UnixListener::bind(&trap).expect("a socket outside");
    let refused = ask().expect_err("a link out of the process's root");
    assert!(matches!(&refused, AttachError::Io { what: "open", .. }), "{refused}");
    assert_eq!(std::fs::read_dir(outside.path()).expect("a folder").count(), 1, "nothing is laid there");
    // Within its root a link leads where it does for the process.
    let within = root.path().join("inner");
    std::fs::create_dir(&within).expect("a folder");
    std::fs::remove_file(root.path().join("tmp")).expect("our link");
    symlink("/inner", root.path().join("tmp")).expect("a link");
    let late = ask().expect_err("nobody listens");
    assert!(matches!(&late, AttachError::Timeout { .. }), "{late}");
    assert_eq!(std::fs::read_dir(&within).expect("a folder").count(), 0, "the request is removed again");
}

#[test]
fn a_socket_of_another_user_is_refused() {
    let root = tempfile::tempdir().expect("a folder");
    std::fs::create_dir(root.path().join("tmp")).expect("a folder");
    let (_proc, child, proc) = behind_a_root(root.path());
    let path = root.path().join("tmp").join(format!(".java_pid{}", child.pid()));
    let _listener = UnixListener::bind(&path).expect("a socket");
    std::fs::set_permissions(&path, PermissionsExt::from_mode(0o600)).expect("mode");
    if std::os::unix::fs::chown(&path, Some(4242), None).is_err() {
        skip!("giving a file away needs root")
    }
    let refused = attach_command(&proc, child.pid(), "VM.version", TIMEOUT).expect_err("a foreign socket");
    assert!(refused.to_string().contains("belongs to another user"), "{refused}");
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

#[test]
fn a_manageable_flag_is_set_and_one_that_is_not_keeps_its_value() {
    let javas = each_release(64);
    if javas.is_empty() {
        skip!("no 64-bit JDK");
    }
    for (feature, java) in javas {
        let jvm = start_java(&java, &["-Xmx64m", "-Dnever=true"], &[], "Collected");
        let set = |name: &str, value: &str| set_flag(&ProcRoot::default(), jvm.pid(), name, value);
        let before = set("HeapDumpOnOutOfMemoryError", "true").expect("manageable in every release");
        assert_eq!(before, "false", "JDK {feature}");
        assert_eq!(set("HeapDumpOnOutOfMemoryError", &before).expect("set back"), "true", "JDK {feature}");
        let kept = set("MaxHeapSize", "33554432");
        assert!(
            matches!(&kept, Err(SetFlagError::Kept { now, .. }) if now == "67108864"),
            "{feature}: {kept:?}"
        );
        let unknown = set("NoSuchFlag", "1");
        assert!(matches!(unknown, Err(SetFlagError::Unknown { .. })), "{feature}: {unknown:?}");
        let bad = set("MinHeapFreeRatio", "1000");
        assert!(matches!(bad, Err(SetFlagError::Kept { .. })), "{feature}: {bad:?}");
    }
}
