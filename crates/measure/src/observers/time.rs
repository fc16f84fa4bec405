//! Observes what the server's CPU time is used for in each window: by role of its threads, user and kernel, with waits for processors,
//! switches and faults.
//!
//! It looks at the threads when the settling before a window ends and when the window does. What threads use that end in between, the
//! kernel's records say; where there are none, it looks every second.

use super::completed::Completed;
use super::contract::{Observer, Target};
use super::edges::WindowEdges;
use assay_counters::{TRACED_COVERAGE, TimeGauge};
use assay_load::Measured;
use assay_model::{
    KernelActivity, Problem, ThreadRole, TimeReport, TimeSamples, TimeSums, TimeTraced, TracedPart, Window,
    WindowStacks, metric,
};
use std::collections::BTreeMap;
use std::time::{Duration, Instant};

/// Between two readings where the kernel sends no records of threads that end.
const LOOK_EVERY: Duration = Duration::from_secs(1);

/// The figure of an account that stacks are.
const STACKS: &str = "where in the code";

/// Metrics of each role, user and kernel time; roles that are not here are the last ones.
const ROLES: [([&str; 2], &[ThreadRole]); 3] = [
    (
        [metric::APPLICATION_USER_MS_PER_REQUEST, metric::APPLICATION_KERNEL_MS_PER_REQUEST],
        &[ThreadRole::Application, ThreadRole::Carrier, ThreadRole::Poller],
    ),
    (
        [metric::COLLECTOR_USER_MS_PER_REQUEST, metric::COLLECTOR_KERNEL_MS_PER_REQUEST],
        &[ThreadRole::Collector],
    ),
    ([metric::COMPILER_USER_MS_PER_REQUEST, metric::COMPILER_KERNEL_MS_PER_REQUEST], &ThreadRole::COMPILERS),
];
const OTHERS: [&str; 2] = [metric::OTHER_USER_MS_PER_REQUEST, metric::OTHER_KERNEL_MS_PER_REQUEST];

/// Metrics of what the kernel did, CPU time.
const ACTIVITIES: [(&str, &[KernelActivity]); 4] = [
    (
        metric::NETWORK_KERNEL_MS_PER_REQUEST,
        &[KernelActivity::NetworkSend, KernelActivity::NetworkReceive, KernelActivity::NetworkConnections],
    ),
    (metric::FUTEX_KERNEL_MS_PER_REQUEST, &[KernelActivity::Futex]),
    (metric::POLLING_KERNEL_MS_PER_REQUEST, &[KernelActivity::Polling]),
    (metric::SOFTIRQ_MS_PER_REQUEST, &[KernelActivity::Softirq]),
];

#[derive(Default)]
pub(crate) struct TimeObserver {
    /// Whether what the kernel does is wanted, too.
    traces: bool,
    /// Whether stacks are.
    samples: bool,
    gauge: Option<TimeGauge>,
    edges: WindowEdges,
    next: Option<Instant>,
    /// What was between the readings at the start and the end of the load.
    ended: Option<Result<TimeReport, String>>,
    /// Requests and metrics of each window on the way to a capacity.
    search: Vec<(f64, BTreeMap<String, f64>)>,
}

impl TimeObserver {
    /// `traces`: whether what the kernel does is wanted, too; `samples`: whether stacks are.
    pub(crate) fn new(traces: bool, samples: bool) -> TimeObserver {
        TimeObserver { traces, samples, ..TimeObserver::default() }
    }

    /// Adds the metrics of the load that ended last; says how many requests they are of.
    fn add_window(&mut self, measured: &Measured, window: &mut Window) -> Result<Option<f64>, String> {
        let report = self.ended.take().unwrap_or_else(|| self.report())?;
        if self.edges.was_too_short() {
            window
                .problems
                .push(Problem::new("time", "the window is too short for two readings of the threads"));
            return Ok(None);
        }
        let from_ns = report.monotonic_ns;
        let requests = Completed::of(measured).between(from_ns, from_ns.saturating_add(report.duration_ns));
        if requests < 1.0 {
            window.problems.push(Problem::new("time", "no request completed"));
            return Ok(None);
        }
        add_metrics(&report, requests, window);
        if self.traces {
            let why = self.gauge.as_ref().and_then(TimeGauge::why_untraced);
            add_kernel_metrics(report.traced.as_ref(), why, requests, window);
        }
        if self.samples {
            add_stacks(report, requests, window);
        }
        Ok(Some(requests))
    }

    /// Of what was between the two readings.
    fn report(&mut self) -> Result<TimeReport, String> {
        let gauge = self.gauge.as_mut().ok_or("the server's process is not known")?;
        match gauge.read() {
            Ok(true) => Ok(gauge.report(None)),
            Ok(false) => Err("the server has ended".to_owned()),
            Err(error) => Err(error.to_string()),
        }
    }
}

