//! Windows of load against a server of known delays: settling and window are one stretch, slow requests are kept with
//! their instants, and limits hold for the operations that are named.

use assay_load::{
    ArrivalLaw, Generator, GeneratorConfig, Load, LoadError, LoadSource, LoadWindow, Measured, Scenario,
    monotonic_ns,
};
use assay_testkit::{StandstillWatch, skip};
use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Sender, channel};
use std::sync::{Arc, Mutex};
use std::time::Duration;

const MS: u64 = 1_000_000;
const SCENARIO: &str = "schema = \"assay.scenario/1\"\nname = \"shop\"\n\
    [[operation]]\nname = \"buy\"\npath = \"/20\"\n[[operation]]\nname = \"look\"\npath = \"/0\"\n\
    [[operation]]\nname = \"lost\"\npath = \"/missing\"\nweight = 0.5\n";

/// Work for the only worker: how long it takes, and whom to tell.
type Work = (Duration, Sender<()>);

/// Answers after as many milliseconds as the path says; a path without a number is not found. With a worker, it does the work.
fn serve(worker: Option<Sender<Work>>) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let url = format!("http://{}", listener.local_addr().expect("bound"));
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let worker = worker.clone();
            std::thread::spawn(move || serve_connection(&stream, worker.as_ref()));
        }
    });
    url
}

/// One request at a time, in the order in which they came. When each was done is in the list.
fn single_worker() -> (Sender<Work>, Arc<Mutex<Vec<u64>>>) {
    let (sender, receiver) = channel::<Work>();
    let done_ns = Arc::new(Mutex::new(Vec::new()));
    let done = Arc::clone(&done_ns);
    std::thread::spawn(move || {
        for (length, asker) in receiver {
            std::thread::sleep(length);
            done.lock().expect("nobody panics").push(monotonic_ns());
            let _ = asker.send(());
        }
    });
    (sender, done_ns)
}

fn serve_connection(stream: &TcpStream, worker: Option<&Sender<Work>>) -> Option<()> {
    let mut reader = BufReader::new(stream.try_clone().ok()?);
    let mut writer = stream;
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).ok().filter(|bytes| *bytes > 0)?;
        let mut header = String::new();
        while reader.read_line(&mut header).ok()? > 2 {
            header.clear();
        }
        let length =
            line.split(['/', ' ']).nth(2).and_then(|path| path.parse().ok()).map(Duration::from_millis);
        match (length, worker) {
            (Some(length), Some(worker)) => {
                let (asker, done) = channel();
                worker.send((length, asker)).ok()?;
                done.recv().ok()?;
            }
            (Some(length), None) => std::thread::sleep(length),
            (None, _) => {}
        }
        let status = if length.is_some() { 200 } else { 404 };
        write!(writer, "HTTP/1.1 {status} X\r\nContent-Length: 2\r\n\r\nok").ok()?;
    }
}

fn generator(url: &str, limited: &[&str]) -> Result<Generator, LoadError> {
    let scenario = Scenario::parse(SCENARIO, "shop.toml").expect("a right scenario");
    let limited = limited.iter().map(|&name| name.to_owned()).collect();
    Generator::new(GeneratorConfig { limited, ..GeneratorConfig::new(url, scenario, 40) })
}

fn window(generator: &mut Generator, load: Load, settle_ms: u64, length_ms: u64) -> Measured {
    let window = LoadWindow {
        load,
        settle: Duration::from_millis(settle_ms),
        length: Duration::from_millis(length_ms),
        slow_above: Some(Duration::from_millis(15)),
    };
    generator.window(&window, &AtomicBool::new(false), &mut |_| ()).expect("the server listens")
}

fn constant(rate_per_s: f64) -> Load {
    Load::Open { arrivals: ArrivalLaw::Constant, rate_per_s }
}

#[test]
fn the_window_begins_with_the_queue_that_settling_has_left() {
    for _ in 0..5 {
        let (worker, done_ns) = single_worker();
        let (base_url, scenario) =
            assay_load::for_url(&format!("{}/20", serve(Some(worker)))).expect("a good URL");
        let watch = StandstillWatch::start();
        // 100 a second for a server of at most 50 a second; more connections than requests.
        let mut generator = Generator::new(GeneratorConfig::new(base_url, scenario, 100)).expect("good");
        let measured = window(&mut generator, constant(100.0), 400, 300);
        let done_ns = done_ns.lock().expect("nobody panics");
        assert_eq!((measured.requests, measured.errors()), (30, 0));
        assert_eq!(done_ns.len(), 70, "40 while it settled, without a pause before the window");
        assert_eq!(measured.completions.total(), measured.completed);
        let cpu = measured.generator_cpu_share().expect("it took time");
        assert!(cpu < 1.0, "settling and draining are in both parts of the share: {cpu}");
        let detail = &measured.detail;
        assert_eq!(detail.connection_waits, 0, "the queue is the server's");
        if watch.end() < Duration::from_millis(20) {
            return check_queue(&measured, &done_ns);
        }
    }
    skip!("the machine stood still for 20 ms and more each time");
}

