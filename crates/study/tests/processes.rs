//! Studies with processes beside the server: one TOML table each.

use crate::support::{Fixture, example, processes};
use assay_model::{RunEventKind, TrialOutcome};
use std::sync::atomic::Ordering;

const DESIGN: &str = r#"
scenario = "scenario.toml"
design = { kind = "resident", blocks = 3, window = "500ms", warm_up = { cap = "0s" }, repeats_max = 0 }
"#;

/// A second fake server, which the first one is told of.
fn helper(more: &str) -> String {
    format!(
        r#"
environment = {{ FAKE_HELPER = "127.0.0.1:{{helper.port}}", FAKE_PASSWORD = "{{helper.password}}" }}
[[process]]
name = "helper"
command = "{} --port {{port}}"
ready_url = "http://127.0.0.1:{{port}}/ready"
directory = "{{folder}}"
prepare = ["sh", "-c", "echo prepared in $PWD; test -n \"$0\"", "{{password}}"]
stop_timeout_s = 5
{more}
"#,
        example("fake_server").display()
    )
}

#[test]
fn a_process_beside_the_server_is_one_table() {
    let fixture = Fixture::new(DESIGN, &helper(""));
    fixture.run(false, |_, _| ()).0.unwrap();
    let stored = fixture.load();
    let trial = &stored.trials[0].trial;
    assert_eq!(trial.outcome, TrialOutcome::Completed);
    assert_eq!(trial.problems, []);
    let roles: Vec<&str> = trial.processes.iter().map(|p| p.role.as_str()).collect();
    assert_eq!(roles, ["helper", "server"]);
    assert_eq!(trial.processes[1].command, trial.command);
    let port = &trial.processes[0].command[2];
    assert_eq!(trial.processes[1].environment["FAKE_HELPER"], format!("127.0.0.1:{port}"));
    assert_eq!(trial.processes[1].environment["FAKE_PASSWORD"], "<redacted>");
    let folder = fixture.out().join("trials/01-default");
    let log = std::fs::read_to_string(folder.join("helper.log")).unwrap();
    assert!(log.contains("prepared in ") && log.contains(&format!("fake server on port {port}")), "{log}");
    assert!(!std::path::Path::new(&trial.processes[0].directory).exists());
    assert_eq!(fixture.left_over(), Vec::<String>::new());
}

/// The second fake server hands nothing on, so that each counts what it was sent.
#[test]
fn a_process_that_takes_the_load_gets_it_and_the_server_is_still_asked_for_its_audit() {
    let front =
        helper("after_server = true\ntakes_load = true\nenvironment = { FAKE_FAULT = \"fails-audit\" }")
            .replace("environment = { FAKE_HELPER", "# {");
    let fixture = Fixture::new(DESIGN, &front);
    fixture.run(false, |_, _| ()).0.unwrap();
    let trial = fixture.load().trials[0].trial.clone();
    assert_eq!(trial.outcome, TrialOutcome::Completed);
    assert!(trial.windows.iter().all(|w| 0 < w.completed && w.errors == 0), "{:?}", trial.windows);
    assert!(trial.audit.is_some_and(|audit| audit.passed), "the server's, not that of what is in front");
    let stats = std::fs::read_to_string(fixture.out().join("trials/01-default/stats.json")).unwrap();
    assert_eq!(stats, "{\"requests\": 0}", "the server itself is not loaded");

    let two = front.replace("after_server", "count = 2\nafter_server").replace("helper.", "helper-1.");
    let message = Fixture::new(DESIGN, &two).prepare().unwrap_err().to_string();
    assert!(message.contains("the load goes to one process"), "{message}");
}

