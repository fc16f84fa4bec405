//! Loads: percentiles, operations, the rate over time, injectors.

use super::detailed_load::detailed;
use super::*;
use assay_report::load;

fn kept() -> LoadResult {
    stored(include_str!("../../../../testdata/formats/load-3.json"))
}

/// A load of several injectors over HTTP/2 with a rate that changes; one injector was lost.
fn spread() -> LoadResult {
    let summary =
        LatencySummary { p50: Some(1.5), p95: Some(3.25), p99: Some(12.0), p99_9: None, max: Some(99.5) };
    let injector = InjectorPart {
        address: "10.0.0.7:7070".to_owned(),
        base_url: "https://shop:8443/".to_owned(),
        requests: Some(9_000),
        errors: Some(0),
        completed: Some(9_000),
        send_lag_ms: summary,
        cpu_share: Some(0.21),
        clock_offset_ns: Some(-5),
        clock_uncertainty_ns: Some(42_000),
        start_late_ns: Some(1_250_000),
        lost: None,
    };
    let lost = LostInjector {
        why: "its connection ended".to_owned(),
        noticed_after_s: Some(7.5),
        requests_by_last_report: 3_100,
        last_report_age_s: 0.5,
    };
    let gone =
        InjectorPart { address: "10.0.0.8:7070".to_owned(), lost: Some(lost), ..InjectorPart::default() };
    let point = |second: u32| RatePoint {
        from_s: second.into(),
        to_s: f64::from(second + 1),
        offered_per_s: 100.0 + f64::from(second),
        answered_per_s: 99.0 + f64::from(second),
    };
    let protocol = ProtocolSummary {
        name: Protocol::Http2,
        streams: 100,
        streams_allowed_min: Some(64),
        closed_by_server: 2,
        closed_by_code: vec![ClosedByServer { code: 0, name: Some("NO_ERROR".to_owned()), connections: 2 }],
        reset_by_server: 1,
        pushed_by_server: None,
        opening_ms: Some(summary),
    };
    let handshakes = HandshakeSummary { count: 12, resumed: 4, ms: summary, cpu_ms_mean: Some(0.75) };
    let deliveries = DeliverySummary {
        sent: 500,
        due: 4_500,
        delivered: 4_480,
        lost: 3,
        duplicated: 1,
        out_of_order: 2,
        cut_off: 17,
        rate_per_s: Some(224.0),
        ms: summary,
    };
    LoadResult {
        rate_schedule: Some("ramp 100 to 130 in 30s".to_owned()),
        rates: (0..30).map(point).collect(),
        protocol: Some(protocol),
        handshakes: Some(handshakes),
        deliveries: Some(deliveries),
        injectors: vec![injector, gone],
        valid: false,
        problems: vec![Problem::new("10.0.0.8:7070", "lost: its connection ended")],
        ..kept()
    }
}

#[test]
fn each_operation_has_its_figures_in_every_form() {
    let (load, target) = (detailed(kept()), "http://shop:8080/");
    let document = load::document(&load, target, Some(20.0));
    let text = document.terminal(view(104));
    for wanted in
        ["buy <now>", "40.0 ms", "120 ms", "503", "timeout", "too many requests in flight", "never decided"]
    {
        assert!(text.contains(wanted), "{wanted}: {text}");
    }
    let all = csv(&load::data(&load));
    for wanted in [
        "operation,buy <now>,response_ms_p99,120",
        "operation,buy <now>,errors_timeout,3",
        "operation,buy <now>,status_503,20",
        "operation,browse,body_bytes,5000000",
        "load,all,errors_over-bound,1",
        "interval,5 s to 6 s,requests,100",
        "slowest,buy <now> at 2 s,service_ms,200",
    ] {
        assert!(all.iter().any(|row| row == wanted), "{wanted}");
    }
    assert!(
        !all.iter().any(|row| row.starts_with("interval,5 s to 6 s,response")),
        "what is absent has no row"
    );
    let page = page(&document);
    for wanted in
        ["times-over-time", "rate-over-time", "failed-over-time", "response-curve", "buy &lt;now&gt;"]
    {
        assert!(page.contains(wanted), "{wanted}");
    }
    assert!(!page.contains("<now>"));
    assert!(!page.contains("data-clocks"), "a result of before its beginning was stored");
    let dated = LoadResult { started_at: Some("2026-11-30T08:17:32Z".to_owned()), ..load.clone() };
    let dated = self::page(&load::document(&dated, target, None));
    assert!(dated.contains("data-clocks=\"0 1796026652000\"") && dated.contains(">08:17:32</text>"));
    let document = load::document(&LoadResult { timeline: Vec::new(), ..load }, target, None);
    assert!(!self::page(&document).contains("times-over-time"), "nothing is drawn of nothing");
}

