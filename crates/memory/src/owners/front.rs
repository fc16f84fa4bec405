//! Blocks whose pointers are still to be followed, first come first served.

use super::bits::Bits;
use std::collections::VecDeque;

/// Blocks in the queue. More of them wait, no longer in order, at a bit each.
const QUEUE_MAX: usize = 1 << 18;

/// A queue of bounded size that forgets nothing.
#[derive(Debug)]
pub(crate) struct Front {
    queue: VecDeque<u32>,
    queue_max: usize,
    waiting: Bits,
    is_any_waiting: bool,
}

impl Front {
    /// For so many blocks in all.
    pub(crate) fn new(blocks: usize) -> Front {
        Front::of(blocks, QUEUE_MAX)
    }

    fn of(blocks: usize, queue_max: usize) -> Front {
        Front { queue: VecDeque::new(), queue_max, waiting: Bits::new(blocks), is_any_waiting: false }
    }

    pub(crate) fn push(&mut self, block: u32) {
        if self.queue.len() < self.queue_max && !self.is_any_waiting {
            self.queue.push_back(block);
        } else {
            self.waiting.set(block);
            self.is_any_waiting = true;
        }
    }

    pub(crate) fn pop(&mut self) -> Option<u32> {
        if self.queue.is_empty() && self.is_any_waiting {
            self.waiting.take(self.queue_max, |block| self.queue.push_back(block));
            self.is_any_waiting = self.queue.len() == self.queue_max;
        }
        self.queue.pop_front()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    proptest! {
        #[test]
        fn each_block_comes_out_once(
            steps in prop::collection::vec(prop::option::of(0u32..500), 0..2000),
            queue_max in 1usize..50,
        ) {
            let mut front = Front::of(500, queue_max);
            let mut inside = BTreeSet::new();
            for step in steps {
                match step {
                    Some(block) => {
                        if inside.insert(block) {
                            front.push(block);
                        }
                    }
                    None => {
                        let block = front.pop();
                        prop_assert_eq!(block.is_none(), inside.is_empty());
                        prop_assert!(block.is_none_or(|block| inside.remove(&block)));
                    }
                }
                prop_assert!(front.queue.len() <= queue_max);
            }
            while let Some(block) = front.pop() {
                prop_assert!(inside.remove(&block));
            }
            prop_assert!(inside.is_empty());
        }
    }

    #[test]
    fn what_fits_comes_out_in_the_order_in_which_it_came() {
        let mut front = Front::new(10);
        [7, 3, 9].iter().for_each(|block| front.push(*block));
        assert_eq!([front.pop(), front.pop(), front.pop(), front.pop()], [Some(7), Some(3), Some(9), None]);
    }
}
