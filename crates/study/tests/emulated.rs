//! Studies of emulated guests that would report what they did not measure are refused. `crates/assay/tests/emulated.rs` runs guests.

use assay_study::{CountedForm, Study};
use assay_testkit::{find_java, skip};
use expect_test::expect;
use std::path::Path;

const HEAD: &str = r#"
schema = "assay.study/1"
name = "guest"
host = { sysctl = { "vm.swappiness" = "10" } }
[server]
command = "java {jvm_options} -jar my.jar --port {port}"
ready_url = "http://127.0.0.1:{port}/"
"#;
const LEVELS: &str = r#"
[[factor]]
name = "machine"
[[factor.level]]
name = "as it is"
[[factor.level]]
name = "limited"
limits = { cpus = 0.5, memory = "512m" }
[[factor.level]]
name = "pinned"
host = { cpuset = "0" }
"#;

/// They reach the emulator at most, and would be reported as applied to the server in its guest.
#[test]
fn settings_and_limits_of_the_machine_are_refused_for_a_guest_and_accepted_without_one() {
    let found =
        Study::check(Path::new("x.toml"), &format!("{HEAD}[emulated]\n{LEVELS}")).expect_err("refused");
    assert!(found.iter().all(|mistake| !mistake.environment), "a mistake in the file: exit code 2");
    let lines: String = found.iter().map(|mistake| format!("{mistake}\n")).collect();
    expect![[r#"
        x.toml:4: `host` cannot be applied to an emulated guest, which has a kernel and a processor of its own: leave it out, or measure on this machine, without [emulated]
        x.toml:16: `limits` cannot be applied to an emulated guest, since a control group would limit the emulator and not the server in it: leave it out, or measure on this machine, without [emulated]
        x.toml:19: `host` cannot be applied to an emulated guest, which has a kernel and a processor of its own: leave it out, or measure on this machine, without [emulated]
    "#]].assert_eq(&lines);
    Study::check(Path::new("x.toml"), &format!("{HEAD}{LEVELS}")).expect("no mistake");
}

#[test]
fn a_number_of_requests_takes_users_who_wait_for_their_answers() {
    let text = format!("{HEAD}[emulated]\nwarm_up_requests = 100\nwindow_requests = 10\n")
        .replace("host = { sysctl = { \"vm.swappiness\" = \"10\" } }\n", "");
    Study::check(Path::new("x.toml"), &text).expect("closed is the default");
    let open = format!("{text}[load]\nkind = \"open\"\nrate_per_s = 10\n");
    let found = Study::check(Path::new("x.toml"), &open).expect_err("refused");
    let lines: Vec<String> = found.iter().map(|mistake| mistake.message.clone()).collect();
    expect![[r#"
        [
            "warm_up_requests and window_requests take a closed load: write kind = \"closed\", or give [emulated] times",
        ]
    "#]]
    .assert_debug_eq(&lines);
}

/// Why the counted form of a study does not exist.
fn refused(text: &str) -> String {
    let checked = Study::check(Path::new("x.toml"), text).expect("a study");
    checked.counted(CountedForm::default()).expect_err("it cannot be counted")
}

#[test]
fn what_cannot_be_counted_says_why_in_a_sentence() {
    let head = "schema = \"assay.study/1\"\nname = \"x\"\n";
    let url =
        format!("{head}[server]\nurl = \"http://127.0.0.1:1/\"\n[design]\nblocks = 1\nrepeats_max = 0\n");
    assert_eq!(refused(&url), "a guest starts its server itself; this study has one that runs already");
    let program = format!("{head}[benchmark]\ncommand = \"sh -c {{results}}\"\n");
    assert_eq!(refused(&program), "a guest loads a server; this study has a benchmark program");
    let limited = format!("{HEAD}{LEVELS}");
    assert!(refused(&limited).starts_with("`host` cannot be applied to an emulated guest"));
    let loads = format!(
        "{head}[server]\ncommand = \"sh {{port}}\"\nready_url = \"http://127.0.0.1:{{port}}/\"\n[[factor]]\nname = \"users\"\n\
         [[factor.level]]\nname = \"1\"\nload = {{ kind = \"closed\", users = 1 }}\n[[factor.level]]\nname = \"2\"\n"
    );
    assert!(refused(&loads).contains("differ in load"), "{}", refused(&loads));
}

#[test]
fn files_that_a_guest_would_lack_are_known_before_anything_starts() {
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::write(folder.path().join("run.sh"), "#!/bin/sh\n").expect("written");
    let study = |command: &str| {
        let text = format!(
            "schema = \"assay.study/1\"\nname = \"x\"\n[server]\ncommand = \"{command}\"\nready_url = \"http://127.0.0.1:{{port}}/\"\n"
        );
        Study::check(&folder.path().join("x.toml"), &text).expect("a study")
    };
    let why = study("./run.sh {port}").counted(CountedForm::default()).expect_err("a script");
    assert!(why.contains("`./run.sh` is a script") && why.contains("java -jar"), "{why}");
    if find_java(17, 64).is_none() {
        skip!("no 64-bit JDK 17");
    }
    let why = study("java -jar no.jar {port}").counted(CountedForm::default()).expect_err("no jar");
    assert!(why.contains("there is no file no.jar"), "{why}");
}
