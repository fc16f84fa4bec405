//! Where the rate at a limit lies, between the highest rate that was kept and the lowest that was not.

/// A rate: middle, lower and upper end, as logarithms.
pub(super) type Ends = [f64; 3];

/// The lower of two rates.
pub(super) fn lower(one: Ends, other: Ends) -> Ends {
    std::array::from_fn(|at| one[at].min(other[at]))
}

/// A middle that lies inside its interval, and is none of its ends: where other limits draw it there, the middle of both ends.
pub(super) fn inside([middle, low, high]: Ends) -> Ends {
    let is_inside = low < middle && middle < high;
    [if is_inside { middle } else { f64::midpoint(low, high) }, low, high]
}

/// The same rate, not below one that was kept and below one that was missed. Where its middle is not between the two, the middle of what its
/// interval leaves between them is; where that leaves nothing, windows and the line through them contradict each other: the middle of the two
/// is, and the interval reaches to them. So no end of the interval is the estimate, and no rate is reported at which the limit was missed.
pub(super) fn between(ends: Ends, kept: Option<f64>, missed: Option<f64>) -> Ends {
    let [middle, low, high] = ends;
    let is_between = kept.is_none_or(|kept| kept <= middle) && missed.is_none_or(|missed| middle < missed);
    if is_between || kept.zip(missed).is_some_and(|(kept, missed)| missed <= kept) {
        return ends;
    }
    let (least, most) = (kept.unwrap_or(low), missed.unwrap_or(high));
    let (from, to) = (low.max(least), high.min(most));
    if from < to {
        return [f64::midpoint(from, to), low, high];
    }
    // Without a rate that was kept, or missed, the interval lies beyond the only one that is known.
    let width = high - low;
    let (least, most) = (kept.unwrap_or(most - width), missed.unwrap_or(least + width));
    [f64::midpoint(least, most), low.min(least), high.max(most)]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(ends: Ends, kept: Option<f64>, missed: Option<f64>, want: Ends) {
        assert_eq!(between(ends, kept, missed), want);
    }

    #[test]
    fn a_rate_that_windows_do_not_contradict_stays() {
        check([5.0, 4.0, 6.0], Some(4.5), Some(5.5), [5.0, 4.0, 6.0]);
        check([5.0, 4.0, 6.0], Some(5.0), Some(5.5), [5.0, 4.0, 6.0]);
        check([5.0, 4.0, 6.0], None, None, [5.0, 4.0, 6.0]);
    }

    #[test]
    fn a_rate_at_which_the_limit_was_missed_is_not_reported() {
        check([5.0, 4.0, 6.0], Some(4.5), Some(5.0), [4.75, 4.0, 6.0]);
        check([5.0, 4.0, 6.0], Some(3.0), Some(4.5), [4.25, 4.0, 6.0]);
        check([5.0, 4.0, 6.0], None, Some(4.5), [4.25, 4.0, 6.0]);
    }

    #[test]
    fn a_rate_is_not_below_one_that_was_kept() {
        check([5.0, 4.0, 6.0], Some(5.5), Some(7.0), [5.75, 4.0, 6.0]);
        check([5.0, 4.0, 6.0], Some(5.5), None, [5.75, 4.0, 6.0]);
    }

    #[test]
    fn where_all_of_the_interval_was_missed_or_kept_it_reaches_to_the_windows() {
        check([5.0, 4.0, 6.0], Some(2.0), Some(3.0), [2.5, 2.0, 6.0]);
        check([5.0, 4.0, 6.0], Some(7.0), Some(9.0), [8.0, 4.0, 9.0]);
        check([5.0, 4.0, 6.0], None, Some(4.0), [3.0, 2.0, 6.0]);
        check([5.0, 4.0, 6.0], Some(6.0), None, [7.0, 4.0, 8.0]);
    }

    #[test]
    fn a_middle_at_an_end_of_its_interval_becomes_that_of_both_ends() {
        assert_eq!(inside([6.0, 4.0, 6.0]), [5.0, 4.0, 6.0]);
        assert_eq!(inside([4.5, 4.0, 6.0]), [4.5, 4.0, 6.0]);
    }
}
