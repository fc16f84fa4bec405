//! Figures from which on a rule makes a finding.

/// A named figure from which on a rule makes a finding, or a graver one. Written as its readers see it: `70 %`, `16 MiB`, `10,000`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Threshold {
    /// Its name in the texts of the rule.
    pub name: &'static str,
    /// Its value, in its unit.
    pub value: f64,
    /// Its unit.
    pub unit: ThresholdUnit,
}

/// The unit of a threshold.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ThresholdUnit {
    /// Things: the text says which.
    Count,
    /// Percent of what the text says.
    Percent,
    /// Bytes.
    Bytes,
    /// Bytes in each second.
    BytesPerSecond,
    /// Milliseconds.
    Milliseconds,
    /// Seconds.
    Seconds,
}

impl Threshold {
    /// So many things.
    pub const fn count(name: &'static str, count: u64) -> Threshold {
        Threshold { name, value: count as f64, unit: ThresholdUnit::Count }
    }

    /// A part of a whole.
    pub const fn percent(name: &'static str, percent: f64) -> Threshold {
        Threshold { name, value: percent, unit: ThresholdUnit::Percent }
    }

    /// A size.
    pub const fn bytes(name: &'static str, bytes: u64) -> Threshold {
        Threshold { name, value: bytes as f64, unit: ThresholdUnit::Bytes }
    }

    /// A rate of bytes.
    pub const fn bytes_per_s(name: &'static str, bytes: u64) -> Threshold {
        Threshold { name, value: bytes as f64, unit: ThresholdUnit::BytesPerSecond }
    }

    /// A short time.
    pub const fn ms(name: &'static str, ms: f64) -> Threshold {
        Threshold { name, value: ms, unit: ThresholdUnit::Milliseconds }
    }

    /// A long time.
    pub const fn seconds(name: &'static str, seconds: f64) -> Threshold {
        Threshold { name, value: seconds, unit: ThresholdUnit::Seconds }
    }

    /// Its value where that is a whole number: a count, bytes.
    pub const fn whole(self) -> u64 {
        self.value as u64
    }

    /// Of a percentage, the part of one.
    pub const fn share(self) -> f64 {
        self.value / 100.0
    }

    /// Of a percentage, that much of a whole, rounded down.
    pub const fn share_of(self, whole: u64) -> u64 {
        (whole as u128 * (self.value * 100.0) as u128 / 10_000) as u64
    }

    /// What stands for it in texts: `{name}`.
    pub(super) fn placeholder(&self) -> String {
        format!("{{{}}}", self.name)
    }

    /// Whether a word of a text is this figure: `16`, of `16 MiB`; `three`, of 3.
    pub(super) fn is_written(&self, word: &str) -> bool {
        const WORDS: [&str; 11] =
            ["two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"];
        let shown = self.to_string();
        let figure = shown.split([' ', '/']).next().unwrap_or_default();
        let in_words = figure.parse().ok().and_then(|n: usize| WORDS.get(n.checked_sub(2)?));
        let plain = word.replace(',', "");
        plain == figure.replace(',', "")
            || plain == self.value.to_string()
            || in_words.is_some_and(|number| word.eq_ignore_ascii_case(number))
    }
}

impl std::fmt::Display for Threshold {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.unit {
            ThresholdUnit::Count => f.write_str(&with_thousands(self.value)),
            ThresholdUnit::Percent => write!(f, "{} %", self.value),
            ThresholdUnit::Bytes => f.write_str(&size(self.whole())),
            ThresholdUnit::BytesPerSecond => write!(f, "{}/s", size(self.whole())),
            ThresholdUnit::Milliseconds => write!(f, "{} ms", self.value),
            ThresholdUnit::Seconds if 120.0 <= self.value && self.value % 60.0 == 0.0 => {
                write!(f, "{} min", self.value / 60.0)
            }
            ThresholdUnit::Seconds => write!(f, "{} s", self.value),
        }
    }
}

/// In the largest unit of which it is a whole number, so that nothing is rounded.
fn size(bytes: u64) -> String {
    let units = [(30, "GiB"), (20, "MiB"), (10, "KiB")];
    let fits = units.iter().find(|(shift, _)| bytes >> shift != 0 && bytes.is_multiple_of(1 << shift));
    let (shift, unit) = fits.unwrap_or(&(0, "bytes"));
    format!("{} {unit}", with_thousands((bytes >> shift) as f64))
}

/// A number, thousands apart by commas.
fn with_thousands(value: f64) -> String {
    let text = value.to_string();
    let whole = text.find('.').unwrap_or(text.len());
    let mut apart = String::new();
    for (at, c) in text.chars().enumerate() {
        if at != 0 && at < whole && (whole - at).is_multiple_of(3) {
            apart.push(',');
        }
        apart.push(c);
    }
    apart
}
