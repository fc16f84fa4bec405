//! One simulated user: what the scenario says of it, and its cookies.

use crate::cookies::{CookieJar, Destination, Refusal};
use crate::protocol::Answer;
use crate::redirect;
use crate::request::{Request, RequestPart};
use crate::url::BaseUrl;
use assay_scenario::{Answered, Deck, Drawn, Missed, Operation, Scenario, Shared, User};

/// State of a user between requests.
pub(crate) struct Session {
    user: User,
    cookies: CookieJar,
    /// The start of its session belongs to no figures: it is made before any load, or since the server ended the session.
    starts_outside: bool,
    /// It has the cookies that the scenario gives it.
    has_cookies: bool,
    /// A request was answered rightly since its session began.
    is_served: bool,
    /// Number among the scenario's kinds of users.
    pub kind: usize,
}

impl Session {
    /// User `number` of those with this seed, of a kind; each has a stream of its own.
    pub fn new(seed: u64, number: u64, kind: usize, scenario: &Scenario, shared: &Shared) -> Self {
        let user = User::new(seed, number, kind, scenario, shared);
        let cookies = CookieJar::default();
        Session { user, cookies, starts_outside: true, has_cookies: false, is_served: false, kind }
    }

    /// What the user does next: numbers of the operation that was drawn, from the deck of its kind, and of the one that runs.
    pub fn next_operation(&mut self, scenario: &Scenario, deck: &mut Deck) -> (usize, usize) {
        self.user.next_operation(scenario, deck)
    }

    /// How long the user thinks after an operation.
    pub fn think_ns(&mut self, operation: &Operation) -> u64 {
        self.user.think_ns(operation)
    }

    /// Makes the request of an operation; the prefix of the base URL stands before its path.
    pub fn write_request(
        &mut self,
        scenario: &Scenario,
        operation: &Operation,
        base: &BaseUrl,
        drawn: &mut Drawn,
        request: &mut Request,
    ) {
        drawn.begin(scenario);
        if !std::mem::replace(&mut self.has_cookies, true) {
            self.begin_with_cookies(scenario, base, drawn);
        }
        let Session { user, cookies, .. } = self;
        request.clear();
        request.sets = operation.sets;
        request.write(RequestPart::Method, |out| out.extend_from_slice(operation.method.as_bytes()));
        request.write(RequestPart::Target, |out| {
            if !operation.has_whole_path() {
                out.extend_from_slice(base.prefix.as_bytes());
            }
            user.fill(scenario, &operation.path, drawn, out);
        });
        request.write(RequestPart::Headers, |out| user.fill(scenario, &operation.headers, drawn, out));
        request.write_cookies(base, cookies);
        if let Some(template) = &operation.body {
            request.unfit = request.write(RequestPart::Body, |out| {
                let begins = out.len();
                user.fill(scenario, template, drawn, out);
                let method = operation.encoder()?;
                let json = out.split_off(begins);
                method.write(&json, out).err()
            });
        }
        if let Some(template) = operation.contains() {
            request.write(RequestPart::Expected, |out| user.fill(scenario, template, drawn, out));
        }
        request.has_body =
            operation.body.is_some() || matches!(operation.method.as_str(), "POST" | "PUT" | "PATCH");
        request.keeps_body = operation.keeps_body;
        request.keeps_head = operation.keeps_head;
        request.events = operation.events;
        user.use_up(operation);
    }

    /// Takes the cookies that the scenario gives each user, for all paths of the server, which may replace them.
    fn begin_with_cookies(&mut self, scenario: &Scenario, base: &BaseUrl, drawn: &mut Drawn) {
        for template in &scenario.cookies {
            let mut line = Vec::new();
            self.user.fill(scenario, template, drawn, &mut line);
            for cookie in line.split(|byte| *byte == b';').map(<[u8]>::trim_ascii) {
                let header = [cookie, b"; Path=/"].concat();
                // One that is none was refused with the scenario, but for what the environment holds.
                let _ = self.cookies.set(&header, Destination::new(base, b"/"));
            }
        }
    }

    /// The cookies by now.
    pub fn cookies(&self) -> &CookieJar {
        &self.cookies
    }

