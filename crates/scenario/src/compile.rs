//! From the file's form to the checked scenario. Goes on after a mistake, so that all are told at once.

use crate::chat::Chat;
use crate::file::{ExtractFile, Kind, OneOrMany, OperationFile, PerKind, ScenarioFile, ThinkFile, ValueFile};
use crate::mistakes::Mistakes;
use crate::operation::{Extract, Operation, Scenario};
use crate::template::{self, Encoding, Source, Template};
use crate::think::Think;
use crate::users::{self, UserKind};
use crate::value::{LIST_COUNT_MAX, Law, Value};
use assay_model::schema;
use assay_text::near::hint;
use memchr::memmem::Finder;
use std::ops::Range;
use toml::Spanned;

/// Headers that the generator writes itself.
const OWN_HEADERS: [&str; 7] =
    ["host", "connection", "content-length", "transfer-encoding", "cookie", "expect", "upgrade"];

pub(crate) fn compile(text: &str, source: &str) -> Result<Scenario, Vec<String>> {
    let mut mistakes = Mistakes { text, source, found: Vec::new() };
    let file: ScenarioFile = match toml::from_str(text) {
        Ok(file) => file,
        Err(error) => {
            mistakes.add(&error.span().unwrap_or(0..0), explain(error.message()));
            return Err(mistakes.found);
        }
    };
    if file.schema.get_ref() != schema::SCENARIO_FILE {
        let what =
            format!("schema {:?} is not known; write \"{}\"", file.schema.get_ref(), schema::SCENARIO_FILE);
        mistakes.add(&file.schema.span(), what);
    }
    let kinds = users::kinds(&file, &mut |what| mistakes.add(&(0..0), what));
    let mut counters = 0;
    let mut value = |(name, file)| value(name, file, &mut counters, &mut mistakes);
    let values: Vec<Value> = file.values.into_iter().filter_map(&mut value).collect();
    let operation_names: Vec<String> =
        file.operation.iter().map(|operation| operation.get_ref().name.clone()).collect();
    let mut extracts = Vec::new();
    let mut fed_by = Vec::new();
    for (name, extract) in file.extract {
        if values.iter().any(|value| value.name == name) {
            mistakes.add(&extract.span(), format!("extract {name:?} has the name of a value; rename one"));
        }
        if let Some((from, mut extract)) = self::extract(name, extract, &operation_names, &mut mistakes) {
            extract.is_given = file.setup.iter().any(|name| *name.get_ref() == operation_names[from]);
            fed_by.push(from);
            extracts.push(extract);
        }
    }
    let names = Names { operations: &operation_names, values: &values, extracts: &extracts };
    let spans: Vec<Range<usize>> = file.operation.iter().map(Spanned::span).collect();
    let usual = file.session.think_ms.and_then(|think| {
        let span = think.span();
        thought(Some(&think.into_inner()), None, &mut |what| mistakes.add(&span, what))
    });
    let mut weights = vec![Vec::new(); kinds.len()];
    let mut operations = Vec::new();
    for one in file.operation {
        let of_kinds = self::weights(&one, &kinds, &mut mistakes);
        weights.iter_mut().zip(of_kinds).for_each(|(weights, weight)| weights.push(weight));
        operations.extend(operation(one, usual, &names, &mut mistakes));
    }
    let chat = file.chat.map(|chat| {
        let mut wrong = |what: String| mistakes.add(&chat.span(), what);
        if !operations.is_empty() {
            wrong("[[operation]] and [chat] exclude each other".to_owned());
        }
        let chat = Chat::of(chat.get_ref(), &mut wrong);
        operations.push(Operation::say(&chat, usual));
        weights.iter_mut().for_each(|weights| weights.push(1.0));
        chat
    });
    let mut known = |listed: &[Spanned<String>]| -> Vec<usize> {
        listed
            .iter()
            .filter_map(|name| names.operation(name.get_ref(), &name.span(), &mut mistakes))
            .collect()
    };
    let setup = known(&file.setup);
    let restart_after = known(&file.session.restart_after);
    let start = starts(file.session.start, &kinds, &names, &mut mistakes);
    let of_kind = kinds.into_iter().zip(start).zip(weights);
    let users: Vec<UserKind> =
        of_kind.map(|(((name, share), start), weights)| UserKind::new(name, share, start, weights)).collect();
    check_operations(&operations, &operation_names, &spans, &mut mistakes);
    check_users(&users, &mut mistakes);
    if !mistakes.found.is_empty() {
        return Err(mistakes.found);
    }
    for (extract, from) in fed_by.into_iter().enumerate() {
        operations[from].extracts.push(extract);
    }
    restart_after.into_iter().for_each(|at| operations[at].restarts_session = true);
    let scenario = Scenario {
        name: file.name,
        text: text.to_owned(),
        operations,
        setup,
        users,
        counters,
        values,
        extracts,
        chat,
    };
    check_setup(&scenario, &spans, &mut mistakes);
    if mistakes.found.is_empty() { Ok(scenario) } else { Err(mistakes.found) }
}

