//! Unary calls of gRPC against a server that answers as a test says.

use super::server::{Reply, Request, Server, Settings, serve};
use super::{CLOSED, OPEN, errors, is_fine};
use assay_load::{ErrorKind, Generator, GeneratorConfig, Http, Load, LoadError, Measured, Scenario};
use flate2::Compression;
use flate2::read::{GzDecoder, GzEncoder};
use std::io::Read;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

pub(super) const SHOP: &str = r#"
    syntax = "proto3";
    package shop;
    message Order { string user = 1; int32 count = 2; }
    message Receipt { int32 id = 1; string state = 2; }
    service Orders { rpc Place(Order) returns (Receipt); }
"#;
pub(super) const PLACE: &str = r#"
    schema = "assay.scenario/1"
    name = "test"
    [grpc]
    schema = "shop.proto"
    [values]
    count = { kind = "list", values = [1, 2, 3] }
    [extract]
    id = { operation = "place", json = "/id" }
    [[operation]]
    name = "place"
    grpc = "shop.Orders/Place"
    body = '{"user": "u7", "count": {count}}'
    contains = '"state":"placed"'
    timeout_ms = 120000
    [[operation]]
    name = "again"
    grpc = "shop.Orders/Place"
    body = '{"user": "{id}"}'
    requires = "id"
    otherwise = "place"
    timeout_ms = 120000
"#;

/// The scenario, from files, and as an injector gets it.
fn scenario(text: &str) -> Scenario {
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::write(folder.path().join("shop.proto"), SHOP).expect("room");
    let path = folder.path().join("test.toml");
    std::fs::write(&path, text).expect("room");
    let read = Scenario::read(&path).expect("a right scenario");
    let sent = serde_json::to_string(&read).expect("JSON");
    serde_json::from_str(&sent).expect("the same")
}

pub(super) fn run(
    url: &str,
    text: &str,
    http: Http,
    (load, ms): (&Load, u64),
) -> Result<Measured, LoadError> {
    let config = GeneratorConfig { http, ..GeneratorConfig::new(url, scenario(text), 2) };
    let stop = AtomicBool::new(false);
    Generator::new(config)?.run(load, Duration::from_millis(ms), &stop, None, &mut |_| ())
}

/// Loads, each twice as long as the one before, until one has what a check needs: a machine may stand still for longer than a short load.
pub(super) fn load(
    server: &Server,
    text: &str,
    law: &Load,
    is_enough: impl Fn(&Measured) -> bool,
) -> Measured {
    let mut ms = 200;
    loop {
        let measured =
            run(&server.url, text, Http::Two { streams: 3 }, (law, ms)).expect("the server listens");
        assert_eq!(server.refused.load(Ordering::Relaxed), 0, "frames that the other side refuses");
        if is_enough(&measured) {
            return measured;
        }
        assert!(ms < 100_000, "not enough in {ms} ms: {:?}", measured.problems);
        ms *= 2;
    }
}

fn is_any(measured: &Measured) -> bool {
    0 < measured.requests
}

/// A message with its prefix.
fn framed(message: &[u8]) -> Vec<u8> {
    [&[0], (message.len() as u32).to_be_bytes().as_slice(), message].concat()
}