/// After 400 ms some 20 requests wait, 400 ms of work. When the server was done with each is its own to say.
fn check_queue(measured: &Measured, done_ns: &[u64]) {
    // Requests reach the worker out of order where a connection's thread waits for a processor: on a machine with six times
    // as many threads ready as processors by four of its answers.
    const ORDER: usize = 10;
    let first_ns = measured.response.min();
    let waited_ns = |index: usize| done_ns[index].saturating_sub(measured.start_monotonic_ns);
    let (least_ns, most_ns) = (waited_ns(40 - ORDER), waited_ns(40 + ORDER) + 100 * MS);
    assert!(150 * MS < least_ns, "{least_ns} ns: it would be 20 ms without the queue");
    assert!((least_ns..=most_ns).contains(&first_ns), "{first_ns} is not in {least_ns}..={most_ns}");
    // Answers of the window are those that came in it, of requests from before it.
    let window_ns = measured.start_monotonic_ns..measured.end_monotonic_ns;
    let done = done_ns.iter().filter(|at| window_ns.contains(at)).count() as u64;
    assert!(measured.completed.abs_diff(done) <= 3, "{} of {done}", measured.completed);
}

#[test]
fn slow_requests_of_limited_operations_are_kept_with_their_instants() {
    let url = serve(None);
    let mut generator = generator(&url, &["buy"]).expect("the operation is there");
    let law = Load::Open { arrivals: ArrivalLaw::Poisson, rate_per_s: 300.0 };
    let before_ns = monotonic_ns();
    let measured = window(&mut generator, law, 100, 1_000);
    let detail = &measured.detail;
    let of = |name: &str| {
        measured.operations.iter().find(|one| one.name == name).expect("of the scenario").requests
    };
    assert!(of("buy") > 60 && of("look") > 60 && of("lost") > 20, "{:?}", measured.operations);
    assert_eq!((detail.limited.requests(), detail.limited.failed, detail.slow_not_kept), (of("buy"), 0, 0));
    assert_eq!(detail.slow.len() as u64, of("buy"), "each takes 20 ms and more");
    assert_eq!((detail.limited.misses(19 * MS), detail.limited.misses(10_000 * MS)), (of("buy"), 0));
    for slow in &detail.slow {
        let sent_ns = slow.sent_ns.expect("there were connections enough");
        assert!(
            measured.start_monotonic_ns <= slow.intended_ns && slow.intended_ns < measured.end_monotonic_ns
        );
        assert!(
            before_ns < slow.intended_ns && slow.intended_ns <= sent_ns && sent_ns + 20 * MS <= slow.done_ns
        );
        assert_eq!(slow.operation, Some(0));
    }
    assert_eq!(detail.gaps.len(), measured.requests - 1, "all were sent");
    let mean_ms = detail.gaps.mean() / MS as f64;
    assert!((2.5..4.5).contains(&mean_ms), "300 a second are 3.3 ms apart: {mean_ms}");
}

#[test]
fn without_names_limits_hold_for_all_and_failed_requests_miss_them() {
    let url = serve(None);
    let measured = window(&mut generator(&url, &[]).expect("good"), constant(200.0), 0, 400);
    let detail = &measured.detail;
    assert_eq!((detail.limited.requests(), measured.requests), (80, 80));
    assert_eq!(detail.limited.failed, measured.errors());
    assert!(detail.limited.misses(10_000 * MS) == measured.errors() && measured.errors() > 0);
}

#[test]
fn a_load_of_so_many_requests_makes_exactly_them_whoever_is_slow_or_as_many_as_its_time_allows() {
    let url = serve(None);
    let mut generator = generator(&url, &[]).expect("good");
    let (stop, long) = (AtomicBool::new(false), Duration::from_secs(3_600));
    for (users, requests) in [(1, 7), (5, 60), (40, 41), (3, 1)] {
        let load = Load::Closed { users, think: None };
        let measured = generator.run_requests(&load, requests, long, &stop).expect("the server listens");
        let answered: u64 = measured.operations.iter().map(|one| one.requests).sum();
        assert_eq!((measured.requests, answered), (requests, requests), "{users} users");
        assert!(!measured.stopped, "{users} users");
    }
    let load = Load::Closed { users: 1, think: None };
    let in_time =
        generator.run_requests(&load, 1_000_000, Duration::from_millis(50), &stop).expect("listens");
    assert!(in_time.requests < 1_000_000);
}

#[test]
fn a_limited_operation_that_is_not_there_is_told_with_those_that_are() {
    let error = generator("http://127.0.0.1:1", &["sell"]).err().expect("it is refused");
    assert_eq!(error.to_string(), "operation \"sell\" is not in the scenario; it has buy, look, lost");
}

#[test]
fn a_window_stopped_while_it_settles_holds_nothing() {
    let url = serve(None);
    let mut generator = generator(&url, &[]).expect("good");
    let window = LoadWindow {
        load: constant(50.0),
        settle: Duration::from_secs(60),
        length: Duration::from_secs(60),
        slow_above: None,
    };
    let stop = AtomicBool::new(false);
    let measured = generator
        .window(&window, &stop, &mut |_| stop.store(true, Ordering::Relaxed))
        .expect("the server listens");
    assert!(measured.stopped);
    assert_eq!((measured.requests, measured.seconds()), (0, 0.0));
}
