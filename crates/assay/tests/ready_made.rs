//! What is part of the program works where nothing else is: in an empty folder.

use assay_model::ReadyMadeList;
use assay_testkit::{CountingServer, checkout, output_of_copy};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// The program in a folder without a checkout above it.
struct Alone {
    folder: tempfile::TempDir,
    program: PathBuf,
}

impl Alone {
    fn new() -> Alone {
        let folder = tempfile::tempdir().expect("a folder");
        let program = folder.path().join("assay");
        fs::copy(env!("CARGO_BIN_EXE_assay"), &program).expect("copied");
        Alone { folder, program }
    }

    fn path(&self) -> &Path {
        self.folder.path()
    }

    fn run(&self, arguments: &[&str]) -> Output {
        let mut command = Command::new(&self.program);
        // Without what `assay setup` of the user fetched.
        command.args(arguments).current_dir(self.path()).env("XDG_DATA_HOME", self.path());
        output_of_copy(&mut command)
    }
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

#[test]
fn studies_and_scenarios_are_listed_and_printed_with_their_schema_beside_them() {
    let alone = Alone::new();
    let listed = alone.run(&["studies", "--json"]);
    let list: ReadyMadeList = serde_json::from_slice(&listed.stdout).expect("a list");
    assert!(15 < list.studies.len() && 4 < list.scenarios.len(), "{list:?}");
    let said = text(&alone.run(&["studies", "--all"]).stdout);
    for name in list.studies.iter().map(|study| &study.name) {
        let is_listed = said.lines().any(|line| line.split_whitespace().next() == Some(name));
        assert!(is_listed, "{name} is missing");
        let stored = fs::read_to_string(checkout().join(format!("studies/{name}.toml"))).expect("a study");
        let (printed, stored) =
            (text(&alone.run(&["studies", name]).stdout), stored.replace("../docs/schemas/", ""));
        assert!(
            printed == stored && printed.starts_with("#:schema study.schema.json\n"),
            "{name}: {printed}"
        );
    }
    for scenario in &list.scenarios {
        let printed = text(&alone.run(&["studies", &scenario.name]).stdout);
        assert!(printed.starts_with("#:schema scenario.schema.json\n"), "{}", scenario.name);
        assert!(printed.contains("assay.scenario/1"), "{}", scenario.name);
    }
}

#[test]
fn the_schemas_of_files_that_users_write_are_part_of_the_program() {
    let alone = Alone::new();
    for kind in ["study", "scenario", "workload"] {
        let printed = alone.run(&["studies", "--schema", kind]).stdout;
        let file = checkout().join(format!("docs/schemas/{kind}.schema.json"));
        assert_eq!(text(&printed), fs::read_to_string(file).expect("a schema"), "{kind}");
    }
    let wrong = alone.run(&["studies", "--schema", "studies"]);
    assert!(
        wrong.status.code() == Some(2) && text(&wrong.stderr).contains("study"),
        "{}",
        text(&wrong.stderr)
    );
}

#[test]
fn a_study_without_its_server_says_what_to_fetch_and_one_of_a_server_of_ones_own_needs_nothing() {
    let alone = Alone::new();
    let study = alone.run(&["run", "compressed-references", "--plan"]);
    let said = text(&study.stderr);
    assert_eq!(study.status.code(), Some(3), "{said}");
    assert!(said.contains("clone") && said.contains("./assay setup"), "{said}");
    let demo = alone.run(&["demo"]);
    assert_eq!(demo.status.code(), Some(3), "{}", text(&demo.stderr));
    assert!(text(&demo.stderr).contains("./assay demo"), "{}", text(&demo.stderr));
    // Its server is not there either, but that is for its author to mend.
    let own = text(&alone.run(&["run", "own-server", "--plan"]).stderr);
    assert!(own.contains("the ready-made study own-server") && !own.contains("./assay setup"), "{own}");
}

#[test]
fn a_ready_made_scenario_is_loaded_by_its_name() {
    let (alone, server) = (Alone::new(), CountingServer::start());
    let load = ["load", &server.url, "--users", "2", "--duration", "1s", "--scenario", "probes", "--json"];
    let output = alone.run(&load);
    // The server is another one: the scenario's check of the answers fails, and says so.
    let said = text(&output.stdout);
    assert!(said.contains("probes-hold") && said.contains("hold") && 0 < server.count(), "{said}");
    let unknown = alone.run(&["load", &server.url, "--users", "2", "--scenario", "none-such"]);
    assert!(text(&unknown.stderr).contains("none-such"), "{}", text(&unknown.stderr));
}

#[test]
fn an_invalid_load_ends_with_0_where_that_is_allowed() {
    let (alone, server) = (Alone::new(), CountingServer::start());
    // Every answer is wrong, so that no figure can be used.
    let load = ["load", &server.url, "--users", "2", "--duration", "1s", "--scenario", "probes", "--json"];
    let strict = alone.run(&load);
    assert_eq!(strict.status.code(), Some(1), "{}", text(&strict.stderr));
    let allowed = alone.run(&[&load[..], &["--allow-invalid"]].concat());
    assert_eq!(allowed.status.code(), Some(0), "{}", text(&allowed.stderr));
    assert!(text(&allowed.stdout).contains("\"valid\": false"), "it still says so");
}

#[test]
fn an_invalid_capacity_ends_with_0_where_that_is_allowed_and_does_not_decide_what_is_asked_for() {
    let (alone, server) = (Alone::new(), CountingServer::start());
    // Every answer is wrong.
    let capacity = [
        "capacity",
        &server.url,
        "--scenario",
        "probes",
        "--budget",
        "10s",
        "--no-warm-up",
        "--limits",
        "50",
        "--json",
    ];
    let strict = alone.run(&capacity);
    assert_eq!(strict.status.code(), Some(1), "{}", text(&strict.stderr));
    let allowed = alone.run(&[&capacity[..], &["--allow-invalid"]].concat());
    assert_eq!(allowed.status.code(), Some(0), "{}", text(&allowed.stderr));
    assert!(
        text(&allowed.stdout).contains("\"valid\": false"),
        "it still says so: {}",
        text(&allowed.stdout)
    );
    let asked = alone.run(&[&capacity[..], &["--allow-invalid", "--at-least", "1@50"]].concat());
    assert_eq!(asked.status.code(), Some(3), "{}", text(&asked.stderr));
}
