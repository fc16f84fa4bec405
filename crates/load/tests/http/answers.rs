//! Which answers are right, redirects, connections that end instead of an answer, and a generator that stands still.

use super::server::{Reply, closed, errors, generator, ok, open, run, serve, status};
use assay_load::ErrorKind;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

#[test]
fn every_status_that_says_that_all_went_well_is_right_unless_others_are_expected() {
    for (answered, want) in [(200, true), (201, true), (204, true), (304, true), (302, false), (404, false)] {
        let url = serve(move |_| {
            Reply::Bytes(format!("HTTP/1.1 {answered} X\r\nContent-Length: 0\r\n\r\n").into())
        });
        let measured =
            run(&mut generator(&url, "[[operation]]\nname = \"a\"\npath = \"/\"", 1), &closed(1), 100);
        assert_eq!(measured.errors() == 0, want, "{answered}: {:?}", measured.problems);
        let mut only_204 = generator(&url, "[[operation]]\nname = \"a\"\npath = \"/\"\nstatus = 204", 1);
        assert_eq!(run(&mut only_204, &closed(1), 100).errors() == 0, answered == 204, "{answered}");
    }
}

#[test]
fn folded_header_lines_and_spaces_before_a_colon_are_read() {
    let odd = "HTTP/1.1 200 OK\r\nX-Long: one\r\n  two\r\nSet-Cookie: a=1;\r\n\tPath=/\r\nContent-Length : 2\r\n\r\nhi";
    let url = serve(move |_| Reply::Bytes(odd.into()));
    let measured = run(
        &mut generator(&url, "[[operation]]\nname = \"a\"\npath = \"/\"\ncontains = \"hi\"", 1),
        &closed(1),
        100,
    );
    assert_eq!((measured.errors(), measured.completed > 0), (0, true), "{:?}", measured.problems);
}

/// A form that is answered with a redirect to a page which needs the cookie of that answer.
#[test]
fn redirects_are_followed_on_request_as_a_part_of_their_request() {
    let url = serve(|request| match request.line.split(' ').take(2).collect::<Vec<_>>()[..] {
        ["POST", "/login"] => status(302, "Set-Cookie: id=7\r\nLocation: /home\r\n", "go on"),
        ["GET", "/home"]
            if request.headers.get("cookie").is_some_and(|c| c == "id=7") && request.body.is_empty() =>
        {
            status(307, "Location: welcome?x=1\r\nConnection: close\r\n", "")
        }
        ["GET", "/welcome?x=1"] => ok("welcome"),
        ["GET", "/round"] => status(301, "Location: /round\r\n", ""),
        _ => status(500, "", &request.line),
    });
    let scenario = |method: &str, path: &str| {
        format!(
            "[[operation]]\nname = \"a\"\nmethod = \"{method}\"\npath = \"{path}\"\nfollow_redirects = true\ncontains = \"welcome\""
        )
    };
    let measured = run(&mut generator(&url, &scenario("POST", "/login"), 2), &closed(2), 300);
    assert_eq!((measured.errors(), measured.completed > 0), (0, true), "{:?}", measured.problems);
    let round = run(&mut generator(&url, &scenario("GET", "/round"), 1), &closed(1), 100);
    assert_eq!((round.completed, errors(&round, ErrorKind::Status)), (0, round.requests));
    assert!(
        round.problems[0].text.contains("answered 301 to /round, which leads too far"),
        "{:?}",
        round.problems
    );
}

/// Every third request of a connection.
fn check_third(reply: fn() -> Reply, errors_of: fn(u64) -> u64, again_of: fn(u64) -> u64) {
    let url = serve(move |request| if request.number == 2 { reply() } else { ok("") });
    let mut generator = generator(&url, "[[operation]]\nname = \"a\"\npath = \"/\"", 2);
    let measured = run(&mut generator, &open(200.0), 500);
    let number = measured.requests / 3;
    assert_eq!(measured.requests, 100);
    let near = |count: u64, want: u64| count.abs_diff(want) <= 2 && (count > 0) == (want > 0);
    assert!(near(measured.errors(), errors_of(number)), "{:?}", measured.errors_by_kind);
    assert_eq!(measured.errors(), errors(&measured, ErrorKind::Broken));
    assert!(near(measured.sent_again, again_of(measured.requests / 2)), "{}", measured.sent_again);
    let told = measured.problems.iter().any(|problem| problem.text.contains("requests were sent again"));
    assert_eq!(told, measured.sent_again > 0, "{:?}", measured.problems);
    assert_eq!(measured.result().sent_again, measured.sent_again);
}

#[test]
fn a_connection_that_is_reset_instead_of_answered_is_a_failure_however_often_it_was_used() {
    check_third(|| Reply::Reset, |number| number, |_| 0);
}

/// After two answers the third request is sent again on a new connection, where it is the first.
#[test]
fn a_request_on_a_connection_that_the_server_closed_is_sent_again_and_counted() {
    check_third(|| Reply::Close, |_| 0, |number| number);
}

/// A generator that stood still for 0.7 s. What was due meanwhile is sent late through ten connections; that most of it waits for one
/// of them, too, is the generator's doing.
#[test]
fn what_was_due_while_the_generator_stood_still_is_its_lateness() {
    let url = serve(|_| ok("here"));
    let mut generator = generator(&url, "[[operation]]\nname = \"a\"\npath = \"/\"", 10);
    let mut has_stood = false;
    let mut stand_still = |progress: assay_load::Progress| {
        if !has_stood && progress.elapsed >= Duration::from_millis(500) {
            has_stood = true;
            std::thread::sleep(Duration::from_millis(700));
        }
    };
    let (load, stop) = (open(400.0), AtomicBool::new(false));
    let measured =
        generator.run(&load, Duration::from_secs(3), &stop, None, &mut stand_still).expect("a server");
    assert_eq!((measured.requests, measured.errors()), (1_200, 0));
    let late = measured.send_lag.count_between(100_000_000, 700_000_000 * 2);
    assert!(
        (200..=300).contains(&late),
        "280 were due in 0.7 s, all but the last 40 more than 100 ms before its end: {late}"
    );
    let result = measured.result();
    assert!(!result.valid && result.send_lag_ms.p99.is_some_and(|p99| p99 > 600.0), "{result:?}");
    assert!(measured.detail.connection_waits < 100, "{}", measured.detail.connection_waits);
}

/// Half of what is drawn needs a value that no answer holds.
#[test]
fn what_is_sent_in_the_place_of_another_operation_counts_as_drawn_for_that() {
    let url = serve(|_| ok("nothing to sell"));
    let scenario = r#"
        [extract]
        holding = { operation = "portfolio", after = "id=<", before = ">" }
        [[operation]]
        name = "portfolio"
        path = "/portfolio"
        [[operation]]
        name = "sell"
        path = "/sell/{holding}"
        requires = "holding"
        otherwise = "portfolio"
    "#;
    let measured = run(&mut generator(&url, scenario, 2), &open(1_000.0), 600);
    let [portfolio, sell] = measured.operations.as_slice() else { panic!("two operations") };
    assert_eq!((portfolio.requests, sell.requests), (600, 0));
    let drawn = [portfolio, sell].map(|operation| operation.selected.expect("counted"));
    assert_eq!(drawn.iter().sum::<u64>(), 600);
    // Four standard deviations of 12.
    assert!(drawn[0].abs_diff(300) <= 48, "{drawn:?}");
}
