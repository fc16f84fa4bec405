//! How far two logs lie apart in one figure, beside how far the intervals of each lie apart.

/// Least number of intervals with something in them, in each log.
pub(super) const SEGMENTS_MIN: usize = 6;

/// A difference of logarithms with its uncertainty.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Evidence {
    /// ln(after / before).
    pub log_ratio: f64,
    /// Standard error of that from what varies within the logs.
    pub error: f64,
    /// Degrees of freedom of that error.
    pub degrees: f64,
}

/// A figure of one log as a logarithm, and what each interval adds to it beyond its share; these sum up to zero.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Figure {
    pub log: f64,
    pub residuals: Vec<f64>,
}

/// Joins both sides, interval by interval: what both logs show at the same point, such as a start or slow growth, is not
/// counted as noise between them.
///
/// A burst in a single interval of one log can make a quotient thirty times as large, while its logarithm's error, taken as linear, never
/// exceeds one. The difference itself has an error as large as itself there. So the larger error of both counts. Held by
/// `a_single_burst_is_no_difference`. It was met in the promoted bytes of a CMS log.
pub(super) fn evidence(before: &Figure, after: &Figure) -> Evidence {
    let ratio = (after.log - before.log).exp();
    let by_segment = |weight: f64| -> Vec<f64> {
        let pairs = after.residuals.iter().zip(&before.residuals);
        pairs.map(|(after, before)| weight * after - before).collect()
    };
    let degrees = after.residuals.len().saturating_sub(1).max(1) as f64;
    let log_ratio = after.log - before.log;
    let mut error = error_of(&by_segment(1.0));
    if log_ratio.abs() > 1e-9 {
        error = error.max(error_of(&by_segment(ratio)) * (log_ratio / (ratio - 1.0)).abs());
    }
    Evidence { log_ratio, error, degrees }
}

/// Standard error of a sum of one residual an interval, whose sum is zero.
///
/// Segments that follow each other may still resemble each other; where they do, the error is larger by (1 + 2 r), r being the correlation
/// of neighbours. Where they seem to differ from each other more than by chance, it is not made smaller.
pub(super) fn error_of(residuals: &[f64]) -> f64 {
    let n = residuals.len() as f64;
    let squares: f64 = residuals.iter().map(|residual| residual * residual).sum();
    if squares == 0.0 {
        return 0.0;
    }
    let neighbours: f64 = residuals.windows(2).map(|pair| pair[0] * pair[1]).sum();
    let r = (neighbours / squares).clamp(0.0, 0.9);
    (squares * n / (n - 1.0) * (1.0 + 2.0 * r)).sqrt()
}

/// Σ numerators / Σ denominators of intervals, as a logarithm. `None` when there are too few, or the sum is not above zero.
pub(super) fn quotient(parts: &[(f64, f64)]) -> Option<Figure> {
    let filled = parts.iter().filter(|(sum, _)| *sum > 0.0).count();
    let (sum, of) = parts.iter().fold((0.0, 0.0), |all, part| (all.0 + part.0, all.1 + part.1));
    if filled < SEGMENTS_MIN || sum <= 0.0 || of <= 0.0 {
        return None;
    }
    let quotient = sum / of;
    let residuals = parts.iter().map(|(part, part_of)| (part - quotient * part_of) / sum).collect();
    Some(Figure { log: quotient.ln(), residuals })
}

/// Mean logarithms of two logs, and how far they lie apart.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct ByKind {
    pub before: f64,
    pub after: f64,
    pub evidence: Evidence,
}

/// Means of logarithms by kind, each interval with how many of a kind it has and the sum of their logarithms; kinds weigh by how many of
/// them both logs have, so that another mix of kinds does not count as a difference. `None` when there are too few.
pub(super) fn by_kind(before: &[Vec<(f64, f64)>], after: &[Vec<(f64, f64)>]) -> Option<ByKind> {
    let counts =
        |side: &[Vec<(f64, f64)>], kind: usize| side.iter().map(|segment| segment[kind].0).sum::<f64>();
    let kinds = before.first()?.len();
    let harmonic = |kind: usize| {
        let (a, b) = (counts(before, kind), counts(after, kind));
        // A kind that a log has only once has no known spread.
        if a < 2.0 || b < 2.0 { 0.0 } else { a * b / (a + b) }
    };
    let weights: Vec<f64> = (0..kinds).map(harmonic).collect();
    let weight: f64 = weights.iter().sum();
    if weight <= 0.0 {
        return None;
    }
    let weights: Vec<f64> = weights.iter().map(|of| of / weight).collect();
    let (before, after) = (of_kinds(before, &weights)?, of_kinds(after, &weights)?);
    Some(ByKind { before: before.log, after: after.log, evidence: evidence(&before, &after) })
}

