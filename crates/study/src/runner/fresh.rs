//! The fresh design: a process for each trial, in interleaved blocks.

use super::server::{Server, Turn};
use super::{Failure, Run, measure};
use crate::plan::load_seed;
use crate::prepare::VariantLaunch;
use assay_model::{PlannedTrial, Trial, TrialOutcome};

/// Runs what is planned and not done yet.
pub(super) fn run_all(run: &mut Run<'_>, launches: &[VariantLaunch]) -> Result<(), Failure> {
    let planned = run.prepared.plan.trials.clone();
    let mut block = 0;
    for trial in &planned {
        if run.is_done(trial) || run.given_up.contains_key(&trial.variant) {
            continue;
        }
        if trial.block != block {
            block = trial.block;
            if !run.has_time_for_block(block) {
                return Ok(());
            }
        }
        let Some(launch) = launches.iter().find(|l| l.variant.name == trial.variant) else { continue };
        with_repeats(run, launch, trial)?;
    }
    Ok(())
}

/// Launches until a trial counts, or the repeats are used up.
fn with_repeats(run: &mut Run<'_>, launch: &VariantLaunch, planned: &PlannedTrial) -> Result<(), Failure> {
    let mut reason = String::new();
    for attempt in 1..=run.prepared.layout.repeats_max + 1 {
        let turn = Turn { block: planned.block, attempt, seed: planned.seed };
        match one(run, launch, turn)? {
            Ok(trial) if trial.counts() || !run.has_time() => return Ok(()),
            Ok(trial) => reason = why_not(&trial),
            // What lies in the variant itself is the same at every attempt.
            Err(reason) => {
                run.given_up.insert(planned.variant.clone(), reason);
                return Ok(());
            }
        }
    }
    run.given_up.insert(planned.variant.clone(), reason);
    Ok(())
}

/// Why a trial does not count.
pub(super) fn why_not(trial: &Trial) -> String {
    match (&trial.outcome, &trial.audit) {
        (TrialOutcome::Failed { reason }, _) => reason.clone(),
        (_, Some(audit)) => format!("its audit failed: {}", audit.detail),
        _ => "it was interrupted".to_owned(),
    }
}

/// One launch. The inner error says that the variant cannot work at all.
fn one(run: &mut Run<'_>, launch: &VariantLaunch, turn: Turn) -> Result<Result<Trial, String>, Failure> {
    let mut server = Server::start(run, launch, turn)?;
    let worked = work(run, &mut server, turn);
    let (outcome, hopeless) = match worked {
        Ok(()) => (TrialOutcome::Completed, None),
        Err(Failure::Trial(reason)) => (TrialOutcome::Failed { reason }, None),
        Err(Failure::Variant(reason)) => (TrialOutcome::Failed { reason: reason.clone() }, Some(reason)),
        Err(Failure::Interrupted) => (TrialOutcome::Interrupted, None),
        Err(failure) => return Err(failure),
    };
    if outcome == TrialOutcome::Completed {
        server.audit(run);
    }
    let interrupted = outcome == TrialOutcome::Interrupted;
    let trial = server.conclude(run, outcome)?;
    if interrupted {
        return Err(Failure::Interrupted);
    }
    Ok(hopeless.map_or(Ok(trial), Err))
}

/// From the start to the last window. A disturbed window is measured again on the same, warm server.
fn work(run: &mut Run<'_>, server: &mut Server<'_>, turn: Turn) -> Result<(), Failure> {
    server.wait_until_ready(run)?;
    measure::warm_up(run, server)?;
    for attempt in 1..=run.prepared.layout.repeats_max + 1 {
        let seed = load_seed(run.prepared.plan.seed, turn.block, attempt);
        if measure::window(run, server, turn.block, attempt, seed)? || !run.has_time() {
            break;
        }
    }
    Ok(())
}
