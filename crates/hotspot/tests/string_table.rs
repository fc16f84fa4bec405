//! The table of interned strings against what the JVM says of it.

use crate::support::Jvm;
use assay_hotspot::Hotspot;
use assay_testkit::{each_java, skip};

/// What stands before `word` and behind a colon: `Number of buckets       :     65536 =    524288 bytes, each 8`.
fn figure(said: &str, word: &str) -> u64 {
    let line =
        said.lines().find(|line| line.starts_with(word)).unwrap_or_else(|| panic!("no {word}: {said}"));
    let figure = line.split_once(':').and_then(|(_, rest)| rest.split_whitespace().next());
    figure.and_then(|figure| figure.parse().ok()).unwrap_or_else(|| panic!("{line}"))
}

#[test]
fn the_table_of_strings_has_the_buckets_and_entries_that_the_jvm_counts() {
    let javas = each_java(64);
    if javas.is_empty() {
        skip!("no 64-bit JDK 17 or 25");
    }
    for (feature, java) in javas {
        // With the archive of shared classes most strings are in its table, without all are in this one.
        for sharing in ["-Xshare:auto", "-Xshare:off"] {
            let jvm = Jvm::start(&java, &[sharing]).expect("a JVM");
            let count = || {
                let said = jvm.jcmd(&["VM.stringtable"]);
                (figure(&said, "Number of buckets"), figure(&said, "Number of entries"))
            };
            // The first command interns names of its own.
            count();
            let before = count();
            let process = jvm.process();
            let hotspot = Hotspot::open(&process).expect("a readable JVM").expect("a JVM");
            let table = hotspot.string_table();
            let after = count();
            let seen = (table.buckets(), table.entries());
            println!("JDK {feature} {sharing}: {before:?}, {seen:?}, {after:?}");
            assert_eq!((before.0, after.0), (seen.0, seen.0), "JDK {feature} {sharing}");
            assert!((before.1..=after.1).contains(&seen.1), "JDK {feature} {sharing}: {before:?} {seen:?}");
        }
    }
}
