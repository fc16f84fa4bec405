//! How often something happens, in words.

/// `one every 12 ms`, in the unit that fits, and never `0`.
pub(super) fn one_every(interval_s: f64) -> String {
    match interval_s {
        s if s < 0.01 => format!("one every {:.1} ms", (s * 1e3).max(0.1)),
        s if s < 1.0 => format!("one every {:.0} ms", s * 1e3),
        s if s < 10.0 => format!("one every {s:.1} s"),
        s => format!("one every {s:.0} s"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn intervals_have_the_unit_that_fits() {
        let said = [0.000_01, 0.001_77, 0.25, 2.5, 70.0].map(one_every);
        assert_eq!(
            said,
            ["0.1 ms", "1.8 ms", "250 ms", "2.5 s", "70 s"].map(|time| format!("one every {time}"))
        );
    }
}
