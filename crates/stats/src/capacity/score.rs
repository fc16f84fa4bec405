//! Scores of a sweep: the rules that SPECjbb2015 publishes, for whoever wants the classic figures.
//!
//! They take a curve as it is, without an interval. An early miss moves the result far (one level of a hundred can cost 5 %),
//! which is why [`super::Search`] is the default.
//!
//! The figures of a sweep here are not comparable with published ones: another workload is behind them.

use super::Capacity;
use assay_model::{Estimate, LatencyLimit, LimitRate};

/// One level of a sweep, in the order in which levels were tried: by rate, upwards.
#[derive(Debug, Clone, PartialEq)]
pub struct Level {
    /// Rate that was asked for, per second.
    pub rate_per_s: f64,
    /// For each limit, the percentile of the response times that it holds for, in ms.
    pub percentiles_ms: Vec<f64>,
    /// Whether the server kept up, at once or when tried again.
    pub is_sustained: bool,
}

/// Scores levels in the order in which they were tried.
///
/// For each limit, FF is the lowest rate that exceeds it and LS the highest that keeps it, among levels up to the maximum.
/// The rate at the limit is (FF · over + LS · under) / (over + under), where `over` and `under` count the levels from the
/// lower to the higher of the two, both included, that exceed it and keep it. Without a failure it is LS.
///
/// The highest sustained rate is the last level before the first that was not sustained.
pub fn score(levels: &[Level], limits: &[LatencyLimit]) -> Capacity {
    let sustained = levels.iter().position(|level| !level.is_sustained).unwrap_or(levels.len());
    let levels = &levels[..sustained];
    let limits: Vec<_> = limits.iter().enumerate().map(|(at, limit)| rate_at(levels, at, limit)).collect();
    let rates: Option<Vec<f64>> = limits.iter().map(|limit| Some(limit.rate_per_s?.estimate)).collect();
    Capacity {
        max_rate_per_s: levels.last().map(|level| without_interval(level.rate_per_s)),
        critical_rate_per_s: rates.as_deref().and_then(crate::geometric_mean).map(without_interval),
        limits,
        is_precise: false,
        from_below: None,
        used_s: 0.0,
    }
}

fn without_interval(rate_per_s: f64) -> Estimate {
    Estimate { estimate: rate_per_s, low: None, high: None }
}

