//! Whether all is well, and what is not.

use crate::junit::{Outcome, reason_of};
use crate::rules::{Rules, matches};
use crate::run::{Ended, Results};
use std::fmt;
use std::path::Path;

/// What a run showed.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Verdict {
    passed: usize,
    /// Lines about tests that failed twice.
    failed: Vec<String>,
    /// Lines about tests that passed at the second attempt.
    flaky: Vec<String>,
    /// Lines about tests that could not run, as they may here.
    skipped: Vec<String>,
    /// Rules that are broken.
    broken: Vec<String>,
}

impl Verdict {
    /// Whether nothing failed and no rule is broken.
    pub fn is_good(&self) -> bool {
        self.failed.is_empty() && self.broken.is_empty()
    }
}

/// Holds results against the rules. `is_all`: nothing was left out on request.
pub fn judge(results: &Results, rules: &Rules, is_all: bool) -> Verdict {
    let mut verdict = Verdict::default();
    for (test, Ended { outcome, logs }) in results {
        let logs = logs.iter().map(|log| with_reason(log)).collect::<String>();
        match outcome {
            Outcome::Failed => verdict.failed.push(format!("{test}{logs}")),
            Outcome::Passed if !logs.is_empty() => verdict.flaky.push(format!("{test}{logs}")),
            Outcome::Passed => verdict.passed += 1,
            Outcome::Skipped(why) => {
                let here = rules.may_skip(test, why);
                let lacks = here.map(|machine| format!(" (it lacks {}: {})", machine.lacks, machine.why));
                verdict.skipped.push(format!("{test}: {why}{}", lacks.unwrap_or_default()));
                if here.is_none() {
                    let what = "may not be skipped on this machine, see crates/check/tests.toml";
                    verdict.broken.push(format!("{test} {what}: {why}"));
                }
            }
        }
    }
    if rules.flaky_max < verdict.flaky.len() {
        verdict.broken.push(format!(
            "{} tests are flaky, at most {} may be",
            verdict.flaky.len(),
            rules.flaky_max
        ));
    }
    for pattern in rules.must_run.iter().filter(|_| is_all) {
        let has_run =
            |(test, one): (&String, &Ended)| matches(pattern, test) && one.outcome == Outcome::Passed;
        let may_rest = |(test, one): (&String, &Ended)| {
            matches(pattern, test)
                && matches!(&one.outcome, Outcome::Skipped(why) if rules.lacks_surely(test, why))
        };
        if !results.iter().any(has_run) && !results.iter().any(may_rest) {
            verdict.broken.push(format!("{pattern} must have run and passed, and has not"));
        }
    }
    verdict
}

/// A log, and what it says: where the check ran for somebody else its files are often gone.
fn with_reason(log: &Path) -> String {
    let text = std::fs::read_to_string(log).unwrap_or_default();
    let reason: String = reason_of(&text).lines().map(|line| format!("\n        {line}")).collect();
    format!("\n    {}{reason}", log.display())
}

impl fmt::Display for Verdict {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let lists = [("skipped", &self.skipped), ("flaky", &self.flaky), ("failed", &self.failed)];
        for (name, list) in lists.into_iter().chain([("not as it must be", &self.broken)]) {
            list.iter().try_for_each(|line| writeln!(out, "{name}: {line}"))?;
        }
        let counts = [self.failed.len() + self.broken.len(), self.flaky.len(), self.skipped.len()];
        let [failed, flaky, skipped] = counts;
        writeln!(out, "{} passed, {failed} failed, {skipped} skipped, {flaky} flaky", self.passed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rules::Machine;
    use std::path::PathBuf;

    fn rules(must_run: &str) -> Rules {
        let machine = Machine {
            releases: Vec::new(),
            lacks: "a 32-bit JVM".to_owned(),
            why: String::new(),
            has: None,
            says: vec!["no 32-bit".to_owned()],
            tests: vec!["a::small".to_owned()],
            is_here: true,
        };
        Rules { flaky_max: 1, must_run: vec![must_run.to_owned()], machine: vec![machine] }
    }

    fn results(tests: &[(&str, Outcome, usize)]) -> Results {
        let one = |(name, outcome, logs): &(&str, Outcome, usize)| {
            ((*name).to_owned(), Ended { outcome: outcome.clone(), logs: vec![PathBuf::from("log"); *logs] })
        };
        tests.iter().map(one).collect()
    }

    fn skipped(why: &str) -> Outcome {
        Outcome::Skipped(why.to_owned())
    }

    #[test]
    fn a_flaky_test_is_listed_with_its_logs_and_too_many_fail_the_run() {
        let one = judge(&results(&[("a::b", Outcome::Passed, 2)]), &rules("a::*"), true);
        assert!(one.is_good());
        assert_eq!(
            one.to_string(),
            "flaky: a::b\n    log\n    log\n0 passed, 0 failed, 0 skipped, 1 flaky\n"
        );
        let two = [("a::b", Outcome::Passed, 2), ("a::c", Outcome::Passed, 2)];
        let two = judge(&results(&two), &rules("a::*"), true);
        assert!(!two.is_good() && two.to_string().contains("2 tests are flaky, at most 1"), "{two}");
    }

    #[test]
    fn a_failed_test_fails_the_run() {
        assert!(!judge(&results(&[("a::b", Outcome::Failed, 2)]), &rules("*"), false).is_good());
    }

    #[test]
    fn a_skip_that_is_not_listed_fails_the_run() {
        let good = judge(&results(&[("a::small", skipped("no 32-bit JDK"), 0)]), &rules("*"), false);
        assert!(good.is_good() && good.to_string().ends_with("0 passed, 0 failed, 1 skipped, 0 flaky\n"));
        assert!(!judge(&results(&[("a::big", skipped("no 32-bit JDK"), 0)]), &rules("*"), false).is_good());
        assert!(!judge(&results(&[("a::small", skipped("busy"), 0)]), &rules("*"), false).is_good());
    }

    #[test]
    fn a_test_that_must_run_may_not_be_left_out() {
        let good = [("a::b", Outcome::Passed, 0)];
        assert!(judge(&results(&good), &rules("a::b"), true).is_good());
        assert!(!judge(&results(&good), &rules("a::truth"), true).is_good());
        assert!(
            judge(&results(&good), &rules("a::truth"), false).is_good(),
            "only some tests were asked for"
        );
        let rests = [("a::small", skipped("no 32-bit JDK"), 0)];
        assert!(!judge(&results(&rests), &rules("a::small"), true).is_good(), "the test alone says so");
        let mut sure = rules("a::small");
        sure.machine[0].has = Some("false".to_owned());
        assert!(judge(&results(&rests), &sure, true).is_good(), "this machine surely lacks it");
    }
}
