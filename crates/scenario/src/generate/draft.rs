//! A scenario that is being made from what was recorded, and its text.

use crate::extract::ValueLocation;
use crate::forms::FormName;
use assay_model::schema;
use std::collections::BTreeMap;
use std::fmt::Write;

/// A variable of the environment in a text.
fn env(name: &str) -> String {
    format!("${{env:{name}}}")
}

/// A name for an environment variable or a value, of what it is about.
pub(super) fn name_of(text: &str, is_variable: bool) -> String {
    let clean: String = text
        .chars()
        .map(|c| match c {
            c if c.is_ascii_alphanumeric() && is_variable => c.to_ascii_uppercase(),
            c if c.is_ascii_alphanumeric() => c.to_ascii_lowercase(),
            _ if is_variable => '_',
            _ => '-',
        })
        .take(40)
        .collect();
    let clean = clean.trim_matches(['-', '_']);
    match clean.starts_with(|c: char| c.is_ascii_alphabetic()) {
        true => clean.to_owned(),
        false if is_variable => format!("V{clean}"),
        false => format!("v{clean}"),
    }
}

#[derive(Default)]
pub(super) struct Draft {
    /// What a reader should know, a line each.
    pub notes: Vec<String>,
    pub name: String,
    /// All operations are a session, in order; else they are drawn by their weights.
    pub is_journey: bool,
    pub values: BTreeMap<String, Vec<String>>,
    /// Values that are drawn otherwise, by name: what stands behind the name in the file.
    pub drawn: BTreeMap<String, String>,
    /// Files with rows, and what stands behind their names in the file.
    pub data: BTreeMap<String, &'static str>,
    pub extracts: Vec<DraftExtract>,
    pub operations: Vec<DraftOperation>,
    /// Text of the rate's schedule.
    pub schedule: Option<String>,
    /// Of the environment, by name.
    pub variables: BTreeMap<String, DraftVariable>,
}

/// A variable of the environment.
pub(super) struct DraftVariable {
    /// What it is, for whoever sets it.
    what: String,
    /// What it stands for: two that differ never share a name.
    stands_for: String,
}

pub(super) struct DraftExtract {
    pub name: String,
    /// Number of the operation.
    pub from: usize,
    pub place: ValueLocation,
}

#[derive(Default)]
pub(super) struct DraftOperation {
    pub name: String,
    pub weight: f64,
    pub method: String,
    pub path: String,
    pub headers: BTreeMap<String, String>,
    pub form: Option<BTreeMap<String, String>>,
    pub multipart: Option<BTreeMap<String, String>>,
    pub body: Option<String>,
    pub statuses: Vec<u16>,
    pub contains: Option<String>,
    /// Numbers among the extracts.
    pub requires: Vec<usize>,
    pub think_ms: Option<u64>,
    pub notes: Vec<String>,
}

fn quoted(text: &str) -> String {
    toml::Value::String(text.to_owned()).to_string()
}

/// A table on one line. Keys are not written as texts are: a key with a line's end in it may not stand on several lines.
fn table(entries: &BTreeMap<String, String>) -> String {
    let entries = entries.iter().map(|(key, text)| (key.clone(), toml::Value::String(text.clone())));
    toml::Value::Table(entries.collect()).to_string()
}

/// A comment cannot end by what it quotes.
fn comment(text: &str, out: &mut String) {
    let text: String = text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    let _ = writeln!(out, "# {text}");
}

impl Draft {
    /// Gives the operation a name that no other has.
    pub fn unique(&self, wanted: &str) -> String {
        let is_free = |name: &str| !self.operations.iter().any(|one| one.name == name);
        let numbered = (2..).map(|number| format!("{wanted} {number}"));
        std::iter::once(wanted.to_owned()).chain(numbered).find(|name| is_free(name)).unwrap_or_default()
    }

    /// The name of a value with these texts: one that is there already, or a new one.
    pub fn value(&mut self, wanted: &str, texts: Vec<String>) -> String {
        let numbered = (2..).map(|number| format!("{wanted}-{number}"));
        let mut names = std::iter::once(wanted.to_owned()).chain(numbered);
        let is_it = |name: &String| self.values.get(name).is_none_or(|known| *known == texts);
        let name = names.find(is_it).unwrap_or_default();
        self.values.insert(name.clone(), texts);
        name
    }

    /// The variable of the environment that stands for something: one that is there already, or a new one.
    pub fn variable(&mut self, about: &str, stands_for: &str, what: &str) -> String {
        let wanted = name_of(about, true);
        let numbered = (2..).map(|number| format!("{wanted}_{number}"));
        let mut names = std::iter::once(wanted.clone()).chain(numbered);
        let is_it =
            |name: &String| self.variables.get(name).is_none_or(|known| known.stands_for == stands_for);
        let name = names.find(is_it).unwrap_or_default();
        let variable = || DraftVariable { what: what.to_owned(), stands_for: stands_for.to_owned() };
        self.variables.entry(name.clone()).or_insert_with(variable);
        env(&name)
    }

