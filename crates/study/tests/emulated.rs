//! Studies of emulated guests that would report what they did not measure are refused. `crates/assay/tests/emulated.rs` runs guests.

use assay_study::Study;
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
