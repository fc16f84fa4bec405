//! Logs, right and wrong; what is made is compiled, and its mix and rate are those that were written into the log.

use super::*;
use crate::Scenario;
use proptest::prelude::*;

fn line(s: usize, request: &str, status: u16) -> String {
    format!(
        "10.0.0.1 - - [10/Oct/2000:13:{:02}:{:02} +0000] \"{request} HTTP/1.1\" {status} 5 \"-\" \"curl\"\n",
        s / 60,
        s % 60
    )
}

fn made(text: &str, trace: Option<&str>) -> Result<Generated, ScenarioError> {
    from_access_log(text.as_bytes(), &AccessLog { named: "access.log", trace })
}

/// Two minutes: 2 requests a second, then 6.
fn shop() -> String {
    let mut text = String::new();
    for s in 0..120 {
        for number in 0..if s < 60 { 2 } else { 6 } {
            text += &match number % 3 {
                0 => line(s, &format!("GET /items/{}?page=2", 1_000 + s), 200),
                1 => {
                    line(s, "GET /search?q=red+shoes&token=s3cr3ts3cr3t", if s % 10 == 0 { 404 } else { 200 })
                }
                _ => line(s, "GET /users/6f9619ff-8b86-d011-b42d-00c04fc964ff/orders", 200),
            };
        }
    }
    text + &line(119, "POST /buy", 200) + "what is this\n"
}

#[test]
fn a_log_in_utf_16_makes_the_same_scenario() {
    let utf16: Vec<u8> = shop().encode_utf16().flat_map(u16::to_le_bytes).collect();
    let read = |log: &[u8]| from_access_log(log, &AccessLog { named: "access.log", trace: None });
    assert_eq!(read(&utf16).expect("a good log").text, made(&shop(), None).expect("a good log").text);
}

#[test]
fn a_mix_is_made_by_templates_without_secrets() {
    let Generated { text, base_url, trace } = made(&shop(), None).expect("a good log");
    assert_eq!((base_url, trace), (None, None));
    for part in [
        "# Made from an access log: 482 lines, including 480 requests that can be sent again.",
        "# 1 lines were not understood, the first is line 482.",
        "# 1 requests were left out: they have a body, which a log does not keep.",
        "name = \"GET /items/{items-id}?page={page}\"\nweight = 180\npath = \"/items/{items-id}?page={page}\"",
        "weight = 180\npath = \"/search?q={q}&token=${env:TOKEN}\"\nstatus = [200, 404]",
        "weight = 120\npath = \"/users/{users-id}/orders\"",
        "q = { kind = \"list\", values = [\"red shoes\"] }",
        "schedule = \"2 for 2s, 2 for 2s",
        "6 for 2s\"",
    ] {
        assert!(text.contains(part), "no {part} in\n{text}");
    }
    assert!(!text.contains("s3cr3t"), "{text}");
    Scenario::look(&text, "made.toml").expect("it can be read again");
}

#[test]
fn arrivals_are_written_as_they_were_and_spread_within_seconds() {
    let made = made(&shop(), Some("a.arrivals")).expect("a good log");
    assert!(made.text.contains("schedule = \"trace a.arrivals\""), "{}", made.text);
    let trace = made.trace.expect("asked for");
    let times: Vec<&str> = trace.lines().skip(1).collect();
    assert_eq!(
        (times.len(), times[0], times[1], times[2]),
        (480, "0.250000000", "0.750000000", "1.250000000")
    );
    let late = times.iter().filter(|time| time.parse::<f64>().is_ok_and(|s| s >= 60.0)).count();
    assert_eq!(late, 360);
}

#[test]
fn a_segment_of_many_values_varies_whatever_it_looks_like() {
    let mut text = String::new();
    let names =
        ["red", "green", "blue", "tall", "small", "round", "flat", "old", "new", "warm", "cold", "wet"];
    for (s, (first, second)) in names.iter().flat_map(|a| names.iter().map(move |b| (a, b))).enumerate() {
        text += &line(s, &format!("GET /shoes/{first}-{second}/reviews"), 200);
        text += &line(s, &format!("GET /{}", names[s % 9]), 200);
    }
    let made = made(&text, None).expect("a good log").text;
    assert!(made.contains("weight = 144\npath = \"/shoes/{shoes-id}/reviews\""), "{made}");
    assert!(made.contains("path = \"/round\"") && made.contains("\"red-green\""), "{made}");
}

