//! The generator against servers that do what the test says: sessions, checks, every kind of error, bounds,
//! connections that die, and stretches one after another.

mod answers;
mod codings;
mod cookies;
mod events;
mod extracts;
mod headers;
mod outside;
mod scenarios;
pub mod server;
mod sessions;

use assay_load::{
    ErrorKind, Generator, GeneratorConfig, IntervalLogs, Load, LoadError, for_url, is_of_generator,
};
use server::{
    GET, Reply, Request, answer, closed, errors, generator, ok, open, run, run_until, serve, status, thinking,
};
use std::collections::BTreeSet;
use std::net::TcpListener;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

#[test]
fn a_constant_open_loop_sends_exactly_what_was_asked() {
    let url = serve(|_| ok("hello"));
    let measured = run(&mut generator(&url, GET, 4), &open(200.0), 500);
    assert_eq!((measured.requests, measured.errors()), (100, 0), "{:?}", measured.problems);
    assert_eq!((measured.response.len(), measured.service.len(), measured.send_lag.len()), (100, 100, 100));
    let (start, end) = (measured.start_monotonic_ns, measured.end_monotonic_ns);
    assert_eq!(end - start, 500_000_000);
    assert_eq!(measured.completions.completed_between(start, end), measured.completed as f64);
}

#[test]
fn sessions_log_in_keep_their_cookies_and_start_anew_after_logout() {
    const SCENARIO: &str = r#"
        [session]
        start = ["login"]
        restart_after = ["logout"]
        [values]
        user = { kind = "session-range", from = 0, to = 1000000000 }
        [extract]
        holding = { operation = "portfolio", after = "id=<", before = ">", once = true }
        [[operation]]
        name = "login"
        weight = 0
        method = "POST"
        path = "/login"
        form = { user = "{user}" }
        status = 302
        [[operation]]
        name = "portfolio"
        weight = 4
        path = "/portfolio?user={user}"
        contains = "id="
        [[operation]]
        name = "sell"
        weight = 4
        method = "POST"
        path = "/sell"
        form = { holding = "{holding}" }
        requires = "holding"
        otherwise = "portfolio"
        contains = "Sold"
        [[operation]]
        name = "logout"
        weight = 2
        path = "/logout"
    "#;
    let (wrong, sold) = (Arc::new(Mutex::new(BTreeSet::new())), Arc::new(AtomicU64::new(0)));
    let (wrongs, solds) = (Arc::clone(&wrong), Arc::clone(&sold));
    let url = serve(move |request| {
        let cookie = request.headers.get("cookie").cloned().unwrap_or_default();
        let expect = |right: bool, what: &str| {
            if !right {
                wrongs.lock().expect("no panic").insert(format!("{what}: {} {cookie}", request.line));
            }
        };
        match request.line.split(['?', ' ']).nth(1) {
            Some("/login") => {
                expect(cookie.is_empty(), "a new session has no cookies");
                let user = request.body.strip_prefix("user=").unwrap_or_default();
                status(302, &format!("Set-Cookie: user={user}; Path=/; HttpOnly\r\nLocation: /\r\n"), "")
            }
            Some("/portfolio") => {
                let user = cookie.strip_prefix("user=").unwrap_or("none");
                expect(request.line.contains(&format!("user={user} ")), "the session's own user");
                ok(&format!("<b id=<{user}-7>>"))
            }
            Some("/sell") => {
                let user = cookie.strip_prefix("user=").unwrap_or("none");
                expect(request.body == format!("holding={user}-7"), "the holding that was shown");
                solds.fetch_add(1, Ordering::Relaxed);
                ok("Sold")
            }
            _ => status(200, "Set-Cookie: user=; Max-Age=0\r\n", ""),
        }
    });
    let mut generator = generator(&url, SCENARIO, 4);
    for load in [closed(4), open(400.0)] {
        let measured = run_until(&mut generator, &load, 400, |measured| {
            measured.operations.iter().all(|operation| operation.requests > 0)
        });
        assert_eq!(measured.errors(), 0, "{:?}", measured.problems);
        assert_eq!(measured.operations.iter().map(|one| one.requests).sum::<u64>(), measured.requests);
    }
    assert!(sold.load(Ordering::Relaxed) > 0);
    assert_eq!(*wrong.lock().expect("no panic"), BTreeSet::new());
}

