//! Runs all Rust tests: `assay-check --nextest PROGRAM [--long] [--kept FOLDER] [--test PATTERN]... [PACKAGE...]`, as `./check` does. With `--lints` alone it
//! builds them, and everything else of the workspace, with clippy in the compiler's place.
//!
//! nextest runs the tests, each in a process of its own, by `.config/nextest.toml`; this program decides whether the outcome is good. A test
//! that fails is tried once more. If it then passes it is flaky: it is listed with the logs of both attempts, and more than a few of them
//! fail the run. A test that says that it cannot run here must be listed in `tests.toml` beside this crate's manifest under a kind of
//! machine that this one is. The tests in its list `must-run` must have run.

mod junit;
mod lints;
mod rules;
mod run;
mod verdict;

use rules::Rules;
use run::Asked;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// What was asked for.
struct Arguments {
    /// Only build, with clippy.
    lints: bool,
    /// Long simulations and rare JVMs, too.
    long: bool,
    /// The program that runs the tests.
    nextest: PathBuf,
    /// Where logs of tests that did not pass at once are kept.
    kept: PathBuf,
    /// Packages whose tests run; empty: all.
    packages: Vec<String>,
    /// Parts of the names of tests that run; empty: all.
    tests: Vec<String>,
}

impl Arguments {
    fn parse(mut words: impl Iterator<Item = String>) -> Result<Arguments, String> {
        let (nextest, kept) = ("cargo-nextest".into(), ".assay/tests".into());
        let (packages, tests) = (Vec::new(), Vec::new());
        let mut arguments = Arguments { lints: false, long: false, nextest, kept, packages, tests };
        while let Some(word) = words.next() {
            match word.as_str() {
                "--lints" => arguments.lints = true,
                "--long" => arguments.long = true,
                "--nextest" => arguments.nextest = words.next().ok_or("--nextest PROGRAM")?.into(),
                "--test" => arguments.tests.push(words.next().ok_or("--test PATTERN")?),
                "--kept" => arguments.kept = words.next().ok_or("--kept FOLDER")?.into(),
                option if option.starts_with('-') => return Err(format!("{option} is not an option")),
                _ => arguments.packages.push(word),
            }
        }
        Ok(arguments)
    }
}

fn main() -> ExitCode {
    match checked() {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(why) => {
            eprintln!("check: {why}");
            ExitCode::from(2)
        }
    }
}

/// Whether all is well.
fn checked() -> Result<bool, String> {
    let Arguments { lints, long, nextest, kept, packages, tests } =
        Arguments::parse(std::env::args().skip(1))?;
    if lints {
        return lints::are_clean();
    }
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"));
    let rules = Rules::read(&folder.join("tests.toml"))?;
    let root = folder.join("../..");
    let asked =
        Asked { root: &root, nextest: &nextest, long, kept: &kept, packages: &packages, tests: &tests };
    let results = run::run_all(&asked, &rules)?;
    let verdict = verdict::judge(&results, &rules, packages.is_empty() && tests.is_empty());
    print!("{verdict}");
    Ok(verdict.is_good())
}
