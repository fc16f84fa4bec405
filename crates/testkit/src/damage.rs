//! Bytes of a memory that lies: some words read otherwise than they are.

use crate::SplitMix;

/// Which words read otherwise, and as what: a function of the seed and a word's address, so that a word reads the same
/// each time.
#[derive(Debug, Clone, Default)]
pub struct Damage {
    /// Chooses words, and what becomes of them.
    pub seed: u64,
    /// One word in so many.
    pub one_in: u64,
    /// Addresses that a damaged word may lead to, or close behind.
    pub addresses: Vec<u64>,
}

/// Random bits that are a function of a number.
fn mixed(value: u64) -> u64 {
    SplitMix(value).bits()
}

impl Damage {
    /// One word in so many.
    pub fn new(seed: u64, one_in: u64) -> Damage {
        Damage { seed, one_in, addresses: Vec::new() }
    }

    /// Damages bytes that were read from an address on. Of words that they hold a part of, `word_at` is asked for all 8
    /// bytes; one that it does not know is left as it is.
    pub fn apply(&self, address: u64, buffer: &mut [u8], word_at: impl Fn(u64) -> Option<[u8; 8]>) {
        self.apply_by(self.seed, address, buffer, word_at);
    }

    /// Damages other words at each read: `read` is its number. Of words that the bytes hold a part of, the rest is taken
    /// for zeros.
    pub fn apply_anew(&self, read: u64, address: u64, buffer: &mut [u8]) {
        self.apply_by(self.seed ^ mixed(read), address, buffer, |_| Some([0; 8]));
    }

    fn apply_by(&self, seed: u64, address: u64, buffer: &mut [u8], word_at: impl Fn(u64) -> Option<[u8; 8]>) {
        let end = address.saturating_add(buffer.len() as u64);
        for at in (address & !7..end).step_by(8) {
            let chosen = mixed(at ^ mixed(seed));
            if !chosen.is_multiple_of(self.one_in.max(1)) {
                continue;
            }
            let (from, to) = (at.max(address), at.saturating_add(8).min(end));
            let part = &mut buffer[(from - address) as usize..(to - address) as usize];
            let Some(word) = <[u8; 8]>::try_from(&*part).ok().or_else(|| word_at(at)) else { continue };
            let damaged = self.damaged(at, chosen, u64::from_le_bytes(word)).to_le_bytes();
            part.copy_from_slice(&damaged[(from - at) as usize..(to - at) as usize]);
        }
    }

    fn damaged(&self, at: u64, chosen: u64, value: u64) -> u64 {
        let (how, bits) = (mixed(chosen), mixed(chosen ^ 1));
        match how % if self.addresses.is_empty() { 7 } else { 8 } {
            0 => value ^ 1 << (bits % 64),
            1 => bits,
            2 => u64::MAX - bits % 4096,
            // A list that leads to itself.
            3 => at,
            4 => value.wrapping_add(bits % 4096).wrapping_sub(2048),
            5 => value.rotate_left(32),
            6 => 0,
            _ => self.addresses[bits as usize % self.addresses.len()].wrapping_add(mixed(bits) % 4096),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BASE: u64 = 0x10_0003;

    fn sound(count: usize) -> Vec<u8> {
        (0..count).map(|i| (i * 31) as u8).collect()
    }

    fn read(damage: &Damage, from: usize, to: usize) -> Vec<u8> {
        let whole = sound(4096);
        let mut bytes = whole[from..to].to_vec();
        damage.apply(BASE + from as u64, &mut bytes, |at| {
            let at = usize::try_from(at.checked_sub(BASE)?).ok()?;
            whole.get(at..)?.first_chunk().copied()
        });
        bytes
    }

    #[test]
    fn a_word_reads_the_same_however_much_of_it_is_read() {
        let damage = Damage { addresses: vec![0x7f00_0000_0000], ..Damage::new(7, 4) };
        let whole = read(&damage, 0, 4080);
        // The first word is read in part only, and is not known whole.
        for (from, to) in [(8, 16), (100, 103), (517, 1300), (5, 4000), (2000, 2001)] {
            assert_eq!(read(&damage, from, to), whole[from..to], "{from} {to}");
        }
    }

    #[test]
    fn about_one_word_in_so_many_is_damaged() {
        let whole = sound(4080);
        let changed =
            read(&Damage::new(1, 8), 0, 4080).chunks(8).zip(whole.chunks(8)).filter(|(a, b)| a != b).count();
        assert!((510 / 16..510 / 2).contains(&changed), "{changed} of 510");
        assert_ne!(read(&Damage::new(1, 8), 0, 4080), read(&Damage::new(2, 8), 0, 4080));
    }
}
