//! Streams of server-sent events, which have no end of their own.

use super::server::{Reply, closed, errors, generator, run_until, serve as serve_replies};
use assay_load::ErrorKind;
use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::time::Duration;

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
    let text = &measured.problems[0].text;
    assert!(text.contains("no whole answer within 100 ms; ") && text.contains(" of 3 events came"), "{text}");
}

/// Answers each request with three events: the first after 30 ms, each other 20 ms after the one before it.
fn stream_with_gaps() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let url = format!("http://{}", listener.local_addr().expect("bound"));
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            std::thread::spawn(move || serve_with_gaps(&stream));
        }
    });
    url
}

fn serve_with_gaps(mut stream: &TcpStream) -> Option<()> {
    let mut lines = BufReader::new(stream.try_clone().ok()?).lines();
    while !lines.next()?.ok()?.is_empty() {}
    stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n: ping\n\n").ok()?;
    for (number, gap_ms) in [30, 20, 20].into_iter().enumerate() {
        std::thread::sleep(Duration::from_millis(gap_ms));
        stream.write_all(format!("data: {{\"n\":{number}}}\n\n").as_bytes()).ok()?;
    }
    // What stays unread does not reset the connection.
    lines.next().map(drop)
}

#[test]
fn events_are_counted_and_timed_from_the_intended_start_and_from_each_other() {
    let measured =
        run_until(&mut generator(&stream_with_gaps(), SCENARIO, 2), &closed(2), 200, |one| 2 < one.completed);
    assert_eq!(measured.errors(), 0, "{:?}", measured.problems);
    let figures = measured.breakdown.operations[0].figures(1.0, true);
    let events = figures.events.expect("a stream of events");
    assert_eq!(events.events, 3 * measured.requests);
    let (first, gap) = (events.first_event_ms, events.event_gap_ms);
    assert!(30.0 <= first.p50.expect("events"), "{first:?}");
    // Whoever reads late sees a first event later and a gap shorter, but never all of it in less than it took; 0.1 % are rounded.
    let whole = first.max.expect("events") + 2.0 * gap.max.expect("events");
    assert!(70.0 <= whole * 1.001, "{first:?} {gap:?}");
}

#[test]
fn a_stream_that_is_cut_says_how_far_it_was() {
    let cut = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n9\r\ndata: 1\n\n\r\n";
    let url = serve_replies(move |_| Reply::BytesAndClose(cut.as_bytes().to_vec()));
    let measured = run_until(&mut generator(&url, SCENARIO, 1), &closed(1), 100, |one| 0 < one.requests);
    assert_eq!(errors(&measured, ErrorKind::Broken), measured.requests);
    let text = &measured.problems[0].text;
    assert!(text.contains("connection closed within the answer; 1 of 3 events came"), "{text}");
    let events = measured.breakdown.operations[0].figures(1.0, true).events.expect("a stream of events");
    assert_eq!((events.events, events.event_gap_ms.max), (measured.requests, None));
}
