//! Templates of requests: which parts of a path vary, by how they look and by how many values they have.

use super::super::draft::{Draft, DraftOperation, name_of};
use super::super::log_line::Entry;
use super::super::{decoded, literal_path, query_parts};
use assay_text::redact;
use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fmt::Write;

/// Most values of one place that are kept: the first ones.
const VALUES_MAX: usize = 200;
/// Longest value that is kept, bytes.
const VALUE_BYTES_MAX: usize = 512;
/// No API has more paths that differ in one segment: beyond, they are values.
const SIBLINGS_MAX: usize = 100;
/// Fewer siblings are values, too, where there are at least so many and most came once.
const RARE_SIBLINGS_MIN: usize = 20;
/// Segments that are looked at for that.
const SEGMENTS_MAX: usize = 16;

/// Requests of one method and path template.
#[derive(Default)]
pub(super) struct Kind {
    pub requests: u64,
    pub statuses: BTreeMap<u16, u64>,
    /// Observed values, by place in the template.
    values: Vec<BTreeSet<String>>,
}

/// Method, segments of the path, and keys of the query with what stands behind them.
#[derive(PartialEq, Eq, Hash, Clone, PartialOrd, Ord)]
pub(super) struct Shape {
    method: String,
    path: Vec<Part>,
    query: Vec<(String, Part)>,
}

#[derive(PartialEq, Eq, Hash, Clone, PartialOrd, Ord)]
enum Part {
    /// As it stands there.
    Literal(String),
    /// Something that changes, with what it is called.
    Varying(String),
    Secret(String),
}

/// A request as its template.
pub(super) struct Request {
    pub shape: Shape,
    /// What stands in the varying places, in their order.
    values: Vec<String>,
    /// Its path has the number of a session, which is left out: the server gives another.
    pub has_session: bool,
}

/// The template of a request.
pub(super) fn request(entry: &Entry) -> Request {
    let (path, query) = entry.target.split_once('?').unwrap_or((&entry.target, ""));
    let path = path.split('#').next().unwrap_or_default();
    let mut shape = Shape { method: entry.method.clone(), path: Vec::new(), query: Vec::new() };
    let (mut values, mut before, mut has_session) = (Vec::new(), "path".to_owned(), false);
    for segment in path.split('/').skip(1) {
        let segment = without_session(segment);
        has_session |= matches!(segment, Cow::Owned(_));
        shape.path.push(if is_token(&segment) {
            Part::Secret(name_of(&before, true))
        } else if is_id(&segment) {
            values.push(decoded(&segment));
            Part::Varying(name_of(&format!("{before}-id"), false))
        } else {
            before = segment.to_string();
            Part::Literal(literal_path(&segment))
        });
    }
    for (key, value) in query_parts(query) {
        let part = if redact::is_secret_name(key) || is_token(value) {
            Part::Secret(name_of(key, true))
        } else if value.is_empty() {
            Part::Literal(String::new())
        } else {
            values.push(decoded(value));
            Part::Varying(name_of(key, false))
        };
        shape.query.push((literal_path(key), part));
    }
    Request { shape, values, has_session }
}

/// A segment without its parameters that are the number of a session: `item;jsessionid=8B0E71`.
fn without_session(segment: &str) -> Cow<'_, str> {
    let is_session = |parameter: &str| {
        let name = parameter.split('=').next().unwrap_or_default();
        name.eq_ignore_ascii_case("jsessionid") || redact::is_secret_name(name)
    };
    let mut parts = segment.split(';');
    let name = parts.next().unwrap_or_default();
    if !parts.clone().any(is_session) {
        return Cow::Borrowed(segment);
    }
    let others = parts.filter(|parameter| !is_session(parameter)).map(|parameter| format!(";{parameter}"));
    Cow::Owned(format!("{name}{}", others.collect::<String>()))
}

/// Whether a segment of a path names one of many: a number, a UUID, hexadecimal digits, or a long mixture of letters and digits.
fn is_id(segment: &str) -> bool {
    let digits = segment.bytes().filter(u8::is_ascii_digit).count();
    let is_hex = segment.bytes().all(|byte| byte.is_ascii_hexdigit() || byte == b'-');
    let is_word = segment.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_".contains(&byte));
    digits > 0
        && (digits == segment.len()
            || is_hex && segment.len() >= 8
            || is_word && segment.len() >= 16 && digits >= 4)
}

/// Whether a value looks like a secret by itself: a token of a known form.
fn is_token(value: &str) -> bool {
    redact::word(value) != value || redact::text(value) != value
}

impl Kind {
    /// Counts a request of this template.
    pub fn add(&mut self, request: Request, status: Option<u16>) {
        self.requests += 1;
        if let Some(status) = status.filter(|status| (200..=599).contains(status)) {
            *self.statuses.entry(status).or_default() += 1;
        }
        self.values.resize_with(request.values.len(), BTreeSet::new);
        for (seen, value) in self.values.iter_mut().zip(request.values) {
            keep(seen, value);
        }
    }

