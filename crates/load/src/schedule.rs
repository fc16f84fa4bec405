//! Which request starts when: a pure state machine without clock or sockets, driven by the generator in real time
//! and by the tests in virtual time.
//!
//! Rules:
//! - In open loop a request's intended start comes from the arrivals, whatever the server does. In closed loop it
//!   is the moment at which the user became ready: the previous answer plus the think time.
//! - A request in flight is one that was let in and is not finished, whether it was sent or waits for a connection.
//! - An arrival that finds `in_flight_max` requests in flight fails as over the bound. The end of one of those is
//!   the earliest moment at which it could have been let in, so it is reported with the time from its intended
//!   start to that moment: at least its wait.

use crate::arrivals::Arrivals;
use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

/// A request that is in flight and waits for a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Waiting {
    /// When it should start, on the clock of the schedule.
    pub intended_ns: u64,
    /// When it was let in. Later than it should start where the generator did not run then, or was busy.
    pub admitted_ns: u64,
    /// The user who sends it; absent in open loop, where any free session does.
    pub user: Option<u32>,
    /// Other requests were already waiting when this one should have started.
    pub is_behind_others: bool,
}

/// A request that was let in later than this after its intended start is late by the generator's doing: whatever else kept it
/// waiting, such as busy connections, was not observed while it happened. A timer is later by tenths of a millisecond at most. Where others
/// waited before it should have started, connections were busy: then only the time until it was let in is the generator's. (On a server
/// that gets more than it can do, a pause of a millisecond would else make seconds in the queue the generator's.)
const LATE_NS: u64 = 1_000_000;

impl Waiting {
    /// When it could be sent, if all that it needs has been free since `free_ns`.
    pub fn sendable_ns(&self, free_ns: u64) -> u64 {
        let sendable_ns = self.intended_ns.max(free_ns);
        let late_ns = self.admitted_ns.saturating_sub(self.intended_ns);
        match (LATE_NS < late_ns, self.is_behind_others) {
            (false, _) => sendable_ns,
            (true, true) => sendable_ns.saturating_sub(late_ns).max(self.intended_ns),
            (true, false) => self.intended_ns,
        }
    }
}

/// An arrival that was not let in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OverBound {
    /// When it should have started.
    pub intended_ns: u64,
    /// When it could have been let in at the earliest.
    pub until_ns: u64,
}

enum Source {
    Open {
        arrivals: Arrivals,
        due_ns: Option<u64>,
        in_flight_max: u32,
    },
    /// Users with the time at which each is ready; the earliest first.
    Closed {
        ready: BinaryHeap<Reverse<(u64, u32)>>,
    },
}

/// The requests of one load run, from `start_ns` until before `end_ns`.
pub struct Schedule {
    source: Source,
    start_ns: u64,
    end_ns: u64,
    waiting: VecDeque<Waiting>,
    in_flight: u32,
}

impl Schedule {
    /// Open loop: requests start as the arrivals say.
    pub fn open(arrivals: Arrivals, start_ns: u64, end_ns: u64, in_flight_max: u32) -> Self {
        let source = Source::Open { arrivals, due_ns: None, in_flight_max };
        let mut schedule = Schedule { source, start_ns, end_ns, waiting: VecDeque::new(), in_flight: 0 };
        schedule.advance();
        schedule
    }

    /// Closed loop: each user sends, waits for the answer, thinks, and sends again. All are ready at the start.
    pub fn closed(users: u32, start_ns: u64, end_ns: u64) -> Self {
        let ready = (0..users).map(|user| Reverse((start_ns, user))).collect();
        let source = Source::Closed { ready };
        Schedule { source, start_ns, end_ns, waiting: VecDeque::new(), in_flight: 0 }
    }

