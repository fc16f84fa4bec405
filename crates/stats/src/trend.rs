//! A slope that outliers do not move: the median of the slopes of all pairs.

use crate::quantile::median;
use crate::theil_sen::{PairSlopes, TrendPoint};
use assay_model::Estimate;

/// Fewer points in all groups have no interval: Sen's would reach beyond the slopes of all pairs.
pub const POINTS_FOR_TREND: usize = 5;
const NORMAL_97_5: f64 = 1.959_963_985;

/// Median of the slopes of all pairs within a group, with Sen's 95 % interval (P. K. Sen, 1968: ranks of the slopes, by the variance of
/// Kendall's S); `None` when no two points differ in time.
///
/// What a process holds resembles what it held before, and Sen's interval takes points to be independent. So that variance is
/// taken (1 + r) / (1 - r) times, r being the correlation of neighbouring residuals where it is above zero, as for a first-order
/// autoregression (K. H. Hamed and A. R. Rao, 1998, do so lag by lag). Held by `the_interval_of_a_flat_set_holds_zero`.
pub fn trend(points: &[TrendPoint]) -> Option<Estimate> {
    let slopes = PairSlopes::of(points)?;
    let estimate = slopes.median();
    let groups: Vec<&[TrendPoint]> = points.chunk_by(|a, b| a.group == b.group).collect();
    let most = groups.iter().map(|group| group.len()).max().unwrap_or(0);
    if most < POINTS_FOR_TREND {
        return Some(Estimate { estimate, low: None, high: None });
    }
    let (low, high) = slopes.interval(NORMAL_97_5, inflation(&groups, estimate));
    Some(Estimate { estimate, low: Some(low), high: Some(high) })
}

/// How much wider the variance is because neighbours resemble each other.
fn inflation(groups: &[&[TrendPoint]], slope: f64) -> f64 {
    let (mut products, mut squares, mut count) = (0.0, 0.0, 0.0_f64);
    for group in groups {
        let level: Vec<f64> = group.iter().map(|point| point.value - slope * point.at).collect();
        let Some(middle) = median(&level) else { continue };
        let residuals: Vec<f64> = level.iter().map(|value| value - middle).collect();
        products += residuals.windows(2).map(|pair| pair[0] * pair[1]).sum::<f64>();
        squares += residuals.iter().map(|residual| residual * residual).sum::<f64>();
        count += residuals.len() as f64;
    }
    if squares == 0.0 || count < 3.0 {
        return 1.0;
    }
    // An estimate from n points is too small by about (1 + 3 r) / n.
    let r = products / squares;
    let r = (r + (1.0 + 3.0 * r) / count).clamp(0.0, 0.95);
    (1.0 + r) / (1.0 - r)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn points(values: &[f64]) -> Vec<TrendPoint> {
        let point =
            |(index, value): (usize, &f64)| TrendPoint { group: 0, at: index as f64 * 0.5, value: *value };
        values.iter().enumerate().map(point).collect()
    }

    proptest! {
        #[test]
        fn it_is_the_median_over_all_pairs(values in prop::collection::vec(-1e6f64..1e6, 2..40)) {
            let points = points(&values);
            let mut slopes = Vec::new();
            for a in &points {
                for b in &points {
                    if a.at < b.at {
                        slopes.push((b.value - a.value) / (b.at - a.at));
                    }
                }
            }
            let want = median(&slopes).unwrap();
            let got = trend(&points).unwrap();
            prop_assert!((got.estimate - want).abs() <= 1e-9 * want.abs().max(1.0));
            prop_assert!(got.low.is_none_or(|low| low <= got.estimate) && got.high.is_none_or(|high| got.estimate <= high));
        }
    }

    /// A level with noise in which each value keeps `memory` of the one before.
    fn noise(count: usize, memory: f64, seed: u64) -> Vec<f64> {
        let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
        let mut level = 0.0;
        let mut draw = || {
            let mut sum = -6.0;
            for _ in 0..12 {
                state ^= state << 13;
                state ^= state >> 7;
                state ^= state << 17;
                sum += (state >> 11) as f64 / (1_u64 << 53) as f64;
            }
            sum
        };
        (0..count + 50)
            .map(|_| {
                level = memory * level + draw();
                level
            })
            .skip(50)
            .collect()
    }

    #[test]
    fn the_interval_of_a_flat_set_holds_zero() {
        for (memory, least) in [(0.0, 0.93), (0.5, 0.92), (0.8, 0.88)] {
            let holds = |seed: u64| {
                let found = trend(&points(&noise(60, memory, seed))).unwrap();
                found.low.unwrap() <= 0.0 && 0.0 <= found.high.unwrap()
            };
            let held = (1..=400).filter(|seed| holds(*seed)).count() as f64 / 400.0;
            assert!(least <= held, "memory {memory}: {held}");
        }
    }

    #[test]
    fn groups_are_not_compared_with_each_other() {
        let mut both = points(&[1.0, 2.0, 3.0, 4.0]);
        both.extend(points(&[101.0, 102.0, 103.0]).iter().map(|p| TrendPoint {
            group: 1,
            at: p.at + 100.0,
            ..*p
        }));
        assert_eq!(trend(&both).unwrap().estimate, 2.0);
    }
}
