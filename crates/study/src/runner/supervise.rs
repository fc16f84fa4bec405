//! Has procedures measure servers, each in a thread of its own. The run's own thread, which started the servers, supervises them meanwhile:
//! whether they live, whether the user wants to stop, which events to emit.

use super::faults::Faults;
use super::procedure::threads_of;
use super::server::Server;
use super::state::{Failure, Run};
use assay_linux::Processors;
use assay_load::{GeneratorConfig, LoadError, LoadSource, SessionProgress};
use assay_measure::{Context, MeasureEvent, Measurement, MeasurementId, Procedure};
use assay_model::{RunEventKind, SearchStep, Window, file};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::Duration;

/// How often the server and the stop flag are checked.
const POLL_INTERVAL: Duration = Duration::from_millis(20);
/// Least time between two events of a warm-up, or of a load, that goes on: they are for a person who waits.
const EVENT_EVERY_S: f64 = 2.0;
/// The same of users who begin their sessions, which is a line of its own each time.
const SESSIONS_EVERY_S: f64 = 5.0;
/// Completes the sentence that says that a server has ended.
pub(super) const WHILE_MEASURED: &str = "while it was measured";

/// A server that is measured, alone or beside another, with what belongs to it.
pub(super) struct Side<'s, 'a> {
    pub server: &'s mut Server<'a>,
    pub procedure: &'s mut dyn Procedure,
    pub load: GeneratorConfig,
    /// Those that its load generator has; absent: all.
    pub processors: Option<Processors>,
    /// Planned seconds that are not reported as done yet.
    pub left_s: f64,
    pub faults: Option<Faults>,
}

impl<'s, 'a> Side<'s, 'a> {
    /// On all processors, without faults.
    pub fn new(
        server: &'s mut Server<'a>,
        procedure: &'s mut dyn Procedure,
        load: GeneratorConfig,
    ) -> Side<'s, 'a> {
        Side { server, procedure, load, processors: None, left_s: 0.0, faults: None }
    }
}

/// Warms the server up, where the procedure does.
pub(super) fn warm_up(
    run: &mut Run<'_>,
    server: &mut Server<'_>,
    procedure: &mut dyn Procedure,
    load: GeneratorConfig,
) -> Result<(), Failure> {
    warm_up_all(run, &mut [Side::new(server, procedure, load)]).map_err(|(_, failure)| failure)
}

/// Warms servers up at the same time; the failure is of the one at that place.
pub(super) fn warm_up_all(run: &mut Run<'_>, sides: &mut [Side<'_, '_>]) -> Result<(), (usize, Failure)> {
    let done =
        on_threads(run, sides, "during warm-up", |_, procedure, with| procedure.warm_up(with)).all()?;
    for (side, warm_up) in sides.iter_mut().zip(done) {
        side.server.launched.trial.warm_up = warm_up;
    }
    if sides.iter().any(|side| side.server.launched.trial.warm_up.is_some()) {
        run.advance(run.prepared.layout.warm_up_s());
    }
    Ok(())
}

