//! `assay load` from its options to its exit code: what is sent without a scenario, conditions, figures by operation.

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::process::{Command, Output, Stdio};
use std::sync::{Arc, Mutex};

/// Head lines and body of a request.
type Request = (Vec<String>, String);

/// A server that keeps the requests that it gets: `/slow` fails, all else is right.
struct Server {
    url: String,
    requests: Arc<Mutex<Vec<Request>>>,
}

impl Server {
    fn start() -> Server {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let url = format!("http://{}", listener.local_addr().expect("bound"));
        let requests = Arc::default();
        let kept = Arc::clone(&requests);
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let kept = Arc::clone(&kept);
                std::thread::spawn(move || answer_all(stream, &kept));
            }
        });
        Server { url, requests }
    }

    /// The first request.
    fn first(&self) -> Request {
        self.requests.lock().expect("no panic").first().expect("a request").clone()
    }
}

fn answer_all(stream: TcpStream, kept: &Mutex<Vec<Request>>) -> Option<()> {
    let mut reader = BufReader::new(stream.try_clone().ok()?);
    let mut stream = stream;
    loop {
        let mut head = Vec::new();
        loop {
            let mut line = String::new();
            if reader.read_line(&mut line).ok()? == 0 {
                return None;
            }
            match line.trim_end() {
                "" => break,
                line => head.push(line.to_owned()),
            }
        }
        let length =
            head.iter().find_map(|line| line.to_lowercase().strip_prefix("content-length: ")?.parse().ok());
        let mut body = vec![0; length.unwrap_or(0)];
        reader.read_exact(&mut body).ok()?;
        let status = if head.first()?.contains(" /slow") { "503 Service Unavailable" } else { "200 OK" };
        let echoed = head.join("; ");
        write!(stream, "HTTP/1.1 {status}\r\nContent-Length: {}\r\n\r\n{echoed}", echoed.len()).ok()?;
        kept.lock().ok()?.push((head, String::from_utf8_lossy(&body).into_owned()));
    }
}