/// Its JVM options are the variant's, and that of a log of its own.
#[test]
fn a_process_may_take_the_jvm_options_of_the_variant() {
    let takes = "environment = { OPTIONS = \"{jvm_options}\" }\ndirectory = ";
    let tail = helper("").replace("directory = ", takes);
    let head = format!(
        "{DESIGN}\n[[factor]]\nname = \"gc\"\n[[factor.level]]\nname = \"serial\"\njvm_options = [\"-XX:+UseSerialGC\"]\n"
    );
    let server = format!(
        "environment = {{ FAKE_OPTIONS = \"{{jvm_options}}\" }}\n{}",
        tail.replace("environment = { FAKE_HELPER", "# {")
    );
    let fixture = Fixture::new(&head, &server);
    fixture.run(false, |_, _| ()).0.unwrap();
    let trial = fixture.load().trials[0].trial.clone();
    let of = |role: &str| trial.processes.iter().find(|p| p.role == role).unwrap().environment.clone();
    for (role, variable, log) in
        [("helper", "OPTIONS", "/gc-helper.log:"), ("server", "FAKE_OPTIONS", "/gc.log:")]
    {
        let options = &of(role)[variable];
        assert!(options.starts_with("-XX:+UseSerialGC -Xlog:gc"), "{options}");
        assert!(options.contains(log) && options.matches("-Xlog").count() == 1, "{options}");
    }
}

#[test]
fn nothing_is_left_of_it_after_ctrl_c_even_in_a_session_of_its_own() {
    let own_session = helper("").replace("command = \"", "command = \"setsid -w ");
    for table in [helper("count = 2").replace("helper.", "helper-2."), own_session] {
        let fixture = Fixture::new(DESIGN, &table);
        let (result, _) = fixture.run(false, |kind, stop| {
            if matches!(kind, RunEventKind::WindowStarted { block: 2, .. }) {
                stop.store(true, Ordering::Relaxed);
            }
        });
        assert!(result.is_err());
        assert_eq!(fixture.left_over(), Vec::<String>::new());
        let program = example("fake_server").to_string_lossy().into_owned();
        for process in &fixture.load().trials[0].trial.processes {
            let port = process.command.last().unwrap();
            let is_it = |text: &str| text.contains(&program) && text.contains(&format!("--port\0{port}"));
            assert!(!processes().any(|(_, text)| is_it(&text)), "{process:?}");
        }
    }
}

#[test]
fn one_that_ends_fails_the_trial_with_what_it_printed() {
    let dies = helper("environment = { FAKE_FAULT = \"dies-when-ready\" }");
    let fixture = Fixture::new(DESIGN, &dies);
    let message = fixture.run(false, |_, _| ()).0.unwrap_err().to_string();
    assert!(
        message.contains("the helper ended with exit code 3") && message.contains("out of luck"),
        "{message}"
    );

    let fixture = Fixture::new(DESIGN, &helper("").replace("test -n", "exit 7; test -n"));
    let message = fixture.run(false, |_, _| ()).0.unwrap_err().to_string();
    assert!(message.contains("what prepares the helper ended with exit code 7"), "{message}");
    assert_eq!(fixture.left_over(), Vec::<String>::new());
}

/// The table as the workload has it, beside another server.
#[test]
fn the_brokerages_database_runs_on_loopback_and_leaves_nothing() {
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/../../workloads/brokerage/workload.toml");
    let text = std::fs::read_to_string(file).unwrap();
    let (begin, end) = (text.find("[[process]]").unwrap(), text.find("[requires]").unwrap());
    let table = text[begin..end].replace("when = { database = \"postgresql\" }\n", "");
    assert!(!table.contains("when"));
    if !["/usr/lib/postgresql"].iter().any(|folder| std::path::Path::new(folder).is_dir()) {
        assay_testkit::skip!("there is no PostgreSQL here");
    }
    let fixture = Fixture::new(DESIGN, &table);
    fixture.run(false, |_, _| ()).0.unwrap();
    let trial = fixture.load().trials[0].trial.clone();
    assert_eq!(trial.outcome, TrialOutcome::Completed);
    assert_eq!(trial.problems, []);
    assert_eq!(trial.processes[0].environment["PASSWORD"], "<redacted>");
    let log = std::fs::read_to_string(fixture.out().join("trials/01-default/postgresql.log")).unwrap();
    for line in
        ["listening on IPv4 address \"127.0.0.1\"", "ready to accept connections", "fast shutdown request"]
    {
        assert!(log.contains(line), "{line}: {log}");
    }
    let folder = &trial.processes[0].directory;
    assert!(!std::path::Path::new(folder).exists());
    assert!(!processes().any(|(_, text)| text.contains(folder)));
}

