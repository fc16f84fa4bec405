//! A load source, a watcher and a method in virtual time: a queue before some workers, with faults that can be injected.

use assay_host::HostInterval;
use assay_load::{
    ArrivalLaw, ErrorKind, IntervalLogs, Load, LoadError, LoadSource, LoadWindow, Measured, Progress,
    SlowRequest,
};
use assay_measure::{Observation, Span, Watcher};
use assay_model::{
    CapacityStep, Estimate, LateCause, LatencyLimit, LimitRate, MachineSpeed, OperationCount, Problem,
};
use assay_stats::capacity::{self, Capacity, Method, WindowRequest};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

pub const MS: u64 = 1_000_000;
const S: f64 = 1e9;
pub const WORKERS: usize = 4;
pub const SERVICE_NS: u64 = 10 * MS;
/// What the workers can do.
pub const CAPACITY_PER_S: f64 = WORKERS as f64 * S / SERVICE_NS as f64;
/// Connections of the load source, but for that fault.
pub const CONNECTIONS: usize = 64;
/// What a generator can do that is the limit.
pub const GENERATOR_PER_S: f64 = 200.0;
/// Asked mix.
const MIX: [(&str, f64); 4] = [("buy", 0.60), ("look", 0.385), ("return", 0.01), ("report", 0.005)];

/// What goes wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    StarvedGenerator,
    GeneratorPause,
    /// A connection less than the server has workers.
    ConnectionCap,
    MixDrift,
    FewerSent,
    ClockStep,
    LostResponses,
    ErrorStorm,
    BrokenInvariant,
    MachineBusy,
    NotWarm,
    Restart,
    EqualGaps,
    Steal,
    Stopped,
    /// Lateness of the generator, exponential with a mean of half a millisecond.
    SomeLag,
    /// A generator that sends no more than [`GENERATOR_PER_S`].
    GeneratorLimit,
    /// A generator that is held up for some windows, at whatever rate.
    HeldUp,
    /// Scarce processors, and a server whose process is not known.
    UnknownPressure,
    /// A server that answers 503 at once while [`BACKLOG`] requests wait.
    Refuses,
    /// A server that refuses connections while so many wait.
    RefusesConnections,
    /// Requests take 1 % longer after every 1,000 requests.
    Slows,
    /// Requests take 75 % longer at first, which falls to a third each minute.
    WarmsUp,
}

/// When virtual time begins.
const BEGIN_NS: u64 = 1_000_000_000_000;
/// Requests that wait in a server that refuses more.
const BACKLOG: u64 = 20;

/// A stream of draws that is the same everywhere.
pub struct Draws(ChaCha8Rng);

impl Draws {
    pub fn new(seed: u64) -> Self {
        Draws(ChaCha8Rng::seed_from_u64(seed))
    }

    pub fn share(&mut self) -> f64 {
        self.0.random_range(0.0..1.0)
    }

    fn exponential(&mut self, mean: f64) -> f64 {
        -mean * (1.0 - self.share()).ln()
    }
}

pub struct Simulated {
    pub seed: u64,
    pub fault: Option<Fault>,
    pub now_ns: u64,
    /// Pauses of the server: all workers stand still in `[start, end)`.
    pub pauses: Vec<(u64, u64)>,
    pub windows: u64,
    /// Service times are exponential, by one worker of four times the speed.
    pub is_exponential: bool,
    /// Requests so far.
    requests: u64,
    free_ns: [u64; WORKERS],
    connections_free_ns: Vec<u64>,
}

/// Connections of a load source with this fault.
pub fn connections(fault: Option<Fault>) -> usize {
    if fault == Some(Fault::ConnectionCap) { WORKERS - 1 } else { CONNECTIONS }
}

impl Simulated {
    pub fn new(seed: u64, fault: Option<Fault>) -> Self {
        Simulated {
            seed,
            fault,
            now_ns: BEGIN_NS,
            pauses: Vec::new(),
            windows: 0,
            is_exponential: false,
            requests: 0,
            free_ns: [0; WORKERS],
            connections_free_ns: vec![0; connections(fault)],
        }
    }

