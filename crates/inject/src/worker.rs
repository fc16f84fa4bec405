//! What an injector does for its controller: the generator, and which order may follow which.

use crate::frame::FrameError;
use crate::message::{Arm, Order, Recorded, Report};
use crate::session::MessageWriter;
use assay_load::{Generator, LoadError, Opened, Progress, Start, monotonic_ns};
use std::net::TcpStream;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::Receiver;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

/// How far in the future a start may lie.
const START_AHEAD_MAX: Duration = Duration::from_secs(60);
/// How long before the start waiting becomes the generator's, which wakes to the microsecond.
const READY_BEFORE_NS: u64 = 5_000_000;
const STOP_LOOKED_AT_EVERY: Duration = Duration::from_millis(20);

/// Writes to the controller; the worker, the beats and the answers to pings share it.
pub(crate) type SharedWriter = Mutex<MessageWriter<TcpStream>>;

/// Sends a report.
pub(crate) fn send(writer: &SharedWriter, report: &Report) -> Result<(), FrameError> {
    writer.lock().unwrap_or_else(PoisonError::into_inner).write(report)
}

/// What the threads of a session share.
#[derive(Default)]
pub(crate) struct Shared {
    /// Ends the window.
    pub stop: AtomicBool,
    /// A window runs; the controller must be heard.
    pub is_loading: AtomicBool,
    pub beat: Mutex<Progress>,
}

impl Shared {
    pub fn beat(&self) -> Progress {
        *self.beat.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn set_beat(&self, beat: Progress) {
        *self.beat.lock().unwrap_or_else(PoisonError::into_inner) = beat;
    }
}

/// Does the orders one after the other, until there are no more.
pub(crate) struct Worker<'a> {
    /// Once it knows what to load.
    generator: Option<Generator>,
    /// Once the connections are open.
    armed: Option<(Arm, Opened)>,
    shared: &'a Shared,
    writer: &'a SharedWriter,
}

impl<'a> Worker<'a> {
    pub fn new(shared: &'a Shared, writer: &'a SharedWriter) -> Self {
        Worker { generator: None, armed: None, shared, writer }
    }

    /// Ends with the session, or at an order out of turn; the latter gives why.
    pub fn work(mut self, orders: &Receiver<Order>) -> Result<(), String> {
        for order in orders {
            let report = self.done(order)?.unwrap_or_else(|error| Report::Refused { why: error.to_string() });
            send(self.writer, &report).map_err(|error| error.to_string())?;
        }
        Ok(())
    }

    /// Does an order, which may fail; one that may not come now gives why.
    fn done(&mut self, order: Order) -> Result<Result<Report, LoadError>, &'static str> {
        let armed = self.armed.take();
        match (order, &mut self.generator) {
            (Order::Prepare(config), generator) => {
                *generator = None;
                Ok(Generator::new(*config).map(|made| {
                    *generator = Some(made);
                    Report::Prepared
                }))
            }
            (Order::Arm(arm), Some(generator)) => {
                let length = arm.window.settle.saturating_add(arm.window.length);
                let opened = generator.ready(&arm.window.load, length, &self.shared.stop, &mut |_| ());
                Ok(opened.map(|opened| {
                    self.armed = Some((arm, opened));
                    Report::Armed
                }))
            }
            (Order::Start { at_ns }, Some(generator)) => {
                let (arm, opened) = armed.ok_or("a window was started before it was armed")?;
                self.shared.is_loading.store(true, Ordering::Relaxed);
                let result = load(generator, self.shared, arm, opened, at_ns);
                self.shared.is_loading.store(false, Ordering::Relaxed);
                Ok(result.map(|recorded| Report::Result(Box::new(recorded))))
            }
            (Order::Arm(_) | Order::Start { .. }, None) => {
                Err("a window was ordered before anything was prepared")
            }
            (Order::Stop | Order::Ping { .. }, _) => Err("an order for the reader came to the worker"),
        }
    }
}

fn load(
    generator: &mut Generator,
    shared: &Shared,
    Arm { window, part, seed }: Arm,
    opened: Opened,
    at_ns: u64,
) -> Result<Recorded, LoadError> {
    let ahead = Duration::from_nanos(at_ns.abs_diff(monotonic_ns()));
    if ahead > START_AHEAD_MAX {
        let value = format!("{ahead:?} away");
        return Err(LoadError::Setting { name: "start", value, fix: "use at most 60 s".into() });
    }
    shared.set_beat(Progress::default());
    wait_until(at_ns.saturating_sub(READY_BEFORE_NS), &shared.stop);
    let start_late_ns = monotonic_ns().saturating_sub(at_ns);
    let start = Start { at_ns, part, seed, opened };
    let mut on_progress = |progress: Progress| shared.set_beat(progress);
    let measured = generator.window_from(start, &window, None, &shared.stop, &mut on_progress)?;
    shared.set_beat(Progress {
        elapsed: Duration::from_nanos(measured.generator_wall_ns),
        requests: measured.requests,
        completed: measured.completed,
        errors: measured.errors(),
        in_flight: 0,
        response_ns: None,
        starting: None,
    });
    Ok(Recorded { start_late_ns, measured })
}

