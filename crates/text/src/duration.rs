//! Durations as people write them, `500ms`, `30s`, `2m`, `1h`, and as they say them: `7 min 40 s`.

use crate::near::number_and_unit;
use std::time::Duration;

/// Longest duration that can be asked for: a week.
const SECONDS_MAX: f64 = 7.0 * 24.0 * 3600.0;

/// Parses `30s`. Nothing (`0s`) is a duration.
///
/// # Errors
/// What is wrong, and what would be right.
pub fn parse(text: &str) -> Result<Duration, String> {
    let split = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    let (number, unit) = text.split_at(split);
    let unit_s = match unit {
        "ms" => 0.001,
        "s" => 1.0,
        "m" | "min" => 60.0,
        "h" => 3600.0,
        "" if !number.is_empty() => {
            return Err(format!("`{text}` has no unit: write \"{text}s\" for seconds, or ms, m or h"));
        }
        _ => {
            let like = meant(text).unwrap_or_else(|| "30s".to_owned());
            return Err(format!(
                "`{text}` is not a duration: write a number and ms, s, m or h, like \"{like}\""
            ));
        }
    };
    match number.parse::<f64>().map(|n| n * unit_s) {
        Ok(seconds) if (0.0..=SECONDS_MAX).contains(&seconds) => Ok(Duration::from_secs_f64(seconds)),
        _ => Err(format!("`{text}` is not a duration: it must be from nothing to a week, like \"30s\"")),
    }
}

/// `5sec` and `5 seconds` as `5s`, `1,5m` as `1.5m`.
fn meant(text: &str) -> Option<String> {
    let (number, unit) = number_and_unit(text)?;
    let unit = match unit.as_str() {
        "ms" | "msec" | "millis" | "milliseconds" => "ms",
        "s" | "sec" | "secs" | "second" | "seconds" => "s",
        "m" | "min" | "mins" | "minute" | "minutes" => "m",
        "h" | "hr" | "hrs" | "hour" | "hours" => "h",
        _ => return None,
    };
    let meant = format!("{number}{unit}");
    parse(&meant).is_ok().then_some(meant)
}

/// Parses a duration that is longer than nothing.
///
/// # Errors
/// What is wrong, and what would be right.
pub fn parse_positive(text: &str) -> Result<Duration, String> {
    match parse(text)? {
        Duration::ZERO => Err(format!("`{text}` is too short: it must be longer than nothing")),
        duration => Ok(duration),
    }
}

/// In the form that [`parse`] takes: whole seconds, else milliseconds.
pub fn exact(duration: Duration) -> String {
    match duration.subsec_nanos() {
        0 => format!("{}s", duration.as_secs()),
        _ => format!("{}ms", duration.as_secs_f64() * 1e3),
    }
}

/// Whole seconds as people say them, in two units at most: `40 s`, `7 min 40 s`, `2 h 1 min`, `3 days`.
pub fn spoken(seconds: u64) -> String {
    let two = |(large, name): (u64, &str), (small, of): (u64, &str)| match small {
        0 => format!("{large} {name}"),
        _ => format!("{large} {name} {small} {of}"),
    };
    match seconds {
        0..120 => format!("{seconds} s"),
        120..7_200 => two((seconds / 60, "min"), (seconds % 60, "s")),
        7_200..172_800 => two((seconds / 3_600, "h"), (seconds % 3_600 / 60, "min")),
        _ => two((seconds / 86_400, "days"), (seconds % 86_400 / 3_600, "h")),
    }
}

/// About so many seconds, for an estimate: whole minutes from two on, rounded up.
pub fn about(seconds: f64) -> String {
    if !seconds.is_finite() || seconds < 0.0 {
        return "an unknown time".to_owned();
    }
    let whole = seconds.min(1e15).ceil() as u64;
    spoken(if whole < 120 { whole } else { whole.div_ceil(60) * 60 })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_said_in_two_units_at_most() {
        let said = [0, 119, 120, 460, 7_199, 7_260, 50_460, 172_800, 200_000].map(spoken);
        let want = [
            "0 s",
            "119 s",
            "2 min",
            "7 min 40 s",
            "119 min 59 s",
            "2 h 1 min",
            "14 h 1 min",
            "2 days",
            "2 days 7 h",
        ];
        assert_eq!(said.to_vec(), want);
        let said = [0.4, 61.2, 121.0, 50_429.0, f64::NAN, -1.0].map(about);
        assert_eq!(
            said.to_vec(),
            ["1 s", "62 s", "3 min", "14 h 1 min", "an unknown time", "an unknown time"]
        );
    }

    #[test]
    fn durations_need_a_unit_and_a_sensible_length() {
        assert_eq!(parse("500ms"), Ok(Duration::from_millis(500)));
        assert_eq!(parse("1.5m"), Ok(Duration::from_secs(90)));
        assert_eq!(parse("0s"), Ok(Duration::ZERO));
        for bad in
            ["", "12", "30", "s", "-1s", "1..5s", "8000h", "1 s", "nan s", "1e9s", "5 parsecs", "99999999h"]
        {
            assert!(parse(bad).is_err(), "{bad}");
            assert!(parse_positive(bad).is_err(), "{bad}");
        }
        assert!(parse_positive("0s").is_err());
        assert_eq!(parse_positive("1h"), Ok(Duration::from_secs(3600)));
    }

    #[test]
    fn a_duration_in_other_words_is_answered_with_its_spelling() {
        for (typed, meant) in
            [("5sec", "5s"), ("2 min", "2m"), ("1,5h", "1.5h"), ("10 parsecs", "30s"), ("s", "30s")]
        {
            assert!(parse(typed).unwrap_err().ends_with(&format!("like \"{meant}\"")), "{typed}");
        }
    }

    #[test]
    fn what_is_written_is_read_again() {
        for text in ["30s", "1ms", "2500ms", "0s", "90m"] {
            let duration = parse(text).expect(text);
            assert_eq!(parse(&exact(duration)), Ok(duration), "{text}");
        }
    }
}
