//! A JVM that tests start with options; whether it starts and warns is seen by its exit code and by whether it wrote anything that it does
//! not write without them. What it wrote is not parsed, but for its lists.

use assay_jdk::options::{ListedFlag, ListedRange, listed_flags, listed_ranges};
use assay_jdk::{Release, run_java};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use std::time::Duration;

pub const UNLOCKED: [&str; 2] = ["-XX:+UnlockDiagnosticVMOptions", "-XX:+UnlockExperimentalVMOptions"];

/// Releases of the table: those that were at hand when their file was made.
pub fn releases() -> impl Iterator<Item = u32> {
    Release::all().iter().filter(|release| release.pack.is_some()).map(|release| release.feature)
}

pub struct Jvm {
    pub java: PathBuf,
    usual: String,
}

impl Jvm {
    pub fn new(java: PathBuf) -> Jvm {
        let usual = run(&java, &[]).0;
        Jvm { java, usual }
    }

    /// Its flags, with these options.
    pub fn listed_with(&self, options: &[String]) -> BTreeMap<String, ListedFlag> {
        let options = [&["-XX:+PrintFlagsFinal".to_owned()], options].concat();
        listed_flags(&run(&self.java, &options).0)
    }

    pub fn listed(&self) -> BTreeMap<String, ListedFlag> {
        let (text, code) = run(&self.java, &["-XX:+PrintFlagsFinal".to_owned()]);
        assert_eq!(code, Some(0), "{text}");
        listed_flags(&text)
    }

    /// The ranges of its flags; none of JDK 8, which does not list them.
    pub fn ranges(&self) -> BTreeMap<String, ListedRange> {
        listed_ranges(&run(&self.java, &["-XX:+PrintFlagsRanges".to_owned()]).0)
    }

    /// Whether it starts with these options, and whether it says something that it does not say without them.
    pub fn try_options(&self, options: &[String]) -> (bool, bool) {
        let (text, code) = run(&self.java, options);
        (code == Some(0), text != self.usual)
    }

    /// Those of which it warns, though it starts, whatever they are set to: a warning about one value is about that value.
    pub fn warned_of(&self, options: &[String], found: &mut Vec<String>) {
        match (self.try_options(options), options) {
            ((true, false), _) => {}
            (tried, [one]) => {
                let other = opposite(one).map(|other| self.try_options(&[other]));
                if tried == (true, true) && other.is_none_or(|other| other == (true, true)) {
                    found.push(one.clone());
                }
            }
            (_, many) => {
                let (first, second) = many.split_at(many.len() / 2);
                self.warned_of(first, found);
                self.warned_of(second, found);
            }
        }
    }
}

fn opposite(option: &str) -> Option<String> {
    let on = option.strip_prefix("-XX:+").map(|name| format!("-XX:-{name}"));
    on.or_else(|| option.strip_prefix("-XX:-").map(|name| format!("-XX:+{name}")))
}

/// What it writes, and its exit code.
pub fn run(java: &Path, options: &[String]) -> (String, Option<i32>) {
    let all: Vec<String> =
        UNLOCKED.iter().map(|of| (*of).to_owned()).chain(options.iter().cloned()).collect();
    let output = run_java(java, &all, Duration::from_secs(60), &AtomicBool::new(false)).expect("java runs");
    (output.text, output.exit_code)
}
