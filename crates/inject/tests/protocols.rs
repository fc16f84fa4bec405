//! Injectors speak what a generator speaks, and what was spoken adds up.

use crate::http2_server;
use crate::places::{InjectorThread, config};
use crate::websocket_server;
use assay_inject::{Injectors, InjectorsConfig};
use assay_load::{
    ArrivalLaw, GeneratorConfig, Http, Load, LoadSource, LoadWindow, Measured, Scenario, for_url,
};
use assay_model::Protocol;
use assay_testkit::CountingServer;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;
use tungstenite::Message;

const OPEN: Load = Load::Open { arrivals: ArrivalLaw::Constant, rate_per_s: 200.0 };
const CLOSED: Load = Load::Closed { users: 8, think: Some(Duration::from_millis(5)) };

/// A window that two injectors make.
fn window(load: GeneratorConfig, law: Load) -> Measured {
    let (server, injectors) = (CountingServer::start(), InjectorThread::group(2));
    let addresses: Vec<_> = injectors.iter().map(|one| one.address).collect();
    let usual = config(&server, &addresses);
    let mut group = Injectors::connect(InjectorsConfig { load, ..usual }).expect("injectors that listen");
    let (settle, length) = (Duration::ZERO, Duration::from_millis(500));
    let window = LoadWindow { load: law, settle, length, slow_above: None };
    group.window(&window, &AtomicBool::new(false), &mut |_| ()).expect("a window")
}

#[test]
fn injectors_speak_http_2_and_count_what_the_server_ends() {
    for law in [OPEN, CLOSED] {
        let count = Arc::new(AtomicU64::new(0));
        let seen = Arc::clone(&count);
        let settings = http2_server::Settings { streams_max: Some(3), ..http2_server::Settings::default() };
        let server = http2_server::serve(settings, move |request| {
            seen.fetch_add(1, Ordering::Relaxed);
            if request.number == 5 { http2_server::Reply::GoAway(0) } else { http2_server::ok("x") }
        });
        let (_, scenario) = for_url(&server.url).expect("a good URL");
        let load = GeneratorConfig {
            http: Http::Two { streams: 4 },
            ..GeneratorConfig::new(server.url.as_str(), scenario, 4)
        };
        let measured = window(load, law);
        assert!(0 < measured.requests && measured.errors() == 0, "{:?}", measured.problems);
        assert_eq!(server.refused.load(Ordering::Relaxed), 0);
        // Of what was sent to a server that had left it may have seen nothing.
        let seen = count.load(Ordering::Relaxed);
        assert!((measured.requests..=measured.requests + measured.sent_again).contains(&seen), "{seen}");
        let told = measured.result().protocol.expect("it was spoken");
        assert_eq!((told.name, told.streams, told.streams_allowed_min), (Protocol::Http2, 4, Some(3)));
        assert!(4 <= told.closed_by_server && 4 <= measured.spoken.openings.len());
    }
}

#[test]
fn injectors_speak_websocket() {
    for law in [OPEN, CLOSED] {
        let count = Arc::new(AtomicU64::new(0));
        let seen = Arc::clone(&count);
        let address = websocket_server::serve(move |stream, _| {
            let Some(mut socket) = websocket_server::accept(stream, "/") else { return };
            while let Ok(Message::Text(_)) = socket.read() {
                seen.fetch_add(1, Ordering::Relaxed);
                if socket.send(Message::text("yes")).is_err() {
                    return;
                }
            }
        });
        let text = "schema = \"assay.scenario/1\"\nname = \"ask\"\n[[operation]]\nname = \"ask\"\npath = \"/\"\nbody = \"x\"\ncontains = \"yes\"\n";
        let scenario = Scenario::parse(text, "test").expect("a scenario");
        let measured = window(GeneratorConfig::new(format!("ws://{address}"), scenario, 8), law);
        assert!(0 < measured.requests && measured.errors() == 0, "{:?}", measured.problems);
        assert_eq!(measured.requests, count.load(Ordering::Relaxed));
        let told = measured.result().protocol.expect("it was spoken");
        assert_eq!((told.name, measured.spoken.openings.len()), (Protocol::WebSocket, 8));
    }
}
