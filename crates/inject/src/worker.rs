//! What an injector does for its controller: the generator, and which order may follow which.

use crate::frame::FrameError;
use crate::message::{Arm, Beat, LoadForm, Order, Prepare, Report, ScenarioForm, WindowForm};
use crate::recorded_form::RecordedForm;
use crate::session::MessageWriter;
use assay_load::{
    ArrivalLaw, Generator, GeneratorConfig, Load, LoadError, LoadWindow, Opened, Part, Progress, Scenario,
    Start, monotonic_ns,
};
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
pub(crate) fn tell(writer: &SharedWriter, report: &Report) -> Result<(), FrameError> {
    writer.lock().unwrap_or_else(PoisonError::into_inner).write(report)
}

/// What the threads of a session share.
#[derive(Default)]
pub(crate) struct Shared {
    /// Ends the window.
    pub stop: AtomicBool,
    /// A window runs; the controller must be heard.
    pub is_loading: AtomicBool,
    pub beat: Mutex<Beat>,
}

impl Shared {
    pub fn beat(&self) -> Beat {
        *self.beat.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn set_beat(&self, beat: Beat) {
        *self.beat.lock().unwrap_or_else(PoisonError::into_inner) = beat;
    }
}

/// How far the orders of a session are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stage {
    /// Nothing to load.
    Empty,
    /// It knows what to load.
    Prepared,
    /// Its connections are open and it waits for the start.
    Armed,
}

impl Stage {
    /// The stage once the order is done; an order that may not come now gives why.
    fn after(self, order: &Order) -> Result<Stage, &'static str> {
        match (self, order) {
            (_, Order::Prepare(_)) => Ok(Stage::Prepared),
            (Stage::Prepared | Stage::Armed, Order::Arm(_)) => Ok(Stage::Armed),
            (Stage::Armed, Order::Start { .. }) => Ok(Stage::Prepared),
            (Stage::Empty, Order::Arm(_)) => Err("a window was armed before anything was prepared"),
            (_, Order::Start { .. }) => Err("a window was started before it was armed"),
            (_, Order::Stop | Order::Ping { .. }) => Err("an order for the reader came to the worker"),
        }
    }
}

/// Does the orders one after the other, until there are no more.
pub(crate) struct Worker<'a> {
    stage: Stage,
    generator: Option<Generator>,
    armed: Option<(Arm, Opened)>,
    shared: &'a Shared,
    writer: &'a SharedWriter,
}

impl<'a> Worker<'a> {
    pub fn new(shared: &'a Shared, writer: &'a SharedWriter) -> Self {
        Worker { stage: Stage::Empty, generator: None, armed: None, shared, writer }
    }

    /// Ends with the session, or at an order out of turn; the latter gives why.
    pub fn work(mut self, orders: &Receiver<Order>) -> Result<(), String> {
        for order in orders {
            let next = self.stage.after(&order)?;
            let report = match self.done(order) {
                Ok(report) => {
                    self.stage = next;
                    report
                }
                Err(error) => Report::Refused { why: error.to_string() },
            };
            tell(self.writer, &report).map_err(|error| error.to_string())?;
        }
        Ok(())
    }

    fn done(&mut self, order: Order) -> Result<Report, LoadError> {
        match order {
            Order::Prepare(prepare) => {
                (self.stage, self.armed) = (Stage::Empty, None);
                self.generator = Some(Generator::new(config(prepare)?)?);
                Ok(Report::Prepared)
            }
            Order::Arm(arm) => {
                self.stage = Stage::Prepared;
                let window = window(&arm);
                let (shared, length) = (self.shared, window.settle + window.length);
                let opened = self.generator()?.ready(&window.load, length, &shared.stop)?;
                self.armed = Some((arm, opened));
                Ok(Report::Armed)
            }
            Order::Start { at_ns } => {
                self.stage = Stage::Prepared;
                self.shared.is_loading.store(true, Ordering::Relaxed);
                let result = self.load(at_ns);
                self.shared.is_loading.store(false, Ordering::Relaxed);
                result.map(|form| Report::Result(Box::new(form)))
            }
            Order::Stop | Order::Ping { .. } => Err(out_of_turn()),
        }
    }

    fn generator(&mut self) -> Result<&mut Generator, LoadError> {
        self.generator.as_mut().ok_or_else(out_of_turn)
    }

    fn load(&mut self, at_ns: u64) -> Result<WindowForm, LoadError> {
        let (arm, opened) = self.armed.take().ok_or_else(out_of_turn)?;
        let ahead = Duration::from_nanos(at_ns.abs_diff(monotonic_ns()));
        if ahead > START_AHEAD_MAX {
            let value = format!("{ahead:?} away");
            return Err(LoadError::Setting { name: "start", value, fix: "use at most 60 s" });
        }
        self.shared.set_beat(Beat::default());
        let shared = self.shared;
        wait_until(at_ns.saturating_sub(READY_BEFORE_NS), &shared.stop);
        let start_late_ns = monotonic_ns().saturating_sub(at_ns);
        let start = Start { at_ns, part: part(&arm.load), seed: arm.seed, opened };
        let window = window(&arm);
        let measured = self.generator()?.window_from(
            start,
            &window,
            None,
            &shared.stop,
            &mut |progress: Progress| {
                shared.set_beat(beat_of(&progress));
            },
        )?;
        shared.set_beat(Beat {
            elapsed_ns: measured.generator_wall_ns,
            requests: measured.requests,
            completed: measured.completed,
            errors: measured.errors(),
            in_flight: 0,
        });
        Ok(WindowForm { start_late_ns, recorded: RecordedForm::of(&measured) })
    }
}

