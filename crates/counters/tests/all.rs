//! All tests of the crate as one program: each has its file.

mod bpf_object;
mod change;
mod findings;
mod known_program;
mod missing_sources;
mod observed;
mod planted;
mod program;
mod rungs;
mod sampled;
mod sampled_java;
mod traced;
