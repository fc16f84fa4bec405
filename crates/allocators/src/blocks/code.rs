//! One block in a run: its state in the lowest three bits, then its length in units, seven bits to a byte, the lowest
//! first; the highest bit of a byte says that another follows.

use super::state::BlockState;

pub(super) const STATE_MASK: u8 = 7;
const STATE_BITS: u32 = 3;
const MORE: u8 = 0x80;

/// State and length.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Code {
    pub(super) units: u64,
    pub(super) state: BlockState,
}

pub(super) fn number_of(state: BlockState) -> u8 {
    match state {
        BlockState::Used => 0,
        BlockState::Binned => 1,
        BlockState::Fast => 2,
        BlockState::ThreadCache => 3,
        BlockState::Top => 4,
    }
}

fn state_of(number: u8) -> BlockState {
    match number & STATE_MASK {
        0 => BlockState::Used,
        1 => BlockState::Binned,
        2 => BlockState::Fast,
        3 => BlockState::ThreadCache,
        _ => BlockState::Top,
    }
}

impl Code {
    pub(super) fn push_to(self, codes: &mut Vec<u8>) {
        // Addresses have 57 bits at most, so that nothing is lost.
        let mut rest = self.units << STATE_BITS | u64::from(number_of(self.state));
        while rest >= u64::from(MORE) {
            codes.push(rest as u8 | MORE);
            rest >>= 7;
        }
        codes.push(rest as u8);
    }

    /// The code at an index, and the index behind it.
    #[inline]
    pub(super) fn at(codes: &[u8], at: usize) -> Option<(Code, usize)> {
        let first = *codes.get(at)?;
        let state = state_of(first);
        let units = u64::from(first & !MORE) >> STATE_BITS;
        if first & MORE == 0 {
            return Some((Code { units, state }, at + 1));
        }
        Code::long(codes, at + 1, units, state)
    }

    #[cold]
    fn long(codes: &[u8], mut at: usize, mut units: u64, state: BlockState) -> Option<(Code, usize)> {
        let mut shift = 7 - STATE_BITS;
        loop {
            let byte = *codes.get(at)?;
            units |= u64::from(byte & !MORE).checked_shl(shift)?;
            at += 1;
            if byte & MORE == 0 {
                return Some((Code { units, state }, at));
            }
            shift += 7;
        }
    }
}

const LANES: u64 = 0x0101_0101_0101_0101;
const HIGH_BITS: u64 = LANES << 7;

/// Eight blocks of a run that take a byte each.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Eight {
    codes: u64,
    /// In each byte, the lowest first: the units of the blocks up to this one. They are 120 at most.
    sums: u64,
}

impl Eight {
    /// None where one of them takes more than a byte.
    #[inline]
    pub(super) fn at(codes: &[u8], at: usize) -> Option<Eight> {
        let codes = u64::from_le_bytes(*codes.get(at..)?.first_chunk()?);
        let units = codes >> STATE_BITS & (0x0f * LANES);
        (codes & HIGH_BITS == 0).then_some(Eight { codes, sums: units.wrapping_mul(LANES) })
    }

    /// The units of all.
    pub(super) fn units(self) -> u64 {
        self.sums >> 56
    }

    /// Which of them a unit is in, how many units are before that one, and its code.
    #[inline]
    pub(super) fn find(self, unit: u64) -> Option<(u32, u64, Code)> {
        if self.units() <= unit {
            return None;
        }
        // The highest bit of each byte stays where the blocks up to this one end at the unit or before.
        let behind = (((unit * LANES) | HIGH_BITS) - self.sums) & HIGH_BITS;
        let index = behind.count_ones();
        let before = (self.sums << 8) >> (8 * index) & 0x7f;
        let code = (self.codes >> (8 * index)) as u8;
        let code = Code { units: u64::from(code >> STATE_BITS), state: state_of(code) };
        Some((index, before, code))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn eight_at_once_are_those_one_by_one(units in prop::collection::vec(0u64..16, 8), unit in 0u64..128) {
            let mut codes = Vec::new();
            units.iter().for_each(|units| Code { units: *units, state: BlockState::Fast }.push_to(&mut codes));
            let eight = Eight::at(&codes, 0).expect("a byte each");
            prop_assert_eq!(eight.units(), units.iter().sum::<u64>());
            let ends = units.iter().scan(0, |end, units| { *end += units; Some(*end) });
            let index = ends.into_iter().position(|end| unit < end);
            let expected = index.map(|index| {
                let code = Code { units: units[index], state: BlockState::Fast };
                (index as u32, units[..index].iter().sum::<u64>(), code)
            });
            prop_assert_eq!(eight.find(unit), expected);
        }
    }

    #[test]
    fn longer_ones_are_not_taken_at_once() {
        let mut codes = vec![8; 7];
        Code { units: 16, state: BlockState::Used }.push_to(&mut codes);
        assert_eq!((Eight::at(&codes, 0), Eight::at(&codes, 3)), (None, None));
    }
}
