//! The duet design: pairs of fresh processes, one of each variant, that run at the same time on half of the processors each.
//!
//! What disturbs the machine disturbs both sides of a pair in the same moment. The halves are not alike either (one takes the
//! interrupts), so the sides swap them in every window. Equal processes differ for good, so the result is over pairs, not over windows.

use super::in_step::{Gate, InStep};
use super::launched::TrialId;
use super::procedure;
use super::server::Server;
use super::side_group;
use super::state::{Failure, Run, why_not};
use super::supervise::{self, Side, WHILE_MEASURED};
use crate::plan::order::{load_seed, warm_up_seed};
use crate::plan::variant_launch::VariantLaunch;
use assay_launch::POLL_INTERVAL;
use assay_linux::{ProcRoot, ProcessTree, Processors};
use assay_measure::{Context, DuetPlace, MeasurementId, Procedure, duet};
use assay_model::{PlannedDuet, PlannedTrial, Trial, TrialOutcome};
use assay_results::is_whole;

/// Windows by which a pair is made longer where too many were disturbed: one on either half.
const FURTHER_WINDOWS: u32 = 2;
/// What is to do where a server cannot start beside the other one.
const SHARED: &str = "Both servers of a pair run at the same time. If they share a port, a file or a database, give each its own: {port} is a free port.";

/// The failure of the side at that place, or of both.
type OfSide<T> = Result<T, (usize, Failure)>;

/// Runs the planned pairs that are not done yet. Where a variant cannot be measured, there is nothing to compare.
pub(super) fn run_all(run: &mut Run<'_>, launches: &[VariantLaunch]) -> Result<(), Failure> {
    let trials = run.prepared.plan.trials.clone();
    let pairs: Vec<&[PlannedTrial]> = trials.chunk_by(|a, b| a.block == b.block).collect();
    for (index, planned) in pairs.iter().enumerate() {
        run.begin_planned(index, pairs.len());
        let [first, second] = planned else { continue };
        if run.is_done(first) && run.is_done(second) {
            continue;
        }
        let goes_on = run.given_up.is_empty() && run.has_time_for_block(first.block);
        if !goes_on || run.is_decided(&[])? {
            break;
        }
        let launch = |of: &PlannedTrial| launches.iter().find(|launch| launch.variant.name == of.variant);
        let (Some(one), Some(other)) = (launch(first), launch(second)) else { continue };
        with_repeats(run, [one, other], first)?;
    }
    Ok(())
}

/// Launches pairs until one counts, or the repeats are used up.
fn with_repeats(
    run: &mut Run<'_>,
    launches: [&VariantLaunch; 2],
    planned: &PlannedTrial,
) -> Result<(), Failure> {
    let mut failed: Vec<Trial> = Vec::new();
    for attempt in 1..=run.prepared.layout.repeats_max + 1 {
        let id = TrialId { block: planned.block, attempt, seed: planned.seed };
        let (trials, is_hopeless) = pair(run, launches, id)?;
        if trials.iter().any(|trial| trial.outcome == TrialOutcome::Interrupted) {
            return Err(Failure::Interrupted);
        }
        if trials.iter().all(Trial::counts) {
            return Ok(());
        }
        failed = trials.into_iter().filter(|trial| !trial.counts()).collect();
        if is_hopeless || !run.may_repeat() {
            break;
        }
    }
    run.given_up.extend(failed.iter().map(|trial| (trial.variant.clone(), why_not(trial))));
    Ok(())
}

/// One launch of both, and whether one of the variants cannot work at all.
fn pair(
    run: &mut Run<'_>,
    launches: [&VariantLaunch; 2],
    id: TrialId,
) -> Result<(Vec<Trial>, bool), Failure> {
    let planned = planned(run)?;
    let halves = halves_of(&planned)?;
    let grouped = run.groups_sides.then(|| [0, 1].map(|at| side_group::launch(launches[at], &halves[at])));
    let own = grouped.as_ref().map_or(launches, |own| own.each_ref());
    let mut servers = Vec::new();
    for (launch, half) in own.into_iter().zip(&halves) {
        servers.push(half.run(|| Server::start(run, launch, id))??);
    }
    let [first, second] = &mut servers[..] else { return Err(internal("a pair has two sides")) };
    let worked = work(run, [first, second], (&planned, &halves), id);
    let (outcomes, is_hopeless) = outcomes(worked, launches)?;
    for (server, outcome) in servers.iter_mut().zip(&outcomes) {
        if *outcome == TrialOutcome::Completed {
            server.end_windows(run);
        }
    }
    servers.iter_mut().for_each(Server::ask_to_stop);
    let concluded = servers.into_iter().zip(outcomes).map(|(server, outcome)| server.conclude(run, outcome));
    Ok((concluded.collect::<Result<_, _>>()?, is_hopeless))
}

