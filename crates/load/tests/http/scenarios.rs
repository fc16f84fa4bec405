//! What whole scenarios make of a load: one-time requests, counters, kinds of users, think times.

use super::server::{Request, closed, generator, ok, open, run, serve, status};
use assay_load::{ErrorKind, Generator, GeneratorConfig, LoadError, Scenario};
use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};

/// A server that answers with what it was asked, and the lines of all requests.
fn echo() -> (String, Arc<Mutex<Vec<String>>>) {
    let lines = Arc::new(Mutex::new(Vec::new()));
    let kept = Arc::clone(&lines);
    let url = serve(move |request: &Request| {
        let path = request.line.split(' ').nth(1).unwrap_or_default().to_owned();
        kept.lock().expect("no panic").push(path.clone());
        ok(&format!("<{path}>"))
    });
    (url, lines)
}

fn begin_with(lines: &Mutex<Vec<String>>, prefix: &str) -> Vec<String> {
    let lines = lines.lock().expect("no panic");
    lines.iter().filter(|line| line.starts_with(prefix)).cloned().collect()
}

#[test]
fn one_time_requests_are_sent_once_and_what_they_gave_all_users_have() {
    const SCENARIO: &str = r#"
        setup = ["tenant", "key"]
        [extract]
        tenant = { operation = "tenant", after = "</", before = ">" }
        key = { operation = "key", after = "<", before = ">" }
        [[operation]]
        name = "tenant"
        weight = 0
        path = "/tenant"
        [[operation]]
        name = "key"
        weight = 0
        path = "/key-of-{tenant}"
        [[operation]]
        name = "use"
        path = "/use?key={key}"
    "#;
    let (url, lines) = echo();
    let mut generator = generator(&url, SCENARIO, 3);
    let measured = [run(&mut generator, &open(200.0), 100), run(&mut generator, &closed(3), 20)];
    assert!(measured.iter().all(|one| one.errors() == 0 && 0 < one.requests), "{:?}", measured[0].problems);
    let setup = [begin_with(&lines, "/tenant"), begin_with(&lines, "/key")];
    assert_eq!(setup, [["/tenant"], ["/key-of-tenant"]]);
    let uses = begin_with(&lines, "/use");
    assert!(20 < uses.len() && uses.iter().all(|line| line == "/use?key=%2Fkey-of-tenant"), "{}", uses[0]);
}

#[test]
fn a_one_time_request_that_fails_is_an_error_and_no_load_is_made() {
    const SCENARIO: &str = r#"
        setup = ["tenant"]
        [extract]
        tenant = { operation = "tenant", after = "id=", before = ";" }
        [[operation]]
        name = "tenant"
        weight = 0
        path = "/tenant"
        [[operation]]
        name = "use"
        path = "/use/{tenant}"
    "#;
    let error = |url: &str| {
        let text = format!("schema = \"assay.scenario/1\"\nname = \"test\"\n{SCENARIO}");
        let scenario = Scenario::parse(&text, "test.toml").expect("it is right");
        let mut generator = Generator::new(GeneratorConfig::new(url, scenario, 1)).expect("good");
        let stop = std::sync::atomic::AtomicBool::new(false);
        let ran = generator.run(&closed(1), std::time::Duration::from_millis(10), &stop, None, &mut |_| ());
        let error = ran.expect_err("not set up");
        assert!(matches!(error, LoadError::SetUp { .. }));
        error.to_string()
    };
    assert_eq!(
        error(&serve(|_| status(503, "", "busy"))),
        "set-up request \"tenant\": answered 503: busy; its answer is needed before any load"
    );
    assert_eq!(
        error(&serve(|_| ok("nothing"))),
        "set-up request \"tenant\": its answer does not hold \"tenant\": its body of 7 bytes does not hold the text of `after`; its answer is needed before any load"
    );
}

#[test]
fn no_number_of_a_counter_comes_twice_also_from_generators_that_follow_one_another() {
    const SCENARIO: &str = "
        [values]
        order = { kind = 'counter', from = 100 }
        [[operation]]
        name = 'order'
        path = '/order/{order}?again={order}'
    ";
    let (url, lines) = echo();
    let text = format!("schema = \"assay.scenario/1\"\nname = \"test\"\n{SCENARIO}");
    let scenario = Scenario::parse(&text, "test.toml").expect("it is right");
    let shared = scenario.shared();
    for _ in 0..2 {
        let config =
            GeneratorConfig { shared: shared.clone(), ..GeneratorConfig::new(&url, scenario.clone(), 4) };
        let measured = run(&mut Generator::new(config).expect("good"), &open(400.0), 100);
        assert_eq!((measured.requests, measured.errors()), (40, 0), "{:?}", measured.problems);
    }
    let numbers: BTreeSet<String> = begin_with(&lines, "/order").into_iter().collect();
    let expected: BTreeSet<String> = (100..180).map(|n| format!("/order/{n}?again={n}")).collect();
    assert_eq!(numbers, expected);
}

const KINDS: &str = r#"
    [users]
    buyer = 3
    auditor = 1
    [[operation]]
    name = "buy"
    weight = { buyer = 1 }
    path = "/buy"
    [[operation]]
    name = "audit"
    weight = { auditor = 1 }
    path = "/audit"
"#;

#[test]
fn an_open_load_keeps_the_shares_of_kinds_also_where_one_thinks_longer_than_the_load_lasts() {
    let scenario = KINDS.replace("path = \"/audit\"", "path = \"/audit\"\nthink_ms = 60000");
    let (url, _) = echo();
    let measured = run(&mut generator(&url, &scenario, 8), &open(2_000.0), 1_000);
    assert_eq!((measured.requests, measured.errors()), (2_000, 0), "{:?}", measured.problems);
    // Half of all by chance would be off by 15 standard deviations.
    let audits = measured.operations[1].requests;
    assert!((400..600).contains(&audits), "{audits} of 2000, asked 500");
}

#[test]
fn a_closed_load_has_as_many_users_of_a_kind_as_its_share_and_each_thinks_as_its_operation_says() {
    let scenario = KINDS
        .replace("path = \"/audit\"", "path = \"/audit\"\nthink_ms = 60000")
        .replace("path = \"/buy\"", "path = \"/buy\"\nthink_ms = { from = 20, to = 40 }");
    let (url, lines) = echo();
    let measured = run(&mut generator(&url, &scenario, 8), &closed(8), 1_000);
    assert_eq!(measured.errors_by_kind[ErrorKind::Connect as usize], 0);
    assert_eq!(begin_with(&lines, "/audit").len(), 2, "two of eight users, who think for a minute");
    // Six users, 1 s, at least 20 ms each; a machine that stands still makes it fewer.
    let buys = begin_with(&lines, "/buy").len();
    assert!((12..=6 * 51).contains(&buys), "{buys}");
}
