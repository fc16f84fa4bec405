//! Coordinated omission, of each protocol with sessions: a server that answers nobody for a while. Each arrival that was to start meanwhile
//! takes at least until its end, whoever its user is and whether or not it could be sent. A busy machine makes times longer and none
//! shorter, so that one side of the truth holds on any.

use crate::{http, http2, websocket};
use assay_load::{ArrivalLaw, Generator, GeneratorConfig, Http, Load, Measured, Scenario, monotonic_ns};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;
use tungstenite::Message;

const RATE_PER_S: f64 = 200.0;
const STALL_NS: u64 = 300_000_000;
/// Arrivals within a stall by which a load shows something.
const HELD_MIN: usize = 40;
const SCENARIO: &str = r#"
    schema = "assay.scenario/1"
    name = "test"
    [session]
    start = ["login"]
    [[operation]]
    name = "login"
    weight = 0
    path = "/login"
    method = "POST"
    body = "login"
    timeout_ms = 120000
    [[operation]]
    name = "browse"
    weight = 7
    path = "/"
    method = "POST"
    body = "browse"
    timeout_ms = 120000
    [[operation]]
    name = "buy"
    weight = 3
    path = "/"
    method = "POST"
    body = "buy"
    timeout_ms = 120000
"#;

/// A server's own account of what it did.
#[derive(Default)]
struct Served {
    logins: AtomicU64,
    /// Begins with the first request behind the logins.
    stall: OnceLock<(u64, u64)>,
}

impl Served {
    /// A request of such a body came, and can be answered when this returns.
    fn came(&self, body: &[u8]) {
        if body == b"login" {
            self.logins.fetch_add(1, Ordering::Relaxed);
            return;
        }
        let now_ns = monotonic_ns();
        let (_, end_ns) = self.stall.get_or_init(|| (now_ns, now_ns + STALL_NS));
        std::thread::sleep(Duration::from_nanos(end_ns.saturating_sub(now_ns)));
    }
}

/// Loads such servers, each twice as long as the one before, until one has a stall that enough arrivals fell into.
#[track_caller]
fn check(http: Http, users: Option<u32>, serve: impl Fn(Arc<Served>) -> String) {
    for ms in [1_000, 2_000, 4_000, 8_000, 16_000, 32_000] {
        let served = Arc::new(Served::default());
        let scenario = Scenario::parse(SCENARIO, "test.toml").expect("a right scenario");
        let config =
            GeneratorConfig { http, users, ..GeneratorConfig::new(serve(Arc::clone(&served)), scenario, 8) };
        let seed = config.seed;
        let mut generator = Generator::new(config).expect("a right configuration");
        let law = Load::Open { arrivals: ArrivalLaw::Constant, rate_per_s: RATE_PER_S };
        let stop = AtomicBool::new(false);
        let measured = generator.run(&law, Duration::from_millis(ms), &stop, None, &mut |_| ());
        let measured = measured.expect("the server listens");
        if is_true(&measured, &served, seed) {
            assert!(users.is_none_or(|users| users == measured.users), "{} users", measured.users);
            return;
        }
    }
    panic!("no load in which enough arrivals fell into the stall");
}

/// Compares with the truth; says whether it says something.
#[track_caller]
fn is_true(measured: &Measured, served: &Served, seed: u64) -> bool {
    assert_eq!(measured.errors(), 0, "{:?}", measured.problems);
    let starts = &measured.session_starts;
    let logins = served.logins.load(Ordering::Relaxed);
    assert_eq!((starts.times.len(), measured.operations[0].requests), (logins, 0), "{logins} logins");
    let Some((from_ns, until_ns)) = served.stall.get() else { return false };
    let arrivals = ArrivalLaw::Constant.arrivals(RATE_PER_S, seed);
    let intended_ns = arrivals.map(|offset| measured.start_monotonic_ns + offset);
    let mut truth: Vec<u64> = intended_ns
        .take_while(|at| *at < measured.end_monotonic_ns)
        .map(|at| if (from_ns..until_ns).contains(&&at) { until_ns - at } else { 0 })
        .collect();
    truth.sort_unstable();
    let requests = truth.len();
    assert_eq!(measured.requests as usize, requests, "each arrival is a request");
    for (at, true_ns) in truth.iter().enumerate() {
        // The middle of the rank: no rounding of the quotient can reach its neighbours.
        let seen_ns = measured.response.value_at_quantile((at as f64 + 0.5) / requests as f64);
        assert!(
            *true_ns <= seen_ns,
            "request {at} of {requests} by time: {seen_ns} ns, at least {true_ns} ns"
        );
    }
    // Each request is in the figures of its operation, with the same time.
    let mut of_operations = measured.breakdown.operations[0].response.clone();
    for operation in &measured.breakdown.operations[1..] {
        of_operations.add(&operation.response).expect("the same bounds");
    }
    assert_eq!(of_operations, measured.response);
    HELD_MIN <= truth.iter().filter(|ns| 0 < **ns).count()
}

fn http_1(served: Arc<Served>) -> String {
    http::server::serve(move |request| {
        served.came(request.body.as_bytes());
        http::server::ok("x")
    })
}

fn http_2(served: Arc<Served>) -> String {
    let answer = move |request: &http2::server::Request| {
        served.came(&request.body);
        http2::server::ok("x")
    };
    http2::server::serve(http2::server::Settings::default(), answer).url
}

fn web_socket(served: Arc<Served>) -> String {
    let address = websocket::server::serve(move |stream, _| {
        let Some(mut socket) = websocket::server::accept(stream, "/") else { return };
        while let Ok(Message::Text(text)) = socket.read() {
            served.came(text.as_bytes());
            if socket.send(Message::text("yes")).is_err() {
                return;
            }
        }
    });
    format!("ws://{address}/")
}

#[test]
fn arrivals_of_a_stall_wait_to_its_end_over_http_1_1_also_for_users_of_a_fixed_number() {
    check(Http::One, None, http_1);
    check(Http::One, Some(3), http_1);
}

#[test]
fn arrivals_of_a_stall_wait_to_its_end_over_http_2_also_for_users_of_a_fixed_number() {
    check(Http::Two { streams: 2 }, None, http_2);
    check(Http::Two { streams: 2 }, Some(3), http_2);
}

#[test]
fn arrivals_of_a_stall_wait_to_its_end_over_websocket_also_for_users_of_a_fixed_number() {
    check(Http::One, None, web_socket);
    check(Http::One, Some(3), web_socket);
}
