//! A TOML text with its lines, checked against the JSON schema of its form.
//!
//! Serde ends at the first mistake, and a person wants all of them. So a walk over the parsed text compares its shape with the schema
//! that is generated from the types that serde fills: unknown and missing keys, wrong kinds of values, unknown words. Serde takes every
//! text without such mistakes.

use crate::error::Diagnostic;
use crate::file::units::{DURATION_FORMAT, SIZE_FORMAT, SWAP_FORMAT, parse_duration, parse_size, parse_swap};
use assay_text::file::{TextError, read_text};
use assay_text::near::{hint, nearest};
use serde::de::DeserializeOwned;
use serde_json::Value as Json;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// Largest file that is read.
const FILE_BYTES_MAX: u64 = 1 << 20;

/// Mistakes of one file with their lines.
#[derive(Debug, Clone)]
pub(crate) struct Document {
    pub file: PathBuf,
    /// Line of each key, by path: `factor.0.level.1.heap`.
    lines: BTreeMap<String, usize>,
    /// Paths of values with a wrong shape: mistakes that follow from them are not reported.
    wrong: Vec<String>,
    pub found: Vec<Diagnostic>,
}

impl Document {
    /// Reads a file of bounded size.
    pub fn read(file: &Path) -> Result<String, Diagnostic> {
        let wrong = |line, message| Diagnostic { file: file.to_owned(), line, message, environment: false };
        read_text(file, FILE_BYTES_MAX).map_err(|error| match error {
            TextError::File(error) => wrong(None, format!("cannot be read: {error}")),
            TextError::Line(line, what) => wrong(Some(line), what.to_owned()),
        })
    }

    /// Parses and checks the shape. The document holds what was found; it is empty of places if the text is no TOML.
    pub fn parse(file: &Path, text: &str, schema: &Json) -> Document {
        let mut document =
            Document { file: file.to_owned(), lines: BTreeMap::new(), wrong: Vec::new(), found: Vec::new() };
        let (table, errors) = DeTable::parse_recoverable(text);
        let lines = LineIndex::of(text);
        for error in &errors {
            let line = error.span().map(|span| lines.line_at(span.start));
            document.add_at(line, format!("this is not TOML: {}", error.message()));
        }
        if errors.is_empty() {
            let mut walk = Walk { document: &mut document, lines: &lines, root: schema };
            walk.table(table.get_ref(), table.span().start, schema, "");
        }
        document
    }

    /// The same without lines, for a text that no person has written.
    pub fn without_lines(mut self) -> Document {
        self.lines.clear();
        self.found.iter_mut().for_each(|found| found.line = None);
        self
    }

    /// The text as a value, without the values of wrong shape; absent where these cannot be left out alone.
    pub fn rest<T: DeserializeOwned>(&self, text: &str) -> Option<T> {
        let mut table: toml::Table = toml::from_str(text).ok()?;
        self.wrong.iter().try_for_each(|path| remove(&mut table, path))?;
        table.try_into().ok()
    }

    /// Reports a mistake at a key; at the nearest one above it where the key is missing. Consequences of a mistake that is reported
    /// already are left out.
    pub fn add(&mut self, path: &str, message: impl Into<String>) {
        let is_within = |inner: &str, outer: &str| {
            inner.strip_prefix(outer).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
        };
        let follows = |wrong: &String| is_within(path, wrong) || (!path.is_empty() && is_within(wrong, path));
        if self.wrong.iter().any(follows) {
            return;
        }
        let line = self.line_of(path);
        self.add_at(line, message.into());
    }

    /// Reports that the environment lacks what a key asks for.
    pub fn add_missing(&mut self, path: &str, message: impl Into<String>) {
        self.add(path, message);
        if let Some(last) = self.found.last_mut() {
            last.environment = true;
        }
    }

    fn add_at(&mut self, line: Option<usize>, message: String) {
        self.found.push(Diagnostic { file: self.file.clone(), line, message, environment: false });
    }

    fn line_of(&self, path: &str) -> Option<usize> {
        let mut path = path;
        loop {
            if let Some(line) = self.lines.get(path) {
                return Some(*line);
            }
            path = path.rsplit_once('.')?.0;
        }
    }
}

/// Where lines begin.
struct LineIndex(Vec<usize>);

impl LineIndex {
    fn of(text: &str) -> Self {
        LineIndex(text.bytes().enumerate().filter(|(_, b)| *b == b'\n').map(|(at, _)| at).collect())
    }

