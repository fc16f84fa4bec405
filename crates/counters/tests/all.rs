//! The integration tests of this crate, linked as one program; each file is a module.

mod accounts;
mod allocated;
mod bpf_object;
mod change;
mod findings;
mod jvm_findings;
mod known_program;
mod missing_sources;
mod observed;
mod planted;
mod program;
mod rungs;
mod sampled;
mod sampled_java;
mod traced;
