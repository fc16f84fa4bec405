//! CPU time as people see it: golden files, hostile values, accounts that lack almost everything.

use super::*;
use assay_report::time;
use assay_testkit::shown;

const S: u64 = 1_000_000_000;

fn sums(threads: u64, cpu_ns: u64, kernel: f64, half: f64) -> TimeSums {
    let kernel_ns = (cpu_ns as f64 * kernel) as u64;
    TimeSums {
        threads,
        cpu_ns,
        user_ns: Some(cpu_ns - kernel_ns),
        kernel_ns: Some(kernel_ns),
        kernel_share: Some(Estimate {
            estimate: kernel,
            low: Some(kernel - half),
            high: Some(kernel + half),
        }),
        run_delay_ns: Some(cpu_ns / 20),
        voluntary_switches: Some(threads * 1500),
        involuntary_switches: Some(threads * 7),
        minor_faults: 900,
        major_faults: 0,
        block_io_ns: None,
    }
}

/// A server under load for 30 s on two processors.
fn sample() -> TimeReport {
    let role = |role, sums| RoleTime { role, inferred_ns: 0, sums };
    let group =
        |role, name: &str, sums| TimeGroup { role, name: name.to_owned(), is_role_inferred: false, sums };
    let pool = sums(200, 28 * S, 0.182, 0.011);
    let few = TimeSums { user_ns: None, kernel_ns: None, kernel_share: None, ..sums(1, 4_000_000, 0.0, 0.0) };
    let figure = |figure: &str, basis, from: &str| TimeFigure {
        figure: figure.to_owned(),
        source: TimeSource::Procfs,
        basis,
        from: from.to_owned(),
    };
    TimeReport {
        schema: schema::TIME.to_owned(),
        provenance: Provenance {
            assay_version: "0.1.0".to_owned(),
            kernel: Some("6.1.0".to_owned()),
            os: None,
            architecture: "x86_64".to_owned(),
            cpu_model: None,
            cpus: Some(2),
            memory_bytes: None,
        },
        pid: 4119,
        program: "java".to_owned(),
        start_ticks: 123_456,
        boot_id: None,
        taken_at: "2026-11-21T15:40:22.123Z".to_owned(),
        monotonic_ns: 5 * S,
        duration_ns: 30 * S,
        readings: 61,
        readings_cpu_ns: S / 10,
        jvm: Some(TimeJvm {
            version: Some("17.0.15+6".to_owned()),
            feature: Some(17),
            collector: Some("G1".to_owned()),
        }),
        process: ProcessTime {
            cpu_ns: 41_204_000_000,
            cpu_resolution_ns: 1,
            user_ns: 34 * S,
            kernel_ns: 7 * S,
            kernel_share: Some(Estimate { estimate: 0.171, low: Some(0.163), high: Some(0.179) }),
            minor_faults: 4000,
            major_faults: 3,
            threads: 231,
            cpu_since_start_ns: None,
        },
        threads_cpu_ns: 41_004_000_000,
        difference_ns: 200_000_000,
        difference_reading_ns: 18_000_000,
        threads_ended: 41,
        exit_records: Some(ExitRecordsTime {
            threads_seen: 41,
            threads_unseen: 12,
            cpu_ns: 1_350_000_000,
            inferred_ns: 20_000_000,
            has_lost: false,
        }),
        roles: vec![
            role(ThreadRole::Application, sums(201, 30 * S, 0.175, 0.01)),
            RoleTime { inferred_ns: S, ..role(ThreadRole::C2, sums(13, 8 * S, 0.02, 0.01)) },
            role(ThreadRole::Collector, sums(4, 4 * S, 0.3, 0.03)),
            role(ThreadRole::Unknown, few),
        ],
        groups: vec![
            group(ThreadRole::Application, "http-nio-8080-exec-*", pool),
            group(ThreadRole::Application, "main", sums(1, 2 * S, 0.05, 0.02)),
            group(ThreadRole::C2, "C2 CompilerThread*", sums(1, 7 * S, 0.02, 0.01)),
            TimeGroup {
                is_role_inferred: true,
                ..group(ThreadRole::C2, "C2 CompilerThread*", sums(12, S, 0.03, 0.02))
            },
            group(ThreadRole::Collector, "GC Thread#*", sums(2, 3 * S, 0.28, 0.03)),
            group(ThreadRole::Collector, "G1 Conc#*", sums(2, S, 0.34, 0.06)),
            group(ThreadRole::Unknown, "java", few),
        ],
        threads: vec![ThreadTime {
            tid: 4160,
            name: "C2 CompilerThread0".to_owned(),
            role: ThreadRole::C2,
            is_role_inferred: false,
            cpu_ns: 7 * S,
            kernel_share: None,
            run_delay_ns: Some(S),
            voluntary_switches: Some(20),
            has_ended: false,
        }],
        samples: Some(samples()),
        recording: None,
        hardware: None,
        data_accesses: None,
        fault_places: None,
        carrier_waits: None,
        jvm_held: None,
        traced: None,
        requests: Some(15_000.0),
        cgroup: Some(CgroupTime {
            path: "/shop".to_owned(),
            cpu_ns: 42 * S,
            others_cpu_ns: 796_000_000,
            cpus_max: Some(1.5),
            throttled_periods: Some(12),
            throttled_ns: Some(340_000_000),
        }),
        machine: MachineTime {
            cpus: Some(2),
            busy_ns: Some(50 * S),
            steal_ns: Some(S / 4),
            softirq_ns: vec![S / 10, S / 20],
            jvms: None,
        },
        findings: vec![
            Finding::measured(
                RuleId::of("still-compiling"),
                Severity::Note,
                "The JVM is warming up: 24 % of the CPU time is compilation".to_owned(),
                "compilers used 10.00 s of 41.20 s; counts from 20 % on".to_owned(),
            )
            .to_do("Look again when it has run longer"),
        ],
        figures: vec![
            figure(
                "CPU time of threads",
                Certainty::Known,
                "run time in /proc/PID/task/TID/schedstat, exact",
            ),
            figure("user and kernel", Certainty::Inferred, "samples at 250 timer interrupts a second"),
        ],
        left_out: vec![LeftOutFigure {
            figure: "blocked on block devices".to_owned(),
            why: "the kernel does not account delays".to_owned(),
            enable: "sysctl -w kernel.task_delayacct=1".to_owned(),
        }],
        problems: vec![Problem::new("threads", "one could not be read")],
    }
}

