//! What was typed: understood where it can be meant in one way only, and refused with the command that was meant.

use crate::arguments::Arguments;
use crate::command::what_file::said_of;
use crate::output::for_people;
use assay_text::{duration, near};
use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{Command, CommandFactory, Parser};
use std::ffi::OsString;
use std::path::Path;
use std::process::ExitCode;

/// Options whose value is left out often, so that it stands behind `=`; people write a blank.
const WITH_OPTIONAL_VALUE: [&str; 2] = ["--watch", "--freeze"];
/// Commands that take the PID as a plain argument.
const WITH_BARE_PID: [&str; 4] = ["memory", "time", "flags", "gc"];
/// Options that other tools have, and what they are called here.
const OPTIONS_ELSEWHERE: [(&str, &str); 9] = [
    ("--rps", "--rate"),
    ("--qps", "--rate"),
    ("--vus", "--users"),
    ("--clients", "--users"),
    ("--time", "--duration"),
    ("--seconds", "--for"),
    ("--interval", "--every"),
    ("--output", "--html"),
    ("-o", "--html"),
];
/// Commands that other tools have, and what to type here.
const COMMANDS_ELSEWHERE: [(&str, &str); 4] = [
    ("version", "assay --version"),
    ("list", "assay memory for JVMs that run, assay studies for ready-made studies"),
    ("ps", "assay memory"),
    ("diff", "assay compare for two runs of a study; memory, time, gc and host each have a diff"),
];
/// Wrong use.
const WRONG_USE: u8 = 2;

/// Parses the words of a command line, the program's name among them.
///
/// # Errors
/// The exit code, after what is wrong, or the help that was asked for, has been printed.
pub fn parse(words: Vec<OsString>) -> Result<Arguments, ExitCode> {
    let words = joined(words, |value| duration::parse_positive(value).is_ok());
    let mut error = match Arguments::try_parse_from(&words) {
        Ok(arguments) => return Ok(arguments),
        Err(error) => error,
    };
    // A number without a unit may be a PID, and is a value only where it cannot be one.
    let is_number = |value: &str| value.bytes().all(|byte| byte.is_ascii_digit());
    for again in [joined(words.clone(), is_number), with_bare_pid(words.clone())] {
        if again != words {
            match Arguments::try_parse_from(again) {
                Ok(arguments) => return Ok(arguments),
                Err(other) => error = other,
            }
        }
    }
    if !error.use_stderr() {
        let _ = error.print();
        return Err(ExitCode::SUCCESS);
    }
    // An option that does not exist is hardly ever a value.
    let is_misleading = |tips: &ContextValue| format!("{tips:?}").contains("as a value");
    if error.get(ContextKind::Suggested).is_some_and(is_misleading) {
        error.remove(ContextKind::Suggested);
    }
    let shown = one_too_many(&error, &words).as_ref().unwrap_or(&error).render();
    anstream::eprint!("{}", for_people(&shown.ansi().to_string()));
    let typed: Vec<String> = words.iter().skip(1).map(|word| word.to_string_lossy().into_owned()).collect();
    if let Some(hint) = hint(&error, &typed) {
        say!("{hint}");
    }
    Err(ExitCode::from(WRONG_USE))
}

/// `--watch 5s` as `--watch=5s`.
fn joined(words: Vec<OsString>, is_value: impl Fn(&str) -> bool) -> Vec<OsString> {
    let mut joined: Vec<OsString> = Vec::with_capacity(words.len());
    for word in words {
        let is_behind =
            joined.last().is_some_and(|last| WITH_OPTIONAL_VALUE.iter().any(|option| last == option));
        match joined.last_mut() {
            Some(last) if is_behind && word.to_str().is_some_and(&is_value) => {
                last.push("=");
                last.push(word);
            }
            _ => joined.push(word),
        }
    }
    joined
}

/// `-p 4242` and `--pid 4242` as `4242`, as other tools have it, for commands that take the PID as a plain argument.
fn with_bare_pid(words: Vec<OsString>) -> Vec<OsString> {
    if !words.get(1).is_some_and(|command| WITH_BARE_PID.iter().any(|name| command == name)) {
        return words;
    }
    let bare = |word: OsString| match word.to_str() {
        Some("-p" | "--pid") => None,
        Some(text) => Some(text.strip_prefix("--pid=").map_or_else(|| word.clone(), OsString::from)),
        None => Some(word),
    };
    words.into_iter().filter_map(bare).collect()
}

/// A word behind all that a command takes. The parser has it for one of the command's own commands.
fn one_too_many(error: &clap::Error, words: &[OsString]) -> Option<clap::Error> {
    let text = |kind| match error.get(kind) {
        Some(ContextValue::String(text)) => Some(text),
        _ => None,
    };
    let (word, taken) = (text(ContextKind::InvalidSubcommand)?, text(ContextKind::PriorArg)?);
    let mut program = Arguments::command();
    program.build();
    let command = program.find_subcommand_mut(words.get(1)?)?;
    let is_strange = command.find_subcommand(word).is_none();
    is_strange.then(|| {
        command.error(ErrorKind::ArgumentConflict, format!("unexpected argument '{word}' after '{taken}'"))
    })
}

