//! Java heaps: what the same objects occupy in each reference mode, how an object is laid out, which mode a heap size gets.

mod address_picture;
mod address_text;
mod class_bars;
mod data;
mod layout_picture;
mod layout_text;
mod layouts;
mod mode_words;
mod modes;
mod places;
mod prediction;
mod thresholds_picture;
mod totals;
mod words;

pub use data::{layouts as layouts_data, modes as modes_data, prediction as data};
pub use layouts::document as layouts;
pub use modes::document as modes;
pub use prediction::document;

use assay_kit::document::PageParts;
use assay_kit::text::clean;

/// What the pages of heaps have besides.
fn page_parts(assay_version: &str) -> PageParts {
    PageParts {
        style: include_str!("../../../../web/heap.css"),
        script: include_str!("../../../../web/heap.js"),
        made_by: clean(assay_version),
        ..PageParts::default()
    }
}
