//! What an interval says to a statement. Pure: the definitions of the verdicts, each held by a table of tests.
//!
//! A stated figure is a range: half a unit of its last written digit to each side, or what the study file allows. Words are the range that
//! the study file takes them to mean. No change is 1 of a ratio; a value has no direction.
//!
//! | statement | our 95 % interval | verdict |
//! | --- | --- | --- |
//! | a change | on the other side of 1 | opposite |
//! | a change | has room for 1, none for the range | no difference shown |
//! | a change | has room for 1 and for the range | undecided |
//! | a direction alone | on its side | same direction |
//! | a change | on its side, apart from the range | same direction, other size |
//! | a figure | on its side, meets the range, no room for twice the change | same direction and size |
//! | words | within the range | same direction and size |
//! | a change | on its side, otherwise | same direction |
//! | that nothing changes | within the range / apart from it / otherwise | same size / other size / undecided |
//! | a value | meets the range, no room for nothing and for twice / apart / otherwise | same size / other size / undecided |

use assay_model::{Claim, ClaimVerdict, Direction, Estimate, Reading};

/// A stated figure with what its digits leave open.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Range {
    pub(super) low: f64,
    pub(super) stated: f64,
    pub(super) high: f64,
}

impl Range {
    pub(super) fn around(stated: f64, half: f64) -> Self {
        Range { low: stated - half, stated, high: stated + half }
    }

    /// As precise as it is written.
    pub(super) fn written(stated: f64) -> Self {
        Range::around(stated, half_unit(stated))
    }

    /// A ratio relative to a source's own baseline, which is 1 by definition, as is what the source shows as equal to it.
    pub(super) fn relative(stated: f64) -> Self {
        if stated == 1.0 { Range::around(1.0, 0.0) } else { Range::written(stated) }
    }

    /// This by that, both positive.
    pub(super) fn by(self, that: Range) -> Option<Self> {
        let ends = Range {
            low: self.low / that.high,
            stated: self.stated / that.stated,
            high: self.high / that.low,
        };
        (self.low > 0.0 && that.low > 0.0).then_some(ends)
    }

    /// At least as wide as `half` to each side.
    pub(super) fn at_least(self, half: f64) -> Self {
        let around = Range::around(self.stated, half);
        Range { low: self.low.min(around.low), high: self.high.max(around.high), ..self }
    }

    pub(super) fn meets(self, low: f64, high: f64) -> bool {
        // Figures such as 1.59 are not exact in binary.
        let slack = 1e-9 * self.stated.abs();
        self.low - slack <= high && low <= self.high + slack
    }

    fn holds(self, low: f64, high: f64) -> bool {
        self.low <= low && high <= self.high
    }
}

/// Half a unit of the last digit that a number is written with.
fn half_unit(value: f64) -> f64 {
    let text = format!("{value}");
    let decimals = text.split_once('.').map_or(0, |(_, fraction)| fraction.len());
    0.5 * 10f64.powi(-i32::try_from(decimals).unwrap_or(0))
}

/// What a source states.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Stated {
    /// A ratio to the baseline.
    Ratio(Range),
    /// A ratio to the baseline between the ends of a range, in words.
    Words(Range),
    /// A direction without a size.
    Towards(Direction),
    /// A value in the metric's unit.
    Value(Range),
}

impl Stated {
    /// What a claim states; none if it states nothing.
    pub(super) fn of(claim: &Claim) -> Option<Self> {
        let allowed = claim.within_percent.map(|percent| percent / 100.0);
        if let Some(percent) = claim.change_percent {
            let half = allowed.unwrap_or_else(|| half_unit(percent) / 100.0);
            return Some(Stated::Ratio(Range::around((100.0 + percent) / 100.0, half)));
        }
        if !claim.reading.is_none() {
            return Some(Stated::Words(read(&claim.reading)));
        }
        if let Some(direction) = claim.direction {
            return Some(Stated::Towards(direction));
        }
        let value = claim.value?;
        let half = allowed.map_or_else(|| half_unit(value), |share| share * value.abs());
        Some(Stated::Value(Range::around(value, half)))
    }

    /// The figure; 1 where there is none.
    pub(super) fn figure(self) -> f64 {
        match self {
            Stated::Ratio(range) | Stated::Value(range) => range.stated,
            Stated::Words(_) | Stated::Towards(_) => 1.0,
        }
    }

    pub(super) fn is_ratio(self) -> bool {
        !matches!(self, Stated::Value(_))
    }

