//! `tests.toml`: which tests may be skipped where, and which must run.

use crate::junit::Outcome;
use serde::Deserialize;
use std::path::Path;
use std::process::{Command, Stdio};

/// The file.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Rules {
    /// More flaky tests than this fail the run.
    pub flaky_max: usize,
    /// Tests that must have run.
    pub must_run: Vec<String>,
    /// Kinds of machines.
    pub machine: Vec<Machine>,
}

/// A kind of machine on which some tests cannot run. `{release}` in its texts stands for each of `releases`.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Machine {
    /// Feature releases of JDKs: the machine is a kind of its own for each of them. Empty where no JDK is lacking.
    #[serde(default)]
    pub releases: Vec<u32>,
    /// What it lacks, for people.
    pub lacks: String,
    /// Why a machine may lack that.
    pub why: String,
    /// A shell command that succeeds on a machine that lacks nothing. Absent where only the test itself can tell.
    pub has: Option<String>,
    /// How the reasons of skipped tests begin.
    pub says: Vec<String>,
    /// The tests.
    pub tests: Vec<String>,
    /// Whether this machine is of that kind; found out by `Rules::read`.
    #[serde(skip)]
    pub is_here: bool,
}

impl Rules {
    /// Reads the file, and looks which kinds of machines this one is.
    ///
    /// # Errors
    /// It cannot be read, or is wrong.
    pub fn read(path: &Path) -> Result<Rules, String> {
        let named = |error: &dyn std::fmt::Display| format!("{}: {error}", path.display());
        let text = std::fs::read_to_string(path).map_err(|error| named(&error))?;
        let mut rules: Rules = toml::from_str(&text).map_err(|error| named(&error))?;
        rules.machine = rules.machine.into_iter().flat_map(Machine::of_each_release).collect();
        for machine in &mut rules.machine {
            machine.is_here = machine.has.as_deref().is_none_or(|command| !succeeds(command));
        }
        Ok(rules)
    }

    /// What this machine lacks where a test may say so: the test is listed there, and the reason, too.
    pub fn may_skip(&self, test: &str, why: &str) -> Option<&Machine> {
        self.machine.iter().find(|machine| {
            machine.is_here
                && machine.says.iter().any(|says| why.starts_with(says))
                && machine.tests.iter().any(|pattern| matches(pattern, test))
        })
    }

    /// Whether a test may be skipped for something that a command has shown to be lacking.
    pub fn lacks_surely(&self, test: &str, why: &str) -> bool {
        self.may_skip(test, why).is_some_and(|machine| machine.has.is_some())
    }

    /// Whether a test that must run was skipped, on a machine that by all its commands lacks nothing: a moment later it may run.
    pub fn is_missed(&self, test: &str, outcome: &Outcome) -> bool {
        let must_run = self.must_run.iter().any(|pattern| matches(pattern, test));
        must_run && matches!(outcome, Outcome::Skipped(why) if !self.lacks_surely(test, why))
    }
}

impl Machine {
    /// The kinds that it stands for: itself, or one for each release.
    fn of_each_release(self) -> Vec<Machine> {
        if self.releases.is_empty() {
            return vec![self];
        }
        let of_one = |release: &u32| {
            let filled = |text: &String| text.replace("{release}", &release.to_string());
            Machine {
                releases: Vec::new(),
                lacks: filled(&self.lacks),
                why: filled(&self.why),
                has: self.has.as_ref().map(filled),
                says: self.says.iter().map(filled).collect(),
                ..self.clone()
            }
        };
        self.releases.iter().map(of_one).collect()
    }
}

fn succeeds(command: &str) -> bool {
    let mut shell = Command::new("sh");
    shell.args(["-c", command]).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    shell.status().is_ok_and(|status| status.success())
}