impl Observer for TimeObserver {
    fn name(&self) -> &'static str {
        "time"
    }

    fn start(&mut self, target: &mut Target) -> Result<(), String> {
        let mut gauge = TimeGauge::start(target.known_pid()?).map_err(|e| e.to_string())?;
        if self.traces {
            gauge.start_tracing().map_err(|e| e.to_string())?;
        }
        if self.samples {
            gauge.start_sampling().map_err(|e| e.to_string())?;
        }
        self.gauge = Some(gauge);
        Ok(())
    }

    fn begin_window(&mut self, settle: Duration) -> Result<(), String> {
        self.edges.begin(settle);
        self.ended = None;
        Ok(())
    }

    fn end_load(&mut self, _measured: &Measured) -> Result<(), String> {
        if self.edges.ends() {
            self.ended = Some(self.report());
        }
        Ok(())
    }

    fn end_search_window(&mut self, measured: &Measured, window: &mut Window) -> Result<(), String> {
        // The window has metrics of its own.
        let mut own = Window::default();
        if let Some(requests) = self.add_window(measured, &mut own)? {
            self.search.push((requests, own.metrics.clone()));
        }
        window.metrics.extend(own.metrics);
        window.problems.extend(own.problems);
        Ok(())
    }

    fn sample(&mut self, _target: &Target) -> Result<(), String> {
        let Some(gauge) = self.gauge.as_mut() else { return Ok(()) };
        gauge.keep_up();
        let now = Instant::now();
        let is_start = self.edges.is_start_due();
        let is_due = !gauge.hears_of_ends() && self.next.is_none_or(|next| next <= now);
        if is_start || is_due {
            gauge.read().map_err(|e| e.to_string())?;
            self.next = Some(now + LOOK_EVERY);
        }
        if is_start {
            gauge.restart();
            self.edges.has_started();
        }
        Ok(())
    }

    fn lost(&mut self, target: &Target, _role: &str, pid: u32) -> Result<(), String> {
        match target.pid == Some(pid) {
            true => {
                Err("a fault has ended the server, and threads of two processes are not one account"
                    .to_owned())
            }
            false => Ok(()),
        }
    }

    fn end_window(
        &mut self,
        _target: &Target,
        measured: &Measured,
        window: &mut Window,
    ) -> Result<(), String> {
        if !self.search.is_empty() {
            window.metrics.extend(of_all_windows(&std::mem::take(&mut self.search)));
            return Ok(());
        }
        self.add_window(measured, window).map(|_| ())
    }
}

/// Each metric over the windows that have it, by their requests.
fn of_all_windows(windows: &[(f64, BTreeMap<String, f64>)]) -> BTreeMap<String, f64> {
    let mut sums: BTreeMap<&String, (f64, f64)> = BTreeMap::new();
    for (requests, metrics) in windows {
        for (id, value) in metrics {
            let (sum, of) = sums.entry(id).or_default();
            *sum += value * requests;
            *of += requests;
        }
    }
    sums.into_iter().map(|(id, (sum, requests))| (id.clone(), sum / requests)).collect()
}

/// Adds what each request took; of a figure that is not known it says so.
fn add_metrics(report: &TimeReport, requests: f64, window: &mut Window) {
    let mut add = |id: &str, of_all: Option<f64>| match of_all {
        Some(of_all) => drop(window.metrics.insert(id.to_owned(), of_all / requests)),
        None => {
            window.problems.push(Problem::new(id, "the kernel does not count it, or took too few samples"));
        }
    };
    let known = ROLES.iter().flat_map(|(_, roles)| roles.iter());
    let is_other = |role: ThreadRole| !known.clone().any(|of| *of == role);
    for ([user, kernel], roles) in ROLES {
        let (user_ms, kernel_ms) = split_ms(report, |role| roles.contains(&role));
        add(user, user_ms);
        add(kernel, kernel_ms);
    }
    let (user_ms, kernel_ms) = split_ms(report, is_other);
    add(OTHERS[0], user_ms);
    add(OTHERS[1], kernel_ms);
    let of_all = |of: fn(&TimeSums) -> Option<u64>| {
        report.roles.iter().map(|role| of(&role.sums)).sum::<Option<u64>>().map(|sum| sum as f64)
    };
    add(metric::RUN_DELAY_MS_PER_REQUEST, of_all(|sums| sums.run_delay_ns).map(|ns| ns / 1e6));
    add(metric::VOLUNTARY_SWITCHES_PER_REQUEST, of_all(|sums| sums.voluntary_switches));
    add(metric::FORCED_SWITCHES_PER_REQUEST, of_all(|sums| sums.involuntary_switches));
    add(metric::MINOR_FAULTS_PER_REQUEST, Some(report.process.minor_faults as f64));
    add(metric::MAJOR_FAULTS_PER_REQUEST, Some(report.process.major_faults as f64));
    match collector_percent(report) {
        Some(percent) => drop(window.metrics.insert(metric::COLLECTOR_CPU_PERCENT.to_owned(), percent)),
        None => window.problems.push(Problem::new(
            metric::COLLECTOR_CPU_PERCENT,
            "no thread of the collector's own was seen (Serial collects on the VM thread)",
        )),
    }
}

