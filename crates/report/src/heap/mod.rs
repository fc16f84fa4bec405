//! Java heaps for people: what the same objects weigh in each reference mode, how an object is laid out, which mode a
//! heap size gets.

mod address_picture;
mod class_bars;
mod cliffs_picture;
mod csv;
mod layout_picture;
mod layout_text;
mod mode_words;
mod modes_page;
mod modes_text;
mod page;
mod places;
mod terminal;
mod totals;
mod words;

pub use csv::render as heap_prediction_csv;
pub use layout_text::render as heap_layout_text;
pub use modes_page::render as heap_modes_page;
pub use modes_text::render as heap_modes_text;
pub use page::render_layouts as heap_layouts_page;
pub use page::render_prediction as heap_prediction_page;
pub use terminal::render as heap_prediction_text;