/// Measures once and adds the window to the trial; returns whether it answers what is asked.
pub(super) fn measure(
    run: &mut Run<'_>,
    server: &mut Server<'_>,
    procedure: &mut dyn Procedure,
    load: GeneratorConfig,
    turn: MeasurementId,
) -> Result<bool, Failure> {
    begin_window(run, server, turn)?;
    let when = match run.prepared.plan.procedure.capacity() {
        Some(_) => "while its capacity was measured",
        None => WHILE_MEASURED,
    };
    if let Some(role) = server.launched.processes.lost() {
        let what = format!(
            "the {role} was ended by a fault and is not there for another window: restart = true starts it again"
        );
        return Err(Failure::Trial(what));
    }
    // The part of its budget that a search does not need is done, too.
    let left_s = if turn.attempt == 1 { run.prepared.layout.whole_window_s() } else { 0.0 };
    let faults = server.watch.as_ref().map(|watch| server.faults(run, turn, watch.replacements()));
    let mut side = Side { left_s, faults, ..Side::new(server, procedure, load) };
    let of_one = std::slice::from_mut(&mut side);
    let mut supervised = on_threads(run, of_one, when, |_, procedure, with| procedure.measure(with, turn));
    let Side { server, left_s, mut faults, .. } = side;
    if let Some(Ok(Some(Measurement { capacity: Some(report), .. }))) = supervised.done.first_mut()
        && !report.windows.is_empty()
    {
        report.users = server.launched.trial.users;
        report.session_starts.clone_from(&server.launched.trial.session_starts);
        // A search that was stopped is kept, too; a failed check marks it.
        run.dir.write_json(&format!("{}/{}", server.launched.folder_name, file::CAPACITY), report)?;
    }
    let done = supervised.all().map_err(|(_, failure)| failure)?.pop().flatten();
    server.check_alive(when)?;
    let Measurement { mut window, audit, .. } = done.ok_or(Failure::Interrupted)?;
    if let Some(faults) = &mut faults {
        end_faults(run, server, faults, when)?;
        faults.add_to(&mut window);
    }
    server.launched.trial.audit = audit.or(server.launched.trial.audit.take());
    run.advance(left_s);
    end_window(run, server, window)
}

/// Says that a window begins.
pub(super) fn begin_window(
    run: &mut Run<'_>,
    server: &Server<'_>,
    turn: MeasurementId,
) -> Result<(), Failure> {
    let trial = &server.launched.trial;
    let (number, variant) = (trial.number, trial.variant.clone());
    Ok(run.emit(RunEventKind::WindowStarted { number, variant, block: turn.block })?)
}

/// Adds a window to the trial, and says so; gives whether it answers what is asked.
pub(super) fn end_window(
    run: &mut Run<'_>,
    server: &mut Server<'_>,
    window: Window,
) -> Result<bool, Failure> {
    let (block, requests, disturbed) = (window.block, window.completed, window.left_out());
    let answers = run.note_window(&window);
    let trial = &mut server.launched.trial;
    let (number, variant) = (trial.number, trial.variant.clone());
    trial.windows.push(window);
    run.emit(RunEventKind::WindowEnded { number, variant, block, requests, disturbed })?;
    Ok(answers)
}

/// How supervising ended, with the place of the server that a failure is of; and the results of the threads.
pub(super) struct Supervised<T> {
    watched: Result<(), (usize, Failure)>,
    done: Vec<Result<T, Failure>>,
}

impl<T> Supervised<T> {
    /// The results, where all worked. The supervisor's reason says more than the error that a load met after it.
    pub fn all(self) -> Result<Vec<T>, (usize, Failure)> {
        self.watched?;
        self.done.into_iter().enumerate().map(|(at, done)| done.map_err(|failure| (at, failure))).collect()
    }
}