fn of_kinds(side: &[Vec<(f64, f64)>], weights: &[f64]) -> Option<Figure> {
    let mut log = 0.0;
    let mut residuals = vec![0.0; side.len()];
    let mut is_filled = vec![false; side.len()];
    for (kind, weight) in weights.iter().enumerate().filter(|(_, weight)| **weight > 0.0) {
        let (count, sum) = side.iter().fold((0.0, 0.0), |all, s| (all.0 + s[kind].0, all.1 + s[kind].1));
        let mean = sum / count;
        log += weight * mean;
        for (index, segment) in side.iter().enumerate() {
            let (in_segment, in_sum) = segment[kind];
            residuals[index] += weight * (in_sum - mean * in_segment) / count;
            is_filled[index] |= in_segment > 0.0;
        }
    }
    let filled = is_filled.iter().filter(|is| **is).count();
    (SEGMENTS_MIN <= filled).then_some(Figure { log, residuals })
}

/// Two-sided probability of a t at least as far from zero, by Wallace's normal approximation (1959), good to a few percent of itself from
/// five degrees of freedom on.
pub(super) fn two_sided(t: f64, degrees: f64) -> f64 {
    let z = (8.0 * degrees + 1.0) / (8.0 * degrees + 3.0) * (degrees * (t * t / degrees).ln_1p()).sqrt();
    libm::erfc(z / std::f64::consts::SQRT_2)
}

/// The t that is exceeded with this probability on both sides together.
pub(super) fn critical(probability: f64, degrees: f64) -> f64 {
    let (mut low, mut high) = (0.0_f64, 1e3_f64);
    for _ in 0..60 {
        let middle = f64::midpoint(low, high);
        if two_sided(middle, degrees) > probability { low = middle } else { high = middle }
    }
    high
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tails_agree_with_published_tables() {
        for (degrees, probability, want) in
            [(5.0, 0.05, 2.5706), (10.0, 0.05, 2.2281), (30.0, 0.01, 2.7500), (60.0, 0.001, 3.4602)]
        {
            let got = critical(probability, degrees);
            assert!((got - want).abs() < 0.01 * want, "{degrees} {probability}: {got}, not {want}");
        }
    }

    #[test]
    fn a_quotient_has_the_error_that_repetition_shows() {
        // Numerators of mean 10 and deviation 1 over denominators of 1, 30 intervals: 1 / 10 / sqrt(30).
        let parts: Vec<(f64, f64)> = (0..30).map(|i| (if i % 2 == 0 { 11.0 } else { 9.0 }, 1.0)).collect();
        let got = quotient(&parts).unwrap();
        let want = 0.1 / 30_f64.sqrt() * (30.0 / 29.0_f64).sqrt();
        assert!(
            (got.log.exp() - 10.0).abs() < 1e-9 && (error_of(&got.residuals) - want).abs() < 1e-9,
            "{got:?} {want}"
        );
        assert_eq!(quotient(&parts[..5]), None);
    }

    #[test]
    fn what_both_logs_have_at_the_same_place_is_no_noise() {
        let grows = |level: f64| -> Vec<(f64, f64)> {
            (0..30).map(|i| (level * f64::from(100 + 10 * i + i % 3), 1.0)).collect()
        };
        let (before, after) = (quotient(&grows(1.0)).unwrap(), quotient(&grows(1.1)).unwrap());
        let found = evidence(&before, &after);
        assert!(
            (found.log_ratio - 1.1_f64.ln()).abs() < 1e-9 && found.error < 0.2 * error_of(&before.residuals),
            "{found:?}"
        );
        assert!(error_of(&before.residuals) > 0.05);
    }

    #[test]
    fn a_single_burst_is_no_difference() {
        let level: Vec<(f64, f64)> = (0..30).map(|i| (1.0 + 0.1 * f64::from(i % 3), 1.0)).collect();
        let mut burst = level.clone();
        burst[7].0 = 1_000.0;
        let found = evidence(&quotient(&level).unwrap(), &quotient(&burst).unwrap());
        assert!(
            found.log_ratio > 3.0 && two_sided(found.log_ratio / found.error, found.degrees) > 0.1,
            "{found:?}"
        );
    }

    #[test]
    fn another_mix_of_kinds_is_no_difference() {
        let segments = |long: f64| -> Vec<Vec<(f64, f64)>> {
            (0..20).map(|i| vec![(50.0, 50.0 + 0.1 * f64::from(i % 2)), (long, long * 3.0)]).collect()
        };
        let got = by_kind(&segments(5.0), &segments(20.0)).unwrap().evidence;
        assert!(got.log_ratio.abs() < 1e-12, "{got:?}");
    }
}
