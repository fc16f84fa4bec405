//! Text with `{name}` placeholders, taken apart once so that a request is put together without searching.

/// How a value is written into its surroundings.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Encoding {
    /// Percent-encoded, for paths and queries: all but letters, digits and `-._~`.
    Path,
    /// As in forms: like `Path`, with `+` for a space.
    Form,
    /// As it is, without control characters, which could forge a header.
    Header,
    /// Within a string of JSON.
    Json,
    /// As it is.
    Raw,
}

/// Where a placeholder's text comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Source {
    /// Number among the scenario's `[values]`.
    Drawn(usize),
    /// Number among the scenario's `[extract]`s.
    Extracted(usize),
    /// Numbers among the scenario's `[[data]]` and the columns of its file.
    Column(usize, usize),
    /// Number among the scenario's secrets.
    Secret(usize),
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum TemplatePart {
    Literal(Box<[u8]>),
    Placeholder(Source, Encoding),
}

/// Before the name of a variable of the environment.
pub(crate) const ENV: &str = "env:";

/// A text with placeholders.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Template {
    pub(crate) parts: Vec<TemplatePart>,
}

impl Template {
    /// Takes `text` apart. A brace that does not enclose a name is itself, so that JSON needs no escapes. `resolve`
    /// gives the origin of a name's text, or why there is none.
    pub(crate) fn parse(
        text: &str,
        encoding: Encoding,
        resolve: &dyn Fn(&str) -> Result<Source, String>,
    ) -> Result<Template, String> {
        let mut template = Template::default();
        let mut rest = text;
        while let Some(open) = rest.find('{') {
            let (before, from_brace) = rest.split_at(open);
            match placeholder(from_brace) {
                Some(name) => {
                    // A variable of the environment is `${env:NAME}`.
                    let before = match name.strip_prefix(ENV) {
                        Some(_) => before.strip_suffix('$').ok_or_else(|| format!("write ${{{name}}}"))?,
                        None => before,
                    };
                    template.literal(before.as_bytes());
                    template.parts.push(TemplatePart::Placeholder(resolve(name)?, encoding));
                    rest = &from_brace[name.len() + 2..];
                }
                None => {
                    template.literal(&rest.as_bytes()[..=open]);
                    rest = &rest[open + 1..];
                }
            }
        }
        template.literal(rest.as_bytes());
        Ok(template)
    }

    /// Whether it is always this path, whatever query may follow.
    pub(crate) fn is_path(&self, path: &[u8]) -> bool {
        let without_query = |of: &[u8]| of.split(|byte| *byte == b'?').next() == Some(path);
        matches!(self.parts.as_slice(), [TemplatePart::Literal(text)] if without_query(text))
    }

    /// Appends a literal, joined to a literal before it.
    pub(crate) fn literal(&mut self, bytes: &[u8]) {
        if bytes.is_empty() {
            return;
        }
        if let Some(TemplatePart::Literal(last)) = self.parts.last_mut() {
            *last = [last, bytes].concat().into();
        } else {
            self.parts.push(TemplatePart::Literal(bytes.into()));
        }
    }

    /// Its text with `1` in the place of each value, which can be a number as well as a text.
    pub(crate) fn with_ones(&self) -> Vec<u8> {
        let parts = self.parts.iter().map(|part| match part {
            TemplatePart::Literal(bytes) => &**bytes,
            TemplatePart::Placeholder(..) => b"1".as_slice(),
        });
        parts.collect::<Vec<_>>().concat()
    }

    /// Appends all parts of `other`.
    pub(crate) fn append(&mut self, other: Template) {
        for part in other.parts {
            match part {
                TemplatePart::Literal(bytes) => self.literal(&bytes),
                placeholder @ TemplatePart::Placeholder(..) => self.parts.push(placeholder),
            }
        }
    }

    /// The same with its literals encoded for a form too.
    pub(crate) fn with_literals_encoded(self) -> Template {
        let mut encoded = Template::default();
        for part in self.parts {
            match part {
                TemplatePart::Literal(bytes) => {
                    let mut out = Vec::new();
                    encode(&bytes, Encoding::Form, &mut out);
                    encoded.literal(&out);
                }
                placeholder @ TemplatePart::Placeholder(..) => encoded.parts.push(placeholder),
            }
        }
        encoded
    }

    /// The names and values of a list of cookies, `a=1; b={c}`. A part without a name is none of them.
    pub(crate) fn pairs(&self) -> Vec<(Vec<u8>, Template)> {
        let mut pairs = vec![Template::default()];
        for part in &self.parts {
            match part {
                TemplatePart::Literal(bytes) => {
                    for (number, piece) in bytes.split(|byte| *byte == b';').enumerate() {
                        if 0 < number {
                            pairs.push(Template::default());
                        }
                        pairs.iter_mut().last().into_iter().for_each(|last| last.literal(piece));
                    }
                }
                placeholder => {
                    pairs.iter_mut().last().into_iter().for_each(|last| last.parts.push(placeholder.clone()));
                }
            }
        }
        pairs.into_iter().filter_map(Template::split_name).collect()
    }