fn out_of_turn() -> LoadError {
    LoadError::Setting { name: "order", value: "out of turn".to_owned(), fix: "prepare, arm, then start" }
}

fn wait_until(at_ns: u64, stop: &AtomicBool) {
    while !stop.load(Ordering::Relaxed)
        && let Some(rest_ns) = at_ns.checked_sub(monotonic_ns()).filter(|rest| *rest > 0)
    {
        std::thread::sleep(Duration::from_nanos(rest_ns).min(STOP_LOOKED_AT_EVERY));
    }
}

fn beat_of(progress: &Progress) -> Beat {
    Beat {
        elapsed_ns: u64::try_from(progress.elapsed.as_nanos()).unwrap_or(u64::MAX),
        requests: progress.requests,
        completed: progress.completed,
        errors: progress.errors,
        in_flight: progress.in_flight,
    }
}

/// The scenario of its form.
pub(crate) fn scenario(form: &ScenarioForm) -> Result<Scenario, LoadError> {
    match form {
        ScenarioForm::Url(url) => Ok(Scenario::for_url(url)?.1),
        ScenarioForm::File { text, name } => Scenario::parse(text, name),
    }
}

fn config(prepare: Prepare) -> Result<GeneratorConfig, LoadError> {
    Ok(GeneratorConfig {
        in_flight_max: prepare.in_flight_max,
        sessions: prepare.sessions,
        seed: prepare.seed,
        limited: prepare.limited,
        ..GeneratorConfig::new(prepare.base_url, scenario(&prepare.scenario)?, prepare.connections)
    })
}

fn part(load: &LoadForm) -> Part {
    match *load {
        LoadForm::Open { part, of, .. } => Part { number: part, of },
        LoadForm::Closed { .. } => Part::WHOLE,
    }
}

/// What this injector is to do; the numbers are checked when the generator is made ready.
fn window(arm: &Arm) -> LoadWindow {
    let load = match arm.load {
        LoadForm::Open { poisson, rate_per_s, .. } => {
            let arrivals = if poisson { ArrivalLaw::Poisson } else { ArrivalLaw::Constant };
            Load::Open { arrivals, rate_per_s }
        }
        LoadForm::Closed { users, think_ns } => Load::Closed { users, think: Duration::from_nanos(think_ns) },
    };
    LoadWindow {
        load,
        settle: Duration::from_nanos(arm.settle_ns),
        length: Duration::from_nanos(arm.length_ns),
        slow_above: arm.slow_above_ns.map(Duration::from_nanos),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn orders() -> [Order; 5] {
        let scenario = ScenarioForm::Url("http://h/".to_owned());
        let prepare = Prepare {
            base_url: "http://h".to_owned(),
            scenario,
            connections: 1,
            in_flight_max: 1,
            sessions: 1,
            seed: 1,
            limited: Vec::new(),
        };
        let load = LoadForm::Closed { users: 1, think_ns: 0 };
        let arm = Arm { load, seed: 1, settle_ns: 0, length_ns: 1, slow_above_ns: None };
        [
            Order::Prepare(prepare),
            Order::Arm(arm),
            Order::Start { at_ns: 0 },
            Order::Stop,
            Order::Ping { number: 1 },
        ]
    }

    #[test]
    fn each_stage_takes_the_orders_that_may_come_and_no_others() {
        use Stage::{Armed, Empty, Prepared};
        let [prepare, arm, start, stop, ping] = orders();
        let table = [
            (Empty, [Some(Prepared), None, None]),
            (Prepared, [Some(Prepared), Some(Armed), None]),
            (Armed, [Some(Prepared), Some(Armed), Some(Prepared)]),
        ];
        for (stage, wanted) in table {
            let after = [&prepare, &arm, &start].map(|order| stage.after(order).ok());
            assert_eq!(after, wanted, "{stage:?}");
            assert!(stage.after(&stop).is_err() && stage.after(&ping).is_err());
        }
    }

    /// An order that comes late, or a host that wakes late, cannot flatter: what should have been sent by then is late.
    #[test]
    fn a_start_in_the_past_shows_in_the_send_lag_and_makes_the_part_invalid() {
        let server = assay_testkit::CountingServer::start();
        let scenario = Scenario::for_url(&server.url).expect("a URL").1;
        let mut generator =
            Generator::new(GeneratorConfig::new(server.url.clone(), scenario, 4)).expect("a generator");
        let load = Load::Open { arrivals: ArrivalLaw::Constant, rate_per_s: 500.0 };
        let length = Duration::from_millis(600);
        let opened = generator.ready(&load, length, &AtomicBool::new(false)).expect("a server");
        let at_ns = monotonic_ns() - 200_000_000;
        let start = Start { at_ns, part: Part::WHOLE, seed: 1, opened };
        let window = LoadWindow { load, settle: Duration::ZERO, length, slow_above: None };
        let measured = generator
            .window_from(start, &window, None, &AtomicBool::new(false), &mut |_| ())
            .expect("a window");
        assert_eq!((measured.requests, server.count()), (300, 300), "all that was due is sent");
        assert!(measured.send_lag.max() >= 190_000_000, "{}", measured.send_lag.max());
        assert!(measured.generator_faults().iter().any(|fault| fault.text.contains("send lag")));
    }
}
