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
    assert_eq!(listed, known, "cargo test -p assay-jdk --test all flags::tables -- --ignored");
    assert_eq!(
        all.releases.iter().map(|of| of.starts).collect::<Vec<_>>()[..3],
        [Some(true), Some(true), Some(false)]
    );
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
    assert_eq!((of.releases[0].release, of.releases[0].starts, of.pid), (17, Some(true), Some(jvm.pid())));
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

#[test]
fn files_and_commands_give_their_options_to_the_releases_that_they_name() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let file = folder.path().join("jvm.options");
    let text = "8-13:-XX:+UseConcMarkSweepGC\n14-:-XX:+UseG1GC\n-Dpassword=s3cr3tt0ken99\n--add-opens java.base/java.lang=ALL-UNNAMED\n";
    std::fs::write(&file, text).expect("written");
    let name = file.display().to_string();
    for what in [vec![name.as_str()], vec![&format!("@{name}")], vec!["--file", &name], vec![text]] {
        let found = report(&[what, vec!["--for", "17"]].concat());
        assert_eq!(found.options[0], "-XX:+UseConcMarkSweepGC");
        assert_eq!((found.options.len(), found.releases[0].starts), (4, Some(true)), "{found:?}");
        let other = &found.releases[0].remarks[0];
        assert_eq!((other.option, other.remark), (0, OptionRemark::OtherRelease));
        assert!(!serde_json::to_string(&found).expect("JSON").contains("s3cr3tt0ken99"));
    }
    let command = report(&["java -Xmx2g --add-modules java.se -jar shop.jar -Xms9g", "--for", "17"]);
    assert_eq!(command.options, ["-Xmx2g", "--add-modules java.se"]);
    let line = report(&["JAVA_TOOL_OPTIONS=-Xmx2g -Xss1m", "--for", "17"]);
    assert_eq!(line.options, ["-Xmx2g", "-Xss1m"]);
}

#[test]
fn a_build_fails_where_no_jvm_starts_and_is_undecided_where_that_is_not_known() {
    let code = |options: &str, condition: &str| {
        assay(&[options, "--for", "21", "--fail-if", condition]).status.code()
    };
    assert_eq!(code("-XX:+UseConcMarkSweepGC", "fails"), Some(1));
    assert_eq!(code("-Xms3g -Xmx2g", "fails"), Some(1));
    assert_eq!(code("-Xmx2g", "fails"), Some(0));
    assert_eq!(code("-Xmx2g -javaagent:shop.jar", "fails"), Some(3));
    assert_eq!(code("-XX:+UseG1Gc", "loud"), Some(2));
}
