//! Whether groups of values differ by more than the values within them: the blocks of a study, by the host that they ran on.

use crate::draw::Draws;

/// Ways of dealing out the values that are tried.
const DEALS: usize = 9_999;
/// A share below which groups are said to differ.
pub const BETWEEN_ERROR: f64 = 0.05;

/// How the scatter of values splits into that within groups and that between them.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct BetweenGroups {
    /// Standard deviation of the values of a group, pooled.
    pub within_deviation: f64,
    /// Standard deviation of the groups' true means: what their measured means scatter beyond what the values within explain. 0 where
    /// these explain all of it.
    pub between_deviation: f64,
    /// Share of the ways to deal out the same values to groups of the same sizes in which the means lie as far apart; absent where there
    /// are so few ways that no share could be below [`BETWEEN_ERROR`].
    pub share_by_chance: Option<f64>,
}

/// Compares groups. Nothing where no group has two values, or fewer than two have any, or a value is not finite.
///
/// The deviations are those of an analysis of variance with one random factor and groups of any size (method of moments; Searle, Casella and
/// McCulloch, *Variance Components*, 3.6). The share is that of a permutation test of the same sums, so that no distribution is assumed: under
/// equal groups it is below 5 % in at most 5 % of the studies. Held by: `equal_groups_differ_in_one_of_twenty_and_unequal_ones_are_found`.
pub fn between_groups(groups: &[Vec<f64>], seed: u64) -> Option<BetweenGroups> {
    let groups: Vec<&Vec<f64>> = groups.iter().filter(|group| !group.is_empty()).collect();
    let mut values: Vec<f64> = groups.iter().flat_map(|group| group.iter().copied()).collect();
    let sizes: Vec<usize> = groups.iter().map(|group| group.len()).collect();
    let (all, count) = (values.len() as f64, sizes.len() as f64);
    if sizes.len() < 2 || values.len() == sizes.len() || values.iter().any(|value| !value.is_finite()) {
        return None;
    }
    let between_sum = sum_between(&values, &sizes);
    let mean = values.iter().sum::<f64>() / all;
    let whole_sum: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
    let within_square = ((whole_sum - between_sum) / (all - count)).max(0.0);
    let between_square = between_sum / (count - 1.0);
    // The size of each group where all are of one size.
    let size = (all - sizes.iter().map(|size| (size * size) as f64).sum::<f64>() / all) / (count - 1.0);
    let between = ((between_square - within_square) / size).max(0.0);
    let share_by_chance = (1.0 / BETWEEN_ERROR < ways(&sizes)).then(|| {
        let mut draws = Draws::seeded(seed);
        // Sums of the same values in another order differ in their last digits.
        let as_far = between_sum * (1.0 - 1e-9);
        let mut found = 1;
        for _ in 0..DEALS {
            // Fisher-Yates.
            for last in (1..values.len()).rev() {
                values.swap(last, draws.index(last + 1));
            }
            found += usize::from(as_far <= sum_between(&values, &sizes));
        }
        found as f64 / (DEALS + 1) as f64
    });
    Some(BetweenGroups {
        within_deviation: within_square.sqrt(),
        between_deviation: between.sqrt(),
        share_by_chance,
    })
}

/// Squares of the distances of the groups' means from the mean of all, by their sizes. The values of a group follow each other.
fn sum_between(values: &[f64], sizes: &[usize]) -> f64 {
    let mean = values.iter().sum::<f64>() / values.len() as f64;
    let mut rest = values;
    let of_group = |size: &usize| {
        let (group, others) = rest.split_at(*size);
        rest = others;
        let own = group.iter().sum::<f64>() / *size as f64;
        *size as f64 * (own - mean).powi(2)
    };
    sizes.iter().map(of_group).sum()
}