/// Whether a name is what a pattern says; `*` stands for any text.
pub fn matches(pattern: &str, name: &str) -> bool {
    let mut parts = pattern.split('*');
    let Some(mut rest) = parts.next().and_then(|first| name.strip_prefix(first)) else { return false };
    let Some(last) = parts.next_back() else { return rest.is_empty() };
    for part in parts {
        let Some(at) = rest.find(part) else { return false };
        rest = &rest[at + part.len()..];
    }
    rest.ends_with(last)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::PathBuf;

    #[test]
    fn a_star_stands_for_any_text() {
        for (pattern, name, is_match) in [
            ("memory/closure::a", "memory/closure::a", true),
            ("memory/closure::a", "memory/closure::ab", false),
            ("memory/*", "memory/closure::a", true),
            ("*::a_32_bit*17*", "hotspot/attach::a_32_bit_jvm_17_answers", true),
            ("*::a_32_bit*25*", "hotspot/attach::a_32_bit_jvm_17_answers", false),
            ("ab*ba", "aba", false),
            ("*", "", true),
        ] {
            assert_eq!(matches(pattern, name), is_match, "{pattern} {name}");
        }
    }

    #[test]
    fn the_checked_in_rules_can_be_read() {
        let rules = Rules::read(&Path::new(env!("CARGO_MANIFEST_DIR")).join("tests.toml")).expect("rules");
        assert!(!rules.must_run.is_empty() && rules.flaky_max == 3);
    }

    /// Where the tests of a file of a crate's `tests` stand.
    fn files_of(folder: &Path, file: &str) -> [PathBuf; 2] {
        [folder.join(format!("tests/{file}.rs")), folder.join(format!("tests/{file}/mod.rs"))]
    }

    /// Whether there is a program of that name, or a crate where the name of the program is open.
    fn has_program(pattern: &str) -> bool {
        let crates = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
        let program = pattern.split_once("::").map_or(pattern, |(program, _)| program);
        let Some((name, file)) = program.split_once('/') else { return program == "*" };
        let folder = crates.join(name);
        let tests = files_of(&folder, file);
        match file {
            _ if name.contains('*') => true,
            "lib" => folder.join("src").is_dir(),
            _ if file.contains('*') => folder.is_dir(),
            _ => tests.iter().any(|file| file.is_file()),
        }
    }

    #[test]
    fn what_the_checked_in_rules_name_is_there() {
        let manifest = Path::new(env!("CARGO_MANIFEST_DIR"));
        let rules = Rules::read(&manifest.join("tests.toml")).expect("rules");
        let patterns = rules.machine.iter().flat_map(|machine| &machine.tests);
        let gone: Vec<_> = patterns.filter(|pattern| !has_program(pattern)).collect();
        assert!(gone.is_empty(), "{gone:?}");
        for test in &rules.must_run {
            let (program, name) = test.split_once("::").expect("PROGRAM::TEST");
            let (folder, file) = program.split_once('/').expect("CRATE/FILE");
            let is_in = |path: &PathBuf| {
                std::fs::read_to_string(path).is_ok_and(|text| text.contains(&format!("fn {name}(")))
            };
            let tests = files_of(&manifest.join("..").join(folder), file);
            assert!(tests.iter().any(is_in), "{test} is not there");
        }
        assert!(!has_program("memory/no_such_program::*") && !has_program("no-such-crate/*"));
    }

    #[test]
    fn a_test_may_be_skipped_only_on_the_machine_for_the_reason_and_under_the_name_that_are_listed() {
        let machine = |is_here| Machine {
            releases: Vec::new(),
            lacks: "root".to_owned(),
            why: String::new(),
            has: None,
            says: vec!["only root".to_owned()],
            tests: vec!["study/runs::*".to_owned()],
            is_here,
        };
        let rules = |is_here| Rules { machine: vec![machine(is_here)], ..Rules::default() };
        let may_skip = |is_here, test: &str, why: &str| rules(is_here).may_skip(test, why).is_some();
        assert!(may_skip(true, "study/runs::a", "only root may mount"));
        assert!(!may_skip(true, "study/runs::a", "no JDK"));
        assert!(!may_skip(true, "study/other::a", "only root may mount"));
        assert!(!may_skip(false, "study/runs::a", "only root may mount"), "this machine has root");
    }

    #[test]
    fn a_kind_that_names_releases_is_one_for_each() {
        let text = r#"
            releases = [8, 17]
            lacks = "a JDK {release}"
            why = "`fetch {release}` says why"
            has = "[ {release} = 17 ]"
            says = ["no JDK {release}"]
            tests = ["jdk/*::*"]
        "#;
        let mut machine = toml::from_str::<Machine>(text).expect("a kind of machine").of_each_release();
        machine.iter_mut().for_each(|one| one.is_here = !succeeds(one.has.as_ref().expect("a command")));
        let names: Vec<_> = machine.iter().map(|one| (&*one.lacks, &*one.why, one.is_here)).collect();
        assert_eq!(
            names,
            [("a JDK 8", "`fetch 8` says why", true), ("a JDK 17", "`fetch 17` says why", false)]
        );
        let rules = Rules { machine, ..Rules::default() };
        assert!(rules.may_skip("jdk/modes::a", "no JDK 8").is_some());
        assert!(rules.may_skip("jdk/modes::a", "no JDK 17").is_none(), "this machine has it");
    }

    #[test]
    fn a_test_that_must_run_is_missed_unless_a_command_shows_what_is_lacking() {
        let jdk = Machine {
            releases: Vec::new(),
            lacks: "a JDK".to_owned(),
            why: String::new(),
            has: Some("false".to_owned()),
            says: vec!["no JDK".to_owned()],
            tests: vec!["a::*".to_owned()],
            is_here: true,
        };
        let rules = Rules { must_run: vec!["a::b".to_owned()], machine: vec![jdk], ..Rules::default() };
        let skipped = |why: &str| Outcome::Skipped(why.to_owned());
        assert!(rules.is_missed("a::b", &skipped("the machine is busy")));
        assert!(!rules.is_missed("a::b", &skipped("no JDK")));
        assert!(!rules.is_missed("a::c", &skipped("the machine is busy")));
        assert!(!rules.is_missed("a::b", &Outcome::Passed));
    }

    #[test]
    fn the_checked_in_rules_know_each_release_by_what_a_jvm_says_of_itself() {
        let rules = Rules::read(&Path::new(env!("CARGO_MANIFEST_DIR")).join("tests.toml")).expect("rules");
        let home = std::env::temp_dir().join(format!("assay-check-{}", std::process::id()));
        std::fs::create_dir_all(&home).expect("a folder");
        for (version, lacks) in [("1.8.0_462", "a JDK 8"), ("17.0.15", "a JDK 17"), ("25", "a JDK 25")] {
            std::fs::write(home.join("release"), format!("JAVA_VERSION=\"{version}\"\n")).expect("a file");
            let found = |machine: &&Machine| {
                let has = machine.has.as_deref().filter(|_| machine.lacks.starts_with("a JDK "))?;
                // Only the folder that was made, no JVM of this machine.
                let alone = has.replace("/usr/lib/jvm/", "/no/").replace(".assay/jvm/", "/no/");
                let script = format!("JAVA_HOME='{}'; {alone}", home.display());
                succeeds(&script).then(|| machine.lacks.clone())
            };
            let found: Vec<_> = rules.machine.iter().filter_map(|machine| found(&machine)).collect();
            assert_eq!(found, [lacks], "{version}");
        }
        std::fs::remove_dir_all(home).expect("the folder is gone");
    }

    #[test]
    fn a_kind_of_machine_is_found_out_by_its_command() {
        assert!(succeeds("true") && !succeeds("exit 1") && !succeeds("no-such-command"));
    }
}
