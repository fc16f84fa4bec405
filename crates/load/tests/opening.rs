//! Connections that a server does not accept: every window says so, only the first waits for them, and a stop ends the wait.

use assay_load::{ArrivalLaw, Generator, GeneratorConfig, Load, LoadSource, LoadWindow, Measured, Scenario};
use assay_testkit::{OPEN_MAX, deaf_server};
use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Condvar, Mutex};
use std::time::{Duration, Instant};

fn generator(url: &str, connections: u32) -> Generator {
    let text = "schema = \"assay.scenario/1\"\nname = \"test\"\n\
        [[operation]]\nname = \"get\"\npath = \"/\"\ntimeout_ms = 20\n";
    let scenario = Scenario::parse(text, "test.toml").expect("a right scenario");
    Generator::new(GeneratorConfig::new(url, scenario, connections)).expect("a good configuration")
}

fn window(generator: &mut Generator, stop: bool) -> Measured {
    let load = Load::Open { arrivals: ArrivalLaw::Constant, rate_per_s: 50.0 };
    let length = Duration::from_millis(20);
    let window = LoadWindow { load, settle: Duration::ZERO, length, slow_above: None };
    generator.window(&window, &AtomicBool::new(stop), &mut |_| ()).expect("a window")
}

#[test]
fn every_window_tells_of_connections_that_are_not_accepted_and_only_the_first_waits_for_them() {
    // With the first, fewer requests than the server has connections: none is answered, and each closes one.
    const FURTHER: u32 = 3;
    let (_listener, url) = deaf_server();
    let mut generator = generator(&url, 20);
    let first = window(&mut generator, false);
    assert_eq!(first.problems[0].about, url);
    assert_eq!(
        first.problems[0].text,
        format!(
            "{} of 20 connections were not accepted within 5 s: the server takes no more, or not as fast; \
             give fewer with --connections",
            20 - OPEN_MAX
        )
    );
    let begun = Instant::now();
    for _ in 0..FURTHER {
        let further = window(&mut generator, false);
        let told = &further.problems[0].text;
        assert!(told.contains(" of 20 connections were still not accepted within 0.25 s"), "{told}");
    }
    let taken = begun.elapsed();
    assert!(taken < FURTHER * Duration::from_secs(5), "{taken:?}");
}

/// It was stopped before it knew whether the server takes even one.
#[test]
fn a_stop_before_a_connection_is_open_ends_the_window_without_an_error() {
    let (listener, url) = deaf_server();
    let address = listener.local_addr().expect("bound");
    let _queue: Vec<_> = (0..OPEN_MAX).map(|_| TcpStream::connect(address).expect("has room")).collect();
    let measured = window(&mut generator(&url, 20), true);
    assert!(measured.stopped);
    let is_told = measured.problems.iter().any(|problem| problem.text.contains("not accepted"));
    assert!(!is_told, "{:?}", measured.problems);
}

/// A server with so many threads: each new connection holds one until its first request is answered, as in the JDK's `HttpsServer`.
/// Later requests need one for their answer alone.
fn holds_a_thread_until_the_first_request(threads: usize) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let url = format!("http://{}", listener.local_addr().expect("bound"));
    let (free, is_free) = (Mutex::new(threads), Condvar::new());
    let pool = Arc::new((free, is_free));
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let (Ok(stream), pool) = (stream, Arc::clone(&pool)) else { return };
            take_thread(&pool);
            std::thread::spawn(move || answer_all(&stream, &pool));
        }
    });
    url
}

type Pool = (Mutex<usize>, Condvar);

fn take_thread((free, is_free): &Pool) {
    let mut free = is_free.wait_while(free.lock().expect("no panic"), |free| *free == 0).expect("no panic");
    *free -= 1;
}

fn answer_all(stream: &TcpStream, pool: &Pool) -> Option<()> {
    let mut lines = BufReader::new(stream).lines();
    for number in 0.. {
        let request: Vec<String> =
            lines.by_ref().map_while(Result::ok).take_while(|line| !line.is_empty()).collect();
        if 0 < number && !request.is_empty() {
            take_thread(pool);
        }
        let written = if request.is_empty() {
            None
        } else {
            (&mut &*stream).write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n").ok()
        };
        if 0 == number || !request.is_empty() {
            *pool.0.lock().expect("no panic") += 1;
            pool.1.notify_one();
        }
        written?;
    }
    None
}

/// Requests on older connections, which hold no thread, would wait for ever.
#[test]
fn new_connections_that_hold_all_threads_of_a_server_carry_the_next_requests() {
    let url = holds_a_thread_until_the_first_request(2);
    let text =
        "schema = \"assay.scenario/1\"\nname = \"test\"\n[[operation]]\nname = \"get\"\npath = \"/\"\n";
    let scenario = Scenario::parse(text, "test.toml").expect("a right scenario");
    let mut generator =
        Generator::new(GeneratorConfig::new(&url, scenario, 12)).expect("a good configuration");
    let mut run = |load: Load| {
        let (stop, length) = (AtomicBool::new(false), Duration::from_millis(400));
        generator.run(&load, length, &stop, None, &mut |_| ()).expect("a run")
    };
    let first = run(Load::Closed { users: 2, think: None });
    // As few as there are threads: no later request frees one.
    let second = run(Load::Open { arrivals: ArrivalLaw::Constant, rate_per_s: 5.0 });
    assert_eq!((first.errors(), second.errors()), (0, 0));
    assert_eq!(second.requests, 2);
}
