//! Tests of what a window says of CPU time.

use super::*;
use assay_load::Load;

/// CPU time in milliseconds as user, kernel; `None` where it is not split.
fn role(role: ThreadRole, split_ms: Option<(u64, u64)>) -> assay_model::RoleTime {
    let (user_ns, kernel_ns) = split_ms.map(|(user, kernel)| (user * 1_000_000, kernel * 1_000_000)).unzip();
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
    let path = assay_testkit::testdata("formats/time-4.json");
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
    let mut child = std::process::Command::new("sh").args(["-c", "while :; do :; done"]).spawn().expect("sh");
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