pub(super) fn reply(message: &[u8], trailers: &[(&'static str, &str)]) -> Reply {
    let trailers = trailers.iter().map(|(name, value)| (*name, (*value).to_owned())).collect();
    Reply::Call { headers: Vec::new(), body: framed(message), trailers }
}

/// Receipt 7, `placed`.
const RECEIPT: &[u8] = b"\x08\x07\x12\x06placed";

pub(super) fn placed() -> Reply {
    reply(RECEIPT, &[("grpc-status", "0")])
}

pub(super) fn is_call(request: &Request) -> bool {
    let is = |name: &str, value: &str| request.headers.get(name).is_some_and(|is| is == value);
    is(":method", "POST") && is("te", "trailers") && is("content-type", "application/grpc")
}

#[test]
fn a_call_is_answered_with_ok_and_its_message_is_checked_and_used() {
    for law in [CLOSED, OPEN] {
        let server = serve(Settings::default(), |request| {
            let is_placed = (1..=3).any(|count| request.body == framed(&[10, 2, b'u', b'7', 16, count]));
            let is_again = request.body == framed(b"\x0a\x017");
            match is_call(request) && request.path() == "/shop.Orders/Place" && (is_placed || is_again) {
                true => placed(),
                false => Reply::Reset(1),
            }
        });
        // What the first answer gave is sent.
        let measured = load(&server, PLACE, &law, |one| one.operations.iter().all(|of| 0 < of.requests));
        is_fine(&measured);
        let figures = measured.breakdown.operations[0].figures(1.0, true);
        let statuses: Vec<_> = figures.statuses.iter().map(|of| (of.status, of.name.as_deref())).collect();
        assert_eq!(statuses, [(0, Some("OK"))]);
    }
}

#[test]
fn an_error_counts_by_the_name_of_its_status_also_without_a_message() {
    let server = serve(Settings::default(), |request| match request.number % 2 {
        0 => reply(b"", &[("grpc-status", "14"), ("grpc-message", "no%20room")]),
        _ => Reply::Answer {
            status: 200,
            headers: vec![("grpc-status", "7".to_owned()), ("content-type", "application/grpc".to_owned())],
            body: Vec::new(),
        },
    });
    let measured = load(&server, PLACE, &CLOSED, |one| 20 < one.requests);
    assert_eq!(errors(&measured, ErrorKind::Status), measured.requests);
    let figures = measured.breakdown.operations[0].figures(1.0, true);
    let names: Vec<_> = figures.statuses.iter().filter_map(|of| of.name.as_deref()).collect();
    assert_eq!(names, ["PERMISSION_DENIED", "UNAVAILABLE"]);
    assert!(figures.statuses.iter().all(|of| of.answers == of.unexpected));
    let texts: Vec<&str> = measured.problems.iter().map(|of| of.text.as_str()).collect();
    assert!(texts.iter().any(|text| text.contains("place answered UNAVAILABLE (14): no room")), "{texts:?}");
    assert!(texts.iter().any(|text| text.contains("answered PERMISSION_DENIED (7)")), "{texts:?}");
}

#[test]
fn an_answer_that_is_no_answer_of_grpc_is_wrong() {
    let plain = |status| Reply::Answer { status, headers: Vec::new(), body: b"hello".to_vec() };
    for (status, said) in [(200, "without a grpc-status"), (503, "answered 503")] {
        let server = serve(Settings::default(), move |_| plain(status));
        let measured = load(&server, PLACE, &CLOSED, is_any);
        assert_eq!(errors(&measured, ErrorKind::Status), measured.requests);
        assert!(measured.problems[0].text.contains(said), "{:?}", measured.problems);
    }
    for (message, said) in [
        (b"\x08".as_slice(), "its body is not a shop.Receipt"),
        (b"\x08\x07", "without \"\\\"state\\\":\\\"placed\\\"\""),
    ] {
        let server = serve(Settings::default(), move |_| reply(message, &[("grpc-status", "0")]));
        let measured = load(&server, PLACE, &CLOSED, is_any);
        assert_eq!(errors(&measured, ErrorKind::Content), measured.requests);
        assert!(measured.problems[0].text.contains(said), "{:?}", measured.problems);
    }
}

/// An answer whose message is said to be compressed.
pub(super) fn packed(message: &[u8], headers: &[(&'static str, &str)]) -> Reply {
    let Reply::Call { mut body, trailers, .. } = reply(message, &[("grpc-status", "0")]) else {
        unreachable!("a call");
    };
    body[0] = 1;
    let headers = headers.iter().map(|(name, value)| (*name, (*value).to_owned())).collect();
    Reply::Call { headers, body, trailers }
}

pub(super) fn gzip(message: &[u8]) -> Vec<u8> {
    let mut packed = Vec::new();
    GzEncoder::new(message, Compression::default()).read_to_end(&mut packed).expect("memory");
    packed
}

#[test]
fn messages_are_compressed_and_unpacked_where_the_scenario_asks_for_it() {
    let text = PLACE.replace(
        "grpc = \"shop.Orders/Place\"",
        "grpc = \"shop.Orders/Place\"\nheaders = { grpc-encoding = \"gzip\", grpc-accept-encoding = \"gzip\" }",
    );
    for law in [CLOSED, OPEN] {
        let server = serve(Settings::default(), |request| {
            let is = |name: &str| request.headers.get(name).is_some_and(|is| is == "gzip");
            let mut message = Vec::new();
            let is_gzip = 5 < request.body.len()
                && request.body == [&[1], &framed(&request.body[5..])[1..]].concat()
                && GzDecoder::new(&request.body[5..]).read_to_end(&mut message).is_ok();
            let is_order = message == b"\x0a\x017" || message.starts_with(b"\x0a\x02u7\x10");
            match is("grpc-encoding") && is("grpc-accept-encoding") && is_gzip && is_order {
                true => packed(&gzip(RECEIPT), &[("grpc-encoding", "gzip")]),
                false => Reply::Reset(1),
            }
        });
        is_fine(&load(&server, &text, &law, |one| one.operations.iter().all(|of| 0 < of.requests)));
    }
}

#[test]
fn a_message_that_cannot_be_unpacked_is_wrong_with_the_reason() {
    let bomb = gzip(&vec![0; 2 << 20]);
    for (message, headers, said) in [
        (gzip(RECEIPT), &[][..], "no grpc-encoding says how"),
        (gzip(RECEIPT), &[("grpc-encoding", "snappy")], "coded by \"snappy\""),
        (RECEIPT.to_vec(), &[("grpc-encoding", "gzip")], "is not gzip"),
        (bomb, &[("grpc-encoding", "gzip")], "1 MiB"),
    ] {
        let server = serve(Settings::default(), move |_| packed(&message, headers));
        let measured = load(&server, PLACE, &CLOSED, is_any);
        assert_eq!(errors(&measured, ErrorKind::Content), measured.requests);
        assert!(measured.problems[0].text.contains(said), "{:?}", measured.problems);
    }
}

#[test]
fn a_value_that_does_not_fit_its_field_is_not_sent() {
    let server = serve(Settings::default(), |_| placed());
    let text = PLACE.replace("values = [1, 2, 3]", "values = [1, \"many\"]");
    let unfit = |one: &Measured| errors(one, ErrorKind::Content);
    let measured = load(&server, &text, &CLOSED, |one| 0 < unfit(one) && unfit(one) < one.requests);
    assert_eq!(unfit(&measured), measured.errors());
    let text = &measured.problems[0].text;
    assert!(text.contains("place not sent: its body is not a shop.Order: "), "{text}");
}

#[test]
fn over_http1_it_is_refused_with_the_option_that_helps() {
    let error = run("http://127.0.0.1:1", PLACE, Http::One, (&CLOSED, 200)).expect_err("no HTTP/2");
    assert!(error.to_string().contains("--http 2"), "{error}");
}
