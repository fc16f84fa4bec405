//! The integration tests of this crate, linked as one program; each file is a module.

mod arena;
mod attach;
mod code_cache;
mod corrupted;
mod gc;
mod heap;
mod metaspace;
mod moved;
mod names;
mod nmt;
mod nmt_corrupt;
mod nmt_text;
mod objects;
mod objects_corrupted;
mod open;
mod perf_counters;
mod string_table;
mod stripped;
mod support;
mod threads;
