//! What loads take from outside the scenario and from answers: rows of files, secrets, headers, forms; redirects; schedules.

use super::server::{Request, closed, ok, open, run, serve, status};
use assay_load::{Generator, GeneratorConfig, Measured, RateSchedule, Scenario};
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// A scenario in a folder with this file of rows.
fn scenario(rows: &str, text: &str) -> Scenario {
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::write(folder.path().join("rows.csv"), rows).expect("written");
    let path = folder.path().join("s.toml");
    let text = format!("schema = \"assay.scenario/1\"\nname = \"test\"\n{text}");
    std::fs::write(&path, text).expect("written");
    Scenario::read(&path).expect("a right scenario")
}

fn generator(url: &str, scenario: Scenario) -> Generator {
    Generator::new(GeneratorConfig::new(url, scenario, 4)).expect("a good configuration")
}

/// A server that keeps the lines of all requests, and answers with what a test says.
fn kept(
    answer: impl Fn(&Request) -> super::server::Reply + Send + Sync + 'static,
) -> (String, Arc<Mutex<Vec<String>>>) {
    let lines = Arc::new(Mutex::new(Vec::new()));
    let all = Arc::clone(&lines);
    let url = serve(move |request: &Request| {
        all.lock().expect("no panic").push(format!("{} {}", request.line, request.body));
        answer(request)
    });
    (url, lines)
}

const EACH_ROW: &str = "
    [[data]]
    file = 'rows.csv'
    order = 'once'
    [[operation]]
    name = 'use'
    path = '/use/{id}/{name}'
";

#[test]
fn a_load_ends_with_the_rows_that_are_used_once_and_says_so() {
    let rows: String =
        std::iter::once("id,name\n".to_owned()).chain((0..30).map(|n| format!("{n},n{n}\n"))).collect();
    for load in [open(300.0), closed(3)] {
        let (url, lines) = kept(|_| ok(""));
        let measured = run(&mut generator(&url, scenario(&rows, EACH_ROW)), &load, 60_000);
        let mut lines = lines.lock().expect("no panic").clone();
        lines.sort();
        let mut want: Vec<String> = (0..30).map(|n| format!("GET /use/{n}/n{n} HTTP/1.1 ")).collect();
        want.sort();
        assert_eq!(lines, want, "each row once, and no request besides");
        assert_eq!((measured.requests, measured.errors(), measured.stopped), (30, 0, false));
        assert!(measured.seconds() < 60.0, "it ended with its rows");
        let text = &measured.problems.last().expect("it says so").text;
        assert!(text.starts_with("all 30 rows were used, each once; the load ended with them"), "{text}");
    }
}

const LOGIN: &str = r#"
    [session]
    start = ["page"]
    [extract]
    hidden = { operation = "page", form = "login" }
    token = { operation = "login", header = "X-Token" }
    [[operation]]
    name = "page"
    weight = 0
    path = "/page"
    [[operation]]
    name = "login"
    method = "POST"
    path = "/login"
    hidden = "hidden"
    form = { user = "me" }
    requires = "hidden"
    otherwise = "page"
    follow_redirects = true
    [[operation]]
    name = "use"
    path = "/use/{token}"
    requires = "token"
    otherwise = "login"
"#;

#[test]
fn hidden_fields_go_back_headers_are_taken_and_redirects_are_counted_by_operation() {
    let (url, lines) = kept(|request| match request.line.as_str() {
        line if line.contains("/page") => {
            ok("<form id=login><input type=hidden name=csrf value='a&amp;b'></form>")
        }
        line if line.contains("/login") => status(303, "Location: /home?1\r\n", ""),
        line if line.contains("/home?1") => status(302, "Location: /home?2\r\n", ""),
        line if line.contains("/home?2") => status(200, "x-token: t 1\r\n", ""),
        line if line.contains("/use/t%201 ") => ok(""),
        _ => status(404, "", ""),
    });
    let measured: Measured = run(&mut generator(&url, scenario("a\n1\n", LOGIN)), &open(400.0), 200);
    assert_eq!(measured.errors(), 0, "{:?}", measured.problems);
    let [page, login, used] = &measured.operations[..] else { panic!("three operations") };
    assert!(used.requests > 0 && login.requests > 0, "{:?}", measured.operations);
    let redirects = [page, login, used].map(|operation| operation.redirects);
    assert_eq!(redirects, [Some(0), Some(2 * login.requests), Some(0)]);
    let lines = lines.lock().expect("no panic");
    assert!(lines.iter().any(|line| line == "POST /login HTTP/1.1 csrf=a%26b&user=me"), "{lines:?}");
}

#[test]
fn a_secret_that_a_server_answers_with_is_in_no_message() {
    let secret = std::env::var("PATH").expect("every test has one");
    const SENDS: &str = "
        [[operation]]
        name = 'use'
        path = '/use?key=${env:PATH}'
        headers = { X-Key = '${env:PATH}' }
    ";
    let url = serve(|request| {
        status(401, "", &format!("wrong key {} in {}", request.headers["x-key"], request.line))
    });
    let measured = run(&mut generator(&url, scenario("a\n1\n", SENDS)), &closed(1), 20);
    let said = format!("{measured:?} {:?}", measured.result());
    assert!(said.contains("wrong key <redacted> in GET /use?key=<redacted> HTTP/1.1"), "{said}");
    assert!(!said.contains(&secret));
}

#[test]
fn a_schedule_offers_what_its_integral_says() {
    let url = serve(|_| ok(""));
    let scenario = scenario("a\n1\n", "[[operation]]\nname = 'get'\npath = '/'\n");
    let schedule =
        RateSchedule::parse("0 to 400 for 500ms, 0 for 100ms, 100 for 400ms", Path::new("")).expect("good");
    let rate_per_s = schedule.mean_rate_per_s(0.0, 1.0);
    let config = GeneratorConfig { rate: Some(schedule.clone()), ..GeneratorConfig::new(&url, scenario, 4) };
    let measured = run(&mut Generator::new(config).expect("good"), &open(rate_per_s), 1_000);
    assert_eq!((measured.requests, measured.errors()), (140, 0), "{:?}", measured.problems);
    let rates = measured.rates(&schedule);
    assert_eq!((rates.len(), rates[0].offered_per_s), (1, 140.0));
    assert_eq!(schedule.length(), Duration::from_secs(1));
}
