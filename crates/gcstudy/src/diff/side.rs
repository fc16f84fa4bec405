//! One of two logs, cut into intervals that a comparison takes as independent witnesses.

use crate::analysis::Analysis;
use crate::block::{Block, Blocks, KINDS_MAX};
use crate::intervals::Merge;
use assay_model::GcReport;

/// Segments of a log. Fewer and longer ones know less of each other; more of them make a narrower interval: with 32 the tails of
/// Student's distribution cost little.
const SEGMENTS: usize = 32;

/// A log.
pub(super) struct Side<'a> {
    all: &'a Blocks,
    pub blocks: Vec<Block>,
    /// Time that the log covers of each, seconds.
    pub covered_s: Vec<f64>,
    /// Kinds of pauses, as blocks count them.
    pub kinds: Vec<String>,
    pub report: GcReport,
}

impl<'a> Side<'a> {
    /// Both logs in as many intervals, so that each has its like at the same place of the other.
    pub fn both(before: &'a Analysis, after: &'a Analysis) -> (Self, Self) {
        let lengths = [before, after].map(|analysis| analysis.blocks.items().len());
        let count = SEGMENTS.min(lengths[0]).min(lengths[1]);
        (Side::of(before, count), Side::of(after, count))
    }

    fn of(analysis: &'a Analysis, count: usize) -> Self {
        let (all, length_ns) = (analysis.blocks.items(), analysis.blocks.length_ns());
        let end_ns = analysis.timeline.end_ns();
        let edge = |index: usize| index * all.len() / count.max(1);
        let at_ns = |index: usize| length_ns.saturating_mul(edge(index) as u64).min(end_ns);
        let join = |index: usize| {
            let mut joined = Block::default();
            all[edge(index)..edge(index + 1)].iter().for_each(|block| joined.merge(block));
            joined
        };
        let covered = |index: usize| (at_ns(index + 1) - at_ns(index)) as f64 / 1e9;
        Side {
            all: &analysis.blocks,
            blocks: (0..count).map(join).collect(),
            covered_s: (0..count).map(covered).collect(),
            kinds: analysis.kinds.clone(),
            report: analysis.report(),
        }
    }

    /// A figure of each interval.
    pub fn each<T>(&self, figure: impl Fn(&Block) -> T) -> Vec<T> {
        self.blocks.iter().map(figure).collect()
    }

    /// A figure of each interval, and the seconds that it covers.
    pub fn per_second(&self, figure: impl Fn(&Block) -> f64) -> Vec<(f64, f64)> {
        self.blocks.iter().zip(&self.covered_s).map(|(block, s)| (figure(block), *s)).collect()
    }

    /// All pauses by step.
    pub fn steps(&self) -> Vec<u64> {
        let mut sum = Vec::new();
        for block in &self.blocks {
            sum.resize(sum.len().max(block.steps.len()), 0_u64);
            for (sum, step) in sum.iter_mut().zip(&block.steps) {
                *sum += u64::from(*step);
            }
        }
        sum
    }
}

/// Both logs in intervals of one length, up to 32 of the longer log.
pub(super) fn of_equal_length(before: &Side<'_>, after: &Side<'_>) -> (Vec<Block>, Vec<Block>) {
    let longer_ns = before.all.length_ns().max(after.all.length_ns());
    let spans =
        [before, after].map(|side| (side.all.items().len() as u64).saturating_mul(side.all.length_ns()));
    let most = spans[0].max(spans[1]).div_ceil(longer_ns);
    let length_ns = longer_ns.saturating_mul(most.div_ceil(SEGMENTS as u64).max(1));
    (before.all.of_length(length_ns), after.all.of_length(length_ns))
}

/// Kinds of pauses that both logs have, by their index in each; `None` when these are too few of all, so that kinds cannot be distinguished
/// apart (logs of two collectors).
pub(super) fn common_kinds(before: &Side<'_>, after: &Side<'_>) -> Option<Vec<(usize, usize)>> {
    let mut common: Vec<(usize, usize)> = Vec::new();
    for (index, kind) in before.kinds.iter().enumerate() {
        if let Some(other) = after.kinds.iter().position(|other| other == kind) {
            common.push((index, other));
        }
    }
    common.push((KINDS_MAX - 1, KINDS_MAX - 1));
    let share = |side: &Side<'_>, index: fn(&(usize, usize)) -> usize| {
        let of = |kind: usize| side.blocks.iter().map(|block| block.pauses[kind].of).sum::<f64>();
        let all: f64 = (0..KINDS_MAX).map(of).sum();
        common.iter().map(|pair| of(index(pair))).sum::<f64>() / all.max(1.0)
    };
    /// Less than this share in common kinds compares apples with pears.
    const SHARE_MIN: f64 = 0.8;
    let is_like = SHARE_MIN <= share(before, |pair| pair.0) && SHARE_MIN <= share(after, |pair| pair.1);
    is_like.then_some(common)
}
