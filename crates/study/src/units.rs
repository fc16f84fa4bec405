//! Durations and sizes as study files write them: `"30s"`, `"1g"`.

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer};
use std::borrow::Cow;
use std::time::Duration;

/// Longest duration that a study file may ask for: a week.
const DURATION_S_MAX: f64 = 7.0 * 24.0 * 3600.0;
/// Name of the format in the JSON schema, by which the shape check finds [`parse_duration`].
pub(crate) const DURATION_FORMAT: &str = "assay-duration";
/// Name of the format in the JSON schema, by which the shape check finds [`parse_size`].
pub(crate) const SIZE_FORMAT: &str = "assay-size";

/// A stretch of time, written with its unit: `"500ms"`, `"30s"`, `"2m"`, `"1h"`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Seconds(pub f64);

impl Seconds {
    /// The same as the standard library's type.
    pub fn duration(self) -> Duration {
        Duration::from_secs_f64(self.0)
    }
}

/// A size as JVM options write it: `"96m"`, `"1g"`, `"2200m"`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Size {
    /// The size.
    pub bytes: u64,
}

impl Size {
    /// In the form that `-Xmx` takes, exact.
    pub fn option_text(self) -> String {
        let (kib, mib, gib) = (1 << 10, 1 << 20, 1_u64 << 30);
        match self.bytes {
            b if b.is_multiple_of(gib) => format!("{}g", b / gib),
            b if b.is_multiple_of(mib) => format!("{}m", b / mib),
            b if b.is_multiple_of(kib) => format!("{}k", b / kib),
            b => b.to_string(),
        }
    }
}

/// Parses `"30s"`.
///
/// # Errors
/// What is wrong, and what would be right.
pub(crate) fn parse_duration(text: &str) -> Result<Seconds, String> {
    let split = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    let (number, unit) = text.split_at(split);
    let unit_s = match unit {
        "ms" => 0.001,
        "s" => 1.0,
        "m" | "min" => 60.0,
        "h" => 3600.0,
        _ => {
            return Err(format!(
                "`{text}` is not a duration: write a number and ms, s, m or h, like \"30s\""
            ));
        }
    };
    match number.parse::<f64>().map(|n| n * unit_s) {
        Ok(seconds) if (0.0..=DURATION_S_MAX).contains(&seconds) => Ok(Seconds(seconds)),
        _ => Err(format!("`{text}` is not a duration: it must be from nothing to a week, like \"30s\"")),
    }
}

/// Parses `"1g"`.
///
/// # Errors
/// What is wrong, and what would be right.
pub(crate) fn parse_size(text: &str) -> Result<Size, String> {
    let wrong = || format!("`{text}` is not a size: write a whole number and k, m, g or t, like \"512m\"");
    let split = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let (number, unit) = text.split_at(split);
    let shift = match unit.to_ascii_lowercase().as_str() {
        "k" => 10,
        "m" => 20,
        "g" => 30,
        "t" => 40,
        _ => return Err(wrong()),
    };
    let bytes = number.parse::<u64>().ok().and_then(|n| n.checked_mul(1 << shift)).filter(|bytes| *bytes > 0);
    bytes.map(|bytes| Size { bytes }).ok_or_else(wrong)
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_and_durations_need_a_unit() {
        assert_eq!(parse_size("2200m"), Ok(Size { bytes: 2200 << 20 }));
        assert_eq!(parse_duration("1.5m"), Ok(Seconds(90.0)));
        for bad in ["", "12", "g", "-1g", "1.5g", "0m", "99999999999t", "1 g"] {
            assert!(parse_size(bad).is_err(), "{bad}");
        }
        for bad in ["", "12", "s", "-1s", "1..5s", "8000h", "1 s"] {
            assert!(parse_duration(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn the_option_s_text_is_exact() {
        for text in ["1g", "2200m", "96m", "1k"] {
            assert_eq!(parse_size(text).unwrap().option_text(), text);
        }
    }
}
