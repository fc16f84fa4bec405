//! Runs all Rust tests: `cargo run -p assay-check -- [--long] [--kept FOLDER] [PROGRAM...]`, as `./check` does. With `--lints`
//! alone it builds them, and everything else of the workspace, with clippy in the compiler's place.
//!
//! A test that fails is tried once more, alone. If it then passes it is flaky: it is listed with the logs of both attempts,
//! and more than a few of them fail the run. A test that says that it cannot run here must be listed in `tests.toml` beside
//! this crate's manifest under a kind of machine that this one is. The tests in its list `must-run` must have run.

mod libtest;
mod lints;
mod program;
mod rules;
mod run;
mod verdict;

use rules::Rules;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// What was asked for.
struct Arguments {
    /// Only build, with clippy.
    lints: bool,
    /// Long simulations and rare JVMs, too.
    long: bool,
    /// Where logs of tests that did not pass at once are kept.
    kept: PathBuf,
    /// Names of test programs; empty: all.
    only: Vec<String>,
}

impl Arguments {
    fn parse(mut words: impl Iterator<Item = String>) -> Result<Arguments, String> {
        let kept = PathBuf::from(".assay/tests");
        let mut arguments = Arguments { lints: false, long: false, kept, only: Vec::new() };
        while let Some(word) = words.next() {
            match word.as_str() {
                "--lints" => arguments.lints = true,
                "--long" => arguments.long = true,
                "--kept" => arguments.kept = words.next().ok_or("--kept FOLDER")?.into(),
                option if option.starts_with('-') => return Err(format!("{option} is not an option")),
                _ => arguments.only.push(word),
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
    let arguments = Arguments::parse(std::env::args().skip(1))?;
    if arguments.lints {
        return lints::are_clean();
    }
    let rules = Rules::read(&Path::new(env!("CARGO_MANIFEST_DIR")).join("tests.toml"))?;
    let programs = program::build(&arguments.only)?;
    let wanted = |name: &str| arguments.only.is_empty() || arguments.only.iter().any(|one| one == name);
    let programs: Vec<_> = programs.into_iter().filter(|program| wanted(&program.name)).collect();
    let results = run::run_all(&programs, &rules, arguments.long, &arguments.kept)?;
    let verdict = verdict::judge(&results, &rules, arguments.only.is_empty());
    print!("{verdict}");
    Ok(verdict.is_good())
}