#[test]
fn columns_of_a_load_do_not_run_together_whatever_its_times() {
    for width in [40, 60, 80, 104, 160] {
        for scale in [1e-3, 1.0, 1e3, 1e6] {
            let longer = |ms: Option<f64>| ms.map(|ms| ms * scale);
            let of = |times: &LatencySummary| LatencySummary {
                p50: longer(times.p50),
                p95: longer(times.p95),
                p99: longer(times.p99),
                p99_9: longer(times.p99_9),
                max: longer(times.max),
            };
            let load = detailed(kept());
            let load =
                LoadResult { response_ms: of(&load.response_ms), service_ms: of(&load.service_ms), ..load };
            let text = load::document(&load, "http://shop/", None).terminal(view(width));
            // A number, its unit and the next number need a space between each.
            let glued = text
                .match_indices(" ms")
                .find(|(at, _)| text[at + 3..].starts_with(|next: char| next.is_alphanumeric()));
            assert!(glued.is_none(), "{width} columns, times {scale}: {text}");
        }
    }
}

#[test]
fn terminals_and_markdown_are_the_golden_files() {
    golden::expect("load", &load::document(&kept(), "http://shop:8080/", Some(30.0)));
    golden::expect("load-detailed", &load::document(&detailed(kept()), "http://shop:8080/", Some(20.0)));
    golden::expect("load-spread", &load::document(&spread(), "https://shop:8443/", None));
}

#[test]
fn many_intervals_are_summed_up_in_parts_and_the_page_has_each() {
    let document = load::document(&spread(), "https://shop:8443/", None);
    let text = document.terminal(view(80));
    // Seconds 27 to 30 are offered 127, 128 and 129 requests/s.
    assert!(
        text.contains("27.0 to 30.0") && text.contains("128") && !text.contains("28.0 to 29.0"),
        "{text}"
    );
    assert!(
        text.replace('\n', " ").contains("Offered and achieved rate over time."),
        "what the page alone has is named: {text}"
    );
    assert!(page(&document).contains("28.0 to 29.0"));
}

#[test]
fn a_load_has_its_percentiles_and_what_is_wrong_with_it() {
    let load = kept();
    let all = csv(&load::data(&load));
    let value = |metric: &str| {
        all.iter().find_map(|row| row.split_once(&format!(",{metric},"))).map(|(_, value)| value)
    };
    assert_eq!(value("response_ms_p99"), Some("192.937983"));
    assert_eq!((value("requests"), value("delivery_ms_p50")), (Some("300"), None));
    let none = LatencySummary { p99: None, ..load.response_ms };
    let broken = LoadResult {
        response_ms: none,
        valid: false,
        problems: vec![Problem::new("server", "<script>gone")],
        ..load
    };
    let all = csv(&load::data(&broken));
    assert!(all.iter().all(|row| !row.contains(",response_ms_p99,")), "what is absent has no row");
    let markdown = load::document(&broken, "http://shop/", None).markdown();
    assert!(markdown.contains("**Not valid: do not use these figures.**"), "{markdown}");
    assert!(markdown.contains("- server: &lt;script&gt;gone\n"), "{markdown}");
    assert_eq!(markdown.matches("gone").count(), 1, "the reason is not repeated among problems: {markdown}");
    let page = page(&load::document(&broken, "http://shop/", None));
    assert!(page.contains("Not valid: do not use these figures"));
    assert!(page.contains("&lt;script&gt;gone") && !page.contains("<script>gone"));
    assert!(page.contains("p99.9: 212 ms; service time 205 ms"), "a bar for each percentile that is known");
    assert!(!page.contains("p99: "), "and none for one that is not");
}

#[test]
fn events_of_streams_and_statuses_of_grpc_stand_by_operation() {
    let mut load = detailed(kept());
    let times = LatencySummary { p50: Some(12.0), p99: Some(34.0), max: Some(1_700.0), ..load.response_ms };
    let figures = load.operations[1].figures.as_mut().expect("figures");
    figures.events = Some(EventFigures { events: 2_931, first_event_ms: times, event_gap_ms: times });
    let name = Some("UNAVAILABLE".to_owned());
    figures.statuses = vec![StatusCount { status: 14, name, answers: 7, unexpected: 7 }];
    let document = load::document(&load, "http://shop:8080/", None);
    for text in [document.terminal(view(120)), document.markdown(), page(&document)] {
        assert!(text.contains("Server-sent events"), "{text}");
        assert!(text.contains("2,931") && text.contains("UNAVAILABLE (14)"), "{text}");
    }
    let all = csv(&load::data(&load));
    for wanted in ["browse,events,2931", "browse,event_gap_ms_max,1700", "browse,status_UNAVAILABLE,7"] {
        assert!(all.iter().any(|row| row.ends_with(wanted)), "{wanted}: {all:?}");
    }
}
