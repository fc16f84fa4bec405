//! A dense open loop leaves answers in their sockets until the next request is due. When they came must be right all the same: on
//! loopback an answer comes while the server writes it, so the sum of all response times lies between those of the moments before and
//! after the writes, whoever waits for a processor. On a busy machine those lie far apart, so reading late is only caught on a quiet one;
//! that a stamp is not of the reading is held by the test in `stamp.rs`.

use assay_load::{ArrivalLaw, Generator, GeneratorConfig, Load, Measured, monotonic_ns};
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

const RATE_PER_S: f64 = 8_000.0;
const GAP_NS: u64 = 125_000;
const STRETCH: Duration = Duration::from_millis(250);
const PATIENCE: Duration = Duration::from_secs(10);
/// Longer than what the kernel holds for a connection that nobody reads.
const LARGE_BYTES: usize = 300_000;

/// Moments before and after each write.
type Writes = Arc<Mutex<Vec<(u64, u64)>>>;

fn serve(mut stream: TcpStream, answer: &[u8], writes: &Writes) {
    while matches!(stream.read(&mut [0; 4096]), Ok(1..)) {
        let before_ns = monotonic_ns();
        if stream.write_all(answer).is_err() {
            return;
        }
        writes.lock().expect("no panic").push((before_ns, monotonic_ns()));
    }
}

/// Waits for so many writes, and takes them: a client may have the last answer before the server has noted its write.
fn taken(writes: &Writes, expected: u64) -> Vec<(u64, u64)> {
    let until = Instant::now() + PATIENCE;
    loop {
        let mut noted = writes.lock().expect("no panic");
        if expected <= noted.len() as u64 || until < Instant::now() {
            return std::mem::take(&mut noted);
        }
        drop(noted);
        std::thread::sleep(Duration::from_millis(1));
    }
}

/// A server of one answer, with its writes.
fn start(body_bytes: usize) -> (String, Writes) {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let url = format!("http://{}/", listener.local_addr().expect("bound"));
    let answer = format!("HTTP/1.1 200 OK\r\nContent-Length: {body_bytes}\r\n\r\n{}", "x".repeat(body_bytes));
    let (answer, writes): (Arc<str>, Writes) = (answer.into(), Writes::default());
    let noted = Arc::clone(&writes);
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let (answer, writes) = (Arc::clone(&answer), Arc::clone(&noted));
            std::thread::spawn(move || serve(stream, answer.as_bytes(), &writes));
        }
    });
    (url, writes)
}

fn generator(url: &str) -> Generator {
    let (base_url, scenario) = assay_load::for_url(url).expect("a good URL");
    Generator::new(GeneratorConfig::new(base_url, scenario, 20)).expect("good")
}

fn load(generator: &mut Generator, length: Duration) -> Measured {
    let load = Load::Open { arrivals: ArrivalLaw::Constant, rate_per_s: RATE_PER_S };
    let measured = generator.run(&load, length, &AtomicBool::new(false), None, &mut |_| ());
    measured.expect("the server listens")
}

#[test]
fn response_times_end_when_the_answer_came_and_not_when_it_was_read() {
    let (url, writes) = start(5);
    let mut generator = generator(&url);
    let requests = (RATE_PER_S * STRETCH.as_secs_f64()) as u64;
    // The kernel patches its code for the first stamps.
    load(&mut generator, STRETCH);
    taken(&writes, requests);
    let measured = load(&mut generator, STRETCH);
    let writes = taken(&writes, requests);
    assert_eq!((measured.requests, measured.errors(), writes.len() as u64), (requests, 0, requests));
    let mean_intended_ns = measured.start_monotonic_ns as f64 + (requests - 1) as f64 * GAP_NS as f64 / 2.0;
    let mean_ns = |of: fn(&(u64, u64)) -> u64| {
        writes.iter().map(|write| of(write) as f64).sum::<f64>() / requests as f64 - mean_intended_ns
    };
    let (least_ns, most_ns) = (mean_ns(|write| write.0), mean_ns(|write| write.1));
    let found_ns = measured.response.mean();
    // Histograms have three digits; the clocks are compared within a microsecond.
    let within_ns = 0.001 * found_ns + 1_000.0;
    assert!(
        (least_ns - within_ns..=most_ns + within_ns).contains(&found_ns),
        "{found_ns} is not within {least_ns} and {most_ns}"
    );
}

#[test]
fn answers_that_are_longer_than_the_kernel_holds_are_read_while_they_come() {
    let (url, writes) = start(LARGE_BYTES);
    let measured = load(&mut generator(&url), Duration::from_millis(25));
    assert_eq!((measured.requests, measured.errors()), (200, 0));
    assert_eq!(taken(&writes, 200).len(), 200);
}
