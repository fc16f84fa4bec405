//! Options as they are typed.

/// What an option sets.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Setting<'a> {
    /// `-XX:+NAME`, `-XX:-NAME`
    Switch(&'a str, bool),
    /// `-XX:NAME=VALUE`, and what is short for one
    Value(&'a str, &'a str),
    /// Not a flag.
    Other,
}

/// Options that are short for a flag, for all releases since 8.
const SHORT: [(&str, &str); 4] =
    [("-Xmx", "MaxHeapSize"), ("-Xms", "InitialHeapSize"), ("-Xmn", "NewSize"), ("-Xss", "ThreadStackSize")];

impl<'a> Setting<'a> {
    pub(super) fn of(option: &'a str) -> Setting<'a> {
        let Some(rest) = option.strip_prefix("-XX:") else {
            let short = SHORT.iter().find_map(|(short, name)| Some((*name, option.strip_prefix(short)?)));
            return short.map_or(Setting::Other, |(name, value)| Setting::Value(name, value));
        };
        let switched =
            |name: &'a str, on| if is_name(name) { Setting::Switch(name, on) } else { Setting::Other };
        match (rest.strip_prefix('+'), rest.strip_prefix('-'), rest.split_once('=')) {
            (Some(name), ..) => switched(name, true),
            (_, Some(name), _) => switched(name, false),
            (.., Some((name, value))) if is_name(name) => Setting::Value(name, value),
            _ => Setting::Other,
        }
    }

    pub(super) fn name(&self) -> Option<&'a str> {
        match self {
            Setting::Switch(name, _) | Setting::Value(name, _) => Some(name),
            Setting::Other => None,
        }
    }

    /// Whether it gives the flag this value, as the JVM lists it.
    pub(super) fn is(&self, listed: &str) -> bool {
        match self {
            Setting::Switch(_, on) => listed == if *on { "true" } else { "false" },
            Setting::Value(name, value) => match (number(value), number(listed)) {
                // The list and the flag have KiB; with a unit, as behind -Xss, it is bytes.
                (Some(bytes), Some(kib))
                    if *name == "ThreadStackSize" && !value.ends_with(char::is_numeric) =>
                {
                    bytes == kib.saturating_mul(1024)
                }
                (Some(given), Some(listed)) => given == listed,
                _ => *value == listed,
            },
            Setting::Other => false,
        }
    }
}

fn is_name(name: &str) -> bool {
    !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}

/// Whether the JVM of a release reads it as a whole number, of a flag that may be negative, or may not. JDK 8 knows no `0x`.
pub(super) fn is_whole_number(text: &str, is_signed: bool, release: u32) -> bool {
    let digits = text.strip_prefix('-').filter(|_| is_signed).unwrap_or(text);
    number(digits).is_some() && (8 < release || !digits.starts_with("0x") && !digits.starts_with("0X"))
}

/// A number as the JVM reads it, with a unit: decimal, or hexadecimal behind `0x`.
fn number(text: &str) -> Option<u64> {
    let (digits, shift) = match text.char_indices().next_back()? {
        (at, 'k' | 'K') => (&text[..at], 10),
        (at, 'm' | 'M') => (&text[..at], 20),
        (at, 'g' | 'G') => (&text[..at], 30),
        (at, 't' | 'T') => (&text[..at], 40),
        _ => (text, 0),
    };
    let value = match digits.strip_prefix("0x").or_else(|| digits.strip_prefix("0X")) {
        Some(digits) if digits.starts_with(|c: char| c.is_ascii_hexdigit()) => {
            u64::from_str_radix(digits, 16)
        }
        // Rust would take a sign, too.
        _ if digits.starts_with(|c: char| c.is_ascii_digit()) => digits.parse(),
        _ => return None,
    };
    value.ok()?.checked_mul(1 << shift)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_set_flags() {
        assert_eq!(Setting::of("-XX:+UseZGC"), Setting::Switch("UseZGC", true));
        assert_eq!(Setting::of("-XX:-UseZGC"), Setting::Switch("UseZGC", false));
        assert_eq!(Setting::of("-XX:OnError=a=b"), Setting::Value("OnError", "a=b"));
        assert_eq!(Setting::of("-Xmx4g"), Setting::Value("MaxHeapSize", "4g"));
        for other in ["-Xlog:gc", "-Dx=y", "-XX:Flags", "-XX:+", "-XX:=3", "-XX:+Use ZGC", "", "é"] {
            assert_eq!(Setting::of(other), Setting::Other, "{other}");
        }
        assert!(Setting::of("-Xmx4g").is("4294967296") && Setting::of("-XX:MaxGCPauseMillis=200").is("200"));
        assert!(Setting::of("-Xss1m").is("1024") && Setting::of("-XX:ThreadStackSize=1024").is("1024"));
        assert!(Setting::of("-XX:+UseZGC").is("true") && !Setting::of("-XX:-UseZGC").is("true"));
        assert!(!Setting::of("-Xmx99999999999g").is("1") && Setting::of("-Xmx0x10m").is("16777216"));
    }

    #[test]
    fn a_whole_number_has_at_most_one_unit() {
        for good in ["0", "40g", "4T", "0x10", "0X1fm", "-1", "8k"] {
            assert!(is_whole_number(good, true, 21), "{good}");
        }
        for bad in ["", "g", "40gb", "4.5g", "200ms", "+4g", "--1", "0x", "0x+1", "4 g", "99999999999t", "é"]
        {
            assert!(!is_whole_number(bad, true, 21), "{bad}");
        }
        assert!(!is_whole_number("-4g", false, 21) && !is_whole_number("0x10", true, 8));
    }
}
