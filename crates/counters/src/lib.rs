//! CPU time of a process from outside: what it was used for, adding up to the kernel's own total.
//!
//! [`TimeGauge`] reads a process from time to time: the counters of its threads (`read`), and the JVM's own list of them (`jvm`), which
//! gives each its role (`role`). Between two readings a thread has used what its counters grew by (`tracks`); `account` adds that up by role
//! and name. How much was user and how much kernel time the kernel only samples: `split` says how far that is known.
//! What follows from an account, `findings` says: a pure function of the stored form.
//!
//! The second rung, `sampling`, says what the kernel did and in whose code user mode was: the processors are sampled with their stacks.
//!
//! The third, `bpf`, times each interval by programs in the kernel, where they may be loaded.
//!
//! Names of Java methods come from the JVM when it is asked to: a list of compiled ones (`sampling/perf_map`), or a recording of its flight
//! recorder (`recording`).
//!
//! The process is not stopped, runs nothing, and needs no flag. Without the right to read its memory roles are unknown, and the rest holds.

mod account;
mod addresses;
mod allocated;
mod bpf;
mod carriers;
mod change;
mod figures;
mod findings;
mod gauge;
mod hardware;
mod held;
mod jvm;
mod jvms;
pub mod kernel;
#[cfg(test)]
mod live_tests;
mod names;
mod own_names;
mod reading;
mod recording;
mod role;
mod sampling;
mod side;
mod split;
mod tracks;
mod used;
mod written;

pub use allocated::{Allocated, AllocationGauge};
pub use bpf::TRACED_COVERAGE;
pub use change::change_of;
pub use findings::{COMPILERS_SHARE_MAX, findings, least_cpu, rules};
pub use gauge::TimeGauge;
pub use own_names::{is_collector_s, is_compiler_s};
pub use recording::{Recorded, Recorder, no_recording, read_recording};
pub use side::{SideGauges, Sides};
