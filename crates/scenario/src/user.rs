//! One simulated user: where it is in the scenario, its values, and its own random stream.

use crate::shared::Extracted;
use crate::template::{self, Source, encode};
use crate::{Answered, Deck, Missed, Operation, Scenario, Shared, Template};
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;

/// State of a user between requests.
pub struct User {
    random: ChaCha8Rng,
    /// Of what all users have in common.
    shared: Shared,
    /// Number among the scenario's kinds of users.
    kind: usize,
    /// Next of the start operations; beyond them the mix is drawn.
    start_position: usize,
    /// Next of the operations at the end of a session.
    end_position: usize,
    /// Operations that are still to be drawn in the session, where it has a length and that was drawn.
    left: Option<u32>,
    /// Of a user's first session a part is taken to be over.
    is_first: bool,
    /// Values of kind `session-*`, once drawn, by number among all values.
    session_values: Vec<Option<Box<[u8]>>>,
    /// Rows of files that are drawn once per session, once drawn.
    session_rows: Vec<Option<u64>>,
    extracted: Extracted,
}

/// Texts that a request shares between its places: each value is drawn once per request. Reused, so that no
/// request allocates.
#[derive(Default)]
pub struct Drawn {
    texts: Vec<Vec<u8>>,
    fresh: Vec<bool>,
    /// Rows of files.
    rows: Vec<Option<u64>>,
    used_up: Option<usize>,
}

impl Drawn {
    /// A request begins.
    pub fn begin(&mut self, scenario: &Scenario) {
        let values = scenario.values.len();
        self.texts.resize_with(values, Vec::new);
        self.fresh.clear();
        self.fresh.resize(values, false);
        self.rows.clear();
        self.rows.resize(scenario.feeds.len(), None);
        self.used_up = None;
    }

    /// A file whose rows were all used before this request: it cannot be sent.
    pub fn used_up(&self) -> Option<usize> {
        self.used_up
    }
}

impl User {
    /// User `number` of those with this seed, of a kind; each has a stream of its own.
    pub fn new(seed: u64, number: u64, kind: usize, scenario: &Scenario, shared: &Shared) -> User {
        User {
            random: random_of(seed, number),
            shared: shared.clone(),
            kind,
            start_position: 0,
            end_position: 0,
            left: None,
            is_first: true,
            session_values: vec![None; scenario.values.len()],
            session_rows: vec![None; scenario.feeds.len()],
            extracted: vec![None; scenario.extracts.len()],
        }
    }

    /// Number among the scenario's kinds of users.
    pub fn kind(&self) -> usize {
        self.kind
    }

    /// What the user does next: numbers of the operation that was drawn, from the deck of its kind, and of the one that runs.
    pub fn next_operation(&mut self, scenario: &Scenario, deck: &mut Deck) -> (usize, usize) {
        let drawn = match scenario.users[self.kind].start.get(self.start_position) {
            Some(started) => {
                self.start_position += 1;
                *started
            }
            None => self.end_operation(scenario).unwrap_or_else(|| deck.draw()),
        };
        let mut at = drawn;
        // Ends, since circles are refused when the scenario is read.
        while let Some(otherwise) = scenario.operations[at].otherwise
            && scenario.operations[at].requires.iter().any(|extract| !self.has(*extract))
        {
            at = otherwise;
        }
        (drawn, at)
    }

    /// The next of the operations at the end of the session; absent while others are to be drawn in it.
    fn end_operation(&mut self, scenario: &Scenario) -> Option<usize> {
        let length = scenario.session.length?;
        let (random, is_first) = (&mut self.random, self.is_first);
        let left = self
            .left
            .get_or_insert_with(|| if is_first { length.draw_rest(random) } else { length.draw(random) });
        if 0 < *left {
            *left -= 1;
            return None;
        }
        let next = scenario.users[self.kind].end.get(self.end_position).copied();
        self.end_position += 1;
        next
    }

    /// Whether the operation that was chosen last is the last of its session.
    pub fn is_at_end(&self, scenario: &Scenario) -> bool {
        self.left == Some(0) && scenario.users[self.kind].end.len() <= self.end_position
    }

    /// Whether operations of the start of its session are still to be sent.
    pub fn is_starting(&self, scenario: &Scenario) -> bool {
        self.start_position < scenario.users[self.kind].start.len()
    }

    /// Gives what it took from answers to all users, unless another user did before.
    pub fn give_to_all(self) {
        self.shared.give(self.extracted);
    }