/// In how many ways values can be dealt out to groups of these sizes, where groups of one size are not told apart.
fn ways(sizes: &[usize]) -> f64 {
    let factorial = |n: usize| libm::lgamma(n as f64 + 1.0);
    let all: usize = sizes.iter().sum();
    let mut of_size = std::collections::BTreeMap::<usize, usize>::new();
    sizes.iter().for_each(|size| *of_size.entry(*size).or_default() += 1);
    let alike: f64 = of_size.values().map(|count| factorial(*count)).sum();
    (factorial(all) - sizes.iter().map(|size| factorial(*size)).sum::<f64>() - alike).exp()
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::RngExt;
    use rand_chacha::ChaCha8Rng;
    use rand_chacha::rand_core::SeedableRng;

    #[test]
    fn groups_that_cannot_be_compared_have_no_answer() {
        assert_eq!(between_groups(&[], 1), None);
        assert_eq!(between_groups(&[vec![1.0, 2.0]], 1), None, "one group");
        assert_eq!(between_groups(&[vec![1.0, 2.0], vec![]], 1), None, "one that has values");
        assert_eq!(between_groups(&[vec![1.0], vec![2.0]], 1), None, "no scatter within");
        assert_eq!(between_groups(&[vec![1.0, f64::NAN], vec![2.0]], 1), None);
    }

    #[test]
    fn what_so_few_values_could_never_show_has_no_share() {
        // 3 ways: 12|34, 13|24, 14|23.
        let found = between_groups(&[vec![1.0, 2.0], vec![8.0, 9.0]], 1).expect("two groups of two");
        assert_eq!(found.share_by_chance, None);
        assert!((ways(&[2, 2]) - 3.0).abs() < 1e-9);
        assert!((ways(&[4, 4]) - 35.0).abs() < 1e-9);
        assert!((ways(&[2, 3]) - 10.0).abs() < 1e-9);
    }

    /// By hand: means 2 and 6, of all 4; between 3 * 4 + 3 * 4 = 24 with 1 degree, within 4 with 4 degrees.
    #[test]
    fn deviations_are_those_of_the_analysis_of_variance() {
        let found = between_groups(&[vec![1.0, 2.0, 3.0], vec![5.0, 6.0, 7.0]], 1).expect("comparable");
        assert!((found.within_deviation - 1.0).abs() < 1e-12);
        assert!((found.between_deviation - ((24.0f64 - 1.0) / 3.0).sqrt()).abs() < 1e-12);
        // 10 ways to choose three of six where the two groups are alike: one of them is as far apart.
        assert_eq!(found.share_by_chance, None);
    }

    #[test]
    fn equal_values_never_differ() {
        let found = between_groups(&[vec![2.0; 4], vec![2.0; 5]], 1).expect("comparable");
        assert_eq!((found.within_deviation, found.between_deviation), (0.0, 0.0));
        assert_eq!(found.share_by_chance, Some(1.0));
    }

    #[test]
    fn equal_groups_differ_in_one_of_twenty_and_unequal_ones_are_found() {
        const STUDIES: usize = 150;
        let mut random = ChaCha8Rng::seed_from_u64(3);
        let mut shown = |host_deviation: f64| {
            let mut found = 0;
            for study in 0..STUDIES {
                let groups: Vec<Vec<f64>> = (0..3)
                    .map(|_| {
                        let host = host_deviation * noise(&mut random);
                        (0..4).map(|_| host + 0.01 * noise(&mut random)).collect()
                    })
                    .collect();
                let share = between_groups(&groups, study as u64).and_then(|found| found.share_by_chance);
                found += usize::from(share.is_some_and(|share| share < BETWEEN_ERROR));
            }
            found as f64 / STUDIES as f64
        };
        let (equal, unequal) = (shown(0.0), shown(0.04));
        println!("equal hosts differ in {:.1} %, unequal ones in {:.1} %", equal * 100.0, unequal * 100.0);
        // Three standard errors.
        assert!(equal < 0.05 + 3.0 * (0.05f64 * 0.95 / STUDIES as f64).sqrt(), "{equal}");
        assert!(0.75 < unequal, "{unequal}");
    }

    /// Normal, by the sum of twelve.
    fn noise(random: &mut ChaCha8Rng) -> f64 {
        (0..12).map(|_| random.random::<f64>()).sum::<f64>() - 6.0
    }
}
