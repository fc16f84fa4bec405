//! Scenario files, right and wrong.

use super::*;
use expect_test::{Expect, expect};
use proptest::prelude::*;

const WHOLE: &str = r##"
schema = "assay.scenario/1"
name = "brokerage-standard-mix"
[session]
start = ["login"]
restart_after = ["logout"]
[values]
user = { kind = "session-range", from = 0, to = 14999 }
symbols = { kind = "range-list", prefix = "s:", from = 0, to = 9999, count = [1, 9], separator = "," }
side = { kind = "list", values = ["left", 2, true] }
[extract]
holding = { operation = "portfolio", after = "data-holding=\"", before = "\"", once = true }
[[operation]]
name = "login"
weight = 0
method = "POST"
path = "/login"
form = { user = "uid:{user}", "a b" = "x&y" }
[[operation]]
name = "portfolio"
weight = 90
path = "/portfolio?s={symbols}"
headers = { X-Side = "{side}" }
[[operation]]
name = "sell"
weight = 6
method = "POST"
path = "/sell"
form = { holding = "{holding}" }
status = [200, 202]
contains = "Sold"
requires = "holding"
otherwise = "portfolio"
timeout_ms = 500
[[operation]]
name = "logout"
weight = 4
path = "/logout"
status = 302
"##;

#[test]
fn a_chat_has_an_address_of_its_own_and_rooms_that_are_full() {
    let [chat, shop] =
        ["[chat]\nroom_users = 20\n", "[[operation]]\nname = \"get\"\npath = \"/\"\n"].map(|what| {
            let text = format!("schema = \"assay.scenario/1\"\nname = \"n\"\n{what}");
            Scenario::parse(&text, "test.toml").expect("a right scenario")
        });
    let address = |scenario: &Scenario| ["http://h:1", "https://h:1"].map(|http| scenario.address_of(http));
    assert_eq!(address(&chat), ["chat://h:1", "chats://h:1"]);
    assert_eq!(address(&shop), ["http://h:1", "https://h:1"]);
    assert_eq!([1, 20, 21].map(|users| chat.in_whole_rooms(users)), [20, 20, 40]);
    assert_eq!(shop.in_whole_rooms(8), 8);
}

#[test]
fn a_whole_file_is_compiled() {
    let scenario = Scenario::parse(WHOLE, "mix.toml").expect("it is right");
    assert_eq!(scenario.name(), "brokerage-standard-mix");
    let sell = &scenario.operations[2];
    assert_eq!((sell.otherwise, &sell.statuses, sell.timeout_ns), (Some(1), &vec![200, 202], 500_000_000));
    assert_eq!((&sell.uses_up, &sell.requires), (&vec![0], &vec![0]));
    assert_eq!(scenario.operations[1].extracts, [0]);
    assert!(scenario.operations[3].restarts_session);
    let login = scenario.operations[0].body.as_ref().expect("a form");
    assert!(
        matches!(&login.parts[0], template::TemplatePart::Literal(text) if **text == *b"a+b=x%26y&user=uid%3A")
    );
}

#[test]
fn asked_shares_count_the_logins_that_logouts_cause() {
    let scenario = Scenario::parse(WHOLE, "mix.toml").expect("it is right");
    let shares = scenario.asked_shares();
    // 4 of 100 draws end a session, so 100 draws make 104 requests.
    let want = [4.0 / 104.0, 90.0 / 104.0, 6.0 / 104.0, 4.0 / 104.0];
    assert!(shares.iter().zip(want).all(|(share, want)| (share - want).abs() < 1e-12), "{shares:?}");
}

const KINDS: &str = r#"
schema = "assay.scenario/1"
name = "kinds"
setup = ["tenant", "key"]
[users]
buyer = 3
auditor = 1
[session]
start = { buyer = ["login"] }
restart_after = ["logout"]
think_ms = { mean = 200 }
[values]
number = { kind = "session-counter", from = 5 }
[extract]
tenant = { operation = "tenant", after = "<", before = ">" }
key = { operation = "key", after = "<", before = ">" }
[[operation]]
name = "tenant"
weight = 0
method = "PUT"
path = "/tenants"
[[operation]]
name = "key"
weight = 0
path = "/key/{tenant}"
[[operation]]
name = "login"
weight = 0
path = "/login/{number}"
[[operation]]
name = "buy"
weight = { buyer = 9 }
path = "/buy/{key}"
[[operation]]
name = "logout"
weight = { buyer = 1 }
path = "/logout"
[[operation]]
name = "audit"
weight = { auditor = 2 }
path = "/audit"
think_ms = { from = 1000, to = 3000 }
"#;

