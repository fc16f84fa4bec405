//! What a run with a budget makes of the blocks so far: whether it goes on, and what it says of what is left. Pure.

use assay_model::{Outcome, Outlook, Plan, Summary, Trial};
use assay_results::summary::summarise;
use assay_results::{is_decided, outlooks};
use assay_stats::BLOCKS_FOR_INTERVAL;
use std::collections::BTreeMap;

/// After so many blocks, which decided not everything.
pub(super) struct SoFar {
    pub is_decided: bool,
    /// What the run can show by the scatter so far; after the third block, and each time that there are twice as many.
    pub outlook: Vec<Outlook>,
}

impl SoFar {
    /// By whole trials and those under way. What is asked of variants that were given up is not waited for.
    pub fn of(plan: &Plan, trials: &[Trial], blocks: u32, given_up: &BTreeMap<String, String>) -> SoFar {
        let summary = summarise(plan, trials, BTreeMap::new());
        let is_decided = is_decided(plan, &summary, |variant| given_up.contains_key(variant));
        let fit = plan.budget.as_ref().map_or(0, |budget| budget.blocks).max(blocks);
        let is_time = says_so(blocks) && !is_decided;
        SoFar { is_decided, outlook: if is_time { outlooks(plan, &trials, fit) } else { Vec::new() } }
    }
}

/// Whether a block that begins so many seconds after the run, and takes as long as the last one, fits into a budget. One that an interval
/// still needs goes on beyond it if it begins in time: without an interval all of the time was for nothing.
pub(super) fn fits(block: u32, (now_s, last_s): (f64, f64), time_s: f64) -> bool {
    let end_s = if block as usize <= BLOCKS_FOR_INTERVAL { now_s } else { now_s + last_s };
    block == 1 || end_s <= time_s
}

fn says_so(blocks: u32) -> bool {
    let threes = blocks / BLOCKS_FOR_INTERVAL as u32;
    blocks.is_multiple_of(BLOCKS_FOR_INTERVAL as u32) && threes.is_power_of_two()
}

/// How a run with a budget ended; none without one.
pub(super) fn ended(plan: &Plan, summary: &Summary, given_up: &BTreeMap<String, String>) -> Option<String> {
    plan.budget.as_ref()?;
    if is_decided(plan, summary, |variant| given_up.contains_key(variant)) {
        return Some("everything that was asked is decided".to_owned());
    }
    Some(match summary.decisions.iter().filter(|one| one.outcome == Outcome::Undecided).count() {
        0 => "the time is over".to_owned(),
        1 => "the time is over, and 1 question is undecided".to_owned(),
        several => format!("the time is over, and {several} questions are undecided"),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_block_that_an_interval_needs_may_end_after_the_time_but_not_begin_then() {
        let of = |block, now_s| fits(block, (now_s, 60.0), 180.0);
        assert!(of(1, 200.0), "one block is measured in any case");
        assert!(of(3, 150.0) && !of(3, 190.0));
        assert!(of(4, 110.0) && !of(4, 150.0));
    }

    #[test]
    fn the_outlook_comes_with_the_first_interval_and_then_less_and_less_often() {
        let said: Vec<u32> = (0..60).filter(|blocks| says_so(*blocks)).collect();
        assert_eq!(said, [3, 6, 12, 24, 48]);
    }
}
