//! Servers in virtual time, for tests of whatever decides about load: first come, first served, some workers, Poisson
//! arrivals, any law of service times, and times in which work rests or is slow.
//!
//! The recursion over workers is exact; there is no step of time. A seed gives the same answers on every machine and with
//! every release of the random crates, because bits are turned into draws here.

use assay_model::CapacityStep;
use assay_stats::capacity::{LimitedRequests, WindowRequest, WindowResult};
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};
use std::collections::VecDeque;

/// How long a request takes when nothing is in its way.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Service {
    /// Always the same.
    Fixed,
    /// Exponential.
    Exponential,
    /// Log-normal, with this standard deviation of the logarithm.
    LogNormal(f64),
    /// A share of the requests takes so many times as long as the others.
    Two {
        /// Share of the long ones.
        share: f64,
        /// How many times as long they take.
        times: f64,
    },
}

/// When an interruption begins, counted from the beginning of the one before.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Every {
    /// At fixed times, seconds apart.
    Seconds(f64),
    /// At random: exponential, with this mean in seconds.
    RandomSeconds(f64),
    /// After half to one and a half times so many requests, as collections come after so much garbage.
    Requests(f64),
}

/// Times in which the workers rest or are slow.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Interruptions {
    /// When they begin.
    pub every: Every,
    /// How long they last, seconds: between half of it and one and a half times it.
    pub mean_s: f64,
    /// Speed of work meanwhile: 0 for a pause, 1 as usual.
    pub speed: f64,
}

/// A server.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Server {
    /// Requests that it works on at once.
    pub workers: usize,
    /// Law of the service times.
    pub service: Service,
    /// Their mean, seconds.
    pub service_s: f64,
    /// Pauses or slow times.
    pub interruptions: Option<Interruptions>,
    /// What an arrival costs, whether or not it is answered in time, as a share of the mean service time. Beyond saturation
    /// such a server answers the less, the more is asked.
    pub arrival_cost_share: f64,
    /// By which share it is slower at first, and the seconds in which that falls to a third (1/e).
    pub warm_up: Option<(f64, f64)>,
}

impl Server {
    /// A server without interruptions.
    pub fn new(workers: usize, service: Service, service_s: f64) -> Self {
        let warm_up = None;
        Server { workers, service, service_s, interruptions: None, arrival_cost_share: 0.0, warm_up }
    }

    /// The highest rate that it sustains in the long run, per second.
    ///
    /// Work and arrivals take up the workers; interruptions take their share of time, or so much for each request.
    pub fn max_rate_per_s(&self) -> f64 {
        let request_s = self.service_s * (1.0 + self.arrival_cost_share) / self.workers as f64;
        let Some(Interruptions { every, mean_s, speed }) = self.interruptions else { return 1.0 / request_s };
        let lost_s = mean_s * (1.0 - speed);
        match every {
            Every::Seconds(every_s) => (1.0 - lost_s / every_s) / request_s,
            Every::RandomSeconds(gap_s) => (1.0 - lost_s / (gap_s + mean_s)) / request_s,
            Every::Requests(requests) => 1.0 / (request_s + lost_s / requests),
        }
    }

    /// Work of a request at a rate, as a factor of what it would be without the cost of arrivals.
    fn factor_at(&self, rate_per_s: f64) -> f64 {
        let left = 1.0 - rate_per_s * self.arrival_cost_share * self.service_s / self.workers as f64;
        1.0 / left.max(0.05)
    }
}

/// A stretch of time with another speed.
#[derive(Debug, Clone, Copy)]
struct Stretch {
    from_s: f64,
    to_s: f64,
}

/// A server that runs, in its own time.
#[derive(Debug, Clone)]
pub struct Running {
    server: Server,
    now_s: f64,
    random: ChaCha8Rng,
    ahead: VecDeque<Stretch>,
    last_from_s: f64,
    last_rate_per_s: f64,
}

impl Running {
    /// Starts at time 0 without requests.
    pub fn new(server: &Server, seed: u64) -> Self {
        let random = ChaCha8Rng::seed_from_u64(seed);
        let (ahead, last_from_s, last_rate_per_s) = (VecDeque::new(), 0.0, 0.0);
        let mut running =
            Running { server: *server, now_s: 0.0, random, ahead, last_from_s, last_rate_per_s };
        // The phase of the first interruption is random.
        running.last_from_s = match server.interruptions {
            Some(Interruptions { every: Every::Seconds(every_s), .. }) => -every_s * running.uniform(),
            _ => 0.0,
        };
        running
    }

