//! The table of flags against the JVMs themselves; the last test writes it anew.
//!
//! A JVM lists its flags (`-XX:+PrintFlagsFinal`). Whether it warns of one, ignores it or refuses to start is seen by starting it: by its
//! exit code, and by whether it wrote anything that it does not write without the flag. What it wrote is not parsed.

use assay_jdk::options::{FlagState, ListedFlag, judge_options, listed_flags, starts_with};
use assay_jdk::{Release, run_java};
use assay_model::OptionRemark;
use assay_testkit::{find_java, skip};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use std::time::Duration;

const UNLOCKED: [&str; 2] = ["-XX:+UnlockDiagnosticVMOptions", "-XX:+UnlockExperimentalVMOptions"];
/// Flags that were gone before the first release of the table, and are still found in scripts; with a value.
const GONE_BEFORE: [(&str, &str); 2] = [("MaxPermSize", "64m"), ("PermSize", "64m")];
const TABLE: &str = "src/options/flags.csv";

/// Releases of the table: those that were at hand when their file was made.
fn releases() -> impl Iterator<Item = u32> {
    Release::all().iter().filter(|release| release.pack.is_some()).map(|release| release.feature)
}

struct Jvm {
    java: PathBuf,
    usual: String,
}

impl Jvm {
    fn new(java: PathBuf) -> Jvm {
        let usual = run(&java, &[]).0;
        Jvm { java, usual }
    }

    fn listed(&self) -> BTreeMap<String, ListedFlag> {
        let (text, code) = run(&self.java, &["-XX:+PrintFlagsFinal".to_owned()]);
        assert_eq!(code, Some(0), "{text}");
        listed_flags(&text)
    }

    /// Whether it starts with these options, and whether it says something that it does not say without them.
    fn try_options(&self, options: &[String]) -> (bool, bool) {
        let (text, code) = run(&self.java, options);
        (code == Some(0), text != self.usual)
    }

