//! Chat against a server that forwards what is said, and does wrong what a test tells it to.

pub mod server;

use crate::certificates::Authority;
use crate::websocket::server as websocket;
use assay_load::{
    ArrivalLaw, Deliveries, Generator, GeneratorConfig, Load, LoadError, Measured, Scenario, TlsOptions,
};
use assay_model::Protocol;
use rustls::ServerConnection;
use server::{Fault, serve};
use std::io::{ErrorKind, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;
use tungstenite::Message;

const ROOM: &str = "schema = \"assay.scenario/1\"\nname = \"chat\"\n[chat]\nroom_users = 3\n";
const CLOSED: Load = Load::Closed { users: 6, think: Some(Duration::from_millis(2)) };
const OPEN: Load = Load::Open { arrivals: ArrivalLaw::Constant, rate_per_s: 200.0 };

fn load(url: &str, scenario: &str, connections: u32, load: &Load) -> Result<Measured, LoadError> {
    let scenario = Scenario::parse(scenario, "test.toml")?;
    let mut generator = Generator::new(GeneratorConfig::new(url, scenario, connections))?;
    generator.run(load, Duration::from_millis(500), &AtomicBool::new(false), None, &mut |_| ())
}

fn chat(plan: impl Fn(u64) -> Fault + Send + Sync + 'static, law: &Load) -> (Measured, Deliveries) {
    let measured = load(&serve(plan), ROOM, 6, law).expect("a stretch");
    let deliveries = measured.deliveries.clone().expect("those of a chat");
    (measured, deliveries)
}

#[test]
fn each_message_comes_to_all_others_of_its_room_in_closed_and_open_loop() {
    for law in [CLOSED, OPEN] {
        let (measured, deliveries) = chat(|_| Fault::None, &law);
        assert!(0 < measured.completed && measured.errors() == 0, "{:?}", measured.problems);
        assert_eq!((deliveries.sent, deliveries.due), (measured.requests, 2 * measured.requests));
        assert_eq!((deliveries.delivered, deliveries.times.len()), (deliveries.due, deliveries.due));
        assert_eq!((deliveries.lost(), deliveries.cut_off, deliveries.wrong()), (0, 0, None));
        // The last delivery of a message is its answer.
        assert_eq!(measured.response.max(), deliveries.times.max());
        let result = measured.result();
        let stored = result.deliveries.expect("those of a chat");
        assert_eq!((stored.delivered, stored.lost), (deliveries.delivered, 0));
        assert!(stored.rate_per_s.is_some_and(|rate| 0.0 < rate) && stored.ms.p99.is_some());
    }
}

/// Speaks TLS with clients, and passes on what they say to a server that does not.
fn tls_before(url: &str, authority: &Authority) -> String {
    let server = url.strip_prefix("chat://").expect("a plain chat").to_owned();
    let config = authority.server(&authority.certify(&["localhost"], 2200), false);
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let port = listener.local_addr().expect("bound").port();
    std::thread::spawn(move || {
        for client in listener.incoming().flatten() {
            let tls = ServerConnection::new(Arc::clone(&config)).expect("a configuration");
            let server = TcpStream::connect(&server).expect("it listens");
            std::thread::spawn(move || pass_on(client, tls, server));
        }
    });
    format!("chats://localhost:{port}")
}

fn pass_on(mut client: TcpStream, mut tls: ServerConnection, mut server: TcpStream) -> Option<()> {
    for stream in [&client, &server] {
        stream.set_nonblocking(true).ok()?;
    }
    let mut bytes = [0; 4096];
    loop {
        match tls.read_tls(&mut client) {
            Ok(0) => return None,
            Ok(_) => {
                tls.process_new_packets().ok()?;
            }
            Err(error) if error.kind() == ErrorKind::WouldBlock => (),
            Err(_) => return None,
        }
        while let Ok(count @ 1..) = tls.reader().read(&mut bytes) {
            server.write_all(&bytes[..count]).ok()?;
        }
        match server.read(&mut bytes) {
            Ok(0) => return None,
            Ok(count) => tls.writer().write_all(&bytes[..count]).ok()?,
            Err(error) if error.kind() == ErrorKind::WouldBlock => (),
            Err(_) => return None,
        }
        while tls.wants_write() {
            tls.write_tls(&mut client).ok()?;
        }
        std::thread::sleep(Duration::from_micros(200));
    }
}

#[test]
fn a_chat_over_tls_is_audited_alike() {
    let authority = Authority::new("test");
    let url =
        tls_before(&serve(|number| if number == 50 { Fault::Repeats } else { Fault::None }), &authority);
    let tls = TlsOptions::default().with_files(Some(&authority.trust()), (None, None)).expect("its file");
    let scenario = Scenario::parse(ROOM, "test.toml").expect("a chat");
    let config = GeneratorConfig { tls, ..GeneratorConfig::new(url, scenario, 6) };
    let mut generator = Generator::new(config).expect("a good configuration");
    let length = Duration::from_millis(500);
    let measured = generator.run(&OPEN, length, &AtomicBool::new(false), None, &mut |_| ());
    let measured = measured.expect("a stretch");
    let deliveries = measured.deliveries.clone().expect("those of a chat");
    assert_eq!((measured.errors(), measured.handshakes.times.len()), (0, 6), "{:?}", measured.problems);
    assert_eq!((deliveries.lost(), deliveries.duplicated), (0, 1), "{}", shown(&deliveries));
    // Connections and numbers go on; the audit of each stretch is its own.
    let again = generator.run(&OPEN, length, &AtomicBool::new(false), None, &mut |_| ()).expect("a stretch");
    let deliveries = again.deliveries.clone().expect("those of a chat");
    assert_eq!((again.handshakes.times.len(), deliveries.wrong()), (0, None), "{}", shown(&deliveries));
    assert_eq!(deliveries.due, 2 * again.requests);
}

/// Speaks WebSocket with clients, and passes on what they say to a server that does not.
fn websocket_before(url: &str) -> String {
    let server = url.strip_prefix("chat://").expect("a plain chat").to_owned();
    let address = websocket::serve(move |client, _| {
        pass_messages_on(client, &server);
    });
    format!("chat+ws://{address}")
}

fn pass_messages_on(client: TcpStream, server: &str) -> Option<()> {
    let mut socket = websocket::accept(client, "/chat")?;
    let mut server = TcpStream::connect(server).ok()?;
    for stream in [socket.get_ref(), &server] {
        stream.set_nonblocking(true).ok()?;
    }
    let is_waiting = |error: &tungstenite::Error| match error {
        tungstenite::Error::Io(error) => error.kind() == ErrorKind::WouldBlock,
        _ => false,
    };
    let (mut bytes, mut lines) = ([0; 4096], Vec::new());
    loop {
        match socket.read() {
            Ok(Message::Text(text)) => server.write_all(format!("{text}\n").as_bytes()).ok()?,
            Err(error) if is_waiting(&error) => (),
            Ok(_) | Err(_) => return None,
        }
        match server.read(&mut bytes) {
            Ok(0) => return None,
            Ok(count) => lines.extend_from_slice(&bytes[..count]),
            Err(error) if error.kind() == ErrorKind::WouldBlock => (),
            Err(_) => return None,
        }
        while let Some(end) = lines.iter().position(|byte| *byte == b'\n') {
            let line: Vec<u8> = lines.drain(..=end).collect();
            let text = String::from_utf8(line).ok()?;
            match socket.send(Message::text(text.trim_end())) {
                Ok(()) => (),
                Err(error) if is_waiting(&error) => (),
                Err(_) => return None,
            }
        }
        let _ = socket.flush();
        std::thread::sleep(Duration::from_micros(200));
    }
}

#[test]
fn a_chat_over_websocket_is_audited_alike() {
    for law in [CLOSED, OPEN] {
        let url = websocket_before(&serve(|_| Fault::None));
        let measured = load(&url, ROOM, 6, &law).expect("a stretch");
        let deliveries = measured.deliveries.clone().expect("those of a chat");
        assert!(0 < measured.completed && measured.errors() == 0, "{:?}", measured.problems);
        assert_eq!(
            (deliveries.wrong(), deliveries.due),
            (None, 2 * measured.requests),
            "{}",
            shown(&deliveries)
        );
        let told = measured.result().protocol.expect("it was spoken");
        assert_eq!((told.name, told.closed_by_server), (Protocol::ChatWebSocket, 0));
    }
    let url = websocket_before(&serve(|number| if number == 50 { Fault::Repeats } else { Fault::None }));
    let deliveries = load(&url, ROOM, 6, &OPEN).expect("a stretch").deliveries.expect("those of a chat");
    assert_eq!((deliveries.lost(), deliveries.duplicated), (0, 1), "{}", shown(&deliveries));
}

/// What never comes is waited for no longer.
const IMPATIENT: &str =
    "schema = \"assay.scenario/1\"\nname = \"chat\"\n[chat]\nroom_users = 3\ntimeout_ms = 3000\n";

/// Without the histogram.
fn shown(deliveries: &Deliveries) -> String {
    format!("{:?} of {} due, {} delivered", deliveries.wrong(), deliveries.due, deliveries.delivered)
}

#[track_caller]
fn check(fault: Fault, want: [u64; 3], said: &str) {
    let url = serve(move |number| if number == 50 { fault } else { Fault::None });
    let measured = load(&url, IMPATIENT, 6, &OPEN).expect("a stretch");
    let deliveries = measured.deliveries.clone().expect("those of a chat");
    assert_eq!(
        [deliveries.lost(), deliveries.duplicated, deliveries.out_of_order],
        want,
        "{}",
        shown(&deliveries)
    );
    let result = measured.result();
    assert!(!result.valid);
    assert!(result.problems.iter().any(|problem| problem.text.contains(said)), "{:?}", result.problems);
}

#[test]
fn a_lost_delivery_is_found() {
    check(Fault::Loses, [1, 0, 0], "1 were lost, 0 came twice, 0 were out of order");
}

#[test]
fn a_delivery_that_comes_twice_is_found() {
    check(Fault::Repeats, [0, 1, 0], "0 were lost, 1 came twice, 0 were out of order");
}

/// The one behind which it is sent may be another user's, whose order it does not touch; so many are.
#[test]
fn a_delivery_out_of_order_is_found() {
    let url = serve(|number| if number % 5 == 0 { Fault::Delays } else { Fault::None });
    let fast = Load::Open { arrivals: ArrivalLaw::Constant, rate_per_s: 20_000.0 };
    let measured = load(&url, IMPATIENT, 3, &fast).expect("a stretch");
    let deliveries = measured.deliveries.clone().expect("those of a chat");
    assert!(0 < deliveries.out_of_order, "{}", shown(&deliveries));
    assert!(!measured.result().valid);
}

#[test]
fn what_is_due_to_a_user_who_was_disconnected_is_not_lost_and_the_user_comes_back() {
    let url = serve(|number| if number == 50 { Fault::Ends } else { Fault::None });
    let measured = load(&url, IMPATIENT, 6, &OPEN).expect("a stretch");
    let deliveries = measured.deliveries.clone().expect("those of a chat");
    assert!(1 <= deliveries.cut_off && deliveries.wrong().is_none(), "{}", shown(&deliveries));
    assert_eq!(deliveries.due, deliveries.delivered + deliveries.cut_off);
    // All three of its room are there again: most messages are due to two.
    assert!(measured.requests * 2 - 20 < deliveries.due, "{} of {}", shown(&deliveries), measured.requests);
}

/// 100 requests a second stall for 200 ms: who should have spoken meanwhile waited, and the deliveries with it.
#[test]
fn a_stall_is_in_the_times_of_all_deliveries_that_it_kept() {
    let stall = |number| {
        if number == 60 {
            std::thread::sleep(Duration::from_millis(200));
        }
        Fault::None
    };
    let (measured, deliveries) = chat(stall, &OPEN);
    assert_eq!(measured.errors(), 0, "{:?}", measured.problems);
    // The server stands still for a fifth of a second of the half one, for one room: of the deliveries that were to come then, half waited
    // for more than a tenth.
    let late = deliveries.times.count_between(100_000_000, 400_000_000);
    assert!(15 <= late, "{late} of {}", deliveries.times.len());
}

#[test]
fn what_cannot_be_a_chat_says_why() {
    let url = serve(|_| Fault::None);
    let get = "schema = \"assay.scenario/1\"\nname = \"n\"\n[[operation]]\nname = \"get\"\npath = \"/\"\n";
    let both = format!("{get}[chat]\n");
    let one = "schema = \"assay.scenario/1\"\nname = \"n\"\n[chat]\nroom_users = 1\n";
    let long = "schema = \"assay.scenario/1\"\nname = \"n\"\n[chat]\nmessage_bytes = 897\n";
    for (url, scenario, connections, why) in [
        (url.as_str(), ROOM, 5, "connections = 5: use a multiple of 3, the users of a room"),
        (url.as_str(), get, 6, "has no [chat]"),
        ("http://127.0.0.1:1", ROOM, 6, "it begins with chat://, chats://, chat+ws://"),
        (url.as_str(), &both, 6, "[[operation]] and [chat] exclude each other"),
        (url.as_str(), one, 6, "room_users 1 is not from 2 to 1000"),
        (url.as_str(), long, 6, "message_bytes 897 is not from 1 to 896"),
    ] {
        let error = load(url, scenario, connections, &OPEN).expect_err(why).to_string();
        assert!(error.contains(why), "{error}");
    }
    let error = load(&url, ROOM, 3, &CLOSED).expect_err("too few").to_string();
    assert_eq!(error, "users = 6: use at most as many as there are connections, since each has its own");
}
