//! When results are coloured: `--color`, and the environment where it is left out.

use assay_testkit::testdata;
use std::process::Command;

/// Whether the report of a log, read through a pipe, has styles.
fn is_coloured(options: &[&str], environment: &[(&str, &str)]) -> bool {
    let mut assay = Command::new(env!("CARGO_BIN_EXE_assay"));
    for name in ["NO_COLOR", "CLICOLOR", "CLICOLOR_FORCE", "TERM"] {
        assay.env_remove(name);
    }
    assay.args(options).arg("gc").arg(testdata("gclog/17-32-g1.log")).envs(environment.iter().copied());
    let output = assay.output().expect("assay starts");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    output.stdout.contains(&0x1b)
}

#[test]
fn the_option_decides_then_the_environment_then_the_terminal() {
    assert!(!is_coloured(&[], &[]));
    assert!(is_coloured(&["--color", "always"], &[]));
    assert!(is_coloured(&["--color", "always"], &[("NO_COLOR", "1"), ("TERM", "dumb")]));
    assert!(is_coloured(&[], &[("CLICOLOR_FORCE", "1")]));
    assert!(!is_coloured(&[], &[("CLICOLOR_FORCE", "1"), ("NO_COLOR", "1")]));
    assert!(!is_coloured(&["--color", "never"], &[("CLICOLOR_FORCE", "1")]));
    // Behind the command as before it.
    assert!(is_coloured(&["--color=auto"], &[("CLICOLOR_FORCE", "1")]));
}