/// What the collector's threads used of the process's CPU time, percent; as the kernel counts both.
fn collector_percent(report: &TimeReport) -> Option<f64> {
    let cpu_ns = |is_wanted: &dyn Fn(ThreadRole) -> bool| {
        report.roles.iter().filter(|role| is_wanted(role.role)).map(|role| role.sums.cpu_ns).sum::<u64>()
    };
    let has_collector = report.roles.iter().any(|role| role.role == ThreadRole::Collector);
    let all_ns = cpu_ns(&|_| true);
    (has_collector && all_ns != 0)
        .then(|| 100.0 * cpu_ns(&|role| role == ThreadRole::Collector) as f64 / all_ns as f64)
}

/// Adds what the kernel did for each request; without programs in the kernel it says why there are none.
fn add_kernel_metrics(
    traced: Option<&TimeTraced>,
    why_untraced: Option<String>,
    requests: f64,
    window: &mut Window,
) {
    let Some(traced) = traced else {
        let why = why_untraced.unwrap_or_else(|| "no reason given".to_owned());
        window.problems.push(Problem::new("kernel", why));
        return;
    };
    let coverage = traced.coverage.unwrap_or(1.0);
    let is_seen_whole = traced.lost == 0 && *TRACED_COVERAGE.start() <= coverage;
    let has_times = is_seen_whole && coverage <= *TRACED_COVERAGE.end();
    if !has_times {
        window.problems.push(Problem::new("kernel", why_not_all(traced.lost, coverage, is_seen_whole)));
    }
    let of = |activities: &[KernelActivity], figure: fn(&TracedPart) -> u64| {
        let parts = traced.kernel.iter().filter(|part| activities.contains(&part.activity));
        parts.map(figure).fold(0u64, u64::saturating_add) as f64
    };
    let mut add = |id: &str, of_all: f64| {
        window.metrics.insert(id.to_owned(), of_all / requests);
    };
    if has_times {
        for (id, activities) in ACTIVITIES {
            add(id, of(activities, |part| part.cpu_ns) / 1e6);
        }
    }
    if is_seen_whole {
        add(metric::SYSTEM_CALLS_PER_REQUEST, calls(traced) as f64);
        add(metric::FUTEX_WAITS_PER_REQUEST, of(&[KernelActivity::Futex], |part| part.waits));
    }
}

/// Why programs in the kernel give no times, or nothing at all.
fn why_not_all(lost: u64, coverage: f64, is_seen_whole: bool) -> String {
    let seen = format!("programs in the kernel saw {:.0} % of the server's CPU time", 100.0 * coverage);
    if is_seen_whole {
        // Counts are the same however long the hypervisor keeps a processor.
        format!("{seen}: the hypervisor took part of it. Counts hold, times by activity are left out")
    } else {
        format!("{seen}, and {lost} threads had no room")
    }
}

/// Keeps the stacks that were sampled; without samples it says why there are none.
fn add_stacks(report: TimeReport, requests: f64, window: &mut Window) {
    let cpu_ns = report.process.cpu_ns;
    match report.samples {
        Some(TimeSamples { samples, frames, stacks, .. }) => {
            window.stacks = Some(WindowStacks { requests, cpu_ns, samples, frames, stacks });
        }
        None => {
            let row = report.left_out.into_iter().find(|row| row.figure == STACKS);
            let why = row.map_or("no reason given".to_owned(), |row| format!("{}; {}", row.why, row.enable));
            window.problems.push(Problem::new("stacks", why));
        }
    }
}

fn calls(traced: &TimeTraced) -> u64 {
    traced.roles.iter().map(|role| role.calls).fold(0, u64::saturating_add)
}

/// User and kernel time of some roles, milliseconds: none if they used none, unknown if one of them used some that is not split.
fn split_ms(report: &TimeReport, is_wanted: impl Fn(ThreadRole) -> bool) -> (Option<f64>, Option<f64>) {
    let roles = report.roles.iter().filter(|role| is_wanted(role.role) && role.sums.cpu_ns != 0);
    let sums: Vec<&TimeSums> = roles.map(|role| &role.sums).collect();
    let ms = |of: fn(&TimeSums) -> Option<u64>| {
        sums.iter().map(|sums| of(sums)).sum::<Option<u64>>().map(|ns| ns as f64 / 1e6)
    };
    (ms(|sums| sums.user_ns), ms(|sums| sums.kernel_ns))
}

#[cfg(test)]
#[path = "time_tests.rs"]
mod tests;