fn wait_until(at_ns: u64, stop: &AtomicBool) {
    while !stop.load(Ordering::Relaxed)
        && let Some(rest_ns) = at_ns.checked_sub(monotonic_ns()).filter(|rest| *rest > 0)
    {
        std::thread::sleep(Duration::from_nanos(rest_ns).min(STOP_LOOKED_AT_EVERY));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use assay_load::{ArrivalLaw, GeneratorConfig, Load, LoadWindow, Measured, Part, for_url};

    #[test]
    fn an_order_that_may_not_come_now_ends_the_session() {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
        let stream = TcpStream::connect(listener.local_addr().expect("bound")).expect("it listens");
        let writer = Mutex::new(MessageWriter::new(stream, crate::any_bytes_tests::keys_of_both_sides().0));
        let load = Load::Closed { users: 1, think: None };
        let window = LoadWindow { load, settle: Duration::ZERO, length: Duration::MAX, slow_above: None };
        let scenario = for_url("http://127.0.0.1:1/").expect("a URL").1;
        let config = GeneratorConfig::new("http://127.0.0.1:1", scenario, 1);
        let prepare = || Order::Prepare(Box::new(config.clone()));
        let arm = || Order::Arm(Arm { window: window.clone(), part: Part::WHOLE, seed: 1 });
        let start = || Order::Start { at_ns: 0 };
        for (orders, why) in [
            (vec![arm()], Some("before anything was prepared")),
            (vec![start()], Some("before anything was prepared")),
            (vec![prepare(), start()], Some("before it was armed")),
            // The arming fails: no window is so long.
            (vec![prepare(), arm(), start()], Some("before it was armed")),
            (vec![Order::Stop], Some("for the reader")),
            (vec![Order::Ping { number: 1 }], Some("for the reader")),
            (vec![prepare(), arm(), prepare()], None),
        ] {
            let (to_worker, received) = std::sync::mpsc::channel();
            orders.into_iter().for_each(|order| to_worker.send(order).expect("a receiver"));
            drop(to_worker);
            let ended = Worker::new(&Shared::default(), &writer).work(&received);
            match (ended, why) {
                (Ok(()), None) => (),
                (Err(said), Some(why)) => assert!(said.contains(why), "{said}"),
                (ended, why) => panic!("{ended:?} instead of {why:?}"),
            }
        }
    }

    /// A window at 500 requests/s whose start was 200 ms ago, and how many requests the server got.
    fn begun_late(is_stopped: bool) -> (Measured, u64) {
        let server = assay_testkit::CountingServer::start();
        let scenario = for_url(&server.url).expect("a URL").1;
        let mut generator =
            Generator::new(GeneratorConfig::new(server.url.clone(), scenario, 4)).expect("a generator");
        let load = Load::Open { arrivals: ArrivalLaw::Constant, rate_per_s: 500.0 };
        let length = Duration::from_millis(600);
        let opened = generator.ready(&load, length, &AtomicBool::new(false), &mut |_| ()).expect("a server");
        let at_ns = monotonic_ns() - 200_000_000;
        let start = Start { at_ns, part: Part::WHOLE, seed: 1, opened };
        let window = LoadWindow { load, settle: Duration::ZERO, length, slow_above: None };
        let stop = AtomicBool::new(is_stopped);
        let measured = generator.window_from(start, &window, None, &stop, &mut |_| ()).expect("a window");
        (measured, server.count())
    }

    /// An order that comes late, or a host that wakes late, cannot flatter: what should have been sent by then is late.
    #[test]
    fn a_start_in_the_past_shows_in_the_send_lag_and_makes_the_part_invalid() {
        let (measured, counted) = begun_late(false);
        assert_eq!((measured.requests, counted), (300, 300), "all that was due is sent");
        assert!(measured.send_lag.max() >= 190_000_000, "{}", measured.send_lag.max());
        assert!(measured.generator_faults().iter().any(|fault| fault.text.contains("send lag")));
    }

    #[test]
    fn what_is_stopped_before_it_begins_sends_nothing_though_requests_are_due() {
        let (measured, counted) = begun_late(true);
        assert_eq!((measured.requests, counted, measured.stopped), (0, 0, true));
    }
}
