//! Recording a value, and a whole plain request, allocate nothing: counted by the allocator of this test's process.

use assay_load::recorder::{Recorder, RequestTimes};
use assay_load::{Generator, GeneratorConfig, IntervalLogs, Load, for_url};
use assay_testkit::{CountingAllocator, allocations};
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::atomic::AtomicBool;
use std::time::Duration;

#[global_allocator]
static ALLOCATOR: CountingAllocator = CountingAllocator;

#[test]
fn recording_a_value_allocates_nothing_even_with_an_interval_log() {
    let mut recorder = Recorder::new(0, Some(IntervalLogs::each_second(std::io::sink())));
    let before = allocations();
    for n in 0..1_000_000_u64 {
        // From nanoseconds to beyond the largest time that is told apart.
        let done_ns = n.wrapping_mul(n).wrapping_mul(7) % 8_000_000_000_000;
        recorder.record(&RequestTimes {
            intended_ns: 0,
            sendable_ns: 0,
            sent_ns: Some(done_ns / 2),
            done_ns,
        });
    }
    assert_eq!(allocations() - before, 0);
    assert_eq!(recorder.finish(1).response.len(), 1_000_000);
}

#[test]
fn the_counter_counts() {
    let before = allocations();
    drop(Box::new(1));
    assert_eq!(allocations() - before, 1);
}

/// Allocations of a stretch with about this many requests, and their real number.
fn allocations_of(generator: &mut Generator, ms: u64) -> (u64, u64) {
    let load = Load::Closed { users: 1, think: None };
    let before = allocations();
    let measured = generator
        .run(&load, Duration::from_millis(ms), &AtomicBool::new(false), None, &mut |_| ())
        .expect("the server listens");
    assert_eq!(measured.errors(), 0);
    (allocations() - before, measured.requests)
}

#[test]
fn a_plain_request_allocates_nothing_also_with_cookies() {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let url = format!("http://{}/", listener.local_addr().expect("bound"));
    std::thread::spawn(move || listener.incoming().flatten().for_each(echo));
    let (base_url, scenario) = for_url(&url).expect("a good URL");
    let mut generator = Generator::new(GeneratorConfig::new(base_url, scenario, 1)).expect("good");
    allocations_of(&mut generator, 50);
    let (few, few_requests) = allocations_of(&mut generator, 20);
    let mut ms = 400;
    let (many, many_requests) = loop {
        let (many, requests) = allocations_of(&mut generator, ms);
        assert!(ms < 100_000, "{few_requests} and {requests} requests");
        // A machine may stand still for longer than a short stretch.
        if requests > few_requests + 100 {
            break (many, requests);
        }
        ms *= 2;
    };
    assert_eq!(
        few, many,
        "a longer stretch allocates no more, however many requests it has: {many_requests}"
    );
}

/// One cookie is of another path, and one may expire.
const FIRST: &[u8] = b"HTTP/1.1 200 OK\r\nSet-Cookie: JSESSIONID=0123456789; Path=/; HttpOnly\r\nSet-Cookie: cart=7; Max-Age=6000\r\n\
    Set-Cookie: other=1; Path=/other\r\nContent-Length: 1\r\n\r\nx";
const LATER: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nx";

fn echo(mut stream: TcpStream) {
    let mut answer = FIRST;
    while matches!(stream.read(&mut [0; 4096]), Ok(1..)) {
        if stream.write_all(answer).is_err() {
            return;
        }
        answer = LATER;
    }
}
