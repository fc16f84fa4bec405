//! What nextest reports of a run, in JUnit's form, read.

use roxmltree::{Document, Node};
use std::collections::BTreeMap;

/// How a test ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Outcome {
    /// It ran and passed.
    Passed,
    /// It passed because it could not run; its reason.
    Skipped(String),
    /// It failed at each attempt.
    Failed,
}

/// A test that was run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ran {
    /// How the last attempt ended.
    pub outcome: Outcome,
    /// The program that has it, as nextest names it.
    pub binary: String,
    /// Its name within the program.
    pub called: String,
    /// What it printed at each attempt, where the first failed.
    pub attempts: Vec<String>,
}

/// Marks the line with which a test says that it cannot run here; `assay_testkit::skip!` prints it.
const SKIPPED: &str = "skipped: ";

/// Tests by `CRATE/FILE::TEST`; see [`name_of`]. Tests that were left out are not among them.
///
/// # Errors
/// The text is not a JUnit report, or a test in it has no name.
pub fn read(report: &str) -> Result<BTreeMap<String, Ran>, String> {
    let document = Document::parse(report).map_err(|error| format!("nextest's report: {error}"))?;
    let cases = document.descendants().filter(|node| node.has_tag_name("testcase"));
    let cases = cases.filter(|case| !has(*case, "skipped"));
    cases.map(|case| one(case).ok_or("nextest's report has a test without a name".to_owned())).collect()
}

/// One test, by its name.
fn one(case: Node<'_, '_>) -> Option<(String, Ran)> {
    let (binary, called) = (case.attribute("classname")?, case.attribute("name")?);
    let earlier = case.children().filter(|node| node.has_tag_name("flakyFailure"));
    let later = case.children().filter(|node| node.has_tag_name("rerunFailure"));
    let has_failed = has(case, "failure");
    let outcome = match skipped(case) {
        _ if has_failed => Outcome::Failed,
        Some(why) => Outcome::Skipped(why.to_owned()),
        None => Outcome::Passed,
    };
    // Of a test that failed for good the report has the first attempt beside its name; of a flaky one the last.
    let mut attempts: Vec<String> = earlier.map(log_of).collect();
    if has_failed || !attempts.is_empty() {
        attempts.push(log_of(case));
    }
    attempts.extend(later.map(log_of));
    let ran = Ran { outcome, binary: binary.to_owned(), called: called.to_owned(), attempts };
    Some((name_of(binary, called), ran))
}

fn has(case: Node<'_, '_>, tag: &str) -> bool {
    case.children().any(|node| node.has_tag_name(tag))
}

/// What was printed at an attempt, and how it ended, where the report says so.
fn log_of(attempt: Node<'_, '_>) -> String {
    let text =
        |tag: &str| attempt.children().find(|node| node.has_tag_name(tag)).and_then(|node| node.text());
    let failure = attempt.children().find(|node| node.has_tag_name("failure"));
    let end = failure.unwrap_or(attempt).attribute("type").map(|end| format!("{end}\n"));
    [text("system-out"), text("system-err"), end.as_deref()].into_iter().flatten().collect()
}

/// Why a test says that it cannot run.
fn skipped<'a>(case: Node<'a, '_>) -> Option<&'a str> {
    let said = case.children().find(|node| node.has_tag_name("system-out"))?.text()?;
    said.lines().find_map(|line| line.strip_prefix(SKIPPED))
}