    /// Seconds of its own time that have passed.
    pub fn now_s(&self) -> f64 {
        self.now_s
    }

    /// Offers load to idle workers and counts what is asked for and answered in the window behind the settling. Then all is
    /// answered, as a load generator drains, before the next window begins.
    pub fn window(&mut self, ask: &WindowRequest, limits_ms: &[f64], percentile: f64) -> WindowResult {
        self.now_s += ask.cool_down_s;
        let begin = self.now_s + ask.settle_s;
        let end = begin + ask.window_s;
        self.carry_over(ask.rate_per_s);
        let mut free_at_s = vec![self.now_s; self.server.workers.max(1)];
        let mut misses = vec![0; limits_ms.len()];
        let (mut requests, mut answers, mut at) = (0, 0, self.now_s);
        let mut response_ms: Vec<f64> = Vec::new();
        let factor = self.server.factor_at(ask.rate_per_s) * self.server.service_s;
        // A rate that is none asks for nothing.
        let gap_s = if 0.0 < ask.rate_per_s { 1.0 / ask.rate_per_s } else { f64::INFINITY };
        loop {
            at += self.exponential() * gap_s;
            if end <= at {
                break;
            }
            let work = factor * self.service() * self.slowness(at);
            let worker = soonest(&free_at_s);
            let done = self.end_of(at, at.max(free_at_s[worker]), work, ask.rate_per_s);
            free_at_s[worker] = done;
            answers += u64::from(begin <= done && done < end);
            if begin <= at {
                requests += 1;
                let ms = (done - at) * 1e3;
                response_ms.push(ms);
                misses.iter_mut().zip(limits_ms).for_each(|(count, limit)| *count += u64::from(*limit < ms));
            }
        }
        self.now_s = free_at_s.into_iter().fold(end, f64::max);
        let percentile_ms = percentile_of(&mut response_ms, percentile);
        WindowResult {
            rate_per_s: ask.rate_per_s,
            window_s: ask.window_s,
            requests,
            answers,
            refused: 0,
            limits: misses
                .into_iter()
                .map(|misses| LimitedRequests { requests, misses, percentile_ms })
                .collect(),
        }
    }

    /// Requests that are worked on, per second: no more than it sustains, however many come. Only these make garbage.
    fn worked_on_per_s(&self, rate_per_s: f64) -> f64 {
        rate_per_s.min(self.server.max_rate_per_s())
    }

    /// Garbage of the windows before stays: the next collection comes after as many requests as were left, now at another rate.
    fn carry_over(&mut self, rate_per_s: f64) {
        let rate_per_s = self.worked_on_per_s(rate_per_s);
        let last_rate_per_s = std::mem::replace(&mut self.last_rate_per_s, rate_per_s);
        let Some(Interruptions { every: Every::Requests(requests), mean_s, .. }) = self.server.interruptions
        else {
            return;
        };
        let next_s = self.ahead.iter().map(|stretch| stretch.from_s).find(|from_s| self.now_s <= *from_s);
        let left = match next_s {
            Some(next_s) => (next_s - self.now_s) * last_rate_per_s,
            None => requests * (0.5 + self.uniform()) * self.uniform(),
        };
        let from_s = self.now_s + left / rate_per_s.max(f64::MIN_POSITIVE);
        let to_s = from_s + mean_s * (0.5 + self.uniform());
        self.ahead.clear();
        self.ahead.push_back(Stretch { from_s, to_s });
        self.last_from_s = from_s;
    }