    /// Steps to the next arrival of an open loop; none after the end.
    fn advance(&mut self) {
        let (start_ns, end_ns) = (self.start_ns, self.end_ns);
        if let Source::Open { arrivals, due_ns, .. } = &mut self.source {
            *due_ns =
                arrivals.next().map(|offset| start_ns.saturating_add(offset)).filter(|due| *due < end_ns);
        }
    }

    /// When `admit` should be called next; absent when only the end of a request can change anything.
    pub fn next_due_ns(&self) -> Option<u64> {
        match &self.source {
            Source::Open { due_ns, in_flight_max, .. } => due_ns.filter(|_| self.in_flight < *in_flight_max),
            Source::Closed { ready } => ready
                .peek()
                .map(|Reverse((ready_ns, _))| *ready_ns)
                .filter(|ready_ns| *ready_ns < self.end_ns),
        }
    }

    /// Lets in what is due.
    pub fn admit(&mut self, now_ns: u64) {
        while let Some(due_ns) = self.next_due_ns().filter(|due| *due <= now_ns) {
            let user = match &mut self.source {
                Source::Open { .. } => None,
                Source::Closed { ready } => ready.pop().map(|Reverse((_, user))| user),
            };
            let is_behind_others = self.waiting.front().is_some_and(|first| first.admitted_ns < due_ns);
            self.waiting.push_back(Waiting {
                intended_ns: due_ns,
                admitted_ns: now_ns,
                user,
                is_behind_others,
            });
            self.in_flight += 1;
            self.advance();
        }
    }

    /// The request that has waited longest, to be sent now.
    pub fn take(&mut self) -> Option<Waiting> {
        self.waiting.pop_front()
    }

    /// Gives a request back that could not be sent after all; it keeps its intended start and its place.
    pub fn put_back(&mut self, request: Waiting) {
        self.waiting.push_front(request);
    }

    /// A request that was taken is finished, well or not; its user is ready for another one at `ready_ns`. Calls
    /// `over_bound` for each arrival that the bound kept out until now.
    pub fn finish(
        &mut self,
        now_ns: u64,
        user: Option<u32>,
        ready_ns: u64,
        mut over_bound: impl FnMut(OverBound),
    ) {
        if let Source::Open { in_flight_max, .. } = &self.source
            && self.in_flight >= *in_flight_max
        {
            while let Source::Open { due_ns: Some(due), .. } = &self.source
                && *due <= now_ns
            {
                over_bound(OverBound { intended_ns: *due, until_ns: now_ns });
                self.advance();
            }
        }
        self.in_flight = self.in_flight.saturating_sub(1);
        if let (Source::Closed { ready }, Some(user)) = (&mut self.source, user) {
            ready.push(Reverse((ready_ns, user)));
        }
    }

    /// A user of a closed loop whose last request was finished without it is ready for another one.
    pub fn ready(&mut self, user: u32, ready_ns: u64) {
        if let Source::Closed { ready } = &mut self.source {
            ready.push(Reverse((ready_ns, user)));
        }
    }

    /// Ends the run early: nothing more is let in that would start at `end_ns` or later.
    pub fn end_at(&mut self, end_ns: u64) {
        self.end_ns = self.end_ns.min(end_ns);
        let end_ns = self.end_ns;
        if let Source::Open { due_ns, .. } = &mut self.source {
            *due_ns = due_ns.filter(|due| *due < end_ns);
        }
    }

    /// Requests in flight: sent and not answered, or waiting for a connection.
    pub fn in_flight(&self) -> u32 {
        self.in_flight
    }

    /// Requests in flight that wait for a connection or a session.
    pub fn waiting(&self) -> usize {
        self.waiting.len()
    }

