//! How a command that a text shows is run here: with which words in the place of the reader's, and to which end.

use super::shown::{InHelp, Shown, words};

/// How it is run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Way {
    /// As it is typed.
    ToItsEnd,
    /// It would run on.
    UntilCtrlC,
    /// A study: what it would run. Its servers, and minutes of load, are for `./check --long`.
    Plan,
    /// Its help alone, for this reason.
    Help(&'static str),
}

/// Commands that are not run here, by words that they have. Each is in some text.
pub const NOT_RUN: [(&[&str], &str); 25] = [
    (&["ab"], "it starts two servers for minutes; ./check --long compares two (tests/ab.rs)"),
    (&["judge"], "it starts servers for minutes; tests/judge.rs has its plans and refusals"),
    (&["fit"], "it starts servers in control groups for minutes; ./check --long runs it (tests/fit.rs)"),
    (&["memory", "--page-out"], "it needs swap; the tests of crates/memory make some"),
    (
        &["run", "--on"],
        "it needs hosts; tests/on.rs and tests/kubernetes.rs have scripts in the place of ssh and kubectl",
    ),
    (&["demo"], "it runs for minutes; ./check --long runs it"),
    (&["setup"], "it builds servers; scripts/test-setup runs it"),
    (&["merge"], "it needs the parts of a run; the tests of crates/study make them"),
    (&["bisect"], "it needs a repository with a change; the tests of crates/study make one"),
    (&["run", "shop.toml"], "it builds a repository; the tests of crates/study make one"),
    (&["heap", "modes", "--verify"], "it starts 140 JVMs; ./check --long runs it (tests/heap_modes.rs)"),
    (&["capacity", "--workload"], "it starts a server that `assay setup` builds"),
    (&["capacity", "--method"], "a sweep takes hours"),
    (&["capacity", "--injectors"], "it needs generators on other hosts; tests/inject.rs has them"),
    (&["load", "--injectors"], "it needs generators on other hosts; tests/inject.rs has them"),
    (&["load", "orders.toml"], "it needs a server of gRPC; the tests of crates/load have one"),
    (&["load", "chat://127.0.0.1:8090"], "it needs a chat server; the tests of crates/load have one"),
    (&["load", "ws://127.0.0.1:8080/feed"], "it needs a WebSocket server; the tests of crates/load have one"),
    (&["host", "--what-if"], "it changes settings of the machine"),
    (&["run", "--fail-if"], "a plan has no result to judge; tests/run.rs runs a study with a condition"),
    (&["run", "--resume"], "it needs an interrupted run; tests of crates/study make one"),
    (&["run", "--allow-host-changes", "huge-pages"], "it changes settings of the machine"),
    (&["run", "--allow-host-changes", "airline-20-jvms"], "it changes settings of the machine"),
    (&["run", "--allow-host-changes", "non-java-memory-swapping"], "it changes settings of the machine"),
    (&["run", "--allow-host-changes", "studies/huge-pages.toml"], "it changes settings of the machine"),
];