/// The law of think times that is given, or the usual one.
fn thought(file: Option<&ThinkFile>, usual: Option<Think>, wrong: &mut dyn FnMut(String)) -> Option<Think> {
    match file.map(Think::of) {
        Some(Err(what)) => {
            wrong(what);
            None
        }
        Some(Ok(think)) => Some(think),
        None => usual,
    }
}

/// The weights of an operation by kind of user.
fn weights(file: &Spanned<OperationFile>, kinds: &[(String, f64)], mistakes: &mut Mistakes) -> Vec<f64> {
    let (span, file) = (file.span(), file.get_ref());
    let mut wrong = |what: String| mistakes.add(&span, format!("operation {:?}: {what}", file.name));
    let weights = users::by_kind(&file.weight, kinds, &mut wrong);
    let weights: Vec<f64> = weights.into_iter().map(|weight| weight.unwrap_or(0.0)).collect();
    if let Some(weight) = weights.iter().find(|weight| !weight.is_finite() || **weight < 0.0) {
        wrong(format!("weight {weight} must be 0 or more"));
    }
    weights
}

/// The operations that begin a session, by kind of user.
fn starts(
    file: Option<Spanned<PerKind<Vec<String>>>>,
    kinds: &[(String, f64)],
    names: &Names,
    mistakes: &mut Mistakes,
) -> Vec<Vec<usize>> {
    let Some(file) = file else { return vec![Vec::new(); kinds.len()] };
    let span = file.span();
    if let PerKind::Same(all) = file.get_ref() {
        let start = all.iter().filter_map(|name| names.operation(name, &span, mistakes)).collect();
        return vec![start; kinds.len()];
    }
    let of_kinds = users::by_kind(file.get_ref(), kinds, &mut |what| mistakes.add(&span, what));
    let mut known = |listed: Option<Vec<String>>| {
        listed.into_iter().flatten().filter_map(|name| names.operation(&name, &span, mistakes)).collect()
    };
    of_kinds.into_iter().map(&mut known).collect()
}

/// Adds the nearest right word to serde's "unknown field `x`, expected one of `a`, `b`"; the words are its own.
fn explain(message: &str) -> String {
    let mut quoted = message.split('`').skip(1).step_by(2);
    match quoted.next() {
        Some(wrong) if message.starts_with("unknown field") || message.starts_with("unknown variant") => {
            let known: Vec<&str> = quoted.collect();
            let kind = if message.starts_with("unknown field") { "key" } else { "word" };
            format!("unknown {kind} {wrong:?}{}", hint(wrong, known))
        }
        _ => message.to_owned(),
    }
}