#[track_caller]
fn check_error(scenario: &str, kind: ErrorKind, sample: &str, reply: fn(&Request) -> Reply) {
    let url = serve(reply);
    let measured = run(&mut generator(&url, scenario, 2), &thinking(2), 350);
    assert!(measured.requests >= 2);
    assert_eq!(errors(&measured, kind), measured.requests, "{:?}", measured.problems);
    assert_eq!((measured.completed, measured.response.len()), (0, measured.requests));
    let result = measured.result();
    assert!(!result.valid && result.operations[0].errors == result.requests);
    let seen = &measured.problems[0].text;
    assert!(seen.starts_with(&format!("{}: get {sample}", kind.name())), "{seen}");
    assert!(measured.problems.len() <= 4, "samples are bounded");
}

#[test]
fn a_wrong_status_is_an_error_with_a_sample_of_the_answer() {
    check_error(GET, ErrorKind::Status, "answered 500: out of order", |_| status(500, "", "out of order"));
}

#[test]
fn a_redirect_is_not_followed_and_is_an_error_unless_expected() {
    check_error(GET, ErrorKind::Status, "answered 302", |_| status(302, "Location: /x\r\n", ""));
}

#[test]
fn an_answer_without_the_expected_text_is_an_error() {
    let scenario = "[[operation]]\nname = \"get\"\npath = \"/\"\ncontains = \"Sold\"\n";
    check_error(scenario, ErrorKind::Content, "answered 200 without \"Sold\": please log in", |_| {
        ok("please log in")
    });
}

#[test]
fn silence_is_a_timeout_that_counts_its_wait() {
    let url = serve(|_| Reply::Silence);
    let scenario = "[[operation]]\nname = \"get\"\npath = \"/\"\ntimeout_ms = 300\n";
    let measured = run(&mut generator(&url, scenario, 2), &closed(2), 200);
    assert_eq!((measured.requests, errors(&measured, ErrorKind::Timeout)), (2, 2));
    assert!(measured.response.min() >= 299_000_000, "{} ns", measured.response.min());
}

