//! `assay flags` as it is typed.

use assay_jdk::Release;
use assay_model::{FlagsReport, OptionRemark};
use assay_testkit::{find_java, skip, start_java};
use std::process::{Command, Output};

fn assay(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_assay"))
        .arg("flags")
        .args(arguments)
        .env("COLUMNS", "80")
        .output()
        .expect("assay starts")
}

fn report(arguments: &[&str]) -> FlagsReport {
    let output = assay(&[arguments, &["--json"]].concat());
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).expect("the stored form")
}

#[test]
fn options_are_looked_up_in_each_release() {
    let all = report(&["-XX:+UseConcMarkSweepGC -Xmx4g"]);
    let known = Release::all().iter().filter(|release| release.pack.is_some());
    let known: Vec<u32> = known.map(|release| release.feature).collect();
    let listed: Vec<u32> = all.releases.iter().map(|of| of.release).collect();
    assert_eq!(listed, known, "cargo test -p assay-jdk --test all flags:: -- --ignored");
    assert_eq!(all.releases.iter().map(|of| of.starts).collect::<Vec<_>>()[..3], [true, true, false]);
    let two = report(&["-XX:+UseConcMarkSweepGC", "--for", "8,21"]);
    assert_eq!(two.releases[1].remarks[0].remark, OptionRemark::Unrecognized);
    let text = assay(&["-XX:OnError='curl --token s3cr3tt0ken99'", "--for", "21", "--json"]).stdout;
    assert!(!String::from_utf8_lossy(&text).contains("s3cr3tt0ken99"), "a secret is shown");
}

#[test]
fn the_options_of_a_running_jvm_are_all_that_it_was_given() {
    let Some(java) = find_java(17, 64) else { skip!("no JDK 17") };
    let environment = [("JAVA_TOOL_OPTIONS", "-XX:MaxMetaspaceSize=64m -Dx=y")];
    let jvm =
        start_java(&java, &["-XX:+UseSerialGC", "-Xmx64m", "-Dpassword=secret"], &environment, "Waiting");
    let of = report(&[&jvm.pid().to_string()]);
    assert_eq!(of.options, ["-XX:MaxMetaspaceSize=64m", "-XX:+UseSerialGC", "-Xmx64m"]);
    assert_eq!((of.releases[0].release, of.releases[0].starts, of.pid), (17, true, Some(jvm.pid())));
}

#[test]
fn what_is_neither_process_nor_option_is_wrong_input() {
    for wrong in [
        &["shop"][..],
        &[""],
        &["4194305"],
        &["-Xmx1g", "--for", "12"],
        &["-Xmx1g 'open"],
        &["-Xmx1g", "--for", "x"],
    ] {
        let output = assay(wrong);
        assert_eq!(output.status.code(), Some(2), "{wrong:?}");
        assert!(output.stdout.is_empty() && !output.stderr.is_empty());
    }
}
