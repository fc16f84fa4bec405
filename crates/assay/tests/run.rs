//! A study as it is typed: what comes of one in which nothing counts, and of one whose output nobody reads.

use assay_testkit::{each_java, skip};
use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

const ASSAY: &str = env!("CARGO_BIN_EXE_assay");

/// The server of the study: this program, which is given its port as the name of a test that there is not. It answers "no".
#[test]
fn as_server() {
    let Some(port) = std::env::args().skip(1).find_map(|word| word.parse::<u16>().ok()) else { return };
    assert!(std::env::var_os(FAILS).is_none(), "a server that does not start");
    let listener = TcpListener::bind(("127.0.0.1", port)).expect("the port that the study gave");
    for stream in listener.incoming().flatten() {
        std::thread::spawn(move || serve(&stream));
    }
}

fn serve(mut stream: &TcpStream) -> Option<()> {
    let mut lines = BufReader::new(stream).lines();
    loop {
        // No request has a body.
        while !lines.next()?.ok()?.is_empty() {}
        stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nno").ok()?;
    }
}

/// With this variable in its environment the server does not start.
const FAILS: &str = "ASSAY_TEST_SERVER_FAILS";

/// A study of some short windows, in which every answer is wrong unless "no" is expected. `other`: what the second level adds.
fn study(folder: &Path, expected: &str, other: &str) -> PathBuf {
    let program = std::env::current_exe().expect("a path");
    let scenario = format!(
        "schema = \"assay.scenario/1\"\nname = \"n\"\n[[operation]]\nname = \"a\"\npath = \"/\"\ncontains = \"{expected}\"\n"
    );
    let text = format!(
        r#"
schema = "assay.study/1"
name = "wrong"
scenario = "scenario.toml"
load = {{ kind = "closed", users = 1, think = "20ms" }}
[server]
command = "{} run::as_server --exact --nocapture {{port}}"
ready_url = "http://127.0.0.1:{{port}}/"
[[factor]]
name = "setting"
level = [{{ name = "one" }}, {{ name = "two"{other} }}]
[design]
kind = "resident"
blocks = 4
repeats_max = 0
window = "300ms"
warm_up = {{ cap = "0s" }}
"#,
        program.display()
    );
    let study = folder.join("study.toml");
    std::fs::write(&study, text).expect("a study file");
    std::fs::write(folder.join("scenario.toml"), scenario).expect("a scenario");
    study
}

fn assay_run(folder: &Path, expected: &str, out: &str) -> Command {
    let mut command = Command::new(ASSAY);
    command
        .arg("run")
        .arg(study(folder, expected, ""))
        .arg("--out")
        .arg(folder.join(out))
        .current_dir(folder);
    command
}

#[test]
fn a_comparison_of_which_one_side_does_not_start_is_not_decided() {
    let folder = tempfile::tempdir().expect("a folder");
    let study = study(folder.path(), "no", &format!(", environment = {{ {FAILS} = \"1\" }}"));
    // A metric that needs no quiet machine.
    let text = std::fs::read_to_string(&study).expect("the study");
    let text = text.replace("name = \"wrong\"", "name = \"wrong\"\nprimary_metric = \"rss_bytes\"");
    std::fs::write(&study, text).expect("the study");
    let run = |more: &[&str]| {
        let mut command = Command::new(ASSAY);
        command.arg("run").arg(&study).args(more).current_dir(folder.path());
        let Output { status, stderr, .. } = command.output().expect("assay starts");
        (status.code(), String::from_utf8_lossy(&stderr).into_owned())
    };
    let (code, said) = run(&["--out", "one"]);
    assert_eq!(code, Some(3), "{said}");
    assert!(said.contains("nothing is compared: one alone has a value of"), "{said}");
    assert_eq!(run(&["--out", "allowed", "--allow-invalid"]).0, Some(0));
}

