//! A mix from an access log: requests of the same method and path template, with how often they came, and when.

use super::draft::{Draft, DraftOperation, name_of};
use super::log_line::{Entry, entry};
use super::{Generated, decoded, literal_path, query_parts};
use crate::ScenarioError;
use assay_text::redact;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fmt::Write;
use std::io::{BufRead, Read};

/// Longest line that is read, bytes; the rest of a longer one is skipped.
const LINE_BYTES_MAX: u64 = 64 << 10;
/// Most requests whose times are kept.
const REQUESTS_MAX: usize = 5_000_000;
/// Most templates that are counted one by one; the others are only counted together.
const TEMPLATES_MAX: usize = 20_000;
/// Most operations that are written, the commonest ones.
const OPERATIONS_MAX: usize = 50;
/// Most values of one place that are kept: the first ones.
const VALUES_MAX: usize = 200;
/// Longest value that is kept, bytes.
const VALUE_BYTES_MAX: usize = 512;
/// Phases of a rate that stands in the scenario itself.
const PHASES: usize = 60;
const NS_PER_S: i128 = 1_000_000_000;

/// What is read.
pub struct AccessLog<'a> {
    /// Name of the file, for messages.
    pub named: &'a str,
    /// Name of the file of arrival times that the scenario is to name; without one the rate is written as phases.
    pub trace: Option<&'a str>,
}

/// Requests of one method and path template.
#[derive(Default)]
struct Kind {
    requests: u64,
    statuses: BTreeMap<u16, u64>,
    /// Observed values, by place in the template.
    values: Vec<SegmentValues>,
}

/// The observed values of one path segment or parameter.
#[derive(Default)]
struct SegmentValues {
    values: BTreeSet<String>,
}

/// Method, segments, and keys of the query.
#[derive(PartialEq, Eq, Hash, Clone, PartialOrd, Ord)]
struct Shape {
    method: String,
    pieces: Vec<PathSegment>,
}

#[derive(PartialEq, Eq, Hash, Clone, PartialOrd, Ord)]
enum PathSegment {
    /// As it stands there.
    Literal(String),
    /// Something that changes, with what it is called.
    Varying(String),
    Secret(String),
}

/// Makes a scenario of an access log.
///
/// # Errors
/// The log cannot be read, or no line of it is a request that can be sent again.
pub fn from_access_log(mut from: impl BufRead, of: &AccessLog) -> Result<Generated, ScenarioError> {
    let wrong = |what: String| ScenarioError::Recording(format!("access log {}: {what}", of.named));
    let mut log = Reading::default();
    let mut bytes = Vec::new();
    loop {
        bytes.clear();
        let length = from.by_ref().take(LINE_BYTES_MAX).read_until(b'\n', &mut bytes);
        if length.map_err(|error| wrong(error.to_string()))? == 0 {
            break;
        }
        if !bytes.ends_with(b"\n") && bytes.len() as u64 == LINE_BYTES_MAX {
            skip_line(&mut from).map_err(|error| wrong(error.to_string()))?;
        }
        log.line(&String::from_utf8_lossy(&bytes));
    }
    log.generated(of).map_err(wrong)
}

fn skip_line(from: &mut impl BufRead) -> std::io::Result<()> {
    loop {
        let buffer = from.fill_buf()?;
        let (used, is_end) = match memchr::memchr(b'\n', buffer) {
            Some(at) => (at + 1, true),
            None => (buffer.len(), buffer.is_empty()),
        };
        from.consume(used);
        if is_end {
            return Ok(());
        }
    }
}

/// What was read of a log.
#[derive(Default)]
struct Reading {
    lines: u64,
    not_understood: u64,
    first_not_understood: Option<u64>,
    /// Requests with a body, which a log does not have.
    with_body: u64,
    beyond_templates: u64,
    beyond_times: u64,
    kinds: HashMap<Shape, Kind>,
    times: Vec<i128>,
    has_parts: bool,
}