/// What was meant, as far as the words show it.
fn hint(error: &clap::Error, typed: &[String]) -> Option<String> {
    let program = Arguments::command();
    let first = typed.first()?;
    match error.kind() {
        ErrorKind::InvalidSubcommand => {
            let Some(ContextValue::String(word)) = error.get(ContextKind::InvalidSubcommand) else {
                return None;
            };
            of_no_command(typed, word)
        }
        ErrorKind::MissingRequiredArgument | ErrorKind::UnknownArgument | ErrorKind::ArgumentConflict => {
            let command = program.find_subcommand(first)?;
            elsewhere(command, error)
                .or_else(|| misplaced(command, &typed[1..]))
                .or_else(|| without_option(typed))
                .or_else(|| two_files(command, &typed[1..]))
                .or_else(|| what_is_missing(error, typed))
        }
        _ => None,
    }
}

/// An option that this command has under another name.
fn elsewhere(command: &Command, error: &clap::Error) -> Option<String> {
    let Some(ContextValue::String(typed)) = error.get(ContextKind::InvalidArg) else { return None };
    let (_, here) = OPTIONS_ELSEWHERE.iter().find(|(elsewhere, here)| {
        let is_here = |name: &str| command.get_arguments().any(|argument| argument.get_long() == Some(name));
        typed == elsewhere && is_here(here.trim_start_matches('-'))
    })?;
    Some(format!("  did you mean: {here}"))
}

/// A file or a PID where a command is wanted: the command that is for it.
fn of_no_command(typed: &[String], word: &str) -> Option<String> {
    if typed.first().is_some_and(|first| first == "help") {
        return Some("  to list the commands: assay help".to_owned());
    }
    if let Some((_, here)) = COMMANDS_ELSEWHERE.iter().find(|(elsewhere, _)| *elsewhere == word) {
        return Some(format!("  did you mean: {here}"));
    }
    let is_of_heap = typed.first().is_some_and(|first| first == "heap");
    match (word.parse::<u32>(), is_of_heap) {
        (Ok(pid), true) => Some(format!("  of a running JVM: assay heap predict --pid {pid}")),
        (Ok(pid), false) => Some(format!("  of a process: assay memory {pid}, or: assay time {pid}")),
        (Err(_), _) => said_of(Path::new(word)).map(|said| format!("{word}: {said}")),
    }
}

/// A command below a command that is misspelt, or that stands behind what it is about.
fn misplaced(command: &Command, rest: &[String]) -> Option<String> {
    let names: Vec<&str> = command.get_subcommands().map(Command::get_name).collect();
    let (place, meant) = rest.iter().enumerate().find_map(|(place, word)| {
        let exact = names.iter().find(|name| *name == word).copied();
        let is_near = || near::nearest(word, names.iter().copied()).filter(|_| !Path::new(word).exists());
        exact.or_else(is_near).map(|meant| (place, meant))
    })?;
    if place == 0 && rest[0] == meant {
        return None;
    }
    let others = rest.iter().enumerate().filter(|(at, _)| *at != place).map(|(_, word)| word.as_str());
    let others: Vec<&str> = others.collect();
    Some(format!("  did you mean: assay {} {meant} {}", command.get_name(), others.join(" ")))
}

/// Two results where one is taken: `assay host monday.json tuesday.json`.
fn two_files(command: &Command, rest: &[String]) -> Option<String> {
    let files: Vec<&str> = rest.iter().map(String::as_str).filter(|word| Path::new(word).is_file()).collect();
    let [before, after] = files[..] else { return None };
    command.find_subcommand("diff")?;
    Some(format!("  did you mean: assay {} diff {before} {after}", command.get_name()))
}

/// A duration that stands alone: `assay time 4242 30s`.
fn without_option(typed: &[String]) -> Option<String> {
    let (first, rest) = typed.split_first().filter(|(first, _)| *first == "time" || *first == "memory")?;
    let is_alone = |(at, word): &(usize, &String)| {
        let is_behind_option = at.checked_sub(1).is_some_and(|before| rest[before].starts_with('-'));
        !is_behind_option && duration::parse_positive(word).is_ok()
    };
    let (at, _) = rest.iter().enumerate().find(is_alone)?;
    let is_series = |word: &String| ["--watch", "--record"].iter().any(|option| word.starts_with(option));
    let option = if first == "memory" && !rest.iter().any(is_series) { "--watch --for" } else { "--for" };
    let words: Vec<String> = rest
        .iter()
        .enumerate()
        .map(|(place, word)| if place == at { format!("{option} {word}") } else { word.clone() })
        .collect();
    Some(format!("  did you mean: assay {first} {}", words.join(" ")))
}