fn part(what: SampledPart, samples: u64, of: u64, cpu_ns: u64) -> SampledPart {
    let estimate = samples as f64 / of as f64;
    let share = Estimate { estimate, low: Some(estimate - 0.01), high: Some(estimate + 0.01) };
    SampledPart { samples, cpu_ns, share, ..what }
}

fn kernel(activity: KernelActivity, samples: u64, of: u64, cpu_ns: u64) -> SampledPart {
    let share = Estimate { estimate: 0.0, low: None, high: None };
    let what =
        SampledPart { activity: Some(activity), place: None, library: None, samples: 0, cpu_ns: 0, share };
    part(what, samples, of, cpu_ns)
}

fn user(place: CodePlace, library: Option<&str>, samples: u64, of: u64, cpu_ns: u64) -> SampledPart {
    let library = library.map(str::to_owned);
    let what = kernel(KernelActivity::Unknown, 1, 1, 0);
    part(SampledPart { activity: None, place: Some(place), library, ..what }, samples, of, cpu_ns)
}

/// What samples say of that server.
fn samples() -> TimeSamples {
    use CodePlace::*;
    use KernelActivity::*;
    let frame = |name: &str, kind| SampledFrame { name: name.to_owned(), kind };
    let stack = |frames: &[u32], samples| SampledStack { frames: frames.to_vec(), samples };
    TimeSamples {
        rate_per_s: 199,
        cpus: 2,
        samples: 8000,
        coverage: Some(0.976),
        lost: 0,
        throttled: 1,
        reading_cpu_ns: S / 50,
        kernel_share: Some(Estimate { estimate: 0.175, low: Some(0.167), high: Some(0.184) }),
        roles: vec![
            SampledRole {
                role: Some(ThreadRole::Application),
                cpu_ns: 37 * S,
                samples: 7200,
                kernel_share: Some(Estimate { estimate: 0.194, low: Some(0.185), high: Some(0.204) }),
                parts: vec![
                    user(CompiledJava, None, 5800, 7200, 29_805_555_555),
                    kernel(NetworkSend, 900, 7200, 4_625_000_000),
                    kernel(Futex, 500, 7200, 2_569_444_445),
                ],
            },
            SampledRole {
                role: Some(ThreadRole::Collector),
                cpu_ns: 4_004_000_000,
                samples: 800,
                kernel_share: None,
                parts: vec![
                    user(JvmCollector, None, 780, 800, 3_903_900_000),
                    user(NativeLibrary, Some("libnio.so"), 20, 800, 100_100_000),
                ],
            },
            SampledRole {
                role: None,
                cpu_ns: 200_000_000,
                samples: 0,
                kernel_share: None,
                parts: Vec::new(),
            },
        ],
        kernel: vec![kernel(NetworkSend, 900, 8000, 4 * S), kernel(Futex, 500, 8000, 2 * S)],
        user: vec![
            user(CompiledJava, None, 5800, 8000, 30 * S),
            user(JvmCollector, None, 780, 8000, 4 * S),
            user(NativeLibrary, Some("libnio.so"), 20, 8000, S / 10),
        ],
        frames: vec![
            frame("application", FrameKind::Role),
            frame("compiled Java", FrameKind::Java),
            frame("__send (libc.so.6)", FrameKind::Native),
            frame("do_syscall_64", FrameKind::Kernel),
            frame("__x64_sys_sendto", FrameKind::Kernel),
            frame("__x64_sys_futex", FrameKind::Kernel),
            frame("garbage collector", FrameKind::Role),
            frame("G1ParScanThreadState::trim_queue", FrameKind::Jvm),
        ],
        stacks: vec![
            stack(&[0, 1], 5800),
            stack(&[0, 2, 3, 4], 900),
            stack(&[6, 7], 780),
            stack(&[0, 2, 3, 5], 500),
        ],
        other_stacks_samples: 20,
    }
}

