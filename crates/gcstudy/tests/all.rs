//! The integration tests of this crate, linked as one program; each file is a module.

mod analysed;
mod corpus;
mod damaged;
mod determinism;
mod diff_real;
mod diff_simulated;
mod follow;
mod forms;
mod grounds;
mod healthy;
mod hostile;
mod limits;
mod made;
mod planted;
mod releases;
#[path = "../../gclog/tests/samples/mod.rs"]
mod samples;
mod truth;
mod without_end;