fn value(
    name: String,
    file: Spanned<ValueFile>,
    counters: &mut u16,
    mistakes: &mut Mistakes,
) -> Option<Value> {
    let span = file.span();
    let file = file.into_inner();
    let kind = file.kind;
    let per_session =
        matches!(kind, Kind::SessionRange | Kind::SessionList | Kind::SessionCounter | Kind::SessionUuid);
    let mut wrong = |what: String| {
        mistakes.add(&span, format!("value {name:?}: {what}"));
        None
    };
    if !template::is_name(&name) {
        return wrong("a name is a letter, then letters, digits, - and _".to_owned());
    }
    let without_keys = match kind {
        Kind::Uuid | Kind::SessionUuid => Some(Law::Uuid),
        Kind::UnixMs => Some(Law::UnixMs),
        _ => None,
    };
    if let Some(law) = without_keys {
        let ValueFile { kind: _, from, to, values, prefix, count, separator } = &file;
        let has_none = from.or(*to).is_none() && values.is_none() && count.is_none();
        return match has_none && prefix.as_ref().or(separator.as_ref()).is_none() {
            true => Some(Value { name, law, per_session }),
            false => wrong("a uuid, and a time in unix-ms, has no other keys".to_owned()),
        };
    }
    let is_list = matches!(kind, Kind::List | Kind::SessionList);
    let is_counter = matches!(kind, Kind::Counter | Kind::SessionCounter);
    let list_keys = file.count.is_some() || file.separator.is_some() || file.prefix.is_some();
    if (kind != Kind::RangeList && list_keys)
        || (is_list && (file.from.is_some() || file.to.is_some()))
        || (!is_list && file.values.is_some())
    {
        return wrong(
            "ranges have `from` and `to`; counters have `from`, and may have `to`; lists have `values`; a \
             range-list also has `count`, and may have `prefix` and `separator`"
                .to_owned(),
        );
    }
    if is_list {
        let texts: Vec<Box<[u8]>> = file
            .values
            .unwrap_or_default()
            .into_iter()
            .map(|scalar| scalar.into_text().into_bytes().into())
            .collect();
        if texts.is_empty() {
            return wrong("a list needs `values` with at least one".to_owned());
        }
        return Some(Value { name, law: Law::List(texts), per_session });
    }
    let (Some(from), Some(to)) = (file.from, file.to.or(is_counter.then_some(i64::MAX))) else {
        return wrong("a range needs `from` and `to`, a counter `from`".to_owned());
    };
    if from > to {
        return wrong(format!("from {from} is above to {to}"));
    }
    if is_counter {
        let number = usize::from(*counters);
        let Some(more) = counters.checked_add(1) else { return wrong("one counter too many".to_owned()) };
        *counters = more;
        return Some(Value { name, law: Law::Counter { number, from, to }, per_session });
    }
    if kind != Kind::RangeList {
        return Some(Value { name, law: Law::Range { from, to }, per_session });
    }
    match file.count {
        Some(count) if count[0] <= count[1] && count[1] <= LIST_COUNT_MAX => {
            let (prefix, separator) =
                (file.prefix.unwrap_or_default(), file.separator.unwrap_or_else(|| ",".to_owned()));
            Some(Value { name, law: Law::RangeList { prefix, from, to, count, separator }, per_session })
        }
        _ => wrong(format!("a range-list needs count = [least, most], at most {LIST_COUNT_MAX}")),
    }
}

fn extract(
    name: String,
    file: Spanned<ExtractFile>,
    operations: &[String],
    mistakes: &mut Mistakes,
) -> Option<(usize, Extract)> {
    let span = file.span();
    let ExtractFile { operation, after, before, once } = file.into_inner();
    if !template::is_name(&name) {
        mistakes.add(&span, format!("extract {name:?}: a name is a letter, then letters, digits, - and _"));
    }
    if after.is_empty() || before.is_empty() {
        mistakes.add(&span, format!("extract {name:?}: `after` and `before` must not be empty"));
    }
    let Some(from) = operations.iter().position(|known| *known == operation) else {
        let hint = hint(&operation, operations.iter().map(String::as_str));
        mistakes.add(&span, format!("extract {name:?}: unknown operation {operation:?}{hint}"));
        return None;
    };
    let finder = |text: &str| Finder::new(text.as_bytes()).into_owned();
    Some((from, Extract { name, after: finder(&after), before: finder(&before), once, is_given: false }))
}

/// What names mean.
struct Names<'a> {
    operations: &'a [String],
    values: &'a [Value],
    extracts: &'a [Extract],
}

impl Names<'_> {
    fn operation(&self, name: &str, span: &Range<usize>, mistakes: &mut Mistakes) -> Option<usize> {
        let at = self.operations.iter().position(|known| known == name);
        if at.is_none() {
            let hint = hint(name, self.operations.iter().map(String::as_str));
            mistakes.add(span, format!("unknown operation {name:?}{hint}"));
        }
        at
    }

    fn extract(&self, name: &str) -> Option<usize> {
        self.extracts.iter().position(|known| known.name == name)
    }

    fn source(&self, name: &str) -> Result<Source, String> {
        if let Some(at) = self.values.iter().position(|known| known.name == name) {
            return Ok(Source::Drawn(at));
        }
        self.extract(name).map(Source::Extracted).ok_or_else(|| {
            let known: Vec<&str> = (self.values.iter().map(|value| value.name.as_str()))
                .chain(self.extracts.iter().map(|extract| extract.name.as_str()))
                .collect();
            format!("unknown value {{{name}}}{}", hint(name, known))
        })
    }
}