    /// Its text. Writing to a String cannot fail.
    pub fn text(&self) -> String {
        let mut out = String::new();
        self.notes.iter().for_each(|note| comment(note, &mut out));
        for (name, variable) in &self.variables {
            comment(&format!("Set {name} in the environment: {}.", variable.what), &mut out);
        }
        let _ = write!(out, "schema = \"{}\"\nname = {}\n", schema::SCENARIO_FILE, quoted(&self.name));
        if let Some(schedule) = &self.schedule {
            let _ = write!(out, "\n[rate]\nschedule = {}\n", quoted(schedule));
        }
        if self.is_journey {
            self.journey(&mut out);
        }
        if !self.values.is_empty() || !self.drawn.is_empty() {
            out.push_str("\n[values]\n");
        }
        for (name, how) in &self.drawn {
            let _ = writeln!(out, "{name} = {how}");
        }
        for (name, values) in &self.values {
            let values: Vec<String> = values.iter().map(|value| quoted(value)).collect();
            let _ = writeln!(out, "{name} = {{ kind = \"list\", values = [{}] }}", values.join(", "));
        }
        if !self.extracts.is_empty() {
            out.push_str("\n[extract]\n");
        }
        for DraftExtract { name, from, place } in &self.extracts {
            let operation = quoted(&self.operations[*from].name);
            let _ = writeln!(out, "{name} = {{ operation = {operation}, {} }}", written(place));
        }
        for (file, how) in &self.data {
            let _ = write!(out, "\n[[data]]\nfile = {}\n{how}\n", quoted(file));
        }
        self.operations.iter().for_each(|operation| self.operation(operation, &mut out));
        out
    }

    /// A session is all operations, in order; its last is what is drawn, and ends it.
    fn journey(&self, out: &mut String) {
        let names: Vec<String> = self.operations.iter().map(|operation| quoted(&operation.name)).collect();
        let Some((last, start)) = names.split_last() else { return };
        let _ = write!(out, "\n[session]\nstart = [{}]\nrestart_after = [{last}]\n", start.join(", "));
    }

    fn operation(&self, operation: &DraftOperation, out: &mut String) {
        out.push('\n');
        operation.notes.iter().for_each(|note| comment(note, out));
        let _ =
            write!(out, "[[operation]]\nname = {}\nweight = {}\n", quoted(&operation.name), operation.weight);
        if operation.method != "GET" {
            let _ = writeln!(out, "method = {}", quoted(&operation.method));
        }
        let _ = writeln!(out, "path = {}", quoted(&operation.path));
        if !operation.headers.is_empty() {
            let _ = writeln!(out, "headers = {}", table(&operation.headers));
        }
        if let Some(form) = &operation.form {
            let _ = writeln!(out, "form = {}", table(form));
        } else if let Some(parts) = &operation.multipart {
            let _ = writeln!(out, "multipart = {}", table(parts));
        } else if let Some(body) = &operation.body {
            let _ = writeln!(out, "body = {}", quoted(body));
        }
        if !operation.statuses.is_empty() {
            let statuses: Vec<String> = operation.statuses.iter().map(u16::to_string).collect();
            let _ = writeln!(out, "status = [{}]", statuses.join(", "));
        }
        if let Some(contains) = &operation.contains {
            let _ = writeln!(out, "contains = {}", quoted(contains));
        }
        if let Some(first) = operation.requires.first() {
            let names: Vec<String> =
                operation.requires.iter().map(|at| quoted(&self.extracts[*at].name)).collect();
            let otherwise = quoted(&self.operations[self.extracts[*first].from].name);
            let _ = write!(out, "requires = [{}]\notherwise = {otherwise}\n", names.join(", "));
        }
        if let Some(ms) = operation.think_ms.filter(|ms| *ms > 0) {
            let _ = writeln!(out, "think_ms = {ms}");
        }
    }
}

/// The keys of an extract that say where it stands.
fn written(place: &ValueLocation) -> String {
    let text = |finder: &memchr::memmem::Finder| quoted(&String::from_utf8_lossy(finder.needle()));
    match place {
        ValueLocation::Between { after, before } => {
            format!("after = {}, before = {}", text(after), text(before))
        }
        ValueLocation::Json(pointer) => format!("json = {}", quoted(pointer)),
        ValueLocation::Regex(regex) => format!("regex = {}", quoted(regex.as_str())),
        ValueLocation::Header(name) => format!("header = {}", quoted(name)),
        ValueLocation::Field { form: None, field } => format!("field = {}", quoted(field)),
        ValueLocation::Field { form: Some(form), field } => {
            format!("{}, field = {}", written_form(form), quoted(field))
        }
        ValueLocation::Hidden { form } => written_form(form),
    }
}

fn written_form(form: &FormName) -> String {
    match form {
        FormName::Named(name) => format!("form = {}", quoted(name)),
        FormName::Number(number) => format!("form = {number}"),
    }
}