/// The variant is left out of the plan: no JDK of its release is here. The server takes options of a JVM, and is none.
#[test]
fn a_comparison_of_which_one_side_cannot_run_here_is_not_decided() {
    if each_java(64).is_empty() {
        skip!("no 64-bit JDK");
    }
    let folder = tempfile::tempdir().expect("a folder");
    let study = study(folder.path(), "no", ", jvm = \"99\"");
    let text = std::fs::read_to_string(&study).expect("the study");
    let text = text.replace("name = \"wrong\"", "name = \"wrong\"\nprimary_metric = \"rss_bytes\"");
    let text = text
        .replace("command = \"", "command = \"sh -c 'exec ")
        .replace("{port}\"\nready", "{port}' {jvm_options}\"\nready");
    std::fs::write(&study, text).expect("the study");
    let output = Command::new(ASSAY).arg("run").arg(&study).current_dir(folder.path()).output();
    let Output { status, stderr, .. } = output.expect("assay starts");
    let said = String::from_utf8_lossy(&stderr);
    assert_eq!(status.code(), Some(3), "{said}");
    assert!(said.contains("nothing is compared: one alone can run here; two: "), "{said}");
}

#[test]
fn a_run_in_which_nothing_counts_exits_with_1_and_says_so() {
    let folder = tempfile::tempdir().expect("a folder");
    let Output { status, stdout, stderr } =
        assay_run(folder.path(), "yes", "out").output().expect("assay starts");
    let (out, said) = (String::from_utf8_lossy(&stdout), String::from_utf8_lossy(&stderr));
    assert_eq!(status.code(), Some(1), "{out}\n{said}");
    assert!(said.contains("nothing counts: no variant has a value of"), "{said}");
}

/// `assay run x 2>&1 | head -1`
#[test]
fn a_run_whose_reader_goes_away_ends_as_any() {
    let folder = tempfile::tempdir().expect("a folder");
    let (reader, writer) = std::io::pipe().expect("a pipe");
    let mut command = assay_run(folder.path(), "yes", "out");
    command.stdin(Stdio::null()).stdout(writer.try_clone().expect("a pipe")).stderr(writer);
    let mut child = command.spawn().expect("assay starts");
    drop(command);
    let mut first = String::new();
    BufReader::new(reader).read_line(&mut first).expect("text");
    assert!(!first.is_empty());
    assert_eq!(child.wait().expect("it ends").code(), Some(1));
    assert!(folder.path().join("out/summary.json").is_file(), "it ran to its end");
}

/// `rss_bytes` needs no quiet machine; a server that is not a JVM has no garbage.
#[test]
fn conditions_of_a_build_decide_its_exit_code() {
    let folder = tempfile::tempdir().expect("a folder");
    let exit = |out: &str, gates: &[&str]| {
        let mut command = assay_run(folder.path(), "no", out);
        let file = |ending: &str| folder.path().join(format!("{out}.{ending}"));
        command.args(["--allow-invalid", "--junit"]).arg(file("xml")).arg("--summary").arg(file("md"));
        command.arg("--html").arg(file("html"));
        for gate in gates {
            command.args(["--fail-if", gate]);
        }
        let Output { status, stderr, .. } = command.output().expect("assay starts");
        (status.code(), String::from_utf8_lossy(&stderr).into_owned())
    };
    let conditions = ["garbage_kib_per_request > +3 %", "rss_bytes > +900 %", "rss_bytes > 900000000000"];
    let (code, said) = exit("undecided", &conditions);
    assert_eq!(code, Some(3), "{said}");
    assert!(said.contains("passes: rss_bytes > 900000000000: two "), "{said}");
    assert!(said.contains("not shown: rss_bytes > +900 %: two against one "), "{said}");
    assert!(said.contains("each variant was one server"), "{said}");
    assert!(said.contains("undecided: garbage_kib_per_request > +3 %: not measured"), "{said}");
    let (code, said) = exit("fails", &["garbage_kib_per_request > +3 %", "rss_bytes > 1"]);
    assert_eq!(code, Some(1), "{said}");
    assert!(said.contains("fails: rss_bytes > 1: one "), "{said}");
    let junit = std::fs::read_to_string(folder.path().join("fails.xml")).expect("a file");
    assert!(junit.contains("<testsuite name=\"wrong\" tests=\"4\""), "{junit}");
    assert!(junit.contains("<failure message=\"fails: rss_bytes &#62; 1: two "), "{junit}");
    assert!(junit.contains("<error message=\"undecided: garbage"), "{junit}");
    let summary = std::fs::read_to_string(folder.path().join("fails.md")).expect("a file");
    assert!(summary.starts_with("# wrong: fails, "), "{summary}");
    assert!(summary.contains("\n# wrong\n"), "the report stands below: {summary}");
    let read = |path: &str| std::fs::read(folder.path().join(path)).expect("a page");
    assert!(read("fails.html") == read("fails/report.html"), "the same page");
}