    fn line_at(&self, offset: usize) -> usize {
        self.0.partition_point(|newline| *newline < offset) + 1
    }
}

struct Walk<'a> {
    document: &'a mut Document,
    lines: &'a LineIndex,
    root: &'a Json,
}

impl<'a> Walk<'a> {
    fn table(&mut self, table: &DeTable<'_>, offset: usize, schema: &'a Json, path: &str) {
        let properties = schema.get("properties").and_then(Json::as_object);
        let others = schema.get("additionalProperties").filter(|others| others.is_object());
        let line = self.lines.line_at(offset);
        for (key, value) in table.iter() {
            let path = join(path, key.get_ref());
            let line = self.lines.line_at(key.span().start);
            self.document.lines.insert(path.clone(), line);
            match properties.and_then(|p| p.get(key.get_ref().as_ref())).or(others) {
                Some(schema) => self.value(value, schema, &path, line),
                None => {
                    let known = properties.into_iter().flatten().map(|(name, _)| name.as_str());
                    let known: Vec<&str> = known.collect();
                    let what = format!(
                        "unknown key `{}`{}",
                        key.get_ref(),
                        hint(key.get_ref(), known.iter().copied())
                    );
                    self.document.add_at(Some(line), what);
                    // That the key is missing which was meant follows.
                    let meant = nearest(key.get_ref(), known).map(|meant| above(&path, meant));
                    self.document.wrong.extend(meant);
                }
            }
        }
        for name in
            schema.get("required").and_then(Json::as_array).into_iter().flatten().filter_map(Json::as_str)
        {
            if !table.keys().any(|key| key.get_ref() == name) {
                let of =
                    if path.is_empty() { "the file".to_owned() } else { format!("`{}`", readable(path)) };
                self.document.add_at(Some(line), format!("{of} lacks the key `{name}`"));
            }
        }
    }

    fn value(&mut self, value: &Spanned<DeValue<'_>>, schema: &'a Json, path: &str, line: usize) {
        let schema = self.resolved(schema);
        if let Some(choices) = alternatives(schema) {
            return self.one_of(value, choices, path, line);
        }
        if !accepts(schema, value.get_ref()) {
            let message = format!("`{}` must be {}", readable(path), kind_of(schema));
            return self.add_wrong(path, line, message);
        }
        match value.get_ref() {
            DeValue::Table(table) => self.table(table, value.span().start, schema, path),
            DeValue::Array(items) => {
                let Some(of_items) = schema.get("items") else { return };
                for (index, item) in items.iter().enumerate() {
                    let path = join(path, &index.to_string());
                    let line = self.lines.line_at(item.span().start);
                    self.document.lines.insert(path.clone(), line);
                    self.value(item, of_items, &path, line);
                }
            }
            DeValue::String(text) => {
                if let Err(what) = check_text(schema, text) {
                    self.add_wrong(path, line, format!("`{}`: {what}", readable(path)));
                }
            }
            _ => {}
        }
    }

    /// A value with several forms: the first that accepts its kind is meant.
    fn one_of(&mut self, value: &Spanned<DeValue<'_>>, choices: &'a [Json], path: &str, line: usize) {
        let choices: Vec<&'a Json> =
            choices.iter().map(|c| self.resolved(c)).filter(|c| kind_name(c) != Some("null")).collect();
        // Words with a description each are alternatives of one word.
        let words: Vec<&str> = choices.iter().filter_map(|c| c.get("const").and_then(Json::as_str)).collect();
        if !words.is_empty()
            && words.len() == choices.len()
            && let DeValue::String(text) = value.get_ref()
        {
            if !words.contains(&text.as_ref()) {
                let what = format!("`{}`: unknown word `{text}`{}", readable(path), hint(text, words));
                self.add_wrong(path, line, what);
            }
            return;
        }
        match choices.iter().find(|schema| accepts(schema, value.get_ref()) || alternatives(schema).is_some())
        {
            Some(schema) => self.value(value, schema, path, line),
            None => {
                let kinds: Vec<String> = choices.iter().map(|c| kind_of(c)).collect();
                let message = format!("`{}` must be {}", readable(path), kinds.join(" or "));
                self.add_wrong(path, line, message);
            }
        }
    }

    fn add_wrong(&mut self, path: &str, line: usize, message: String) {
        self.document.add_at(Some(line), message);
        self.document.wrong.push(path.to_owned());
    }

