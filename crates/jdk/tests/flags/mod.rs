//! The tables of options against the JVMs themselves; `tables` writes them anew.

mod any_text;
mod jvm;
mod matrix;
mod tables;

use assay_jdk::options::{judge_options, starts_with};
use assay_model::OptionRemark;
use assay_testkit::{find_java, skip};
use jvm::{Jvm, UNLOCKED, releases};
use std::path::PathBuf;

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
            let expected = if starts_with(&said) == Some(true) { (true, warns) } else { (false, true) };
            assert_eq!(
                jvm.try_options(std::slice::from_ref(&option)),
                expected,
                "JDK {release} {option}: {said:?}"
            );
        }
    }
}
