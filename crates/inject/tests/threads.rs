//! Threads that act as one generator: the server's own count, and what cannot be shared.

use crate::chat_server;
use assay_inject::Threads;
use assay_load::{
    ArrivalLaw, GeneratorConfig, Load, LoadSource, LoadWindow, Measured, Progress, Scenario, for_url,
};
use assay_testkit::CountingServer;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

const OPEN: Load = Load::Open { arrivals: ArrivalLaw::Constant, rate_per_s: 200.0 };

fn closed(users: u32) -> Load {
    Load::Closed { users, think: Some(Duration::from_millis(2)) }
}

fn config(server: &CountingServer) -> GeneratorConfig {
    GeneratorConfig::new(&server.url, for_url(&server.url).expect("a URL").1, 12)
}

fn window(load: Load, length: Duration) -> LoadWindow {
    LoadWindow { load, settle: Duration::ZERO, length, slow_above: None }
}

fn make(config: &GeneratorConfig, threads: u32, load: Load) -> Measured {
    let mut threads = Threads::new(config, threads).expect("a right configuration");
    let window = window(load, Duration::from_millis(500));
    threads.window(&window, &AtomicBool::new(false), &mut |_| ()).expect("a window")
}

#[test]
fn threads_send_together_what_was_asked_and_count_what_the_server_counts() {
    for threads in [1, 2, 5] {
        for load in [OPEN, closed(12)] {
            let server = CountingServer::start();
            let measured = make(&config(&server), threads, load);
            assert_eq!(
                (measured.requests, measured.errors()),
                (server.count(), 0),
                "{:?}",
                measured.problems
            );
            assert_eq!(measured.response.len(), measured.requests);
            assert!(load != OPEN || measured.requests == 100);
            assert_eq!(measured.injectors.len(), threads as usize);
            let of_each = measured.injectors.iter().map(|one| one.requests.expect("it made some"));
            assert_eq!(of_each.sum::<u64>(), measured.requests);
            assert_eq!(measured.injectors[0].address, "thread 1");
        }
    }
}

#[test]
fn rooms_of_a_chat_stay_whole() {
    let text =
        "schema = \"assay.scenario/1\"\nname = \"chat\"\n[chat]\nroom_users = 3\ntimeout_ms = 120000\n";
    for load in [OPEN, closed(9)] {
        let base_url = chat_server::serve(|_| chat_server::Fault::None);
        let scenario = Scenario::parse(text, "test").expect("a chat");
        let config = GeneratorConfig::new(base_url, scenario, 9);
        let measured = make(&config, 2, load);
        let deliveries = measured.deliveries.as_ref().expect("those of a chat");
        assert!(0 < measured.requests && measured.errors() == 0, "{:?}", measured.problems);
        assert_eq!((deliveries.due, deliveries.delivered), (2 * measured.requests, 2 * measured.requests));
        assert!(measured.injectors.iter().all(|one| one.requests.is_some_and(|requests| 0 < requests)));
    }
}

#[test]
fn what_cannot_be_shared_is_refused() {
    let server = CountingServer::start();
    let said = |threads, load| {
        let made = Threads::new(&config(&server), threads);
        let made = made.and_then(|mut threads| {
            threads.window(&window(load, Duration::from_millis(100)), &AtomicBool::new(false), &mut |_| ())
        });
        made.expect_err("it cannot be shared").to_string()
    };
    assert_eq!(
        said(13, OPEN),
        "threads = 13: use at most as many as there are connections, since each needs one"
    );
    assert_eq!(said(0, OPEN), "threads = 0: use 1 to 64");
    assert_eq!(said(3, closed(2)), "users = 2: use one for each injector or thread at least");
    assert_eq!(server.count(), 0);
}

#[test]
fn a_stop_ends_all_threads_early_and_progress_is_that_of_all() {
    let server = CountingServer::start();
    let mut threads = Threads::new(&config(&server), 2).expect("a right configuration");
    let (stop, mut last) = (AtomicBool::new(false), Progress::default());
    let mut on_progress = |progress: Progress| {
        stop.store(20 < progress.requests, Ordering::Relaxed);
        last = progress;
    };
    let measured = threads.window(&window(OPEN, Duration::from_secs(3_600)), &stop, &mut on_progress);
    let measured = measured.expect("a window");
    assert!(measured.stopped && 20 < measured.requests && last.requests <= measured.requests);
}
