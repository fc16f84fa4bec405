//! The fresh design: a process for each trial, in interleaved blocks.

use super::server::{Server, Turn};
use super::state::{Failure, Run, why_not};
use super::{benchmark, beside, procedure};
use crate::plan::load_seed;
use crate::variant::VariantLaunch;
use assay_model::{PlannedProcedure, PlannedTrial, Trial, TrialOutcome};

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

/// Launches until a trial counts, or the repeats are used up. A disturbed window of a server is measured again on the same
/// server; a benchmark program measures once a launch, and a capacity takes a server that nothing has happened to, so these are
/// launched again.
fn with_repeats(run: &mut Run<'_>, launch: &VariantLaunch, planned: &PlannedTrial) -> Result<(), Failure> {
    let is_benchmark = run.prepared.plan.procedure == PlannedProcedure::Benchmark;
    let measures_once = run.prepared.plan.procedure.measures_once();
    let (mut reason, mut has_counted) = (String::new(), false);
    for attempt in 1..=run.prepared.layout.repeats_max + 1 {
        let turn = Turn { block: planned.block, attempt, seed: planned.seed };
        let launched =
            if is_benchmark { benchmark::one(run, launch, turn)? } else { one(run, launch, turn)? };
        match launched {
            Ok(_) if !run.has_time() => return Ok(()),
            Ok(trial) if measures_once && benchmark::is_settled(&trial) => return Ok(()),
            Ok(trial) if measures_once && (trial.counts() || has_invalid_capacity(&trial)) => {
                has_counted = true;
            }
            Ok(trial) if trial.counts() => return Ok(()),
            Ok(trial) => reason = why_not(&trial),
            // What lies in the variant itself is the same at every attempt.
            Err(reason) => {
                run.given_up.insert(planned.variant.clone(), reason);
                return Ok(());
            }
        }
    }
    if !has_counted {
        run.given_up.insert(planned.variant.clone(), reason);
    }
    Ok(())
}

/// Whether a capacity was found that cannot be used, for whatever reason: the next block may have a better one.
fn has_invalid_capacity(trial: &Trial) -> bool {
    trial.outcome == TrialOutcome::Completed && trial.windows.iter().any(|w| !w.disturbances.is_empty())
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
    let mut procedure = procedure::of_server(run, server);
    let load = procedure::generator_of(run, server, server.trial.seed)?;
    beside::warm_up(run, server, &mut *procedure, load)?;
    let (first, attempts) = match run.prepared.plan.procedure.measures_once() {
        true => (turn.attempt, 1),
        false => (1, run.prepared.layout.repeats_max + 1),
    };
    for attempt in first..first + attempts {
        let seed = load_seed(run.prepared.plan.seed, turn.block, attempt);
        let load = procedure::generator_of(run, server, seed)?;
        let turn = assay_measure::Turn { block: turn.block, attempt, is_last: true };
        if beside::measure(run, server, &mut *procedure, load, turn)? || !run.has_time() {
            break;
        }
    }
    Ok(())
}
