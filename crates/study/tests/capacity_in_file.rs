//! A capacity in a study file, and the mistakes in it.

use crate::study_file::{OWN, check};
use expect_test::expect;

#[test]
fn a_capacity_in_place_of_load_is_a_study() {
    check(
        &format!("{OWN}[capacity]\nlimits_ms = [2.5, 10]\n")
            .replace("name = \"own\"", "name = \"own\"\nprimary_metric = \"rate_at_2.5_ms_per_s\""),
        expect![[r#"
            no mistake in own
        "#]],
    );
}

#[test]
fn limits_of_operations_and_threads_have_mistakes_of_their_own() {
    let text = format!(
        "{OWN}[capacity]\nconnections = 2\nthreads = 3\noperation_limits_ms = {{ \"GET /a.b\" = [], checkout = [9, 9] }}\n"
    );
    check(
        &text.replace("name = \"own\"", "name = \"own\"\nobserve = [\"latency\"]"),
        expect![[r#"
        x.toml:4: `latency` keeps the log of a load by one thread: leave it, or `threads` and `replicas`, out
        x.toml:10: 3 threads share 2 connections: use at most one thread for each
        x.toml:11: GET /a.b: name 1 to 16 limits
        x.toml:11: checkout: limits go upwards, each once: 9 ms stands before 9 ms
    "#]],
    );
}

#[test]
fn mistakes_in_a_capacity_are_told() {
    let text = OWN.replace(
        "name = \"own\"",
        "name = \"own\"\nprimary_metric = \"rate_at_20_ms_per_s\"\nobserve = [\"latency\"]",
    ) + r#"
[load]
kind = "closed"
[capacity]
limit_ms = [10]
limits_ms = [10, 50, 25, 0]
method = "seek"
percentile = 100
budget = "5s"
[design]
kind = "resident"
window = "30s"
[quick.capacity]
limits_ms = []
[quick.load]
kind = "closed"
[[factor]]
name = "f"
level = [{ name = "a", load = { kind = "closed" } }]
"#;
    check(
        &text,
        expect![[r#"
            x.toml:4: unknown metric `rate_at_20_ms_per_s`; did you mean `rate_at_10_ms_per_s`?
            x.toml:10: a study has either [load], whose windows are measured, or [capacity], not both
            x.toml:13: unknown key `limit_ms`; did you mean `limits_ms`?
            x.toml:15: `capacity.method`: unknown word `seek`; did you mean `sweep`?
            x.toml:16: `capacity.percentile` must be a number, 50 or more
            x.toml:17: 5 s are too short to find anything by a search: use at least 10 s
            x.toml:19: a capacity takes the whole machine for minutes: use kind = "fresh", a process for each trial
            x.toml:20: a capacity has windows of its own: use budget in [capacity], and leave window away
            x.toml:22: name 1 to 16 limits
            x.toml:23: a study has either [load], whose windows are measured, or [capacity], not both
            x.toml:27: a study has either [load], whose windows are measured, or [capacity], not both
        "#]],
    );
    let text =
        text.replace("limit_ms = [10]\n", "").replace("\"seek\"", "\"sweep\"").replace("= 100\n", "= 95\n");
    check(
        &text,
        expect![[r#"
        x.toml:4: unknown metric `rate_at_20_ms_per_s`; did you mean `rate_at_10_ms_per_s`?
        x.toml:10: a study has either [load], whose windows are measured, or [capacity], not both
        x.toml:13: a limit of 0 ms: use more than 0 and at most 600000 ms
        x.toml:13: limits go upwards, each once: 50 ms stands before 25 ms
        x.toml:16: 5 s are too short to find anything by a sweep: use at least 1500 s
        x.toml:18: a capacity takes the whole machine for minutes: use kind = "fresh", a process for each trial
        x.toml:19: a capacity has windows of its own: use budget in [capacity], and leave window away
        x.toml:21: name 1 to 16 limits
        x.toml:22: a study has either [load], whose windows are measured, or [capacity], not both
        x.toml:26: a study has either [load], whose windows are measured, or [capacity], not both
    "#]],
    );
    check(
        &format!("{OWN}[quick.capacity]\nbudget = \"30s\"\n"),
        expect![[r#"
        x.toml:7: the short form replaces keys of [capacity], which the study does not have
    "#]],
    );
}