fn planned(run: &Run<'_>) -> Result<PlannedDuet, Failure> {
    run.prepared.plan.duet.clone().ok_or_else(|| internal("the plan has no pairs"))
}

fn halves_of(planned: &PlannedDuet) -> Result<[Processors; 2], Failure> {
    let [Some(first), Some(second)] = planned.halves.each_ref().map(|list| Processors::parse(list)) else {
        return Err(internal("the halves are not lists of processors"));
    };
    Ok([first, second])
}

fn internal(what: &str) -> Failure {
    Failure::Run(crate::StudyError::Internal(what.to_owned()))
}

/// How the trials of a pair ended: where one side has failed, there is nothing to compare the other with. An error that ends the run stays a
/// failure.
fn outcomes(worked: OfSide<()>, launches: [&VariantLaunch; 2]) -> Result<([TrialOutcome; 2], bool), Failure> {
    let (at, reason, is_hopeless) = match worked {
        Ok(()) => return Ok(([TrialOutcome::Completed, TrialOutcome::Completed], false)),
        Err((_, Failure::Interrupted)) => {
            return Ok(([TrialOutcome::Interrupted, TrialOutcome::Interrupted], false));
        }
        Err((at, Failure::Trial(reason))) => (at, reason, false),
        Err((at, Failure::Variant(reason))) => (at, reason, true),
        Err((_, failure)) => return Err(failure),
    };
    let of_other = format!("the other side of its pair, {}, failed: {reason}", launches[at].variant.name);
    let failed =
        |side: usize| TrialOutcome::Failed { reason: if side == at { &reason } else { &of_other }.clone() };
    Ok(([failed(0), failed(1)], is_hopeless))
}

/// From the start to the last window.
fn work<'a>(
    run: &mut Run<'_>,
    mut servers: [&mut Server<'a>; 2],
    (planned, halves): (&PlannedDuet, &[Processors; 2]),
    id: TrialId,
) -> OfSide<()> {
    wait_until_ready(run, &mut servers, halves)?;
    let mut procedures = servers.each_ref().map(|server| procedure::of_server(run, server));
    let seed = warm_up_seed(run.prepared.plan.seed, id.block);
    let places = places(1);
    let mut sides = sides(run, &mut servers, &mut procedures, (halves, places, seed))?;
    supervise::warm_up_all(run, &mut sides)?;
    let mut last = planned.windows;
    let mut number = 1;
    for _ in 0..=run.prepared.layout.repeats_max {
        while number <= last {
            window(run, &mut servers, &mut procedures, (halves, id.block, number))?;
            number += 1;
        }
        let windows = servers.each_ref().map(|server| &server.launched.trial.windows[..]);
        if is_whole(|window| run.answers(window), windows) || !run.may_repeat() {
            break;
        }
        last += FURTHER_WINDOWS;
    }
    Ok(())
}

/// Which half each side has in a window, 1 or 2: they swap in every window.
fn places(number: u32) -> [u32; 2] {
    if number % 2 == 1 { [1, 2] } else { [2, 1] }
}

/// Both start at the same time.
fn wait_until_ready(
    run: &mut Run<'_>,
    servers: &mut [&mut Server<'_>; 2],
    halves: &[Processors; 2],
) -> OfSide<()> {
    let mut is_ready = [false; 2];
    while is_ready != [true; 2] {
        for (at, server) in servers.iter_mut().enumerate() {
            if is_ready[at] {
                continue;
            }
            let of_side = |failure: Failure| (at, of_start(failure));
            // It may start another process in its turn.
            is_ready[at] =
                halves[at].run(|| server.is_ready()).map_err(|e| of_side(e.into()))?.map_err(of_side)?;
            if is_ready[at] {
                server.begin_watching(run).map_err(of_side)?;
                server.watch.iter().for_each(|watch| watch.move_to(&halves[at]));
            }
        }
        run.check_stop().map_err(|failure| (0, failure))?;
        std::thread::sleep(POLL_INTERVAL);
    }
    Ok(())
}

/// What a server may lack that starts alone, where it failed before it was ready.
fn of_start(failure: Failure) -> Failure {
    match failure {
        Failure::Trial(reason) => Failure::Trial(format!("{reason}\n{SHARED}")),
        other => other,
    }
}

/// Both sides with the load of this seed, each on the half of its place.
fn sides<'s, 'a>(
    run: &Run<'_>,
    servers: &'s mut [&mut Server<'a>; 2],
    procedures: &'s mut [Box<dyn Procedure>; 2],
    (halves, places, seed): (&[Processors; 2], [u32; 2], u64),
) -> OfSide<Vec<Side<'s, 'a>>> {
    let all = servers.iter_mut().zip(procedures.iter_mut()).zip(places).enumerate();
    all.map(|(at, ((server, procedure), half))| {
        let load = procedure::generator_of(run, server, seed).map_err(|failure| (at, failure))?;
        let processors = Some(halves[half as usize - 1].clone());
        Ok(Side { processors, ..Side::new(server, &mut **procedure, load) })
    })
    .collect()
}

