//! Courses of figures as programs give them, and the edges between them.

use super::shape::{Point, Shape, shape_of};
use proptest::prelude::*;

const MIB: f64 = 1_048_576.0;

/// A point every ten seconds, in MiB.
fn points(mib: impl IntoIterator<Item = f64>) -> Vec<Point> {
    mib.into_iter().enumerate().map(|(i, mib)| Point { at_s: i as f64 * 10.0, bytes: mib * MIB }).collect()
}

fn shape(mib: impl IntoIterator<Item = f64>) -> Shape {
    shape_of(&points(mib), MIB)
}

/// Noise from -1 to 1, the same at every run.
fn noise(seed: u64) -> impl FnMut() -> f64 {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    move || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 11) as f64 / (1_u64 << 52) as f64 - 1.0
    }
}

#[track_caller]
fn grows(mib: impl IntoIterator<Item = f64>) -> (f64, usize) {
    match shape(mib) {
        Shape::Grows { bytes_per_s, since } => {
            let (low, high) = bytes_per_s.ends().expect("an interval");
            assert!(0.0 < low && low <= bytes_per_s.estimate && bytes_per_s.estimate <= high);
            (bytes_per_s.estimate / MIB, since)
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn two_snapshots_tell_nothing_however_much_it_grew() {
    assert_eq!(shape([10.0, 500.0]), Shape::Open);
    assert_eq!(shape([10.0]), Shape::Still);
    assert_eq!(shape([]), Shape::Still);
    assert_eq!(shape([10.0, 10.5]), Shape::Still, "less than what matters");
}

#[test]
fn a_minute_of_steady_growth_is_growth_at_its_rate() {
    let (rate, since) = grows((0..7).map(|i| 100.0 + 5.0 * f64::from(i)));
    assert!((rate - 0.5).abs() < 1e-9, "{rate}");
    assert_eq!(since, 0);
}

#[test]
fn noise_on_a_level_is_no_growth() {
    for seed in 1..=200 {
        let mut draw = noise(seed);
        let found = shape((0..60).map(|_| 200.0 + 20.0 * draw()));
        assert!(!matches!(found, Shape::Grows { .. }), "seed {seed}: {found:?}");
    }
}

#[test]
fn noise_on_growth_hides_it_at_most_for_a_while() {
    let found = (1..=100).filter(|seed| {
        let mut draw = noise(*seed);
        let mib: Vec<f64> = (0..60).map(|i| 200.0 + f64::from(i) + 3.0 * draw()).collect();
        matches!(shape(mib), Shape::Grows { .. })
    });
    assert!(95 <= found.count());
}

#[test]
fn one_step_levels_off_wherever_it_is() {
    for at in 1..20 {
        let found = shape((0..20).map(|i| if i < at { 10.0 } else { 50.0 }));
        // With four snapshots behind it the next step may follow.
        let expected = if at <= 15 { Shape::LevelledOff } else { Shape::Open };
        assert_eq!(found, expected, "step at {at}");
    }
}

#[test]
fn a_step_over_what_hardly_rises_does_not_grow_at_the_rate_of_the_rise() {
    for steps in 1..6 {
        let rise = (0..24).map(|i| 0.1 + 0.001 * f64::from(i) + if i < 24 - steps { 0.0 } else { 1.1 });
        assert!(!matches!(shape(rise), Shape::Grows { .. }), "{steps} points after the step");
    }
}

#[test]
fn little_growth_after_warm_up_does_not_matter_before_it_has_grown_by_what_matters() {
    let after_warm_up = |count: u32| {
        let warm_up = (0..6).map(|i| 0.2 * f64::from(i));
        warm_up.chain((0..count).map(|i| 1.0 + 0.03 * f64::from(i)))
    };
    assert!(!matches!(shape(after_warm_up(24)), Shape::Grows { .. }), "0.7 MiB");
    assert!(matches!(shape(after_warm_up(60)), Shape::Grows { .. }), "1.8 MiB");
}

#[test]
fn what_would_not_matter_in_an_hour_rises_slowly_and_a_faster_rise_is_not_told_yet() {
    // One large step in the last minutes over little rise, as malloc's free memory does.
    let after_warm_up = |mib_per_hour: f64, step: f64| {
        let rise = move |i: i32| mib_per_hour / 360.0 * f64::from(i) + if i < 115 { 0.0 } else { step };
        (0..120).map(move |i| 1.0f64.min(0.2 * f64::from(i)) + rise(i))
    };
    match shape(after_warm_up(0.7, 0.1)) {
        Shape::RisesSlowly { bytes_per_s } => assert!((bytes_per_s * 3600.0 / MIB - 0.7).abs() < 0.1),
        other => panic!("{other:?}"),
    }
    assert_eq!(shape(after_warm_up(2.0, 0.1)), Shape::Open, "0.7 MiB in this record");
    assert_eq!(shape(after_warm_up(0.7, 0.5)), Shape::Open, "half a MiB in the last minute");
}

#[test]
fn warm_up_then_flat_levels_off() {
    let warm_up = |i: i32| 300.0 * (1.0 - (-f64::from(i) / 6.0).exp());
    assert_eq!(shape((0..60).map(warm_up)), Shape::LevelledOff);
    let early = shape((0..7).map(warm_up));
    assert_eq!(early, Shape::Open, "a minute of it does not tell");
}

#[test]
fn warm_up_then_a_leak_grows_since_the_leak_began() {
    let mib = |i: i32| if i < 10 { 20.0 * f64::from(i) } else { 200.0 + 2.0 * f64::from(i - 10) };
    let (rate, since) = grows((0..60).map(mib));
    assert!((rate - 0.2).abs() < 0.05, "{rate}");
    assert!((6..=10).contains(&since), "{since}");
}

#[test]
fn a_cache_that_fills_grows_while_it_fills_and_not_when_it_is_full() {
    let full_at = |full: i32, all: i32| (0..all).map(move |i| 5.0 * f64::from(i.min(full)));
    assert!(matches!(shape(full_at(60, 60)), Shape::Grows { .. }));
    for all in 60..200 {
        let found = shape(full_at(50, all));
        assert!(!matches!(found, Shape::Grows { .. }), "full at 50 of {all}: {found:?}");
    }
    assert_eq!(shape(full_at(50, 110)), Shape::LevelledOff);
    // Nine snapshots.
    assert!(!matches!(shape(full_at(6, 9)), Shape::Grows { .. }));
}

#[test]
fn a_sawtooth_is_garbage_wherever_the_record_ends() {
    for period in 2..12 {
        for all in 3 * period..60 {
            let found = shape((0..all).map(|i| 50.0 + 10.0 * f64::from(i % period)));
            assert!(matches!(found, Shape::RisesAndFalls { .. }), "period {period}, {all}: {found:?}");
        }
    }
}

#[test]
fn a_sawtooth_with_rising_lows_grows_by_what_its_lows_do() {
    let mib = |i: i32| 50.0 + 20.0 * f64::from(i % 5) + f64::from(i / 5 * 5);
    let (rate, _) = grows((0..60).map(mib));
    assert!((rate - 0.1).abs() < 0.02, "{rate}");
    let short = shape((0..12).map(mib));
    assert_eq!(short, Shape::Open, "three lows are too few");
}

/// Live objects of a healthy program by 61 marks in KiB, of which later ones took dead objects for live ones: seen with JDK 25 on a busy machine.
#[test]
fn a_figure_that_becomes_uneven_does_not_grow() {
    let kib = [
        9697, 9706, 9701, 9693, 9706, 9701, 9710, 13777, 13781, 13616, 10999, 13624, 10995, 13624, 13624,
        10996, 13362, 13749, 16793, 13241, 14632, 15023, 11592, 14575, 12398, 15442, 14217, 14640, 17252,
        9697, 16668, 10399, 16768, 14087, 11294, 14241, 11387, 14338, 15271, 16626, 16196, 9706, 16994,
        11490, 18823, 14188, 10907, 16857, 12535, 20146, 13701, 19167, 15785, 11233, 21089, 15115, 20243,
        16296, 19348, 20979, 13697,
    ];
    for all in 2..=kib.len() {
        let level = (0..60).map(|i| 9.48 + 0.01 * f64::from(i % 2));
        let found = shape(level.chain(kib[..all].iter().map(|kib| f64::from(*kib) / 1024.0)));
        assert!(!matches!(found, Shape::Grows { .. }), "{all}: {found:?}");
    }
}

#[test]
fn what_was_given_back_once_is_no_growth() {
    assert!(matches!(shape([10.0, 20.0, 30.0, 40.0, 10.0, 10.0]), Shape::RisesAndFalls { .. }));
    assert_eq!(shape([40.0, 39.0, 38.0, 37.0, 37.0]), Shape::LevelledOff, "it only shrank");
    assert!(
        matches!(shape([40.0, 10.0, 30.0, 40.0, 10.0, 30.0]), Shape::RisesAndFalls { .. }),
        "begun at a high"
    );
}

proptest! {
    #[test]
    fn growth_is_never_claimed_without_an_interval_above_zero(mib in prop::collection::vec(0.0f64..1e6, 0..60)) {
        if let Shape::Grows { bytes_per_s, since } = shape(mib.clone()) {
            prop_assert!(bytes_per_s.low.is_some_and(|low| 0.0 < low));
            prop_assert!(since < mib.len());
        }
    }

    #[test]
    fn the_rate_of_growth_explains_half_of_what_came(mib in prop::collection::vec(0.0f64..1e3, 4..60)) {
        let all = points(mib);
        if let Shape::Grows { bytes_per_s, since } = shape_of(&all, MIB) {
            let (first, last) = (all[since], all[all.len() - 1]);
            let explained = bytes_per_s.estimate * (last.at_s - first.at_s);
            prop_assert!((last.bytes - first.bytes) * 0.5 <= explained, "{all:?}");
        }
    }

    #[test]
    fn what_ends_no_higher_than_it_began_does_not_grow(mut mib in prop::collection::vec(0.0f64..1e3, 2..60)) {
        mib.push(mib[0]);
        let grows = matches!(shape(mib), Shape::Grows { .. });
        prop_assert!(!grows);
    }
}
