//! A study full of secrets, and no byte of one in what it leaves.

mod support;

use assay_model::{RunEventKind, TrialOutcome};
use std::path::Path;
use support::{Fixture, example};

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

fn study(faults: &str, told: &Path) -> Fixture {
    let fixture = Fixture::new("", "");
    let (mut words, mut environment, _) = given();
    let own = [example("fake_server").display().to_string(), "--port".to_owned(), "{port}".to_owned()];
    let harmless = ["--token-ring", "3", "-XX:+UseStringDeduplication"].map(str::to_owned);
    words = own.into_iter().chain(harmless).chain(words).collect();
    environment.push(("FAKE_FAULT".to_owned(), faults.to_owned()));
    environment.push(("FAKE_TELL".to_owned(), told.display().to_string()));
    let words: Vec<String> = words.iter().map(|word| quoted(word)).collect();
    let environment: Vec<String> =
        environment.iter().map(|(name, value)| format!("{name} = {}", quoted(value))).collect();
    let text = format!(
        r#"
schema = "assay.study/1"
name = "secrets"
question = "Which of them is stored?"
load = {{ kind = "closed", users = 2 }}
scenario = "scenario.toml"
limits = {{ foreign_cpu_share = 1.0, steal_share = 1.0, throttled_share = 1.0 }}
design = {{ blocks = 1, window = "400ms", warm_up = {{ cap = "0s" }}, repeats_max = 0 }}
[server]
command = [{}]
ready_url = "http://127.0.0.1:{{port}}/ready?token=s3cr3t-in-url"
audit_url = "http://127.0.0.1:{{port}}/audit?access_token=s3cr3t-in-url"
stats_url = "http://127.0.0.1:{{port}}/stats?password=s3cr3t-in-url"
ready_timeout_s = 300
[server.environment]
{}
"#,
        words.join(", "),
        environment.join("\n")
    );
    std::fs::write(&fixture.study, text).expect("a study file");
    fixture
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

#[test]
fn no_secret_of_a_study_is_in_its_run_directory() {
    let folder = tempfile::tempdir().expect("a folder");
    let told = folder.path().join("told");
    let fixture = study("tells-all", &told);
    let (result, events) = fixture.run(false, |_, _| ());
    let result = result.expect("it runs");
    // The server did get them.
    let given_text = std::fs::read_to_string(&told).expect("the server told");
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
fn an_error_that_quotes_the_server_s_output_has_no_secret() {
    let folder = tempfile::tempdir().expect("a folder");
    let fixture = study("tells-all,dies-when-ready", &folder.path().join("told"));
    let (result, events) = fixture.run(false, |_, _| ());
    let error = result.expect_err("the server dies").to_string();
    assert!(error.contains("out of luck"), "{error}");
    assert!(!error.contains("s3cr3t"), "{error}");
    assert!(!serde_json::to_string(&events).expect("JSON").contains("s3cr3t"));
    assert_clean(&fixture.out());
}
