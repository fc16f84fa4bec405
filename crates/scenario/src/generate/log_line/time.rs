//! The time of a request, in the forms of access logs.

use jiff::Timestamp;
use jiff::civil::DateTime;
use jiff::tz::Offset;

/// Nanoseconds since 1970, and whether parts of a second were left out: in the form of Apache and NGINX, of ISO 8601, or a number of
/// seconds or milliseconds. Without a zone as if it were UTC, which W3C's form always is.
pub(super) fn time_of(text: &str) -> Option<(i128, bool)> {
    let text = text.trim();
    if let Ok(number) = text.parse::<f64>() {
        // From 1973 on in milliseconds, until 5138 in seconds.
        let s = if number >= 1e11 { number / 1e3 } else { number };
        return (0.0..1e11).contains(&s).then(|| ((s * 1e9) as i128, s.fract() == 0.0));
    }
    let timestamp = match text.contains('/') {
        true => of_apache(text)?,
        false => text.parse::<Timestamp>().ok().or_else(|| of_civil(text.parse().ok()?))?,
    };
    Some((timestamp.as_nanosecond(), !text.contains('.')))
}

/// `12/Mar/2024:10:15:32 +0000`; HAProxy's has milliseconds and no zone.
fn of_apache(text: &str) -> Option<Timestamp> {
    let parsed = |form: &str| jiff::fmt::strtime::parse(form, text).ok();
    match parsed("%d/%b/%Y:%H:%M:%S%.f %z") {
        Some(time) => time.to_timestamp().ok(),
        None => of_civil(parsed("%d/%b/%Y:%H:%M:%S%.f")?.to_datetime().ok()?),
    }
}

fn of_civil(time: DateTime) -> Option<Timestamp> {
    Offset::UTC.to_timestamp(time).ok()
}