    /// Where a ratio goes; none of a value, and where nothing is said to change.
    fn direction(self) -> Option<Direction> {
        match self {
            Stated::Towards(direction) => Some(direction),
            Stated::Value(_) => None,
            Stated::Ratio(range) | Stated::Words(range) => match (1.0 <= range.low, range.high <= 1.0) {
                (true, false) => Some(Direction::Rises),
                (false, true) => Some(Direction::Falls),
                _ => None,
            },
        }
    }

    /// What a measured interval says to it.
    pub(super) fn verdict(self, measured: Option<Estimate>) -> ClaimVerdict {
        let ends = measured.and_then(|m| m.ends()).filter(|(low, high)| low.is_finite() && high.is_finite());
        match (ends, self.direction(), self) {
            (None, ..) => ClaimVerdict::NotMeasured,
            (Some(ends), Some(direction), _) => self.of_change(direction, ends),
            (Some(ends), None, Stated::Value(range)) => of_size(range, is_told_from(0.0, range, ends), ends),
            (Some(ends), None, Stated::Ratio(range) | Stated::Words(range)) => {
                of_size(range, range.holds(ends.0, ends.1), ends)
            }
            (Some(_), None, Stated::Towards(_)) => ClaimVerdict::Undecided,
        }
    }

    fn of_change(self, direction: Direction, (low, high): (f64, f64)) -> ClaimVerdict {
        let side = match (1.0 < low, high < 1.0) {
            (true, _) => Some(Direction::Rises),
            (_, true) => Some(Direction::Falls),
            _ => None,
        };
        let meets = match self {
            Stated::Ratio(range) | Stated::Words(range) | Stated::Value(range) => range.meets(low, high),
            Stated::Towards(_) => true,
        };
        let is_size_shown = match self {
            Stated::Ratio(range) => is_told_from(1.0, range, (low, high)),
            Stated::Words(range) => range.holds(low, high),
            Stated::Towards(_) | Stated::Value(_) => false,
        };
        match side {
            Some(side) if side != direction => ClaimVerdict::Opposite,
            None if meets => ClaimVerdict::Undecided,
            None => ClaimVerdict::NoDifferenceShown,
            Some(_) if !meets => ClaimVerdict::SameDirectionOtherSize,
            Some(_) if is_size_shown => ClaimVerdict::SameDirectionAndSize,
            Some(_) => ClaimVerdict::SameDirection,
        }
    }

    /// The same where another start of the same variants may have any value of `over_starts`: what no start would change.
    pub(super) fn verdict_over_starts(
        self,
        measured: Option<Estimate>,
        over_starts: Option<Estimate>,
    ) -> ClaimVerdict {
        use ClaimVerdict::{
            NotMeasured, SameDirection, SameDirectionAndSize, SameDirectionOtherSize, Undecided,
        };
        let of_side = [SameDirection, SameDirectionAndSize, SameDirectionOtherSize];
        match (self.verdict(measured), self.verdict(over_starts)) {
            (verdict @ (Undecided | NotMeasured), _) => verdict,
            (verdict, over) if verdict == over => verdict,
            (verdict, over) if of_side.contains(&verdict) && of_side.contains(&over) => SameDirection,
            _ => ClaimVerdict::OneServerEach,
        }
    }
}

/// The range of ratios that words are taken to mean.
fn read(reading: &Reading) -> Range {
    let ratio = |percent: f64| (100.0 + percent) / 100.0;
    Range {
        low: reading.change_percent_min.map_or(0.0, ratio),
        stated: 1.0,
        high: reading.change_percent_max.map_or(f64::INFINITY, ratio),
    }
}

fn of_size(range: Range, is_shown: bool, (low, high): (f64, f64)) -> ClaimVerdict {
    match range.meets(low, high) {
        false => ClaimVerdict::OtherSize,
        true if is_shown => ClaimVerdict::SameSize,
        true => ClaimVerdict::Undecided,
    }
}

/// Whether an interval that meets a range has room neither for `nothing` (1 of a ratio, 0 of a value) nor for twice what is stated.
fn is_told_from(nothing: f64, range: Range, (low, high): (f64, f64)) -> bool {
    // Twice as much of a ratio is its square: 1.5 and 2.25.
    let twice = if nothing == 1.0 { range.stated * range.stated } else { 2.0 * range.stated };
    let has_room_for = |value: f64| (low..=high).contains(&value);
    !has_room_for(nothing) && !has_room_for(twice)
}

#[cfg(test)]
mod tests {
    use super::{Range, Stated};
    use assay_model::ClaimVerdict::{self, *};
    use assay_model::{Direction, Estimate};

    fn estimate((low, high): (f64, f64)) -> Estimate {
        Estimate { estimate: f64::midpoint(low, high), low: Some(low), high: Some(high) }
    }