impl Reading {
    fn line(&mut self, line: &str) {
        if line.trim().is_empty() {
            return;
        }
        self.lines += 1;
        let Some(entry) = entry(line) else {
            self.not_understood += 1;
            self.first_not_understood.get_or_insert(self.lines);
            return;
        };
        if !matches!(entry.method.as_str(), "GET" | "HEAD" | "DELETE" | "OPTIONS") {
            self.with_body += 1;
            return;
        }
        if self.times.len() == REQUESTS_MAX {
            self.beyond_times += 1;
            return;
        }
        let (shape, values) = shape(&entry);
        if self.kinds.len() == TEMPLATES_MAX && !self.kinds.contains_key(&shape) {
            self.beyond_templates += 1;
            return;
        }
        self.has_parts |= !entry.is_whole_second;
        self.times.push(entry.time_ns);
        let kind = self.kinds.entry(shape).or_default();
        kind.requests += 1;
        if let Some(status) = entry.status.filter(|status| (200..=599).contains(status)) {
            *kind.statuses.entry(status).or_default() += 1;
        }
        kind.values.resize_with(values.len(), SegmentValues::default);
        for (seen, value) in kind.values.iter_mut().zip(values) {
            if seen.values.len() < VALUES_MAX && value.len() <= VALUE_BYTES_MAX {
                seen.values.insert(value);
            }
        }
    }

    fn generated(mut self, of: &AccessLog) -> Result<Generated, String> {
        if self.times.is_empty() {
            return Err(match self.first_not_understood {
                Some(line) if self.with_body == 0 => format!(
                    "none of its {} lines is a request (the first that was not understood is {line}); the common and the combined form \
                     of logs are read, NGINX's with more behind, and JSON lines with method, path and time",
                    self.lines
                ),
                _ => format!(
                    "it holds no request that can be sent again; {} have a body, which a log does not keep",
                    self.with_body
                ),
            });
        }
        self.times.sort_unstable();
        let offsets = offsets(&self.times, self.has_parts);
        let mut kinds: Vec<(Shape, Kind)> = std::mem::take(&mut self.kinds).into_iter().collect();
        kinds.sort_by(|(a_shape, a), (b_shape, b)| {
            b.requests.cmp(&a.requests).then_with(|| a_shape.cmp(b_shape))
        });
        let kept: u64 = kinds.iter().take(OPERATIONS_MAX).map(|(_, kind)| kind.requests).sum();
        let mut draft = Draft { name: format!("from {}", of.named), ..Draft::default() };
        self.notes(&mut draft, kinds.len(), kept);
        for (shape, kind) in kinds.into_iter().take(OPERATIONS_MAX) {
            operation(&shape, kind, &mut draft);
        }
        draft.schedule = Some(match of.trace {
            Some(name) => format!("trace {name}"),
            None => phases(&offsets),
        });
        let trace = of.trace.map(|_| trace_text(&offsets, of.named));
        Ok(Generated { text: draft.text(), base_url: None, trace })
    }

    fn notes(&self, draft: &mut Draft, kinds: usize, kept: u64) {
        let requests = self.times.len();
        let mut note = |is_so: bool, text: String| draft.notes.extend(is_so.then_some(text));
        note(
            true,
            format!(
                "Made from an access log: {} lines, of which {requests} are requests that can be sent again.",
                self.lines
            ),
        );
        let first = self.first_not_understood.unwrap_or(0);
        note(
            self.not_understood > 0,
            format!("{} lines were not understood, the first is line {first}.", self.not_understood),
        );
        note(
            self.with_body > 0,
            format!(
                "{} requests have a body, which a log does not keep; they were left out.",
                self.with_body
            ),
        );
        let beyond = self.beyond_times + self.beyond_templates;
        note(beyond > 0, format!("{beyond} requests were too many, or too many kinds, and were left out."));
        note(
            kinds > OPERATIONS_MAX,
            format!(
                "The {OPERATIONS_MAX} commonest of {kinds} kinds are below; they are {kept} of {requests} requests."
            ),
        );
        let how = if self.has_parts {
            "as logged"
        } else {
            "spread evenly within each second, since the log has no parts of seconds"
        };
        note(true, format!("Arrivals are {how}."));
    }
}

