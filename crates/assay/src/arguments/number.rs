//! Numbers as they are typed.

/// More than nothing, and not infinite.
pub fn parse_positive_number(text: &str) -> Result<f64, String> {
    let number: f64 =
        text.parse().map_err(|_| "not a number; write digits without a unit, like 1500 or 0.5".to_owned())?;
    if number.is_finite() && number > 0.0 { Ok(number) } else { Err("must be more than 0".to_owned()) }
}

/// A whole number from 1 on.
pub fn parse_count(text: &str) -> Result<u32, String> {
    let count = text.parse().ok().filter(|count| *count > 0);
    count.ok_or_else(|| format!("not a whole number from 1 to {}", u32::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_positive_and_finite() {
        assert_eq!((parse_positive_number("0.5"), parse_count("7")), (Ok(0.5), Ok(7)));
        for wrong in ["", "0", "-1", "nan", "inf", "5/s"] {
            assert!(parse_positive_number(wrong).is_err(), "{wrong}");
            assert!(parse_count(wrong).is_err(), "{wrong}");
        }
        assert!(parse_count("1.5").is_err() && parse_count("4294967296").is_err());
    }
}