    /// How long a request takes that nothing is in the way of.
    fn service_ns(&self, at_ns: u64) -> u64 {
        let minutes = (at_ns - BEGIN_NS) as f64 / 60.0 / S;
        let slower = match self.fault {
            Some(Fault::Slows) => 0.01 * self.requests as f64 / 1_000.0,
            Some(Fault::WarmsUp) => 0.75 * (-minutes).exp(),
            _ => 0.0,
        };
        (SERVICE_NS as f64 * (1.0 + slower)) as u64
    }

    /// How a server refuses a request that comes while too many wait.
    fn refusal(&self, sent_ns: u64) -> Option<ErrorKind> {
        let kind = match self.fault? {
            Fault::Refuses => ErrorKind::Status,
            Fault::RefusesConnections => ErrorKind::Connect,
            _ => return None,
        };
        let first_free_ns = self.free_ns.iter().min().expect("workers");
        (sent_ns + BACKLOG * SERVICE_NS / WORKERS as u64 <= *first_free_ns).then_some(kind)
    }

    /// When a request that is sent now is answered.
    fn answer(&mut self, sent_ns: u64, draws: &mut Draws) -> u64 {
        let workers = if self.is_exponential { 1 } else { WORKERS };
        let worker = (0..workers).min_by_key(|at| self.free_ns[*at]).expect("workers");
        let mut begin_ns = sent_ns.max(self.free_ns[worker]);
        let mut service_ns = self.service_ns(begin_ns);
        if self.is_exponential {
            service_ns = draws.exponential(service_ns as f64 / WORKERS as f64) as u64;
        }
        let mut done_ns = begin_ns + service_ns;
        for (start_ns, end_ns) in &self.pauses {
            if begin_ns < *end_ns && *start_ns < done_ns {
                begin_ns = begin_ns.max(*start_ns);
                done_ns += end_ns - begin_ns;
            }
        }
        self.free_ns[worker] = done_ns;
        done_ns
    }

    fn first_free_connection(&self) -> usize {
        let free = self.connections_free_ns.iter().enumerate();
        free.min_by_key(|(_, free_ns)| **free_ns).map_or(0, |(connection, _)| connection)
    }

    fn operation(&self, draws: &mut Draws) -> usize {
        let mut at = draws.share();
        if self.fault == Some(Fault::MixDrift) && at < 0.02 {
            return 2;
        }
        for (number, (_, share)) in MIX.iter().enumerate() {
            at -= share;
            if at < 0.0 {
                return number;
            }
        }
        0
    }

    /// How late the generator sends.
    fn lag_ns(&self, at_ns: u64, draws: &mut Draws) -> u64 {
        match self.fault {
            Some(Fault::StarvedGenerator) => draws.exponential(5.0 * MS as f64) as u64,
            Some(Fault::HeldUp) if (6..9).contains(&self.windows) => 300 * MS,
            Some(Fault::SomeLag) => draws.exponential(0.5 * MS as f64) as u64,
            // A pause of 100 ms every two seconds.
            Some(Fault::GeneratorPause) => (100 * MS).saturating_sub(at_ns % (2_000 * MS)),
            _ => draws.exponential(0.02 * MS as f64) as u64,
        }
    }

    fn failure(&self, draws: &mut Draws) -> Option<ErrorKind> {
        match self.fault {
            Some(Fault::LostResponses) => (draws.share() < 0.005).then_some(ErrorKind::Timeout),
            Some(Fault::ErrorStorm) if self.windows == 2 => {
                (draws.share() < 0.2).then_some(ErrorKind::Status)
            }
            Some(Fault::Restart) if self.windows == 3 => (draws.share() < 0.1).then_some(ErrorKind::Connect),
            _ => None,
        }
    }
}