/// What a hostile process calls its threads.
fn hostile() -> TimeReport {
    let mut report = sample();
    let name = "<script>alert(1)</script>\u{1b}[31m\u{202e}".repeat(40);
    report.program.clone_from(&name);
    report.groups[0].name.clone_from(&name);
    report.threads[0].name.clone_from(&name);
    let samples = report.samples.as_mut().expect("sampled");
    samples.frames[1].name.clone_from(&name);
    samples.roles[1].parts[1].library = Some(name);
    samples.stacks[0] = SampledStack { frames: vec![0, 1, 99, u32::MAX, 1, 1], samples: u64::MAX };
    samples.stacks[1] = SampledStack { frames: Vec::new(), samples: u64::MAX };
    samples.roles[0].parts[0].share = Estimate { estimate: f64::NAN, low: None, high: Some(f64::INFINITY) };
    report.process.cpu_ns = 0;
    report.duration_ns = 0;
    report.roles[0].sums.cpu_ns = u64::MAX;
    report.difference_ns = i64::MIN;
    report.requests = Some(f64::MIN_POSITIVE);
    report.roles[1].sums.kernel_share =
        Some(Estimate { estimate: f64::NAN, low: None, high: Some(f64::INFINITY) });
    report
}

/// What a kernel that counts next to nothing leaves.
fn bare() -> TimeReport {
    let mut report = sample();
    report.jvm = None;
    (report.roles, report.groups, report.threads) = (Vec::new(), Vec::new(), Vec::new());
    report.samples = None;
    (report.cgroup, report.requests, report.process.kernel_share) = (None, None, None);
    report.machine = MachineTime::default();
    report
}

fn page_of(report: &TimeReport) -> String {
    page(&time::document(report))
}

