//! Memory and time of a log: figures that are a line each, and the parts of the heap.

use super::words;
use assay_kit::Table;
use assay_kit::document::Block;
use assay_kit::number::size;
use assay_model::GcReport;

/// The figures that the log has, then the parts of the heap.
pub fn blocks(report: &GcReport) -> Vec<Block> {
    let spaces = Table::of("Parts of the heap, and metaspace", &report.spaces)
        .words("Part", |(space, _)| words::space(**space))
        .figures("After the last collection", |(_, of)| of.last_bytes.map(size))
        .figures("Largest", |(_, of)| of.max_bytes.map(size))
        .figures("Largest capacity", |(_, of)| of.capacity_bytes_max.map(size));
    let blocks = vec![Block::terms(words::figures(report)), spaces.table().into()];
    if blocks.iter().all(Block::is_empty) {
        return vec![Block::absent("the log has no sizes")];
    }
    blocks
}
