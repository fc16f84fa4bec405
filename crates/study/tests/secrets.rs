//! A study full of secrets, and no byte of one in what it leaves.

use crate::support::{Fixture, example};
use assay_model::{RunEventKind, TrialOutcome};
use assay_testkit::{find_java, skip};
use std::path::Path;

/// How a secret is given: 12 spellings, with `%` for the secret.
const IN_COMMAND: [&str; 8] = [
    "--password|%",
    "--db-password=%",
    "-Ddb.password=%",
    "-Djavax.net.ssl.keyStorePassword=%",
    "--url|jdbc:postgresql://db/x?user=u&password=%&ssl=true",
    "--proxy|https://user:%@proxy.example/path",
    "--header|Authorization: Bearer %",
    "--callback=http://hook.example/?a=1&token=%&b=2",
];
const IN_ENVIRONMENT: [(&str, &str); 4] = [
    ("PG_#_PGPASSWORD", "%"),
    ("AWS_#_SECRET_ACCESS_KEY", "%"),
    ("APP_#_OPTS", "-Dapi-key=% -Dclient=x"),
    ("SPRING_#_JSON", "{\"datasource\": {\"password\": \"%\", \"user\": \"u\"}}"),
];
const EACH: usize = 5;

fn secret(number: usize) -> String {
    // Of letters, digits and signs, with what has to be escaped in TOML and JSON, or has a meaning to a shell.
    let signs = ["-", "_", ".", "+", "!"];
    format!("s3cr3t{}{number:02}Zq", signs[number % signs.len()])
}

/// The words of the command, the environment, and all secrets in them.
fn given() -> (Vec<String>, Vec<(String, String)>, Vec<String>) {
    let (mut words, mut environment, mut secrets) = (Vec::new(), Vec::new(), Vec::new());
    for round in 0..EACH {
        for spelling in IN_COMMAND {
            secrets.push(secret(secrets.len()));
            let spelt = spelling.replace('%', &secrets[secrets.len() - 1]);
            words.extend(spelt.split('|').map(str::to_owned));
        }
        for (name, spelling) in IN_ENVIRONMENT {
            secrets.push(secret(secrets.len()));
            let value = spelling.replace('%', &secrets[secrets.len() - 1]);
            environment.push((name.replace('#', &round.to_string()), value));
        }
    }
    (words, environment, secrets)
}

/// A TOML string.
fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

/// What is beside the secrets, and must stay.
const HARMLESS: [&str; 3] = ["--token-ring", "3", "-XX:+UseStringDeduplication"];

fn list(words: impl IntoIterator<Item = String>) -> String {
    let words: Vec<String> = words.into_iter().map(|word| quoted(&word)).collect();
    format!("[{}]", words.join(", "))
}

/// Keys and values of a TOML table.
fn entries(values: &[(String, String)]) -> String {
    values.iter().map(|(name, value)| format!("{name} = {}\n", quoted(value))).collect()
}

/// The head of each study; `load` only where a server is loaded.
fn head(load: &str) -> String {
    format!(
        r#"
schema = "assay.study/1"
name = "secrets"
question = "Which of them is stored?"
limits = {{ foreign_cpu_share = 1.0, steal_share = 1.0, throttled_share = 1.0 }}
{load}
"#
    )
}

const LOAD: &str = r#"
load = { kind = "closed", users = 2 }
scenario = "scenario.toml"
design = { blocks = 1, window = "400ms", warm_up = { cap = "0s" }, repeats_max = 0 }
"#;

const URLS: &str = r#"
ready_url = "http://127.0.0.1:{port}/ready?token=s3cr3t-in-url"
audit_url = "http://127.0.0.1:{port}/audit?access_token=s3cr3t-in-url"
stats_url = "http://127.0.0.1:{port}/stats?password=s3cr3t-in-url"
ready_timeout_s = 300
"#;

fn fixture(text: &str) -> Fixture {
    let fixture = Fixture::new("", "");
    std::fs::write(&fixture.study, text).expect("a study file");
    fixture
}

fn server_words() -> [String; 3] {
    [example("fake_server").display().to_string(), "--port".to_owned(), "{port}".to_owned()]
}

/// In the command and the environment of a server.
fn of_server(faults: &str, told: &Path) -> Fixture {
    let (words, mut environment, _) = given();
    environment.extend(of_fake(faults, told));
    let words = server_words().into_iter().chain(HARMLESS.map(str::to_owned)).chain(words);
    let (words, environment) = (list(words), entries(&environment));
    fixture(&format!("{}[server]\ncommand = {words}\n{URLS}[server.environment]\n{environment}", head(LOAD)))
}

/// In the JVM options and the options of a workload, whose command gets them.
fn of_options(faults: &str, told: &Path) -> Fixture {
    let (words, options, _) = given();
    let jvm_options = list(HARMLESS.map(str::to_owned).into_iter().chain(words));
    let fixture = fixture(&format!(
        "{}workload = \"secrets\"\njvm_options = {jvm_options}\n[workload_options]\n{}",
        head(LOAD),
        entries(&options)
    ));
    let given = options.iter().map(|(name, _)| format!("--given={{option.{name}}}"));
    let command = list(server_words().into_iter().chain(["{jvm_options}".to_owned()]).chain(given));
    let words = options.iter().map(|(name, value)| format!("{name} = [\"none\", {}]\n", quoted(value)));
    let workload = format!(
        "schema = \"assay.workload/1\"\nname = \"secrets\"\n[options]\n{}[server]\ncommand = {command}\n{URLS}\
         [server.environment]\n{}",
        words.collect::<String>(),
        entries(&of_fake(faults, told))
    );
    let folder = fixture.folder.path().join("workloads/secrets");
    std::fs::create_dir_all(&folder).expect("a folder");
    std::fs::write(folder.join("workload.toml"), workload).expect("a workload");
    fixture
}