    /// Another template turned out to be this one.
    fn join(&mut self, other: Kind) {
        self.requests += other.requests;
        for (status, count) in other.statuses {
            *self.statuses.entry(status).or_default() += count;
        }
        self.values.resize_with(other.values.len(), BTreeSet::new);
        for (seen, values) in self.values.iter_mut().zip(other.values) {
            values.into_iter().for_each(|value| keep(seen, value));
        }
    }
}

fn keep(values: &mut BTreeSet<String>, value: String) {
    if values.len() < VALUES_MAX && value.len() <= VALUE_BYTES_MAX {
        values.insert(value);
    }
}

/// Joins templates that differ in a segment of so many values that it varies, whatever it looks like.
pub(super) fn join_siblings(mut kinds: HashMap<Shape, Kind>) -> HashMap<Shape, Kind> {
    for at in 0..SEGMENTS_MAX {
        let mut siblings: HashMap<Place, (BTreeSet<&str>, u64)> = HashMap::new();
        for (shape, kind) in &kinds {
            if let (Some(place), Some(Part::Literal(text))) = (shape.place(at), shape.path.get(at)) {
                let (texts, requests) = siblings.entry(place).or_default();
                texts.insert(text);
                *requests += kind.requests;
            }
        }
        let varies = |(texts, requests): &(BTreeSet<&str>, u64)| {
            let are_rare = texts.len() >= RARE_SIBLINGS_MIN && *requests < 2 * texts.len() as u64;
            SIBLINGS_MAX < texts.len() || are_rare
        };
        let varying: BTreeSet<Place> =
            siblings.into_iter().filter(|(_, found)| varies(found)).map(|(place, _)| place).collect();
        if varying.is_empty() {
            continue;
        }
        let mut joined: HashMap<Shape, Kind> = HashMap::new();
        for (mut shape, mut kind) in kinds {
            if shape.place(at).is_some_and(|place| varying.contains(&place)) {
                shape.vary(at, &mut kind);
            }
            joined.entry(shape).or_default().join(kind);
        }
        kinds = joined;
    }
    kinds
}

/// Where a segment stands: the method, what stands before it, and of how many segments the path is.
type Place = (String, Vec<Part>, usize);

impl Shape {
    fn place(&self, at: usize) -> Option<Place> {
        let before = self.path.get(..at).filter(|_| at < self.path.len())?;
        Some((self.method.clone(), before.to_vec(), self.path.len()))
    }

    /// Makes a value of a segment that stands as it is.
    fn vary(&mut self, at: usize, kind: &mut Kind) {
        let before = self.path[..at].iter().rev().find_map(|part| match part {
            Part::Literal(text) => Some(text.as_str()),
            _ => None,
        });
        let name = name_of(&format!("{}-id", before.unwrap_or("path")), false);
        let place = self.path[..at].iter().filter(|part| matches!(part, Part::Varying(_))).count();
        if let Some(part) = self.path.get_mut(at)
            && let Part::Literal(text) = &part
        {
            let mut values = BTreeSet::new();
            keep(&mut values, decoded(text));
            kind.values.insert(place.min(kind.values.len()), values);
            *part = Part::Varying(name);
        }
    }

    /// Makes an operation of the draft.
    pub fn operation(&self, kind: Kind, draft: &mut Draft) {
        let mut written =
            Written { path: String::new(), shown: String::new(), values: kind.values.into_iter() };
        for part in &self.path {
            written.literal("/");
            written.part(part, draft);
        }
        for (number, (key, part)) in self.query.iter().enumerate() {
            written.literal(if number == 0 { "?" } else { "&" });
            written.literal(key);
            written.literal("=");
            written.part(part, draft);
        }
        let mut statuses: Vec<u16> = kind.statuses.into_keys().collect();
        if statuses.iter().all(|status| matches!(status, 200..=299 | 304)) {
            statuses.clear();
        }
        let name = draft.unique(&format!("{} {}", self.method, written.shown));
        draft.operations.push(DraftOperation {
            name,
            weight: kind.requests as f64,
            method: self.method.clone(),
            path: written.path,
            statuses,
            ..DraftOperation::default()
        });
    }
}

/// A template as it is written into the draft.
struct Written {
    path: String,
    /// The same for people.
    shown: String,
    values: std::vec::IntoIter<BTreeSet<String>>,
}

impl Written {
    fn literal(&mut self, text: &str) {
        self.path.push_str(text);
        self.shown.push_str(text);
    }

    fn part(&mut self, part: &Part, draft: &mut Draft) {
        match part {
            Part::Literal(text) => self.literal(text),
            Part::Secret(name) => {
                // One for all values that stood at a place: a request has one of them.
                self.path.push_str(&draft.variable(name, name, "it looked like a secret"));
                self.shown.push_str(&format!("{{{}}}", name.to_ascii_lowercase()));
            }
            Part::Varying(name) => {
                let values: Vec<String> = self.values.next().unwrap_or_default().into_iter().collect();
                // Longer ones than are kept leave none.
                let values = if values.is_empty() { vec![String::new()] } else { values };
                let value = draft.value(name, values);
                let _ = write!(self.path, "{{{value}}}");
                let _ = write!(self.shown, "{{{name}}}");
            }
        }
    }
}
