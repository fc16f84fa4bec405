//! HTTP/2 against a server of another implementation, which does wrong what a test tells it to.

mod grpc;
mod reflection;
pub mod server;

use crate::certificates::Authority;
use assay_load::{
    ArrivalLaw, ErrorKind, Generator, GeneratorConfig, Http, Load, LoadError, Measured, Scenario, TlsOptions,
};
use assay_model::Protocol;
use rustls::{ServerConnection, StreamOwned};
use server::{Reply, Server, Settings, connection, ok, serve};
use std::io::{Read, Write};
use std::net::TcpListener;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

/// Time enough for a machine that stands still now and then.
const GET: &str = "[[operation]]\nname = \"get\"\npath = \"/\"\ntimeout_ms = 120000\n";
const CLOSED: Load = Load::Closed { users: 12, think: None };
const OPEN: Load = Load::Open { arrivals: ArrivalLaw::Constant, rate_per_s: 400.0 };

fn config(url: &str, scenario: &str, connections: u32, streams: u32) -> GeneratorConfig {
    let text = format!("schema = \"assay.scenario/1\"\nname = \"test\"\n{scenario}");
    let scenario = Scenario::parse(&text, "test.toml").expect("a right scenario");
    GeneratorConfig { http: Http::Two { streams }, ..GeneratorConfig::new(url, scenario, connections) }
}

fn run(config: GeneratorConfig, load: &Load, ms: u64) -> Result<Measured, LoadError> {
    let stop = AtomicBool::new(false);
    Generator::new(config)?.run(load, Duration::from_millis(ms), &stop, None, &mut |_| ())
}

fn load(server: &Server, scenario: &str, (connections, streams): (u32, u32), law: &Load) -> Measured {
    let measured =
        run(config(&server.url, scenario, connections, streams), law, 400).expect("the server listens");
    assert_eq!(server.refused.load(Ordering::Relaxed), 0, "frames that the other side refuses");
    measured
}

fn errors(measured: &Measured, kind: ErrorKind) -> u64 {
    let at = ErrorKind::ALL.iter().position(|known| *known == kind).expect("listed");
    measured.errors_by_kind[at]
}

#[track_caller]
fn is_fine(measured: &Measured) {
    assert!(0 < measured.requests && measured.errors() == 0, "{:?}", measured.problems);
}

#[test]
fn requests_share_connections_in_closed_and_open_loop() {
    for law in [CLOSED, OPEN] {
        let server = serve(Settings::default(), |request| ok(&format!("{}", request.connection)));
        let measured = load(&server, GET, (2, 6), &law);
        is_fine(&measured);
        let told = measured.result().protocol.expect("it was spoken");
        assert_eq!((told.name, told.streams, told.streams_allowed_min), (Protocol::Http2, 6, None));
        assert_eq!((told.closed_by_server, told.reset_by_server), (0, 0));
        assert!(told.opening_ms.is_some_and(|ms| ms.p50.is_some()));
        if law == CLOSED {
            assert_eq!(server.open_max.load(Ordering::Relaxed), 6);
        }
    }
}

#[test]
fn cookies_redirects_forms_and_checks_work_as_over_http_1_1() {
    const SHOP: &str = "[session]\nstart = [\"login\"]\n[[operation]]\nname = \"login\"\nweight = 0\nmethod = \"POST\"\npath = \"/login\"\n\
                        form = { user = \"a b\" }\nfollow_redirects = true\ncontains = \"hello\"\n\
                        [[operation]]\nname = \"buy\"\npath = \"/buy\"\ncontains = \"yes\"\nheaders = { X-Two = \"2\" }\n";
    let server = serve(Settings::default(), |request| {
        let header = |name: &str| request.headers.get(name).map(String::as_str);
        match request.path() {
            "/login" if request.body == b"user=a+b" && header("content-length") == Some("8") => {
                let headers =
                    vec![("location", "/home".to_owned()), ("set-cookie", "id=7; Path=/".to_owned())];
                Reply::Answer { status: 303, headers, body: Vec::new() }
            }
            "/home" if header("cookie") == Some("id=7") && header(":method") == Some("GET") => ok("hello"),
            "/buy" if header("cookie") == Some("id=7") && header("x-two") == Some("2") => ok("yes"),
            _ => ok("no"),
        }
    });
    is_fine(&load(&server, SHOP, (2, 3), &Load::Closed { users: 6, think: None }));
    let measured =
        load(&server, "[[operation]]\nname = \"o\"\npath = \"/\"\ncontains = \"yes\"\n", (1, 2), &CLOSED);
    assert_eq!(errors(&measured, ErrorKind::Content), measured.requests);
}

