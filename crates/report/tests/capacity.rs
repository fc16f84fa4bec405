//! The text of a capacity: the answer first, then why requests were late, then what is wrong.

use assay_model::{
    AttributedCause, CapacityMethod, CapacityReport, CapacityStep, Estimate, LatencySummary,
    LimitAttribution, LimitRate, OperationCount, OperationFigures, Problem, SearchStep, ValidityCheck,
    Window,
};
use assay_report::{Extent, TerminalView, capacity};
use expect_test::{Expect, expect};

fn estimate(estimate: f64, low: f64, high: f64) -> Option<Estimate> {
    Some(Estimate { estimate, low: Some(low), high: Some(high) })
}

fn limit(limit_ms: f64, rate_per_s: Option<Estimate>, kept: Option<f64>, missed: Option<f64>) -> LimitRate {
    LimitRate {
        limit_ms,
        operation: None,
        rate_per_s,
        last_success_per_s: kept,
        first_failure_per_s: missed,
        limited_by_max: false,
    }
}

fn window(rate: f64, is_sustained: bool) -> Window {
    Window {
        start_monotonic_ns: 1,
        end_monotonic_ns: 5_000_000_001,
        requests: (5.0 * rate) as u64,
        completed: (5.0 * rate) as u64,
        send_lag_ms: LatencySummary { p99: Some(0.2), ..LatencySummary::default() },
        generator_cpu_share: Some(0.1),
        search: Some(SearchStep {
            step: CapacityStep::Refine,
            cool_down_s: 0.0,
            settle_s: 1.0,
            offered_rate_per_s: rate,
            sent_rate_per_s: rate,
            misses: vec![10, 2],
            response_ms_min: Some(0.3),
            response_ms_p90: Some(4.0),
            limited_ms: Some(rate / 20.0),
            is_sustained,
        }),
        ..Window::default()
    }
}

fn check(name: &str, passed: Option<bool>, evidence: &str) -> ValidityCheck {
    ValidityCheck {
        check: serde_json::from_value(name.into()).expect("a word"),
        passed,
        evidence: evidence.to_owned(),
    }
}

fn cause(cause: &str, misses: u64, overlapped: u64, expected: Option<f64>) -> AttributedCause {
    AttributedCause {
        cause: serde_json::from_value(cause.into()).expect("a word"),
        misses,
        overlapped,
        expected,
    }
}

fn good() -> CapacityReport {
    CapacityReport {
        schema: "assay.capacity/4".to_owned(),
        method: CapacityMethod::Search,
        scenario: None,
        target: "http://127.0.0.1:8080 with scenario shop".to_owned(),
        percentile: 99.0,
        limited_operations: vec!["buy".to_owned()],
        max_rate_per_s: estimate(1240.4, 1210.0, 1262.0),
        limits: vec![
            limit(10.0, estimate(812.3, 790.0, 835.0), Some(805.0), Some(834.0)),
            limit(25.0, estimate(1103.0, 1080.2, 1130.0), Some(1090.0), Some(1120.0)),
        ],
        critical_rate_per_s: estimate(946.6, 925.0, 970.0),
        from_below: None,
        users: None,
        session_starts: None,
        windows: vec![window(800.0, true), window(1200.0, true), window(1300.0, false)],
        attribution: vec![LimitAttribution {
            limit_ms: 10.0,
            operation: None,
            misses: 12_345,
            causes: vec![
                cause("gc-pause", 7_555, 8_600, Some(493.8)),
                cause("run-queue", 1_200, 12_000, Some(11_800.0)),
                cause("connection-wait", 3, 3, None),
            ],
            unexplained: 3_590,
        }],
        checks: vec![
            check("complete", Some(true), "3 windows"),
            check("audit", None, "no audit was requested"),
        ],
        valid: Some(true),
        problems: Vec::new(),
        duration_s: 272.4,
        seed: 1,
    }
}

#[track_caller]
fn shows(report: &CapacityReport, width: u16, want: &Expect) {
    let text = capacity::document(report).terminal(TerminalView { width, color: false, extent: Extent::All });
    assert!(text.lines().all(|line| line.chars().count() <= usize::from(width)), "{text}");
    want.assert_eq(&text);
}

