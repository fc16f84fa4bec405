//! The packed list against a plain one.

use super::*;
use proptest::prelude::*;

const BASE: u64 = 0x7f00_0000_0000;

fn any_state() -> impl Strategy<Value = BlockState> {
    prop::sample::select(vec![
        BlockState::Used,
        BlockState::Used,
        BlockState::Binned,
        BlockState::Fast,
        BlockState::ThreadCache,
        BlockState::Top,
    ])
}

fn any_bytes() -> impl Strategy<Value = u64> {
    prop_oneof![
        8 => (1u64..14).prop_map(|units| units * 16 + 8),
        2 => (1u64..4000).prop_map(|units| units * 16 + 8),
        1 => 1u64..100_000,
        1 => (1u64 << 20)..(1 << 40),
    ]
}

/// Blocks, most of them without a gap before them.
fn any_blocks() -> impl Strategy<Value = Vec<Block>> {
    let gap = prop_oneof![20 => Just(0u64), 1 => 1u64..5000, 1 => (1u64 << 20)..(1 << 32)];
    let of_arena = prop_oneof![9 => Just((8u8, 0u16)), 1 => (0u8..17, 0u16..3)];
    let one = (gap, any_bytes(), any_state(), of_arena);
    prop::collection::vec(one, 0..400).prop_map(|all| {
        let mut at = BASE;
        let place = |(gap, bytes, state, (header_bytes, arena)): (u64, u64, BlockState, (u8, u16))| {
            let address = at + gap + u64::from(header_bytes);
            at = address + bytes;
            Block { address, bytes, state, header_bytes, arena }
        };
        all.into_iter().map(place).collect()
    })
}

fn check(packed: &Blocks, plain: &[Block]) -> Result<(), TestCaseError> {
    prop_assert!(packed.iter().eq(plain.iter().copied()));
    prop_assert_eq!((packed.len(), packed.is_empty()), (plain.len(), plain.is_empty()));
    prop_assert_eq!(packed.last(), plain.last().copied());
    let finder = packed.finder();
    for (index, block) in plain.iter().enumerate() {
        prop_assert_eq!(packed.get(index), Some(*block));
        let last = block.address + block.bytes - 1;
        for address in [block.address, block.address + block.bytes / 2, last] {
            prop_assert_eq!(packed.find(address), Some((index, *block)), "{:#x}", address);
            prop_assert_eq!(finder.find(address), Some((index, *block)), "{:#x}", address);
        }
        for outside in [block.start().wrapping_sub(1), block.address - 1, last + 1] {
            let expected = plain.iter().position(|b| b.addresses().contains(&outside));
            prop_assert_eq!(packed.find(outside).map(|(at, _)| at), expected, "{:#x}", outside);
            prop_assert_eq!(finder.find(outside).map(|(at, _)| at), expected, "{:#x}", outside);
        }
    }
    prop_assert_eq!(packed.get(plain.len()), None);
    prop_assert_eq!((finder.find(0), finder.find(u64::MAX)), (None, None));
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(100))]

    #[test]
    fn what_is_packed_comes_out_again(plain in any_blocks()) {
        check(&plain.iter().copied().collect(), &plain)?;
    }

    #[test]
    fn a_list_that_is_cut_takes_more(plain in any_blocks(), keep in 0.0..1.0f64) {
        let keep = (plain.len() as f64 * keep) as usize;
        let mut packed: Blocks = plain.iter().copied().collect();
        packed.truncate(keep);
        check(&packed, &plain[..keep])?;
        plain[keep..].iter().for_each(|block| packed.push(*block));
        check(&packed, &plain)?;
    }

    #[test]
    fn states_change_where_they_are(plain in any_blocks(), to in any_state(), which in 0.0..1.0f64) {
        let mut packed: Blocks = plain.iter().copied().collect();
        let mut plain = plain;
        let which = (plain.len() as f64 * which) as usize;
        if let Some(block) = plain.get_mut(which) {
            block.state = to;
        }
        packed.set_state(which, to);
        check(&packed, &plain)?;
    }

    #[test]
    fn blocks_between_others_are_inserted(
        plain in any_blocks(),
        every in 1usize..5,
    ) {
        // Those with a gap on both sides are apart.
        let is_apart = |index: usize| {
            let behind = index == 0 || plain[index - 1].addresses().end < plain[index].start();
            behind && plain.get(index + 1).is_none_or(|next| plain[index].addresses().end < next.start())
        };
        let (few, many): (Vec<usize>, Vec<usize>) =
            (0..plain.len()).partition(|index| is_apart(*index) && index.is_multiple_of(every));
        let mut packed: Blocks = many.iter().map(|index| plain[*index]).collect();
        packed.insert(&few.iter().map(|index| plain[*index]).collect::<Vec<_>>());
        check(&packed, &plain)?;
    }

    #[test]
    fn blocks_before_an_address_are_counted(
        plain in any_blocks(),
        first in 0.0..1.0f64,
        at in 0.0..1.2f64,
    ) {
        let packed: Blocks = plain.iter().copied().collect();
        let first = (plain.len() as f64 * first) as usize;
        let some = plain.get((plain.len() as f64 * at) as usize).map_or(u64::MAX, |block| block.address);
        for address in [some - 1, some, some.saturating_add(40)] {
            let expected = plain[first..].iter().take_while(|block| block.addresses().end <= address).count();
            prop_assert_eq!(packed.count_ending_by(first, address), expected);
        }
    }

    #[test]
    fn a_range_of_blocks_is_that_of_the_plain_list(plain in any_blocks(), ends in (0.0..1.0f64, 0.0..1.0f64)) {
        let packed: Blocks = plain.iter().copied().collect();
        let at = |share: f64| (plain.len() as f64 * share) as usize;
        let (start, end) = (at(ends.0.min(ends.1)), at(ends.0.max(ends.1)));
        prop_assert!(packed.range(start..end).eq(plain[start..end].iter().copied()));
    }
}

#[test]
fn a_heap_of_small_blocks_takes_little() {
    let block = |i: u64| Block {
        address: BASE + 48 * i + 16,
        bytes: 40,
        state: BlockState::Used,
        header_bytes: 8,
        arena: 0,
    };
    let packed: Blocks = (0..1_000_000).map(block).collect();
    let bytes = packed.codes.len() + packed.runs.len() * size_of::<Run>();
    assert!(bytes < 1_800_000 && !packed.is_full(), "{bytes}");
}

#[test]
fn there_is_an_end_to_what_they_take() {
    let mut packed = Blocks::default();
    let mut at = BASE;
    while !packed.is_full() {
        // Each in a run of its own, with a length that takes six bytes.
        packed.push(Block {
            address: at,
            bytes: 1 << 35,
            state: BlockState::Used,
            header_bytes: 0,
            arena: (at >> 35) as u16,
        });
        at += 1 << 35;
    }
    assert!((750_000..1_500_000).contains(&packed.len()), "{}", packed.len());
}
