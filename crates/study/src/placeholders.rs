//! Filling in `{port}` and its like, and splitting command lines.

use assay_model::Subject;
use std::collections::BTreeMap;
use std::path::Path;

/// Names that may stand in braces; options come as `option.NAME`.
const KNOWN: [&str; 6] = ["java", "jvm_options", "server_dir", "cache", "workload_dir", "seed"];
const KNOWN_OF_SERVERS: [&str; 4] = ["port", "postgresql_port", "postgresql_user", "postgresql_password"];
const KNOWN_OF_BENCHMARKS: [&str; 1] = ["results"];

/// What the names in braces stand for.
#[derive(Debug, Clone, Default)]
pub(crate) struct Placeholders(BTreeMap<String, String>);

impl Placeholders {
    pub fn set(&mut self, name: &str, value: impl Into<String>) {
        self.0.insert(name.to_owned(), value.into());
    }

    pub fn set_path(&mut self, name: &str, path: &Path) {
        self.set(name, path.to_string_lossy());
    }

    pub fn set_options(&mut self, options: &BTreeMap<String, String>) {
        options.iter().for_each(|(name, value)| self.set(&format!("option.{name}"), value));
    }

    /// Fills in a text; a name that has no value here stays as it is, [`check`] has told of unknown ones.
    pub fn fill(&self, text: &str) -> String {
        let mut filled = String::with_capacity(text.len());
        for part in parts(text) {
            match part {
                Part::Text(text) => filled.push_str(text),
                Part::Name(name) => match self.0.get(name) {
                    Some(value) => filled.push_str(value),
                    None => filled.extend(["{", name, "}"]),
                },
            }
        }
        filled
    }
}

enum Part<'a> {
    Text(&'a str),
    Name(&'a str),
}

/// Texts and names in turn. Braces around anything but a name (JSON in an option) are text.
fn parts(text: &str) -> Vec<Part<'_>> {
    let is_name = |name: &str| {
        name.starts_with(|c: char| c.is_ascii_lowercase())
            && name.chars().all(|c| c.is_ascii_alphanumeric() || "_.-".contains(c))
    };
    let (mut parts, mut rest) = (Vec::new(), text);
    while let Some(open) = rest.find('{') {
        let after = &rest[open + 1..];
        match after.find(['{', '}']).filter(|end| after[*end..].starts_with('}') && is_name(&after[..*end])) {
            Some(end) => {
                parts.push(Part::Text(&rest[..open]));
                parts.push(Part::Name(&after[..end]));
                rest = &after[end + 1..];
            }
            None => {
                parts.push(Part::Text(&rest[..=open]));
                rest = after;
            }
        }
    }
    parts.push(Part::Text(rest));
    parts
}

/// The names in a text that mean nothing, each with a hint.
pub(crate) fn check(text: &str, subject: Subject, options: &BTreeMap<String, Vec<String>>) -> Vec<String> {
    let of_subject: &[&str] = match subject {
        Subject::Server => &KNOWN_OF_SERVERS,
        Subject::Benchmark => &KNOWN_OF_BENCHMARKS,
    };
    let known: Vec<String> = KNOWN
        .iter()
        .chain(of_subject)
        .map(|k| (*k).to_owned())
        .chain(options.keys().map(|o| format!("option.{o}")))
        .collect();
    let unknown = parts(text).into_iter().filter_map(|part| match part {
        Part::Name(name) if !known.iter().any(|k| k == name) => Some(name),
        _ => None,
    });
    unknown
        .map(|name| {
            format!(
                "unknown placeholder {{{name}}}{}",
                assay_text::near::hint(name, known.iter().map(String::as_str))
            )
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_filled_and_other_braces_stay() {
        let mut names = Placeholders::default();
        names.set("port", "8080");
        assert_eq!(names.fill("http://127.0.0.1:{port}/x"), "http://127.0.0.1:8080/x");
        assert_eq!(names.fill(r#"{"a": {port}} { {{port}"#), r#"{"a": 8080} { {8080"#);
        assert_eq!(names.fill("{java}"), "{java}");
    }

    #[test]
    fn an_unknown_name_is_told_with_the_nearest_right_one() {
        let found = check("--port {prot} {option.data} {port}", Subject::Server, &BTreeMap::new());
        assert_eq!(found.len(), 2);
        assert_eq!(found[0], "unknown placeholder {prot}; did you mean `port`?");
        assert_eq!(check("{port} {results}", Subject::Benchmark, &BTreeMap::new()).len(), 1);
    }
}
