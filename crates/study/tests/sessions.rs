//! A scenario with a login, a token and cookies, on a server that counts logins: studies and capacities with default settings.

use crate::support::Fixture;
use assay_model::{Check, StoredRun, TrialOutcome};

const LOGIN: &str = r#"
schema = "assay.scenario/1"
name = "shop"
[session]
start = ["form", "login"]
[values]
user = { kind = "session-counter", from = 1 }
[extract]
csrf = { operation = "form", form = "login", field = "_csrf" }
[[operation]]
name = "form"
weight = 0
path = "/login"
[[operation]]
name = "login"
weight = 0
method = "POST"
path = "/login"
form = { user = "{user}", _csrf = "{csrf}" }
requires = "csrf"
otherwise = "form"
status = 302
[[operation]]
name = "browse"
weight = 3
path = "/shop"
contains = "yes"
[[operation]]
name = "buy"
method = "POST"
path = "/shop"
contains = "yes"
"#;

const TWO_LEVELS: &str = r#"
[[factor]]
name = "work"
level = [
  { name = "light", environment = { FAKE_WORK_US = "50" } },
  { name = "heavy", environment = { FAKE_WORK_US = "500" } },
]
"#;

/// Reasons that would be the load's own doing, and not a busy machine's.
const OF_LOAD: [Check; 4] = [Check::Mix, Check::Operations, Check::Errors, Check::LostResponses];

fn fixture(load: &str, head: &str, tail: &str) -> Fixture {
    let fixture = Fixture::with_load(load, &format!("scenario = \"login.toml\"\n{head}"), tail);
    std::fs::write(fixture.folder.path().join("login.toml"), LOGIN).expect("a scenario");
    fixture
}

fn run(fixture: &Fixture) -> StoredRun {
    let (result, _) = fixture.run(false, |_, _| ());
    // A window that others disturbed makes no result of an idle machine's; what the server counted stands all the same.
    drop(result);
    fixture.load()
}

/// Each trial has as many logins as users, and no window has one or a reason to be left out that the load brought about.
#[track_caller]
fn check(stored: &StoredRun, users: Option<u32>) {
    assert!(!stored.trials.is_empty());
    for trial in stored.trials.iter().map(|stored| &stored.trial) {
        assert_eq!(trial.outcome, TrialOutcome::Completed);
        let starts = trial.session_starts.as_ref().expect("users logged in");
        assert_eq!((starts.failed, starts.ended_by_server), (0, 0));
        assert_eq!(trial.users.map(u64::from), Some(starts.count), "one login of each user");
        assert!(users.is_none() || trial.users == users, "{:?}", trial.users);
        let audit = trial.audit.as_ref().expect("it was asked");
        assert!(audit.detail.contains(&format!("\"logins\": {}}}", starts.count)), "{}", audit.detail);
        for window in &trial.windows {
            let sent =
                |name: &str| window.operations.iter().find(|one| one.name == name).map(|one| one.requests);
            assert_eq!((sent("form"), sent("login")), (Some(0), Some(0)));
            assert_eq!(window.errors, 0);
            let of_load = window.disturbances.iter().filter(|of| OF_LOAD.contains(&of.kind));
            assert_eq!(of_load.count(), 0, "{:?}", window.disturbances);
        }
    }
}

#[test]
fn in_a_study_of_two_variants_each_user_logs_in_once_a_trial_and_the_mix_is_the_planned_one() {
    let fresh = r#"design = { blocks = 2, window = "600ms", warm_up = { min = "100ms", cap = "600ms" }, repeats_max = 1 }"#;
    let resident = r#"design = { kind = "resident", blocks = 3, window = "600ms", warm_up = { cap = "600ms" }, repeats_max = 0 }"#;
    check(&run(&fixture("load = { kind = \"open\", rate_per_s = 100 }", fresh, TWO_LEVELS)), None);
    let closed = "load = { kind = \"closed\", users = 3, think = \"10ms\" }";
    check(&run(&fixture(closed, resident, TWO_LEVELS)), Some(3));
    let fixed = "load = { kind = \"open\", rate_per_s = 50, users = 7 }";
    check(&run(&fixture(fixed, resident, TWO_LEVELS)), Some(7));
}

#[test]
fn over_https_it_is_the_same_and_without_the_certificate_s_authority_nothing_is_loaded() {
    let resident = r#"design = { kind = "resident", blocks = 2, window = "600ms", warm_up = { cap = "600ms" }, repeats_max = 0 }"#;
    let fixture = fixture("load = { kind = \"open\", rate_per_s = 50, users = 4 }", resident, TWO_LEVELS);
    let folder = fixture.folder.path();
    let made = rcgen::generate_simple_self_signed(["127.0.0.1".to_owned()]).expect("a certificate");
    std::fs::write(folder.join("cert.pem"), made.cert.pem()).expect("room");
    std::fs::write(folder.join("key.pem"), made.signing_key.serialize_pem()).expect("room");
    let text = std::fs::read_to_string(&fixture.study).expect("a study");
    let environment = format!(
        "environment = {{ FAKE_CERT = \"{0}/cert.pem\", FAKE_KEY = \"{0}/key.pem\" }}",
        folder.display()
    );
    let https = text.replace("http://", "https://").replace("[server]", &format!("[server]\n{environment}"));
    std::fs::write(&fixture.study, &https).expect("a study");
    let (result, _) = fixture.run(false, |_, _| ());
    let said = result.map(drop).expect_err("nobody knows who signed it").to_string();
    assert!(said.contains("certificate"), "{said}");
    std::fs::remove_dir_all(fixture.out()).expect("what is left of it");
    let trusting = https.replace("[server]", "[server]\ntls = { trust = \"cert.pem\" }");
    std::fs::write(&fixture.study, trusting).expect("a study");
    check(&run(&fixture), Some(4));
}

#[test]
fn in_a_search_each_user_logs_in_once_for_all_rates() {
    let head = r#"
        capacity = { limits_ms = [40], budget = "10s", users = 30 }
        design = { blocks = 1, warm_up = { min = "1s", cap = "4s" }, repeats_max = 0 }
        environment = { FAKE_HOLD_US = "5000" }
    "#;
    let stored = run(&fixture("", head, ""));
    let (trial, report) = (&stored.trials[0].trial, stored.trials[0].capacity.as_ref().expect("a report"));
    let starts = report.session_starts.as_ref().expect("users logged in");
    assert_eq!((report.users, starts.count, starts.failed, starts.in_window), (Some(30), 30, 0, 0));
    let audit = trial.audit.as_ref().expect("it was asked");
    assert!(audit.detail.contains("\"logins\": 30}"), "{}", audit.detail);
    for check in report.checks.iter().filter(|check| OF_LOAD.contains(&check.check)) {
        assert_ne!(check.passed, Some(false), "{check:?}");
    }
}

#[test]
fn a_login_that_fails_ends_the_trial_at_once_with_the_first_answer() {
    let fixture = fixture("load = { kind = \"open\", rate_per_s = 100 }", "design = { blocks = 1 }", "");
    let wrong = LOGIN.replace("_csrf = \"{csrf}\"", "_csrf = \"none\"");
    std::fs::write(fixture.folder.path().join("login.toml"), wrong).expect("a scenario");
    let (result, _) = fixture.run(false, |_, _| ());
    let said = result.map(drop).expect_err("nobody can log in").to_string();
    assert!(said.contains("of 20 users began their sessions"), "{said}");
    assert!(said.contains("login answered 403: no token"), "{said}");
}