fn load(words: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_assay"));
    command.arg("load").args(words).args(["--users", "1", "--duration", "1s", "--allow-invalid"]);
    command.stdin(Stdio::null()).output().expect("assay starts")
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

#[test]
fn a_request_is_said_in_curls_words_and_its_secrets_are_shown_nowhere() {
    let server = Server::start();
    let url = format!("{}/orders", server.url);
    let secret = "open-sesame-41";
    let words = [
        "-X",
        "PUT",
        "-H",
        "X-Shop: {north}",
        "--json-body",
        "{\"item\": {4}}",
        "--user",
        "ali:open-sesame-41",
    ];
    let words: Vec<&str> = [url.as_str()].into_iter().chain(words).collect();
    let json = load(&[words.as_slice(), &["--json"]].concat());
    let (head, body) = server.first();
    assert!(head[0].starts_with("PUT /orders "), "{head:?}");
    assert_eq!(body, "{\"item\": {4}}");
    let has = |wanted: &str| head.iter().filter(|line| line.eq_ignore_ascii_case(wanted)).count();
    for wanted in
        ["X-Shop: {north}", "Content-Type: application/json", "Authorization: Basic YWxpOm9wZW4tc2VzYW1lLTQx"]
    {
        assert_eq!(has(wanted), 1, "{wanted}: {head:?}");
    }
    let slow = format!("{}/slow", server.url);
    let words: Vec<&str> = [slow.as_str()].into_iter().chain(words[1..].iter().copied()).collect();
    let printed = load(&words);
    let said = [json.stdout, json.stderr, printed.stdout, printed.stderr].map(|bytes| text(&bytes)).concat();
    assert!(said.contains("503"), "the server's answer, which has the request's head, is quoted: {said}");
    assert!(!said.contains(secret) && !said.contains("YWxpOm9wZW4tc2VzYW1lLTQx"), "{said}");
}

#[test]
fn a_length_behind_d_is_not_sent_as_a_body() {
    let server = Server::start();
    let mut command = Command::new(env!("CARGO_BIN_EXE_assay"));
    let output = command.args(["load", &server.url, "-c", "2", "-d", "30s", "--users", "2"]).output();
    let output = output.expect("assay starts");
    assert_eq!(output.status.code(), Some(2));
    assert!(text(&output.stderr).contains("-z 30s"), "{}", text(&output.stderr));
    assert!(server.requests.lock().expect("no panic").is_empty(), "nothing was sent");
}

#[test]
fn a_condition_on_one_operation_decides_the_exit_code() {
    let server = Server::start();
    let folder = tempfile::tempdir().expect("a folder");
    let file = |name: &str| folder.path().join(name).display().to_string();
    let operations = "[[operation]]\nname = \"good\"\npath = \"/good\"\n[[operation]]\nname = \"slow\"\npath = \"/slow\"\n";
    fs::write(file("s.toml"), format!("schema = \"assay.scenario/1\"\nname = \"two\"\n{operations}"))
        .expect("written");
    let (scenario, junit) = (file("s.toml"), file("load.xml"));
    let run = |conditions: &[&str]| {
        let conditions: Vec<&str> =
            conditions.iter().flat_map(|condition| ["--fail-if", condition]).collect();
        load(
            &[
                &[server.url.as_str(), "--scenario", &scenario, "--junit", &junit, "--json"],
                conditions.as_slice(),
            ]
            .concat(),
        )
    };
    let passed = run(&["errors{operation=good} > 0", "p99_ms{operation=good} > 60000"]);
    assert_eq!(passed.status.code(), Some(0), "{}", text(&passed.stderr));
    let stored: serde_json::Value = serde_json::from_slice(&passed.stdout).expect("JSON");
    let [good, slow] = [0, 1].map(|at| &stored["operations"][at]);
    assert_eq!((&good["name"], &slow["name"]), (&"good".into(), &"slow".into()));
    assert_eq!(slow["figures"]["statuses"][0]["status"], 503);
    assert_eq!(slow["figures"]["statuses"][0]["unexpected"], slow["requests"]);
    assert_eq!(good["figures"]["errors_by_kind"], serde_json::Value::Null);
    assert!(
        good["figures"]["response_ms"]["p99"].is_f64() && good["figures"]["body_bytes"].as_u64() > Some(0)
    );
    let total =
        |key: &str| stored["timeline"].as_array().expect("intervals").iter().map(|of| of[key].as_u64()).sum();
    assert_eq!(
        (total("requests"), total("errors")),
        (stored["requests"].as_u64(), stored["errors"].as_u64())
    );
    let failed = run(&["errors_percent{operation=slow} > 50"]);
    assert_eq!(failed.status.code(), Some(1), "{}", text(&failed.stderr));
    let report = fs::read_to_string(&junit).expect("a report");
    assert!(report.contains("errors_percent{operation=slow}") && report.contains("<failure"), "{report}");
    let unknown = run(&["errors{operation=god} > 0"]);
    assert_eq!(unknown.status.code(), Some(2));
    assert!(text(&unknown.stderr).contains("`good`"), "{}", text(&unknown.stderr));
}

const SHOP: &str = r#"schema = "assay.scenario/1"
name = "shop"
[session]
start = ["login"]
[[operation]]
name = "login"
weight = 0
path = "/login"
[[operation]]
name = "browse"
weight = 3
path = "/"
[[operation]]
name = "checkout"
path = "/checkout"
"#;

#[test]
fn a_plan_says_what_would_be_sent_by_operation_and_sends_nothing() {
    let (server, folder) = (assay_testkit::CountingServer::start(), tempfile::tempdir().expect("a folder"));
    let scenario = folder.path().join("shop.toml");
    fs::write(&scenario, SHOP).expect("a writable folder");
    let planned = |command: &str, words: &[&str]| {
        let mut assay = Command::new(env!("CARGO_BIN_EXE_assay"));
        assay.args([command, &server.url, "--plan", "--scenario"]).arg(&scenario).args(words);
        let output = assay.output().expect("assay starts");
        assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
        text(&output.stdout).split_whitespace().collect::<Vec<_>>().join(" ")
    };
    let of_load =
        planned("load", &["--rate", "100", "--duration", "30s", "--users", "500", "--threads", "2"]);
    for part in [
        "open loop, 100 requests/s, constant arrivals, 64 connections, 2 threads",
        "about 3000 requests: browse 2250 (75.0 %), checkout 750 (25.0 %); 500 users",
        "each user begins a session with 1 request, outside of the figures: login; that takes about 5 s",
        "takes about 35 s",
    ] {
        assert!(of_load.contains(part), "{part}: {of_load}");
    }
    let closed = planned("load", &["--users", "8", "--json"]);
    let closed: serde_json::Value = serde_json::from_str(&closed).expect("JSON");
    assert_eq!((&closed["users"], &closed["operations"][1]["name"]), (&8.into(), &"checkout".into()));
    assert!(closed.get("in_window").is_none(), "the server's answers decide");
    let of_search = planned("capacity", &["--limits", "25,checkout=200ms", "--threads", "2"]);
    for part in [
        "response time is at most 25 ms, of checkout is at most 200 ms",
        "256 connections, 2 threads",
        "as many requests as the server answers: browse 75.0 %, checkout 25.0 %; as many users as each rate needs",
        "begins a session with 1 request, outside of the figures: login",
    ] {
        assert!(of_search.contains(part), "{part}: {of_search}");
    }
    assert_eq!(server.count(), 0);
}
