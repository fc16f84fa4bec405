//! A bit for each block.

/// Bits that are not set at first.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub(crate) struct Bits {
    words: Vec<u64>,
}

impl Bits {
    pub(crate) fn new(count: usize) -> Bits {
        Bits { words: vec![0; count.div_ceil(64)] }
    }

    #[inline]
    pub(crate) fn is_set(&self, bit: u32) -> bool {
        self.words.get(bit as usize / 64).is_some_and(|word| word >> (bit % 64) & 1 != 0)
    }

    #[inline]
    pub(crate) fn set(&mut self, bit: u32) {
        if let Some(word) = self.words.get_mut(bit as usize / 64) {
            *word |= 1 << (bit % 64);
        }
    }

    /// Takes set bits, the lowest first and no more than a number of them: they are no longer set.
    pub(crate) fn take(&mut self, count: usize, mut each: impl FnMut(u32)) {
        let mut left = count;
        for (index, word) in self.words.iter_mut().enumerate() {
            while *word != 0 && left != 0 {
                each(index as u32 * 64 + word.trailing_zeros());
                *word &= *word - 1;
                left -= 1;
            }
            if left == 0 {
                return;
            }
        }
    }

    /// All bits that are set, lowest first.
    pub(crate) fn iter(&self) -> impl Iterator<Item = u32> + '_ {
        self.words.iter().enumerate().flat_map(|(index, word)| {
            let mut rest = *word;
            std::iter::from_fn(move || {
                let bit = (rest != 0).then(|| index as u32 * 64 + rest.trailing_zeros());
                rest &= rest.wrapping_sub(1);
                bit
            })
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bits_are_set_and_taken() {
        let mut bits = Bits::new(200);
        let set = [0, 3, 63, 64, 130, 199];
        set.iter().for_each(|bit| bits.set(*bit));
        assert!(bits.iter().eq(set) && set.iter().all(|bit| bits.is_set(*bit)));
        assert!(!bits.is_set(1) && !bits.is_set(1000));
        let mut taken = Vec::new();
        bits.take(4, |bit| taken.push(bit));
        assert_eq!(taken, [0, 3, 63, 64]);
        bits.take(4, |bit| taken.push(bit));
        assert_eq!(taken, set);
        assert_eq!(bits.iter().count(), 0);
    }
}
