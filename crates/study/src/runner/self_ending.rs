//! A program that loads itself and ends by itself: a benchmark program, or an emulator with a whole guest in it. It is watched until its
//! end, and is one trial with one window.

use super::launched::{Launched, TrialId};
use super::state::{Failure, Run, outcome_of};
use crate::error::StudyError;
use assay_launch::POLL_INTERVAL;
use assay_measure::observers::{Observers, Target};
use assay_measure::{Context, Measurement, MeasurementId, OwnLoad, Procedure, Watch, WatchConfig};
use assay_model::Trial;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// How often machine and process are sampled: seldom, since what is measured may last nanoseconds.
const WATCH_EVERY: Duration = Duration::from_millis(200);

/// Watches it in a thread of its own until it ends by itself. Its resource usage is read before the process is waited for, since waiting
/// ends its PID and the kernel's account of it.
pub(super) fn measure(
    run: &Run<'_>,
    launched: &mut Launched<'_>,
    id: TrialId,
    procedure: &mut dyn Procedure,
    timeout: Duration,
    mut observers: Observers,
) -> Result<Measurement, Failure> {
    launched.take_failure()?;
    run.check_stop()?;
    let pid = launched.processes.server_pid();
    let mut target = Target { pid, folder: launched.folder.clone(), ..Target::default() };
    observers.each(|o| o.start(&mut target));
    let config = WatchConfig {
        pid,
        companions: launched.processes.companion_pids(),
        every: Some(WATCH_EVERY),
        ..WatchConfig::default()
    };
    let watch = Watch::with_observers(&config, Some((observers, target)));
    let mut watch = watch.map_err(|e| Failure::Trial(e.to_string()))?;
    let (has_ended, stop) = (AtomicBool::new(false), AtomicBool::new(false));
    let turn = MeasurementId::alone(id.block, id.attempt);
    let (waited, measured) = std::thread::scope(|scope| {
        let watcher = &mut watch;
        let (has_ended, stop) = (&has_ended, &stop);
        let thread = scope.spawn(move || {
            let mut source = OwnLoad { has_ended };
            let mut on_event = |_| ();
            let mut with =
                Context { source: &mut source, watcher, data: None, stop, on_event: &mut on_event };
            procedure.measure(&mut with, turn)
        });
        let waited = wait(run, launched, timeout);
        let over = if waited.is_ok() { has_ended } else { stop };
        over.store(true, Ordering::Relaxed);
        (waited, thread.join())
    });
    launched.trial.excluded_observers.extend(watch.finish().excluded);
    waited?;
    match measured {
        Ok(Ok(Some(measurement))) => Ok(measurement),
        Ok(Ok(None)) => Err(Failure::Interrupted),
        Ok(Err(e)) => Err(Failure::Trial(e.to_string())),
        Err(_) => Err(Failure::Run(StudyError::Internal("measuring panicked".to_owned()))),
    }
}

/// Until it ends by itself.
fn wait(run: &Run<'_>, launched: &mut Launched<'_>, timeout: Duration) -> Result<(), Failure> {
    let begun = Instant::now();
    let processes = &mut launched.processes;
    loop {
        run.check_stop()?;
        // Asked in this order: it may end well between the two questions.
        let how = processes.ended("before it was done");
        if processes.server_ended().is_some_and(|ended| ended.code == Some(0)) {
            return Ok(());
        }
        if let Some(how) = how {
            return Err(Failure::Trial(how));
        }
        if timeout <= begun.elapsed() {
            let seconds = timeout.as_secs_f64();
            let program = match run.prepared.plan.procedure.emulation() {
                Some(_) => "emulated guest",
                None => "benchmark program",
            };
            let what = format!("the {program} did not end within {seconds} s");
            return Err(Failure::Trial(what + &processes.last_words()));
        }
        std::thread::sleep(POLL_INTERVAL);
    }
}

/// Stops what is left of it and stores its trial. Also says whether its variant cannot work at all.
pub(super) fn conclude(
    run: &mut Run<'_>,
    mut launched: Launched<'_>,
    completed: Result<(), Failure>,
) -> Result<(Trial, bool), Failure> {
    launched.stop();
    run.advance(run.prepared.layout.window_s);
    let Launched { mut trial, folder_name, .. } = launched;
    for window in &trial.windows {
        run.note_window(window);
    }
    let (outcome, is_hopeless) = outcome_of(completed)?;
    trial.outcome = outcome;
    Ok((run.store(trial, &folder_name)?, is_hopeless))
}