fn text_of(report: &TimeReport, width: u16) -> String {
    time::document(report).terminal(view(width))
}

fn gallery() -> TimeReport {
    stored(include_str!("../../../../testdata/gallery/time.json"))
}

#[test]
fn terminals_and_markdown_are_the_golden_files() {
    golden::expect("time", &time::document(&sample()));
    golden::expect("time-gallery", &time::document(&gallery()));
    expect_test::expect_file!["../golden/time-line.txt"].assert_eq(&time::line(&sample()));
}

#[test]
fn no_line_is_wider_than_the_terminal() {
    for width in [60, 72, 80, 120, 200] {
        for report in [sample(), hostile(), bare()] {
            let text = text_of(&report, width);
            let widest = text.lines().max_by_key(|line| line.chars().count()).unwrap_or_default();
            assert!(widest.chars().count() <= usize::from(width), "{widest:?} at {width}");
        }
    }
}

#[test]
fn findings_stand_under_the_answer_and_the_tree_before_all_sections() {
    let text = text_of(&sample(), 80);
    let at = |part: &str| text.find(part).unwrap_or_else(|| panic!("{part:?} in {text}"));
    let order = [
        "41.2 s of CPU time in 30.0 s",
        "The JVM is warming up",
        "  http-nio-8080-exec-* ×200",
        "not in these threads",
        "Threads 41.0 s + 200 ms",
        "What the kernel did, and where in the code",
        "Threads that used most",
        "Scheduling and faults",
        "Where the figures come from",
        "Problems",
        "Only on the page",
    ];
    assert!(order.map(at).is_sorted(), "{:?} in {text}", order.map(at));
    assert_eq!(text.matches("The JVM is warming up").count(), 1, "{text}");
}

#[test]
fn markdown_has_what_the_kernel_did_page_faults_and_the_busiest_threads() {
    let markdown = time::document(&gallery()).markdown();
    let findings = markdown.find("## Findings").expect("findings");
    for section in [
        "## What the kernel did, and where in the code",
        "**In the kernel**",
        "## Threads that used most",
        "## Scheduling and faults",
    ] {
        assert!(markdown.find(section).is_some_and(|at| findings < at), "{section} in {markdown}");
    }
    assert!(
        gallery().fault_places.is_none_or(|of| of.samples == 0)
            || markdown.contains("**Page faults by place**")
    );
    assert!(markdown.contains("| page faults without a read from a disk |"), "{markdown}");
}

#[test]
fn the_release_of_a_jvm_is_the_one_that_users_know() {
    let of = |feature, version: &str| {
        let jvm = TimeJvm { version: Some(version.to_owned()), feature, collector: None };
        let report = TimeReport { jvm: Some(jvm), ..sample() };
        (text_of(&report, 120), page_of(&report))
    };
    for (feature, version, shown) in [
        (Some(8), "25.504-b01", "JDK 8 (25.504-b01)"),
        (Some(25), "25.0.3+9-LTS", "JVM 25.0.3+9-LTS"),
        (Some(25), "25+36", "JVM 25+36"),
        (Some(2), "25+36", "JDK 2 (25+36)"),
        (None, "25.504-b01", "JVM 25.504-b01"),
    ] {
        let (text, page) = of(feature, version);
        assert!(text.contains(shown) && page.contains(shown), "{shown}: {text}");
    }
}

#[test]
fn a_thread_whose_role_is_inferred_says_so_on_the_page() {
    let known = page_of(&sample());
    let mut report = sample();
    report.threads[0].is_role_inferred = true;
    let shown = "C2 CompilerThread0 (by name)";
    assert!(page_of(&report).contains(shown) && !known.contains(shown));
}

#[test]
fn groups_that_are_not_listed_are_counted() {
    let few = TerminalView { extent: Extent::Biggest(1), ..view(100) };
    let text = time::document(&sample()).terminal(few);
    assert!(text.contains("http-nio") && text.contains(" more "), "{text}");
    assert!(!text.contains("GC Thread"), "{text}");
}