#[test]
fn a_good_result_answers_first() {
    shows(
        &good(),
        100,
        &expect![[r#"
            http://127.0.0.1:8080 with scenario shop
            A search of 3 windows, 4 min 32 s in all, seed 1

            Sustains 805 requests/s with p99 of buy under 10 ms; the limit is crossed at 812 (790 to 835). The
            maximum is 1,240/s (1,210 to 1,260); p99 at 1,200/s is 60.0 ms.
            → To sustain more, begin with collection pauses: without it 61.2 % of the requests beyond 10 ms
            would have kept the limit.

            Limits
            Rates that keep the limits
            p99 under           Kept at  Missed      Estimate        Interval    ±  Note
                           (requests/s)      at  (requests/s)                  (%)
            ────────────────────────────────────────────────────────────────────────────────────────────────────
            10 ms                   805     834           812      790 to 835  2.8
            25 ms                 1,090   1,120         1,100  1,080 to 1,130  2.3
            critical rate                                 947      925 to 970  2.4  geometric mean of the rates
                                                                                    above
            max rate                                    1,240  1,210 to 1,260  2.1  highest sustained rate at
                                                                                    any response time
            Intervals are meant to hold the true rate in 95 of 100 searches. In searches on simulated servers of
            known capacity, 95 in 100 did. If pauses rather than the rate decide a limit, 61 to 85 did.

            Causes of slow requests
            12,345 requests beyond 10 ms
            Cause                         Misses   Share  Overlapped       Share  Expected by  Times chance
                                       explained                      overlapped       chance
            ────────────────────────────────────────────────────────────────────────────────────────────────
            collection pauses              7,555  61.2 %       8,600      69.7 %        4.0 %          17.4
            waiting for a processor        1,200   9.7 %      12,000      97.2 %       95.6 %          1.02
            all connections were busy          3  0.02 %           3      0.02 %            -             -
            unexplained                    3,590  29.1 %           -           -            -             -

            Validity checks
            No check failed: the figures may be used.

            Without a verdict
            Check  What was found
            ──────────────────────────────
            audit  no audit was requested

            Windows
            3 windows were measured, 3 of them undisturbed.

            Only on the page: the charts: response time over the rate, throughput over the rate, causes of slow
            requests; Passed; Figures of every window; Windows as CSV; How it was found.
        "#]],
    );
}

/// Everywhere that a limit of one operation stands, and in a row of its own where its figures do.
#[test]
fn a_limit_of_one_operation_names_it_in_every_form() {
    let mut report = good();
    report.limited_operations.clear();
    let own = LimitRate {
        operation: Some("checkout".to_owned()),
        ..limit(200.0, estimate(400.0, 380.0, 420.0), Some(395.0), Some(415.0))
    };
    report.limits.push(own);
    report.attribution.push(LimitAttribution {
        limit_ms: 200.0,
        operation: Some("checkout".to_owned()),
        misses: 40,
        causes: vec![cause("gc-pause", 30, 33, None)],
        unexplained: 10,
    });
    let figures = |p99| OperationFigures {
        response_ms: LatencySummary { p99: Some(p99), ..LatencySummary::default() },
        ..OperationFigures::default()
    };
    let operation = |name: &str, requests, p99| OperationCount {
        requests,
        figures: Some(figures(p99)),
        ..OperationCount::planned(name, 0.5)
    };
    for window in &mut report.windows {
        window.operations = vec![operation("buy", 900, 12.5), operation("checkout", 100, 210.0)];
        window.search.iter_mut().for_each(|step| step.misses.push(3));
    }
    let document = capacity::document(&report);
    let terminal = TerminalView { width: 100, color: false, extent: Extent::All };
    for text in [document.terminal(terminal), document.markdown()] {
        let one_line = text.split_whitespace().collect::<Vec<_>>().join(" ");
        let answer = "With p99 of checkout under 200 ms it sustains 395 requests/s; the limit is crossed at 400 (380 to 420).";
        assert!(one_line.contains(answer), "{text}");
        assert!(one_line.contains("40 requests beyond 200 ms of checkout"), "{text}");
        assert!(
            text.lines().any(|line| line.contains("200 ms of checkout") && line.contains("400")),
            "{text}"
        );
    }
    let mut page = Vec::new();
    document.write_html(&mut page).expect("in memory");
    let page = String::from_utf8(page).expect("text");
    assert!(
        page.contains("200 ms of checkout is crossed at 400 requests/s (380 to 420); kept at 395/s"),
        "its mark on the curve"
    );
    assert!(page.contains("misses_200_ms{operation=checkout}"), "the windows as CSV");
    let csv = capacity::data(&report).csv();
    assert!(csv.contains("\nlimit,checkout,200,99,400,380,420,395,415,true,"), "{csv}");
    assert!(csv.contains("\noperation,checkout,,,1200,,,,,true,100,0,,,210,"), "{csv}");
    let json = serde_json::to_value(&report).expect("plain data");
    assert_eq!(json["limits"][2]["operation"], "checkout");
    assert!(json["limits"][0].get("operation").is_none());
}

#[test]
fn a_result_that_is_not_valid_says_so_first_and_why() {
    let mut report = good();
    report.valid = Some(false);
    let why = "4 of 6 windows left out, the last for: share of the machine's processors used by other processes: 22.0 %, limit 10.0 %";
    report.checks.push(check("disturbance", Some(false), why));
    report.problems = vec![
        Problem::new("disturbance", why),
        Problem::new("capacity", "the intervals are wider than asked\u{1b}[31m"),
    ];
    shows(
        &report,
        80,
        &expect![[r#"
            http://127.0.0.1:8080 with scenario shop
            A search of 3 windows, 4 min 32 s in all, seed 1

            NOT VALID: do not use these figures
            - disturbance: 4 of 6 windows left out, the last for: share of the machine's
              processors used by other processes: 22.0 %, limit 10.0 %

            Sustains 805 requests/s with p99 of buy under 10 ms; the limit is crossed at 812
            (790 to 835). The maximum is 1,240/s (1,210 to 1,260); p99 at 1,200/s is 60.0
            ms.
            → Repair what the checks found, then measure again.

            Limits
            Rates that keep the limits
            p99 under           Kept at      Estimate        Interval  Note
                           (requests/s)  (requests/s)
            ────────────────────────────────────────────────────────────────────────────────
            10 ms                   805           812      790 to 835
            25 ms                 1,090         1,100  1,080 to 1,130
            critical rate                         947      925 to 970  geometric mean of the
                                                                       rates above
            max rate                            1,240  1,210 to 1,260  highest sustained
                                                                       rate at any response
                                                                       time
            Not in this width: Missed at, ± (%).
            Intervals are meant to hold the true rate in 95 of 100 searches. In searches on
            simulated servers of known capacity, 95 in 100 did. If pauses rather than the
            rate decide a limit, 61 to 85 did.

            Causes of slow requests
            12,345 requests beyond 10 ms
            Cause                         Misses   Share  Overlapped       Share  Expected
                                       explained                      overlapped        by
                                                                                    chance
            ───────────────────────────────────────────────────────────────────────────────
            collection pauses              7,555  61.2 %       8,600      69.7 %     4.0 %
            waiting for a processor        1,200   9.7 %      12,000      97.2 %    95.6 %
            all connections were busy          3  0.02 %           3      0.02 %         -
            unexplained                    3,590  29.1 %           -           -         -
            Not in this width: Times chance.

            Validity checks
            The result is not valid: do not use the figures.

            Failed
            Check        What was found
            ───────────────────────────────────────────────────────────────────────────
            disturbance  4 of 6 windows left out, the last for: share of the machine's
                         processors used by other processes: 22.0 %, limit 10.0 %

            Without a verdict
            Check  What was found
            ──────────────────────────────
            audit  no audit was requested

            Windows
            3 windows were measured, 3 of them undisturbed.

            Problems
              capacity: the intervals are wider than asked�[31m

            Only on the page: the charts: response time over the rate, throughput over the
            rate, causes of slow requests; Passed; Figures of every window; Windows as CSV;
            How it was found.
        "#]],
    );
}

#[test]
fn what_was_not_found_is_told_with_what_was_tried() {
    let mut report = good();
    report.method = CapacityMethod::Sweep;
    report.limited_operations.clear();
    report.max_rate_per_s = None;
    report.critical_rate_per_s = None;
    report.limits = vec![limit(10.0, None, None, Some(50.0)), limit(25.0, None, Some(4000.0), None)];
    report.attribution.clear();
    report.windows.clear();
    shows(
        &report,
        60,
        &expect![[r#"
            http://127.0.0.1:8080 with scenario shop
            A sweep of 0 windows, 4 min 32 s in all, seed 1

            Does not keep p99 under 10 ms even at 50.0 requests/s, the
            lowest rate measured. The maximum rate was not found.
            → To learn what makes requests late, name the server's
            process (--pid).

            response time over the rate: no window was measured

            Throughput
            throughput over the rate: no window was measured

            Limits
            Rates that keep the limits
            p99 under           Kept at      Estimate  Interval
                           (requests/s)  (requests/s)
            ────────────────────────────────────────────────────
            10 ms                     -             -         -
            25 ms                 4,000             -         -
            critical rate                           -         -
            max rate                                -         -

            p99 under      Note
            ───────────────────────────────────────────────────────────
            10 ms          missed already at 50.0/s
            25 ms          kept at all rates, up to 4,000/s
            critical rate  geometric mean of the rates above
            max rate       highest sustained rate at any response time
            Not in this width: Missed at, ± (%).

            Causes of slow requests
            causes of slow requests: no possible cause was observed

            Validity checks
            No check failed: the figures may be used.

            Without a verdict
            Check  What was found
            ──────────────────────────────
            audit  no audit was requested

            Windows
            0 windows were measured, 0 of them undisturbed.

            Only on the page: Passed; Windows as CSV; How it was found.
        "#]],
    );
}

#[test]
fn every_form_is_the_golden_file() {
    crate::golden::expect("capacity", &capacity::document(&crate::capacity_sample::search()));
}

#[test]
fn styles_are_written_only_where_they_are_wanted() {
    let of =
        |color| capacity::document(&good()).terminal(TerminalView { width: 90, color, extent: Extent::All });
    assert!(!of(false).contains('\u{1b}') && of(true).contains("\u{1b}[1m"));
}