#[test]
fn headers_of_the_scenario_take_the_place_of_others_and_answers_are_decoded() {
    const SHOP: &str = r#"
        [[operation]]
        name = "own"
        path = "/own"
        contains = "ordered"
        [operation.headers]
        Host = "shop.example"
        User-Agent = "shop/1"
        Accept = "text/html"
        Accept-Encoding = "gzip"
        Connection = "close"
        [[operation]]
        name = "plain"
        path = "/plain"
        contains = "ordered"
    "#;
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    gzip.write_all(b"{\"state\":\"ordered\"}").expect("memory");
    let coded = gzip.finish().expect("memory");
    let server = serve(Settings::default(), move |request| {
        let of = [":authority", "user-agent", "accept", "accept-encoding", "connection", "host"];
        let of = of.map(|name| request.headers.get(name).map_or("none", String::as_str));
        match (request.path(), of) {
            ("/own", ["shop.example", "shop/1", "text/html", "gzip", "none", "none"]) => Reply::Answer {
                status: 200,
                headers: vec![("content-encoding", "gzip".to_owned())],
                body: coded.clone(),
            },
            ("/plain", [authority, "assay", "*/*", "none", "none", "none"])
                if authority != "shop.example" =>
            {
                ok("ordered")
            }
            _ => ok("no"),
        }
    });
    is_fine(&load(&server, SHOP, (2, 3), &CLOSED));
}

#[test]
fn a_stream_of_events_is_reset_behind_its_last_awaited_event() {
    let listen = "[[operation]]\nname = \"listen\"\npath = \"/\"\nevents = 2\ncontains = \"data: 2\"\n";
    let events: String = (1..2_000).map(|number| format!("data: {number}\n\n")).collect();
    let settings = Settings { window: Some(1_000), ..Settings::default() };
    let server = serve(settings, move |_| ok(&events));
    // nghttp2 takes 1,000 resets of a client for an attack (CVE-2023-44487).
    let law = Load::Open { arrivals: ArrivalLaw::Constant, rate_per_s: 100.0 };
    let measured = load(&server, listen, (1, 3), &law);
    is_fine(&measured);
    let told = measured.result().protocol.expect("it was spoken");
    assert_eq!(told.closed_by_server, 0, "the connection goes on");
    let few = serve(Settings::default(), |_| ok("data: 1\n\n"));
    let measured = load(&few, listen, (1, 1), &Load::Closed { users: 1, think: None });
    assert_eq!(errors(&measured, ErrorKind::Content), measured.requests, "{:?}", measured.problems);
}

#[test]
fn one_time_requests_are_sent_over_it_too() {
    const SETUP: &str = "setup = [\"first\"]\n[extract.token]\noperation = \"first\"\nafter = \"<\"\nbefore = \">\"\n\
                         [[operation]]\nname = \"first\"\nweight = 0\npath = \"/first\"\n\
                         [[operation]]\nname = \"get\"\npath = \"/{token}\"\ncontains = \"yes\"\n";
    let server = serve(Settings::default(), |request| match request.path() {
        "/first" => ok("<t>"),
        "/t" => ok("yes"),
        _ => ok("no"),
    });
    is_fine(&load(&server, SETUP, (1, 2), &CLOSED));
}

#[test]
fn large_bodies_go_through_small_windows_both_ways() {
    let post = format!(
        "[[operation]]\nname = \"post\"\nmethod = \"POST\"\npath = \"/\"\nbody = \"{}\"\ncontains = \"300000\"\ntimeout_ms = 120000\n",
        "x".repeat(300_000)
    );
    let settings = Settings { window: Some(1_000), ..Settings::default() };
    let server = serve(settings, |request| ok(&format!("{}{}", request.body.len(), " ".repeat(200_000))));
    is_fine(&load(&server, &post, (2, 3), &Load::Closed { users: 6, think: None }));
}

