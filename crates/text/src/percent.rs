//! Shares in percent: one decimal, two below one percent, so that what is small is not called nothing.

/// `part` of `whole`; `-` where there is no whole.
pub fn of(part: u64, whole: u64) -> String {
    if whole == 0 {
        return "-".to_owned();
    }
    let shown = share(part as f64 / whole as f64);
    if part > 0 && shown == "0.0 %" { "<0.01 %".to_owned() } else { shown }
}

/// A share of one.
pub fn share(share: f64) -> String {
    let percent = 100.0 * share;
    match percent.abs() {
        p if p > 999.0 && percent > 0.0 => ">999 %".to_owned(),
        p if (0.005..0.995).contains(&p) => format!("{percent:.2} %"),
        p if p < 0.005 => "0.0 %".to_owned(),
        _ => format!("{percent:.1} %"),
    }
}

/// How far `value` is from `from`, with its sign; absent where that is nothing.
pub fn change(value: u64, from: u64) -> Option<String> {
    if from == 0 {
        return None;
    }
    let percent = 100.0 * (value as f64 - from as f64) / from as f64;
    Some(if percent.abs() < 999.95 { format!("{percent:+.1} %") } else { format!("{percent:+.0} %") })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_small_is_not_called_nothing() {
        assert_eq!(
            [(1, 3), (1, 500), (1, 1 << 40), (0, 5), (1, 0), (1, 8), (99, 1)].map(|(p, w)| of(p, w)),
            ["33.3 %", "0.20 %", "<0.01 %", "0.0 %", "-", "12.5 %", ">999 %"]
        );
        assert_eq!([0.146, 0.001, 0.0, 1.0].map(share), ["14.6 %", "0.10 %", "0.0 %", "100.0 %"]);
    }

    #[test]
    fn a_change_has_its_sign() {
        assert_eq!(change(3, 2).as_deref(), Some("+50.0 %"));
        assert_eq!((change(1, 3).as_deref(), change(1, 0)), (Some("-66.7 %"), None));
    }
}
