//! The header and footer that a JVM with native memory tracking puts around each malloc block.
//!
//! Two generations are known. Since JDK 18, and 17.0.6, the header ends with a canary and a footer of two bytes follows
//! what was asked for; before, there was neither, and only size and tag say whether a block is tracked.

use super::{HeaderForm, Nmt};
use assay_linux::MemorySource;

/// The header before a tracked block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NmtHeader {
    /// Bytes that were asked for.
    pub asked_bytes: u64,
    /// Index of the tag in [`Nmt::tags`].
    pub tag: u8,
}

/// Last two bytes of the header of a live block.
const CANARY: [u8; 2] = [0x9e, 0xe9];
/// The first four bytes on a 32-bit JVM.
const CANARY_32: [u8; 4] = [0x9e, 0xe9, 0x9e, 0xe9];
/// The two bytes behind what was asked for.
///
/// Folklore: the header's canary is a number and so little endian, the footer's is stored byte by byte with the high
/// one first. Held by: `a_live_block_is_recognised_and_a_freed_one_is_not`.
pub(super) const FOOTER: [u8; 2] = [0xe8, 0x8e];
/// No block of a JVM is larger. (The JVM itself refuses such a header as broken.)
const ASKED_BYTES_MAX: u64 = 256 << 30;
/// Tags whose names could not be read: no release has more.
const TAGS_MAX: usize = 64;
/// Without canaries: what an allocator's rounding leaves at most behind what was asked for, beside a quarter of it.
const ROUNDING_BYTES_MAX: u64 = 48;

impl HeaderForm {
    /// Bytes of the header.
    pub fn header_bytes(self) -> u8 {
        match self {
            HeaderForm::Canary64 | HeaderForm::Canary32 | HeaderForm::Plain64 => 16,
            HeaderForm::Plain32 => 8,
        }
    }

    /// Bytes of the footer.
    pub fn footer_bytes(self) -> u8 {
        match self {
            HeaderForm::Canary64 | HeaderForm::Canary32 => 2,
            HeaderForm::Plain64 | HeaderForm::Plain32 => 0,
        }
    }

    /// Whether a header can be distinguished from other bytes without knowing where blocks begin.
    pub fn has_canary(self) -> bool {
        self.footer_bytes() != 0
    }
}

impl Nmt {
    /// The header in the first bytes of a block, if they are one of this JVM. Where the form has a canary it is checked;
    /// the footer is not. Costs a few comparisons, so that most of a million blocks are refused for nothing.
    pub fn header_in(&self, bytes: &[u8]) -> Option<NmtHeader> {
        let (asked_bytes, tag) = match self.form {
            HeaderForm::Canary64 => {
                let [size @ .., _, _, _, _, tag, 0, a, b] = bytes.first_chunk::<16>()? else { return None };
                ([*a, *b] == CANARY).then_some((u64::from_le_bytes(*size), *tag))?
            }
            HeaderForm::Canary32 => {
                let header = bytes.first_chunk::<16>()?;
                let [c0, c1, c2, c3, s0, s1, s2, s3, _, _, _, _, tag, 0, a, b] = *header else { return None };
                let is_live = [c0, c1, c2, c3] == CANARY_32 && [a, b] == CANARY;
                is_live.then_some((u64::from(u32::from_le_bytes([s0, s1, s2, s3])), tag))?
            }
            HeaderForm::Plain64 => {
                let [size @ .., tag, _, _, _, _, _, _, _] = bytes.first_chunk::<16>()?;
                (u64::from_le_bytes(*size), *tag)
            }
            HeaderForm::Plain32 => {
                let [s0, s1, s2, s3, tag, _, _, _] = *bytes.first_chunk::<8>()?;
                (u64::from(u32::from_le_bytes([s0, s1, s2, s3])), tag)
            }
        };
        let tags = if self.tags.is_empty() { TAGS_MAX } else { self.tags.len() };
        let is_plausible = asked_bytes <= ASKED_BYTES_MAX && usize::from(tag) < tags;
        is_plausible.then_some(NmtHeader { asked_bytes, tag })
    }