    /// A value that the answer of an operation should have given, and did not.
    pub fn missing<'a>(&self, scenario: &'a Scenario, operation: &Operation) -> Option<&'a str> {
        let missing = operation.extracts.iter().find(|at| self.extracted[**at].is_none());
        missing.map(|at| scenario.extracts[*at].name.as_str())
    }

    /// Whether a value is there, of its own or given to all users.
    fn has(&self, extract: usize) -> bool {
        self.extracted[extract].is_some() || self.shared.given(extract).is_some()
    }

    /// How long the user thinks after an operation.
    pub fn think_ns(&mut self, operation: &Operation) -> u64 {
        operation.think.map_or(0, |think| think.draw_ns(&mut self.random))
    }

    /// Appends the text of a template of the request that was begun.
    pub fn fill(&mut self, scenario: &Scenario, template: &Template, drawn: &mut Drawn, out: &mut Vec<u8>) {
        for part in &template.parts {
            match part {
                template::TemplatePart::Literal(bytes) => out.extend_from_slice(bytes),
                template::TemplatePart::Placeholder(Source::Drawn(at), encoding) => {
                    encode(self.value(scenario, *at, drawn), *encoding, out);
                }
                template::TemplatePart::Placeholder(Source::Column(feed, column), encoding) => {
                    match self.row(scenario, *feed, drawn) {
                        Some(row) => encode(scenario.feeds[*feed].table.value(row, *column), *encoding, out),
                        None => drawn.used_up = Some(*feed),
                    }
                }
                template::TemplatePart::Placeholder(Source::Secret(at), encoding) => {
                    encode(scenario.secrets.value(*at), *encoding, out);
                }
                template::TemplatePart::Placeholder(Source::Extracted(at), encoding) => {
                    let own = self.extracted[*at].as_deref();
                    // There, since an operation that uses it requires it, or a one-time request gave it.
                    encode(own.or_else(|| self.shared.given(*at)).unwrap_or_default(), *encoding, out);
                }
            }
        }
    }

    /// The row of a file that this request, or this session, has.
    fn row(&mut self, scenario: &Scenario, feed: usize, drawn: &mut Drawn) -> Option<u64> {
        let of = &scenario.feeds[feed];
        let kept = if of.per_session { &mut self.session_rows[feed] } else { &mut drawn.rows[feed] };
        if kept.is_none() {
            *kept = of.draw(&mut self.random, &self.shared);
        }
        *kept
    }

    fn value<'a>(&'a mut self, scenario: &Scenario, at: usize, drawn: &'a mut Drawn) -> &'a [u8] {
        let value = &scenario.values[at];
        let (random, shared) = (&mut self.random, &self.shared);
        if value.per_session {
            return self.session_values[at].get_or_insert_with(|| {
                let mut text = Vec::new();
                value.law.draw(random, shared, &mut text);
                text.into()
            });
        }
        if !drawn.fresh[at] {
            drawn.texts[at].clear();
            value.law.draw(random, shared, &mut drawn.texts[at]);
            drawn.fresh[at] = true;
        }
        &drawn.texts[at]
    }

    /// The request of an operation is made: what can be sent once is used up.
    pub fn use_up(&mut self, operation: &Operation) {
        for extract in &operation.uses_up {
            self.extracted[*extract] = None;
        }
    }

    /// Takes values from a correct answer to `operation`; `each` hears of every one. A value that is not found is cleared. Of one that
    /// a path begins with, `path_of` gives the path of the server that it leads to.
    pub fn extract(
        &mut self,
        scenario: &Scenario,
        operation: &Operation,
        answer: &Answered,
        path_of: &dyn Fn(&str) -> Option<String>,
        each: &mut dyn FnMut(usize, Result<(), Missed>),
    ) {
        for at in &operation.extracts {
            let extract = &scenario.extracts[*at];
            let found = extract.place.find(answer).and_then(|value| match extract.is_path {
                false => Ok(value),
                true => {
                    let path = std::str::from_utf8(&value).ok().and_then(path_of);
                    path.map(|path| path.into_bytes().into()).ok_or(Missed::Elsewhere)
                }
            });
            each(*at, found.as_ref().map(drop).map_err(|missed| *missed));
            self.extracted[*at] = found.ok();
        }
    }

    /// Forgets what an operation says after an answer such as 401, so that `otherwise` is sent.
    pub fn forget(&mut self, operation: &Operation) {
        operation.forgets.1.iter().for_each(|at| self.extracted[*at] = None);
    }

    /// Begins the same session again, as whoever has to log in once more: the values and rows of the session stay.
    pub fn start_again(&mut self) {
        self.start_position = 0;
        self.extracted.iter_mut().for_each(|value| *value = None);
    }

    /// Begins a new session: only the random stream goes on.
    pub fn restart(&mut self) {
        self.start_again();
        (self.end_position, self.left, self.is_first) = (0, None, false);
        self.session_values.iter_mut().for_each(|value| *value = None);
        self.session_rows.iter_mut().for_each(|row| *row = None);
    }

    /// Draws from another seed from now on; what the session has stays.
    pub fn reseed(&mut self, seed: u64, number: u64) {
        self.random = random_of(seed, number);
    }
}