/// What a text has in the place of something of the reader's, by command, and what it is here. `""` is any command, and goes last.
const IN_PLACE: [(&str, &[(&str, &str)]); 16] = [
    ("gc diff", &[("BEFORE", "before.log"), ("AFTER", "after.log"), ("before/", "logs"), ("after/", "logs")]),
    (
        "gc",
        &[
            ("LOG", "gc.log"),
            ("LOG...", "gc.log"),
            ("gc.log*", "gc.log"),
            ("gc.log.*", ""),
            ("/var/log/shop", "logs"),
        ],
    ),
    (
        "memory diff",
        &[
            ("EARLIER", "monday.json"),
            ("LATER", "tuesday.json"),
            ("a.json", "monday.json"),
            ("b.json", "tuesday.json"),
        ],
    ),
    ("memory", &[("NAME", "PID"), ("/data/memory-%p.ndjson", "recorded.ndjson")]),
    (
        "why",
        &[
            ("NAME", "PID"),
            ("LOG", "gc.log"),
            ("RECORD", "kafka.ndjson"),
            ("/data/memory-7.ndjson", "kafka.ndjson"),
        ],
    ),
    ("time diff", &[("BEFORE", "before.json"), ("AFTER", "after.json")]),
    ("compare", &[("A", MONDAY), ("B", MONDAY), ("BEFORE", MONDAY), ("AFTER", MONDAY)]),
    ("report", &[("DIR", MONDAY), ("runs/NAME", MONDAY)]),
    (
        "heap layout",
        &[
            ("PATHS", "classes"),
            ("CLASS", "Waiting"),
            ("com.example.Order", "Waiting"),
            ("target/classes", "classes"),
        ],
    ),
    ("heap", &[("DUMP", "kafka.hprof"), ("/opt/jdk-25", "JAVA_HOME"), ("<heap>", "40g")]),
    (
        "host",
        &[
            ("a.json", HOST),
            ("b.json", HOST),
            ("monday.json", HOST),
            ("tuesday.json", HOST),
            ("BEFORE", HOST),
            ("AFTER", HOST),
        ],
    ),
    (
        "run",
        &[
            ("STUDY", "own-server"),
            ("STUDY.toml", "my-server.toml"),
            ("studies/NAME.toml", "studies/threads.toml"),
        ],
    ),
    ("studies", &[("NAME", "own-server")]),
    // The server of this test has a thread for each.
    ("capacity", &[("4096", "64"), ("checkout=200ms", "buy=200ms")]),
    ("flags", &[("config/jvm.options", "jvm.options")]),
    (
        "",
        &[
            ("FILE", "file.out"),
            ("9771", "PID"),
            ("4242", "PID"),
            ("30751", "PID"),
            ("$!", "PID"),
            ("N", "100"),
            ("SHELL", "bash"),
            ("PORT", "0"),
            ("9400", "0"),
            ("10.0.0.7:7447", "127.0.0.1:0"),
            ("HOST:PORT,...", "h:7447"),
            ("URL", "http://127.0.0.1:8080/"),
            ("TARGET", "http://127.0.0.1:8080/"),
            ("...", ""),
        ],
    ),
];
const MONDAY: &str = "runs/monday";
const HOST: &str = "host.json";

/// What is added, so that it takes a second and not minutes, or since a list of commands shows none of its options.
const ADDED: [(&[&str], &str); 8] = [
    (&["capacity", "!--budget"], "--budget 10s"),
    (&["capacity", "!--warm-up"], "--warm-up 1s"),
    (&["capacity", "!--allow-invalid"], "--allow-invalid"),
    (
        &["load", "!--rate", "!-r", "!--users", NO_HAR, NO_LOG, NO_OPENAPI, NO_POSTMAN, NO_JMETER],
        "--rate 100",
    ),
    (&["load", "!--duration", "!-z", NO_HAR, NO_LOG, NO_OPENAPI, NO_POSTMAN, NO_JMETER], "--duration 1s"),
    (&["time", "!diff", "!--for", "!--watch"], "--for 1s"),
    (&["why", "!--for"], "--for 1s"),
    (&["heap", "layout", "!--dump", "!--classpath"], "--classpath classes"),
];

/// With these nothing is loaded.
const NO_HAR: &str = "!--from-har";
const NO_LOG: &str = "!--from-access-log";
const NO_OPENAPI: &str = "!--from-openapi";
const NO_POSTMAN: &str = "!--from-postman";
const NO_JMETER: &str = "!--from-jmeter";

/// Options with which a command runs until Ctrl-C.
const ENDLESS: [&[&str]; 4] = [&["--watch"], &["--follow"], &["--record", "!--for"], &["inject"]];
/// Options with which the exit code is a verdict.
const OF_A_VERDICT: [&str; 3] = ["--fail-if", "--fail-on", "--at-least"];

/// Whether a command has the words, and none that stand behind `!`.
fn has(command: &[String], wanted: &[&str]) -> bool {
    let is_there = |word: &str| command.iter().any(|of| of == word);
    wanted.iter().all(|word| word.strip_prefix('!').map_or_else(|| is_there(word), |word| !is_there(word)))
}

/// The way of a command.
pub fn way(command: &[String]) -> Way {
    if let Some((_, why)) = NOT_RUN.iter().find(|(wanted, _)| has(command, wanted)) {
        return Way::Help(why);
    }
    match command[0].as_str() {
        "run" => Way::Plan,
        _ if ENDLESS.iter().any(|wanted| has(command, wanted)) => Way::UntilCtrlC,
        _ => Way::ToItsEnd,
    }
}