/// The template of a request, and what stands in its varying places, in their order.
fn shape(entry: &Entry) -> (Shape, Vec<String>) {
    let mut shape = Shape { method: entry.method.clone(), pieces: Vec::new() };
    let (path, query) = entry.target.split_once('?').unwrap_or((&entry.target, ""));
    let path = path.split('#').next().unwrap_or_default();
    let (mut values, mut before) = (Vec::new(), "path");
    for segment in path.split('/').skip(1) {
        shape.literal("/");
        if is_token(segment) {
            shape.pieces.push(PathSegment::Secret(name_of(before, true)));
        } else if is_id(segment) {
            shape.pieces.push(PathSegment::Varying(name_of(&format!("{before}-id"), false)));
            values.push(decoded(segment));
        } else {
            shape.literal(&literal_path(segment));
            before = segment;
        }
    }
    for (number, (key, value)) in query_parts(query).enumerate() {
        shape.literal(if number == 0 { "?" } else { "&" });
        shape.literal(&literal_path(key));
        shape.literal("=");
        if redact::is_secret_name(key) || is_token(value) {
            shape.pieces.push(PathSegment::Secret(name_of(key, true)));
        } else if !value.is_empty() {
            shape.pieces.push(PathSegment::Varying(name_of(key, false)));
            values.push(decoded(value));
        }
    }
    (shape, values)
}

impl Shape {
    fn literal(&mut self, text: &str) {
        match self.pieces.last_mut() {
            Some(PathSegment::Literal(last)) => last.push_str(text),
            _ => self.pieces.push(PathSegment::Literal(text.to_owned())),
        }
    }
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

fn operation(shape: &Shape, kind: Kind, draft: &mut Draft) {
    let (mut path, mut shown) = (String::new(), String::new());
    let mut seen = kind.values.into_iter();
    for piece in &shape.pieces {
        match piece {
            PathSegment::Literal(text) => {
                path.push_str(text);
                shown.push_str(text);
            }
            PathSegment::Secret(name) => {
                // One for all values that stood at a place: a request has one of them.
                path.push_str(&draft.variable(name, name, "it looked like a secret"));
                shown.push_str(&format!("{{{}}}", name.to_ascii_lowercase()));
            }
            PathSegment::Varying(name) => {
                let values: Vec<String> =
                    seen.next().map(|seen| seen.values.into_iter().collect()).unwrap_or_default();
                // Longer ones than are kept leave none.
                let values = if values.is_empty() { vec![String::new()] } else { values };
                let value = draft.value(name, values);
                let _ = write!(path, "{{{value}}}");
                let _ = write!(shown, "{{{name}}}");
            }
        }
    }
    let mut statuses: Vec<u16> = kind.statuses.into_keys().collect();
    if statuses.iter().all(|status| matches!(status, 200..=299 | 304)) {
        statuses.clear();
    }
    let name = draft.unique(&format!("{} {shown}", shape.method));
    let (method, weight) = (shape.method.clone(), kind.requests as f64);
    draft.operations.push(DraftOperation {
        name,
        weight,
        method,
        path,
        statuses,
        ..DraftOperation::default()
    });
}

/// From the first, ns. Requests of one second are spread evenly over it where the log has no parts of seconds.
fn offsets(times: &[i128], has_parts: bool) -> Vec<i128> {
    let first = times.first().copied().unwrap_or(0);
    if has_parts {
        return times.iter().map(|time| time - first).collect();
    }
    let seconds = times.chunk_by(|a, b| a == b);
    let spread = |second: &[i128]| {
        let (start, count) = (second.first().copied().unwrap_or(0) - first, second.len() as i128);
        (0..count).map(move |number| start + (2 * number + 1) * NS_PER_S / (2 * count)).collect::<Vec<_>>()
    };
    seconds.flat_map(spread).collect()
}

/// The rate as phases of equal length, each constant.
fn phases(offsets: &[i128]) -> String {
    let span_s = (offsets.last().copied().unwrap_or(0) / NS_PER_S + 1) as usize;
    let phase_s = span_s.div_ceil(PHASES).max(1);
    let mut counts = vec![0_u64; span_s.div_ceil(phase_s)];
    for offset in offsets {
        let at = (offset / NS_PER_S) as usize / phase_s;
        counts[at] += 1;
    }
    let phase =
        |count: u64| format!("{} for {phase_s}s", (count as f64 / phase_s as f64 * 1e3).round() / 1e3);
    counts.into_iter().map(phase).collect::<Vec<_>>().join(", ")
}

fn trace_text(offsets: &[i128], named: &str) -> String {
    let named: String = named.chars().filter(|c| !c.is_control()).collect();
    let mut text = format!("# Arrivals of {named}, seconds from the first.\n");
    for offset in offsets {
        // Writing to a String cannot fail.
        let _ = writeln!(text, "{}.{:09}", offset / NS_PER_S, offset % NS_PER_S);
    }
    text
}

#[cfg(test)]
#[path = "access_log_tests.rs"]
mod tests;
