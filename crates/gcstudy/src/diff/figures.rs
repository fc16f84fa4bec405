//! The figures that are compared, and how.

use super::evidence::{ByKind, Evidence, SEGMENTS_MIN, by_kind, critical, evidence, quotient, two_sided};
use super::family::fisher;
use super::quantiles::percentile;
use super::side::{Side, common_kinds, of_equal_length};
use crate::block::{Block, RatioTerms};
use assay_model::{Estimate, GcAnomaly, GcFigure, gc_figure};

/// The figure that a change of pauses shows in soonest.
pub(super) const TYPICAL: &str = gc_figure::PAUSE_GEOMETRIC_MEAN_MS;

/// Deviation of figures between runs of the same program on the same machine, as a share of the figure.
mod between_runs {
    pub const TYPICAL_LENGTHS: f64 = 0.01;
    pub const TAILS: f64 = 0.02;
    pub const RATES: f64 = 0.02;
    pub const WORK_BY_REQUEST: f64 = 0.005;
}

/// A test of a figure.
pub(super) struct Test {
    pub metric: &'static str,
    /// What it shows; `None` when there is too little in one of the logs.
    pub found: Option<Difference>,
    /// The figures of both logs as they are compared, where these are not those of the reports.
    pub figures: Option<(f64, f64)>,
}

impl Test {
    fn of(metric: &'static str, found: Option<Difference>) -> Test {
        Test { metric, found, figures: None }
    }
}

/// What a test shows.
pub(super) struct Difference {
    /// Logarithm of second by first, its standard error and the degrees of freedom of that, where a ratio has a meaning.
    log_ratio: Option<(f64, f64, f64)>,
    /// Chance of a difference at least as large in logs of equal runs.
    pub probability: f64,
    pub is_up: bool,
}

impl Difference {
    /// From a difference of logarithms, and the deviation between equal runs.
    fn of(evidence: Evidence, between_runs: f64) -> Difference {
        let within = evidence.error.powi(2);
        let all = within + 2.0 * between_runs.powi(2);
        // Only the error from within is known from few intervals.
        let degrees = evidence.degrees * (all / within.max(1e-30)).powi(2).min(1e6);
        let error = all.sqrt();
        Difference {
            log_ratio: Some((evidence.log_ratio, error, degrees)),
            probability: two_sided(evidence.log_ratio / error, degrees),
            is_up: evidence.log_ratio > 0.0,
        }
    }

    /// Second by first, with the interval that excludes 1 where the probability is below `level`.
    pub fn ratio(&self, level: f64) -> Option<Estimate> {
        let (log_ratio, error, degrees) = self.log_ratio?;
        let half = critical(level, degrees) * error;
        Some(Estimate {
            estimate: log_ratio.exp(),
            low: Some((log_ratio - half).exp()),
            high: Some((log_ratio + half).exp()),
        })
    }
}

/// A test of each figure.
pub(super) fn tests(before: &Side<'_>, after: &Side<'_>) -> Vec<Test> {
    // The ratio is that of the figures that stand beside it; the intervals of time show its error.
    let of_figures = |metric: &'static str, evidence: Evidence| {
        let read = |side: &Side<'_>| GcFigure::by_id(metric).and_then(|figure| figure.read(&side.report));
        let log_ratio = read(before).zip(read(after)).map(|(before, after)| (after / before).ln());
        Evidence {
            log_ratio: log_ratio.filter(|log| log.is_finite()).unwrap_or(evidence.log_ratio),
            ..evidence
        }
    };
    let rate = |metric: &'static str, figure: fn(&Side<'_>) -> Vec<(f64, f64)>| {
        let found = quotient(&figure(before)).zip(quotient(&figure(after)));
        let difference = |(a, b)| Difference::of(of_figures(metric, evidence(&a, &b)), between_runs::RATES);
        Test::of(metric, found.map(difference))
    };
    let (steps_before, steps_after) = (before.steps(), after.steps());
    let tail = |metric: &'static str, share: f64| {
        let before = percentile(&before.blocks, &steps_before, share);
        let found = before.zip(percentile(&after.blocks, &steps_after, share));
        let difference = |(a, b)| Difference::of(of_figures(metric, evidence(&a, &b)), between_runs::TAILS);
        Test::of(metric, found.map(difference))
    };
    let mut tests = vec![
        typical(before, after),
        tail(gc_figure::PAUSE_P50_MS, 0.5),
        tail(gc_figure::PAUSE_P99_MS, 0.99),
        rate(gc_figure::PAUSES_PER_S, |side| side.per_second(Block::pause_count)),
        rate(gc_figure::PAUSE_MS_PER_S, |side| side.per_second(|block| block.paused_ns / 1e6)),
        rate(gc_figure::ALLOCATED_BYTES_PER_S, |side| {
            side.each(|block| (block.allocated.sum, block.allocated.of))
        }),
        rate(gc_figure::PROMOTED_BYTES_PER_S, |side| {
            side.each(|block| (block.promoted.sum, block.promoted.of))
        }),
        Test::of(gc_figure::GARBAGE_BYTES_PER_REQUEST, garbage(before, after)),
        reaching(before, after),
        Test::of(gc_figure::LIVE_SET_SLOPE_BYTES_PER_H, slope(before, after)),
        counted(gc_figure::FULL_COLLECTIONS, before, after, |block| block.full > 0),
        counted(gc_figure::STALLS, before, after, |block| block.stalls > 0.0),
    ];
    for (metric, anomaly) in [
        (gc_figure::EVACUATION_FAILURES, GcAnomaly::EvacuationFailure),
        (gc_figure::PROMOTION_FAILURES, GcAnomaly::PromotionFailed),
        (gc_figure::CONCURRENT_MODE_FAILURES, GcAnomaly::ConcurrentModeFailure),
        (gc_figure::DEGENERATED_COLLECTIONS, GcAnomaly::Degenerated),
    ] {
        tests.push(counted(metric, before, after, move |block| block.anomalies[anomaly as usize] > 0));
    }
    tests
}