    /// When work ends that begins at `begin`, for a request that arrived at `arrived`.
    fn end_of(&mut self, arrived: f64, begin: f64, work_s: f64, rate_per_s: f64) -> f64 {
        let Some(interruptions) = self.server.interruptions else { return begin + work_s };
        while self.ahead.front().is_some_and(|stretch| stretch.to_s <= arrived) {
            self.ahead.pop_front();
        }
        let (mut at, mut left, mut index) = (begin, work_s, 0);
        loop {
            if self.ahead.len() <= index {
                self.add_stretch(&interruptions, rate_per_s);
            }
            let stretch = self.ahead[index];
            index += 1;
            if stretch.to_s <= at {
                continue;
            }
            if at < stretch.from_s {
                let free = stretch.from_s - at;
                if left < free {
                    return at + left;
                }
                left -= free;
                at = stretch.from_s;
            }
            let done = (stretch.to_s - at) * interruptions.speed;
            if left <= done && 0.0 < done {
                return at + left / interruptions.speed;
            }
            left -= done;
            at = stretch.to_s;
        }
    }

    fn add_stretch(&mut self, interruptions: &Interruptions, rate_per_s: f64) {
        let length_s = interruptions.mean_s * (0.5 + self.uniform());
        let last_to_s = self.ahead.back().map_or(self.last_from_s, |stretch| stretch.to_s);
        let from_s = match interruptions.every {
            Every::Seconds(every_s) => self.last_from_s + every_s,
            Every::RandomSeconds(mean_s) => last_to_s + mean_s * self.exponential(),
            Every::Requests(requests) => {
                self.last_from_s + requests / self.worked_on_per_s(rate_per_s) * (0.5 + self.uniform())
            }
        };
        self.last_from_s = from_s;
        // One that would begin within the one before begins behind it.
        let from_s = from_s.max(last_to_s);
        self.ahead.push_back(Stretch { from_s, to_s: from_s + length_s });
    }

    /// Work of a request, as a share of the mean.
    fn service(&mut self) -> f64 {
        match self.server.service {
            Service::Fixed => 1.0,
            Service::Exponential => self.exponential(),
            Service::LogNormal(sigma) => (sigma * self.normal() - sigma * sigma / 2.0).exp(),
            Service::Two { share, times } => {
                let short = 1.0 / (1.0 + share * (times - 1.0));
                if self.uniform() < share { short * times } else { short }
            }
        }
    }

    fn slowness(&self, at_s: f64) -> f64 {
        self.server.warm_up.map_or(1.0, |(share, fall_s)| 1.0 + share * (-at_s / fall_s).exp())
    }

    /// Uniform, above 0 and at most 1.
    fn uniform(&mut self) -> f64 {
        ((self.random.next_u64() >> 11) + 1) as f64 / (1_u64 << 53) as f64
    }

    fn exponential(&mut self) -> f64 {
        -self.uniform().ln()
    }

    /// Box and Muller's; the second of the pair is not used.
    fn normal(&mut self) -> f64 {
        let radius = (2.0 * self.exponential()).sqrt();
        radius * (std::f64::consts::TAU * self.uniform()).cos()
    }
}

/// The worker that is free first.
fn soonest(free_at_s: &[f64]) -> usize {
    let mut first = 0;
    for (worker, free) in free_at_s.iter().enumerate() {
        if *free < free_at_s[first] {
            first = worker;
        }
    }
    first
}

fn percentile_of(values: &mut [f64], percentile: f64) -> Option<f64> {
    let last = values.len().checked_sub(1)?;
    let rank = ((percentile / 100.0 * values.len() as f64).ceil() as usize).saturating_sub(1).min(last);
    let (_, value, _) = values.select_nth_unstable_by(rank, f64::total_cmp);
    Some(*value)
}

/// The rate at which a share of the requests exceeds a limit in the long run, per second, by halving: each step is one run of
/// `requests` requests. Nothing of the search is used for it.
pub fn rate_at_limit(server: &Server, limit_ms: f64, miss_share: f64, requests: f64, seed: u64) -> f64 {
    let (mut low, mut high) = (0.02 * server.max_rate_per_s(), server.max_rate_per_s());
    for step in 0..12 {
        let rate_per_s = (low + high) / 2.0;
        let ask = WindowRequest {
            rate_per_s,
            cool_down_s: 0.0,
            settle_s: 60.0,
            window_s: requests / rate_per_s,
            step: CapacityStep::Level,
        };
        let window = Running::new(server, seed.wrapping_add(step)).window(&ask, &[limit_ms], 99.0);
        let share = window.limits[0].misses as f64 / window.requests.max(1) as f64;
        if share <= miss_share { low = rate_per_s } else { high = rate_per_s }
    }
    (low + high) / 2.0
}
