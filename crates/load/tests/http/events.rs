//! Streams of server-sent events, which have no end of their own.

use super::server::{closed, errors, generator, run_until};
use assay_load::ErrorKind;
use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};

/// Answers each request with a stream of so many events in chunks, and then says nothing more; or ends it.
fn stream_of(events: u32, ends: bool) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let url = format!("http://{}", listener.local_addr().expect("bound"));
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            std::thread::spawn(move || serve(&stream, events, ends));
        }
    });
    url
}

fn serve(mut stream: &TcpStream, events: u32, ends: bool) -> Option<()> {
    let mut reader = BufReader::new(stream.try_clone().ok()?);
    loop {
        let mut line = String::new();
        while line != "\r\n" {
            line.clear();
            if reader.read_line(&mut line).ok()? == 0 {
                return None;
            }
        }
        stream
            .write_all(
                b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n",
            )
            .ok()?;
        for number in 0..events {
            let event = format!(": ping\n\nid: {number}\ndata: {{\"n\":{number}}}\n\n");
            stream.write_all(format!("{:x}\r\n{event}\r\n", event.len()).as_bytes()).ok()?;
        }
        if ends {
            stream.write_all(b"0\r\n\r\n").ok()?;
        }
    }
}

const SCENARIO: &str = r#"
    [extract]
    second = { operation = "listen", regex = '"n":1}' }
    [[operation]]
    name = "listen"
    path = "/events"
    events = 3
    contains = "\"n\":2"
    headers = { Accept = "text/event-stream" }
"#;

#[test]
fn a_stream_is_answered_with_its_last_awaited_event_and_cut_off() {
    let measured = run_until(&mut generator(&stream_of(5, false), SCENARIO, 2), &closed(2), 100, |one| {
        2 < one.completed
    });
    assert_eq!((measured.errors(), measured.problems.len()), (0, 0), "{:?}", measured.problems);
}

#[test]
fn a_stream_that_ends_before_is_wrong() {
    let measured =
        run_until(&mut generator(&stream_of(2, true), SCENARIO, 1), &closed(1), 100, |one| 0 < one.requests);
    assert_eq!(errors(&measured, ErrorKind::Content), measured.requests);
    let text = &measured.problems[0].text;
    assert!(text.contains("listen answered 200; its stream ended with 2 of 3 events: "), "{text}");
}

#[test]
fn a_stream_that_lacks_an_event_is_a_timeout() {
    let scenario = format!("{SCENARIO}\ntimeout_ms = 100");
    let scenario = scenario.replace("headers = { Accept = \"text/event-stream\" }", "");
    let measured = run_until(&mut generator(&stream_of(2, false), &scenario, 1), &closed(1), 200, |one| {
        0 < one.requests
    });
    assert_eq!(errors(&measured, ErrorKind::Timeout), measured.requests, "{:?}", measured.problems);
}
