//! Whether what the server got were arrivals of many independent users.

use assay_load::WindowDetail;

/// How the intended starts of sent requests were spread.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Gaps {
    /// Gaps between them.
    pub count: u64,
    /// Largest distance between their distribution and the exponential one of the same mean (Kolmogorov-Smirnov).
    pub distance: Option<f64>,
}

/// Fewer gaps are not judged.
const GAPS_MIN: u64 = 50;
/// Distance, times the root of the count, beyond which gaps are not exponential. For a mean taken from the same gaps, which makes
/// the distance smaller, Lilliefors (1969) gives 1.25 at the 1 % level; the largest of 20,000 samples was 1.76
/// (`exponential_gaps_stay_within_the_bound`).
const DISTANCE_ROOT_COUNT_MAX: f64 = 1.9;

impl Gaps {
    /// Whether the gaps are not those of a Poisson process; absent when there are too few.
    pub fn are_foreign(&self) -> Option<bool> {
        let distance = self.distance.filter(|_| GAPS_MIN <= self.count)?;
        Some(DISTANCE_ROOT_COUNT_MAX < distance * (self.count as f64).sqrt())
    }

    /// Largest distance that is taken for chance.
    pub fn distance_max(&self) -> f64 {
        DISTANCE_ROOT_COUNT_MAX / (self.count.max(1) as f64).sqrt()
    }
}

/// The spread of a window's gaps. The distance is taken at the edges of the histogram's buckets, where its counts are exact.
pub fn gaps_of(detail: &WindowDetail) -> Gaps {
    let gaps = &detail.gaps;
    let count = gaps.len();
    let mean_ns = gaps.mean();
    if count == 0 || mean_ns <= 0.0 {
        return Gaps { count, distance: None };
    }
    let law = |until_ns: u64| 1.0 - (-(until_ns as f64) / mean_ns).exp();
    let (mut below, mut distance) = (0, 0.0_f64);
    for bucket in gaps.iter_recorded() {
        let value = bucket.value_iterated_to();
        let before = below as f64 / count as f64;
        below += bucket.count_at_value();
        let after = below as f64 / count as f64;
        let (from_ns, to_ns) = (gaps.lowest_equivalent(value), gaps.next_non_equivalent(value));
        distance = distance.max((law(from_ns) - before).abs()).max((law(to_ns) - after).abs());
    }
    Gaps { count, distance: Some(distance) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use assay_load::ArrivalLaw;

    fn gaps(law: ArrivalLaw, rate_per_s: f64, count: usize, seed: u64) -> Gaps {
        let mut detail = WindowDetail::empty();
        let mut last_ns = None;
        for at_ns in law.arrivals(rate_per_s, seed).take(count) {
            if let Some(last_ns) = last_ns.replace(at_ns) {
                detail.gaps.saturating_record(at_ns - last_ns);
            }
        }
        gaps_of(&detail)
    }

    #[test]
    fn exponential_gaps_stay_within_the_bound() {
        let mut worst = 0.0_f64;
        // With ASSAY_TEST_SEEDS=20000 the largest is 1.76.
        let seeds = std::env::var("ASSAY_TEST_SEEDS").ok().and_then(|n| n.parse().ok()).unwrap_or(500);
        for seed in 0..seeds {
            let gaps = gaps(ArrivalLaw::Poisson, 700.0, 200 + seed as usize % 2_000, seed);
            assert_eq!(gaps.are_foreign(), Some(false), "seed {seed}: {gaps:?}");
            worst = worst.max(gaps.distance.expect("judged") * (gaps.count as f64).sqrt());
        }
        println!("largest distance times root of count: {worst:.2}");
    }

    #[test]
    fn equal_gaps_and_bursts_are_foreign() {
        assert_eq!(gaps(ArrivalLaw::Constant, 700.0, 100, 1).are_foreign(), Some(true));
        let mut detail = WindowDetail::empty();
        // Pairs, a tenth of the mean gap apart.
        for (number, at_ns) in ArrivalLaw::Poisson.arrivals(500.0, 3).take(1_000).enumerate() {
            detail.gaps.saturating_record(if number % 2 == 0 { 200_000 } else { at_ns % 8_000_000 + 1 });
        }
        assert_eq!(gaps_of(&detail).are_foreign(), Some(true));
    }

    #[test]
    fn few_gaps_are_not_judged() {
        assert_eq!(gaps(ArrivalLaw::Constant, 700.0, 20, 1).are_foreign(), None);
        assert_eq!(gaps_of(&WindowDetail::empty()), Gaps::default());
    }
}
