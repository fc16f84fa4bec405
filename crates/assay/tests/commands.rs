//! Commands that our texts show, as they are typed: those of the README and the other Markdown files, and the examples in the
//! program's help. All of them are understood; those that need nothing but files and a JVM are run.

use assay_testkit::{CountingServer, each_java, skip, start_java, testdata};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

const ASSAY: &str = env!("CARGO_BIN_EXE_assay");

/// What stands for something of the reader's in a command, and what is given in its place.
const PLACEHOLDERS: [(&str, &str); 6] = [
    ("URL", "http://h/"),
    ("HOST:PORT,...", "h:7447"),
    ("PID", "1"),
    ("LOG...", "LOG"),
    ("...", ""),
    ("$!", "1"),
];
/// Words of the launcher, which `scripts/test-setup` tests.
const OF_THE_LAUNCHER: [&str; 2] = ["setup", "demo"];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn markdown_files(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).expect("readable folder").flatten() {
        let path = entry.path();
        let name = entry.file_name();
        if path.is_dir()
            && !["target", "node_modules", "runs", "crates", "testdata"].iter().any(|it| name == *it)
        {
            if !name.to_string_lossy().starts_with('.') {
                markdown_files(&path, found);
            }
        } else if path.extension().is_some_and(|end| end == "md") {
            found.push(path);
        }
    }
}

/// The command in a line that shows one, without what is said of it behind.
fn shown_in(line: &str, prefix: &str) -> Option<String> {
    let rest = line.strip_prefix("    ").map(str::trim_start).or_else(|| line.strip_prefix("  "))?;
    let rest = rest.strip_prefix(prefix)?.strip_prefix(' ')?;
    let ends = |end: &str| rest.match_indices(end).map(|(at, _)| at).find(|at| !is_quoted(&rest[..*at]));
    let end = ["  ", " #", " > ", " | ", " & ", " && "].iter().filter_map(|end| ends(end)).min();
    Some(rest[..end.unwrap_or(rest.len())].trim_end_matches(" &").trim().to_owned())
}

/// Whether quotes are open behind a text.
fn is_quoted(before: &str) -> bool {
    before.matches('\'').count() % 2 == 1
}

fn in_markdown() -> Vec<(String, String)> {
    let mut files = Vec::new();
    markdown_files(&root(), &mut files);
    let mut shown = Vec::new();
    for file in files {
        let text = fs::read_to_string(&file).expect("a text").replace("\\\n", " ");
        // The rest of a command in the next line begins with many blanks.
        let text: String = text
            .lines()
            .map(|line| {
                let (first, rest) = line.split_at(line.len() - line.trim_start().len());
                format!(
                    "{first}{}\n",
                    if rest.contains("    -") {
                        rest.split_whitespace().collect::<Vec<_>>().join(" ")
                    } else {
                        rest.to_owned()
                    }
                )
            })
            .collect();
        shown.extend(
            text.lines()
                .filter_map(|line| shown_in(line, "./assay"))
                .map(|c| (file.display().to_string(), c)),
        );
    }
    shown
}

fn help(words: &[&str]) -> String {
    let output =
        Command::new(ASSAY).args(words).arg("--help").env("COLUMNS", "1000").output().expect("assay starts");
    assert!(output.status.success(), "{words:?}");
    String::from_utf8(output.stdout).expect("a text")
}

/// The examples of a command's help, and those of the commands below it.
fn in_help(words: &[&str], shown: &mut Vec<(String, String)>) {
    let text = help(words);
    let examples = text.split_once("EXAMPLES:").map_or("", |(_, rest)| rest);
    let place = format!("assay {} --help", words.join(" "));
    shown.extend(examples.lines().filter_map(|line| shown_in(line, "assay")).map(|c| (place.clone(), c)));
    let commands = text.split_once("\nCommands:\n").map_or("", |(_, rest)| rest);
    for line in commands.lines().take_while(|line| line.starts_with("  ")) {
        let name = line
            .strip_prefix("  ")
            .filter(|name| !name.starts_with(' '))
            .and_then(|name| name.split(' ').next());
        if let Some(name) = name.filter(|name| *name != "help") {
            in_help(&[words, &[name]].concat(), shown);
        }
    }
}

