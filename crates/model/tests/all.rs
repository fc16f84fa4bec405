//! The integration tests of this crate, linked as one program; each file is a module.

mod areas;
mod events;
mod faults;
mod findings;
mod gc_events;
mod gc_figures;
mod metrics;
mod plan;
mod problems;
mod rules;
mod schema;
mod windows;
