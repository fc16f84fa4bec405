//! WebSocket against tungstenite, which refuses what is not.

pub mod server;

use crate::certificates::Authority;
use assay_load::{
    ArrivalLaw, ErrorKind, Generator, GeneratorConfig, Http, Load, LoadError, Measured, Scenario, TlsOptions,
};
use assay_model::Protocol;
use rustls::{ServerConnection, StreamOwned};
use server::{accept, serve};
use std::net::TcpStream;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use tungstenite::protocol::CloseFrame;
use tungstenite::protocol::frame::coding::CloseCode;
use tungstenite::{Message, WebSocket};

/// Time enough for a machine that stands still now and then.
const ASK: &str = "[values.n]\nkind = \"range\"\nfrom = 1\nto = 9\n[[operation]]\nname = \"ask\"\npath = \"/\"\nbody = '{\"ask\":{n}}'\n\
                   contains = '\"answer\"'\ntimeout_ms = 120000\n";
const CLOSED: Load = Load::Closed { users: 4, think: None };
const OPEN: Load = Load::Open { arrivals: ArrivalLaw::Constant, rate_per_s: 400.0 };

fn config(url: &str, scenario: &str) -> GeneratorConfig {
    let text = format!("schema = \"assay.scenario/1\"\nname = \"test\"\n{scenario}");
    GeneratorConfig::new(url, Scenario::parse(&text, "test.toml").expect("a right scenario"), 4)
}

fn run(config: GeneratorConfig, load: &Load) -> Result<Measured, LoadError> {
    let stop = AtomicBool::new(false);
    Generator::new(config)?.run(load, Duration::from_millis(400), &stop, None, &mut |_| ())
}

fn errors(measured: &Measured, kind: ErrorKind) -> u64 {
    let at = ErrorKind::ALL.iter().position(|known| *known == kind).expect("listed");
    measured.errors_by_kind[at]
}

#[track_caller]
fn is_fine(measured: &Measured) {
    assert!(0 < measured.requests && measured.errors() == 0, "{:?}", measured.problems);
}

/// Answers as `reply` says, until it says nothing; the first number is that of the connection.
fn talk(reply: impl Fn(u64, u64, &str) -> Vec<Message> + Send + Sync + 'static) -> String {
    serve(move |stream, connection| {
        let Some(mut socket) = accept(stream, "/ws") else { return };
        for number in 0.. {
            let Some(text) = heard(&mut socket) else { return };
            let replies = reply(connection, number, &text);
            if replies.is_empty() {
                return;
            }
            for message in replies {
                if socket.send(message).is_err() {
                    return;
                }
            }
        }
    })
}

fn heard(socket: &mut WebSocket<TcpStream>) -> Option<String> {
    loop {
        match socket.read().ok()? {
            Message::Text(text) => return Some(text.to_string()),
            Message::Pong(_) => (),
            other => panic!("a client that says {other:?}"),
        }
    }
}

fn answer() -> Message {
    Message::text("{\"answer\":1}")
}

#[test]
fn messages_are_answered_in_closed_and_open_loop() {
    for law in [CLOSED, OPEN] {
        let url = talk(|_, _, text| {
            assert!(text.starts_with("{\"ask\":"), "{text}");
            vec![Message::Ping(b"there?".as_slice().into()), answer()]
        });
        let measured = run(config(&format!("ws://{url}/ws"), ASK), &law).expect("it listens");
        is_fine(&measured);
        let told = measured.result().protocol.expect("it was spoken");
        assert_eq!((told.name, told.streams), (Protocol::WebSocket, 1));
        assert!(told.opening_ms.is_some_and(|ms| ms.p50.is_some()));
        assert_eq!(measured.spoken.openings.len(), 4);
    }
}

/// A server that answers after 20 ms, and sends something else before.
#[test]
fn what_the_server_pushes_is_no_answer() {
    for law in [CLOSED, OPEN] {
        let url = talk(|_, _, _| {
            let pushed = || Message::text("{\"tick\":1}");
            vec![pushed(), pushed(), answer()]
        });
        let slow = serve(|stream, _| {
            let Some(mut socket) = accept(stream, "/ws") else { return };
            while heard(&mut socket).is_some() {
                let sent = socket.send(Message::text("{\"tick\":1}"));
                std::thread::sleep(Duration::from_millis(20));
                if sent.and_then(|()| socket.send(answer())).is_err() {
                    return;
                }
            }
        });
        for (url, of_each) in [(url, 2), (slow, 1)] {
            let measured = run(config(&format!("ws://{url}/ws"), ASK), &law).expect("it listens");
            is_fine(&measured);
            assert_eq!(measured.spoken.pushed, of_each * measured.requests);
            let told = measured.result().protocol.expect("it was spoken");
            assert_eq!(told.pushed_by_server, Some(of_each * measured.requests));
            assert!(
                of_each != 1 || 20_000_000 <= measured.response.min(),
                "the push was taken for the answer"
            );
        }
    }
}

/// Messages that nobody waits for are counted as well.
#[test]
fn what_comes_behind_the_answer_is_pushed_too() {
    let url = talk(|_, _, _| vec![answer(), Message::text("{\"tick\":1}")]);
    let measured = run(config(&format!("ws://{url}/ws"), ASK), &CLOSED).expect("it listens");
    is_fine(&measured);
    // The last one of each connection may come when nobody listens any more.
    assert!(measured.requests - 4 <= measured.spoken.pushed && measured.spoken.pushed <= measured.requests);
}

