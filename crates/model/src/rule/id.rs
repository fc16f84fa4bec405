//! Names of rules, as findings are stored with them.

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize};
use std::borrow::Cow;

/// The id of a rule: words of small letters and digits, between them hyphens. One that this version does not know is read all the same, and
/// its finding is shown: an older program needs no list of the rules of a newer one.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(transparent)]
pub struct RuleId(Cow<'static, str>);

/// Bytes of an id.
const LENGTH_MAX: usize = 64;

/// The same as [`is_id`], for readers of the schema.
const SHAPE: &str = "^[a-z0-9]+(-[a-z0-9]+)*$";

/// Ids of earlier versions, and what they are called since.
const RENAMED: [(&str, &str); 5] = [
    ("huge-pages-unasked", "huge-pages-unrequested"),
    ("freed-but-resident", "retained-by-malloc"),
    ("stay", "keep-size"),
    ("go-under", "below-threshold"),
    ("go-past", "above-threshold"),
];

impl RuleId {
    /// An id that stands in the sources; one of another shape does not compile where it is a constant.
    pub const fn of(id: &'static str) -> RuleId {
        assert!(is_id(id), "words of small letters and digits, between them hyphens");
        RuleId(Cow::Borrowed(id))
    }

    /// The id as it is stored.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

const fn is_id(text: &str) -> bool {
    let bytes = text.as_bytes();
    let (mut at, mut is_in_word) = (0, false);
    while at < bytes.len() {
        match bytes[at] {
            b'a'..=b'z' | b'0'..=b'9' => is_in_word = true,
            b'-' if is_in_word => is_in_word = false,
            _ => return false,
        }
        at += 1;
    }
    is_in_word && bytes.len() <= LENGTH_MAX
}

impl<'de> Deserialize<'de> for RuleId {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let id = String::deserialize(deserializer)?;
        if !is_id(&id) {
            return Err(serde::de::Error::custom(
                "`rule` is not an id of a rule: words of small letters and digits, separated by hyphens",
            ));
        }
        let renamed = RENAMED.iter().find(|(old, _)| *old == id);
        Ok(RuleId(renamed.map_or(Cow::Owned(id), |(_, new)| Cow::Borrowed(*new))))
    }
}

impl JsonSchema for RuleId {
    fn schema_name() -> Cow<'static, str> {
        "RuleId".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "description": "The id of a rule: words of small letters and digits, between them hyphens. Newer versions have more.",
            "type": "string",
            "pattern": SHAPE,
            "maxLength": LENGTH_MAX,
        })
    }
}

impl std::fmt::Display for RuleId {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.pad(&self.0)
    }
}

impl PartialEq<str> for RuleId {
    fn eq(&self, other: &str) -> bool {
        self.0 == other
    }
}

impl PartialEq<&str> for RuleId {
    fn eq(&self, other: &&str) -> bool {
        self.0 == *other
    }
}