#[test]
fn a_server_that_never_opens_its_window_is_a_timeout_and_others_go_on() {
    const BOTH: &str = "[[operation]]\nname = \"post\"\nmethod = \"POST\"\npath = \"/\"\nbody = \"body\"\ntimeout_ms = 50\n\
                        [[operation]]\nname = \"get\"\npath = \"/\"\ntimeout_ms = 120000\n";
    let server = serve(Settings { window: Some(0), ..Settings::default() }, |_| ok("x"));
    let measured = load(&server, BOTH, (1, 4), &Load::Closed { users: 4, think: None });
    let [post, get] = [0, 1].map(|at| &measured.operations[at]);
    assert!(0 < post.errors && post.errors == post.requests, "{:?}", measured.problems);
    assert_eq!(errors(&measured, ErrorKind::Timeout), post.errors);
    assert!(0 < get.requests && get.errors == 0);
}

#[test]
fn a_server_that_allows_fewer_streams_gets_no_more() {
    for law in [CLOSED, OPEN] {
        let settings = Settings { streams_max: Some(2), ..Settings::default() };
        let server = serve(settings, |_| {
            std::thread::sleep(Duration::from_micros(200));
            ok("x")
        });
        let measured = load(&server, GET, (3, 4), &law);
        is_fine(&measured);
        assert!(server.open_max.load(Ordering::Relaxed) <= 2);
        let told = measured.result().protocol.expect("it was spoken");
        assert_eq!((told.streams, told.streams_allowed_min), (4, Some(2)));
    }
}

#[test]
fn a_server_without_a_table_for_headers_is_understood() {
    let server = serve(Settings { table: Some(0), ..Settings::default() }, |request| match request.path() {
        "/" if request.headers[":authority"].starts_with("127.0.0.1:") => ok("x"),
        _ => Reply::Silence,
    });
    is_fine(&load(&server, GET, (1, 4), &CLOSED));
}

/// On each connection one is not taken, and neither are those behind it.
#[test]
fn requests_that_a_leaving_server_did_not_take_are_sent_again() {
    for law in [CLOSED, OPEN] {
        let server = serve(Settings::default(), |request| match request.number {
            20 => Reply::GoAway(0),
            _ => ok("x"),
        });
        let measured = load(&server, GET, (2, 6), &law);
        is_fine(&measured);
        let left = measured.result().protocol.expect("it was spoken").closed_by_server;
        assert!(0 < left && left <= measured.sent_again, "{left}, {}", measured.sent_again);
    }
}

#[test]
fn a_server_that_leaves_for_an_error_fails_what_is_under_way() {
    let server = serve(Settings::default(), |request| match request.number {
        20 => Reply::GoAway(11),
        _ => ok("x"),
    });
    let measured = load(&server, GET, (1, 6), &CLOSED);
    assert!(0 < measured.requests && measured.sent_again == 0);
    assert!(0 < errors(&measured, ErrorKind::Broken));
    assert_eq!(errors(&measured, ErrorKind::Broken), measured.errors());
    assert!(measured.problems[0].text.contains("ENHANCE_YOUR_CALM"), "{:?}", measured.problems);
    let result = measured.result();
    let closed = result.protocol.expect("it was spoken").closed_by_code;
    assert_eq!(closed.iter().map(|of| of.code_and_name()).collect::<Vec<_>>(), ["11 (ENHANCE_YOUR_CALM)"]);
    let said = "with 11 (ENHANCE_YOUR_CALM)";
    assert!(result.problems.iter().any(|problem| problem.text.ends_with(said)), "{:?}", result.problems);
}

#[test]
fn requests_that_are_reset_fail_alone_and_refused_ones_are_sent_again() {
    let server = serve(Settings::default(), |request| match request.number % 10 {
        5 => Reply::Reset(2),
        7 => Reply::Reset(7),
        _ => ok("x"),
    });
    let measured = load(&server, GET, (2, 6), &CLOSED);
    let broken = errors(&measured, ErrorKind::Broken);
    assert!(0 < broken && broken < measured.requests / 5, "{broken} of {}", measured.requests);
    assert!(0 < measured.sent_again && measured.sent_again <= measured.requests / 5);
    assert_eq!(measured.errors(), broken);
    assert!(measured.problems.iter().any(|problem| problem.text.contains("INTERNAL_ERROR")));
    let told = measured.result().protocol.expect("it was spoken");
    assert!(measured.sent_again + broken <= told.reset_by_server + 12);
}