    /// Nothing is in flight and nothing more will start.
    pub fn is_done(&self) -> bool {
        self.in_flight == 0 && self.next_due_ns().is_none()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::arrivals::ArrivalLaw;

    fn open(rate_per_s: f64, in_flight_max: u32) -> Schedule {
        Schedule::open(ArrivalLaw::Constant.arrivals(rate_per_s, 1), 1_000, 1_000_001_000, in_flight_max)
    }

    #[test]
    fn open_arrivals_keep_their_intended_start_however_late_they_are_let_in() {
        let mut schedule = open(10.0, 100);
        schedule.admit(250_001_000);
        let intended: Vec<u64> = std::iter::from_fn(|| schedule.take()).map(|w| w.intended_ns).collect();
        assert_eq!(intended, [1_000, 100_001_000, 200_001_000]);
        assert_eq!(schedule.next_due_ns(), Some(300_001_000));
    }

    #[test]
    fn an_arrival_over_the_bound_fails_with_its_wait_for_a_place() {
        let mut schedule = open(10.0, 2);
        schedule.admit(500_000_000);
        assert_eq!((schedule.in_flight(), schedule.next_due_ns()), (2, None));
        schedule.take();
        let mut over = Vec::new();
        schedule.finish(450_000_000, None, 0, |o| over.push((o.intended_ns, o.until_ns)));
        assert_eq!(
            over,
            [(200_001_000, 450_000_000), (300_001_000, 450_000_000), (400_001_000, 450_000_000)]
        );
        schedule.admit(500_001_000);
        assert_eq!(schedule.in_flight(), 2);
    }

    #[test]
    fn every_arrival_of_the_stretch_is_let_in_or_told_even_when_the_bound_holds_to_the_end() {
        let mut schedule = open(10.0, 1);
        schedule.admit(2_000_000_000);
        schedule.take();
        let mut over = 0;
        schedule.finish(2_000_000_000, None, 0, |_| over += 1);
        assert_eq!(over, 9);
        assert!(schedule.is_done());
    }

    #[test]
    fn a_closed_user_is_ready_when_it_said() {
        let mut schedule = Schedule::closed(2, 1_000, 2_000);
        schedule.admit(1_000);
        let first = schedule.take().expect("two users are ready");
        let of_user = |intended_ns, admitted_ns, is_behind_others| Waiting {
            intended_ns,
            admitted_ns,
            user: Some(0),
            is_behind_others,
        };
        assert_eq!(first, of_user(1_000, 1_000, false));
        schedule.finish(1_200, first.user, 1_250, |_| ());
        assert_eq!(schedule.next_due_ns(), Some(1_250));
        schedule.admit(1_300);
        schedule.take();
        assert_eq!(schedule.take(), Some(of_user(1_250, 1_300, true)));
    }

    /// How late the generator was by each request that was due within a pause from 20 ms to 25 ms, when a connection was free at 1 s.
    fn lags_of_a_pause_ns(is_overloaded: bool) -> Vec<u64> {
        let mut schedule = open(1_000.0, 1_000);
        (0..=20).for_each(|ms| schedule.admit(1_000 + ms * 1_000_000));
        while !is_overloaded && schedule.take().is_some() {}
        schedule.admit(1_000 + 25_000_000);
        let waiting = std::iter::from_fn(|| schedule.take()).filter(|w| 21_000_000 < w.intended_ns);
        waiting.map(|w| 1_000_000_000 - w.sendable_ns(1_000_000_000)).collect()
    }

    #[test]
    fn a_pause_is_the_generator_s_and_what_follows_from_it_but_not_a_queue_that_was_there_before() {
        let late_ms = |lags: &[u64]| lags.iter().map(|lag| lag / 1_000_000).collect::<Vec<u64>>();
        assert_eq!(late_ms(&lags_of_a_pause_ns(true)), [4, 3, 2, 0, 0], "until they were let in");
        assert_eq!(late_ms(&lags_of_a_pause_ns(false))[..3], [978, 977, 976], "until they were sent");
    }

    #[test]
    fn nothing_starts_at_or_after_an_early_end() {
        let mut schedule = open(10.0, 100);
        schedule.end_at(100_001_000);
        schedule.admit(1_000_000_000);
        assert_eq!(schedule.in_flight(), 1);
    }
}