#[test]
fn one_time_messages_wait_for_their_answer_too() {
    const SETUP: &str = "setup = [\"first\"]\n[extract.token]\noperation = \"first\"\nafter = \"<\"\nbefore = \">\"\n\
                         [[operation]]\nname = \"first\"\nweight = 0\npath = \"/\"\nbody = \"first\"\ncontains = \"<\"\n\
                         [[operation]]\nname = \"ask\"\npath = \"/\"\nbody = \"{token}\"\ncontains = \"yes\"\n";
    let url = talk(|_, _, text| {
        let answer = match text {
            "first" => "<t>",
            "t" => "yes",
            _ => "no",
        };
        vec![Message::text("tick"), Message::text(answer)]
    });
    is_fine(&run(config(&format!("ws://{url}/ws"), SETUP), &CLOSED).expect("it listens"));
}

#[test]
fn a_wrong_answer_and_none_are_told_apart() {
    const IMPATIENT: &str =
        "[[operation]]\nname = \"ask\"\npath = \"/\"\nbody = \"x\"\ncontains = \"right\"\ntimeout_ms = 50\n";
    // A connection without its answer is given up.
    let url = talk(|connection, _, _| match connection % 4 {
        0 => vec![Message::text("wrong")],
        1 => vec![Message::Ping(b"".as_slice().into())],
        _ => vec![Message::text("right")],
    });
    let measured = run(config(&format!("ws://{url}/ws"), IMPATIENT), &CLOSED).expect("it listens");
    let [content, timeout] = [ErrorKind::Content, ErrorKind::Timeout].map(|kind| errors(&measured, kind));
    assert!(0 < content && 0 < timeout && content + timeout == measured.errors(), "{:?}", measured.problems);
    let said = "1 message within 50 ms, none of them the answer; the last: answered 200 without \"right\"";
    assert!(measured.problems.iter().any(|problem| problem.text.contains(said)), "{:?}", measured.problems);
}

#[test]
fn a_server_that_closes_is_told_with_its_code_and_the_connection_opened_anew() {
    let url = talk(|_, number, _| match number {
        9 => {
            let frame = CloseFrame { code: CloseCode::Restart, reason: "later".into() };
            vec![Message::Close(Some(frame))]
        }
        _ => vec![answer()],
    });
    let measured = run(config(&format!("ws://{url}/ws"), ASK), &CLOSED).expect("it listens");
    let broken = errors(&measured, ErrorKind::Broken);
    assert!(0 < broken && broken == measured.errors(), "{:?}", measured.problems);
    assert!(8 * broken < measured.requests);
    assert!(
        measured.problems[0].text.contains("with code 1012 (service restart), and says \"later\""),
        "{:?}",
        measured.problems
    );
    let result = measured.result();
    let closed = result.protocol.expect("it was spoken").closed_by_code;
    let [of] = closed.as_slice() else { panic!("one code: {closed:?}") };
    assert_eq!((of.code_and_name().as_str(), of.connections), ("1012 (service restart)", broken));
    let said = "with 1012 (service restart); it restarted within the run";
    assert!(result.problems.iter().any(|problem| problem.text.ends_with(said)), "{:?}", result.problems);
}

#[test]
fn what_cannot_be_a_websocket_says_why() {
    let url = talk(|_, _, _| vec![answer()]);
    let why = |config: GeneratorConfig| run(config, &CLOSED).expect_err("wrong").to_string();
    assert!(why(config(&format!("ws://{url}/other"), ASK)).contains("it answers 404"));
    let get = "[[operation]]\nname = \"get\"\npath = \"/\"\n";
    assert!(
        why(config(&format!("ws://{url}/ws"), get))
            .contains("operation \"get\" says nothing: give it a body")
    );
    let two = GeneratorConfig { http: Http::Two { streams: 1 }, ..config(&format!("ws://{url}/ws"), ASK) };
    assert!(why(two).contains("leave --http out"));
}

#[test]
fn over_tls_it_is_the_same() {
    let authority = Authority::new("test");
    let server = authority.server(&authority.certify(&["localhost"], 2200), false);
    let url = serve(move |stream, _| {
        let stream =
            StreamOwned::new(ServerConnection::new(Arc::clone(&server)).expect("a configuration"), stream);
        let Some(mut socket) = accept(stream, "/") else { return };
        while let Ok(Message::Text(_)) = socket.read() {
            if socket.send(answer()).is_err() {
                return;
            }
        }
    });
    let url = url.replace("127.0.0.1", "wss://localhost");
    let tls = TlsOptions::default().with_files(Some(&authority.trust()), (None, None)).expect("its file");
    let measured = run(GeneratorConfig { tls, ..config(&url, ASK) }, &CLOSED).expect("a stretch");
    is_fine(&measured);
    assert_eq!((measured.handshakes.times.len(), measured.spoken.openings.len()), (4, 4));
}

/// A server that stands still for 200 ms of 400: who should have been asked meanwhile waited.
#[test]
fn a_stall_is_in_the_response_times_of_all_requests_that_it_kept() {
    let is_over = AtomicBool::new(false);
    let stall = std::sync::RwLock::new(());
    let url = talk(move |_, number, _| {
        if number == 15 && !is_over.swap(true, Ordering::Relaxed) {
            let _all = stall.write();
            std::thread::sleep(Duration::from_millis(200));
        }
        let _one = stall.read();
        vec![answer()]
    });
    let measured = run(config(&format!("ws://{url}/ws"), ASK), &OPEN).expect("it listens");
    is_fine(&measured);
    // 80 requests were to start in the stall; half of them waited for more than a tenth of a second.
    let late = measured.response.count_between(100_000_000, 60_000_000_000);
    assert!(35 <= late, "{late} of {}", measured.response.len());
}
