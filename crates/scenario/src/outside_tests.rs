//! Scenarios that take rows, secrets and parts of answers.

use super::*;

const NEWS: &str = r##"
schema = "assay.scenario/1"
name = "news"
[rate]
schedule = "100 for 10s, 100 to 500 for 1m"
[[data]]
file = "accounts.csv"
order = "once"
per = "session"
[extract]
csrf = { operation = "page", form = "login", field = "csrf" }
login-form = { operation = "page", form = "login" }
token = { operation = "login", json = "/token" }
next = { operation = "login", header = "X-Next" }
number = { operation = "page", regex = 'n=(\d+)' }
[[operation]]
name = "page"
path = "/page?u={user}"
headers = { Authorization = "Bearer ${env:PATH}" }
[[operation]]
name = "login"
method = "POST"
path = "/login"
hidden = "login-form"
form = { user = "{user}", password = "{password}" }
requires = "login-form"
otherwise = "page"
[[operation]]
name = "use"
path = "/use/{token}/{next}/{number}/{csrf}"
requires = ["token", "next", "number", "csrf"]
otherwise = "login"
"##;

/// A folder with a file of accounts and the scenario, changed.
fn news(from: &str, to: &str) -> Result<Scenario, ScenarioError> {
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::write(folder.path().join("accounts.csv"), "user,password\nann,p 1\nbob,p&2\n").expect("written");
    let path = folder.path().join("news.toml");
    let text = NEWS.replacen(from, to, 1);
    assert!(from.is_empty() || text != NEWS, "the case changes nothing");
    std::fs::write(&path, text).expect("written");
    Scenario::read(&path)
}

/// The request of an operation, filled by a user.
fn filled(scenario: &Scenario, user: &mut User, drawn: &mut Drawn, name: &str) -> String {
    let operation = scenario.operations.iter().find(|one| one.name == name).expect("known");
    let mut out = Vec::new();
    drawn.begin(scenario);
    for template in
        [Some(&operation.path), Some(&operation.headers), operation.body.as_ref()].into_iter().flatten()
    {
        user.fill(scenario, template, drawn, &mut out);
        out.push(b'|');
    }
    String::from_utf8(out).expect("text")
}

#[test]
fn requests_are_filled_with_rows_secrets_and_hidden_fields() {
    let scenario = news("", "").expect("it is right");
    let secret = std::env::var("PATH").expect("every test has one");
    let shared = scenario.shared();
    let mut users: Vec<User> = (0..3).map(|number| User::new(1, number, 0, &scenario, &shared)).collect();
    let mut drawn = Drawn::default();
    let page = filled(&scenario, &mut users[0], &mut drawn, "page");
    assert!(page.contains(&secret) && page.starts_with("/page?u=ann|"), "{page}");
    let answer =
        Answered { body: b"<form id=login><input type=hidden name=csrf value='a b'></form> n=42", head: b"" };
    let path_of = |path: &str| Some(path.to_owned());
    users[0].extract(&scenario, &scenario.operations[0], &answer, &path_of, &mut |_, _| ());
    let login = filled(&scenario, &mut users[0], &mut drawn, "login");
    assert!(login.ends_with("|csrf=a+b&password=p+1&user=ann|"), "{login}");
    let answer = Answered { body: br#"{"token":"t/1"}"#, head: b"x-next: 9\n" };
    users[0].extract(&scenario, &scenario.operations[1], &answer, &path_of, &mut |_, _| ());
    assert!(filled(&scenario, &mut users[0], &mut drawn, "use").starts_with("/use/t%2F1/9/42/a%20b|"));
    assert!(filled(&scenario, &mut users[1], &mut drawn, "page").starts_with("/page?u=bob|"));
    assert_eq!(drawn.used_up(), None);
    filled(&scenario, &mut users[2], &mut drawn, "page");
    assert_eq!(drawn.used_up().and_then(|feed| scenario.rows_of(feed)), Some(("accounts.csv", 2)));
    assert!((scenario.operations[1].keeps_head, scenario.operations[0].keeps_head) == (true, false));
}

#[test]
fn an_injector_gets_all_that_lies_outside_and_looks_for_nothing_itself() {
    let scenario = news("", "").expect("it is right");
    let secret = std::env::var("PATH").expect("every test has one");
    let sent = serde_json::to_string(&scenario).expect("plain");
    let there: Scenario = serde_json::from_str(&sent).expect("its own form");
    let mut user = User::new(1, 0, 0, &there, &there.shared());
    let page = filled(&there, &mut user, &mut Drawn::default(), "page");
    assert!(page.contains(&secret) && page.contains("u=ann"), "{page}");
    assert_eq!(there.rate, scenario.rate);
    assert!(!format!("{there:?}").contains(&secret), "a secret is not shown");
    assert!(!there.text().contains(&secret));
    // Without what should have come with it, nothing is read here.
    let bare = serde_json::json!({ "text": scenario.text() }).to_string();
    let error = serde_json::from_str::<Scenario>(&bare).expect_err("incomplete").to_string();
    assert!(
        error.contains("rows of \"accounts.csv\" are missing") && error.contains("value of PATH is missing"),
        "{error}"
    );
    let torn = sent.replacen("\"ends\":[3,", "\"ends\":[9,", 1);
    assert!(serde_json::from_str::<Scenario>(&torn).is_err());
}

#[test]
fn mistakes_in_what_is_taken_from_outside_and_from_answers_are_told() {
    let error = |from: &str, to: &str| {
        let error = news(from, to).expect_err(to).to_string();
        let first = error.lines().next().unwrap_or_default();
        first.split_once("news.toml:").map_or(first.to_owned(), |(_, rest)| rest.to_owned())
    };
    let starts = |from: &str, to: &str, want: &str| {
        let error = error(from, to);
        assert!(error.starts_with(want), "{error}");
    };
    starts("file =", "fil =", "7: unknown key \"fil\"; did you mean `file`?");
    starts("\"once\"", "\"onec\"", "8: unknown word \"onec\"; did you mean `once`?");
    starts("schedule", "shedule", "5: unknown key \"shedule\"; did you mean `schedule`?");
    starts(
        "100 to 500 for 1m",
        "100 two 500 for 1m",
        "4: [rate] schedule: phase \"100 two 500 for 1m\": \"two\" in place of",
    );
    starts(
        "{password}",
        "{pasword}",
        "20: operation \"login\": unknown value {pasword}; did you mean `password`?",
    );
    starts(
        "${env:PATH}",
        "${env:NOT_THERE}",
        "16: operation \"page\": environment variable NOT_THERE is not set",
    );
    starts("${env:PATH}", "{env:PATH}", "16: operation \"page\": write ${env:PATH}");
    starts("json = \"/token\"", "json = \"token\"", "13: extract \"token\": json \"token\" is not a pointer");
    starts(
        "json = \"/token\"",
        "json = \"/t\", header = \"X\"",
        "13: extract \"token\": define its place by",
    );
    starts(
        "regex = 'n=(\\d+)'",
        "regex = 'n=('",
        "15: extract \"number\": regex \"n=(\": error: unclosed group",
    );
    starts(
        "hidden = \"login-form\"",
        "hidden = \"login\"",
        "20: operation \"login\": hidden \"login\" is not an extract of a form; known: login-form",
    );
    starts("{token}", "{login-form}", "28: operation \"use\": {login-form} is all hidden fields");
    let folder_of_data = error("accounts.csv", "account.csv");
    assert!(folder_of_data.contains("account.csv: No such file"), "{folder_of_data}");
}
