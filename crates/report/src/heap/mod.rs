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

use assay_kit::TerminalView;
use assay_model::{HeapLayouts, HeapModes, HeapPrediction};
use std::io;

/// A prediction for the terminal, with the `top` classes that gain or lose most. Lines are at most as wide as the
/// terminal, from 80 columns on. Of the view, width and colour count.
pub fn heap_prediction_text(heap: &HeapPrediction, view: TerminalView, top: usize) -> String {
    terminal::render(heap, view, top)
}

/// One object in every model for the terminal: a picture with a ruler of offsets, and a table of the fields' places.
pub fn heap_layout_text(layouts: &HeapLayouts, view: TerminalView) -> String {
    layout_text::render(layouts, view)
}

/// Which mode each heap size gets, for the terminal: matrix, cliffs, advice, address map.
pub fn heap_modes_text(modes: &HeapModes, view: TerminalView) -> String {
    modes_text::render(modes, view)
}

/// A prediction as CSV, `model,class,instances,bytes`: one row for each model and class.
///
/// # Errors
/// Those of the writer.
pub fn heap_prediction_csv(heap: &HeapPrediction, out: &mut impl io::Write) -> io::Result<()> {
    csv::render(heap, out)
}

/// A prediction as one HTML file that opens without a network: weight by model and by what the bytes are, classes in two
/// models that the reader chooses, one object laid out in every model.
///
/// # Errors
/// Those of the writer.
pub fn heap_prediction_page(heap: &HeapPrediction, out: &mut impl io::Write) -> io::Result<()> {
    page::render_prediction(heap, out)
}

/// One object in every model as one HTML file.
///
/// # Errors
/// Those of the writer.
pub fn heap_layouts_page(layouts: &HeapLayouts, out: &mut impl io::Write) -> io::Result<()> {
    page::render_layouts(layouts, out)
}

/// Which mode each heap size gets as one HTML file: cliffs, address map, matrix.
///
/// # Errors
/// Those of the writer.
pub fn heap_modes_page(modes: &HeapModes, out: &mut impl io::Write) -> io::Result<()> {
    modes_page::render(modes, out)
}
