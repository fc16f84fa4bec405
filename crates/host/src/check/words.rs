//! Numbers in the texts of verdicts.

/// A whole number with commas; all else as it is.
pub(super) fn thousands(value: &str) -> String {
    if value.is_empty() || !value.bytes().all(|byte| byte.is_ascii_digit()) {
        return value.to_owned();
    }
    let grouped = value.bytes().enumerate().map(|(at, digit)| {
        let is_first = at == 0 || !(value.len() - at).is_multiple_of(3);
        format!("{}{}", if is_first { "" } else { "," }, char::from(digit))
    });
    grouped.collect()
}
