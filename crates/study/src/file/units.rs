//! Durations and sizes as study files write them: `"30s"`, `"1g"`.

use assay_text::{duration, size};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::borrow::Cow;
use std::time::Duration;

/// Name of the format in the JSON schema, by which the shape check finds [`parse_duration`].
pub(crate) const DURATION_FORMAT: &str = "assay-duration";
/// Name of the format in the JSON schema, by which the shape check finds [`parse_size`].
pub(crate) const SIZE_FORMAT: &str = "assay-size";

/// Name of the format in the JSON schema, by which the shape check finds [`parse_swap`].
pub(crate) const SWAP_FORMAT: &str = "assay-swap";
const OFF: &str = "off";

/// A duration, written with its unit: `"500ms"`, `"30s"`, `"2m"`, `"1h"`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Seconds(pub f64);

impl Seconds {
    /// The same as the standard library's type.
    pub fn duration(self) -> Duration {
        Duration::from_secs_f64(self.0)
    }
}

/// A size as JVM options write it: `"96m"`, `"1g"`, `"2200m"`; whole KiB.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Size {
    /// The size.
    pub bytes: u64,
}

/// Swap, written `"off"` or as a size.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Swap {
    /// None.
    Off,
    /// This size.
    Of(Size),
}

impl Swap {
    /// How much that is.
    pub fn bytes(self) -> u64 {
        match self {
            Swap::Off => 0,
            Swap::Of(size) => size.bytes,
        }
    }
}

impl From<Duration> for Seconds {
    fn from(duration: Duration) -> Self {
        Seconds(duration.as_secs_f64())
    }
}

impl Size {
    /// In the form that `-Xmx` takes, exact.
    pub fn option_text(self) -> String {
        size::option(self.bytes)
    }
}

/// Parses `"30s"`.
///
/// # Errors
/// The mistake, and a correct form.
pub(crate) fn parse_duration(text: &str) -> Result<Seconds, String> {
    duration::parse(text).map(|duration| Seconds(duration.as_secs_f64()))
}

/// Parses `"1g"`.
///
/// # Errors
/// The mistake, and a correct form.
pub fn parse_size(text: &str) -> Result<Size, String> {
    size::parse_with_unit(text).map(|bytes| Size { bytes })
}

/// Parses `"off"` or `"512m"`.
///
/// # Errors
/// The mistake, and a correct form.
pub(crate) fn parse_swap(text: &str) -> Result<Swap, String> {
    if text == OFF {
        return Ok(Swap::Off);
    }
    parse_size(text).map(Swap::Of).map_err(|what| format!("{what}; or \"{OFF}\""))
}

impl<'de> Deserialize<'de> for Seconds {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        parse_duration(&String::deserialize(deserializer)?).map_err(serde::de::Error::custom)
    }
}

impl<'de> Deserialize<'de> for Size {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        parse_size(&String::deserialize(deserializer)?).map_err(serde::de::Error::custom)
    }
}

impl<'de> Deserialize<'de> for Swap {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        parse_swap(&String::deserialize(deserializer)?).map_err(serde::de::Error::custom)
    }
}

impl Serialize for Seconds {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&duration::exact(self.duration()))
    }
}

impl Serialize for Size {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.option_text())
    }
}

impl Serialize for Swap {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Swap::Off => serializer.serialize_str(OFF),
            Swap::Of(size) => size.serialize(serializer),
        }
    }
}

impl JsonSchema for Seconds {
    fn schema_name() -> Cow<'static, str> {
        "Duration".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "description": "A duration with its unit: \"500ms\", \"30s\", \"2m\", \"1h\"",
            "type": "string", "format": DURATION_FORMAT, "pattern": r"^[0-9.]+(ms|s|m|min|h)$",
        })
    }
}

impl JsonSchema for Size {
    fn schema_name() -> Cow<'static, str> {
        "Size".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "description": "A size as JVM options write it: \"96m\", \"1g\"",
            "type": "string", "format": SIZE_FORMAT, "pattern": "^[0-9]+[kKmMgGtT]$",
        })
    }
}

impl JsonSchema for Swap {
    fn schema_name() -> Cow<'static, str> {
        "Swap".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "description": "\"off\", or a size as JVM options write it: \"512m\"",
            "type": "string", "format": SWAP_FORMAT, "pattern": "^(off|[0-9]+[kKmMgGtT])$",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn swap_is_off_or_a_size_and_nothing_else() {
        assert_eq!(parse_swap("off"), Ok(Swap::Off));
        assert_eq!(parse_swap("512m"), Ok(Swap::Of(Size { bytes: 512 << 20 })));
        for wrong in ["on", "0k", "", "512"] {
            let why = parse_swap(wrong).expect_err(wrong);
            assert!(why.contains("is not a size") && why.ends_with("; or \"off\""), "{why}");
        }
        for text in ["\"off\"", "\"16m\""] {
            let read: Swap = serde_json::from_str(text).expect("it is read");
            assert_eq!(serde_json::to_string(&read).expect("it is written"), text);
        }
    }
}