/// As many as an option says, of a program that lies in the private folder of the checkout.
#[test]
fn how_many_there_are_says_an_option_and_others_know_the_ports_of_all() {
    let fixture = Fixture::new("", "");
    let root = fixture.folder.path();
    std::fs::create_dir_all(root.join("workloads/counted")).unwrap();
    std::fs::create_dir_all(root.join(".assay/bin")).unwrap();
    std::os::unix::fs::symlink(example("fake_server"), root.join(".assay/bin/counted-helper")).unwrap();
    let workload = |counts: &str| {
        format!(
            r#"
schema = "assay.workload/1"
name = "counted"
options = {{ helpers = ["one", "two", "none"] }}
scenario = "../../scenario.toml"
[server]
command = "{} --port {{port}}"
ready_url = "http://127.0.0.1:{{port}}/ready"
stop_timeout_s = 0.5
environment = {{ FAKE_FIRST = "{{helper.port}}", FAKE_ALL = "{{helper.ports}}", FAKE_SECOND = "{{helper-2.port}}" }}
[[process]]
name = "helper"
programs = ["{{cache}}/bin"]
command = "counted-helper --port {{port}}"
ready_url = "http://127.0.0.1:{{port}}/ready"
stop_timeout_s = 5
count_when = {counts}
"#,
            example("fake_server").display()
        )
    };
    let file = root.join("workloads/counted/workload.toml");
    std::fs::write(&file, workload(r#"{ helpers = { "two" = 2, "none" = 0 } }"#)).unwrap();
    let level =
        |word: &str| format!("{{ name = \"{word}\", workload_options = {{ helpers = \"{word}\" }} }}");
    let study = format!(
        "schema = \"assay.study/1\"\nname = \"counted\"\nworkload = \"counted\"\n\
         design = {{ blocks = 1, window = \"300ms\", warm_up = {{ cap = \"0s\" }}, repeats_max = 0 }}\n\
         limits = {{ foreign_cpu_share = 1.0, steal_share = 1.0, throttled_share = 1.0 }}\n\
         [[factor]]\nname = \"helpers\"\nlevel = [{}, {}, {}]\n",
        level("one"),
        level("two"),
        level("none")
    );
    std::fs::write(&fixture.study, study).unwrap();
    fixture.run(false, |_, _| ()).0.unwrap();
    let cases: [(&str, &[&str]); 3] =
        [("one", &["helper"]), ("two", &["helper-1", "helper-2"]), ("none", &[])];
    for (variant, helpers) in cases {
        let stored = fixture.load();
        let trial = &stored.trials.iter().find(|t| t.trial.variant == variant).unwrap().trial;
        let roles: Vec<&str> = trial.processes.iter().map(|p| p.role.as_str()).collect();
        assert_eq!(roles, [helpers, &["server"]].concat(), "{variant}");
        let ports: Vec<&str> =
            trial.processes.iter().rev().skip(1).rev().map(|p| p.command.last().unwrap().as_str()).collect();
        let told = &trial.processes.last().unwrap().environment;
        let nth = |n: usize| ports.get(n).copied().unwrap_or_default();
        assert_eq!((&*told["FAKE_ALL"], &*told["FAKE_FIRST"]), (&*ports.join(" "), nth(0)), "{variant}");
        assert_eq!(told["FAKE_SECOND"], nth(1), "{variant}");
    }

    std::fs::remove_file(root.join(".assay/bin/counted-helper")).unwrap();
    let message = fixture.prepare().unwrap_err().to_string();
    assert!(message.contains("no program `counted-helper`") && message.contains(".assay/bin"), "{message}");
    std::fs::write(&file, workload(r#"{ helpers = { "tow" = 2 }, jvms = { "5" = 65 } }"#)).unwrap();
    let message = fixture.prepare().unwrap_err().to_string();
    for what in
        ["`helpers` has no word `tow`", "no option `jvms`", "at most 64 processes of one table, not 65"]
    {
        assert!(message.contains(what), "{what}: {message}");
    }
}
