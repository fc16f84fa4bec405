//! A part of a run: some of its blocks. A block is every variant once, in an order and with random draws that follow from the plan's seed and
//! the block's number alone, so that any machine can make it; `assay_results::merge` puts the parts together.

use crate::error::StudyError;
use crate::plan::prepare::Prepared;
use assay_model::Design;
use std::collections::BTreeSet;

/// The largest number of a block.
const BLOCKS_MAX: u32 = 100_000;

/// Numbers of blocks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Blocks(BTreeSet<u32>);

impl Blocks {
    /// Reads `7`, `7,8` or `1-4,9`.
    ///
    /// # Errors
    /// Other text, with what is wrong.
    pub fn parse(text: &str) -> Result<Blocks, String> {
        let number = |text: &str| {
            let number = text.trim().parse::<u32>().ok().filter(|number| (1..=BLOCKS_MAX).contains(number));
            number.ok_or_else(|| format!("`{text}` is not a number of a block: write 7, 7,8 or 1-4"))
        };
        let mut numbers = BTreeSet::new();
        for part in text.split(',') {
            let (first, last) = part.split_once('-').unwrap_or((part, part));
            let (first, last) = (number(first)?, number(last)?);
            if last < first {
                return Err(format!("`{part}` ends before it begins: write {last}-{first}"));
            }
            numbers.extend(first..=last);
        }
        Ok(Blocks(numbers))
    }
}

impl FromIterator<u32> for Blocks {
    fn from_iter<I: IntoIterator<Item = u32>>(numbers: I) -> Blocks {
        Blocks(numbers.into_iter().collect())
    }
}

impl Prepared {
    /// Makes it a part of the run: these blocks alone.
    ///
    /// # Errors
    /// The study has no such block, or its blocks cannot be made one without another.
    pub fn take_blocks(&mut self, blocks: &Blocks) -> Result<(), StudyError> {
        let plan = &mut self.plan;
        let refused = |what: String| Err(StudyError::Use(what));
        if plan.design == Design::Resident {
            return refused(format!(
                "the blocks of {} are windows of the same servers, which run from the first to the last. Set \
                    design.kind = \"fresh\" to run them apart",
                plan.study
            ));
        }
        if plan.budget.is_some() {
            return refused(
                "blocks that are made apart are a number, and no budget: leave --budget away".to_owned(),
            );
        }
        let planned = plan.block_numbers();
        if let Some(number) = blocks.0.iter().find(|number| !planned.contains(number)) {
            return refused(format!(
                "{} has {} blocks{}, and none of the number {number}",
                plan.study,
                plan.blocks,
                if plan.quick { " in its short form" } else { "" }
            ));
        }
        plan.trials.retain(|trial| blocks.0.contains(&trial.block));
        plan.expected_s *= blocks.0.len() as f64 / planned.len() as f64;
        plan.part = blocks.0.iter().copied().collect();
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_and_ranges_are_read_and_all_else_is_named() {
        let read = |text: &str| Blocks::parse(text).map(|blocks| blocks.0.into_iter().collect::<Vec<_>>());
        assert_eq!(read("7"), Ok(vec![7]));
        assert_eq!(read("8, 7"), Ok(vec![7, 8]));
        assert_eq!(read("1-3,9,2-4"), Ok(vec![1, 2, 3, 4, 9]));
        for text in ["", "0", "a", "1-", "-3", "1..3", "4294967296", "1,,2"] {
            assert!(read(text).expect_err(text).contains("not a number of a block"), "{text}");
        }
        assert!(read("9-7").expect_err("backwards").contains("write 7-9"));
    }
}
