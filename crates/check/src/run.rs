//! Runs all tests by nextest, twice: first what shares the machine, then what times something or holds the machine to account. Which
//! tests those are, and what may run beside them, says `.config/nextest.toml`.

use crate::junit::{Outcome, Ran, read};
use crate::rules::Rules;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// What nextest ends with when tests have failed.
const TESTS_FAILED: i32 = 100;
/// Groups of the second run.
const QUIET: &str = "group(/^(timed|few|alone)$/)";

/// What was asked for.
pub struct Asked<'a> {
    /// The root of the checkout.
    pub root: &'a Path,
    /// The program.
    pub nextest: &'a Path,
    /// Whether long tests run, too.
    pub long: bool,
    /// Where logs of tests that did not pass at once are kept, and nextest's reports.
    pub kept: &'a Path,
    /// Packages whose tests run; empty: all.
    pub packages: &'a [String],
    /// Parts of the names of tests that run; empty: all.
    pub tests: &'a [String],
}

/// A test after its attempts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ended {
    /// How the last attempt ended.
    pub outcome: Outcome,
    /// The logs of the attempts, where the first failed.
    pub logs: Vec<PathBuf>,
}

/// All tests, by `CRATE/FILE::TEST`.
pub type Results = BTreeMap<String, Ended>;

/// Runs the tests, and once more those that must run and were skipped.
///
/// # Errors
/// They do not compile, nextest cannot be run, or a log cannot be written.
pub fn run_all(asked: &Asked<'_>, rules: &Rules) -> Result<Results, String> {
    let cannot = |error: std::io::Error| format!("{}: {error}", asked.kept.display());
    if asked.kept.exists() {
        fs::remove_dir_all(asked.kept).map_err(cannot)?;
    }
    fs::create_dir_all(asked.kept).map_err(cannot)?;
    let processors = std::thread::available_parallelism().map_or(1, usize::from);
    // Three for each processor: many wait for a JVM, or for a clock.
    let mut ran = run(asked, "shared", &format!("not {QUIET}"), 3 * processors)?;
    // A timed test leaves its processor idle; groups limit the others that run then.
    ran.extend(run(asked, "quiet", QUIET, 6 * processors)?);
    let missed: Vec<_> = ran.iter().filter(|(test, one)| rules.is_missed(test, &one.outcome)).collect();
    let earlier: BTreeMap<_, _> =
        missed.iter().map(|(test, one)| ((*test).clone(), one.outcome.clone())).collect();
    let filter: Vec<_> = missed.iter().map(|(_, one)| filter_of(one)).collect();
    if !filter.is_empty() {
        ran.extend(run(asked, "missed", &filter.join(" | "), 1)?);
    }
    ran.into_iter().map(|(test, one)| ended(asked, &earlier, test, one)).collect()
}

/// One test in nextest's language.
fn filter_of(test: &Ran) -> String {
    format!("(binary_id(={}) & test(={}))", test.binary, test.called)
}

/// A test with the logs of its attempts on disk; `earlier` is what was skipped at first.
fn ended(
    asked: &Asked<'_>,
    earlier: &BTreeMap<String, Outcome>,
    test: String,
    one: Ran,
) -> Result<(String, Ended), String> {
    let skipped = earlier.get(&test).map(|outcome| format!("{outcome:?}\n"));
    let attempts = skipped.into_iter().filter(|_| one.outcome == Outcome::Passed).chain(one.attempts);
    let keep = |(number, log): (usize, String)| {
        let name = format!("{test}.{}.log", number + 1).replace(['/', ' '], "-").replace("::", ".");
        let path = asked.kept.join(name);
        fs::write(&path, log).map_err(|error| format!("{}: {error}", path.display()))?;
        Ok(path)
    };
    let logs = attempts.enumerate().map(keep).collect::<Result<_, String>>()?;
    Ok((test, Ended { outcome: one.outcome, logs }))
}

