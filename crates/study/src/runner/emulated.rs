//! One trial in a guest under full-system emulation: the guest is built, started, and left to itself until it ends. Its counts are the
//! trial's window.

use super::guest::{self, BuiltGuest};
use super::launched::{Begun, Launched, Starting, TrialId};
use super::self_ending::{conclude, measure};
use super::state::{Failure, Run};
use crate::error::StudyError;
use crate::plan::variant_launch::VariantLaunch;
use assay_emulate::{GuestReport, IMAGE_FILE, REPORT_FILE};
use assay_jdk::modes;
use assay_launch::{Placeholders, ProcessSpec, ReadyWhen};
use assay_measure::Emulated;
use assay_measure::observers::Observers;
use assay_model::{Problem, Trial, Window, file};
use std::time::Duration;

/// How long an emulator may take to stop when it is asked to.
const STOP: Duration = Duration::from_secs(30);
/// Wall time after which a guest is stopped: many times what it should take, and never less than the seconds here. A full machine
/// makes it slow, and changes nothing of what is counted.
const TIMEOUT_FACTOR: f64 = 20.0;
const TIMEOUT_S_MIN: f64 = 1800.0;
/// One guest, and whether its variant cannot work at all.
pub(super) fn one(run: &mut Run<'_>, launch: &VariantLaunch, id: TrialId) -> Result<(Trial, bool), Failure> {
    let planned = run.prepared.plan.procedure.emulation().cloned();
    let planned = planned.ok_or_else(|| internal("the study emulates nothing"))?;
    let begun = Begun::begin(run, launch, id)?;
    // Every trial has a seed of its own: the effects of layout and random numbers are then part of the interval.
    let emulator_seed = id.seed.wrapping_add(u64::from(begun.number));
    let built = guest::build(run, &begun, &planned, emulator_seed);
    let left_out = built.as_ref().map(|built| built.left_out.clone()).unwrap_or_default();
    let starting = built.map(|built| starting(&begun, built));
    let mut launched = begun.start(run, starting)?;
    launched.trial.problems.extend(left_out.into_iter().map(|why| {
        let fix =
            "it is not in the guest, and [emulated] files = [\"...\"] names what of it the server needs";
        Problem::new("guest", format!("{why}: {fix}"))
    }));
    let mut procedure = Emulated {
        folder: launched.folder.clone(),
        bounds: run.prepared.bounds,
        processor: planned.processor,
    };
    let timeout_s = (TIMEOUT_FACTOR * crate::check::emulation::trial_s(&planned)).max(TIMEOUT_S_MIN);
    let timeout = Duration::from_secs_f64(timeout_s);
    let none = Observers::default();
    let ended = measure(run, &mut launched, id, &mut procedure, timeout, none);
    let ended = ended.and_then(|measurement| {
        launched.trial.audit = measurement.audit;
        complete(&mut launched, measurement.window)
    });
    // It is large, and made again from what is stored.
    let _ = fs_err::remove_file(launched.folder.join(IMAGE_FILE));
    conclude(run, launched, ended)
}

fn internal(what: &str) -> Failure {
    Failure::Run(StudyError::Internal(what.to_owned()))
}

/// The emulator, with a guest that is built in the trial's folder.
fn starting(begun: &Begun<'_>, built: BuiltGuest) -> Starting<'static> {
    let emulator = ProcessSpec {
        is_server: true,
        environment: built.command.env,
        directory: Some(begun.folder.to_string_lossy().into_owned()),
        stop_timeout: STOP,
        ..ProcessSpec::new(file::SERVER, built.command.argv, ReadyWhen::Started)
    };
    Starting { program: Some(emulator), names: Placeholders::default(), options_of_each: &|_| Vec::new() }
}

/// Takes the reference mode from the log that the guest handed out, and keeps the log.
fn complete(launched: &mut Launched<'_>, window: Window) -> Result<(), Failure> {
    let report = GuestReport::read(&launched.folder.join(REPORT_FILE)).map_err(Failure::Trial)?;
    let trial = &mut launched.trial;
    trial.windows.push(window);
    let Some(log) = report.log else { return Ok(()) };
    fs_err::write(launched.folder.join(file::GC_LOG), &log)?;
    let read = assay_gclog::read_jvm(log.as_bytes());
    trial.collector = read.collector;
    trial.mode = read.mode;
    let variant = &launched.launch.variant;
    match (&trial.mode, variant.reference_mode) {
        (Some(read), Some(wanted)) => {
            modes::check(wanted, variant.compact_headers, read).map_err(Failure::Variant)
        }
        (None, Some(_)) => {
            let what =
                "the log does not show which reference mode the JVM chose, so it could not be verified";
            trial.problems.push(Problem::new(file::GC_LOG, what));
            Ok(())
        }
        _ => Ok(()),
    }
}
