//! What Rust's test harness prints, read.

use std::collections::BTreeMap;

/// How a test ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Outcome {
    /// It ran and passed.
    Passed,
    /// It passed because it could not run; its reason.
    Skipped(String),
    /// It failed.
    Failed,
    /// It is marked as not to be run; the reason.
    Ignored(String),
}

/// One attempt at the tests of a program.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Attempt {
    /// By the name of the test.
    pub tests: BTreeMap<String, Outcome>,
    /// Whether the harness came to its end.
    pub is_whole: bool,
}

/// Marks the line with which a test says that it cannot run here; `assay_testkit::skip!` prints it.
const SKIPPED: &str = "skipped: ";

/// Reads the output of a program that was run with `--show-output`.
pub fn read(said: &str) -> Attempt {
    let mut attempt = Attempt::default();
    let mut within: Option<&str> = None;
    for line in said.lines() {
        if let Some((name, outcome)) = result(line) {
            attempt.tests.insert(name.to_owned(), outcome);
        } else if let Some(name) =
            line.strip_prefix("---- ").and_then(|rest| rest.strip_suffix(" stdout ----"))
        {
            within = Some(name);
        } else if line.starts_with("test result: ") {
            attempt.is_whole = true;
            within = None;
        } else if let (Some(why), Some(name)) = (line.strip_prefix(SKIPPED), within)
            && let Some(outcome @ Outcome::Passed) = attempt.tests.get_mut(name)
        {
            *outcome = Outcome::Skipped(why.to_owned());
        }
    }
    attempt
}

/// `test NAME ... ok`. What a test prints to stderr, or a program that it starts, may stand behind or before it.
fn result(line: &str) -> Option<(&str, Outcome)> {
    let (name, result) = line.strip_prefix("test ")?.rsplit_once(" ... ")?;
    let name = name.split_once(" - should panic").map_or(name, |(name, _)| name);
    let outcome = match result {
        "ok" => Outcome::Passed,
        "FAILED" => Outcome::Failed,
        _ => Outcome::Ignored(result.strip_prefix("ignored")?.trim_start_matches(", ").to_owned()),
    };
    Some((name, outcome))
}

/// What a test printed.
pub fn output_of<'a>(said: &'a str, name: &str) -> Option<&'a str> {
    let head = format!("---- {name} stdout ----\n");
    let text = &said[said.find(&head)? + head.len()..];
    let ends = ["\n---- ", "\nfailures:\n", "\nsuccesses:\n"];
    Some(&text[..ends.iter().filter_map(|end| text.find(end)).min().unwrap_or(text.len())])
}

/// Lines of a log that [`reason_of`] gives.
const REASON_LINES_MAX: usize = 12;

/// Why a test failed, as its log has it: its panic, else the log's end.
pub fn reason_of(log: &str) -> String {
    let lines: Vec<&str> = log.lines().filter(|line| !line.trim().is_empty()).collect();
    let panic = lines.iter().position(|line| line.contains(" panicked at "));
    let from = panic.unwrap_or(lines.len().saturating_sub(REASON_LINES_MAX));
    let is_over = |line: &&&str| line.starts_with("stack backtrace:") || line.starts_with("note: run with ");
    let reason = lines[from..].iter().take_while(|line| !is_over(line)).take(REASON_LINES_MAX);
    reason.copied().collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    const SAID: &str = "
running 5 tests
test a::passes ... ok
test a::cannot_run ... ok
test b::fails ... FAILED
test b::is_long ... ignored, half an hour
test b::panics_as_it_should - should panic ... ok

successes:

---- a::cannot_run stdout ----
skipped: no 32-bit JDK 17

---- a::passes stdout ----
said: skipped: nothing


successes:
    a::cannot_run
    a::passes

failures:

---- b::fails stdout ----
skipped: too late

thread 'b::fails' panicked at src/b.rs:1:1:
no

failures:
    b::fails

test result: FAILED. 3 passed; 1 failed; 1 ignored; 0 measured; 0 filtered out; finished in 0.10s
";

    #[test]
    fn each_test_has_its_outcome() {
        let attempt = read(SAID);
        let outcome = |name: &str| attempt.tests.get(name).cloned().expect(name);
        assert!(attempt.is_whole);
        assert_eq!(outcome("a::passes"), Outcome::Passed, "only a line that begins so is a reason");
        assert_eq!(outcome("a::cannot_run"), Outcome::Skipped("no 32-bit JDK 17".to_owned()));
        assert_eq!(outcome("b::fails"), Outcome::Failed, "a failure is no skip");
        assert_eq!(outcome("b::is_long"), Outcome::Ignored("half an hour".to_owned()));
        assert_eq!(outcome("b::panics_as_it_should"), Outcome::Passed);
        assert_eq!(attempt.tests.len(), 5);
    }

    #[test]
    fn a_program_that_died_is_not_whole() {
        let attempt = read("running 2 tests\ntest a ... ok\n");
        assert!(!attempt.is_whole && attempt.tests.len() == 1);
    }

    #[test]
    fn the_log_of_a_test_is_its_own() {
        let log = output_of(SAID, "b::fails").expect("it printed");
        assert!(log.starts_with("skipped: too late") && log.ends_with("no\n"), "{log:?}");
        assert_eq!(output_of(SAID, "b::is_long"), None);
    }

    #[test]
    fn the_reason_is_the_panic_else_the_end() {
        let log = output_of(SAID, "b::fails").expect("it printed");
        assert_eq!(reason_of(log), "thread 'b::fails' panicked at src/b.rs:1:1:\nno");
        assert_eq!(reason_of(&format!("{log}stack backtrace:\n   0: main\n")), reason_of(log));
        let long: String = (0..30).map(|line| format!("{line}\n")).collect();
        assert_eq!(reason_of(&long).lines().next(), Some("18"));
        assert_eq!(reason_of(""), "");
    }
}
