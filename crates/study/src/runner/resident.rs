//! The resident design: all servers up and warm, measured in alternating windows while the others are suspended.

use super::launched::TrialId;
use super::server::Server;
use super::state::{Failure, Run};
use super::{procedure, supervise};
use crate::plan::order::{load_seed, order, warm_up_seed};
use crate::plan::variant_launch::VariantLaunch;
use assay_model::{Trial, TrialOutcome};

/// Servers that start at the same time in the resident design.
const STARTING_MAX: usize = 2;

/// Servers by variant, in the plan's order; one that failed is gone.
type Servers<'a> = Vec<Option<Server<'a>>>;

/// Runs the blocks that are not done yet.
pub(super) fn run_all(run: &mut Run<'_>, launches: &[VariantLaunch]) -> Result<(), Failure> {
    let first = run.blocks_done() + 1;
    if run.prepared.layout.blocks < first || run.is_decided(&[])? {
        return Ok(());
    }
    let mut servers: Servers<'_> = launches.iter().map(|_| None).collect();
    let worked = work(run, launches, &mut servers, first);
    match worked {
        Ok(()) | Err(Failure::Interrupted) => {}
        Err(failure) => return Err(failure),
    }
    // Windows that were measured before Ctrl-C are good: they are audited and kept.
    end_all(run, &mut servers)?;
    worked
}

fn work<'a>(
    run: &mut Run<'_>,
    launches: &'a [VariantLaunch],
    servers: &mut Servers<'a>,
    first_block: u32,
) -> Result<(), Failure> {
    start_all(run, launches, servers, first_block)?;
    for at in 0..servers.len() {
        step(run, servers, at, |run, server| {
            server.resume();
            let mut procedure = procedure::of_server(run, server);
            let seed = warm_up_seed(run.prepared.plan.seed, first_block);
            let load = procedure::generator_of(run, server, seed)?;
            supervise::warm_up(run, server, &mut *procedure, load)?;
            server.procedure = Some(procedure);
            server.hold();
            Ok(())
        })?;
    }
    for block in first_block..=run.prepared.layout.blocks {
        if !run.has_time_for_block(block) || run.is_decided(&under_way(servers))? {
            break;
        }
        one_block(run, servers, block)?;
    }
    Ok(())
}

/// The trials of servers that are up, as if they ended now.
fn under_way(servers: &Servers<'_>) -> Vec<Trial> {
    let whole =
        |server: &Server<'_>| Trial { outcome: TrialOutcome::Completed, ..server.launched.trial.clone() };
    servers.iter().flatten().map(whole).collect()
}

/// Starts the servers, a few at a time; each is suspended as soon as it is ready.
fn start_all<'a>(
    run: &mut Run<'_>,
    launches: &'a [VariantLaunch],
    servers: &mut Servers<'a>,
    first_block: u32,
) -> Result<(), Failure> {
    let (plan_seed, count) = (run.prepared.plan.seed, launches.len());
    let order = order(count, 1, run.prepared.layout.kind, plan_seed);
    for together in order.chunks(STARTING_MAX) {
        for at in together {
            // It could not be built.
            if run.given_up.contains_key(&launches[*at].variant.name) {
                continue;
            }
            let id = TrialId { block: 1, attempt: 1, seed: load_seed(plan_seed, first_block, 1) };
            servers[*at] = Some(Server::start(run, &launches[*at], id)?);
        }
        for at in together {
            step(run, servers, *at, |run, server| {
                server.wait_until_ready(run)?;
                server.hold();
                Ok(())
            })?;
        }
    }
    Ok(())
}

/// Measures a window of every server, then repeats the disturbed ones.
fn one_block(run: &mut Run<'_>, servers: &mut Servers<'_>, block: u32) -> Result<(), Failure> {
    let mut turns = order(servers.len(), block, run.prepared.layout.kind, run.prepared.plan.seed);
    for attempt in 1..=run.prepared.layout.repeats_max + 1 {
        let seed = load_seed(run.prepared.plan.seed, block, attempt);
        let mut again = Vec::new();
        for at in turns {
            let mut answers = true;
            step(run, servers, at, |run, server| {
                server.resume();
                let load = procedure::generator_of(run, server, seed)?;
                let mut procedure =
                    server.procedure.take().unwrap_or_else(|| procedure::of_server(run, server));
                let turn = assay_measure::MeasurementId::alone(block, attempt);
                answers = supervise::measure(run, server, &mut *procedure, load, turn)?;
                server.procedure = Some(procedure);
                server.hold();
                Ok(())
            })?;
            if !answers {
                again.push(at);
            }
        }
        if again.is_empty() || !run.may_repeat() {
            break;
        }
        turns = again;
    }
    Ok(())
}

/// Has a server take a step; if it fails, its trial ends and the others go on.
fn step<'a>(
    run: &mut Run<'_>,
    servers: &mut Servers<'a>,
    at: usize,
    work: impl FnOnce(&mut Run<'_>, &mut Server<'a>) -> Result<(), Failure>,
) -> Result<(), Failure> {
    let Some(server) = servers[at].as_mut() else { return Ok(()) };
    match work(run, server) {
        Err(Failure::Trial(reason) | Failure::Variant(reason)) => {
            run.given_up.insert(server.launched.trial.variant.clone(), reason.clone());
            if let Some(server) = servers[at].take() {
                server.conclude(run, TrialOutcome::Failed { reason })?;
            }
            Ok(())
        }
        other => other,
    }
}

/// Audits the servers one after the other, then stops all at once.
fn end_all(run: &mut Run<'_>, servers: &mut Servers<'_>) -> Result<(), Failure> {
    for server in servers.iter_mut().flatten() {
        server.resume();
        if !server.launched.trial.windows.is_empty() {
            server.end_windows(run);
        }
        // Held again, so that the next audit has the machine to itself; being asked to stop lets it run.
        server.hold();
    }
    servers.iter_mut().flatten().for_each(|server| server.ask_to_stop());
    for server in servers.iter_mut().filter_map(Option::take) {
        let measured = !server.launched.trial.windows.is_empty();
        let outcome = if measured { TrialOutcome::Completed } else { TrialOutcome::Interrupted };
        server.conclude(run, outcome)?;
    }
    Ok(())
}