    fn words(low: f64, high: f64) -> Stated {
        Stated::Words(Range { low, stated: 1.0, high })
    }

    #[test]
    fn every_statement_gets_the_verdict_that_the_definitions_name() {
        let half_more = Stated::Ratio(Range::around(1.5, 0.005));
        let fifth_less = Stated::Ratio(Range::around(0.8, 0.005));
        let much_more = words(1.5, f64::INFINITY);
        let slightly_more = words(1.0, 1.1);
        let about_equal = words(0.95, 1.05);
        let same = Stated::Ratio(Range::relative(1.0));
        let value = Stated::Value(Range::written(100.0));
        let rises = Stated::Towards(Direction::Rises);
        let cases: &[(&str, Stated, (f64, f64), ClaimVerdict)] = &[
            ("the figure lies inside", half_more, (1.4, 1.6), SameDirectionAndSize),
            ("more than stated", half_more, (1.6, 1.7), SameDirectionOtherSize),
            ("less than stated", half_more, (1.1, 1.2), SameDirectionOtherSize),
            ("room for twice the change", half_more, (1.4, 2.3), SameDirection),
            ("less, not more", half_more, (0.8, 0.9), Opposite),
            ("room for no change, none for half more", half_more, (0.9, 1.1), NoDifferenceShown),
            ("room for both", half_more, (0.9, 1.6), Undecided),
            ("a fall of the stated size", fifth_less, (0.75, 0.85), SameDirectionAndSize),
            ("a fall of another", fifth_less, (0.5, 0.6), SameDirectionOtherSize),
            ("a rise instead", fifth_less, (1.1, 1.2), Opposite),
            ("much: all of it is", much_more, (1.6, 40.0), SameDirectionAndSize),
            ("much: little", much_more, (1.1, 1.2), SameDirectionOtherSize),
            ("much: perhaps", much_more, (1.2, 1.8), SameDirection),
            ("slightly: it is", slightly_more, (1.02, 1.08), SameDirectionAndSize),
            ("slightly: by much", slightly_more, (1.2, 1.3), SameDirectionOtherSize),
            ("slightly: room for nothing", slightly_more, (0.98, 1.05), Undecided),
            ("slightly more: less", slightly_more, (0.9, 0.95), Opposite),
            ("nearly equal: it is", about_equal, (0.97, 1.04), SameSize),
            ("nearly equal: it is not", about_equal, (1.1, 1.13), OtherSize),
            ("nearly equal: perhaps", about_equal, (1.0, 1.1), Undecided),
            ("equal, and no width is allowed", same, (0.99, 1.01), Undecided),
            ("equal, and it differs", same, (1.01, 1.02), OtherSize),
            ("a value inside", value, (90.0, 110.0), SameSize),
            ("a value apart", value, (101.0, 110.0), OtherSize),
            ("room for twice a value", value, (90.0, 210.0), Undecided),
            ("a direction", rises, (1.001, 3.0), SameDirection),
            ("the other direction", rises, (0.2, 0.999), Opposite),
            ("no direction", rises, (0.99, 1.01), Undecided),
        ];
        for (what, stated, measured, verdict) in cases {
            assert_eq!(
                stated.verdict(Some(estimate(*measured))),
                *verdict,
                "{what}: {stated:?}, {measured:?}"
            );
        }
        assert_eq!(half_more.verdict(None), NotMeasured);
        assert_eq!(half_more.verdict(Some(Estimate { estimate: 1.5, low: None, high: None })), NotMeasured);
    }

    #[test]
    fn one_server_of_each_variant_shows_only_what_no_other_start_would_change() {
        let half_more = Stated::Ratio(Range::around(1.5, 0.005));
        let cases = [
            ((1.4, 1.6), (1.3, 1.7), SameDirectionAndSize),
            ((1.6, 1.7), (1.5, 1.8), SameDirection),
            ((1.6, 1.7), (1.55, 1.75), SameDirectionOtherSize),
            ((1.4, 1.6), (0.9, 2.0), OneServerEach),
            ((0.9, 0.95), (0.8, 1.05), OneServerEach),
            ((0.9, 1.1), (0.8, 1.2), NoDifferenceShown),
            ((0.9, 1.1), (0.8, 1.5), OneServerEach),
            ((0.9, 1.6), (0.8, 1.7), Undecided),
            ((1.4, 1.6), (0.0, f64::INFINITY), OneServerEach),
        ];
        for (measured, over, verdict) in cases {
            let [ours, over] = [measured, over].map(|ends| Some(estimate(ends)));
            assert_eq!(half_more.verdict_over_starts(ours, over), verdict, "{measured:?} {over:?}");
        }
    }
}