    /// Recognises a tracked block. `bytes` are its first ones, as many as the caller has at hand; the footer is read
    /// from the source only where it lies behind them. `usable_bytes` is what the allocator gave for it.
    ///
    /// Without canaries (JDK 8 to 16, 17.0.0 to 17.0.5) the size must fill the block but for the allocator's rounding.
    pub fn header_of(
        &self,
        source: &dyn MemorySource,
        block: u64,
        bytes: &[u8],
        usable_bytes: u64,
    ) -> Option<NmtHeader> {
        if !self.is_tracking() {
            return None;
        }
        let header = self.header_in(bytes)?;
        let payload_end = u64::from(self.header_bytes).checked_add(header.asked_bytes)?;
        let rest = usable_bytes.checked_sub(payload_end)?.checked_sub(u64::from(self.footer_bytes))?;
        if !self.form.has_canary() {
            let is_tight = rest <= ROUNDING_BYTES_MAX.max(usable_bytes / 4);
            return is_tight.then_some(header);
        }
        let footer = match usize::try_from(payload_end).ok().and_then(|at| bytes.get(at..)?.first_chunk()) {
            Some(footer) => *footer,
            None => {
                let mut footer = [0; 2];
                source.read(block.checked_add(payload_end)?, &mut footer).ok()?;
                footer
            }
        };
        (footer == FOOTER).then_some(header)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::nmt::NmtLevel;

    fn nmt(form: HeaderForm) -> Nmt {
        Nmt {
            level: NmtLevel::Summary,
            tags: (0..28).map(|i| i.to_string()).collect(),
            header_bytes: form.header_bytes(),
            footer_bytes: form.footer_bytes(),
            form,
            ..Nmt::off()
        }
    }

    /// As in a 17.0.15: size, call site, tag 5, zero, canary; payload; footer.
    fn block(asked: u64, footer: [u8; 2]) -> Vec<u8> {
        let mut bytes = asked.to_le_bytes().to_vec();
        bytes.extend([0, 0, 0, 0, 5, 0, 0x9e, 0xe9]);
        bytes.extend(vec![7; asked as usize]);
        bytes.extend(footer);
        bytes
    }

    struct Nowhere;

    impl MemorySource for Nowhere {
        fn pid(&self) -> u32 {
            0
        }
        fn word_bytes(&self) -> u64 {
            8
        }
        fn mappings(&self) -> &[assay_linux::Mapping] {
            &[]
        }
        fn pages(&self) -> &assay_linux::PageMap {
            unreachable!("nothing is read")
        }
        fn threads(&self) -> &[assay_linux::ThreadFacts] {
            &[]
        }
        fn read(&self, _: u64, _: &mut [u8]) -> Result<(), assay_linux::ReadError> {
            Err(assay_linux::ReadError::Absent)
        }
        fn open_mapped_file(&self, _: &assay_linux::Mapping) -> std::io::Result<std::fs::File> {
            Err(std::io::ErrorKind::NotFound.into())
        }
    }

    #[test]
    fn a_live_block_is_recognised_and_a_freed_one_is_not() {
        let nmt = nmt(HeaderForm::Canary64);
        let live = block(21, FOOTER);
        let found = nmt.header_of(&Nowhere, 0, &live, 40);
        assert_eq!(found, Some(NmtHeader { asked_bytes: 21, tag: 5 }));
        assert_eq!(nmt.header_of(&Nowhere, 0, &live, 38), None, "the footer does not fit the block");
        assert_eq!(nmt.header_of(&Nowhere, 0, &live[..30], 40), None, "the footer cannot be read");
        assert_eq!(nmt.header_of(&Nowhere, 0, &block(21, [0x8d, 0xd8]), 40), None);
        let mut dead = live.clone();
        dead[14..16].copy_from_slice(&[0x9d, 0xd9]);
        assert_eq!(nmt.header_of(&Nowhere, 0, &dead, 40), None);
        let mut unknown_tag = live;
        unknown_tag[12] = 28;
        assert_eq!(nmt.header_of(&Nowhere, 0, &unknown_tag, 40), None);
        assert_eq!(Nmt::off().header_of(&Nowhere, 0, &block(21, FOOTER), 40), None);
    }

    #[test]
    fn headers_of_32_bits_have_two_canaries() {
        let nmt = nmt(HeaderForm::Canary32);
        let mut block =
            vec![0x9e, 0xe9, 0x9e, 0xe9, 3, 0, 0, 0, 0, 0, 0, 0, 9, 0, 0x9e, 0xe9, 1, 2, 3, 0xe8, 0x8e];
        let found = nmt.header_of(&Nowhere, 0, &block, 24);
        assert_eq!(found, Some(NmtHeader { asked_bytes: 3, tag: 9 }));
        block[0] = 0;
        assert_eq!(nmt.header_of(&Nowhere, 0, &block, 24), None);
    }

    #[test]
    fn headers_without_canary_must_fill_their_block() {
        let nmt = nmt(HeaderForm::Plain64);
        let mut block = 100_u64.to_le_bytes().to_vec();
        block.extend([8, 1, 2, 3, 4, 5, 6, 7]);
        assert_eq!(nmt.header_of(&Nowhere, 0, &block, 120), Some(NmtHeader { asked_bytes: 100, tag: 8 }));
        assert_eq!(nmt.header_of(&Nowhere, 0, &block, 115), None);
        assert_eq!(nmt.header_of(&Nowhere, 0, &block, 400), None);
    }

    #[test]
    fn sizes_beyond_reason_do_not_overflow() {
        for form in [HeaderForm::Canary64, HeaderForm::Plain64] {
            let mut block = block(0, FOOTER);
            block[..8].copy_from_slice(&u64::MAX.to_le_bytes());
            assert_eq!(nmt(form).header_of(&Nowhere, u64::MAX - 4, &block, u64::MAX), None);
        }
    }
}
