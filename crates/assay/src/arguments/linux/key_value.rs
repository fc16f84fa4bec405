//! An argument of two parts.

/// Reads `KEY=VALUE`.
///
/// # Errors
/// Text without a sign, or without a key before it.
pub(super) fn key_value(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((key, value)) if !key.is_empty() => Ok((key.to_owned(), value.to_owned())),
        _ => Err(format!("`{text}` is not KEY=VALUE")),
    }
}
