//! Filling in `{port}` and its like.

use std::collections::BTreeMap;
use std::path::Path;

/// What the names in braces stand for.
#[derive(Debug, Clone, Default)]
pub struct Placeholders(BTreeMap<String, String>);

impl Placeholders {
    /// Gives a name its value.
    pub fn set(&mut self, name: &str, value: impl Into<String>) {
        self.0.insert(name.to_owned(), value.into());
    }

    /// Gives a name a path.
    pub fn set_path(&mut self, name: &str, path: &Path) {
        self.set(name, path.to_string_lossy());
    }

    /// Gives each option its word, as `option.NAME`.
    pub fn set_options(&mut self, options: &BTreeMap<String, String>) {
        options.iter().for_each(|(name, value)| self.set(&format!("option.{name}"), value));
    }

    /// Fills in a text; a name without a value stays as it is: [`unknown_names`] has reported it.
    pub fn fill(&self, text: &str) -> String {
        let mut filled = String::with_capacity(text.len());
        for part in parts(text) {
            match part {
                Segment::Text(text) => filled.push_str(text),
                Segment::Name(name) => match self.0.get(name) {
                    Some(value) => filled.push_str(value),
                    None => filled.extend(["{", name, "}"]),
                },
            }
        }
        filled
    }
}

enum Segment<'a> {
    Text(&'a str),
    Name(&'a str),
}

/// Texts and names in turn. Braces around anything but a name (JSON in an option) are text.
fn parts(text: &str) -> Vec<Segment<'_>> {
    let is_name = |name: &str| {
        name.starts_with(|c: char| c.is_ascii_lowercase())
            && name.chars().all(|c| c.is_ascii_alphanumeric() || "_.-".contains(c))
    };
    let (mut parts, mut rest) = (Vec::new(), text);
    while let Some(open) = rest.find('{') {
        let after = &rest[open + 1..];
        match after.find(['{', '}']).filter(|end| after[*end..].starts_with('}') && is_name(&after[..*end])) {
            Some(end) => {
                parts.push(Segment::Text(&rest[..open]));
                parts.push(Segment::Name(&after[..end]));
                rest = &after[end + 1..];
            }
            None => {
                parts.push(Segment::Text(&rest[..=open]));
                rest = after;
            }
        }
    }
    parts.push(Segment::Text(rest));
    parts
}

/// The names in a text that are not known.
pub fn unknown_names<'a>(text: &'a str, known: &[String]) -> Vec<&'a str> {
    let unknown = |part| match part {
        Segment::Name(name) if !known.iter().any(|k| k == name) => Some(name),
        _ => None,
    };
    parts(text).into_iter().filter_map(unknown).collect()
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
    fn names_that_are_not_known_are_found() {
        let known = ["port".to_owned(), "option.data".to_owned()];
        assert_eq!(
            unknown_names("--port {prot} {option.data} {port} {a-1.port}", &known),
            ["prot", "a-1.port"]
        );
    }
}
