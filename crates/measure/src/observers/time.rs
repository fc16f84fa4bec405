//! Observes what the server's CPU time is used for in each window: by role of its threads, user and kernel, with waits for processors,
//! switches and faults.
//!
//! It looks at the threads when the settling before a window ends and when the window does. What threads use that end in between, the
//! kernel's records say; where there are none, it looks every second.

use super::completed::Completed;
use super::contract::{Observer, Target};
use assay_counters::{TRACED_COVERAGE, TimeGauge};
use assay_load::Measured;
use assay_model::{
    KernelActivity, Problem, ThreadRole, TimeReport, TimeSamples, TimeSums, TimeTraced, TracedPart, Window,
    WindowStacks, metric,
};
use std::collections::BTreeMap;
use std::time::{Duration, Instant};

/// Between two looks where the kernel sends no records of threads that end.
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
    (
        [metric::COMPILER_USER_MS_PER_REQUEST, metric::COMPILER_KERNEL_MS_PER_REQUEST],
        &[ThreadRole::C1, ThreadRole::C2, ThreadRole::OtherCompiler],
    ),
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
    /// When the settling ends; `None` once the look at the window's start was taken.
    begins: Option<Instant>,
    next: Option<Instant>,
    is_in_window: bool,
    /// What was between the looks at the start and the end of the load.
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
        if self.begins.take().is_some() {
            window
                .problems
                .push(Problem::new("time", "the window is too short to look at the threads twice"));
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

    /// Of what was between the two looks.
    fn report(&mut self) -> Result<TimeReport, String> {
        let gauge = self.gauge.as_mut().ok_or("the server's process is not known")?;
        match gauge.look() {
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
        self.begins = Some(Instant::now() + settle);
        self.is_in_window = true;
        self.ended = None;
        Ok(())
    }

    fn end_load(&mut self, _measured: &Measured) -> Result<(), String> {
        if std::mem::take(&mut self.is_in_window) {
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
        let is_start = self.begins.is_some_and(|begins| begins <= now);
        let is_due = !gauge.hears_of_ends() && self.next.is_none_or(|next| next <= now);
        if is_start || is_due {
            gauge.look().map_err(|e| e.to_string())?;
            self.next = Some(now + LOOK_EVERY);
        }
        if is_start {
            gauge.restart();
            self.begins = None;
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
        None => window
            .problems
            .push(Problem::new(id, "the kernel does not count it, or sampled too little to tell")),
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
        format!("{seen}: the hypervisor took part of it; counts hold, times by activity are left out")
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
mod tests {
    use super::*;
    use assay_load::Load;

    /// CPU time in milliseconds as user, kernel; `None` where it is not split.
    fn role(role: ThreadRole, split_ms: Option<(u64, u64)>) -> assay_model::RoleTime {
        let (user_ns, kernel_ns) =
            split_ms.map(|(user, kernel)| (user * 1_000_000, kernel * 1_000_000)).unzip();
        let sums = TimeSums {
            threads: 1,
            cpu_ns: user_ns.zip(kernel_ns).map_or(1, |(user, kernel)| user + kernel),
            user_ns,
            kernel_ns,
            run_delay_ns: Some(10_000_000),
            voluntary_switches: Some(30),
            involuntary_switches: Some(5),
            ..TimeSums::default()
        };
        assay_model::RoleTime { role, inferred_ns: 0, sums }
    }

    fn report(roles: Vec<assay_model::RoleTime>) -> TimeReport {
        let path = assay_testkit::testdata("formats/time-1.json");
        let kept: TimeReport =
            serde_json::from_str(&std::fs::read_to_string(path).expect("a kept result")).expect("its form");
        let process = assay_model::ProcessTime { minor_faults: 40, ..kept.process };
        TimeReport { roles, process, ..kept }
    }

    fn metrics(report: &TimeReport) -> Window {
        let mut window = Window::default();
        add_metrics(report, 10.0, &mut window);
        window
    }

    #[test]
    fn each_request_has_the_time_of_each_role() {
        let window = metrics(&report(vec![
            role(ThreadRole::Application, Some((100, 20))),
            role(ThreadRole::Carrier, Some((50, 10))),
            role(ThreadRole::C2, Some((40, 0))),
            role(ThreadRole::Vm, Some((6, 2))),
            role(ThreadRole::Unknown, Some((1, 1))),
        ]));
        // No thread of a collector: Serial collects on the VM's, whose share is not its own.
        let about: Vec<&str> = window.problems.iter().map(|problem| problem.about.as_str()).collect();
        assert_eq!(about, [metric::COLLECTOR_CPU_PERCENT]);
        let expected = [
            (metric::MAJOR_FAULTS_PER_REQUEST, 0.0),
            (metric::APPLICATION_USER_MS_PER_REQUEST, 15.0),
            (metric::APPLICATION_KERNEL_MS_PER_REQUEST, 3.0),
            (metric::COLLECTOR_USER_MS_PER_REQUEST, 0.0),
            (metric::COLLECTOR_KERNEL_MS_PER_REQUEST, 0.0),
            (metric::COMPILER_USER_MS_PER_REQUEST, 4.0),
            (metric::COMPILER_KERNEL_MS_PER_REQUEST, 0.0),
            (metric::OTHER_USER_MS_PER_REQUEST, 0.7),
            (metric::OTHER_KERNEL_MS_PER_REQUEST, 0.3),
            (metric::RUN_DELAY_MS_PER_REQUEST, 5.0),
            (metric::VOLUNTARY_SWITCHES_PER_REQUEST, 15.0),
            (metric::FORCED_SWITCHES_PER_REQUEST, 2.5),
            (metric::MINOR_FAULTS_PER_REQUEST, 4.0),
        ];
        assert_eq!(window.metrics, expected.map(|(id, value)| (id.to_owned(), value)).into());
    }

    #[test]
    fn without_samples_there_are_no_stacks_and_a_reason() {
        let [figure, why, enable] = [STACKS, "it is not allowed", "be root"].map(str::to_owned);
        let left_out = vec![assay_model::LeftOutFigure { figure, why, enable }];
        let mut window = Window::default();
        add_stacks(TimeReport { samples: None, left_out, ..report(vec![]) }, 10.0, &mut window);
        assert_eq!(window.stacks, None);
        assert_eq!(window.problems, [Problem::new("stacks", "it is not allowed; be root")]);
    }

    #[test]
    fn a_request_of_a_search_costs_what_those_of_all_its_windows_did() {
        let window = |requests, ms| (requests, BTreeMap::from([("a".to_owned(), ms)]));
        let other = (5.0, BTreeMap::from([("b".to_owned(), 7.0)]));
        let all = of_all_windows(&[window(100.0, 1.0), window(300.0, 3.0), other]);
        assert_eq!(all, BTreeMap::from([("a".to_owned(), 2.5), ("b".to_owned(), 7.0)]));
    }

    #[test]
    fn a_role_whose_time_is_not_split_has_no_metric_and_a_reason() {
        let window = metrics(&report(vec![role(ThreadRole::Collector, None)]));
        assert_eq!(window.metrics.get(metric::COLLECTOR_USER_MS_PER_REQUEST), None);
        assert!(window.problems.iter().any(|problem| problem.about == metric::COLLECTOR_USER_MS_PER_REQUEST));
    }

    fn traced(coverage: f64) -> TimeTraced {
        let part = |activity, cpu_ms: u64, waits| TracedPart {
            activity,
            basis: assay_model::Certainty::Known,
            count: 1,
            cpu_ns: cpu_ms * 1_000_000,
            waits,
            blocked_ns: 0,
        };
        let kernel = vec![
            part(KernelActivity::NetworkSend, 30, 0),
            part(KernelActivity::NetworkReceive, 10, 7),
            part(KernelActivity::Futex, 5, 20),
        ];
        let roles = vec![assay_model::TracedRole { calls: 250, ..assay_model::TracedRole::default() }];
        TimeTraced { coverage: Some(coverage), kernel, roles, ..TimeTraced::default() }
    }

    #[test]
    fn each_request_has_what_the_kernel_did_for_it() {
        let mut window = Window::default();
        add_kernel_metrics(Some(&traced(1.0)), None, 10.0, &mut window);
        assert_eq!(window.problems, []);
        let expected = [
            (metric::NETWORK_KERNEL_MS_PER_REQUEST, 4.0),
            (metric::FUTEX_KERNEL_MS_PER_REQUEST, 0.5),
            (metric::POLLING_KERNEL_MS_PER_REQUEST, 0.0),
            (metric::SOFTIRQ_MS_PER_REQUEST, 0.0),
            (metric::SYSTEM_CALLS_PER_REQUEST, 25.0),
            (metric::FUTEX_WAITS_PER_REQUEST, 2.0),
        ];
        assert_eq!(window.metrics, expected.map(|(id, value)| (id.to_owned(), value)).into());
    }

    #[test]
    fn what_the_kernel_did_is_not_claimed_where_it_was_not_seen() {
        for traced in [None, Some(traced(0.9))] {
            let mut window = Window::default();
            add_kernel_metrics(traced.as_ref(), Some("no right; run as root".to_owned()), 10.0, &mut window);
            assert!(window.metrics.is_empty() && window.problems.len() == 1, "{window:?}");
        }
    }

    #[test]
    fn counts_hold_where_the_hypervisor_took_part_of_the_time() {
        let mut window = Window::default();
        add_kernel_metrics(Some(&traced(1.2)), None, 10.0, &mut window);
        let expected = [(metric::SYSTEM_CALLS_PER_REQUEST, 25.0), (metric::FUTEX_WAITS_PER_REQUEST, 2.0)];
        assert_eq!(window.metrics, expected.map(|(id, value)| (id.to_owned(), value)).into());
        assert!(window.problems[0].text.contains("the hypervisor took part"), "{:?}", window.problems);
    }

    #[test]
    fn a_window_counts_from_the_end_of_its_settling() {
        let mut child =
            std::process::Command::new("sh").args(["-c", "while :; do :; done"]).spawn().expect("sh");
        let mut observer = TimeObserver::new(false, true);
        let mut target = Target {
            pid: Some(child.id()),
            folder: "/".into(),
            has_unified_logging: true,
            has_even_load: true,
            ..Target::default()
        };
        observer.start(&mut target).expect("it can");
        observer.begin_window(Duration::from_millis(200)).expect("it can");
        let (mut window, mut end_ns) = (Window::default(), 0);
        let until = Instant::now() + Duration::from_secs(1);
        while Instant::now() < until {
            observer.sample(&target).expect("it can");
            end_ns = assay_linux::monotonic_ns();
            std::thread::sleep(Duration::from_millis(20));
        }
        let load = Load::Closed { users: 1, think: Some(Duration::ZERO) };
        let measured = Measured { drained: 10, ..Measured::empty(load, 1, (end_ns - 1_000_000, end_ns)) };
        observer.end_window(&target, &measured, &mut window).expect("it can");
        child.kill().expect("our child");
        child.wait().expect("our child");
        let ms = window.metrics[metric::OTHER_USER_MS_PER_REQUEST];
        assert!((1.0..90.0).contains(&ms), "of 0.8 s for 10 requests: {ms}, {window:?}");
        // Samples are of the window alone, or there is a reason.
        let is_sampled =
            window.stacks.is_some_and(|stacks| (1..200).contains(&stacks.samples) && stacks.requests == 10.0);
        let has_reason = window.problems.iter().any(|problem| problem.about == "stacks");
        assert!(is_sampled != has_reason, "{:?}", window.problems);
    }
}
