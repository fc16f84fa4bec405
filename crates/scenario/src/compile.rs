//! From the file's form to the checked scenario. Goes on after a mistake, so that all are reported at once.

use crate::chat::Chat;
use crate::compile_operation::operation;
use crate::cookies;
use crate::file::{GrpcFile, OperationFile, PerKind, ScenarioFile};
use crate::grpc::Services;
use crate::mistakes::Mistakes;
use crate::names::{Names, Schema};
use crate::operation::{Operation, Scenario};
use crate::origins;
use crate::outside::{Outside, Secrets};
use crate::session::SessionRules;
use crate::think::thought;
use crate::users::{self, UserKind};
use crate::value::Value;
use assay_model::schema;
use assay_text::near::hint;
use std::cell::RefCell;
use std::ops::Range;
use toml::Spanned;

pub(crate) fn compile(text: &str, source: &str, outside: &Outside) -> Result<Scenario, Vec<String>> {
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
    let mut value = |(name, file)| origins::value(name, file, &mut counters, &mut mistakes);
    let values: Vec<Value> = file.values.into_iter().filter_map(&mut value).collect();
    let operation_names: Vec<String> =
        file.operation.iter().map(|operation| operation.get_ref().name.clone()).collect();
    let feeds = origins::feeds_of(file.data, outside, &mut counters, &mut mistakes);
    for name in feeds.iter().flat_map(|feed| &feed.table.columns) {
        if values.iter().any(|value| value.name == *name) {
            mistakes.add(
                &(0..0),
                format!("column {name:?} of a [[data]] file has the name of a value; rename one"),
            );
        }
    }
    let rate = file.rate.and_then(|rate| {
        let of = |what| mistakes.add(&rate.span(), format!("[rate] schedule: {what}"));
        outside.rate(&rate.get_ref().schedule).map_err(of).ok().flatten()
    });
    let mut extracts = Vec::new();
    let mut fed_by = Vec::new();
    for (name, extract) in file.extract {
        if values.iter().any(|value| value.name == name) {
            mistakes.add(&extract.span(), format!("extract {name:?} has the name of a value; rename one"));
        }
        if let Some((from, mut extract)) = origins::extract(name, extract, &operation_names, &mut mistakes) {
            extract.is_given = file.setup.iter().any(|name| *name.get_ref() == operation_names[from]);
            fed_by.push(from);
            extracts.push(extract);
        }
    }
    let mut files = Vec::new();
    let grpc = file.grpc.map_or(Schema::Missing, |grpc| {
        schema(grpc.get_ref(), outside, &mut files).unwrap_or_else(|what| {
            mistakes.add(&grpc.span(), format!("[grpc] {what}"));
            Schema::Unread
        })
    });
    let names = Names {
        operations: &operation_names,
        values: &values,
        extracts: &extracts,
        feeds: &feeds,
        outside,
        secrets: RefCell::default(),
        files: RefCell::new(files),
        grpc,
    };
    let spans: Vec<Range<usize>> = file.operation.iter().map(Spanned::span).collect();
    let session = SessionRules::of(&file.session, &mut |what| mistakes.add(&(0..0), what));
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
    let end = starts(file.session.end, &kinds, &names, &mut mistakes);
    let of_kind = kinds.into_iter().zip(start.into_iter().zip(end)).zip(weights);
    let kind = |(((name, share), (start, end)), weights)| UserKind { name, share, start, end, weights };
    let users: Vec<UserKind> = of_kind.map(kind).collect();
    check_operations(&operations, &operation_names, &spans, &mut mistakes);
    cookies::check(&operations, &mut |at, what| mistakes.add(&spans[at], what));
    check_users(&users, &mut mistakes);
    if !mistakes.found.is_empty() {
        return Err(mistakes.found);
    }
    for (extract, from) in fed_by.into_iter().enumerate() {
        operations[from].extracts.push(extract);
        let is_header = extracts[extract].place.is_header();
        operations[from].keeps_head |= is_header;
        operations[from].keeps_body |= !is_header;
    }
    let cookies = cookies::of(&operations);
    let (asked_services, files) = (names.asked(), names.files.take());
    let secrets = Secrets::new(names.secrets.take());
    operations.iter().filter_map(|operation| operation.path_value).for_each(|at| extracts[at].is_path = true);
    restart_after.into_iter().for_each(|at| operations[at].restarts_session = true);
    let scenario = Scenario {
        name: file.name,
        text: text.to_owned(),
        operations,
        setup,
        session,
        users,
        rate,
        counters,
        secrets,
        files,
        asked_services,
        feeds,
        values,
        extracts,
        cookies,
        chat,
    };
    check_setup(&scenario, &spans, &mut mistakes);
    if mistakes.found.is_empty() { Ok(scenario) } else { Err(mistakes.found) }
}

/// The schema of the services. It is the first of the files, and empty while the server was not asked for it.
fn schema(file: &GrpcFile, outside: &Outside, files: &mut Vec<Box<[u8]>>) -> Result<Schema, String> {
    let (set, named) = match (&file.schema, file.reflection) {
        (Some(named), false) => {
            let set = outside.descriptors(files.len(), named).map_err(|why| format!("schema: {why}"))?;
            (set, format!("schema: {named:?}"))
        }
        (None, true) => (outside.reflected(files.len())?, "reflection: the answer".to_owned()),
        _ => return Err("needs either schema = \"FILE.proto\" or reflection = true".to_owned()),
    };
    let schema = match outside {
        Outside::Absent => Schema::Unread,
        _ if file.reflection && set.is_empty() => Schema::Asked(RefCell::default()),
        _ => Schema::Known(Services::of(&set).map_err(|why| format!("{named} {why}"))?),
    };
    files.push(set);
    Ok(schema)
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

/// The operations that begin or end a session, by kind of user.
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
        let is_drawn =
            |kind: &UserKind| kind.weights[*at] > 0.0 || kind.start.contains(at) || kind.end.contains(at);
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