#[test]
fn a_connection_closed_before_or_within_the_answer_is_broken() {
    check_error(GET, ErrorKind::Broken, "connection closed", |_| Reply::Close);
    check_error(GET, ErrorKind::Broken, "connection closed within", |_| {
        Reply::BytesAndClose(b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhalf".to_vec())
    });
}

#[test]
fn what_is_no_http_is_broken() {
    check_error(GET, ErrorKind::Broken, "head is not HTTP/1.1", |_| Reply::Bytes(b"hello\r\n\r\n".to_vec()));
}

#[test]
fn a_server_that_closes_after_each_answer_gets_new_connections_without_errors() {
    for announced in [true, false] {
        let url = serve(move |request| {
            assert_eq!(request.number, 0, "the connection was closed");
            Reply::BytesAndClose(answer(200, if announced { "Connection: close\r\n" } else { "" }, "x"))
        });
        let mut generator = generator(&url, GET, 2);
        let measured = run_until(&mut generator, &thinking(2), 300, |measured| measured.requests > 4);
        assert_eq!(measured.errors(), 0, "announced {announced}: {:?}", measured.problems);
    }
}

#[test]
fn a_post_is_never_sent_twice() {
    let seen = Arc::new(AtomicU64::new(0));
    let count = Arc::clone(&seen);
    let url = serve(move |request| {
        count.fetch_add(1, Ordering::Relaxed);
        if request.number == 3 { Reply::Close } else { ok("x") }
    });
    let scenario = "[[operation]]\nname = \"get\"\nmethod = \"POST\"\npath = \"/\"\nbody = \"b\"\n";
    let (mut generator, sent) = (generator(&url, scenario, 1), AtomicU64::new(0));
    run_until(&mut generator, &thinking(1), 300, |measured| {
        sent.fetch_add(measured.requests, Ordering::Relaxed);
        errors(measured, ErrorKind::Broken) > 0
    });
    assert_eq!(seen.load(Ordering::Relaxed), sent.load(Ordering::Relaxed));
}

#[test]
fn connections_persist_between_stretches_and_dead_ones_are_replaced_without_errors() {
    let connections = Arc::new(Mutex::new(BTreeSet::new()));
    let (seen, dying) = (Arc::clone(&connections), Arc::new(AtomicBool::new(false)));
    let die = Arc::clone(&dying);
    let url = serve(move |request| {
        seen.lock().expect("no panic").insert(request.connection);
        if die.load(Ordering::Relaxed) { Reply::BytesAndClose(answer(200, "", "x")) } else { ok("x") }
    });
    let mut generator = generator(&url, GET, 3);
    for _ in 0..3 {
        assert_eq!(run(&mut generator, &closed(3), 50).errors(), 0);
    }
    assert_eq!(connections.lock().expect("no panic").len(), 3, "no stretch opened connections of its own");
    dying.store(true, Ordering::Relaxed);
    for _ in 0..3 {
        let measured = run(&mut generator, &thinking(3), 50);
        assert_eq!(measured.errors(), 0, "{:?}", measured.problems);
    }
}

#[test]
fn arrivals_beyond_the_bound_fail_visibly_and_count_their_wait() {
    let url = serve(|_| {
        std::thread::sleep(Duration::from_secs(1));
        ok("slow")
    });
    let scenario = for_url(&url).expect("a good URL").1;
    let config = GeneratorConfig { in_flight_max: Some(3), ..GeneratorConfig::new(&url, scenario, 1) };
    let measured = run(&mut Generator::new(config).expect("good"), &open(100.0), 300);
    assert_eq!(measured.requests, 30);
    // Three at once; one more for each second that the machine stands still.
    let over = errors(&measured, ErrorKind::OverBound);
    assert!(over >= 20, "{over}");
    assert_eq!((measured.response.len(), measured.service.len()), (30, 30 - over));
    assert!(measured.response.value_at_quantile(0.5) > 20_000_000, "the refused ones waited too");
    assert!(!measured.result().valid);
}

#[test]
fn an_arrival_that_finds_no_free_session_waits_in_its_response_time() {
    let url = serve(|_| {
        std::thread::sleep(Duration::from_millis(20));
        ok("x")
    });
    let scenario = for_url(&url).expect("a good URL").1;
    let config = GeneratorConfig { sessions: Some(1), ..GeneratorConfig::new(&url, scenario, 10) };
    let measured = run(&mut Generator::new(config).expect("good"), &open(100.0), 200);
    assert_eq!((measured.requests, measured.errors()), (20, 0));
    assert!(measured.response.max() > 150_000_000, "twenty requests of 20 ms, one after another");
}

/// The generator reports progress from its own thread: whoever keeps it there makes it stand still.
#[test]
fn a_generator_that_stood_still_makes_a_closed_loop_invalid_as_an_open_one() {
    for law in [closed(2), open(100.0)] {
        let url = serve(|_| ok("x"));
        let is_over = AtomicBool::new(false);
        let stop = AtomicBool::new(false);
        let mut hold = |_| {
            if !is_over.swap(true, Ordering::Relaxed) {
                std::thread::sleep(Duration::from_millis(200));
            }
        };
        let measured = generator(&url, GET, 2).run(&law, Duration::from_secs(1), &stop, None, &mut hold);
        let faults = measured.expect("the server listens").generator_faults();
        assert!(!faults.is_empty() && faults.iter().all(is_of_generator), "{law:?}: {faults:?}");
    }
}

#[test]
fn a_server_that_goes_away_makes_connect_errors_but_no_storm() {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let url = format!("http://{}", listener.local_addr().expect("bound"));
    // Accepted by the kernel; then the listener goes, and the connection with it.
    let server = std::thread::spawn(move || drop(listener.accept()));
    let stop = AtomicBool::new(false);
    let measured = generator(&url, GET, 1)
        .run(&closed(1), Duration::from_secs(3_600), &stop, None, &mut |progress| {
            // One that breaks, then refused ones.
            stop.store(progress.errors > 2, Ordering::Relaxed);
        })
        .expect("the server listens");
    server.join().expect("no panic");
    assert!(errors(&measured, ErrorKind::Connect) >= 1, "{:?}", measured.errors_by_kind);
    // One each 100 ms.
    let requests_max = 3 + measured.generator_wall_ns / 100_000_000;
    assert!(measured.requests <= requests_max, "a refused connection rests: {}", measured.requests);
}

#[test]
fn no_server_at_all_is_an_error_that_names_the_url() {
    let url = {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        format!("http://{}", listener.local_addr().expect("bound"))
    };
    let result = generator(&url, GET, 1).run(
        &closed(1),
        Duration::from_millis(10),
        &AtomicBool::new(false),
        None,
        &mut |_| (),
    );
    let error = result.expect_err("nothing listens there").to_string();
    assert!(error.starts_with(&format!("cannot connect to {url}: ")) && error.contains("started"), "{error}");
}

#[test]
fn a_stop_flag_ends_the_stretch_early_and_says_so() {
    let url = serve(|_| ok("x"));
    let stop = AtomicBool::new(false);
    let mut told = 0;
    let measured = generator(&url, GET, 1)
        .run(&open(100.0), Duration::from_secs(3_600), &stop, None, &mut |progress| {
            told += 1;
            assert!(progress.completed <= progress.requests);
            stop.store(true, Ordering::Relaxed);
        })
        .expect("the server listens");
    assert!(measured.stopped && told >= 1 && measured.seconds() < 3_600.0);
    assert_eq!(measured.response.len(), measured.requests);
    assert!(!measured.result().valid);
}

#[test]
fn numbers_out_of_range_are_told_with_their_name() {
    let url = serve(|_| ok("x"));
    let mut generator = generator(&url, GET, 1);
    let mut refuse = |load: Load, ms: u64| {
        let run = generator.run(&load, Duration::from_millis(ms), &AtomicBool::new(false), None, &mut |_| ());
        run.expect_err("out of range").to_string()
    };
    assert_eq!(refuse(open(0.0), 10), "rate_per_s = 0: use more than 0 and at most 10000000");
    assert!(refuse(open(f64::NAN), 10).starts_with("rate_per_s = NaN: "));
    assert!(refuse(open(1.0), 0).starts_with("duration = 0ns: "));
    assert!(refuse(closed(0), 10).starts_with("users = 0: "));
    let scenario = for_url(&url).expect("a good URL").1;
    let none = Generator::new(GeneratorConfig::new(&url, scenario, 0));
    assert!(matches!(none, Err(LoadError::Setting { name: "connections", .. })));
}

#[test]
fn large_chunked_answers_pass_and_are_searched_in_their_first_mebibyte() {
    let url = serve(|_| {
        let mut bytes = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n".to_vec();
        for chunk in 0..30 {
            bytes.extend_from_slice(format!("{:x}\r\n", 100_000).as_bytes());
            bytes.extend(std::iter::repeat_n(if chunk == 9 { b'9' } else { b'x' }, 100_000));
            bytes.extend_from_slice(b"\r\n");
        }
        bytes.extend_from_slice(b"0\r\n\r\n");
        Reply::Bytes(bytes)
    });
    let scenario = "[[operation]]\nname = \"get\"\npath = \"/\"\ncontains = \"x99999\"\n";
    let mut generator = generator(&url, scenario, 1);
    let measured = run_until(&mut generator, &thinking(1), 200, |measured| measured.requests > 1);
    assert_eq!(measured.errors(), 0, "{:?}", measured.problems);
}

#[test]
fn the_interval_log_of_a_stretch_holds_every_request() {
    use hdrhistogram::serialization::interval_log::{IntervalLogIterator, LogEntry};
    let url = serve(|_| ok("x"));
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("latency.hlog");
    let logs = IntervalLogs {
        writer: Box::new(std::fs::File::create(&path).expect("a file")),
        interval: Duration::from_millis(100),
    };
    let measured = generator(&url, GET, 2)
        .run(&open(200.0), Duration::from_millis(350), &AtomicBool::new(false), Some(logs), &mut |_| ())
        .expect("the server listens");
    let text = std::fs::read(&path).expect("written");
    let intervals = IntervalLogIterator::new(&text)
        .filter(|entry| matches!(entry, Ok(LogEntry::Interval(interval)) if interval.tag().is_none()))
        .count();
    // Less often only where the generator was not there to begin another.
    let wall_ms = measured.generator_wall_ns / 1_000_000;
    let was_there = measured.send_lag.max() < 50_000_000 && measured.response.max() < 50_000_000;
    assert!(
        intervals as u64 <= wall_ms / 100 + 1 && (intervals >= 4 || !was_there),
        "{intervals} in {wall_ms} ms"
    );
    assert_eq!((measured.requests, measured.problems.len()), (70, 0));
}