    /// Takes in a cookie of an answer.
    ///
    /// # Errors
    /// As of [`CookieJar::set`].
    pub fn set_cookie<'h>(&mut self, header: &'h [u8], from: Destination) -> Result<(), (&'h str, Refusal)> {
        self.cookies.set(header, from)
    }

    /// Takes values from a correct answer to a request of an operation; `each` hears of every one.
    pub fn extract(
        &mut self,
        scenario: &Scenario,
        operation: &Operation,
        answered: &Answered,
        (base, request): (&BaseUrl, &Request),
        each: &mut dyn FnMut(usize, Result<(), Missed>),
    ) {
        let path_of = |value: &str| redirect::target_of(value, request, base);
        self.user.extract(scenario, operation, answered, &path_of, each);
    }

    /// Forgets what the operation says.
    pub fn forget(&mut self, operation: &Operation) {
        self.user.forget(operation);
    }

    /// Begins a new session, as the scenario says: only the random stream goes on. Its start counts like all that is planned.
    pub fn restart(&mut self) {
        self.cookies.clear();
        self.has_cookies = false;
        self.user.restart();
        self.starts_outside = false;
    }

    /// Whether the scenario has its session end after this operation, which was its last one.
    pub fn ends_after(&self, scenario: &Scenario, operation: &Operation) -> bool {
        operation.restarts_session || self.user.is_at_end(scenario)
    }

    /// Its session is to begin again outside of the figures, with the values that it has.
    pub fn begin_again(&mut self) {
        self.cookies.clear();
        self.has_cookies = false;
        self.user.start_again();
        self.starts_outside = true;
        self.is_served = false;
    }

    /// Whether its session is to begin outside of the figures before it does anything else.
    pub fn is_to_start(&self, scenario: &Scenario) -> bool {
        self.starts_outside && self.user.is_starting(scenario)
    }

    /// The start of its session is over.
    pub fn has_begun(&mut self) {
        self.starts_outside = false;
    }

    /// A request was answered rightly.
    pub fn was_served(&mut self) {
        self.is_served = true;
    }

    /// Whether a wrong answer says that the server ended the session: it asks for authentication (401), or leads to where sessions begin.
    /// Not before anything went well in the session: beginning again would not help.
    pub fn was_ended_by(&self, answer: &Answer, scenario: &Scenario, prefix: &str) -> bool {
        if !self.is_served || !scenario.users[self.kind].has_start() {
            return false;
        }
        let leads_to_start = || {
            let location = std::str::from_utf8(&answer.location).unwrap_or_default();
            let path = path_of(location).strip_prefix(prefix).unwrap_or_default();
            !path.is_empty() && scenario.begins_at(self.kind, path.as_bytes())
        };
        answer.status == 401 || (300..400).contains(&answer.status) && leads_to_start()
    }

    /// Draws from another seed from now on.
    pub fn reseed(&mut self, seed: u64, number: u64) {
        self.user.reseed(seed, number);
    }

    /// Without its cookies.
    pub fn into_user(self) -> User {
        self.user
    }

    /// A value that the answer of an operation should have given, and did not.
    pub fn missing<'a>(&self, scenario: &'a Scenario, operation: &Operation) -> Option<&'a str> {
        self.user.missing(scenario, operation)
    }
}

/// The path of a `Location`, without its query, fragment and parameters such as `;jsessionid=`.
fn path_of(location: &str) -> &str {
    let after_host = match location.split_once("://") {
        Some((_, rest)) => rest.find('/').map_or("", |slash| &rest[slash..]),
        None => location,
    };
    after_host.split(['?', '#', ';']).next().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    const SCENARIO: &str = r#"
        schema = "assay.scenario/1"
        name = "n"
        [[operation]]
        name = "login"
        method = "POST"
        path = "/login"
        form = { user = "me" }
    "#;

    #[test]
    fn a_request_is_whole_and_has_the_cookies_of_its_session() {
        let scenario = Scenario::parse(SCENARIO, "test").expect("a right scenario");
        let mut session = Session::new(1, 0, 0, &scenario, &scenario.shared());
        let base = BaseUrl::parse("http://h/app").expect("a good URL");
        let before = Request::default();
        let from = before.destination(&base);
        session.set_cookie(b"JSESSIONID=1; Path=/app", from).expect("a good cookie");
        let mut request = Request::default();
        let login = &scenario.operations[0];
        session.write_request(&scenario, login, &base, &mut Drawn::default(), &mut request);
        let line =
            [RequestPart::Method, RequestPart::Target].map(|part| request.part(part)).join(b" ".as_slice());
        assert_eq!(line, b"POST /app/login");
        let head = request.parts(RequestPart::Headers, RequestPart::Cookie);
        assert_eq!(head, b"Content-Type: application/x-www-form-urlencoded\r\nCookie: JSESSIONID=1\r\n");
        assert_eq!((request.part(RequestPart::Body), request.has_body), (b"user=me".as_slice(), true));
        session.restart();
        session.write_request(&scenario, login, &base, &mut Drawn::default(), &mut request);
        assert_eq!(request.part(RequestPart::Cookie), b"");
    }

    #[test]
    fn a_session_begins_with_the_cookies_of_the_scenario_and_the_server_may_replace_them() {
        let text = SCENARIO.replace(
            "[[operation]]",
            "[values]\nid = { kind = \"session-range\", from = 7, to = 7 }\n[[operation]]",
        ) + "headers = { Cookie = \"seen=1; id={id}\" }";
        let scenario = Scenario::parse(&text, "test").expect("a right scenario");
        let mut session = Session::new(1, 0, 0, &scenario, &scenario.shared());
        let base = BaseUrl::parse("http://h/app").expect("a good URL");
        let (mut request, mut drawn) = (Request::default(), Drawn::default());
        let mut cookies = |session: &mut Session| {
            session.write_request(&scenario, &scenario.operations[0], &base, &mut drawn, &mut request);
            String::from_utf8_lossy(request.part(RequestPart::Cookie)).into_owned()
        };
        assert_eq!(cookies(&mut session), "Cookie: seen=1; id=7\r\n");
        session.set_cookie(b"seen=2; Path=/", Destination::new(&base, b"/app/login")).expect("a good cookie");
        assert_eq!(cookies(&mut session), "Cookie: seen=2; id=7\r\n");
        session.restart();
        assert_eq!(cookies(&mut session), "Cookie: seen=1; id=7\r\n", "a new session");
    }
}
