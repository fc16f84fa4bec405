//! A mix from an access log: requests of the same method and path template, with how often they came, and when.

mod arrivals;
mod shape;

use super::Generated;
use super::draft::Draft;
use super::log_line::LogLines;
use crate::ScenarioError;
use arrivals::{offsets, phases, trace_text};
use assay_lines::{Decoded, Prefix, PrefixSearch, unpacked};
use shape::{Kind, Shape, join_siblings, request};
use std::collections::HashMap;
use std::io::{self, BufRead, BufReader, Read};

/// Longest line that is read, bytes; the rest of a longer one is skipped.
const LINE_BYTES_MAX: u64 = 64 << 10;
/// Most requests whose times are kept.
const REQUESTS_MAX: usize = 5_000_000;
/// Most templates that are counted one by one; the others are only counted together.
const TEMPLATES_MAX: usize = 20_000;
/// Most operations that are written, the commonest ones.
const OPERATIONS_MAX: usize = 50;
/// First lines by which it is decided what collectors of logs put before each.
const LINES_LOOKED_AT: usize = 200;

/// What is read.
pub struct AccessLog<'a> {
    /// Name of the file, for messages.
    pub named: &'a str,
    /// Name of the file of arrival times that the scenario is to name; without one the rate is written as phases.
    pub trace: Option<&'a str>,
}

/// Makes a scenario of an access log.
///
/// # Errors
/// The log cannot be read, or no line of it is a request that can be sent again.
pub fn from_access_log(mut from: impl BufRead, of: &AccessLog) -> Result<Generated, ScenarioError> {
    let wrong = |what: String| ScenarioError::Recording(format!("access log {}: {what}", of.named));
    let mut log = Reading::default();
    unpacked(&mut from, &mut |reader| read_lines(&mut BufReader::new(Decoded::new(reader)), &mut log))
        .map_err(|error| wrong(error.to_string()))?;
    log.decide();
    log.generated(of).map_err(wrong)
}

fn read_lines(from: &mut impl BufRead, log: &mut Reading) -> io::Result<()> {
    let mut bytes = Vec::new();
    loop {
        bytes.clear();
        if from.by_ref().take(LINE_BYTES_MAX).read_until(b'\n', &mut bytes)? == 0 {
            return Ok(());
        }
        if !bytes.ends_with(b"\n") && bytes.len() as u64 == LINE_BYTES_MAX {
            skip_line(from)?;
        }
        log.collected(String::from_utf8_lossy(&bytes).trim_end_matches(['\r', '\n']));
    }
}

fn skip_line(from: &mut impl BufRead) -> io::Result<()> {
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
    /// First lines, and what stands before each, until that is decided.
    looked_at: Vec<String>,
    search: PrefixSearch,
    prefix: Option<Prefix>,
    log_lines: LogLines,
    lines: u64,
    not_understood: u64,
    first_not_understood: Option<u64>,
    /// Requests with a body, which a log does not keep.
    with_body: u64,
    /// Requests whose client went away before the answer.
    aborted: u64,
    /// Requests with a session in their path.
    with_session: u64,
    beyond_templates: u64,
    beyond_times: u64,
    kinds: HashMap<Shape, Kind>,
    times: Vec<i128>,
    has_parts: bool,
}

impl Reading {
    /// A line as it was collected.
    fn collected(&mut self, line: &str) {
        let Some(prefix) = &self.prefix else {
            self.search
                .look(line, &|text| LogLines::is_comment(text) || LogLines::default().entry(text).is_some());
            self.looked_at.push(line.to_owned());
            if self.search.is_sure() || self.looked_at.len() == LINES_LOOKED_AT {
                self.decide();
            }
            return;
        };
        if prefix.is_empty() {
            self.line(line);
        } else {
            let text = prefix.strip(line).text.into_owned();
            text.lines().for_each(|line| self.line(line));
        }
    }