#[test]
fn kinds_of_users_have_their_own_starts_and_weights() {
    let scenario = Scenario::parse(KINDS, "kinds.toml").expect("it is right");
    let kinds: Vec<(&str, f64, &[usize])> =
        scenario.users.iter().map(|kind| (kind.name.as_str(), kind.share, kind.start.as_slice())).collect();
    assert_eq!(kinds, [("auditor", 0.25, [].as_slice()), ("buyer", 0.75, &[2])]);
    let shares = scenario.asked_shares();
    // A tenth of a buyer's draws end a session, so 10 draws make 11 requests.
    let want = [0.0, 0.0, 0.75 / 11.0, 0.75 * 9.0 / 11.0, 0.75 / 11.0, 0.25];
    assert!(shares.iter().zip(want).all(|(share, want)| (share - want).abs() < 1e-12), "{shares:?}");
    assert_eq!((scenario.setup.as_slice(), scenario.counters), ([0, 1].as_slice(), 1));
    let thoughts: Vec<_> = scenario.operations.iter().map(|one| one.think.expect("the session's")).collect();
    assert_ne!(thoughts[3], thoughts[5]);
}

#[test]
fn mistakes_about_kinds_and_set_up_are_told() {
    let check = |from: &str, to: &str, want: Expect| check_in(KINDS, (from, to), &want);
    check(
        "auditor = 1\n",
        "",
        expect![[r#"
            mix.toml:1: [users] names one kind; name two or more, or leave it out
            mix.toml:37: operation "audit": [users] has no kind "auditor"; known: buyer"#]],
    );
    check(
        "{ auditor = 2 }",
        "{ auditors = 2 }",
        expect![[r#"
            mix.toml:38: operation "audit": [users] has no kind "auditors"; did you mean `auditor`?
            mix.toml:1: no [[operation]] has a weight above 0 for users "auditor", so there is nothing to send"#]],
    );
    check(
        "{ buyer = [\"login\"] }",
        "{ buyer = [\"logn\"] }",
        expect![[r#"mix.toml:9: unknown operation "logn"; did you mean `login`?"#]],
    );
    check(
        "auditor = 1\n",
        "auditor = 0\n",
        expect![[r#"mix.toml:1: users "auditor": share 0 must be above 0"#]],
    );
    check(
        "{ mean = 200 }",
        "{ mean = 200, to = 5 }",
        expect!["mix.toml:11: think_ms is a number, { from = , to = } or { mean = }"],
    );
    check(
        "{ from = 1000, to = 3000 }",
        "{ from = 3000, to = 1000 }",
        expect![[
            r#"mix.toml:38: operation "audit": think_ms takes times from 0 to 604800000, the lesser one first"#
        ]],
    );
    check(
        "setup = [\"tenant\", \"key\"]",
        "setup = [\"key\", \"tenant\"]",
        expect![[r#"mix.toml:22: operation "key": no request of `setup` before it gives {tenant}"#]],
    );
    check(
        "weight = 0",
        "weight = 1",
        expect![[
            r#"mix.toml:17: operation "tenant": it is sent once, by `setup`; give it weight = 0, and neither name it elsewhere nor let it require"#
        ]],
    );
    check(
        "before = \">\" }",
        "before = \">\", once = true }",
        expect![[
            r#"mix.toml:1: extract "tenant": what `setup` gives to all is not used up; leave `once` out"#
        ]],
    );
    check(
        ", from = 5 }",
        " }",
        expect![[r#"
            mix.toml:13: value "number": a range needs `from` and `to`, a counter `from`
            mix.toml:26: operation "login": unknown value {number}; known: key, tenant"#]],
    );
}

#[track_caller]
fn check(from: &str, to: &str, want: &Expect) {
    check_in(WHOLE, (from, to), want);
}

#[track_caller]
fn check_in(whole: &str, (from, to): (&str, &str), want: &Expect) {
    let text = whole.replacen(from, to, 1);
    assert_ne!(text, whole, "the case changes nothing");
    want.assert_eq(&Scenario::parse(&text, "mix.toml").expect_err("it is wrong").to_string());
}

#[test]
fn mistakes_are_told_with_file_line_and_the_nearest_right_word() {
    check(
        "contains = \"Sold\"",
        "contain = \"Sold\"",
        &expect![[r#"mix.toml:31: unknown key "contain"; did you mean `contains`?"#]],
    );
    check(
        "\"session-range\"",
        "\"sesion-range\"",
        &expect![[r#"mix.toml:8: unknown word "sesion-range"; did you mean `session-range`?"#]],
    );
    check(
        "[\"logout\"]",
        "[\"loguot\"]",
        &expect![[r#"mix.toml:6: unknown operation "loguot"; did you mean `logout`?"#]],
    );
    check(
        "{symbols}",
        "{symbol}",
        &expect![[r#"mix.toml:19: operation "portfolio": unknown value {symbol}; did you mean `symbols`?"#]],
    );
    check(
        "assay.scenario/1",
        "assay.scenario/9",
        &expect![[r#"mix.toml:2: schema "assay.scenario/9" is not known; write "assay.scenario/1""#]],
    );
    check(
        "requires = \"holding\"",
        "",
        &expect![[r#"
        mix.toml:24: operation "sell": `requires` and `otherwise` belong together
        mix.toml:24: operation "sell": uses {holding}, which may not be there; add requires = "holding" and otherwise"#]],
    );
    check(
        "requires = \"holding\"",
        "requires = \"holdings\"",
        &expect![[r#"
            mix.toml:24: operation "sell": requires unknown extract "holdings"; did you mean `holding`?
            mix.toml:24: operation "sell": uses {holding}, which may not be there; add requires = "holding" and otherwise"#]],
    );
    check(
        "from = 0, to = 14999",
        "from = 5, to = 4",
        &expect![[r#"
        mix.toml:8: value "user": from 5 is above to 4
        mix.toml:13: operation "login": unknown value {user}; known: side, symbols, holding"#]],
    );
    check(
        "from = 0, to = 14999",
        "values = [1]",
        &expect![[r#"
            mix.toml:8: value "user": ranges have `from` and `to`, counters `from` and optionally `to`, lists `values`. A range-list also has `count`, and optionally `prefix` and `separator`
            mix.toml:13: operation "login": unknown value {user}; known: side, symbols, holding"#]],
    );
    check(
        "path = \"/sell\"",
        "path = \"sell me\"",
        &expect![[
            r#"mix.toml:24: operation "sell": path "sell me" must start with / and hold neither spaces, # nor characters beyond ASCII; encode them with %"#
        ]],
    );
    check(
        "X-Side",
        "Cookie",
        &expect![[
            r#"mix.toml:19: operation "portfolio": header "Cookie": a session begins with these cookies, so they hold only values of the session (session-..., per = "session") and of the environment. Cookies that a server sets are sent back without it"#
        ]],
    );
    check(
        "X-Side = \"{side}\"",
        "X-Side = \"{side}\", x-side = \"1\"",
        &expect![[
            r#"mix.toml:19: operation "portfolio": header "x-side" is there twice, in capitals and small letters; leave one out"#
        ]],
    );
    check(
        "path = \"/logout\"",
        "path = \"{side}/logout\"",
        &expect![[
            r#"mix.toml:35: operation "logout": path "{side}/logout" begins with a value that is not taken from an answer; let it begin with /"#
        ]],
    );
    check(
        "path = \"/logout\"",
        "path = \"/logout\"\nforget = { status = [99], values = \"holdings\" }",
        &expect![[r#"
            mix.toml:35: operation "logout": status 99 is not from 200 to 599
            mix.toml:35: operation "logout": forgets unknown extract "holdings"; did you mean `holding`?
            mix.toml:35: operation "logout": `forget` has a `status` and `values`, the extracts that are not there after it"#]],
    );
    check(
        r#"after = "data-holding=\"", before = "\"""#,
        "form = 0, field = \"holding\"",
        &expect![[r#"mix.toml:12: extract "holding": form = 0: the first form of a page is 1"#]],
    );
    check(
        "weight = 6",
        "weight = \"six\"",
        &expect![
            "mix.toml:26: expected a number (of `start`: a list of names), or a table of such by kind of users"
        ],
    );
    check(
        "name = \"sell\"",
        "name = \"login\"",
        &expect![[r#"mix.toml:24: operation "login" is there twice; rename one"#]],
    );
    check(
        "otherwise = \"portfolio\"",
        "otherwise = \"sell\"",
        &expect![[r#"mix.toml:24: operation "sell": its `otherwise` leads in a circle"#]],
    );
    check(
        "operation = \"portfolio\"",
        "operation = \"portfolios\"",
        &expect![[r#"
            mix.toml:12: extract "holding": unknown operation "portfolios"; did you mean `portfolio`?
            mix.toml:24: operation "sell": unknown value {holding}; known: side, symbols, user
            mix.toml:24: operation "sell": requires unknown extract "holding"; none is known here"#]],
    );
    check(
        "method = \"POST\"",
        "method = \"post\"",
        &expect![[
            r#"mix.toml:13: operation "login": method "post" must be in capitals, such as GET or POST"#
        ]],
    );
    check(
        "timeout_ms = 500",
        "timeout_ms = 0",
        &expect![[r#"mix.toml:24: operation "sell": timeout_ms 0 must be 1 to 3600000"#]],
    );
}

#[test]
fn mistakes_in_the_length_of_sessions_are_told() {
    let of = |session: &str| {
        let text = format!(
            "schema = \"assay.scenario/1\"\nname = \"n\"\n[session]\n{session}\n[[operation]]\nname = \"a\"\npath = \"/\"\n"
        );
        Scenario::parse(&text, "x").map(drop).map_err(|error| error.to_string())
    };
    for right in [
        "length = 1",
        "length = { from = 1, to = 9 }\nend = [\"a\"]",
        "length = { mean = 1.5 }",
        "starts_per_s = 0.5",
    ] {
        assert_eq!(of(right), Ok(()), "{right}");
    }
    for (wrong, what) in [
        ("end = [\"a\"]", "nothing ends a session"),
        ("length = 5\nrestart_after = [\"a\"]", "exclude each other"),
        ("length = 0", "of 1 to 1000000"),
        ("length = { from = 5, to = 4 }", "the lesser one first"),
        ("length = { from = 5 }", "{ mean = }"),
        ("length = { mean = 0.5 }", "of 1 to 1000000"),
        ("length = { mean = 5, per = 3 }", "{ mean = }"),
        ("length = \"long\"", "expected a whole number"),
        ("starts_per_s = 0", "use more than 0"),
        ("length = 5\nend = [\"b\"]", "unknown operation"),
    ] {
        let said = of(wrong).expect_err(wrong);
        assert!(said.contains(what), "{wrong}: {said}");
    }
}

#[test]
fn all_mistakes_are_told_at_once() {
    let text = WHOLE.replace("/sell", "sell").replace("/logout", "logout").replace("{symbols}", "{nothing}");
    let error = Scenario::parse(&text, "mix.toml").expect_err("it is wrong").to_string();
    assert_eq!(error.lines().count(), 3, "{error}");
}

#[test]
fn a_file_without_anything_to_send_is_refused() {
    let error = Scenario::parse("schema = \"assay.scenario/1\"\nname = \"n\"", "x").expect_err("empty");
    assert_eq!(error.to_string(), "x:1: no [[operation]] has a weight above 0, so there is nothing to send");
}

#[test]
fn a_missing_file_is_named() {
    let error = Scenario::read(Path::new("/nowhere/mix.toml")).expect_err("it is not there").to_string();
    assert!(error.starts_with("cannot read scenario /nowhere/mix.toml: "), "{error}");
}

#[test]
fn a_line_in_another_encoding_is_named() {
    let file = tempfile::NamedTempFile::new().expect("a file");
    std::fs::write(file.path(), b"schema = \"assay.scenario/1\"\nname = \"gr\xfcn\"\n")
        .expect("it is written");
    let error = Scenario::read(file.path()).expect_err("not UTF-8").to_string();
    assert!(error.ends_with(":2: this line is not UTF-8: save the file in that encoding"), "{error}");
}

proptest! {
    #[test]
    fn any_text_is_a_scenario_or_an_error(text in ".{0,300}") {
        let _ = Scenario::parse(&text, "x");
    }

    #[test]
    fn a_scenario_with_bytes_missing_or_doubled_never_panics(cut in 0..WHOLE.len(), length in 0..40usize, twice: bool) {
        let end = (cut + length).min(WHOLE.len());
        if let (Some(head), Some(middle), Some(tail)) = (WHOLE.get(..cut), WHOLE.get(cut..end), WHOLE.get(end..)) {
            let middle = if twice { format!("{middle}{middle}") } else { String::new() };
            let _ = Scenario::parse(&format!("{head}{middle}{tail}"), "x");
        }
    }
}
