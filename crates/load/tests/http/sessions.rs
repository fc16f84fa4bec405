//! Users and their sessions: a server that counts logins, ends sessions, or refuses them.

use super::server::{Reply, Request, closed, ok, open, run, serve, status};
use assay_load::{Generator, GeneratorConfig, LoadError, Measured, Scenario};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// Login page with a token, login, and pages that want the session's cookie.
const SHOP: &str = r#"
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
    weight = 7
    path = "/"
    [[operation]]
    name = "buy"
    weight = 3
    method = "POST"
    path = "/buy"
"#;

/// What a server with sessions did.
#[derive(Default)]
struct Log {
    /// Logins by user.
    logins: BTreeMap<String, u32>,
    /// Requests of each session, by its cookie.
    served: BTreeMap<String, u32>,
    sessions: u32,
}

/// A shop whose sessions end after so many requests.
fn shop(requests_max: u32, delay: Duration) -> (String, Arc<Mutex<Log>>) {
    let log = Arc::new(Mutex::new(Log::default()));
    let of_server = Arc::clone(&log);
    let url = serve(move |request| {
        std::thread::sleep(delay);
        reply(request, &mut of_server.lock().expect("no panic"), requests_max)
    });
    (url, log)
}

fn reply(request: &Request, log: &mut Log, requests_max: u32) -> Reply {
    if request.line.starts_with("GET /login") {
        return ok(r#"<form id="login"><input type="hidden" name="_csrf" value="t-1"></form>"#);
    }
    if request.line.starts_with("POST /login") {
        let user = request.body.split('&').find_map(|field| field.strip_prefix("user="));
        let has_token = request.body.contains("_csrf=t-1");
        let Some(user) = user.filter(|_| has_token) else { return status(403, "", "no token") };
        *log.logins.entry(user.to_owned()).or_default() += 1;
        log.sessions += 1;
        return status(302, &format!("Set-Cookie: SESSION=s{}; Path=/\r\nLocation: /\r\n", log.sessions), "");
    }
    let Some(session) = request.headers.get("cookie") else {
        return status(302, "Location: /login?next=/\r\n", "");
    };
    let served = log.served.entry(session.clone()).or_default();
    *served += 1;
    if requests_max < *served { status(401, "", "your session has ended") } else { ok("page") }
}

fn with(url: &str, scenario: &str, change: impl FnOnce(&mut GeneratorConfig)) -> Generator {
    let scenario = Scenario::parse(scenario, "test.toml").expect("a right scenario");
    let mut config = GeneratorConfig::new(url, scenario, 16);
    change(&mut config);
    Generator::new(config).expect("a good configuration")
}

fn requests_of(measured: &Measured, name: &str) -> u64 {
    measured.operations.iter().filter(|one| one.name == name).map(|one| one.requests).sum()
}

#[test]
fn each_user_logs_in_once_for_all_windows_and_rates_and_no_figure_has_it() {
    let (url, log) = shop(u32::MAX, Duration::ZERO);
    let mut generator = with(&url, SHOP, |config| config.users = Some(12));
    let mut starts = Vec::new();
    for load in [closed(5), open(100.0), open(300.0), closed(3), open(50.0)] {
        let measured = run(&mut generator, &load, 300);
        assert_eq!((measured.errors(), measured.requests == 0), (0, false), "{:?}", measured.problems);
        assert_eq!((requests_of(&measured, "form"), requests_of(&measured, "login")), (0, 0));
        assert_eq!(measured.requests, requests_of(&measured, "browse") + requests_of(&measured, "buy"));
        let shares = measured.operations.iter().map(|one| one.planned_share).collect::<Vec<_>>();
        assert_eq!(shares, [0.0, 0.0, 0.7, 0.3]);
        assert_eq!(measured.session_starts.in_window, 0);
        starts.push((measured.users, measured.session_starts.times.len()));
    }
    assert_eq!(starts, [(5, 5), (12, 7), (12, 0), (3, 0), (12, 0)]);
    let log = log.lock().expect("no panic");
    assert_eq!((log.sessions, log.logins.len(), log.served.len()), (12, 12, 12), "each user is used, too");
}

#[test]
fn an_open_loop_has_as_many_users_as_its_rate_needs_and_more_when_all_are_busy() {
    let config = |connections| {
        let scenario = Scenario::parse(SHOP, "test.toml").expect("a right scenario");
        GeneratorConfig::new("http://127.0.0.1:1", scenario, connections)
    };
    assert_eq!([1.0, 20.0, 100.0, 5_000.0].map(|rate| config(64).users_at(rate)), [2, 4, 20, 64]);
    let thinking = SHOP.replace("start = [", "think_ms = 2000\n    start = [");
    let scenario = Scenario::parse(&thinking, "test.toml").expect("a right scenario");
    let thinkers = GeneratorConfig::new("http://127.0.0.1:1", scenario, 64);
    assert_eq!(thinkers.users_at(100.0), 20 + 200, "who thinks is not busy");
    let (url, log) = shop(u32::MAX, Duration::from_millis(300));
    let mut generator = with(&url, SHOP, |config| (config.connections, config.sessions) = (32, Some(32)));
    let slow = run(&mut generator, &open(40.0), 1_500);
    assert_eq!((slow.errors(), slow.requests), (0, 60), "{:?}", slow.problems);
    assert!(8 < slow.users && slow.users <= 32, "{} users", slow.users);
    assert_eq!(requests_of(&slow, "login"), 0);
    let sessions = log.lock().expect("no panic").sessions;
    assert!(u64::from(sessions) <= u64::from(slow.users), "{sessions} logins");
}

#[test]
fn a_session_that_the_server_ends_begins_again_outside_of_the_figures() {
    for redirects in [false, true] {
        let log = Arc::new(Mutex::new(Log::default()));
        let of_server = Arc::clone(&log);
        let url = serve(move |request| match reply(request, &mut of_server.lock().expect("no panic"), 3) {
            Reply::Bytes(bytes) if redirects && bytes.starts_with(b"HTTP/1.1 401") => {
                status(302, "Location: /login;jsessionid=1?expired\r\n", "")
            }
            other => other,
        });
        let mut generator = with(&url, SHOP, |_| ());
        for load in [closed(4), open(200.0)] {
            let measured = run(&mut generator, &load, 400);
            let starts = &measured.session_starts;
            assert!(0 < starts.ended_by_server, "{starts:?}");
            assert_eq!(measured.errors(), starts.ended_by_server, "one request each noticed it");
            assert_eq!(starts.failed, 0, "{:?}", starts.failure);
            assert_eq!(requests_of(&measured, "login") + requests_of(&measured, "form"), 0);
        }
        let log = log.lock().expect("no panic");
        assert!(
            log.logins.values().all(|logins| 1 < *logins),
            "the same user logs in again: {:?}",
            log.logins
        );
    }
}

/// What starting the users of a load says, and how many requests the server got until then.
fn refused(
    scenario: &str,
    users: u32,
    reply: impl Fn(&Request) -> Reply + Send + Sync + 'static,
) -> (String, u32) {
    let count = Arc::new(Mutex::new(0));
    let of_server = Arc::clone(&count);
    let url = serve(move |request| {
        *of_server.lock().expect("no panic") += 1;
        reply(request)
    });
    let mut generator = with(&url, scenario, |config| config.users = Some(users));
    let stop = std::sync::atomic::AtomicBool::new(false);
    let ended = generator.run(&open(50.0), Duration::from_secs(60), &stop, None, &mut |_| ());
    let error = ended.expect_err("nobody can log in");
    assert!(matches!(error, LoadError::SessionStart { .. }), "{error}");
    let count = *count.lock().expect("no panic");
    (error.to_string(), count)
}

#[test]
fn a_login_that_fails_ends_the_load_before_it_begins_and_is_quoted() {
    let (said, requests) = refused(SHOP, 1_000, |request| match &request.line[..4] {
        "POST" => status(403, "", "unknown user"),
        _ => ok(r#"<form id="login"><input type="hidden" name="_csrf" value="t-1"></form>"#),
    });
    assert!(said.contains("0 of 1000 users began their sessions"), "{said}");
    assert!(said.contains("login answered 403: unknown user"), "{said}");
    assert!(requests < 100, "{requests} requests");
    let (said, _) = refused(SHOP, 3, |_| ok("<form id=other></form>"));
    assert!(said.contains("login could not be sent: no answer to form held what it requires"), "{said}");
}

#[test]
fn users_that_cannot_be_logged_in_twice_are_named_with_what_helps() {
    let scenario =
        SHOP.replace(r#""session-counter", from = 1"#, r#""session-list", values = ["ann", "bob"]"#);
    let logged_in = Mutex::new(std::collections::BTreeSet::new());
    let (said, _) = refused(&scenario, 6, move |request| match &request.line[..4] {
        "POST" if !logged_in.lock().expect("no panic").insert(request.body.clone()) => {
            status(409, "", "logged in already")
        }
        "POST" => status(302, "Set-Cookie: SESSION=s\r\nLocation: /\r\n", ""),
        _ => ok(r#"<form id="login"><input type="hidden" name="_csrf" value="t-1"></form>"#),
    });
    assert!(said.contains("of 6 users began") && said.contains("409: logged in already"), "{said}");
    assert!(said.contains("session-counter"), "{said}");
}

#[test]
fn more_users_than_rows_are_named_with_both_numbers() {
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::write(folder.path().join("users.csv"), "name\nann\nbob\n").expect("written");
    let scenario = SHOP
        .replace(r#"user = { kind = "session-counter", from = 1 }"#, "")
        .replace("[values]", "[[data]]\nfile = \"users.csv\"\norder = \"once\"\nper = \"session\"")
        .replace("{user}", "{name}");
    let path = folder.path().join("s.toml");
    std::fs::write(&path, scenario).expect("written");
    let scenario = Scenario::read(&path).expect("a right scenario");
    let (url, _) = shop(u32::MAX, Duration::ZERO);
    let config = GeneratorConfig { users: Some(5), ..GeneratorConfig::new(&url, scenario, 4) };
    let stop = std::sync::atomic::AtomicBool::new(false);
    let mut generator = Generator::new(config).expect("good");
    let ended = generator.run(&open(50.0), Duration::from_secs(60), &stop, None, &mut |_| ());
    let said = ended.expect_err("two rows").to_string();
    assert!(
        said.contains("2 of 5 users began") && said.contains("all 2 rows of users.csv were used"),
        "{said}"
    );
}

/// One clerk who is busy for 100 ms at a time, and arrivals of others who are not: these do not wait behind those.
#[test]
fn with_a_fixed_number_of_users_an_arrival_waits_for_one_of_its_kind_and_counts_from_its_intended_start() {
    let scenario = r#"
        schema = "assay.scenario/1"
        name = "kinds"
        [users]
        buyer = 80
        clerk = 20
        [[operation]]
        name = "buy"
        weight = { buyer = 1 }
        path = "/buy"
        [[operation]]
        name = "desk"
        weight = { clerk = 1 }
        path = "/desk"
        think_ms = 100
    "#;
    let url = serve(|_| ok("x"));
    let mut generator = with(&url, scenario, |config| {
        config.users = Some(5);
        config.limited = vec!["buy".to_owned()];
    });
    let measured = run(&mut generator, &open(100.0), 1_000);
    assert_eq!((measured.requests, measured.errors(), measured.users), (100, 0, 5));
    let desks = requests_of(&measured, "desk");
    assert!(15 < desks, "{desks}");
    let last_ns = (desks - 1) * 100_000_000 - 1_000_000_000;
    assert!(measured.response.max() > last_ns, "desks of one clerk, 100 ms one after another");
    let detail = &measured.detail;
    assert!(detail.limited.right.value_at_quantile(0.5) < 100_000_000, "buyers do not wait for clerks");
    let scenario = Scenario::parse(scenario, "test.toml").expect("a right scenario");
    let config = GeneratorConfig { users: Some(1), ..GeneratorConfig::new(&url, scenario, 1) };
    let said = Generator::new(config).map(drop).expect_err("too few").to_string();
    assert!(said.contains("at least one of each kind"), "{said}");
}
