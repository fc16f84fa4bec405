//! Schedules, right and wrong, against sums and integrals that were worked out by hand.

use super::*;
use expect_test::{Expect, expect};
use proptest::prelude::*;

fn schedule(text: &str) -> RateSchedule {
    RateSchedule::parse(text, Path::new("")).expect(text)
}

fn near(value: f64, want: f64) -> bool {
    (value - want).abs() <= 1e-9 * want.abs().max(1.0)
}

#[test]
fn the_integral_of_each_kind_of_phase_is_the_one_worked_out_by_hand() {
    for (text, until_s, want) in [
        ("100 for 30s", 30.0, 3_000.0),
        // A triangle of 10 s times 100/s, halved.
        ("0 to 100 for 10s", 10.0, 500.0),
        ("0 to 100 for 10s", 5.0, 125.0),
        ("100 to 0 for 10s", 5.0, 375.0),
        ("100 to 500 for 1m, 500 for 30s", 90.0, 18_000.0 + 15_000.0),
        // 100, 200, 300, 10 s each.
        ("100 to 300 in 3 steps for 30s", 30.0, 6_000.0),
        ("100 to 300 in 3 steps for 30s", 15.0, 2_000.0),
        // 55 s at 10 and five spikes of 1 s at 100, of which the last begins at 59.
        ("10 for 60s spike 100 for 1s every 12s", 60.0, 550.0 + 500.0),
        ("10 for 60s spike 100 for 1s every 12s", 59.0, 550.0 + 400.0),
        ("10 for 25s spike 100 for 1s every 12s", 25.0, 230.0 + 200.0),
        ("100 for 1s", 99.0, 100.0),
    ] {
        let count = schedule(text).count_until(until_s);
        assert!(near(count, want), "{text} until {until_s}: {count} instead of {want}");
    }
    assert_eq!(schedule("5 for 1s, 1 to 2 for 500ms").length(), Duration::from_millis(1_500));
    assert!(near(schedule("0 to 100 for 10s").mean_rate_per_s(0.0, 10.0), 50.0));
}

#[test]
fn a_number_of_requests_is_reached_when_the_integral_says_so() {
    let mut ramp = schedule("0 to 100 for 10s, 0 for 5s, 100 for 1s").walk();
    // 5 t² = n: n = 0 at 0, 5 at 1 s, 125 at 5 s, 500 at 10 s; after the pause 501 at 15.01 s.
    let times = [0.0, 5.0, 125.0, 499.0, 500.0, 501.0, 600.0].map(|count| ramp.reach_ns(count));
    let s = |ns: Option<u64>| ns.map(|ns| (ns as f64 / 1e7).round() / 100.0);
    assert_eq!(times.map(s), [0.0, 1.0, 5.0, 9.99, 15.0, 15.01, -1.0].map(|s| (s >= 0.0).then_some(s)));
}

#[test]
fn mistakes_name_the_phase_and_the_nearest_word() {
    let check = |text: &str, want: Expect| {
        want.assert_eq(&RateSchedule::parse(text, Path::new("/nowhere")).expect_err(text));
    };
    const FORMS: &str = "write phases as";
    let first = |text: &str| {
        let error = RateSchedule::parse(text, Path::new("")).expect_err(text);
        error.split(FORMS).next().unwrap_or_default().to_owned()
    };
    assert_eq!(first("100 fro 5s"), "phase \"100 fro 5s\": \"fro\" in place of `for`; did you mean `for`?; ");
    assert_eq!(first("100"), "phase \"100\": `for` is missing; ");
    assert_eq!(first(""), "phase \"\": \"\" is not a rate from 0 to 10000000 per second; ");
    assert_eq!(
        first("-1 for 5s"),
        "phase \"-1 for 5s\": \"-1\" is not a rate from 0 to 10000000 per second; "
    );
    assert_eq!(
        first("1 for 5s spik 3"),
        "phase \"1 for 5s spik 3\": \"spik\" is too much; did you mean `spike`?; "
    );
    check("0 for 5s", expect!["its rate is 0 all the time, so there is nothing to send"]);
    check(
        "1 for 8d",
        expect![[
            r#"phase "1 for 8d": `8d` is not a duration: write a number and ms, s, m or h, like "30s""#
        ]],
    );
    check(
        "1 to 2 in 1 steps for 1s",
        expect![[r#"phase "1 to 2 in 1 steps for 1s": "1" is not a number of steps from 2 to 10000"#]],
    );
    check(
        "1 for 10s spike 9 for 5s every 5s",
        expect![[
            r#"phase "1 for 10s spike 9 for 5s every 5s": a spike takes less time than there is from one to the next, and that less than the phase"#
        ]],
    );
    check(
        "1 for 100h spike 9 for 1ms every 2ms",
        expect![[r#"phase "1 for 100h spike 9 for 1ms every 2ms": it has more than 100000 spikes"#]],
    );
    check("trace no", expect!["cannot read trace /nowhere/no: No such file or directory (os error 2)"]);
}

#[test]
fn a_schedule_is_the_same_after_a_journey_also_where_its_file_is_not() {
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::write(folder.path().join("t.csv"), "3\n1.5\n2\n").expect("written");
    for text in ["100 for 30s, 1 to 9 in 3 steps for 1s", "trace t.csv"] {
        let schedule = RateSchedule::parse(text, folder.path()).expect(text);
        let json = serde_json::to_string(&schedule).expect("plain");
        assert_eq!(serde_json::from_str::<RateSchedule>(&json).expect("its own"), schedule, "{json}");
    }
    for wrong in [
        r#"{"text":"trace /etc/passwd"}"#,
        r#"{"text":"1"}"#,
        r#"{"text":"","gaps_ns":[1,18446744073709551615]}"#,
    ] {
        assert!(serde_json::from_str::<RateSchedule>(wrong).is_err(), "{wrong}");
    }
}

proptest! {
    #[test]
    fn any_text_is_a_schedule_or_an_error(text in "([0-9.e-]{1,4}|for|to|in|steps|spike|every|,|[0-9]{1,3}(s|ms)| ){0,20}") {
        if let Ok(schedule) = RateSchedule::parse(&text, Path::new("/nowhere")) {
            let length_s = schedule.length().as_secs_f64();
            prop_assert!(schedule.count_until(length_s) > 0.0);
        }
    }

    #[test]
    fn what_is_reached_at_a_time_is_the_integral_until_then(
        rates in proptest::collection::vec((0_u32..5_000, 0_u32..5_000, 1_u32..5_000), 1..6),
        shares in proptest::collection::vec(0.0..1.0_f64, 1..20),
    ) {
        let phases: Vec<String> = rates.iter().map(|(from, to, ms)| format!("{from} to {to} for {ms}ms")).collect();
        let Ok(schedule) = RateSchedule::parse(&phases.join(", "), Path::new("")) else { return Ok(()) };
        let whole = schedule.count_until(f64::INFINITY);
        let mut counts: Vec<f64> = shares.into_iter().map(|share| share * whole).collect();
        counts.sort_by(f64::total_cmp);
        let mut walk = schedule.walk();
        for count in counts {
            let Some(ns) = walk.reach_ns(count) else { continue };
            let back = schedule.count_until(ns as f64 / 1e9);
            // A nanosecond at the highest rate is 5e-6 requests.
            prop_assert!((back - count).abs() < 1e-5 + 1e-9 * whole, "{back} instead of {count}");
        }
    }
}
