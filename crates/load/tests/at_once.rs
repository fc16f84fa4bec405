//! As many requests are under way at once as connections and streams carry, with the bounds that the commands have by default: of each
//! protocol, open and closed. Servers hold what comes until they have so many; judged by counts, whoever waits for a processor.

use crate::gate::Gate;
use crate::{chat, http, http2, websocket};
use assay_load::{ArrivalLaw, Generator, GeneratorConfig, Http, Load, Measured, Scenario};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};
use tungstenite::Message;

const OPEN: Load = Load::Open { arrivals: ArrivalLaw::Constant, rate_per_s: 400.0 };
/// Limits that are long enough for a machine that stands still now and then.
const GET: &str = "[[operation]]\nname = \"get\"\npath = \"/\"\ntimeout_ms = 120000\n";

fn closed(users: u32) -> Load {
    Load::Closed { users, think: None }
}

/// The result of a load as the commands make it.
#[track_caller]
fn load(url: &str, scenario: &str, of: (u32, Http), law: &Load) -> Measured {
    load_for(Duration::from_millis(400), url, scenario, of, law)
}

#[track_caller]
fn load_for(
    length: Duration,
    url: &str,
    scenario: &str,
    (connections, http): (u32, Http),
    law: &Load,
) -> Measured {
    let text = format!("schema = \"assay.scenario/1\"\nname = \"test\"\n{scenario}");
    let scenario = Scenario::parse(&text, "test.toml").expect("a right scenario");
    let config = GeneratorConfig { http, ..GeneratorConfig::new(url, scenario, connections) };
    let mut generator = Generator::new(config).expect("a right configuration");
    let stop = AtomicBool::new(false);
    generator.run(law, length, &stop, None, &mut |_| ()).expect("the server listens")
}

#[track_caller]
fn is_all_answered(measured: &Measured, law: &Load) {
    assert!(0 < measured.requests && measured.errors() == 0, "{:?}", measured.problems);
    if let Load::Open { rate_per_s, .. } = law {
        assert_eq!(measured.requests as f64, rate_per_s * 0.4);
    }
}

#[test]
fn http_1_1_has_one_on_each_connection() {
    for law in [OPEN, closed(12)] {
        let gate = Arc::new(Gate::new(12));
        let url = http::server::serve(move |_| {
            gate.pass();
            http::server::ok("x")
        });
        is_all_answered(&load(&url, GET, (12, Http::One), &law), &law);
    }
}

#[test]
fn websocket_has_one_on_each_connection() {
    const ASK: &str = "[[operation]]\nname = \"ask\"\npath = \"/\"\nbody = \"x\"\ntimeout_ms = 120000\n";
    for law in [OPEN, closed(12)] {
        let gate = Arc::new(Gate::new(12));
        let address = websocket::server::serve(move |stream, _| {
            let Some(mut socket) = websocket::server::accept(stream, "/") else { return };
            while let Ok(Message::Text(_)) = socket.read() {
                gate.pass();
                if socket.send(Message::text("yes")).is_err() {
                    return;
                }
            }
        });
        is_all_answered(&load(&format!("ws://{address}/"), ASK, (12, Http::One), &law), &law);
    }
}

/// Serves HTTP/2 and holds requests until so many are under way.
fn held(wanted: usize, settings: http2::server::Settings) -> http2::server::Server {
    let gate = Arc::new(Gate::new(wanted));
    http2::server::serve(settings, move |_| {
        gate.hold();
        let gate = Arc::clone(&gate);
        http2::server::Reply::Once(Box::new(move || gate.is_open()), Box::new(http2::server::ok("x")))
    })
}

#[test]
fn http_2_has_as_many_as_connections_have_streams() {
    for law in [OPEN, closed(20)] {
        let server = held(20, http2::server::Settings::default());
        is_all_answered(&load(&server.url, GET, (4, Http::Two { streams: 5 }), &law), &law);
        assert_eq!(server.open_max.load(Ordering::Relaxed), 5);
    }
}

#[test]
fn http_2_has_as_many_as_the_server_allows() {
    for law in [OPEN, closed(20)] {
        let settings = http2::server::Settings { streams_max: Some(3), ..Default::default() };
        let server = held(12, settings);
        is_all_answered(&load(&server.url, GET, (4, Http::Two { streams: 5 }), &law), &law);
        assert_eq!(server.open_max.load(Ordering::Relaxed), 3);
    }
}

#[test]
fn users_of_a_chat_have_as_many_as_their_connections_have_streams() {
    const ROOM: &str = "[chat]\nroom_users = 3\ntimeout_ms = 120000\n";
    const STREAMS: u64 = 8;
    for (law, messages) in [(OPEN, 6 * STREAMS), (closed(6), 6)] {
        let deliveries = 2 * messages;
        let url = chat::server::serve(move |delivery| match delivery {
            _ if delivery < deliveries => chat::server::Fault::Holds,
            _ if delivery == deliveries => chat::server::Fault::Opens,
            _ => chat::server::Fault::None,
        });
        is_all_answered(&load(&url, ROOM, (6, Http::One), &law), &law);
    }
}

/// Of ten requests on a connection one is never answered: it alone fails.
#[test]
fn a_slow_stream_fails_only_its_own_requests() {
    const BOTH: &str = "[[operation]]\nname = \"slow\"\npath = \"/slow\"\nweight = 1\ntimeout_ms = 50\n\
                        [[operation]]\nname = \"get\"\npath = \"/\"\nweight = 9\ntimeout_ms = 120000\n";
    for law in [OPEN, closed(10)] {
        let slow = Arc::new(AtomicU64::new(0));
        let counted = Arc::clone(&slow);
        let server =
            http2::server::serve(http2::server::Settings::default(), move |request| match request.path() {
                "/slow" => {
                    counted.fetch_add(1, Ordering::Relaxed);
                    http2::server::Reply::Silence
                }
                _ => http2::server::ok("x"),
            });
        let measured = load(&server.url, BOTH, (1, Http::Two { streams: 10 }), &law);
        let [of_slow, of_get] = [0, 1].map(|at| &measured.operations[at]);
        assert!(0 < of_slow.errors && of_slow.errors == of_slow.requests, "{:?}", measured.problems);
        assert!(0 < of_get.requests && of_get.errors == 0, "{:?}", measured.problems);
        assert!(slow.load(Ordering::Relaxed) <= of_slow.requests);
    }
}

/// 10 connections of 10 streams to a server that takes 50 ms carry up to 2,000 requests a second, each in about that time.
#[test]
#[ignore = "long: judges times, on a quiet machine"]
fn requests_on_free_streams_take_as_long_as_the_server() {
    let server = http2::server::serve(http2::server::Settings::default(), |_| {
        let due = Instant::now() + Duration::from_millis(50);
        http2::server::Reply::Once(Box::new(move || due <= Instant::now()), Box::new(http2::server::ok("x")))
    });
    for (rate_per_s, p95_ms, p99_ms) in [(160.0, 60, 70), (1_600.0, 70, 90)] {
        let law = Load::Open { arrivals: ArrivalLaw::Poisson, rate_per_s };
        let of = (10, Http::Two { streams: 10 });
        let measured = load_for(Duration::from_secs(5), &server.url, GET, of, &law);
        assert_eq!(measured.errors(), 0, "{:?}", measured.problems);
        let ms = |quantile| measured.response.value_at_quantile(quantile) / 1_000_000;
        assert!(ms(0.95) <= p95_ms && ms(0.99) <= p99_ms, "{rate_per_s}: {} and {} ms", ms(0.95), ms(0.99));
        assert!(50 <= ms(0.0), "no answer came before it was due");
    }
}