impl LoadSource for Simulated {
    fn logged_window(
        &mut self,
        window: &LoadWindow,
        _: Option<IntervalLogs>,
        _: &AtomicBool,
        _: &mut dyn FnMut(Progress),
    ) -> Result<Measured, LoadError> {
        let ns = |time: Duration| u64::try_from(time.as_nanos()).expect("short");
        let Load::Open { rate_per_s, .. } = window.load else { panic!("open load only") };
        let seed = self.seed.wrapping_mul(1_000).wrapping_add(self.windows);
        let mut draws = Draws::new(seed);
        let law =
            if self.fault == Some(Fault::EqualGaps) { ArrivalLaw::Constant } else { ArrivalLaw::Poisson };
        let (begun_ns, start_ns) = (self.now_ns, self.now_ns + ns(window.settle));
        let end_ns = start_ns + ns(window.length);
        let mut measured = Measured::empty(window.load, seed, (start_ns, end_ns));
        measured.operations = MIX.iter().map(|(name, share)| OperationCount::planned(name, *share)).collect();
        let detail = &mut measured.detail;
        let (mut last_ns, mut latest_ns, mut next_ns) = (None::<u64>, end_ns, 0);
        for offset_ns in law.arrivals(rate_per_s, seed).take_while(|offset| begun_ns + offset < end_ns) {
            if self.fault == Some(Fault::FewerSent) && draws.share() < 0.03 {
                continue;
            }
            let intended_ns = begun_ns + offset_ns;
            let connection = self.first_free_connection();
            let sendable_ns = intended_ns.max(self.connections_free_ns[connection]);
            let mut sent_ns = sendable_ns + self.lag_ns(intended_ns, &mut draws);
            if self.fault == Some(Fault::GeneratorLimit) {
                sent_ns = sent_ns.max(next_ns);
                next_ns = sent_ns + (S / GENERATOR_PER_S) as u64;
            }
            let operation = self.operation(&mut draws);
            self.requests += 1;
            let refusal = self.refusal(sent_ns);
            let failure = refusal.or_else(|| self.failure(&mut draws));
            let done_ns =
                if refusal.is_some() { sent_ns + MS / 10 } else { self.answer(sent_ns, &mut draws) };
            self.connections_free_ns[connection] = done_ns;
            latest_ns = latest_ns.max(done_ns);
            if failure.is_none() && (start_ns..end_ns).contains(&done_ns) {
                measured.completed += 1;
            }
            if intended_ns < start_ns {
                continue;
            }
            if let Some(last_ns) = last_ns.replace(intended_ns) {
                detail.gaps.saturating_record(intended_ns - last_ns);
            }
            measured.requests += 1;
            measured.operations[operation].requests += 1;
            let response_ns = done_ns - intended_ns;
            measured.response.saturating_record(response_ns);
            measured.service.saturating_record(done_ns - sent_ns);
            measured.send_lag.saturating_record(sent_ns - sendable_ns);
            detail.connection_waits += u64::from(intended_ns < sendable_ns);
            match failure {
                Some(kind) => {
                    measured.errors_by_kind[kind as usize] += 1;
                    measured.operations[operation].errors += 1;
                    detail.limited.failed += 1;
                }
                None => detail.limited.right.saturating_record(response_ns),
            }
            if window.slow_above.is_some_and(|above| ns(above) < response_ns) {
                let sent_ns = Some(sent_ns);
                let operation = u32::try_from(operation).ok();
                detail.slow.push(SlowRequest { operation, intended_ns, sendable_ns, sent_ns, done_ns });
            }
        }
        measured.generator_cpu_ns = (measured.generator_wall_ns as f64 * 0.1) as u64;
        self.now_ns = latest_ns + MS;
        self.windows += 1;
        Ok(measured)
    }

    /// In virtual time.
    fn rest(&mut self, length: Duration, _stop: &AtomicBool) {
        self.now_ns += length.as_nanos() as u64;
    }
}

/// What is seen of a quiet machine, but for the fault.
pub struct Onlooker {
    pub fault: Option<Fault>,
    pub draws: Draws,
    pub pauses: Vec<(u64, u64)>,
    pub windows: u64,
}