/// In the command and the environment of a benchmark program.
fn of_benchmark(told: &Path) -> Fixture {
    let (words, environment, _) = given();
    let own = ["/bin/sh", "program", "{results}"].into_iter().chain(HARMLESS).map(str::to_owned);
    let text = format!(
        "{}[benchmark]\ncommand = {}\n[benchmark.environment]\n{}",
        head("design = { blocks = 1, window = \"1s\", repeats_max = 0 }"),
        list(own.chain(words)),
        entries(&environment)
    );
    let fixture = fixture(&text);
    let script = format!(
        r#"
(printf '%s\n' "$@"; env) | tee {}
echo '[{{"benchmark": "a.b.Fake.run", "mode": "avgt", "primaryMetric": {{"score": 1.0, "scoreError": "NaN", "scoreUnit": "us/op",
  "rawData": [[1.0]]}}, "secondaryMetrics": {{}}}}]' > "$1"
"#,
        told.display()
    );
    std::fs::write(fixture.folder.path().join("program"), script).expect("a script");
    fixture
}

/// Variables of the fake server.
fn of_fake(faults: &str, told: &Path) -> [(String, String); 2] {
    [("FAKE_FAULT", faults.to_owned()), ("FAKE_TELL", told.display().to_string())]
        .map(|(name, value)| (name.to_owned(), value))
}

/// Names and bytes of all files below.
fn files(folder: &Path, found: &mut Vec<(String, Vec<u8>)>) {
    for entry in folder.read_dir().expect("a folder").map(|entry| entry.expect("an entry")) {
        let path = entry.path();
        if path.is_dir() {
            found.push((path.display().to_string(), Vec::new()));
            files(&path, found);
        } else {
            found.push((path.display().to_string(), std::fs::read(&path).expect("a file")));
        }
    }
}

#[track_caller]
fn assert_clean(out: &Path) {
    let (_, _, mut secrets) = given();
    assert_eq!(secrets.len(), 60);
    secrets.push("s3cr3t-in-url".to_owned());
    let mut found = Vec::new();
    files(out, &mut found);
    for (name, bytes) in &found {
        let text = String::from_utf8_lossy(bytes);
        for secret in &secrets {
            assert!(!text.contains(secret.as_str()), "{secret} in {name}");
            assert!(!name.contains(secret.as_str()), "{name}");
        }
    }
    let text_of = |end: &str| {
        let of = found.iter().find(|(name, _)| name.ends_with(end));
        String::from_utf8_lossy(&of.unwrap_or_else(|| panic!("no {end}")).1).into_owned()
    };
    for file in ["study.toml", "trial.json", "server.log"] {
        let text = text_of(file);
        assert!(text.matches("<redacted>").count() >= 40, "{file}: {text}");
        assert!(text.contains("--token-ring") && text.contains("UseStringDeduplication"), "{file}: {text}");
    }
}

/// Runs a study whose secrets are told by what it starts.
#[track_caller]
fn runs_clean(fixture: &Fixture, told: &Path) {
    let (result, events) = fixture.run(false, |_, _| ());
    let result = result.expect("it runs");
    // What was started did get them.
    let given_text = std::fs::read_to_string(told).expect("it told");
    let (_, _, secrets) = given();
    assert!(secrets.iter().all(|secret| given_text.contains(secret.as_str())), "{given_text}");
    assert!(fixture.load().trials.iter().all(|t| t.trial.outcome == TrialOutcome::Completed));
    assert_clean(&result.dir);
    assert_eq!(fixture.left_over(), Vec::<String>::new());
    assert!(!serde_json::to_string(&events).expect("JSON").contains("s3cr3t"));
    // The stored study is a study still, and the run can be gone on with.
    let stored = std::fs::read_to_string(result.dir.join("study.toml")).expect("a study");
    stored.parse::<toml::Table>().expect("TOML");
    let (result, events) = fixture.run(true, |_, _| ());
    result.expect("it is the same study");
    assert!(
        events.iter().any(|e| matches!(e.kind, RunEventKind::RunResumed { trials_done: 1 })),
        "{events:?}"
    );
}

#[test]
fn no_secret_of_a_server_is_in_its_run_directory() {
    let folder = tempfile::tempdir().expect("a folder");
    let told = folder.path().join("told");
    runs_clean(&of_server("tells-all", &told), &told);
}

#[test]
fn no_secret_in_options_of_a_jvm_or_a_workload_is_in_the_run_directory() {
    if find_java(17, 64).is_none() {
        skip!("no 64-bit JDK 17");
    }
    let folder = tempfile::tempdir().expect("a folder");
    let told = folder.path().join("told");
    runs_clean(&of_options("tells-all", &told), &told);
}

#[test]
fn no_secret_of_a_benchmark_program_is_in_its_run_directory() {
    let folder = tempfile::tempdir().expect("a folder");
    let told = folder.path().join("told");
    runs_clean(&of_benchmark(&told), &told);
}

#[test]
fn an_error_that_quotes_the_server_s_output_has_no_secret() {
    let folder = tempfile::tempdir().expect("a folder");
    let told = folder.path().join("told");
    let fixture = of_server("tells-all,dies-when-ready", &told);
    let (result, events) = fixture.run(false, |_, _| ());
    let error = result.expect_err("the server dies").to_string();
    assert!(error.contains("out of luck"), "{error}");
    assert!(!error.contains("s3cr3t"), "{error}");
    assert!(!serde_json::to_string(&events).expect("JSON").contains("s3cr3t"));
    assert_clean(&fixture.out());
}
