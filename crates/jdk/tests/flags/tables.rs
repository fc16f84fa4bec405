//! Writes the tables of options anew, from the JVMs.

use super::jvm::{Jvm, releases, run};
use assay_jdk::options::{FlagState, ListedFlag, ListedRange};
use assay_testkit::find_java;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::path::{Path, PathBuf};

/// Flags that no release lists, and are still found in scripts; with a value.
const UNLISTED: [(&str, &str); 7] = [
    ("CMSMarkStackSize", "1m"),
    ("CMSMarkStackSizeMax", "600m"),
    ("G1MarkStackSize", "1m"),
    ("MaxPermSize", "64m"),
    ("ParallelCMSThreads", "1"),
    ("ParallelMarkingThreads", "1"),
    ("PermSize", "64m"),
];
/// JDK 8 lists no ranges. Of flags with such a word in their name they are tried out: values of others take memory or threads.
const TRIED: [&str; 6] = ["Percent", "Ratio", "Threshold", "Weight", "Increment", "Supplement"];
/// Each bounds the other, so that what is tried for one says nothing where both are set.
const NOT_TRIED: [&str; 4] =
    ["MinHeapFreeRatio", "MaxHeapFreeRatio", "MinMetaspaceFreeRatio", "MaxMetaspaceFreeRatio"];

/// Options that are no flags; what stands for `*` in the one that is tried, and where a space stands there is a second word.
const OPTIONS: &str = include_str!("options.txt");

fn jvms() -> Vec<(u32, Jvm)> {
    let missing = |of: u32| -> PathBuf { panic!("no JDK {of}: workloads/jvm/fetch {of}") };
    releases().map(|of| (of, Jvm::new(find_java(of, 64).unwrap_or_else(|| missing(of))))).collect()
}