/// One run of nextest.
fn run(asked: &Asked<'_>, name: &str, filter: &str, threads: usize) -> Result<BTreeMap<String, Ran>, String> {
    let profile = if asked.long { "long" } else { "check" };
    let report = asked.root.join("target/nextest").join(profile).join("junit.xml");
    let _ = fs::remove_file(&report);
    let mut command = Command::new(asked.nextest);
    command.current_dir(asked.root).args(["nextest", "run", "--locked", "--profile", profile]);
    if asked.packages.is_empty() {
        command.arg("--workspace");
    }
    command.args(asked.packages.iter().flat_map(|package| ["--package", package]));
    command.args(["--no-tests", "pass", "--test-threads", &threads.to_string()]);
    command.args(["--show-progress", "none", "--user-config-file", "none", "--filterset", filter]);
    command.args(asked.tests);
    if asked.long {
        command.args(["--run-ignored", "all"]);
    }
    let status = command.stdin(Stdio::null()).status();
    let status = status.map_err(|error| format!("{} cannot be run: {error}", asked.nextest.display()))?;
    if !status.success() && status.code() != Some(TESTS_FAILED) {
        return Err(format!("nextest did not run the tests: {status}"));
    }
    let text = match fs::read_to_string(&report) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(BTreeMap::new()),
        text => text.map_err(|error| format!("{}: {error}", report.display()))?,
    };
    // With the time of each test.
    let kept = asked.kept.join(format!("{name}.xml"));
    fs::write(&kept, &text).map_err(|error| format!("{}: {error}", kept.display()))?;
    read(&text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_groups_of_the_second_run_are_those_of_the_configuration() {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../.config/nextest.toml");
        let config: toml::Table = fs::read_to_string(path).expect("a configuration").parse().expect("TOML");
        let groups = QUIET.trim_start_matches("group(/^(").trim_end_matches(")$/)").split('|');
        let known = config["test-groups"].as_table().expect("groups");
        let gone: Vec<_> = groups.filter(|group| !known.contains_key(*group)).collect();
        assert!(gone.is_empty(), "{gone:?}");
    }

    /// Stands for nextest: reports a test that is skipped, and passes when it is asked for by name; one that fails; and one of a group
    /// of the second run.
    const NEXTEST: &str = r#"#!/bin/sh
        mkdir -p target/nextest/check
        case "$*" in
        *closure*) cases='<testcase name="closure::sums" classname="assay-memory::all"><system-out>now
</system-out></testcase>' ;;
        *'not group'*) cases='<testcase name="closure::sums" classname="assay-memory::all"><system-out>skipped: the machine is busy
</system-out></testcase><testcase name="a" classname="assay-text"><failure type="died"/></testcase>' ;;
        *) cases='<testcase name="b" classname="assay-load"/>' ;;
        esac
        echo "<testsuites>$cases</testsuites>" >target/nextest/check/junit.xml
        case "$cases" in *failure*) exit 100 ;; esac"#;

    #[test]
    fn what_must_run_and_was_skipped_is_tried_once_more() {
        use std::os::unix::fs::PermissionsExt;
        let folder = tempfile::tempdir().expect("a folder");
        let (nextest, kept) = (folder.path().join("nextest"), folder.path().join("kept"));
        fs::write(&nextest, NEXTEST).expect("a script");
        fs::set_permissions(&nextest, fs::Permissions::from_mode(0o700)).expect("our file");
        let asked = Asked {
            root: folder.path(),
            nextest: &nextest,
            long: false,
            kept: &kept,
            packages: &[],
            tests: &[],
        };
        let run = |must_run: &[&str]| {
            let must_run = must_run.iter().map(|test| (*test).to_owned()).collect();
            run_all(&asked, &Rules { must_run, ..Rules::default() }).expect("it runs")
        };
        let results = run(&["memory/closure::sums"]);
        let logs = |results: &Results, test: &str| results[test].logs.len();
        assert_eq!(results.len(), 3);
        assert_eq!(results["memory/closure::sums"].outcome, Outcome::Passed);
        assert_eq!((logs(&results, "memory/closure::sums"), logs(&results, "text/lib::a")), (1, 1));
        assert_eq!(results["load/lib::b"], Ended { outcome: Outcome::Passed, logs: Vec::new() });
        let log = fs::read_to_string(&results["memory/closure::sums"].logs[0]).expect("a log");
        assert!(log.contains("the machine is busy"), "{log}");
        assert!(matches!(run(&[])["memory/closure::sums"].outcome, Outcome::Skipped(_)), "it need not run");
        fs::write(&nextest, "#!/bin/sh\nexit 101\n").expect("a script");
        assert!(run_all(&asked, &Rules::default()).is_err(), "they do not compile");
    }
}
