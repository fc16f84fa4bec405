//! All tests of the crate as one program: each has its file.

mod areas;
mod events;
mod faults;
mod findings;
mod gc_events;
mod gc_figures;
mod metrics;
mod plan;
mod problems;
mod schema;
mod stored_findings;
mod windows;
