//! Users who begin their sessions outside of the figures: whose turn it is, how many at a time, and how that went.

use crate::law::SessionProgress;
use crate::session_starts::SessionStarts;
use std::collections::{BTreeMap, VecDeque};
use std::time::Duration;

/// Sessions that begin at the same time. What a server takes long for is begun no faster than it can, however many users there are.
const UNDER_WAY_MAX: usize = 16;
/// How long a user waits whose start failed.
const REST_NS: u64 = 1_000_000_000;
/// How often a start is tried before any load.
const ATTEMPTS_MAX: u8 = 2;
/// So many failures and no success are enough to know that none will succeed.
const FAILED_MAX: u64 = 8;
const NS_PER_S: f64 = 1e9;

/// Starts of sessions in a load run, or before it.
pub(super) struct Starts {
    /// Users whose sessions are to begin.
    queue: VecDeque<usize>,
    /// The same after a failure, with the end of their rest.
    resting: VecDeque<(u64, usize)>,
    /// Sessions with requests that can be sent now.
    next_requests: VecDeque<usize>,
    /// By user: since when its session begins.
    begun: BTreeMap<usize, u64>,
    /// By user: failures.
    attempts: BTreeMap<usize, u8>,
    gap_ns: u64,
    /// No session begins before this.
    next_ns: u64,
    counts: SessionStarts,
    given_up: u64,
}

impl Starts {
    /// At most so many a second.
    pub fn new(rate_per_s: f64, now_ns: u64) -> Starts {
        Starts {
            queue: VecDeque::new(),
            resting: VecDeque::new(),
            next_requests: VecDeque::new(),
            begun: BTreeMap::new(),
            attempts: BTreeMap::new(),
            gap_ns: (NS_PER_S / rate_per_s) as u64,
            next_ns: now_ns,
            counts: SessionStarts::none(),
            given_up: 0,
        }
    }

    /// The session of a user is to begin.
    pub fn add(&mut self, user: usize) {
        self.queue.push_back(user);
    }

    /// The server ended a session.
    pub fn add_ended(&mut self, user: usize) {
        self.counts.ended_by_server += 1;
        self.add(user);
    }

    /// Nothing is to be done.
    pub fn are_done(&self) -> bool {
        self.queue.is_empty() && self.resting.is_empty() && self.begun.is_empty()
    }

    /// Requests are under way, or follow.
    pub fn are_under_way(&self) -> bool {
        !self.begun.is_empty()
    }

    /// Whether it is known that users cannot begin: each was tried again, or many were and none could.
    pub fn are_hopeless(&self) -> bool {
        0 < self.given_up || self.counts.times.is_empty() && FAILED_MAX <= self.counts.failed
    }

    /// The user whose next request can be sent now; where `is_over`, none begins any more.
    pub fn next(&mut self, now_ns: u64, is_over: bool) -> Option<usize> {
        if let Some(user) = self.next_requests.pop_front() {
            return Some(user);
        }
        while let Some((_, user)) = self.resting.front().filter(|(until_ns, _)| *until_ns <= now_ns) {
            self.queue.push_back(*user);
            self.resting.pop_front();
        }
        if is_over || now_ns < self.next_ns || UNDER_WAY_MAX <= self.begun.len() {
            return None;
        }
        let user = self.queue.pop_front()?;
        self.next_ns = (self.next_ns + self.gap_ns).max(now_ns);
        self.begun.insert(user, now_ns);
        Some(user)
    }

    /// There was no connection for a user's request.
    pub fn put_back(&mut self, user: usize) {
        self.next_requests.push_front(user);
    }

    /// When the next request can be sent that no answer brings about.
    pub fn due_ns(&self) -> Option<u64> {
        let next_ns = || (self.begun.len() < UNDER_WAY_MAX && !self.queue.is_empty()).then_some(self.next_ns);
        let rested_ns = self.resting.front().map(|(until_ns, _)| *until_ns);
        next_ns().into_iter().chain(rested_ns).min()
    }

    /// A request of a user is answered rightly, and others of the start follow.
    pub fn goes_on(&mut self, user: usize) {
        self.next_requests.push_back(user);
    }

    /// The session of a user has begun.
    pub fn succeeded(&mut self, user: usize, done_ns: u64, is_recorded: bool) {
        self.attempts.remove(&user);
        if let Some(since_ns) = self.begun.remove(&user) {
            self.counts.times.saturating_record(done_ns.saturating_sub(since_ns));
            self.counts.in_window += u64::from(is_recorded);
        }
    }

    /// A request of a user failed; it begins again after a rest.
    pub fn failed(&mut self, user: usize, now_ns: u64, why: impl FnOnce() -> String) {
        self.begun.remove(&user);
        self.counts.failed += 1;
        self.counts.failure.get_or_insert_with(why);
        let attempts = self.attempts.entry(user).or_default();
        *attempts = attempts.saturating_add(1);
        self.given_up += u64::from(ATTEMPTS_MAX <= *attempts);
        self.resting.push_back((now_ns + REST_NS, user));
    }

    /// Users whose sessions did not begin, so far.
    pub fn missing(&self) -> usize {
        self.queue.len() + self.resting.len() + self.begun.len()
    }

    /// How far they are, so long after the first began.
    pub fn progress(&self, elapsed: Duration) -> SessionProgress {
        let (begun, missing) = (self.counts.times.len(), self.missing() as u64);
        let so_far_ns = (elapsed.as_nanos() as u64).checked_div(begun).unwrap_or(0);
        let left = Duration::from_nanos(missing.saturating_mul(self.gap_ns.max(so_far_ns)));
        SessionProgress { begun, users: begun + missing, left }
    }

    /// How they went so far.
    pub fn counts(&self) -> &SessionStarts {
        &self.counts
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_left_takes_as_long_as_so_far_and_no_less_than_the_pace_allows() {
        let mut starts = Starts::new(100.0, 0);
        (0..1_000).for_each(|user| starts.add(user));
        let all = SessionProgress { begun: 0, users: 1_000, left: Duration::from_secs(10) };
        assert_eq!(starts.progress(Duration::from_millis(1)), all);
        for number in 1..=50_u64 {
            let now_ns = number * 10_000_000;
            let user = starts.next(now_ns, false).expect("it is its turn");
            starts.succeeded(user, now_ns, false);
        }
        let progress = starts.progress(Duration::from_secs(1));
        assert_eq!((progress.begun, progress.users), (50, 1_000));
        assert_eq!(progress.left, Duration::from_secs(19), "20 ms each, twice as long as the pace allows");
        assert_eq!(starts.progress(Duration::from_millis(1)).left, Duration::from_millis(9_500));
    }
}
