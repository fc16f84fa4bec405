//! A prefix, and how it is taken off a line.

use super::element::Element;
use super::stripped::Stripped;
use std::borrow::Cow;

/// What stands before each line of an input; the default is nothing.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Prefix(pub(super) Vec<Element>);

impl Prefix {
    /// Whether lines stand as their program wrote them.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Takes it off a line, as far as the line has it: programs and collectors write other lines between.
    pub fn strip<'a>(&self, line: &'a str) -> Stripped<'a> {
        let mut stripped = Stripped { text: Cow::Borrowed(line), ..Stripped::default() };
        for element in &self.0 {
            let next = match &stripped.text {
                Cow::Borrowed(text) => element.take(text),
                Cow::Owned(text) => element.take(text).map(Stripped::into_owned),
            };
            match next {
                Some(next) => {
                    stripped.text = next.text;
                    stripped.unix_ns = next.unix_ns.or(stripped.unix_ns);
                    stripped.goes_on |= next.goes_on;
                }
                // Not every line is coloured.
                None if *element == Element::Colours => {}
                None => break,
            }
        }
        stripped
    }
}