fn what_is_missing(error: &clap::Error, typed: &[String]) -> Option<String> {
    if error.kind() != ErrorKind::MissingRequiredArgument {
        return None;
    }
    let (first, second) = (typed.first()?.as_str(), typed.get(1).map(String::as_str));
    Some(match (first, second) {
        ("time" | "flags", None) | ("memory", Some("advise")) => {
            "  to list the running JVMs: assay memory".to_owned()
        }
        ("memory", _) => "  the PID of the process is missing, or an option that this one needs".to_owned(),
        ("gc", None) => "  name a log, a folder with logs, or the PID of a JVM that writes one".to_owned(),
        ("gc", Some("diff")) => "  two logs: assay gc diff before.log after.log".to_owned(),
        ("load", _) => {
            "  a load has an address and a law: assay load http://127.0.0.1:8080/ --rate 200, or --users 8"
                .to_owned()
        }
        ("capacity", _) => {
            "  an address, or the name of a workload: assay capacity http://127.0.0.1:8080/".to_owned()
        }
        ("run", None) => {
            "  to name a study: assay run compressed-references, or: assay run my-server.toml".to_owned()
        }
        ("report", None) => "  to name the folder that assay run wrote: assay report runs/tuesday".to_owned(),
        ("heap", Some("predict")) => {
            "  a heap dump: assay heap predict kafka.hprof, or a running JVM: assay heap predict --pid PID\n  \
             jcmd PID GC.heap_dump FILE makes a dump"
                .to_owned()
        }
        ("fit", _) => "  a server and a limit: assay fit --command 'java -jar shop.jar {port}' --rate 500 --limit p99=50ms\n  \
             in place of --command: a study, or --workload NAME"
            .to_owned(),
        ("ab", _) => {
            "  two commands: assay ab --before 'java -jar old.jar {port}' --after 'java -jar new.jar {port}'".to_owned()
        }
        ("judge", _) => {
            "  flags and a server: assay judge '-XX:+UseZGC' --command 'java -jar shop.jar {port}'\n  in place of --command: a study"
                .to_owned()
        }
        ("bisect", _) => {
            "  two commits and a study: assay bisect v2.3 main shop.toml --build 'mvn --quiet package'".to_owned()
        }
        ("merge", _) => "  the parts of a run and a new folder: assay merge part1 part2 --out runs/shop".to_owned(),
        ("compare", _) => "  two run directories: assay compare runs/monday runs/tuesday".to_owned(),
        ("why", _) => "  a running JVM or a log: assay why 4242, or: assay why gc.log; to list the running JVMs: assay memory".to_owned(),
        ("inject", _) => "  a new token: (umask 077; head -c 24 /dev/urandom | base64 > token)".to_owned(),
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn joined_by_blanks(line: &str, is_value: impl Fn(&str) -> bool) -> String {
        let words = joined(line.split(' ').map(OsString::from).collect(), is_value);
        words.iter().map(|word| word.to_string_lossy()).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn a_duration_behind_an_option_is_its_value_and_a_pid_is_not() {
        let is_duration = |value: &str| duration::parse_positive(value).is_ok();
        assert_eq!(joined_by_blanks("assay memory 7 --watch 5s", is_duration), "assay memory 7 --watch=5s");
        assert_eq!(joined_by_blanks("assay memory --watch 7", is_duration), "assay memory --watch 7");
        assert_eq!(joined_by_blanks("assay memory --freeze", is_duration), "assay memory --freeze");
    }

    #[test]
    fn a_pid_behind_an_option_is_the_process() {
        let bare = |line: &str| {
            let words = with_bare_pid(line.split(' ').map(OsString::from).collect());
            words.iter().map(|word| word.to_string_lossy()).collect::<Vec<_>>().join(" ")
        };
        assert_eq!(bare("assay memory -p 7 --json"), "assay memory 7 --json");
        assert_eq!(bare("assay time --pid=7 --for 3s"), "assay time 7 --for 3s");
        assert_eq!(bare("assay capacity URL --pid 7"), "assay capacity URL --pid 7", "it has that option");
    }

    #[test]
    fn commands_that_are_misspelt_or_misplaced_are_named() {
        let program = Arguments::command();
        let memory = program.find_subcommand("memory").expect("a command");
        let said = |rest: &str| {
            misplaced(memory, &rest.split(' ').map(str::to_owned).collect::<Vec<_>>()).unwrap_or_default()
        };
        assert_eq!(said("dif a b"), "  did you mean: assay memory diff a b");
        assert_eq!(said("4242 advise"), "  did you mean: assay memory advise 4242");
        assert_eq!(said("diff a"), "");
        assert_eq!(said("4242 --watch"), "");
    }
}