/// The stream of a user.
fn random_of(seed: u64, number: u64) -> ChaCha8Rng {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    // Stream 0 draws the arrivals.
    random.set_stream(number + 1);
    random
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::template::Encoding;

    const SCENARIO: &str = r#"
        schema = "assay.scenario/1"
        name = "n"
        [session]
        start = ["login"]
        restart_after = ["logout"]
        [values]
        user = { kind = "session-range", from = 0, to = 1000000 }
        pick = { kind = "range", from = 0, to = 1000000 }
        [extract]
        holding = { operation = "portfolio", after = "id=<", before = ">", once = true }
        [[operation]]
        name = "login"
        weight = 0
        method = "POST"
        path = "/login/{user}"
        form = { user = "{user}", pick = "{pick}", again = "{pick}" }
        [[operation]]
        name = "portfolio"
        weight = 50
        path = "/portfolio"
        [[operation]]
        name = "sell"
        weight = 40
        path = "/sell/{holding}"
        requires = "holding"
        otherwise = "portfolio"
        [[operation]]
        name = "logout"
        weight = 10
        path = "/logout"
    "#;

    fn scenario() -> Scenario {
        Scenario::parse(SCENARIO, "test").expect("a right scenario")
    }

    fn user(seed: u64, number: u64, scenario: &Scenario) -> User {
        User::new(seed, number, 0, scenario, &scenario.shared())
    }

    fn extract(user: &mut User, scenario: &Scenario, body: &[u8]) {
        let (portfolio, path_of) = (&scenario.operations[1], |path: &str| Some(path.to_owned()));
        user.extract(scenario, portfolio, &Answered { body, head: b"" }, &path_of, &mut |_, _| ());
    }

    /// Path and body of a request.
    fn request(user: &mut User, scenario: &Scenario, name: &str) -> String {
        let operation = scenario.operations.iter().find(|one| one.name == name).expect("known");
        let (mut drawn, mut out) = (Drawn::default(), Vec::new());
        drawn.begin(scenario);
        for template in [Some(&operation.path), operation.body.as_ref()].into_iter().flatten() {
            user.fill(scenario, template, &mut drawn, &mut out);
            out.push(b'\n');
        }
        user.use_up(operation);
        String::from_utf8(out).expect("text")
    }

    #[test]
    fn the_values_of_a_request_agree() {
        let scenario = scenario();
        let text = request(&mut user(1, 0, &scenario), &scenario, "login");
        let (path, body) = text.split_once('\n').expect("a path and a body");
        let fields: Vec<&str> =
            body.trim().split('&').filter_map(|field| field.split_once('=')).map(|f| f.1).collect();
        assert_eq!(fields[0], fields[1], "one request, one draw: {body}");
        assert_eq!(path, format!("/login/{}", fields[2]));
    }

    #[test]
    fn a_session_value_stays_until_the_session_ends_and_others_are_drawn_anew() {
        let scenario = scenario();
        let mut session = user(1, 0, &scenario);
        let line = |text: String| text.lines().next().map(str::to_owned);
        let first = line(request(&mut session, &scenario, "login"));
        assert_eq!(first, line(request(&mut session, &scenario, "login")));
        session.restart();
        assert_ne!(first, line(request(&mut session, &scenario, "login")));
    }

    #[test]
    fn users_of_one_seed_have_streams_of_their_own_and_repeat_exactly() {
        let scenario = scenario();
        let of = |number| request(&mut user(7, number, &scenario), &scenario, "login");
        assert_eq!(of(3), of(3));
        assert_ne!(of(3), of(4));
    }

    #[test]
    fn an_operation_runs_only_while_its_value_is_there() {
        let scenario = scenario();
        let mut session = user(1, 0, &scenario);
        let mut deck = scenario.users[0].deck(1, 0);
        assert_eq!(session.next_operation(&scenario, &mut deck), (0, 0), "a session starts with its login");
        let mut drawn = |session: &mut User| {
            let names: Vec<usize> =
                (0..200).map(|_| session.next_operation(&scenario, &mut deck).1).collect();
            names.contains(&2)
        };
        assert!(!drawn(&mut session), "no holding is known, so nothing is sold");
        extract(&mut session, &scenario, b"<b id=<77> id=<78>");
        assert!(drawn(&mut session));
        assert!(request(&mut session, &scenario, "sell").starts_with("/sell/77\n"));
        assert!(!drawn(&mut session), "a value that is used once is used up");
        extract(&mut session, &scenario, b"id=<5>");
        extract(&mut session, &scenario, b"nothing");
        assert!(!drawn(&mut session), "the newest answer holds none");
        extract(&mut session, &scenario, &[b"id=<".as_slice(), &[b'9'; 20_000], b">"].concat());
        assert!(!drawn(&mut session), "too long to be kept");
    }

    #[test]
    fn an_extracted_line_end_cannot_forge_a_header() {
        let mut out = Vec::new();
        encode(b"1\r\nEvil: yes", Encoding::Header, &mut out);
        assert_eq!(out, b"1Evil: yes");
    }
}
