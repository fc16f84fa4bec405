//! Has a procedure measure a server in a thread of its own. The run's own thread, which started the server, supervises it meanwhile:
//! whether it lives, whether the user wants to stop, which events to emit.

use super::faults::Faults;
use super::procedure::threads_of;
use super::server::Server;
use super::state::{Failure, Run};
use assay_load::{GeneratorConfig, LoadError, SessionProgress};
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

/// Warms the server up, where the procedure does.
pub(super) fn warm_up(
    run: &mut Run<'_>,
    server: &mut Server<'_>,
    procedure: &mut dyn Procedure,
    load: GeneratorConfig,
) -> Result<(), Failure> {
    let (watched, done) =
        on_a_thread(run, server, load, ("during warm-up", &mut 0.0, None), |with| procedure.warm_up(with));
    watched?;
    server.launched.trial.warm_up = done?;
    if server.launched.trial.warm_up.is_some() {
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
    let (number, block) = (server.launched.trial.number, turn.block);
    let variant = server.launched.trial.variant.clone();
    run.emit(RunEventKind::WindowStarted { number, variant: variant.clone(), block })?;
    // The part of its budget that a search does not need is done, too.
    let mut left_s = if turn.attempt == 1 { run.prepared.layout.whole_window_s() } else { 0.0 };
    let when = match run.prepared.plan.procedure.capacity() {
        Some(_) => "while its capacity was measured",
        None => "while it was measured",
    };
    if let Some(role) = server.launched.processes.lost() {
        let what = format!(
            "the {role} was ended by a fault and is not there for another window: restart = true starts it again"
        );
        return Err(Failure::Trial(what));
    }
    let mut faults = server.watch.as_ref().map(|watch| server.faults(run, turn, watch.replacements()));
    let supervised = (when, &mut left_s, faults.as_mut());
    let (watched, mut done) =
        on_a_thread(run, server, load, supervised, |with| procedure.measure(with, turn));
    if let Ok(Some(Measurement { capacity: Some(report), .. })) = &mut done
        && !report.windows.is_empty()
    {
        report.users = server.launched.trial.users;
        report.session_starts.clone_from(&server.launched.trial.session_starts);
        // A search that was stopped is kept, too; a failed check marks it.
        run.dir.write_json(&format!("{}/{}", server.launched.folder_name, file::CAPACITY), report)?;
    }
    watched?;
    server.check_alive(when)?;
    let Measurement { mut window, audit, .. } = done?.ok_or(Failure::Interrupted)?;
    if let Some(faults) = &mut faults {
        end_faults(run, server, faults, when)?;
        faults.add_to(&mut window);
    }
    server.launched.trial.audit = audit.or(server.launched.trial.audit.take());
    let (answers, requests, disturbed) = (run.note_window(&window), window.completed, window.left_out());
    server.launched.trial.windows.push(window);
    run.advance(left_s);
    run.emit(RunEventKind::WindowEnded { number, variant, block, requests, disturbed })?;
    Ok(answers)
}

/// How supervising the server ended, and the result of the thread.
type Supervised<T> = (Result<(), Failure>, Result<T, Failure>);

fn on_a_thread<T: Send>(
    run: &mut Run<'_>,
    server: &mut Server<'_>,
    load: GeneratorConfig,
    supervised: (&str, &mut f64, Option<&mut Faults>),
    work: impl FnOnce(&mut Context<'_>) -> Result<T, LoadError> + Send,
) -> Supervised<T> {
    let Some(mut watch) = server.watch.take() else {
        let what = "a server is measured that is not watched".to_owned();
        return (Ok(()), Err(Failure::Run(crate::StudyError::Internal(what))));
    };
    let stop = AtomicBool::new(false);
    let (kept, seed) = (server.load.take(), load.seed);
    let (mut data, source_of) = (server.data_urls(&stop), run.source);
    let threads = threads_of(run, server);
    let (sender, events) = channel();
    let (watched, done) = std::thread::scope(|scope| {
        let (watcher, data, stop) = (&mut watch, &mut data, &stop);
        let thread = scope.spawn(move || {
            let mut source = kept.map_or_else(|| source_of(load, threads), Ok)?;
            source.draw_from(seed);
            // The receiver is gone when the run ends early: then nobody wants to know.
            let mut on_event = |event: MeasureEvent| drop(sender.send(event));
            let done = work(&mut Context {
                source: &mut *source,
                watcher,
                data: Some(data),
                stop,
                on_event: &mut on_event,
            })?;
            Ok((done, source))
        });
        let watched = supervise(run, server, &events, supervised);
        stop.store(true, Ordering::Relaxed);
        (watched, thread.join())
    });
    let trial = &mut server.launched.trial;
    (trial.users, trial.session_starts) = watch.users();
    server.watch = Some(watch);
    let done = match done {
        Ok(Ok((done, source))) => {
            server.load = Some(source);
            Ok(done)
        }
        Ok(Err(e @ LoadError::Connect { .. })) => Err(Failure::Trial(e.to_string())),
        Ok(Err(e)) => Err(Failure::Variant(e.to_string())),
        Err(_) => Err(Failure::Run(crate::StudyError::Internal("measuring panicked".to_owned()))),
    };
    // The supervisor's reason says more than the error that the load met after it.
    (watched, done)
}

/// Until the thread has ended.
fn supervise(
    run: &mut Run<'_>,
    server: &mut Server<'_>,
    events: &Receiver<MeasureEvent>,
    (when, left_s, mut faults): (&str, &mut f64, Option<&mut Faults>),
) -> Result<(), Failure> {
    let mut emitted = LastEmitted::default();
    loop {
        match events.recv_timeout(POLL_INTERVAL) {
            Ok(MeasureEvent::WindowBegins { start_monotonic_ns }) => {
                faults.iter_mut().for_each(|faults| faults.begin(start_monotonic_ns));
            }
            Ok(event) => emit_progress(run, server.launched.trial.number, event, (&mut emitted, left_s))?,
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => return Ok(()),
        }
        run.check_stop()?;
        if let Some(faults) = &mut faults {
            step_faults(run, server, faults)?;
        }
        server.check_alive(when)?;
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
