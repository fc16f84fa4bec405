//! Heaps in every mode: pages, texts, CSV and Markdown.

mod forms;
mod pages;
mod sample;
