//! A percentile with its uncertainty, from lengths counted by step in intervals of time.

use super::evidence::{Figure, SEGMENTS_MIN, critical, error_of};
use crate::block::{Block, step_edge_ns};

/// Least number of lengths on either side of a percentile.
const BEYOND_MIN: f64 = 10.0;
/// Tail that the uncertainty is read at: far out, where the comparison decides.
const TAIL: f64 = 0.002;

/// The percentile as a logarithm. The uncertainty of the share that lies below it is that of a quotient by intervals; the lengths at the
/// ends of that share's interval are those of the percentile's (R. S. Woodruff, 1952). `None` when there are too few lengths beyond.
pub(super) fn percentile(blocks: &[Block], steps: &[u64], share: f64) -> Option<Figure> {
    let all: f64 = steps.iter().map(|count| *count as f64).sum();
    if all * (1.0 - share).min(share) < BEYOND_MIN {
        return None;
    }
    let at = at_share(steps, all, share)?;
    let residual = |block: &Block| {
        let counts: Vec<u64> = block.steps.iter().map(|count| u64::from(*count)).collect();
        let of: f64 = counts.iter().map(|count| *count as f64).sum();
        (below(&counts, at) - share * of) / all
    };
    let residuals: Vec<f64> = blocks.iter().map(residual).collect();
    if blocks.iter().filter(|block| !block.steps.is_empty()).count() < SEGMENTS_MIN {
        return None;
    }
    let error_of_share = error_of(&residuals);
    let half = critical(TAIL, residuals.len() as f64 - 1.0) * error_of_share;
    let (low, high) = (share - half, share + half);
    // Beyond the last length nothing is known.
    if low * all < 1.0 || (1.0 - high) * all < 1.0 {
        return None;
    }
    let (low, high) = (at_share(steps, all, low)?, at_share(steps, all, high)?);
    // The more lie below a length, the smaller the percentile is.
    let scale = if half > 0.0 { -(high - at).max(at - low) / half } else { 0.0 };
    Some(Figure { log: at, residuals: residuals.iter().map(|residual| residual * scale).collect() })
}

/// Logarithm of the length that this share lies below, by interpolation within its step.
fn at_share(steps: &[u64], all: f64, share: f64) -> Option<f64> {
    let want = share * all;
    let mut seen = 0.0;
    for (step, count) in steps.iter().enumerate() {
        let count = *count as f64;
        if count > 0.0 && want <= seen + count {
            let (low, high) = (step_edge_ns(step).ln(), step_edge_ns(step + 1).ln());
            return Some(low + (high - low) * ((want - seen) / count).clamp(0.0, 1.0));
        }
        seen += count;
    }
    None
}

/// How many lie below a length that is given as a logarithm, by the same interpolation.
fn below(steps: &[u64], log: f64) -> f64 {
    let counted = steps.iter().enumerate().map(|(step, count)| {
        let (low, high) = (step_edge_ns(step).ln(), step_edge_ns(step + 1).ln());
        *count as f64 * ((log - low) / (high - low)).clamp(0.0, 1.0)
    });
    counted.sum()
}