#[test]
fn an_account_that_lacks_almost_everything_is_shown() {
    let text = text_of(&bare(), 80);
    assert!(text.contains("not a JVM that could be read") && text.contains("too few samples"), "{text}");
    assert!(!text.contains("per request") && !text.contains("hypervisor"), "{text}");
    assert!(!page_of(&bare()).contains("NaN"));
}

#[test]
fn the_difference_says_what_it_is_made_of() {
    let text = |report: &TimeReport| text_of(report, 140).replace('\n', " ");
    let beyond = text(&sample());
    assert!(
        beyond.contains(
            "53 threads ended during the measurement, 12 of them in no sample. By the kernel's records they used 1.35 s after the last sample of each (20.0 ms of it inferred"
        ) && beyond.contains("difference +0.49 %"),
        "{beyond}"
    );
    let lost = ExitRecordsTime { has_lost: true, ..sample().exit_records.expect("some") };
    let lost = text(&TimeReport { exit_records: Some(lost), ..sample() });
    assert!(
        lost.contains("came and went between two samples") && lost.contains("some are missing"),
        "{lost}"
    );
    let without = text(&TimeReport { exit_records: None, ..sample() });
    assert!(
        without.contains("41 threads ended during the measurement, counted up to the last sample of each"),
        "{without}"
    );
    let within = TimeReport { difference_ns: -10_000_000, ..sample() };
    let within = text(&within);
    assert!(within.contains("lies within 18.0 ms") && within.contains("difference -0.02 %"), "{within}");
}

#[test]
fn the_page_refers_to_nothing_outside_itself_and_is_the_same_each_time() {
    let first = page_of(&sample());
    assert_eq!(first, page_of(&sample()));
    for reference in ["http:", "https:", "@import", "fetch(", "src=", "xmlhttprequest"] {
        assert!(!first.to_lowercase().contains(reference), "{reference} in the page");
    }
    let text = shown(&first);
    for shown in [
        "network send",
        "libjvm: garbage collection",
        "libnio.so",
        "http-nio-8080-exec-*",
        "2.75 ms",
        "sysctl -w kernel.task_delayacct=1",
        "Control group /shop",
    ] {
        assert!(text.contains(shown), "{shown}");
    }
}

#[test]
fn the_page_shows_stacks_with_callers_above_what_they_called() {
    let page = page_of(&sample());
    for shown in [
        "application: 7,200 samples, 90.2 %",
        "do_syscall_64: 1,400 samples",
        "__x64_sys_sendto: 900 samples",
        "G1ParScanThreadState::trim_queue: 780 samples",
        "Functions that ran most",
    ] {
        assert!(page.contains(shown), "{shown}");
    }
    let without = TimeReport { samples: None, ..sample() };
    assert!(page.contains("id=\"flames-view\"") && !page_of(&without).contains("id=\"flames-view\""));
}

#[test]
fn hostile_names_are_text_on_the_page_and_do_nothing_on_the_terminal() {
    let report = hostile();
    let page = page_of(&report);
    assert!(!page.contains("<script>alert"));
    for output in [page, text_of(&report, 100), time::line(&report), time::document(&report).markdown()] {
        assert!(!output.contains('\u{202e}') && !output.contains('\u{1b}'));
    }
}

#[test]
fn groups_of_threads_have_a_row_each_and_unknown_times_are_empty() {
    let mut report: TimeReport = stored(include_str!("../../../../testdata/formats/time-4.json"));
    report.groups.truncate(1);
    let group = &mut report.groups[0];
    (group.name, group.sums.cpu_ns, group.sums.user_ns) = ("pool".to_owned(), 7, None);
    group.sums.kernel_share = None;
    let rows = csv(&time::data(&report));
    assert_eq!(rows.len(), 2);
    let fields: Vec<&str> = rows[1].split(',').collect();
    assert_eq!((fields[1], fields[4], fields[5], fields[7]), ("pool", "7", "", ""));
    let markdown = time::document(&report).markdown();
    assert!(
        markdown.starts_with("# CPU time of ")
            && markdown.contains("**CPU time by role and by name of the threads**")
    );
}