impl Watcher for Onlooker {
    fn seen(&mut self, from_ns: u64, to_ns: u64) -> Observation {
        self.windows += 1;
        let steal = if self.fault == Some(Fault::Steal) { 0.08 } else { 0.01 * self.draws.share() };
        let busy = if self.fault == Some(Fault::MachineBusy) { 0.3 } else { 0.0 };
        let pauses = self.pauses.iter().filter(|(start, end)| from_ns < *end && *start < to_ns);
        Observation {
            spans: pauses
                .map(|(start, end)| Span {
                    cause: LateCause::GcPause,
                    start_ns: *start,
                    end_ns: *end,
                    share: 1.0,
                })
                .collect(),
            watched: vec![LateCause::GcPause],
            host: Some(HostInterval {
                steal_share: Some(steal),
                cpu_some_share: (self.fault == Some(Fault::UnknownPressure)).then_some(0.996),
                ..HostInterval::default()
            }),
            foreign_cpu_share: Some(busy + 0.05 * self.draws.share()),
            machine: None,
            server_cpu_ns: Some((to_ns - from_ns) / 2),
            compilers_cpu_ns: None,
            own_throttled_share: None,
            clock_step_s: Some(if self.fault == Some(Fault::ClockStep) && self.windows == 4 {
                -2.0
            } else {
                1e-5
            }),
            restart: (self.fault == Some(Fault::Restart) && self.windows == 4)
                .then(|| "process 7 has ended".to_owned()),
        }
    }

    fn machine_speed(&mut self) -> Option<MachineSpeed> {
        None
    }

    fn problems(&self) -> Vec<Problem> {
        Vec::new()
    }

    fn knows_server(&self) -> bool {
        self.fault != Some(Fault::UnknownPressure)
    }
}

/// Limits of all requests.
pub fn limits(limits_ms: &[f64]) -> Vec<LatencyLimit> {
    limits_ms.iter().copied().map(LatencyLimit::of_all).collect()
}

/// Windows at given rates, one after the other; what is lost is not tried again.
pub struct Rates {
    pub rates_per_s: Vec<f64>,
    pub at: usize,
    pub limits: Vec<LatencyLimit>,
    pub taken: Vec<capacity::WindowResult>,
    pub lost: usize,
    pub spent_s: f64,
}

impl Rates {
    pub fn new(rates_per_s: Vec<f64>, limits: Vec<LatencyLimit>) -> Self {
        Rates { rates_per_s, at: 0, limits, taken: Vec::new(), lost: 0, spent_s: 0.0 }
    }
}

impl Method for Rates {
    fn next(&self) -> Option<WindowRequest> {
        let rate_per_s = *self.rates_per_s.get(self.at)?;
        Some(WindowRequest {
            rate_per_s,
            cool_down_s: 0.0,
            settle_s: 1.0,
            window_s: 8.0,
            step: CapacityStep::Refine,
        })
    }

    fn take(&mut self, _: &WindowRequest, window: capacity::WindowResult) {
        self.at += 1;
        self.taken.push(window);
    }

    fn lose(&mut self, _: &WindowRequest) {
        self.at += 1;
        self.lost += 1;
    }

    fn spend(&mut self, seconds: f64) {
        self.spent_s += seconds;
    }

    fn capacity(&self) -> Capacity {
        let kept_up = self.taken.iter().filter(|w| w.requests as f64 * 0.97 < w.answers as f64);
        let most = kept_up.map(|w| w.answers as f64 / w.window_s).max_by(f64::total_cmp);
        Capacity {
            max_rate_per_s: most.map(|estimate| Estimate { estimate, low: None, high: None }),
            limits: self
                .limits
                .iter()
                .map(|limit| LimitRate {
                    limit_ms: limit.limit_ms,
                    operation: limit.operation.clone(),
                    rate_per_s: None,
                    last_success_per_s: None,
                    first_failure_per_s: None,
                    limited_by_max: false,
                })
                .collect(),
            critical_rate_per_s: None,
            is_precise: true,
            from_below: None,
            used_s: 0.0,
        }
    }
}
