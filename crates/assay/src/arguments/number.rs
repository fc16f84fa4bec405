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

/// A feature release of the JDK.
pub fn parse_release(text: &str) -> Result<u32, String> {
    let release = text.parse().ok().filter(|release| (8..=99).contains(release));
    release.ok_or_else(|| "not a release of the JDK: write a number from 8 on, such as 21".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn releases_begin_with_8() {
        assert_eq!((parse_release("8"), parse_release("28")), (Ok(8), Ok(28)));
        for wrong in ["7", "1.8", "21,", "100", "jdk21", ""] {
            assert!(parse_release(wrong).is_err(), "{wrong}");
        }
    }

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