    /// Those of which it warns, though it starts, whatever they are set to: a warning about one value is about that value.
    fn warned_of(&self, options: &[String], found: &mut Vec<String>) {
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

fn run(java: &Path, options: &[String]) -> (String, Option<i32>) {
    let all: Vec<String> =
        UNLOCKED.iter().map(|of| (*of).to_owned()).chain(options.iter().cloned()).collect();
    let output = run_java(java, &all, Duration::from_secs(60), &AtomicBool::new(false)).expect("java runs");
    (output.text, output.exit_code)
}

fn option(name: &str, flag: &ListedFlag) -> Option<String> {
    Some(match (flag.kind.as_str(), flag.value.as_str()) {
        ("bool", "true") => format!("-XX:+{name}"),
        ("bool", _) => format!("-XX:-{name}"),
        (_, "") => return None,
        (_, value) => format!("-XX:{name}={value}"),
    })
}

#[test]
fn each_release_that_is_here_lists_the_flags_of_the_table() {
    let javas: Vec<(u32, PathBuf)> = releases().filter_map(|of| Some((of, find_java(of, 64)?))).collect();
    if javas.is_empty() {
        skip!("no JDK of the table");
    }
    for (release, java) in javas {
        let listed = Jvm::new(java).listed();
        assert!(500 < listed.len(), "JDK {release}: {}", listed.len());
        // Builds and updates add and remove a few; a table of another release differs in dozens.
        let differs: Vec<&String> = listed
            .keys()
            .filter(|name| {
                !assay_jdk::options::flag_in(name, release).is_some_and(|flag| flag.state.is_there())
            })
            .collect();
        assert!(differs.len() < 30, "JDK {release}: {differs:?}");
    }
}

#[test]
fn a_jvm_does_with_options_what_is_said_of_them() {
    let javas: Vec<(u32, PathBuf)> = releases().filter_map(|of| Some((of, find_java(of, 64)?))).collect();
    if javas.is_empty() {
        skip!("no JDK of the table");
    }
    let options = [
        "-XX:+UseConcMarkSweepGC",
        "-XX:+PrintGCDetails",
        "-XX:MaxPermSize=64m",
        "-XX:+UseCompactObjectHeaders",
        "-XX:+ZGenerational",
        "-XX:+UseCGroupMemoryLimitForHeap",
        "-XX:+NoSuchFlag",
        "-XX:+UseStringDeduplication",
        "-XX:MaxGCPauseMillis=100",
        "-Xmx64m",
        "-Xmx0x40m",
        "-Xmx40gb",
        "-Xmn4.5m",
        "-Xss1mb",
        "-XX:MaxHeapSize=64MiB",
        "-XX:MaxGCPauseMillis=200ms",
    ];
    for (release, java) in javas {
        let jvm = Jvm::new(java);
        for option in options.map(str::to_owned) {
            // There it prints what it is asked for.
            if release == 8 && option.contains("Print") {
                continue;
            }
            // The JVM has both unlocked.
            let given: Vec<String> =
                UNLOCKED.iter().map(|of| (*of).to_owned()).chain([option.clone()]).collect();
            let said = judge_options(&given, release, None);
            let of = |remark: OptionRemark| said.iter().any(|of| of.option == 2 && of.remark == remark);
            let warns = of(OptionRemark::Ignored) || of(OptionRemark::Deprecated);
            let expected = if starts_with(&said) { (true, warns) } else { (false, true) };
            assert_eq!(
                jvm.try_options(std::slice::from_ref(&option)),
                expected,
                "JDK {release} {option}: {said:?}"
            );
        }
    }
}

#[test]
#[ignore = "writes the table anew: cargo test -p assay-jdk --test all flags:: -- --ignored; needs all releases, five minutes"]
fn the_table_is_made_from_the_jvms() {
    let mut history: BTreeMap<String, Vec<(u32, String)>> = BTreeMap::new();
    let missing = |of: u32| -> PathBuf { panic!("no JDK {of}: workloads/jvm/fetch {of}") };
    let jvm = |of| (of, Jvm::new(find_java(of, 64).unwrap_or_else(|| missing(of))));
    let jvms: Vec<(u32, Jvm)> = releases().map(jvm).collect();
    let listed: Vec<BTreeMap<String, ListedFlag>> = jvms.iter().map(|(_, jvm)| jvm.listed()).collect();
    let gone: BTreeMap<String, &str> = GONE_BEFORE.map(|(name, value)| (name.to_owned(), value)).into();
    let names: BTreeSet<&String> = listed.iter().flat_map(BTreeMap::keys).chain(gone.keys()).collect();
    for ((release, jvm), here) in jvms.iter().zip(&listed) {
        let options: BTreeMap<String, &String> =
            here.iter().filter_map(|(name, flag)| Some((option(name, flag)?, name))).collect();
        let mut warned = Vec::new();
        jvm.warned_of(&options.keys().cloned().collect::<Vec<_>>(), &mut warned);
        let warned: BTreeSet<&String> = warned.iter().map(|option| options[option]).collect();
        eprintln!("JDK {release}: {} flags, warns of {warned:?}", here.len());
        for name in &names {
            let row = match here.get(*name) {
                Some(flag) => {
                    let deprecated = if warned.contains(name) { FlagState::Deprecated } else { flag.state };
                    let default = if flag.is_default { flag.value.as_str() } else { "" };
                    format!("{},{},{}", deprecated.word(), flag.kind, quoted(default))
                }
                None => {
                    let elsewhere = listed.iter().find_map(|of| option(name, of.get(*name)?));
                    let value = gone.get(*name).unwrap_or(&"x");
                    let option = elsewhere.unwrap_or_else(|| format!("-XX:{name}={value}"));
                    let starts = jvm.try_options(&[option]).0;
                    format!("{},,", if starts { FlagState::Ignored } else { FlagState::Unrecognized }.word())
                }
            };
            let rows = history.entry((*name).clone()).or_default();
            if rows.last().is_none_or(|(_, last)| *last != row) {
                rows.push((*release, row));
            }
        }
    }
    let mut text = String::from("flag,release,state,type,default\n");
    for (release, jvm) in &jvms {
        let facts = assay_jdk::jvm_at(jvm.java.ancestors().nth(2).expect("its home")).expect("a JVM");
        writeln!(text, "#,{release},{},,", facts.version).expect("written");
    }
    for (name, rows) in history {
        rows.iter().for_each(|(release, row)| writeln!(text, "{name},{release},{row}").expect("written"));
    }
    std::fs::write(Path::new(env!("CARGO_MANIFEST_DIR")).join(TABLE), text).expect("written");
}

fn quoted(value: &str) -> String {
    if value.contains([',', '"', '\n']) {
        format!("\"{}\"", value.replace('"', "\"\""))
    } else {
        value.to_owned()
    }
}