    fn split_name(mut self) -> Option<(Vec<u8>, Template)> {
        let TemplatePart::Literal(first) = self.parts.first()? else { return None };
        let equals = memchr::memchr(b'=', first)?;
        let (name, rest) = (first[..equals].trim_ascii().to_vec(), first[equals + 1..].to_vec());
        self.parts.remove(0);
        let mut value = Template::default();
        value.literal(&rest);
        value.append(self);
        Some((name, value))
    }

    /// Whether one of its literals holds some bytes.
    pub(crate) fn holds(&self, bytes: &[u8]) -> bool {
        let is_it = |part: &TemplatePart| match part {
            TemplatePart::Literal(literal) => memchr::memmem::find(literal, bytes).is_some(),
            TemplatePart::Placeholder(..) => false,
        };
        self.parts.iter().any(is_it)
    }

    /// Where the placeholders' texts come from.
    pub(crate) fn sources(&self) -> impl Iterator<Item = Source> {
        self.parts.iter().filter_map(|part| match part {
            TemplatePart::Placeholder(source, _) => Some(*source),
            TemplatePart::Literal(_) => None,
        })
    }
}

/// Whether a text begins with `{name}` or `{env:NAME}`.
pub(crate) fn begins_placeholder(text: &str) -> bool {
    placeholder(text).is_some()
}

/// The name in `{name}` at the start of `text`: a letter, then letters, digits, `-` and `_`.
fn placeholder(text: &str) -> Option<&str> {
    let name = text.strip_prefix('{')?.split_once('}')?.0;
    is_name(name.strip_prefix(ENV).unwrap_or(name)).then_some(name)
}

/// Whether a value can be called so.
pub(crate) fn is_name(name: &str) -> bool {
    name.starts_with(|first: char| first.is_ascii_alphabetic())
        && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '-' || c == '_')
}

/// Appends `value` to `out` as its surroundings need it.
pub(crate) fn encode(value: &[u8], encoding: Encoding, out: &mut Vec<u8>) {
    const HEX: &[u8; 16] = b"0123456789ABCDEF";
    match encoding {
        Encoding::Raw => out.extend_from_slice(value),
        Encoding::Json => {
            let quoted = serde_json::Value::from(String::from_utf8_lossy(value)).to_string();
            out.extend_from_slice(&quoted.as_bytes()[1..quoted.len() - 1]);
        }
        Encoding::Header => out.extend(value.iter().filter(|byte| **byte >= b' ' && **byte != 0x7f)),
        Encoding::Path | Encoding::Form => {
            for &byte in value {
                match byte {
                    b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' => out.push(byte),
                    b' ' if encoding == Encoding::Form => out.push(b'+'),
                    _ => out.extend([b'%', HEX[usize::from(byte >> 4)], HEX[usize::from(byte & 15)]]),
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn resolve(name: &str) -> Result<Source, String> {
        if name == "id" { Ok(Source::Drawn(0)) } else { Err(format!("no value {name}")) }
    }

    #[test]
    fn braces_that_enclose_no_name_are_themselves() {
        let template =
            Template::parse(r#"{"id":{id},"a":{}}"#, Encoding::Raw, &resolve).expect("known names");
        let literal = |text: &str| TemplatePart::Literal(text.as_bytes().into());
        assert_eq!(
            template.parts,
            [
                literal(r#"{"id":"#),
                TemplatePart::Placeholder(Source::Drawn(0), Encoding::Raw),
                literal(r#","a":{}}"#)
            ]
        );
    }

    #[test]
    fn an_unknown_name_is_told() {
        assert_eq!(Template::parse("/x/{oops}", Encoding::Path, &resolve), Err("no value oops".to_owned()));
    }

    #[test]
    fn values_are_encoded_as_their_surroundings_need() {
        let encoded = |encoding| {
            let mut out = Vec::new();
            encode(b"a b&c\r\n", encoding, &mut out);
            String::from_utf8(out).expect("ASCII in, ASCII out")
        };
        assert_eq!(encoded(Encoding::Path), "a%20b%26c%0D%0A");
        assert_eq!(encoded(Encoding::Form), "a+b%26c%0D%0A");
        assert_eq!(encoded(Encoding::Header), "a b&c");
        assert_eq!(encoded(Encoding::Json), "a b&c\\r\\n");
        assert_eq!(encoded(Encoding::Raw), "a b&c\r\n");
    }

    proptest! {
        #[test]
        fn any_text_is_taken_apart_without_panic(text in ".{0,200}") {
            let _ = Template::parse(&text, Encoding::Raw, &resolve);
        }

        #[test]
        fn text_without_names_comes_back_whole(text in "[{}\" :,0-9é]{0,100}") {
            let template = Template::parse(&text, Encoding::Raw, &resolve).expect("no names in it");
            let whole: Vec<u8> = template.parts.iter().flat_map(|part| match part {
                TemplatePart::Literal(bytes) => bytes.to_vec(),
                TemplatePart::Placeholder(..) => Vec::new(),
            }).collect();
            prop_assert_eq!(whole, text.as_bytes());
        }
    }
}