/// Has each side worked on in a thread of its own, and supervises all. One that fails stops the others.
pub(super) fn on_threads<T: Send>(
    run: &mut Run<'_>,
    sides: &mut [Side<'_, '_>],
    when: &str,
    work: impl Fn(usize, &mut dyn Procedure, &mut Context<'_>) -> Result<T, LoadError> + Sync,
) -> Supervised<T> {
    let (stop, source_of) = (AtomicBool::new(false), run.source);
    let (sender, events) = channel();
    std::thread::scope(|scope| {
        let (mut supervised, mut threads) = (Vec::new(), Vec::new());
        for (at, side) in sides.iter_mut().enumerate() {
            let Side { server, procedure, load, processors, left_s, faults } = side;
            let (stop, work, sender) = (&stop, &work, sender.clone());
            let (watch, kept, mut data) = (server.watch.take(), server.load.take(), server.data_urls(stop));
            let (threads_of_load, load, processors) =
                (threads_of(run, server), load.clone(), processors.clone());
            threads.push(scope.spawn(move || {
                let _panicking = StopOnPanic { stop };
                // The receiver is gone when the run ends early: then nobody wants to know.
                let mut on_event = |event: MeasureEvent| drop(sender.send((at, event)));
                let mut watch = watch.ok_or_else(|| internal("a server is measured that is not watched"))?;
                let worked = || -> Result<(T, Box<dyn LoadSource + Send>), Failure> {
                    processors.map_or(Ok(()), |processors| processors.run_here())?;
                    let seed = load.seed;
                    let mut source =
                        kept.map_or_else(|| source_of(load, threads_of_load), Ok).map_err(of_load)?;
                    source.draw_from(seed);
                    let mut with = Context {
                        source: &mut *source,
                        watcher: &mut watch,
                        data: Some(&mut data),
                        stop,
                        on_event: &mut on_event,
                    };
                    let done = work(at, *procedure, &mut with).map_err(of_load)?;
                    Ok((done, source))
                };
                let worked = worked();
                if worked.is_err() {
                    stop.store(true, Ordering::Relaxed);
                }
                Ok((watch, worked))
            }));
            supervised.push(Supervision { server, left_s, faults, emitted: LastEmitted::default() });
        }
        drop(sender);
        let watched = supervise(run, &mut supervised, &events, when);
        stop.store(true, Ordering::Relaxed);
        let joined = threads
            .into_iter()
            .map(|thread| thread.join().unwrap_or_else(|_| Err(internal("measuring panicked"))));
        let done = joined.zip(supervised).map(|(joined, Supervision { server, .. })| {
            let (watch, worked) = joined?;
            (server.launched.trial.users, server.launched.trial.session_starts) = watch.users();
            server.watch = Some(watch);
            let (done, source) = worked?;
            server.load = Some(source);
            Ok(done)
        });
        Supervised { watched, done: done.collect() }
    })
}

/// A thread that panics stops the others, which may wait for it.
struct StopOnPanic<'a> {
    stop: &'a AtomicBool,
}

impl Drop for StopOnPanic<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.stop.store(true, Ordering::Relaxed);
        }
    }
}

fn internal(what: &str) -> Failure {
    Failure::Run(crate::StudyError::Internal(what.to_owned()))
}

fn of_load(error: LoadError) -> Failure {
    match error {
        LoadError::Connect { .. } => Failure::Trial(error.to_string()),
        error => Failure::Variant(error.to_string()),
    }
}

/// What the run's own thread has of a side while the side's thread works.
struct Supervision<'s, 'a> {
    server: &'s mut Server<'a>,
    left_s: &'s mut f64,
    faults: &'s mut Option<Faults>,
    emitted: LastEmitted,
}

/// Until the threads have ended. The failure is of the side at that place, or of the run.
fn supervise(
    run: &mut Run<'_>,
    sides: &mut [Supervision<'_, '_>],
    events: &Receiver<(usize, MeasureEvent)>,
    when: &str,
) -> Result<(), (usize, Failure)> {
    loop {
        match events.recv_timeout(POLL_INTERVAL) {
            Ok((at, MeasureEvent::WindowBegins { start_monotonic_ns })) => {
                sides[at].faults.iter_mut().for_each(|faults| faults.begin(start_monotonic_ns));
            }
            Ok((at, event)) => {
                let Supervision { server, left_s, emitted, .. } = &mut sides[at];
                let number = server.launched.trial.number;
                emit_progress(run, number, event, (emitted, left_s)).map_err(|failure| (at, failure))?;
            }
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => return Ok(()),
        }
        run.check_stop().map_err(|failure| (0, failure))?;
        for (at, Supervision { server, faults, .. }) in sides.iter_mut().enumerate() {
            let stepped = faults.as_mut().map_or(Ok(()), |faults| step_faults(run, server, faults));
            stepped.and_then(|()| server.check_alive(when)).map_err(|failure| (at, failure))?;
        }
    }
}

