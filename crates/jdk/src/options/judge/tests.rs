//! What the tables say of options.

use super::*;

fn remarks(options: &str, release: u32) -> Vec<(usize, OptionRemark)> {
    let options: Vec<String> = options.split_whitespace().map(str::to_owned).collect();
    judge_options(&options, release, None).into_iter().map(|of| (of.option, of.remark)).collect()
}

#[test]
fn what_releases_make_of_an_option_is_what_their_jvms_did() {
    use OptionRemark::{Deprecated, Ignored, Locked, Unrecognized};
    let cases: [(&str, u32, Option<OptionRemark>); 14] = [
        ("-XX:+UseConcMarkSweepGC", 8, None),
        ("-XX:+UseConcMarkSweepGC", 11, Some(Deprecated)),
        ("-XX:+UseConcMarkSweepGC", 17, Some(Unrecognized)),
        ("-XX:+PrintGCDetails", 8, None),
        ("-XX:+PrintGCDetails", 11, Some(Deprecated)),
        ("-XX:MaxPermSize=256m", 8, Some(Ignored)),
        ("-XX:MaxPermSize=256m", 17, Some(Unrecognized)),
        ("-XX:+UseZGC", 8, Some(Unrecognized)),
        ("-XX:+UseZGC", 11, Some(Locked)),
        ("-XX:+UseZGC", 17, None),
        ("-XX:+UseCompactObjectHeaders", 25, None),
        ("-XX:+UseCompactObjectHeaders", 21, Some(Unrecognized)),
        ("-XX:+UseG1Gc", 21, Some(Unrecognized)),
        ("-XX:+UseBiasedLocking", 17, Some(Deprecated)),
    ];
    for (option, release, expected) in cases {
        let found = remarks(option, release).first().map(|(_, remark)| *remark);
        assert_eq!(found, expected, "{option} {release}");
    }
}

#[test]
fn options_are_seen_together() {
    use OptionRemark::{AlreadyDefault, Ignored, NoEffect, NotJudged, Overridden};
    assert_eq!(remarks("-Xmx2g -Xmx4g -Dx=y -javaagent:x.jar", 21), [(0, Overridden), (3, NotJudged)]);
    assert_eq!(remarks("-XX:+UseParallelGC -XX:G1HeapRegionSize=4m", 21), [(1, NoEffect)]);
    assert_eq!(remarks("-XX:G1HeapRegionSize=4m", 21), []);
    assert_eq!(remarks("-XX:MaxGCPauseMillis=0200 -XX:+UseStringDeduplication", 21), [(0, AlreadyDefault)]);
    assert_eq!(remarks("-XX:-UseStringDeduplication", 21), [(0, AlreadyDefault)]);
    assert_eq!(remarks("-XX:+IgnoreUnrecognizedVMOptions -XX:+NoSuchFlag", 21), [(1, Ignored)]);
    assert_eq!(remarks("-XX:+UnlockExperimentalVMOptions -XX:+UseZGC", 11), []);
}

#[test]
fn a_jvm_has_one_collector() {
    let both = "-XX:+UseZGC -XX:+UseConcMarkSweepGC";
    assert_eq!(remarks("-XX:+UseZGC -XX:+UseSerialGC", 21).len(), 2);
    assert_eq!(remarks(both, 21), [(1, OptionRemark::Unrecognized)]);
    assert_eq!(remarks("-XX:+UseZGC -XX:-UseG1GC", 21), []);
}

#[test]
fn a_misspelt_name_gets_the_right_one() {
    let found = judge_options(&["-XX:+UseG1Gc".to_owned()], 21, None);
    assert_eq!(found[0].instead.as_deref(), Some("perhaps UseG1GC is meant"));
    assert_eq!(starts_with(&found), Some(false));
}

#[test]
fn values_and_forms_that_no_jvm_takes_are_named() {
    use OptionRemark::{Changed, Conflict, Locked, Malformed, OtherJvm, OutOfRange, Unrecognized};
    let cases = [
        ("-XX:MaxTenuringThreshold=20", 21, OutOfRange),
        ("-XX:+ZCollectionInterval=5", 17, Malformed),
        ("-XX:+ExitOnOutOfMemoryError-Dfile.encoding=UTF-16", 17, Malformed),
        ("-XX:UseG1GC=true", 17, Malformed),
        ("-XX:-MaxHeapSize", 17, Malformed),
        ("-XX:MaxRAMPercentage=75", 8, Malformed),
        ("-XX:MaxRAMPercentage=750", 21, OutOfRange),
        ("-Xms3g -Xmx2g", 25, Conflict),
        ("-XX:ParallelGCThreads=0", 25, Conflict),
        ("-XX:+UseZGC -XX:+UnlockExperimentalVMOptions", 11, Locked),
        ("-d64", 11, Unrecognized),
        ("-Xlog:gc", 8, Unrecognized),
        ("-Xlog:nosuchtag", 21, Malformed),
        ("-Xlog:gc=loud", 21, Malformed),
        ("-Xlog:gc:stdout:when", 21, Malformed),
        ("-Xgcpolicy:gencon", 21, OtherJvm),
        ("-XX:+IdleTuningGcOnIdle", 21, OtherJvm),
        ("-Xnosuch", 21, Unrecognized),
        ("--add-opens", 21, Malformed),
        ("-XX:+UseCompressedOops -Xmx40g", 28, Changed),
    ];
    for (options, release, expected) in cases {
        let found = remarks(options, release);
        assert_eq!(found.first().map(|(_, remark)| *remark), Some(expected), "{options} {release}");
    }
}

#[test]
fn an_alias_sets_the_flag_behind_it() {
    let found = judge_options(
        &["-XX:DefaultMaxRAMFraction=5".to_owned(), "-XX:MaxRAMFraction=4".to_owned()],
        17,
        None,
    );
    assert_eq!(found[0].instead.as_deref(), Some("-XX:MaxRAMFraction"));
    assert!(found.iter().any(|of| of.option == 0 && of.remark == OptionRemark::Overridden), "{found:?}");
    assert_eq!(remarks("-XX:CMSMarkStackSize=1m", 8), []);
}

#[test]
fn decorators_are_found_behind_any_output() {
    let none = [
        "gc:stdout:time",
        "gc*:file=gc.log:t,tg:filecount=5",
        "gc:file=\"a:b:c\":none",
        "gc:file=C:\\gc.log:u",
        "gc::",
        "gc",
    ];
    for options in none {
        assert_eq!(remarks(&format!("-Xlog:{options}"), 21), [], "{options}");
    }
}

#[test]
fn a_value_of_jdk_8_beyond_the_bounds_that_11_lists_is_not_known_to_start() {
    for (option, is_open) in [
        ("-XX:ObjectAlignmentInBytes=512", true),
        ("-XX:StringTableSize=1", true),
        ("-XX:StringTableSize=4096", false),
        ("-XX:MaxHeapFreeRatio=101", true),
    ] {
        let found: Vec<_> = remarks(option, 8).into_iter().map(|(_, remark)| remark).collect();
        assert_eq!(found.contains(&OptionRemark::NotJudged), is_open, "{option} {found:?}");
    }
}
