//! The reference of commands in the documentation is what the program says of itself. `UPDATE_EXPECT=1` writes it anew.

use assay_testkit::checkout;
use std::fs;
use std::process::Command;

#[test]
fn the_reference_of_commands_is_up_to_date() {
    let output = Command::new(env!("CARGO_BIN_EXE_assay")).arg("reference").output().expect("assay starts");
    assert!(output.status.success());
    let said = String::from_utf8(output.stdout).expect("a text");
    for part in ["\n## assay memory diff\n", "- `--watch", "Exit codes: 0 good", "(default `64m`)"] {
        assert!(said.contains(part), "{part} is missing");
    }
    assert!(
        !said.contains("emulated-guest") && !said.contains("\n## assay reference\n"),
        "a hidden command is shown"
    );
    let page = checkout().join("docs/reference/commands.md");
    if std::env::var_os("UPDATE_EXPECT").is_some() {
        fs::write(&page, &said).expect("written");
    }
    let stored = fs::read_to_string(&page).expect("docs/reference/commands.md");
    let differs = stored.lines().zip(said.lines()).find(|(stored, said)| stored != said);
    assert!(
        stored == said,
        "docs/reference/commands.md is out of date: UPDATE_EXPECT=1 cargo test -p assay --test reference\n{differs:?}"
    );
}