#[test]
fn a_timeout_gives_up_its_stream_alone() {
    const IMPATIENT: &str = "[[operation]]\nname = \"get\"\npath = \"/\"\ntimeout_ms = 60\n";
    let connections = Arc::new(AtomicU64::new(0));
    let seen = Arc::clone(&connections);
    let server = serve(Settings::default(), move |request| {
        seen.fetch_max(request.connection + 1, Ordering::Relaxed);
        if request.number % 50 == 10 { Reply::Silence } else { ok("x") }
    });
    let measured =
        load(&server, IMPATIENT, (1, 4), &Load::Closed { users: 4, think: Some(Duration::from_millis(1)) });
    assert!(0 < errors(&measured, ErrorKind::Timeout), "{:?}", measured.problems);
    assert!(0 < measured.requests);
    assert_eq!(connections.load(Ordering::Relaxed), 1);
}

#[test]
fn a_connection_that_ends_fails_what_was_under_way_and_is_opened_anew() {
    let server =
        serve(Settings::default(), |request| if request.number == 30 { Reply::Close } else { ok("x") });
    let measured = load(&server, GET, (2, 4), &CLOSED);
    assert!(0 < measured.requests, "{:?}", measured.problems);
    assert!(measured.sent_again + measured.errors() < measured.requests / 2);
}

#[test]
fn a_server_that_does_not_speak_it_is_named() {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let url = format!("http://{}", listener.local_addr().expect("bound"));
    std::thread::spawn(move || {
        for mut stream in listener.incoming().flatten() {
            let _ = stream.read(&mut [0; 4096]);
            let _ = stream.write_all(b"HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n");
        }
    });
    let error = run(config(&url, GET, 1, 1), &CLOSED, 100).expect_err("HTTP/1.1").to_string();
    assert!(error.contains("answers with HTTP/1.1"), "{error}");
    let streams = run(config(&url, GET, 1, 0), &CLOSED, 100).expect_err("no stream").to_string();
    assert!(streams.contains("streams = 0: use 1 to 1000"), "{streams}");
}

fn tls(authority: &Authority, protocols: &[&[u8]]) -> String {
    let config = authority.server(&authority.certify(&["localhost"], 2200), false);
    let mut config = (*config).clone();
    config.alpn_protocols = protocols.iter().map(|name| name.to_vec()).collect();
    let (config, listener) = (Arc::new(config), TcpListener::bind("127.0.0.1:0").expect("a free port"));
    let port = listener.local_addr().expect("bound").port();
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let config = Arc::clone(&config);
            std::thread::spawn(move || {
                let stream = StreamOwned::new(ServerConnection::new(config).ok()?, stream);
                let counts = (Arc::default(), Arc::default());
                connection(stream, 0, &Settings::default(), &|_| ok(&"x".repeat(50_000)), counts)
            });
        }
    });
    format!("https://localhost:{port}")
}

#[test]
fn over_tls_it_is_agreed_on_or_the_load_does_not_begin() {
    let authority = Authority::new("test");
    let options =
        || TlsOptions::default().with_files(Some(&authority.trust()), (None, None)).expect("its file");
    for law in [CLOSED, OPEN] {
        let url = tls(&authority, &[b"http/1.1", b"h2"]);
        let measured = run(GeneratorConfig { tls: options(), ..config(&url, GET, 2, 6) }, &law, 400);
        let measured = measured.expect("a stretch");
        is_fine(&measured);
        assert_eq!((measured.handshakes.times.len(), measured.spoken.openings.len()), (2, 2));
    }
    for protocols in [&[b"http/1.1".as_slice()][..], &[]] {
        let url = tls(&authority, protocols);
        let error = run(GeneratorConfig { tls: options(), ..config(&url, GET, 1, 1) }, &CLOSED, 100);
        let error = error.expect_err("no agreement").to_string();
        assert!(error.contains("leave --http out"), "{error}");
    }
}

/// A server that stands still for 200 ms of 400: who should have been asked meanwhile waited. With 10 streams on one connection at
/// 400 requests a second, a generator that sends no request while none is free would hide it.
#[test]
fn a_stall_is_in_the_response_times_of_all_requests_that_it_kept() {
    let server = serve(Settings::default(), |request| {
        if request.number == 60 {
            std::thread::sleep(Duration::from_millis(200));
        }
        ok("x")
    });
    let measured = load(&server, GET, (1, 10), &OPEN);
    is_fine(&measured);
    // 80 requests were to start in the stall; half of them waited for more than a tenth of a second.
    let late = measured.response.count_between(100_000_000, 60_000_000_000);
    assert!(35 <= late, "{late} of {}", measured.response.len());
}