fn operation(
    file: Spanned<OperationFile>,
    usual: Option<Think>,
    names: &Names,
    mistakes: &mut Mistakes,
) -> Option<Operation> {
    let span = file.span();
    let file = file.into_inner();
    let name = file.name.clone();
    let mut wrong = |what: String| mistakes.add(&span, format!("operation {:?}: {what}", file.name));
    check_request_line(&file, &mut wrong);
    let mut template = |text: &str, encoding| {
        Template::parse(text, encoding, &|name| names.source(name)).unwrap_or_else(|what| {
            wrong(what);
            Template::default()
        })
    };
    let path = template(&file.path, Encoding::Path);
    let mut headers = Template::default();
    for (header, value) in &file.headers {
        headers.literal(format!("{header}: ").as_bytes());
        headers.append(template(value, Encoding::Header));
        headers.literal(b"\r\n");
    }
    let body = match (&file.form, &file.body) {
        (Some(form), _) => {
            if !file.headers.keys().any(|header| header.eq_ignore_ascii_case("content-type")) {
                headers.literal(b"Content-Type: application/x-www-form-urlencoded\r\n");
            }
            let mut body = Template::default();
            for (position, (field, value)) in form.iter().enumerate() {
                let mut encoded = Vec::new();
                template::encode(field.as_bytes(), Encoding::Form, &mut encoded);
                body.literal(if position > 0 { b"&" } else { b"" });
                body.literal(&encoded);
                body.literal(b"=");
                body.append(template(value, Encoding::Form).with_literals_encoded());
            }
            Some(body)
        }
        (None, Some(body)) => Some(template(body, Encoding::Raw)),
        (None, None) => None,
    };
    let requires = required(&file, names, &mut wrong);
    let think = thought(file.think_ms.as_ref(), usual, &mut wrong);
    let statuses = statuses(&file).to_vec();
    let mut operation = Operation {
        name,
        method: file.method.clone(),
        path,
        headers,
        body,
        statuses,
        follow_redirects: file.follow_redirects,
        contains: file.contains.as_ref().map(|text| Finder::new(text.as_bytes()).into_owned()),
        requires,
        otherwise: None,
        timeout_ns: file.timeout_ms.saturating_mul(1_000_000),
        think,
        extracts: Vec::new(),
        uses_up: Vec::new(),
        restarts_session: false,
    };
    let used: Vec<&Extract> = operation.uses().map(|at| &names.extracts[at]).collect();
    let is_certain = |one: &Extract| {
        one.is_given || operation.requires.iter().any(|at| names.extracts[*at].name == one.name)
    };
    if let Some(Extract { name, .. }) = used.into_iter().find(|one| !is_certain(one)) {
        wrong(format!("uses {{{name}}}, which may not be there; add requires = \"{name}\" and otherwise"));
    }
    operation.uses_up = operation.uses().filter(|at| names.extracts[*at].once).collect();
    operation.otherwise = file.otherwise.as_deref().and_then(|name| names.operation(name, &span, mistakes));
    Some(operation)
}

fn statuses(file: &OperationFile) -> &[u16] {
    file.status.as_ref().map_or(&[][..], OneOrMany::as_slice)
}

/// Numbers of the extracts that an operation requires.
fn required(file: &OperationFile, names: &Names, wrong: &mut dyn FnMut(String)) -> Vec<usize> {
    let listed = file.requires.as_ref().map_or(&[][..], OneOrMany::as_slice);
    if listed.is_empty() != file.otherwise.is_none() {
        wrong("`requires` and `otherwise` belong together".to_owned());
    }
    let known = listed.iter().filter_map(|name| {
        let at = names.extract(name);
        if at.is_none() {
            let hint = hint(name, names.extracts.iter().map(|extract| extract.name.as_str()));
            wrong(format!("requires unknown extract {name:?}{hint}"));
        }
        at
    });
    known.collect()
}