/// Of logarithms.
fn number_and_sum(part: RatioTerms) -> (f64, f64) {
    (part.of, part.sum)
}

/// The typical pause, by kind; all kinds together where the logs have too few in common.
fn typical(before: &Side<'_>, after: &Side<'_>) -> Test {
    let kinds = common_kinds(before, after);
    let by = |side: &Side<'_>, index: fn(&(usize, usize)) -> usize| {
        side.each(|block| match &kinds {
            Some(kinds) => kinds.iter().map(|pair| number_and_sum(block.pauses[index(pair)])).collect(),
            None => {
                let all = block.pauses.iter().copied().map(number_and_sum);
                vec![all.fold((0.0, 0.0), |sum, part| (sum.0 + part.0, sum.1 + part.1))]
            }
        })
    };
    let found = by_kind(&by(before, |pair| pair.0), &by(after, |pair| pair.1));
    of_logarithms(TYPICAL, found, between_runs::TYPICAL_LENGTHS)
}

/// A test of mean logarithms of nanoseconds. The figures beside the ratio are those of the mix of kinds that both logs are compared by.
fn of_logarithms(metric: &'static str, found: Option<ByKind>, between_runs: f64) -> Test {
    let ms = |log: f64| log.exp() / 1e6;
    Test {
        metric,
        figures: found.as_ref().map(|found| (ms(found.before), ms(found.after))),
        found: found.map(|found| Difference::of(found.evidence, between_runs)),
    }
}

/// Bytes freed by request: the requests are those of the options, the error is that of the bytes.
fn garbage(before: &Side<'_>, after: &Side<'_>) -> Option<Difference> {
    let read = |side: &Side<'_>| side.report.garbage_bytes_per_request.map(|garbage| garbage.estimate);
    let log_ratio = (read(after)? / read(before)?).ln();
    let freed = |side: &Side<'_>| quotient(&side.each(|block| (block.freed.sum, block.freed.of)));
    let found = Evidence { log_ratio, ..evidence(&freed(before)?, &freed(after)?) };
    log_ratio.is_finite().then(|| Difference::of(found, between_runs::WORK_BY_REQUEST))
}

fn reaching(before: &Side<'_>, after: &Side<'_>) -> Test {
    let of = |side: &Side<'_>| side.each(|block| vec![number_and_sum(block.time_to_safepoint)]);
    let found = by_kind(&of(before), &of(after));
    of_logarithms(gc_figure::TIME_TO_SAFEPOINT_GEOMETRIC_MEAN_MS, found, between_runs::TAILS)
}

/// Growth of the live set: it may be none in both, so that the difference counts and not the ratio.
fn slope(before: &Side<'_>, after: &Side<'_>) -> Option<Difference> {
    let read = |side: &Side<'_>| {
        let slope = side.report.live_set.as_ref()?.slope_bytes_per_h?;
        Some((slope.estimate, (slope.high? - slope.low?) / (2.0 * 1.96)))
    };
    let ((before, error_before), (after, error_after)) = (read(before)?, read(after)?);
    let error = error_before.hypot(error_after);
    let probability = if error > 0.0 { two_sided((after - before) / error, 1e6) } else { 1.0 };
    Some(Difference { log_ratio: None, probability, is_up: before < after })
}

/// Things that are rare and come in bursts: how many intervals of each log have any, all of one length. `None` when that leaves a log
/// with too few intervals.
fn counted(metric: &'static str, before: &Side<'_>, after: &Side<'_>, has: impl Fn(&Block) -> bool) -> Test {
    let (blocks_before, blocks_after) = of_equal_length(before, after);
    let count = |blocks: &[Block]| blocks.iter().filter(|block| has(block)).count();
    let (of_before, of_after) = (blocks_before.len(), blocks_after.len());
    let (with_before, with_after) = (count(&blocks_before), count(&blocks_after));
    let found = (SEGMENTS_MIN <= of_before.min(of_after)).then(|| Difference {
        log_ratio: None,
        probability: fisher(with_before, of_before, with_after, of_after),
        is_up: with_before * of_after < with_after * of_before,
    });
    Test::of(metric, found)
}