/// Does the steps of the faults that are due, and emits their events.
fn step_faults(run: &mut Run<'_>, server: &mut Server<'_>, faults: &mut Faults) -> Result<(), Failure> {
    let events = faults.step(server.launched.trial.number, &mut server.launched.processes)?;
    events.into_iter().try_for_each(|kind| Ok(run.emit(kind)?))
}

/// The window is over: ends the faults that have begun, and waits until the processes that they restart are ready.
fn end_faults(
    run: &mut Run<'_>,
    server: &mut Server<'_>,
    faults: &mut Faults,
    when: &str,
) -> Result<(), Failure> {
    faults.end();
    while !faults.are_over() {
        run.check_stop()?;
        step_faults(run, server, faults)?;
        server.check_alive(when)?;
        std::thread::sleep(POLL_INTERVAL);
    }
    Ok(())
}

/// When progress of a warm-up, of a load and of sessions that begin was last emitted, seconds since that began.
#[derive(Default)]
struct LastEmitted {
    warm_up_s: f64,
    load_s: f64,
    sessions_s: f64,
}

/// Whether it is time for the next event; also where another load has begun.
fn is_due(last_s: &mut f64, elapsed_s: f64, every_s: f64) -> bool {
    let is_due = *last_s + every_s <= elapsed_s || elapsed_s < *last_s;
    if is_due {
        *last_s = elapsed_s;
    }
    is_due
}

fn emit_progress(
    run: &mut Run<'_>,
    number: u32,
    event: MeasureEvent,
    (emitted, left_s): (&mut LastEmitted, &mut f64),
) -> Result<(), Failure> {
    let kind = match event {
        MeasureEvent::WarmUp { elapsed_s, cpu_ms_per_request, .. }
            if is_due(&mut emitted.warm_up_s, elapsed_s, EVENT_EVERY_S) =>
        {
            RunEventKind::WarmUpProgress { number, elapsed_s, cpu_ms_per_request }
        }
        MeasureEvent::Load { progress, planned_s, offered_rate_per_s }
            if is_due(&mut emitted.load_s, progress.elapsed.as_secs_f64(), EVENT_EVERY_S) =>
        {
            let ms = |ns: u64| ns as f64 / 1e6;
            RunEventKind::LoadProgress {
                number,
                load_s: progress.elapsed.as_secs_f64(),
                planned_s,
                offered_rate_per_s,
                completed: progress.completed,
                errors: progress.errors,
                in_flight: progress.in_flight,
                p50_ms: progress.response_ns.map(|(p50, _)| ms(p50)),
                p99_ms: progress.response_ns.map(|(_, p99)| ms(p99)),
            }
        }
        MeasureEvent::Sessions { elapsed_s, progress }
            if is_due(&mut emitted.sessions_s, elapsed_s, SESSIONS_EVERY_S) =>
        {
            let SessionProgress { begun, users, left } = progress;
            RunEventKind::SessionsProgress { number, begun, users, left_s: left.as_secs_f64() }
        }
        MeasureEvent::WarmedUp { is_steady, duration_s } => {
            RunEventKind::WarmUpEnded { number, steady: is_steady, duration_s }
        }
        MeasureEvent::WindowEnded { window, .. } => {
            let Some(step) = &window.search else { return Ok(()) };
            let took_s = (step.cool_down_s + step.settle_s + window.seconds()).clamp(0.0, *left_s);
            *left_s -= took_s;
            run.advance(took_s);
            event_of(number, &window, step)
        }
        _ => return Ok(()),
    };
    Ok(run.emit(kind)?)
}

fn event_of(number: u32, window: &Window, step: &SearchStep) -> RunEventKind {
    RunEventKind::CapacityWindowEnded {
        number,
        step: step.step,
        offered_rate_per_s: step.offered_rate_per_s,
        achieved_rate_per_s: window.achieved_rate_per_s(),
        limited_ms: step.limited_ms,
        is_sustained: step.is_sustained,
        left_out: window.left_out(),
    }
}