    fn resolved(&self, schema: &'a Json) -> &'a Json {
        let name = schema.get("$ref").and_then(Json::as_str).and_then(|r| r.strip_prefix("#/$defs/"));
        name.and_then(|name| self.root.get("$defs")?.get(name)).unwrap_or(schema)
    }
}

fn alternatives(schema: &Json) -> Option<&[Json]> {
    ["anyOf", "oneOf"].into_iter().find_map(|key| schema.get(key)?.as_array()).map(Vec::as_slice)
}

/// The kind that a schema asks for; of `["string", "null"]` the first, since TOML has no null.
fn kind_name(schema: &Json) -> Option<&str> {
    match schema.get("type")? {
        Json::Array(kinds) => kinds.first()?.as_str(),
        kind => kind.as_str(),
    }
}

fn accepts(schema: &Json, value: &DeValue<'_>) -> bool {
    let number = |value: f64| {
        let bound = |key: &str| schema.get(key).and_then(Json::as_f64);
        bound("minimum").is_none_or(|min| min <= value) && bound("maximum").is_none_or(|max| value <= max)
    };
    let integer = |i: &toml::de::DeInteger<'_>| i64::from_str_radix(i.as_str(), i.radix()).ok();
    match (kind_name(schema), value) {
        (None, _)
        | (Some("string"), DeValue::String(_))
        | (Some("boolean"), DeValue::Boolean(_))
        | (Some("array"), DeValue::Array(_))
        | (Some("object"), DeValue::Table(_)) => true,
        (Some("integer" | "number"), DeValue::Integer(i)) => integer(i).is_some_and(|i| number(i as f64)),
        (Some("number"), DeValue::Float(f)) => {
            f.as_str().parse().is_ok_and(|f: f64| f.is_finite() && number(f))
        }
        _ => false,
    }
}

fn kind_of(schema: &Json) -> String {
    let low = schema.get("minimum").and_then(Json::as_f64).map(|min| format!(", {min} or more"));
    match kind_name(schema) {
        Some("string") => "a text in quotes".to_owned(),
        Some("boolean") => "true or false".to_owned(),
        Some("array") => "a list".to_owned(),
        Some("object") => "a table".to_owned(),
        Some("integer") => format!("a whole number{}", low.unwrap_or_default()),
        Some("number") => format!("a number{}", low.unwrap_or_default()),
        other => other.unwrap_or("something else").to_owned(),
    }
}

fn check_text(schema: &Json, text: &str) -> Result<(), String> {
    match schema.get("format").and_then(Json::as_str) {
        Some(DURATION_FORMAT) => return parse_duration(text).map(|_| ()),
        Some(SIZE_FORMAT) => return parse_size(text).map(|_| ()),
        Some(SWAP_FORMAT) => return parse_swap(text).map(|_| ()),
        _ => {}
    }
    let Some(words) = schema.get("enum").and_then(Json::as_array) else { return Ok(()) };
    let words: Vec<&str> = words.iter().filter_map(Json::as_str).collect();
    if words.contains(&text) { Ok(()) } else { Err(format!("unknown word `{text}`{}", hint(text, words))) }
}

/// Takes a value out; for an item of a list the whole list, so that the places of the others stay. `None` where there is none.
fn remove(table: &mut toml::Table, path: &str) -> Option<()> {
    let Some((key, rest)) = path.split_once('.') else {
        table.remove(path);
        return Some(());
    };
    let of_table = |value: &mut toml::Value, rest: &str| value.as_table_mut().and_then(|t| remove(t, rest));
    match (table.get_mut(key)?, rest.split_once('.')) {
        (toml::Value::Array(items), Some((index, rest))) => {
            of_table(items.get_mut(index.parse::<usize>().ok()?)?, rest)
        }
        (toml::Value::Array(_), None) => table.remove(key).map(drop),
        (value, _) => of_table(value, rest),
    }
}

/// The path of another key beside the last one of a path.
fn above(path: &str, key: &str) -> String {
    join(path.rsplit_once('.').map_or("", |(above, _)| above), key)
}

fn join(path: &str, key: &str) -> String {
    if path.is_empty() { key.to_owned() } else { format!("{path}.{key}") }
}

/// `factor.0.level.1.heap` without the indices: the message has the line.
fn readable(path: &str) -> String {
    let words: Vec<&str> = path.split('.').filter(|part| part.parse::<usize>().is_err()).collect();
    words.join(".")
}
