//! What the width of a frame stands for, in words.

use crate::number::{bytes, count, percent_share, time};

/// Unit of the weights of a flame graph.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Weight {
    /// Samples, or what else is counted: the word for one, and for several.
    Count(&'static str, &'static str),
    /// Bytes.
    Bytes,
    /// Nanoseconds.
    Time,
    /// A part of one.
    Share,
}

impl Weight {
    /// A weight in words: `12 samples`, `4.1 KiB`, `12.3 µs`, `3.1 %`.
    pub fn words(self, weight: f64) -> String {
        match self {
            Weight::Count(one, many) => {
                let number = weight.max(0.0).round() as u64;
                format!("{} {}", count(number), if number == 1 { one } else { many })
            }
            Weight::Bytes => bytes(weight.max(0.0).round() as u64),
            Weight::Time => time(weight),
            Weight::Share => percent_share(weight),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Weight;

    #[test]
    fn weights_have_the_unit_that_fits() {
        let samples = Weight::Count("sample", "samples");
        assert_eq!([1.0, 1200.0].map(|n| samples.words(n)), ["1 sample", "1,200 samples"]);
        assert_eq!([40_000.0, 2e6, 12.0].map(|ns| Weight::Time.words(ns)), ["40.0 µs", "2.00 ms", "12.0 ns"]);
        assert_eq!(
            (Weight::Bytes.words(2048.0).as_str(), Weight::Share.words(0.125).as_str()),
            ("2.0 KiB", "12.5 %")
        );
    }
}
