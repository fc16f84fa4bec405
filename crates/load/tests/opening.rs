//! Connections that a server does not accept: every window says so, only the first waits for them, and a stop ends the wait.

use assay_load::{ArrivalLaw, Generator, GeneratorConfig, Load, LoadSource, LoadWindow, Measured, Scenario};
use assay_testkit::{OPEN_MAX, deaf_server};
use std::net::TcpStream;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

fn generator(url: &str, connections: u32) -> Generator {
    let text = "schema = \"assay.scenario/1\"\nname = \"test\"\n\
        [[operation]]\nname = \"get\"\npath = \"/\"\ntimeout_ms = 20\n";
    let scenario = Scenario::parse(text, "test.toml").expect("a right scenario");
    Generator::new(GeneratorConfig::new(url, scenario, connections)).expect("a good configuration")
}

fn window(generator: &mut Generator, stop: bool) -> Measured {
    let load = Load::Open { arrivals: ArrivalLaw::Constant, rate_per_s: 200.0 };
    let length = Duration::from_millis(20);
    let window = LoadWindow { load, settle: Duration::ZERO, length, slow_above: None };
    generator.window(&window, &AtomicBool::new(stop), &mut |_| ()).expect("a window")
}

#[test]
fn every_window_tells_of_connections_that_are_not_accepted_and_only_the_first_waits_for_them() {
    const FURTHER: u32 = 10;
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
