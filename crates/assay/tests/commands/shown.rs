//! Commands that our texts show: those of the README and the other Markdown files, in lines of their own, in tables and in sentences, and
//! the examples in the program's help.

use assay_testkit::checkout;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// A command as a text shows it, without the program's name.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Shown {
    /// What a reader would type.
    pub command: String,
    /// Where it stands.
    pub place: String,
    /// It stands in a sentence or a table, where a command may be named without being typed.
    pub is_inline: bool,
}

/// Folders without texts of ours.
const LEFT_OUT: [&str; 5] = ["target", "node_modules", "runs", "crates", "testdata"];

fn markdown_files(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).expect("readable folder").flatten() {
        let (path, name) = (entry.path(), entry.file_name().to_string_lossy().into_owned());
        if path.is_dir() && !name.starts_with('.') && !LEFT_OUT.contains(&name.as_str()) {
            markdown_files(&path, found);
        } else if name.ends_with(".md") {
            found.push(path);
        }
    }
}

/// The command in a line that shows one, without what is said of it behind.
fn in_line(line: &str, prefix: &str) -> Option<String> {
    let rest = line.strip_prefix("    ").map(str::trim_start).or_else(|| line.strip_prefix("  "))?;
    Some(until_end(rest.strip_prefix(prefix)?.strip_prefix(' ')?))
}

/// A command up to what a shell does with it, or what is said of it.
fn until_end(rest: &str) -> String {
    let ends = |end: &str| rest.match_indices(end).map(|(at, _)| at).find(|at| !is_quoted(&rest[..*at]));
    let end = ["  ", " #", " > ", " | ", " & ", " && "].iter().filter_map(|end| ends(end)).min();
    rest[..end.unwrap_or(rest.len())].trim_end_matches(" &").trim().to_owned()
}

/// Whether quotes are open behind a text.
fn is_quoted(before: &str) -> bool {
    before.matches('\'').count() % 2 == 1
}

/// A text with the rest of a command, in the next line, on the same one.
fn with_whole_lines(text: &str) -> String {
    let text = text.replace("\\\n", " ");
    let lines = text.lines().map(|line| {
        let (first, rest) = line.split_at(line.len() - line.trim_start().len());
        // The rest of a command in the next line began with many blanks.
        let is_joined = rest.contains("    -");
        let rest =
            if is_joined { rest.split_whitespace().collect::<Vec<_>>().join(" ") } else { rest.to_owned() };
        format!("{first}{rest}\n")
    });
    lines.collect()
}

/// What stands between backquotes in sentences and tables; a command may go on in the next line.
fn in_sentences(text: &str) -> Vec<String> {
    let mut is_code = false;
    let prose = text.lines().map(|line| {
        let is_fence = line.trim_start().starts_with("```");
        is_code ^= is_fence;
        if is_code || is_fence || line.starts_with("    ") || line.is_empty() { "\n\n" } else { line }
    });
    let prose = prose.collect::<Vec<_>>().join(" ");
    let spans = prose.split("\n\n").flat_map(|paragraph| paragraph.split('`').skip(1).step_by(2));
    let commands = spans.filter_map(|span| {
        let rest = ["./assay ", "assay "].iter().find_map(|name| span.strip_prefix(name))?;
        let rest = rest.split_whitespace().collect::<Vec<_>>().join(" ");
        Some(until_end(&rest.replace("\\|", "|")))
    });
    commands.collect()
}

/// The commands in Markdown files below the checkout whose path `is_wanted`.
pub fn in_markdown(is_wanted: impl Fn(&str) -> bool) -> Vec<Shown> {
    let mut files = Vec::new();
    markdown_files(&checkout(), &mut files);
    let mut shown = Vec::new();
    for file in files {
        let path = file.strip_prefix(checkout()).expect("below it").display().to_string();
        if !is_wanted(&path) {
            continue;
        }
        let text = with_whole_lines(&fs::read_to_string(&file).expect("a text"));
        let of = |is_inline| {
            let place = path.clone();
            move |command| Shown { command, place: place.clone(), is_inline }
        };
        shown.extend(text.lines().filter_map(|line| in_line(line, "./assay")).map(of(false)));
        shown.extend(in_sentences(&text).into_iter().map(of(true)));
    }
    shown
}

/// What the program's help shows: examples, and the texts by command, such as `memory` and `memory diff`.
#[derive(Default)]
pub struct InHelp {
    pub examples: Vec<Shown>,
    pub texts: BTreeMap<String, String>,
}

pub fn in_help() -> InHelp {
    let mut found = InHelp::default();
    of_command(&[], &mut found);
    found
}

/// The examples of a command's help, and those of the commands below it.
fn of_command(words: &[&str], found: &mut InHelp) {
    let output = Command::new(super::ASSAY).args(words).arg("--help").env("COLUMNS", "1000").output();
    let output = output.expect("assay starts");
    assert!(output.status.success(), "{words:?}");
    let text = String::from_utf8(output.stdout).expect("a text");
    let place = format!("assay {} --help", words.join(" "));
    let examples = text.split_once("EXAMPLES:").map_or("", |(_, rest)| rest);
    let examples = examples.lines().filter_map(|line| in_line(line, "assay"));
    found.examples.extend(examples.map(|command| Shown { command, place: place.clone(), is_inline: false }));
    let commands = text.split_once("\nCommands:\n").map_or("", |(_, rest)| rest);
    for line in commands.lines().take_while(|line| line.starts_with("  ")) {
        let name = line
            .strip_prefix("  ")
            .filter(|name| !name.starts_with(' '))
            .and_then(|name| name.split(' ').next());
        if let Some(name) = name.filter(|name| *name != "help") {
            let words = [words, &[name]].concat();
            of_command(&words, found);
        }
    }
    found.texts.insert(words.join(" "), text);
}

/// The words of a command; quotes keep some together, and what a shell would put in is a number.
pub fn words(command: &str) -> Vec<String> {
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
    words
}
