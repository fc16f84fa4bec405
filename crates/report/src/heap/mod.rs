//! Java heaps for people: what the same objects occupy in each reference mode, how an object is laid out, which mode a heap size gets.

mod address_picture;
mod class_bars;
mod csv;
mod layout_picture;
mod layout_text;
mod markdown;
mod mode_words;
mod modes_page;
mod modes_text;
mod page;
mod places;
mod terminal;
mod thresholds_picture;
mod totals;
mod words;

pub use csv::{layouts as layouts_csv, modes as modes_csv, prediction as prediction_csv};
pub use layout_text::render as layout_text;
pub use markdown::{layouts as layouts_markdown, modes as modes_markdown, prediction as prediction_markdown};
pub use modes_page::render as modes_page;
pub use modes_text::render as modes_text;
pub use page::render_layouts as layouts_page;
pub use page::render_prediction as prediction_page;
pub use terminal::render as prediction_text;
