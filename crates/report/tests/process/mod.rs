//! CPU time, load, host and flags: pages, texts, CSV and Markdown.

mod forms;
mod recorded;
mod time;
