//! Options as they are typed.

/// What an option sets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Setting<'a> {
    /// `-XX:+NAME`, `-XX:-NAME`
    Switch(&'a str, bool),
    /// `-XX:NAME=VALUE`, and what is short for one
    Value(&'a str, &'a str),
    /// `-Xss`: the flag has KiB, and this has bytes.
    StackSize(&'a str),
    /// `-XX:NAME`, and `-XX:+NAME=VALUE`: neither a switch nor a value.
    Wrong(&'a str),
    /// Not a flag.
    Other,
}

/// Options that are short for a flag, for all releases since 8.
const SHORT: [(&str, &str); 3] = [("-Xmx", "MaxHeapSize"), ("-Xms", "InitialHeapSize"), ("-Xmn", "NewSize")];

impl<'a> Setting<'a> {
    pub(super) fn of(option: &'a str) -> Setting<'a> {
        if let Some(value) = option.strip_prefix("-Xss") {
            return Setting::StackSize(value);
        }
        let Some(rest) = option.strip_prefix("-XX:") else {
            let short = SHORT.iter().find_map(|(short, name)| Some((*name, option.strip_prefix(short)?)));
            return short.map_or(Setting::Other, |(name, value)| Setting::Value(name, value));
        };
        let (sign, rest) = match rest.split_at_checked(1) {
            Some(("+", rest)) => (Some(true), rest),
            Some(("-", rest)) => (Some(false), rest),
            _ => (None, rest),
        };
        // The JVM takes all that stands before the equals sign for the name.
        match (sign, rest.split_once('=')) {
            (Some(on), None) => Setting::Switch(rest, on),
            (None, Some((name, value))) => Setting::Value(name, value),
            (_, parted) => Setting::Wrong(parted.map_or(rest, |(name, _)| name)),
        }
    }

    pub(super) fn name(&self) -> Option<&'a str> {
        match self {
            Setting::Switch(name, _) | Setting::Value(name, _) | Setting::Wrong(name) => Some(name),
            Setting::StackSize(_) => Some("ThreadStackSize"),
            Setting::Other => None,
        }
    }

    /// The whole number that it gives the flag, in the flag's unit.
    pub(super) fn number(&self) -> Option<i128> {
        match self {
            Setting::Value(_, value) => signed(value),
            Setting::StackSize(value) => number(value).map(|bytes| i128::from(bytes.div_ceil(1024))),
            _ => None,
        }
    }

    /// Whether it gives the flag this value, as the JVM lists it.
    pub(super) fn is(&self, listed: &str) -> bool {
        match self {
            Setting::Switch(_, on) => listed == if *on { "true" } else { "false" },
            Setting::Value(_, value) => {
                let parsed = (value.parse::<f64>(), listed.parse::<f64>());
                *value == listed
                    || self.number().is_some() && self.number() == signed(listed)
                    || matches!(parsed, (Ok(given), Ok(listed)) if given == listed)
            }
            Setting::StackSize(_) => self.number().is_some() && self.number() == signed(listed),
            Setting::Wrong(_) | Setting::Other => false,
        }
    }
}

/// Whether a value stands for another, such as `${HEAP}` in a script.
pub(super) fn has_variable(option: &str) -> bool {
    option.match_indices('$').any(|(at, _)| {
        option[at + 1..].starts_with(|c: char| c == '{' || c == '(' || c == '_' || c.is_ascii_alphabetic())
    })
}

/// Whether a flag can be called so.
pub(super) fn is_name(name: &str) -> bool {
    !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}

/// Whether the JVM of a release reads it as a whole number, of a flag that may be negative, or may not. JDK 8 knows no `0x`.
pub(super) fn is_whole_number(text: &str, is_signed: bool, release: u32) -> bool {
    let digits = text.strip_prefix('-').filter(|_| is_signed).unwrap_or(text);
    number(digits).is_some() && (8 < release || !digits.starts_with("0x") && !digits.starts_with("0X"))
}

/// A number that may be negative.
fn signed(text: &str) -> Option<i128> {
    match text.strip_prefix('-') {
        Some(digits) => number(digits).map(|value| -i128::from(value)),
        None => number(text).map(i128::from),
    }
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
        assert_eq!(Setting::of("-XX:+ZCollectionInterval=5"), Setting::Wrong("ZCollectionInterval"));
        assert_eq!(Setting::of("-XX:Flags"), Setting::Wrong("Flags"));
        assert_eq!(Setting::of("-XX:+A-Dx=y"), Setting::Wrong("A-Dx"));
        for other in ["-Xlog:gc", "-Dx=y", "", "é", "-XX"] {
            assert_eq!(Setting::of(other), Setting::Other, "{other}");
        }
        assert!(Setting::of("-Xmx4g").is("4294967296") && Setting::of("-XX:MaxGCPauseMillis=200").is("200"));
        assert!(Setting::of("-Xss1m").is("1024") && Setting::of("-XX:ThreadStackSize=1024").is("1024"));
        assert!(!Setting::of("-XX:ThreadStackSize=1m").is("1024"));
        assert!(Setting::of("-XX:MaxRAMPercentage=25").is("25.000000"));
        assert!(Setting::of("-XX:+UseZGC").is("true") && !Setting::of("-XX:-UseZGC").is("true"));
        assert!(!Setting::of("-Xmx99999999999g").is("1") && Setting::of("-Xmx0x10m").is("16777216"));
    }

    #[test]
    fn what_a_script_puts_in_is_known_by_its_dollar() {
        for with in ["-Xmx${HEAP}", "-Xmx$HEAP", "-Dx=$(hostname)"] {
            assert!(has_variable(with), "{with}");
        }
        for without in ["-Dprice=$5", "-Dx=a$", "-Xmx4g", "-Dé=$é"] {
            assert!(!has_variable(without), "{without}");
        }
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
