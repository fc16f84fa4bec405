//! Adds up what several injectors, or threads, recorded in one window. All of it is sums of counts: exact, and the same in every order.

use assay_load::recorder::sum;
use assay_load::{LimitedTimes, Load, Measured, Progress, SLOW_REQUESTS_MAX, SessionProgress, WindowDetail};
use assay_model::Problem;

/// The window as one recorder would have recorded it, by the controller's clock; `parts` with the name of who made each.
///
/// The share of a core is that of the busiest injector, since each has a core of its own and the slowest holds the load up.
/// What makes one injector's part invalid makes the whole invalid, also where the sum would hide it. Absent for no parts.
pub(crate) fn merged(load: Load, seed: u64, parts: &[(String, Measured)]) -> Option<Measured> {
    let (_, first) = parts.first()?;
    let mut whole = Measured { load, seed, problems: Vec::new(), ..first.clone() };
    for (_, part) in &parts[1..] {
        add(&mut whole, part);
    }
    let detail = &mut whole.detail;
    detail.slow.sort_by_key(|one| one.done_ns);
    let beyond = detail.slow.len().saturating_sub(SLOW_REQUESTS_MAX) as u64;
    detail.slow.truncate(SLOW_REQUESTS_MAX);
    detail.slow_not_kept = detail.slow_not_kept.saturating_add(beyond);
    for (name, part) in parts {
        let from =
            |problem: &Problem| Problem { about: format!("{name}: {}", problem.about), ..problem.clone() };
        whole.problems.extend(part.problems.iter().map(from));
        if !part.stopped {
            whole.faults.extend(part.generator_faults().iter().map(from));
        }
    }
    Some(whole)
}

/// How far all have got together.
pub(crate) fn progress(beats: impl Iterator<Item = Progress>) -> Progress {
    beats.fold(Progress::default(), |sum, beat| Progress {
        elapsed: sum.elapsed.max(beat.elapsed),
        requests: sum.requests.saturating_add(beat.requests),
        completed: sum.completed.saturating_add(beat.completed),
        errors: sum.errors.saturating_add(beat.errors),
        in_flight: sum.in_flight.saturating_add(beat.in_flight),
        // Percentiles of parts do not add up.
        response_ns: None,
        starting: starting(sum.starting, beat.starting),
    })
}

/// Users of all; the slowest say how long it takes.
fn starting(sum: Option<SessionProgress>, one: Option<SessionProgress>) -> Option<SessionProgress> {
    let Some((sum, one)) = sum.zip(one) else { return sum.or(one) };
    Some(SessionProgress {
        begun: sum.begun.saturating_add(one.begun),
        users: sum.users.saturating_add(one.users),
        left: sum.left.max(one.left),
    })
}

fn add(whole: &mut Measured, part: &Measured) {
    whole.end_monotonic_ns = whole.end_monotonic_ns.max(part.end_monotonic_ns);
    whole.requests = whole.requests.saturating_add(part.requests);
    whole.completed = whole.completed.saturating_add(part.completed);
    for (sum, count) in whole.errors_by_kind.iter_mut().zip(part.errors_by_kind) {
        *sum = sum.saturating_add(count);
    }
    whole.sent_again = whole.sent_again.saturating_add(part.sent_again);
    sum(&mut whole.response, &part.response);
    sum(&mut whole.service, &part.service);
    sum(&mut whole.send_lag, &part.send_lag);
    for (sum, one) in whole.operations.iter_mut().zip(&part.operations) {
        sum.requests = sum.requests.saturating_add(one.requests);
        sum.selected = sum.selected.zip(one.selected).map(|(sum, one)| sum.saturating_add(one));
        sum.redirects = sum.redirects.zip(one.redirects).map(|(sum, one)| sum.saturating_add(one));
        sum.errors = sum.errors.saturating_add(one.errors);
    }
    whole.breakdown.add(&part.breakdown);
    whole.completions.add(&part.completions);
    whole.settling.add(&part.settling);
    whole.drained = whole.drained.saturating_add(part.drained);
    whole.stood_still_ns = whole.stood_still_ns.max(part.stood_still_ns);
    if whole.generator_cpu_share() < part.generator_cpu_share() {
        whole.generator_cpu_ns = part.generator_cpu_ns;
        whole.generator_wall_ns = part.generator_wall_ns;
    }
    if let (Some(sum), Some(more)) = (&mut whole.deliveries, &part.deliveries) {
        sum.add_all(more);
    }
    whole.users = whole.users.saturating_add(part.users);
    whole.session_starts.add_all(&part.session_starts);
    whole.handshakes.add_all(&part.handshakes);
    whole.spoken.add_all(&part.spoken);
    whole.stopped |= part.stopped;
    add_detail(&mut whole.detail, &part.detail);
}

fn add_detail(whole: &mut WindowDetail, part: &WindowDetail) {
    // Named one by one, so that what is added to it later cannot be forgotten here.
    let WindowDetail { limited, apart, slow, slow_not_kept, connection_waits, gaps } = part;
    add_limited(&mut whole.limited, limited);
    whole.apart.iter_mut().zip(apart).for_each(|(whole, part)| add_limited(whole, part));
    whole.slow.extend_from_slice(slow);
    whole.slow_not_kept = whole.slow_not_kept.saturating_add(*slow_not_kept);
    whole.connection_waits = whole.connection_waits.saturating_add(*connection_waits);
    sum(&mut whole.gaps, gaps);
}

fn add_limited(whole: &mut LimitedTimes, part: &LimitedTimes) {
    let LimitedTimes { right, failed } = part;
    sum(&mut whole.right, right);
    whole.failed = whole.failed.saturating_add(*failed);
}