/// `memory/closure::TEST` for a test of `crates/memory/tests/closure.rs`, which is a module of the program `all`; `memory/lib::TEST` for
/// one within the sources of the crate.
fn name_of(binary: &str, called: &str) -> String {
    let (package, program) = binary.split_once("::").unwrap_or((binary, "lib"));
    let package = package.strip_prefix("assay-").unwrap_or(package);
    match program {
        "all" => format!("{package}/{called}"),
        program => format!("{package}/{}::{called}", program.replace('/', "-")),
    }
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

    /// As nextest 0.9.148 writes it, shortened.
    const REPORT: &str = r#"<?xml version="1.0" encoding="UTF-8"?>
<testsuites name="nextest-run" tests="6" skipped="1" failures="2">
  <testsuite name="assay-memory">
    <testcase name="tests::good" classname="assay-memory" time="0.006">
      <system-out>
running 1 test
said: skipped: nothing
test tests::good ... ok
</system-out>
      <system-err></system-err>
    </testcase>
    <testcase name="tests::long" classname="assay-memory" time="0.000">
      <skipped message="Skipped: test does not match the run-ignored option"/>
    </testcase>
    <testcase name="tests::hangs" classname="assay-memory" time="2.017">
      <failure type="test timeout"/>
      <rerunFailure time="2.003" type="test timeout"><system-out>again
</system-out><system-err></system-err></rerunFailure>
      <system-out>running 1 test
</system-out>
      <system-err></system-err>
    </testcase>
  </testsuite>
  <testsuite name="assay-memory::all">
    <testcase name="closure::once" classname="assay-memory::all" time="0.011">
      <flakyFailure time="0.215" message="thread panicked" type="test failure with exit code 101">thread panicked<system-out>running 1 test
</system-out><system-err>thread &apos;closure::once&apos; (7) panicked at tests/closure.rs:4:120:
first
stack backtrace:
   0: main
</system-err></flakyFailure>
      <system-out>running 1 test
skipped: no 32-bit &lt;JDK&gt; 17
</system-out>
      <system-err></system-err>
    </testcase>
    <testcase name="truth::bad" classname="assay-memory::all" time="0.2">
      <failure message="panicked" type="test failure with exit code 101">panicked</failure>
      <rerunFailure time="0.2" message="panicked" type="test failure with exit code 101">panicked<system-out>second
</system-out></rerunFailure>
      <system-out>skipped: too late
</system-out>
      <system-err>thread panicked at src/b.rs:1:1:
no
</system-err>
    </testcase>
  </testsuite>
  <testsuite name="assay::bin/assay">
    <testcase name="a::b" classname="assay::bin/assay" time="0.2"><system-out></system-out></testcase>
  </testsuite>
</testsuites>"#;

    fn ran() -> BTreeMap<String, Ran> {
        read(REPORT).expect("a report")
    }

    #[test]
    fn each_test_that_was_run_has_its_outcome() {
        let outcomes: Vec<_> = ran().into_iter().map(|(name, ran)| (name, ran.outcome)).collect();
        let skipped = Outcome::Skipped("no 32-bit <JDK> 17".to_owned());
        let expected = [
            ("assay/bin-assay::a::b", Outcome::Passed),
            ("memory/closure::once", skipped),
            ("memory/lib::tests::good", Outcome::Passed),
            ("memory/lib::tests::hangs", Outcome::Failed),
            ("memory/truth::bad", Outcome::Failed),
        ];
        assert_eq!(outcomes, expected.map(|(name, outcome)| (name.to_owned(), outcome)));
        assert!(read("<testsuites>").is_err() && read("<testcase/>").is_err());
    }

    #[test]
    fn what_failed_at_first_has_a_log_for_each_attempt() {
        let ran = ran();
        let attempts = |name: &str| ran[name].attempts.iter().map(|log| reason_of(log)).collect::<Vec<_>>();
        assert!(attempts("memory/lib::tests::good").is_empty());
        let once = attempts("memory/closure::once");
        assert_eq!(once[0], "thread 'closure::once' (7) panicked at tests/closure.rs:4:120:\nfirst");
        assert!(once.len() == 2 && once[1].ends_with("skipped: no 32-bit <JDK> 17"), "{once:?}");
        let bad = attempts("memory/truth::bad");
        assert!(bad.len() == 2 && bad[0].ends_with("no\ntest failure with exit code 101"), "{bad:?}");
        assert!(bad[1].starts_with("second"), "{bad:?}");
        assert_eq!(attempts("memory/lib::tests::hangs")[1], "again\ntest timeout");
    }

    #[test]
    fn the_reason_is_the_panic_else_the_end() {
        let long: String = (0..30).map(|line| format!("{line}\n")).collect();
        assert_eq!(reason_of(&long).lines().next(), Some("18"));
        assert_eq!(reason_of(""), "");
    }
}