#[test]
fn a_session_in_paths_is_left_out_and_said() {
    let text: String = (0..50)
        .map(|s| {
            line(s, &format!("GET /shop/item;jsessionid=8B0E7153BF7C3706D85C524E4400{s:04}?id={s}"), 200)
        })
        .collect();
    let made = made(&text, None).expect("a good log").text;
    assert!(made.contains("weight = 50\npath = \"/shop/item?id={id}\""), "{made}");
    assert!(made.contains("# 50 requests have a session in their path") && !made.contains("8B0E"), "{made}");
}

#[test]
fn requests_that_clients_gave_up_are_counted_and_no_status_to_wait_for() {
    let made = made(&(line(0, "GET /a", 200) + &line(1, "GET /a", 499)), None).expect("a good log").text;
    assert!(made.contains("# 1 requests were given up by their client"), "{made}");
    assert!(!made.contains("499"), "{made}");
}

#[test]
fn a_log_that_was_collected_is_read_as_the_plain_one() {
    let plain = made(&shop(), None).expect("a good log").text;
    let prefixes: [fn(&str) -> String; 4] = [
        |line| format!("2025-09-16T08:17:32.137Z stdout F {line}"),
        |line| format!("[pod/shop/nginx] {line}"),
        |line| serde_json::json!({"log": format!("{line}\n"), "stream": "stdout"}).to_string(),
        |line| format!("Sep 16 08:17:32 node-7 nginx[12]: {line}"),
    ];
    for prefix in prefixes {
        let text: String = shop().lines().map(|line| prefix(line) + "\n").collect();
        assert_eq!(made(&text, None).expect("a good log").text, plain, "{}", prefix("line"));
    }
}

#[test]
fn w3c_is_read_to_templates() {
    let text = "#Version: 1.0\n#Fields: date time cs-method cs-uri-stem cs-uri-query sc-status\n\
        2024-03-12 10:15:32 GET /items/9 x=1 200\n2024-03-12 10:15:33 GET /items/10 x=1 200\n";
    let made = made(text, None).expect("a good log").text;
    assert!(made.contains("weight = 2\npath = \"/items/{items-id}?x={x}\""), "{made}");
    assert!(!made.contains("not understood"), "{made}");
}

#[test]
fn a_log_without_requests_says_why() {
    let error = |text: &str| made(text, None).expect_err(text).to_string();
    assert!(error("").starts_with("access log access.log: it holds no request"));
    assert!(
        error("a\nb\n").contains("none of its 2 lines is a request (the first that was not understood is 1)")
    );
    assert!(error(&line(0, "POST /buy", 200)).contains("1 have a body"));
}

#[test]
fn a_line_without_end_is_read_in_bounded_pieces() {
    let long = format!("{}\n{}", "x".repeat(1 << 20), line(0, "GET /a", 200));
    assert!(made(&long, None).expect("the second line").text.contains("2 lines, including 1 requests"));
}

proptest! {
    #[test]
    fn any_requests_make_a_scenario_that_can_be_read(
        targets in proptest::collection::vec("/[a-zA-Z0-9/{}%?&=#\"'\u{e9}$:._-]{0,40}", 1..6),
        status in 0..700_u16,
    ) {
        let text: String = targets.iter().enumerate().map(|(s, target)| line(s, &format!("GET {target}"), status)).collect();
        if let Ok(made) = made(&text, None) {
            let read = Scenario::look(&made.text, "made.toml");
            prop_assert!(read.is_ok(), "{}\n{}", read.expect_err("wrong"), made.text);
        }
    }

    #[test]
    fn any_bytes_are_a_log_or_an_error(bytes in proptest::collection::vec(any::<u8>(), 0..300)) {
        let _ = from_access_log(bytes.as_slice(), &AccessLog { named: "any", trace: None });
    }
}