fn rate_at(levels: &[Level], at: usize, limit: &LatencyLimit) -> LimitRate {
    let keeps = |level: &&Level| level.percentiles_ms.get(at).is_some_and(|ms| *ms <= limit.limit_ms);
    let by_rate = |a: &f64, b: &f64| a.total_cmp(b);
    let rates =
        |wanted: bool| levels.iter().filter(move |level| keeps(level) == wanted).map(|l| l.rate_per_s);
    let last_success_per_s = rates(true).max_by(by_rate);
    let first_failure_per_s = rates(false).min_by(by_rate);
    let rate_per_s = last_success_per_s.map(|success| {
        let Some(failure) = first_failure_per_s else { return success };
        let between = success.min(failure)..=success.max(failure);
        let inside = levels.iter().filter(|level| between.contains(&level.rate_per_s));
        let (under, over): (Vec<&Level>, Vec<&Level>) = inside.partition(keeps);
        let (under, over) = (under.len() as f64, over.len() as f64);
        (failure * over + success * under) / (over + under)
    });
    LimitRate {
        limit_ms: limit.limit_ms,
        operation: limit.operation.clone(),
        last_success_per_s,
        first_failure_per_s,
        rate_per_s: rate_per_s.map(without_interval),
        limited_by_max: last_success_per_s.is_some() && first_failure_per_s.is_none(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::{RngExt, SeedableRng};
    use rand_chacha::ChaCha8Rng;

    fn limits<const N: usize>(limits_ms: [f64; N]) -> Vec<LatencyLimit> {
        limits_ms.map(LatencyLimit::of_all).to_vec()
    }

    fn level(rate_per_s: f64, percentile_ms: f64) -> Level {
        Level { rate_per_s, percentiles_ms: vec![percentile_ms; 2], is_sustained: true }
    }

    fn rates(scored: &Capacity) -> (Option<f64>, Vec<Option<f64>>) {
        let rate = |of: Option<Estimate>| of.map(|rate| rate.estimate);
        (rate(scored.max_rate_per_s), scored.limits.iter().map(|limit| rate(limit.rate_per_s)).collect())
    }

    /// The five lines of the published example: where the last success and the first failure are, and how many levels
    /// between them keep the limit and exceed it.
    #[test]
    fn the_published_example_gives_its_published_scores() {
        let lines = [
            (963.0, 837.0, 1, 3, 868),
            (1465.0, 1172.0, 4, 4, 1318),
            (2135.0, 1591.0, 5, 9, 1785),
            (2345.0, 2387.0, 1, 1, 2366),
            (2345.0, 2387.0, 1, 1, 2366),
        ];
        let mut rates = Vec::new();
        for (success, failure, under, over, published) in lines {
            let levels = levels_between(success, failure, under, over);
            let rate = score(&levels, &limits([50.0])).limits[0]
                .rate_per_s
                .expect("a level keeps the limit")
                .estimate;
            assert_eq!(rate as u64, published);
            rates.push(rate);
        }
        assert_eq!(crate::geometric_mean(&rates).map(|rate| rate as u64), Some(1628));
    }

    /// A curve with one success or failure at each end, and the others evenly between.
    fn levels_between(success: f64, failure: f64, under: usize, over: usize) -> Vec<Level> {
        let (low, high) = (f64::min(success, failure), f64::max(success, failure));
        let count = under + over;
        let mut levels: Vec<_> = (0..count)
            .map(|index| level(low + (high - low) * index as f64 / (count - 1) as f64, 60.0))
            .collect();
        let (first, last) = if failure < success { (60.0, 40.0) } else { (40.0, 60.0) };
        levels[0].percentiles_ms = vec![first];
        levels[count - 1].percentiles_ms = vec![last];
        // The other successes lie behind the first failure.
        let others = under - 1;
        levels[1..count - 1].iter_mut().take(others).for_each(|level| level.percentiles_ms = vec![40.0]);
        levels
    }

    #[test]
    fn a_limit_that_every_level_keeps_gives_the_last_and_one_that_none_keeps_gives_nothing() {
        let levels = [level(100.0, 5.0), level(200.0, 6.0)];
        let scored = score(&levels, &limits([4.0, 10.0]));
        assert_eq!(rates(&scored), (Some(200.0), vec![None, Some(200.0)]));
        assert_eq!(scored.critical_rate_per_s, None);
    }

    #[test]
    fn the_limit_of_one_operation_is_scored_by_its_own_percentiles() {
        let of = |rate_per_s, percentiles_ms: [f64; 2]| Level {
            rate_per_s,
            percentiles_ms: percentiles_ms.to_vec(),
            is_sustained: true,
        };
        let levels = [of(100.0, [5.0, 50.0]), of(200.0, [6.0, 90.0]), of(300.0, [7.0, 110.0])];
        let checkout = LatencyLimit { limit_ms: 100.0, operation: Some("checkout".to_owned()) };
        let scored = score(&levels, &[LatencyLimit::of_all(10.0), checkout]);
        assert_eq!(rates(&scored).1, [Some(300.0), Some(250.0)]);
        assert_eq!(scored.limits[1].operation.as_deref(), Some("checkout"));
    }

    #[test]
    fn levels_behind_the_first_that_was_not_sustained_do_not_count() {
        let lost = Level { is_sustained: false, ..level(300.0, 7.0) };
        let scored =
            score(&[level(100.0, 5.0), level(200.0, 6.0), lost.clone(), level(400.0, 5.0)], &limits([10.0]));
        assert_eq!(rates(&scored), (Some(200.0), vec![Some(200.0)]));
        let scored = score(&[lost], &limits([10.0]));
        assert_eq!(rates(&scored), (None, vec![None]));
    }

    /// The rule once more, in whole numbers and by walking, as one reads it aloud.
    fn by_hand(levels: &[(u64, u64, bool)], limit: u64) -> Option<(u64, u64)> {
        let mut tried = Vec::new();
        for level in levels {
            if !level.2 {
                break;
            }
            tried.push(*level);
        }
        let mut success = None;
        let mut failure = None;
        for (rate, percentile, _) in &tried {
            if *percentile <= limit {
                success = Some(*rate);
            } else if failure.is_none() {
                failure = Some(*rate);
            }
        }
        let success = success?;
        let Some(failure) = failure else { return Some((success, 1)) };
        let (mut under, mut over) = (0, 0);
        for (rate, percentile, _) in tried {
            if (success <= rate && rate <= failure) || (failure <= rate && rate <= success) {
                if percentile <= limit { under += 1 } else { over += 1 }
            }
        }
        Some((failure * over + success * under, over + under))
    }

    #[test]
    fn a_hundred_thousand_random_curves_score_as_by_hand() {
        let mut random = ChaCha8Rng::seed_from_u64(5);
        for _ in 0..100_000 {
            let mut rate = 0;
            let curve: Vec<_> = (0..random.random_range(0..40))
                .map(|index| {
                    rate += random.random_range(1..50);
                    (rate, random.random_range(0..20 + index), random.random_range(0..30) != 0)
                })
                .collect();
            let levels: Vec<_> = curve
                .iter()
                .map(|(rate, percentile, is_sustained)| Level {
                    rate_per_s: *rate as f64,
                    percentiles_ms: vec![*percentile as f64; 2],
                    is_sustained: *is_sustained,
                })
                .collect();
            let scored = score(&levels, &limits([10.0, 25.0]));
            for (limit, scored) in [10, 25].into_iter().zip(rates(&scored).1) {
                let expected = by_hand(&curve, limit).map(|(sum, count)| sum as f64 / count as f64);
                assert_eq!(scored, expected, "{curve:?} at {limit}");
            }
        }
    }
}
