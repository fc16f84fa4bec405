//! The fresh design: a process for each trial, in interleaved blocks.

use super::launched::TrialId;
use super::server::Server;
use super::state::{Failure, Run, outcome_of, why_not};
use super::{benchmark, emulated, procedure, supervise};
use crate::plan::order::{load_seed, warm_up_seed};
use crate::plan::variant_launch::VariantLaunch;
use assay_model::{PlannedProcedure, PlannedTrial, Trial, TrialOutcome};

/// Runs the planned trials that are not done yet.
pub(super) fn run_all(run: &mut Run<'_>, launches: &[VariantLaunch]) -> Result<(), Failure> {
    let planned = run.prepared.plan.trials.clone();
    let mut block = 0;
    for (index, trial) in planned.iter().enumerate() {
        run.begin_planned(index, planned.len());
        if run.is_done(trial) || run.given_up.contains_key(&trial.variant) {
            continue;
        }
        if trial.block != block {
            block = trial.block;
            if !run.has_time_for_block(block) || run.is_decided(&[])? {
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
    let procedure = run.prepared.plan.procedure.clone();
    let measures_once = procedure.measures_once();
    let (mut reason, mut has_counted) = (String::new(), false);
    for attempt in 1..=run.prepared.layout.repeats_max + 1 {
        let id = TrialId { block: planned.block, attempt, seed: planned.seed };
        let (trial, is_hopeless) = match procedure {
            PlannedProcedure::Benchmark => benchmark::one(run, launch, id)?,
            PlannedProcedure::Emulated(_) => emulated::one(run, launch, id)?,
            PlannedProcedure::Windows | PlannedProcedure::Capacity(_) => one(run, launch, id)?,
        };
        let answers = trial.windows.iter().all(|window| run.answers(window));
        if trial.outcome == TrialOutcome::Interrupted {
            return Err(Failure::Interrupted);
        } else if is_hopeless {
            // A cause in the variant itself is the same at every attempt.
            run.given_up.insert(planned.variant.clone(), why_not(&trial));
            return Ok(());
        } else if !run.may_repeat() || trial.counts() && (answers || !measures_once) {
            return Ok(());
        }
        // A capacity that is not valid was found all the same: the next block may have a better one.
        let was_found = trial.outcome == TrialOutcome::Completed && !answers;
        if measures_once && (trial.counts() || was_found) {
            has_counted = true;
        } else {
            reason = why_not(&trial);
        }
    }
    if !has_counted {
        run.given_up.insert(planned.variant.clone(), reason);
    }
    Ok(())
}

/// One launch of a server, and whether its variant cannot work at all.
fn one(run: &mut Run<'_>, launch: &VariantLaunch, id: TrialId) -> Result<(Trial, bool), Failure> {
    let mut server = Server::start(run, launch, id)?;
    let worked = work(run, &mut server, id);
    let (outcome, is_hopeless) = outcome_of(worked)?;
    if outcome == TrialOutcome::Completed {
        server.end_windows(run);
    }
    Ok((server.conclude(run, outcome)?, is_hopeless))
}

/// From the start to the last window. A disturbed window is measured again on the same, warm server.
fn work(run: &mut Run<'_>, server: &mut Server<'_>, id: TrialId) -> Result<(), Failure> {
    server.wait_until_ready(run)?;
    let mut procedure = procedure::of_server(run, server);
    let seed = warm_up_seed(run.prepared.plan.seed, id.block);
    let load = procedure::generator_of(run, server, seed)?;
    supervise::warm_up(run, server, &mut *procedure, load)?;
    let (first, attempts) = match run.prepared.plan.procedure.measures_once() {
        true => (id.attempt, 1),
        false => (1, run.prepared.layout.repeats_max + 1),
    };
    for attempt in first..first + attempts {
        let seed = load_seed(run.prepared.plan.seed, id.block, attempt);
        let load = procedure::generator_of(run, server, seed)?;
        let turn = assay_measure::MeasurementId::alone(id.block, attempt);
        let answers = supervise::measure(run, server, &mut *procedure, load, turn)?;
        // Where a fault has ended a process for good, no other window is like this one.
        if answers || server.launched.processes.lost().is_some() || !run.may_repeat() {
            break;
        }
    }
    Ok(())
}