    /// Settles the prefix, and reads the lines that waited for that.
    fn decide(&mut self) {
        if self.prefix.is_none() {
            self.prefix = Some(self.search.best().unwrap_or_default());
            let lines = std::mem::take(&mut self.looked_at);
            lines.iter().for_each(|line| self.collected(line));
        }
    }

    fn line(&mut self, line: &str) {
        if line.trim().is_empty() {
            return;
        }
        self.lines += 1;
        let Some(entry) = self.log_lines.entry(line) else {
            if !LogLines::is_comment(line) {
                self.not_understood += 1;
                self.first_not_understood.get_or_insert(self.lines);
            }
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
        let request = request(&entry);
        if self.kinds.len() == TEMPLATES_MAX && !self.kinds.contains_key(&request.shape) {
            self.kinds = join_siblings(std::mem::take(&mut self.kinds));
        }
        if self.kinds.len() == TEMPLATES_MAX && !self.kinds.contains_key(&request.shape) {
            self.beyond_templates += 1;
            return;
        }
        self.has_parts |= !entry.is_whole_second;
        self.times.push(entry.time_ns);
        self.with_session += u64::from(request.has_session);
        // NGINX, Amazon's load balancer, and proxies that have no status to write.
        let is_aborted = matches!(entry.status, Some(0 | 460 | 499));
        self.aborted += u64::from(is_aborted);
        let kind = self.kinds.entry(request.shape.clone()).or_default();
        kind.add(request, entry.status.filter(|_| !is_aborted));
    }

    fn generated(mut self, of: &AccessLog) -> Result<Generated, String> {
        if self.times.is_empty() {
            return Err(match self.first_not_understood {
                Some(line) if self.with_body == 0 => format!(
                    "none of its {} lines is a request (the first that was not understood is {line}). \
                        Readable forms: common and combined with servers' additions, W3C, HAProxy, AWS load \
                        balancers, and JSON lines with method, path and time",
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
        let mut kinds: Vec<(Shape, Kind)> =
            join_siblings(std::mem::take(&mut self.kinds)).into_iter().collect();
        kinds.sort_by(|(a_shape, a), (b_shape, b)| {
            b.requests.cmp(&a.requests).then_with(|| a_shape.cmp(b_shape))
        });
        let kept: u64 = kinds.iter().take(OPERATIONS_MAX).map(|(_, kind)| kind.requests).sum();
        let mut draft = Draft { name: format!("from {}", of.named), ..Draft::default() };
        self.notes(&mut draft, kinds.len(), kept);
        for (shape, kind) in kinds.into_iter().take(OPERATIONS_MAX) {
            shape.operation(kind, &mut draft);
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
                "Made from an access log: {} lines, including {requests} requests that can be sent again.",
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
                "{} requests were left out: they have a body, which a log does not keep.",
                self.with_body
            ),
        );
        note(
            self.aborted > 0,
            format!(
                "{} requests were given up by their client before the answer. Sent again, they wait for it.",
                self.aborted
            ),
        );
        note(
            self.with_session > 0,
            format!(
                "{} requests have a session in their path (;jsessionid=), which is left out: the server gives a new one.",
                self.with_session
            ),
        );
        let beyond = self.beyond_times + self.beyond_templates;
        note(beyond > 0, format!("{beyond} requests were too many, or too many kinds, and were left out."));
        note(
            kinds > OPERATIONS_MAX,
            format!(
                "The {OPERATIONS_MAX} commonest of {kinds} kinds are below, {kept} of {requests} requests."
            ),
        );
        let how = if self.has_parts {
            "as logged"
        } else {
            "spread evenly within each second, since the log has no parts of seconds"
        };
        note(true, format!("Arrivals are {how}."));
        note(
            true,
            "A log has no headers: what clients asked for by them (compression, login, cookies, connections) is not in the scenario."
                .to_owned(),
        );
    }
}

#[cfg(test)]
mod tests;