fn check_request_line(file: &OperationFile, wrong: &mut dyn FnMut(String)) {
    if file.method.is_empty() || !file.method.bytes().all(|byte| byte.is_ascii_uppercase()) {
        wrong(format!("method {:?} must be in capitals, such as GET or POST", file.method));
    }
    if !file.path.starts_with('/')
        || file.path.bytes().any(|byte| byte <= b' ' || byte >= 0x7f || byte == b'#')
    {
        wrong(format!(
            "path {:?} must start with / and hold neither spaces, # nor characters beyond ASCII; encode them \
             with %",
            file.path
        ));
    }
    if file.form.is_some() && file.body.is_some() {
        wrong("`form` and `body` exclude each other".to_owned());
    }
    if let Some(status) = statuses(file).iter().find(|status| !(200..=599).contains(*status)) {
        wrong(format!("status {status} is not from 200 to 599"));
    }
    if !(1..=3_600_000).contains(&file.timeout_ms) {
        wrong(format!("timeout_ms {} must be 1 to 3600000", file.timeout_ms));
    }
    for (header, value) in &file.headers {
        let token = |byte: u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte);
        if header.is_empty() || !header.bytes().all(token) || value.bytes().any(|byte| byte < b' ') {
            wrong(format!("header {header:?} is not one line of a valid name and value"));
        }
        if OWN_HEADERS.iter().any(|own| header.eq_ignore_ascii_case(own)) {
            wrong(format!("header {header:?} is written by the generator; leave it out"));
        }
    }
}

/// Checks that need all operations: unique names, some weight, and `otherwise` that leads to an end.
fn check_operations(
    operations: &[Operation],
    names: &[String],
    spans: &[Range<usize>],
    mistakes: &mut Mistakes,
) {
    for (at, name) in names.iter().enumerate() {
        if names[..at].contains(name) {
            mistakes.add(&spans[at], format!("operation {name:?} is there twice; rename one"));
        }
    }
    for (at, operation) in operations.iter().enumerate() {
        let mut next = operation.otherwise;
        for _ in 0..operations.len() {
            next = next.and_then(|next| operations.get(next)).and_then(|operation| operation.otherwise);
        }
        if next.is_some() {
            let what = format!("operation {:?}: its `otherwise` leads in a circle", operation.name);
            mistakes.add(&spans[at], what);
        }
    }
}

/// Each kind of users needs something to do.
fn check_users(users: &[UserKind], mistakes: &mut Mistakes) {
    for kind in users.iter().filter(|kind| !kind.weights.iter().any(|weight| *weight > 0.0)) {
        let whose = if kind.name.is_empty() { String::new() } else { format!(" for users {:?}", kind.name) };
        let what = format!("no [[operation]] has a weight above 0{whose}, so there is nothing to send");
        mistakes.add(&(0..0), what);
    }
}

/// One-time requests are sent at no other time, and use only what those before them gave.
fn check_setup(scenario: &Scenario, spans: &[Range<usize>], mistakes: &mut Mistakes) {
    let mut given = Vec::new();
    for at in &scenario.setup {
        let operation = &scenario.operations[*at];
        let mut wrong =
            |what: String| mistakes.add(&spans[*at], format!("operation {:?}: {what}", operation.name));
        let is_drawn = |kind: &UserKind| kind.weights[*at] > 0.0 || kind.start.contains(at);
        let is_otherwise = scenario.operations.iter().any(|other| other.otherwise == Some(*at));
        if scenario.users.iter().any(is_drawn) || is_otherwise || operation.otherwise.is_some() {
            wrong("it is sent once, by `setup`; give it weight = 0, and neither name it elsewhere nor let it require".to_owned());
        }
        if let Some(missing) = operation.uses().find(|extract| !given.contains(extract)) {
            wrong(format!("no request of `setup` before it gives {{{}}}", scenario.extracts[missing].name));
        }
        given.extend(&operation.extracts);
    }
    for extract in scenario.extracts.iter().filter(|extract| extract.is_given && extract.once) {
        mistakes.add(
            &(0..0),
            format!("extract {:?}: what `setup` gives to all is not used up; leave `once` out", extract.name),
        );
    }
}
