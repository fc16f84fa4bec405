//! What rungs make of what a kernel hands out, from records and bytes.

mod addresses;
mod counters;
mod files;
mod samples;