/// Whether a sentence only names a command, or a command and an option of it: `gc --json`, which reads a log, has none.
pub fn is_name(shown: &Shown, help: &InHelp) -> bool {
    let typed = words(&shown.command);
    let of_command = |count: &usize| help.texts.contains_key(&typed[..*count].join(" "));
    let Some(count) = (1..=typed.len()).rev().find(of_command).filter(|_| shown.is_inline) else {
        return false;
    };
    let (text, rest) = (&help.texts[&typed[..count].join(" ")], &typed[count..]);
    let takes_value = |word: &str| word.starts_with("--") && text.contains(&format!("{word} <"));
    let (mut lacks_value, mut operands, mut before) = (false, 0, "");
    for word in rest.iter().map(String::as_str).chain(["--"]) {
        match (takes_value(before), word.starts_with("--")) {
            (true, true) => lacks_value = true,
            (false, false) => operands += 1,
            _ => {}
        }
        before = word;
    }
    let usage = text.lines().find(|line| line.starts_with("Usage:")).unwrap_or_default();
    // An address may be left out where a recording or a workload takes its place, and what is looked at where an option names a file.
    let needs_operand = usage.contains(" <") || usage.contains("[URL]") || usage.contains("|FILE]");
    rest.is_empty() || lacks_value || (needs_operand && operands == 0)
}

/// Whether all options that it names are those of its command.
pub fn has_its_options(shown: &Shown, help: &InHelp) -> bool {
    let typed = words(&shown.command);
    let of_command = |count: &usize| help.texts.contains_key(&typed[..*count].join(" "));
    let Some(count) = (1..=typed.len()).rev().find(of_command) else { return false };
    let text = &help.texts[&typed[..count].join(" ")];
    typed[count..].iter().filter(|word| word.starts_with("--")).all(|word| text.contains(word.as_str()))
}

/// The words with which it is run.
pub fn with_our_words(shown: &Shown) -> Vec<String> {
    let typed = words(&shown.command);
    let of = |command: &str| typed.join(" ").starts_with(command);
    let tables: Vec<_> =
        IN_PLACE.iter().filter(|(command, _)| of(command)).flat_map(|(_, table)| *table).collect();
    let put = |word: &String| {
        let ours = tables.iter().find(|(shown, _)| shown == word).map_or(word.as_str(), |(_, ours)| *ours);
        // The budget of a study is only planned, and must suffice for it.
        if is_time(ours) && way(&typed) != Way::Plan { "1s".to_owned() } else { ours.to_owned() }
    };
    let mut ours: Vec<String> = typed.iter().map(put).filter(|word| !word.is_empty()).collect();
    match way(&typed) {
        Way::Help(_) => ours.push("--help".to_owned()),
        Way::Plan => {
            // A plan makes no page.
            if let Some(at) = ours.iter().position(|word| word == "--html") {
                ours.drain(at..ours.len().min(at + 2));
            }
            ours.retain(|word| word != "--plan");
            ours.push("--plan".to_owned());
        }
        _ => {
            let added = ADDED.iter().filter(|(wanted, _)| has(&typed, wanted));
            added.for_each(|(_, more)| ours.extend(words(more)));
        }
    }
    ours
}

/// Such as `30s`, `1m` or `1h`.
fn is_time(word: &str) -> bool {
    let number = ["s", "m", "h"].iter().find_map(|unit| word.strip_suffix(unit));
    number.is_some_and(|number| !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit()))
}

/// Whether it says what it should, or why it cannot here.
pub fn is_right(command: &[String], code: Option<i32>, said: &str) -> bool {
    let is_verdict = OF_A_VERDICT.iter().any(|option| command.iter().any(|word| word == option));
    match code {
        Some(0) => !said.trim().is_empty(),
        Some(1) => is_verdict || said.contains("NOT VALID"),
        // What a verdict needs is not in the figures, or servers of a study are not built here.
        Some(3) => is_verdict || command[0] == "run",
        // Ended by Ctrl-C.
        Some(130) => command[0] == "inject",
        _ => false,
    }
}