/// A window of both sides at the same time.
fn window(
    run: &mut Run<'_>,
    servers: &mut [&mut Server<'_>; 2],
    procedures: &mut [Box<dyn Procedure>; 2],
    (halves, block, number): (&[Processors; 2], u32, u32),
) -> OfSide<()> {
    let places = places(number);
    for (at, server) in servers.iter_mut().enumerate() {
        let half = &halves[places[at] as usize - 1];
        move_to(server, half).map_err(|what| (at, Failure::Trial(what)))?;
    }
    let turn =
        |at: usize| MeasurementId { block, attempt: 1, duet: Some(DuetPlace { number, half: places[at] }) };
    for (at, server) in servers.iter().enumerate() {
        supervise::begin_window(run, server, turn(at)).map_err(|failure| (at, failure))?;
    }
    let seed = load_seed(run.prepared.plan.seed, block, number);
    let mut sides = sides(run, servers, procedures, (halves, places, seed))?;
    let gate = Gate::default();
    let measured = supervise::on_threads(run, &mut sides, WHILE_MEASURED, |at, procedure, with| {
        let mut source = InStep { source: &mut *with.source, gate: &gate };
        let mut with = Context {
            source: &mut source,
            watcher: &mut *with.watcher,
            data: None,
            stop: with.stop,
            on_event: &mut *with.on_event,
        };
        procedure.measure(&mut with, turn(at))
    });
    let mut windows = Vec::new();
    for (at, done) in measured.all()?.into_iter().enumerate() {
        let mut window = done.ok_or((at, Failure::Interrupted))?.window;
        window.duet.iter_mut().for_each(|duet| duet.by_group = run.groups_sides);
        windows.push(window);
    }
    if let [first, second] = &mut windows[..] {
        duet::judge(&run.prepared.bounds, [first, second]);
    }
    run.advance(run.prepared.layout.whole_window_s());
    for (at, (server, window)) in servers.iter_mut().zip(windows).enumerate() {
        server.check_alive(WHILE_MEASURED).map_err(|failure| (at, failure))?;
        supervise::end_window(run, server, window).map_err(|failure| (at, failure))?;
    }
    Ok(())
}

/// Moves the processes of a server, and the watch, to a half. Its load generator is a thread that begins there.
fn move_to(server: &mut Server<'_>, half: &Processors) -> Result<(), String> {
    // First the group: within it no other affinity is accepted.
    side_group::move_to(&server.launched.applied.groups, half).map_err(|e| e.to_string())?;
    let proc = ProcRoot::default();
    let pids: Vec<u32> = server.launched.processes.pids().into_iter().map(|(_, pid)| pid).collect();
    let mut tree = ProcessTree::of(pids.into_iter().filter_map(|pid| proc.identity_of(pid).ok()));
    for process in tree.read(&proc).map_err(|e| e.to_string())? {
        let moved = half.run_process(&proc, process.pid);
        moved.map_err(|e| format!("process {} could not be moved to processors {half}: {e}", process.pid))?;
    }
    server.watch.iter().for_each(|watch| watch.move_to(half));
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_that_cannot_start_beside_the_other_one_may_share_something_with_it() {
        let Failure::Trial(reason) = of_start(Failure::Trial("it ended".to_owned())) else {
            panic!("a failed trial")
        };
        assert!(reason.starts_with("it ended\nBoth servers of a pair run at the same time."), "{reason}");
        assert!(matches!(of_start(Failure::Interrupted), Failure::Interrupted));
    }

    #[test]
    fn the_sides_swap_halves_in_every_window_and_each_has_each_as_often() {
        let of_first: Vec<u32> = (1..=6).map(|number| places(number)[0]).collect();
        assert_eq!(of_first, [1, 2, 1, 2, 1, 2]);
        assert!((1..=6).all(|number| places(number)[0] + places(number)[1] == 3), "never the same half");
    }
}
