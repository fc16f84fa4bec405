//! Servers that compress what they answer.

use super::server::{Reply, closed, errors, generator, run_until, serve, status};
use assay_load::{ErrorKind, Measured};
use flate2::Compression;
use flate2::write::GzEncoder;
use std::io::Write;

const BODY: &[u8] = br#"{"id":17,"token":"tok-778","state":"ordered"}"#;

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(bytes).expect("memory");
    encoder.finish().expect("memory")
}

fn coded(status: u16, coding: &str, body: &[u8]) -> Reply {
    let head = format!(
        "HTTP/1.1 {status} X\r\nContent-Encoding: {coding}\r\nContent-Length: {}\r\n\r\n",
        body.len()
    );
    Reply::Bytes([head.as_bytes(), body].concat())
}

#[test]
fn compressed_answers_are_checked_and_values_are_taken_from_them() {
    const SCENARIO: &str = r#"
        [session]
        start = ["gz"]
        [extract]
        tok = { operation = "gz", json = "/token" }
        [[operation]]
        name = "gz"
        path = "/gzip"
        headers = { Accept-Encoding = "gzip" }
        contains = "ordered"
        [[operation]]
        name = "use"
        path = "/query?t={tok}"
        requires = "tok"
        otherwise = "gz"
        contains = "{tok}"
    "#;
    let url = serve(|request| match request.line.split(' ').nth(1) {
        Some("/gzip") if request.headers.get("accept-encoding").is_some_and(|coding| coding == "gzip") => {
            coded(200, "gzip", &gzip(BODY))
        }
        Some("/query?t=tok-778") if !request.headers.contains_key("accept-encoding") => {
            status(200, "", "tok-778")
        }
        _ => status(400, "", "wrong"),
    });
    let are_there = |measured: &Measured| measured.operations.iter().all(|one| 0 < one.requests);
    let measured = run_until(&mut generator(&url, SCENARIO, 2), &closed(2), 100, are_there);
    assert_eq!(measured.errors(), 0, "{:?}", measured.problems);
}

/// What a run says of answers that are all wrong in the same way.
fn said(kind: ErrorKind, status: u16, coding: &'static str, body: Vec<u8>) -> String {
    let url = serve(move |_| coded(status, coding, &body));
    let scenario = "[[operation]]\nname = \"a\"\npath = \"/\"\ncontains = \"sold\"";
    let measured =
        run_until(&mut generator(&url, scenario, 1), &closed(1), 50, |measured| 0 < measured.requests);
    assert_eq!(errors(&measured, kind), measured.requests, "{:?}", measured.problems);
    // Without how often.
    let text = &measured.problems[0].text;
    text.rsplit_once(" (").map_or(text.as_str(), |(what, _)| what).to_owned()
}

#[test]
fn a_wrong_answer_is_shown_decoded_and_what_cannot_be_decoded_is_named() {
    let text = said(ErrorKind::Content, 200, "gzip", gzip(b"Nothing was ordered"));
    assert_eq!(text, "content: a answered 200 without \"sold\" in its gzip body: Nothing was ordered");
    let text = said(ErrorKind::Status, 503, "gzip", gzip(b"Too busy"));
    assert_eq!(text, "status: a answered 503: Too busy");
    let text = said(ErrorKind::Content, 200, "compress", vec![1, 2, 3]);
    assert!(
        text.ends_with("its body is coded by \"compress\", which is none of gzip, deflate, br and zstd"),
        "{text}"
    );
    let text = said(ErrorKind::Content, 200, "br", b"no brotli".to_vec());
    assert!(text.contains("a answered 200; its body is not br, as its Content-Encoding says: "), "{text}");
    let text = said(ErrorKind::Content, 200, "gzip", gzip(&vec![b' '; 20 << 20]));
    assert!(text.ends_with("256 times as many: it is not decoded"), "{text}");
    let text = said(ErrorKind::Content, 200, "identity", b"\xff\xfe\0 raw".to_vec());
    assert!(text.ends_with(r"in its identity body: \xff\xfe raw"), "{text}");
}

#[test]
fn a_body_that_the_scenario_does_not_need_is_not_looked_at() {
    let url = serve(|_| coded(200, "gzip", b"no gzip"));
    let measured = run_until(&mut generator(&url, super::server::GET, 1), &closed(1), 50, |measured| {
        0 < measured.requests
    });
    assert_eq!(measured.errors(), 0, "{:?}", measured.problems);
}
