//! Metrics whose ids contain a latency limit, a benchmark or a process.

use assay_model::*;

#[test]
fn metrics_of_limits_are_made_from_the_limit_and_listed_upwards() {
    let ids = ["rate_at_100_ms_per_s", "rate_at_2.5_ms_per_s", "rate_at_25_ms_per_s", "rate_at_2.5_ms_per_s"];
    let all = Metric::all_with(ids);
    let own: Vec<&str> =
        all.iter().skip(METRICS.len()).filter(|m| !m.is_emulated()).map(|m| &*m.id).collect();
    assert_eq!(own, ["rate_at_2.5_ms_per_s", "rate_at_25_ms_per_s", "rate_at_100_ms_per_s"]);
    assert_eq!(
        Metric::by_id("rate_at_2.5_ms_per_s").unwrap(),
        Metric::rate_at_limit(&LatencyLimit::of_all(2.5))
    );
    for bad in ["rate_at_02_ms_per_s", "rate_at_-1_ms_per_s", "rate_at_inf_ms_per_s", "rate_at_x_ms_per_s"] {
        assert_eq!(Metric::by_id(bad), None, "{bad}");
    }
}

#[test]
fn the_metric_of_a_limit_of_one_operation_names_it() {
    let limit = LatencyLimit { limit_ms: 200.0, operation: Some("GET /a/b".to_owned()) };
    let metric = Metric::rate_at_limit(&limit);
    assert_eq!(
        (&*metric.id, &*metric.title),
        ("rate_at_200_ms_per_s/GET /a/b", "Rate within 200 ms of GET /a/b")
    );
    assert!(metric.is_of_capacity() && Metric::by_id(&metric.id) == Some(metric));
    let ids =
        ["rate_at_9_ms_per_s/b", "rate_at_80_ms_per_s/a", "rate_at_9_ms_per_s/a", "rate_at_70_ms_per_s"];
    let all = Metric::all_with(ids);
    let own: Vec<&str> =
        all.iter().skip(METRICS.len()).filter(|m| !m.is_emulated()).map(|m| &*m.id).collect();
    assert_eq!(own, [ids[3], ids[2], ids[1], ids[0]]);
}

#[test]
fn metrics_of_benchmarks_are_made_from_their_names_and_listed_by_size() {
    let ids = [
        "live_bytes/b(n=9)",
        "ns_per_op/b(n=10)",
        "rss_bytes",
        "ns_per_op/b(n=9)",
        "nothing/b",
        "ns_per_op/a",
    ];
    let all = Metric::all_with(ids);
    let own: Vec<&str> =
        all.iter().skip(METRICS.len()).filter(|m| !m.is_emulated()).map(|m| &*m.id).collect();
    assert_eq!(own, ["ns_per_op/a", "ns_per_op/b(n=9)", "ns_per_op/b(n=10)", "live_bytes/b(n=9)"]);
    assert_eq!(Metric::by_id("ns_per_op/a/b").unwrap().title, "Time per operation in a/b");
    assert_eq!(Metric::by_id("process_pss_bytes/auth").unwrap().title, "Proportional set size: auth");
    assert_eq!(Metric::by_id("ns_per_op"), None);
    assert_eq!(Metric::by_id("rss_bytes").unwrap().id, "rss_bytes");
}

#[test]
fn metrics_of_emulated_guests_come_in_both_modes_and_behind_all_others() {
    let ids = |metrics: &[Metric]| metrics.iter().map(|m| m.id.to_string()).collect::<Vec<_>>();
    let all = Metric::all_with(["rate_at_10_ms_per_s"]);
    assert_eq!(ids(&all[METRICS.len() + 1..]), ids(EMULATED));
    assert!(EMULATED.iter().all(Metric::is_emulated) && !METRICS.iter().any(Metric::is_emulated));
    assert_eq!(EMULATED.len(), 59);
    let taken = Metric::by_id(metric::EMULATED_KERNEL_TAKEN_PERCENT).unwrap();
    assert_eq!(
        (&*taken.id, &*taken.title),
        ("emulated_kernel_taken_percent", "Emulated: kernel branches that are taken")
    );
    // Compilers run in user mode.
    let of_both = |m: &&Metric| m.id.starts_with("emulated_user_") && !m.id.contains("without_jit");
    for user in EMULATED.iter().filter(of_both) {
        let kernel = Metric::by_id(&user.id.replacen("user", "kernel", 1)).unwrap();
        assert_eq!((&*kernel.title, kernel.unit), (&*user.title.replacen("user", "kernel", 1), user.unit));
    }
}
