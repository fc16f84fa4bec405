//! Headers of the scenario in the place of those that the generator writes itself.

use super::server::{closed, generator, run_until};
use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};

/// A server that keeps the head of each request, as it came.
fn heads() -> (String, Arc<Mutex<Vec<String>>>) {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let url = format!("http://{}", listener.local_addr().expect("bound"));
    let heads = Arc::new(Mutex::new(Vec::new()));
    let kept = Arc::clone(&heads);
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let kept = Arc::clone(&kept);
            std::thread::spawn(move || serve(&stream, &kept));
        }
    });
    (url, heads)
}

fn serve(mut stream: &TcpStream, kept: &Mutex<Vec<String>>) -> Option<()> {
    let mut reader = BufReader::new(stream.try_clone().ok()?);
    loop {
        let mut head = String::new();
        while !head.ends_with("\r\n\r\n") {
            if reader.read_line(&mut head).ok()? == 0 {
                return None;
            }
        }
        if head.contains("Content-Length: 2\r\n") {
            std::io::Read::read_exact(&mut reader, &mut [0; 2]).ok()?;
        }
        kept.lock().expect("no panic").push(head);
        stream.write_all(b"HTTP/1.1 204 No Content\r\n\r\n").ok()?;
    }
}

#[test]
fn a_header_that_the_scenario_sets_is_sent_once() {
    const SCENARIO: &str = r#"
        [[operation]]
        name = "a"
        method = "POST"
        path = "/"
        body = "hi"
        [operation.headers]
        accept = "text/html"
        User-Agent = "shop/1"
        Host = "shop.example"
        Connection = "close"
        Expect = "100-continue"
    "#;
    let (url, heads) = heads();
    let measured = run_until(&mut generator(&url, SCENARIO, 1), &closed(1), 50, |one| 0 < one.requests);
    assert_eq!(measured.errors(), 0, "{:?}", measured.problems);
    let heads = heads.lock().expect("no panic");
    let mut lines: Vec<&str> = heads[0].trim_end().split("\r\n").collect();
    assert_eq!(lines.remove(0), "POST / HTTP/1.1");
    lines.sort_unstable();
    let want = [
        "Connection: close",
        "Content-Length: 2",
        "Expect: 100-continue",
        "Host: shop.example",
        "User-Agent: shop/1",
        "accept: text/html",
    ];
    assert_eq!(lines, want);
}
