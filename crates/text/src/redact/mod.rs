//! Secrets are not stored: passwords, tokens and keys in command lines, environments, system properties, URLs and what
//! quotes them.
//!
//! Two nets, one behind the other. By *name*: what is given under a name such as `db.password` or `--token` is replaced where
//! it stands ([`words`], [`value`], [`text`]). By *value*: a [`Redactor`] learns from a command and its environment which values
//! were given under such names, and finds them in whatever quotes them: a server's output, a message, a result file.

mod find;
mod name;

pub use name::is_secret as is_secret_name;

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::ops::Range;

/// What stands in a secret's place.
pub const REDACTED: &str = "<redacted>";
/// A value is searched for in texts from this length on: of shorter ones, and of plain words and numbers, a text has many that
/// are none.
const VALUE_BYTES_MIN: usize = 6;
/// A value of one kind of characters (letters, digits) is searched for from this length on.
const PLAIN_VALUE_BYTES_MIN: usize = 12;

/// A command line.
pub fn words<T: AsRef<str>>(words: &[T]) -> Vec<String> {
    let found = find::in_words(words);
    words.iter().zip(found).map(|(word, ranges)| without(word.as_ref(), &ranges).into_owned()).collect()
}

/// One word of a command line: an option, a system property, a URL.
pub fn word(word: &str) -> Cow<'_, str> {
    without(word, &find::in_word(word))
}

/// What is given under a name: a variable of the environment, an option of a workload.
pub fn value<'a>(name: &str, value: &'a str) -> Cow<'a, str> {
    if is_secret_name(name) && !value.is_empty() { Cow::Borrowed(REDACTED) } else { word(value) }
}

/// A text that may quote such things.
pub fn text(text: &str) -> Cow<'_, str> {
    without(text, &find::in_text(text))
}

fn without<'a>(text: &'a str, ranges: &[Range<usize>]) -> Cow<'a, str> {
    if ranges.is_empty() {
        return Cow::Borrowed(text);
    }
    let (mut shown, mut at) = (String::with_capacity(text.len()), 0);
    for range in ranges {
        shown.push_str(&text[at..range.start]);
        shown.push_str(REDACTED);
        at = range.end;
    }
    shown.push_str(&text[at..]);
    Cow::Owned(shown)
}

/// Knows the secrets of a run by their values.
#[derive(Debug, Clone, Default)]
pub struct Redactor {
    /// The longest first: one may be the beginning of another.
    values: Vec<String>,
}

impl Redactor {
    /// Learns the secrets of a command line.
    pub fn learn_words<T: AsRef<str>>(&mut self, words: &[T]) {
        for (word, ranges) in words.iter().zip(find::in_words(words)) {
            self.learn_ranges(word.as_ref(), &ranges);
        }
    }

    /// Learns what is given under a name.
    pub fn learn_value(&mut self, name: &str, value: &str) {
        let whole = || std::iter::once(0..value.len()).collect();
        let ranges = if is_secret_name(name) { whole() } else { find::in_word(value) };
        self.learn_ranges(value, &ranges);
    }

    /// Learns the secrets of a text.
    pub fn learn_text(&mut self, text: &str) {
        self.learn_ranges(text, &find::in_text(text));
    }

    fn learn_ranges(&mut self, text: &str, ranges: &[Range<usize>]) {
        let mut values: BTreeSet<String> = self.values.drain(..).collect();
        values.extend(
            ranges.iter().map(|range| &text[range.clone()]).filter(|v| is_rare(v)).map(str::to_owned),
        );
        self.values.extend(values);
        self.values.sort_by_key(|value| std::cmp::Reverse(value.len()));
    }

    /// Values that are searched for in texts.
    pub fn values(&self) -> &[String] {
        &self.values
    }

    /// A text without secrets, by name and by value.
    pub fn text<'a>(&self, of: &'a str) -> Cow<'a, str> {
        let by_name = text(of);
        if !self.values.iter().any(|value| by_name.contains(value.as_str())) {
            return by_name;
        }
        Cow::Owned(self.values.iter().fold(by_name.into_owned(), |text, value| text.replace(value, REDACTED)))
    }
}

/// Whether a value is unlikely to stand in a text by chance. Placeholders are none yet.
fn is_rare(value: &str) -> bool {
    let kinds = [
        value.contains(|c: char| c.is_ascii_lowercase()),
        value.contains(|c: char| c.is_ascii_uppercase()),
        value.contains(|c: char| c.is_ascii_digit()),
        value.contains(|c: char| !c.is_ascii_alphanumeric()),
    ];
    let is_mixed = kinds.iter().filter(|kind| **kind).count() > 1;
    let is_placeholder = value.starts_with('{') && value.ends_with('}') || value == REDACTED;
    let bytes_min = if is_mixed { VALUE_BYTES_MIN } else { PLAIN_VALUE_BYTES_MIN };
    bytes_min <= value.len() && !is_placeholder
}

#[cfg(test)]
mod tests;