/// The words of a command; quotes keep some together, and what a shell would put in is a number.
fn words(command: &str) -> Vec<String> {
    let mut command = command.to_owned();
    while let Some(at) = command.find("$(") {
        let end = command[at..].find(')').map_or(command.len(), |end| at + end + 1);
        command.replace_range(at..end, "1");
    }
    let mut words = Vec::new();
    for (number, part) in command.split('\'').enumerate() {
        match number % 2 {
            0 => words.extend(part.split_whitespace().map(str::to_owned)),
            _ => words.push(part.to_owned()),
        }
    }
    let given =
        |word: String| PLACEHOLDERS.iter().fold(word, |word, (name, value)| word.replace(name, value));
    words.into_iter().map(given).filter(|word| !word.is_empty()).collect()
}

/// Whether the program understands it: asked for help at the end it fails at the first word that it does not know.
fn is_understood(command: &str) -> Output {
    Command::new(ASSAY).args(words(command)).arg("--help").output().expect("assay starts")
}

#[test]
fn every_command_that_is_shown_is_understood() {
    let mut shown = in_markdown();
    let in_markdown = shown.len();
    in_help(&[], &mut shown);
    assert!(in_markdown > 20 && shown.len() - in_markdown > 20, "{in_markdown} of {}", shown.len());
    let mut wrong = Vec::new();
    for (place, command) in &shown {
        if OF_THE_LAUNCHER.iter().any(|word| command.split(' ').next() == Some(*word)) {
            continue;
        }
        let output = is_understood(command);
        if !output.status.success() {
            wrong.push(format!("{place}: {command}\n{}", String::from_utf8_lossy(&output.stderr)));
        }
    }
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
    assert!(!is_understood("memory 1 --no-such-option").status.success());
}

/// Runs a command of the README or the documentation, with other words in the place of some.
fn run(folder: &Path, shown: &str, other: &[(&str, &str)]) -> String {
    let is_shown = in_markdown().iter().any(|(_, command)| command == shown);
    assert!(is_shown, "no text shows {shown} any more");
    let command = other.iter().fold(shown.to_owned(), |command, (word, other)| command.replace(word, other));
    let output =
        Command::new(ASSAY).args(words(&command)).current_dir(folder).output().expect("assay starts");
    let told = String::from_utf8_lossy(&output.stderr).into_owned();
    let said = String::from_utf8(output.stdout).expect("a text");
    // A load on a machine that others use is not valid, and says so.
    assert!(output.status.success() || said.contains("NOT VALID"), "{command}: {told}");
    said
}

#[test]
fn commands_of_our_texts_that_need_only_files_do_what_it_says() {
    let folder = tempfile::tempdir().expect("a folder");
    let put = |from: &str, name: &str| fs::copy(testdata(from), folder.path().join(name)).expect("a file");
    put("gclog/17-g1.log", "gc.log");
    put("../fuzz/corpus/hprof_read/dump-1.0.2-8", "brokerage.hprof");
    let said = run(folder.path(), "gc gc.log", &[]);
    assert!(said.contains("1 file") && said.contains("pauses"), "{said}");
    let said = run(folder.path(), "heap predict brokerage.hprof", &[]);
    assert!(said.contains("compact"), "{said}");
    let server = CountingServer::start();
    let shown = "load http://127.0.0.1:8080/ --rate 200 --duration 30s --connections 10";
    let said = run(folder.path(), shown, &[("http://127.0.0.1:8080/", &server.url), ("30s", "500ms")]);
    assert!(server.count() == 100 && said.contains("100"), "{said}");
}

#[test]
fn commands_of_our_texts_that_look_at_a_jvm_do_what_it_says() {
    let Some((_, java)) = each_java(64).pop_first() else { skip!("no 64-bit JDK") };
    let jvm = start_java(&java, &["-Xmx128m"], &[], "Waiting");
    let folder = tempfile::tempdir().expect("a folder");
    let said = run(folder.path(), "memory", &[]);
    assert!(said.contains(&jvm.pid().to_string()), "{said}");
    let said = run(folder.path(), "memory 4119", &[("4119", &jvm.pid().to_string())]);
    assert!(said.contains("resident (RSS)"), "{said}");
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
