//! Samples of the unknown bytes, so that a person can recognise them and write a rule.

use assay_allocators::Block;
use assay_linux::MemorySource;
use assay_model::{PieceKind, UnknownPiece};
use std::collections::BTreeMap;
use std::ops::Range;

/// Pieces that are listed.
const PIECES_MAX: usize = 40;
/// Bytes looked at to say what a piece contains.
const LOOK_BYTES: usize = 256;
/// Blocks of one size that are looked at.
const BLOCKS_LOOKED_AT: usize = 8;

/// Sizes below this have a place of their own.
const SMALL_BYTES: usize = 4096;

/// Blocks without an owner, by size.
#[derive(Debug, Default)]
pub(crate) struct UnownedBlocks {
    /// By the number of bytes; empty when there are none so small.
    small: Vec<OfSize>,
    large: BTreeMap<u64, OfSize>,
}

/// Blocks of one size.
#[derive(Debug, Default, Clone, Copy)]
struct OfSize {
    resident_bytes: u64,
    count: u64,
    /// Addresses of the first ones.
    first: [u64; BLOCKS_LOOKED_AT],
}

impl UnownedBlocks {
    pub(crate) fn add(&mut self, block: &Block, resident_bytes: u64) {
        let of_size = match usize::try_from(block.bytes) {
            Ok(bytes) if bytes < SMALL_BYTES => {
                if self.small.is_empty() {
                    self.small = vec![OfSize::default(); SMALL_BYTES];
                }
                &mut self.small[bytes]
            }
            _ => self.large.entry(block.bytes).or_default(),
        };
        if let Some(first) = of_size.first.get_mut(of_size.count as usize) {
            *first = block.address;
        }
        of_size.count += 1;
        of_size.resident_bytes += resident_bytes;
    }

    /// Sizes and blocks of them, those with most resident bytes first.
    fn largest(&self) -> Vec<(u64, OfSize)> {
        let small = (0..).zip(&self.small).filter(|(_, of_size)| of_size.count != 0);
        let all = small.chain(self.large.iter().map(|(bytes, of_size)| (*bytes, of_size)));
        let mut all: Vec<(u64, OfSize)> = all.map(|(bytes, of_size)| (bytes, *of_size)).collect();
        all.sort_by_key(|(_, of_size)| std::cmp::Reverse(of_size.resident_bytes));
        all
    }
}

/// Describes nameless regions and blocks without an owner, the biggest first.
pub(crate) fn unknown_pieces(
    source: &dyn MemorySource,
    blocks: &UnownedBlocks,
    nameless: &[Range<u64>],
) -> Vec<UnknownPiece> {
    // Only those that are listed are looked into: there may be a million.
    let mut largest: Vec<&Range<u64>> = nameless.iter().collect();
    largest.sort_by_key(|range| std::cmp::Reverse(range.end - range.start));
    let regions = largest.into_iter().take(PIECES_MAX);
    let mut pieces: Vec<UnknownPiece> = regions.map(|range| region(source, range)).collect();
    let sizes = blocks.largest().into_iter().take(PIECES_MAX);
    pieces.extend(sizes.map(|(bytes, of_size)| blocks_of_size(source, bytes, &of_size)));
    pieces.retain(|piece| piece.resident_bytes != 0);
    pieces.sort_by_key(|piece| std::cmp::Reverse(piece.resident_bytes));
    pieces.truncate(PIECES_MAX);
    pieces
}

fn region(source: &dyn MemorySource, range: &Range<u64>) -> UnknownPiece {
    let at = source.mappings().partition_point(|m| m.addresses.end <= range.start);
    let mapping = source.mappings().get(at);
    let permissions = mapping.map_or("?".into(), |m| String::from_utf8_lossy(&m.permissions).into_owned());
    UnknownPiece {
        kind: PieceKind::Region,
        what: format!("{:x}-{:x} {permissions}", range.start, range.end),
        contents: contents(source, range.start).to_owned(),
        resident_bytes: source.pages().resident_bytes_in(range.clone()),
        count: None,
    }
}

fn blocks_of_size(source: &dyn MemorySource, bytes: u64, of_size: &OfSize) -> UnknownPiece {
    let mut kinds: BTreeMap<&'static str, usize> = BTreeMap::new();
    for address in of_size.first.iter().take(of_size.count as usize) {
        *kinds.entry(contents(source, *address)).or_insert(0) += 1;
    }
    let kind = kinds.into_iter().max_by_key(|(_, count)| *count);
    UnknownPiece {
        kind: PieceKind::Block,
        what: format!("blocks of {bytes} bytes"),
        contents: kind.map_or("not resident", |(what, _)| what).to_owned(),
        resident_bytes: of_size.resident_bytes,
        count: Some(of_size.count),
    }
}

/// The kind of what lies at an address.
fn contents(source: &dyn MemorySource, address: u64) -> &'static str {
    let mut bytes = [0; LOOK_BYTES];
    let room = 4096 - (address % 4096) as usize;
    let bytes = &mut bytes[..LOOK_BYTES.min(room)];
    if source.read(address, bytes).is_err() {
        return "not resident";
    }
    let zeros = bytes.iter().filter(|b| **b == 0).count();
    let text = bytes.iter().filter(|b| matches!(b, b' '..=b'~' | b'\n' | b'\t')).count();
    let words = bytes.as_chunks::<8>().0.iter().map(|w| u64::from_le_bytes(*w));
    let leads_somewhere = |word: u64| {
        let at = source.mappings().partition_point(|m| m.addresses.end <= word);
        source.mappings().get(at).is_some_and(|m| m.addresses.start <= word)
    };
    let pointers = words.filter(|word| 4096 < *word && leads_somewhere(*word)).count() * 8;
    let half = bytes.len() / 2;
    if zeros == bytes.len() {
        "zeros"
    } else if half < text {
        "text"
    } else if half / 2 < pointers {
        "pointers"
    } else {
        "mixed"
    }
}
