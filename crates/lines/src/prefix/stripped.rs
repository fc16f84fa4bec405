//! A line whose prefix was taken off.

use std::borrow::Cow;

/// A line without its prefix.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Stripped<'a> {
    /// What the program wrote. A message of JSON may have several lines.
    pub text: Cow<'a, str>,
    /// When the collector took it, nanoseconds since 1970; without a zone as if it were UTC, absent where the prefix has no date.
    pub unix_ns: Option<i64>,
    /// The collector cut the line here: the next one goes on with it.
    pub goes_on: bool,
}

impl Stripped<'_> {
    /// The same, of no other text.
    pub(super) fn into_owned(self) -> Stripped<'static> {
        Stripped { text: Cow::Owned(self.text.into_owned()), unix_ns: self.unix_ns, goes_on: self.goes_on }
    }
}