fn write_table(name: &str, text: &str) {
    std::fs::write(Path::new(env!("CARGO_MANIFEST_DIR")).join("src/options").join(name), text)
        .expect("written");
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
#[ignore = "writes the table anew: cargo test -p assay-jdk --test all flags::tables -- --ignored; needs all releases, ten minutes"]
fn the_table_of_flags_is_made_from_the_jvms() {
    let mut history: BTreeMap<String, Vec<(u32, String)>> = BTreeMap::new();
    let jvms = jvms();
    let listed: Vec<BTreeMap<String, ListedFlag>> = jvms.iter().map(|(_, jvm)| jvm.listed()).collect();
    let gone: BTreeMap<String, &str> = UNLISTED.map(|(name, value)| (name.to_owned(), value)).into();
    let names: BTreeSet<&String> = listed.iter().flat_map(BTreeMap::keys).chain(gone.keys()).collect();
    for ((release, jvm), here) in jvms.iter().zip(&listed) {
        let options: BTreeMap<String, &String> =
            here.iter().filter_map(|(name, flag)| Some((option(name, flag)?, name))).collect();
        let mut warned = Vec::new();
        jvm.warned_of(&options.keys().cloned().collect::<Vec<_>>(), &mut warned);
        let warned: BTreeSet<&String> = warned.iter().map(|option| options[option]).collect();
        let mut ranges = jvm.ranges();
        if ranges.is_empty() {
            ranges = here
                .iter()
                .filter_map(|(name, flag)| Some((name.clone(), tried_range(jvm, name, flag)?)))
                .collect();
        }
        eprintln!("JDK {release}: {} flags, {} ranges, warns of {warned:?}", here.len(), ranges.len());
        for name in &names {
            let row = match here.get(*name) {
                Some(flag) => {
                    let state = if warned.contains(name) { FlagState::Deprecated } else { flag.state };
                    let default = if flag.is_default { flag.value.as_str() } else { "" };
                    let range = ranges.get(*name).cloned().unwrap_or_default();
                    format!("{},{},{},{},{}", state.word(), flag.kind, quoted(default), range.low, range.high)
                }
                None => {
                    let elsewhere = listed.iter().find_map(|of| option(name, of.get(*name)?));
                    let value = gone.get(*name).unwrap_or(&"x");
                    let option = elsewhere.unwrap_or_else(|| format!("-XX:{name}={value}"));
                    row_of_absent(jvm, here, option)
                }
            };
            let rows = history.entry((*name).clone()).or_default();
            if rows.last().is_none_or(|(_, last)| *last != row) {
                rows.push((*release, row));
            }
        }
    }
    let mut text = String::from("flag,release,state,type,default,low,high\n");
    for (release, jvm) in &jvms {
        let facts = assay_jdk::jvm_at(jvm.java.ancestors().nth(2).expect("its home")).expect("a JVM");
        writeln!(text, "#,{release},{},,,,", facts.version).expect("written");
    }
    for (name, rows) in history {
        rows.iter().for_each(|(release, row)| writeln!(text, "{name},{release},{row}").expect("written"));
    }
    write_table("flags.csv", &text);
}

/// Of a flag that is not listed: the one that it sets in truth, or whether it is ignored.
fn row_of_absent(jvm: &Jvm, here: &BTreeMap<String, ListedFlag>, option: String) -> String {
    if !jvm.try_options(std::slice::from_ref(&option)).0 {
        return format!("{},,,,", FlagState::Unrecognized.word());
    }
    let with = jvm.listed_with(&[option]);
    let is_set =
        |name: &&String| with[*name].is_given && here.get(*name).is_some_and(|usual| !usual.is_given);
    match with.keys().find(is_set) {
        Some(target) => format!("{},{target},,,", FlagState::Alias.word()),
        None => format!("{},,,,", FlagState::Ignored.word()),
    }
}

/// The values with which JDK 8 starts, where there is one with which it does not.
fn tried_range(jvm: &Jvm, name: &str, flag: &ListedFlag) -> Option<ListedRange> {
    let good: i128 = flag.value.parse().ok()?;
    if !TRIED.iter().any(|word| name.contains(word)) || NOT_TRIED.contains(&name) || name.contains("Threads")
    {
        return None;
    }
    let starts = |value: i128| jvm.try_options(&[format!("-XX:{name}={value}")]).0;
    let bound = |extreme: i128| {
        let (mut good, mut bad) = (good, extreme);
        if starts(bad) {
            return None;
        }
        while 1 < (good - bad).abs() {
            let middle = i128::midpoint(good, bad);
            *(if starts(middle) { &mut good } else { &mut bad }) = middle;
        }
        Some(good.to_string())
    };
    let (low, high) = match flag.kind.as_str() {
        "intx" => (bound(i128::from(i32::MIN)), bound(i128::from(i32::MAX))),
        _ => (bound(0), bound(i128::from(u32::MAX))),
    };
    let is_bounded = low.is_some() || high.is_some();
    is_bounded.then(|| ListedRange { low: low.unwrap_or_default(), high: high.unwrap_or_default() })
}

fn quoted(value: &str) -> String {
    if value.contains([',', '"', '\n']) {
        format!("\"{}\"", value.replace('"', "\"\""))
    } else {
        value.to_owned()
    }
}

#[test]
#[ignore = "writes the table anew: cargo test -p assay-jdk --test all flags::tables -- --ignored; needs all releases, three minutes"]
fn the_table_of_other_options_is_made_from_the_jvms() {
    let jvms = jvms();
    let mut text = String::from("option,release,state\n");
    let mut write = |pattern: &str, state_of: &dyn Fn(&Jvm) -> FlagState| {
        let mut last = None;
        for (release, jvm) in &jvms {
            let state = state_of(jvm);
            if last != Some(state) {
                writeln!(text, "{},{release},{}", quoted(pattern), state.word()).expect("written");
                last = Some(state);
            }
        }
    };
    for line in OPTIONS.lines().filter(|line| !line.is_empty() && !line.starts_with('#')) {
        let (pattern, sample) = line.split_once('\t').unwrap_or((line, line));
        let folder = tempfile::tempdir().expect("a temporary folder");
        let sample = sample.replace("FOLDER", &folder.path().display().to_string());
        // Some options switch sharing off, which the JVM's version says: nothing shares.
        let alone = vec!["-Xshare:off".to_owned()];
        let words: Vec<String> = alone.iter().cloned().chain(sample.split(' ').map(str::to_owned)).collect();
        write(pattern, &|jvm| {
            let usual = run(&jvm.java, &alone).0;
            match run(&jvm.java, &words) {
                (text, Some(0)) if text != usual && !writes(&sample) => FlagState::Deprecated,
                (_, Some(0)) => FlagState::Product,
                _ => FlagState::Unrecognized,
            }
        });
    }
    let tags: BTreeMap<u32, BTreeSet<String>> =
        jvms.iter().map(|(release, jvm)| (*release, log_tags(jvm))).collect();
    let all: BTreeSet<&String> = tags.values().flatten().collect();
    for tag in all {
        let mut last = FlagState::Unrecognized;
        for (release, tags) in &tags {
            let state = if tags.contains(tag) { FlagState::Product } else { FlagState::Unrecognized };
            if state != last {
                writeln!(text, "tag {tag},{release},{}", state.word()).expect("written");
                last = state;
            }
        }
    }
    write_table("options.csv", &text);
}

/// Options that make the JVM write something, so that this is no warning.
fn writes(sample: &str) -> bool {
    let parts = [
        "verbose", "help", "version", "show", "list-", "-Xlog:", "-Xdiag", "-Xint", "-Xcomp", "-Xshare",
        "dry-run",
    ];
    ["-X", "-?", "-h", "-Xlog"].contains(&sample) || parts.iter().any(|part| sample.contains(part))
}

/// The tags that logs have; JDK 8 has none.
fn log_tags(jvm: &Jvm) -> BTreeSet<String> {
    let (text, _) = run(&jvm.java, &["-Xlog:help".to_owned()]);
    let tags =
        text.lines().skip_while(|line| !line.starts_with("Available log tags")).nth(1).unwrap_or_default();
    tags.split(',').map(|tag| tag.trim().to_owned()).filter(|tag| !tag.is_empty()).collect()
}
