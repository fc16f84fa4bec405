//! Options tried on JVMs that are here.

use super::*;

fn judged(java: &Path, release: u32, options: &[&str]) -> Verdict {
    let stop = AtomicBool::new(false);
    let options: Vec<String> = options.iter().map(|option| (*option).to_owned()).collect();
    let jvm = JvmHere::open(java, release, &stop).expect("it lists its flags");
    jvm.judge(&options, &stop).expect("nobody stops it")
}

fn of(verdict: &Verdict) -> Vec<(usize, OptionRemark)> {
    verdict.remarks.iter().map(|of| (of.option, of.remark)).collect()
}

#[test]
fn the_jvm_that_is_here_decides_and_says_which_option_it_refuses() {
    let Some(java) = assay_testkit::find_java(17, 64) else { assay_testkit::skip!("no JDK 17") };
    let fits = judged(
        &java,
        17,
        &["-Xmx64m", "-XX:+UseSerialGC", "--add-modules java.se", "-Xlog:gc:file=/nowhere/gc.log"],
    );
    assert_eq!((fits.starts, fits.tried, of(&fits)), (Some(true), true, vec![]));
    // How small a stack may be, no table says.
    let refused = judged(&java, 17, &["-Xmx64m", "-Xss1k"]);
    assert_eq!((refused.starts, of(&refused)), (Some(false), vec![(1, OptionRemark::Refused)]));
    assert!(refused.refusal.is_some_and(|text| !text.is_empty()));
    let agent = judged(&java, 17, &["-Xmx64m", "-javaagent:/nowhere.jar"]);
    assert_eq!((agent.starts, of(&agent)), (None, vec![(1, OptionRemark::NotJudged)]));
}

#[test]
fn what_the_jvm_makes_another_value_is_said_and_what_it_rounds_is_not() {
    let Some(java) = assay_testkit::find_java(17, 64) else { assay_testkit::skip!("no JDK 17") };
    let large = judged(&java, 17, &["-Xmx40g", "-XX:+UseCompressedOops", "-XX:+UseSerialGC"]);
    assert_eq!((large.starts, of(&large)), (Some(true), vec![(1, OptionRemark::Changed)]), "{large:?}");
    let rounded = judged(&java, 17, &["-Xmx65m", "-XX:+UseSerialGC", "-Xss300k"]);
    assert_eq!(of(&rounded), []);
}

#[test]
fn without_a_jvm_unknown_stays_unknown() {
    let of = |option: &str, release| judge_by_table(&[option.to_owned()], release).starts;
    assert_eq!(of("-Xmx64m", 21), Some(true));
    assert_eq!(of("-XX:MaxTenuringThreshold=20", 21), Some(false));
    assert_eq!(of("-javaagent:shop.jar", 21), None);
    assert_eq!(of("-Xmx${HEAP}", 21), None);
}
