//! CPU time of a process from outside: what it was used for, adding up to the kernel's own total.
//!
//! [`TimeGauge`] looks at a process from time to time: the counters of its threads (`look`), and the JVM's own list of them (`jvm`), which
//! gives each its role (`role`). Between two looks a thread has used what its counters grew by (`tracks`); `account` adds that up by role
//! and name. How much was user and how much kernel time the kernel only samples: `split` says how far that is known.
//! What follows from an account, `findings` says: a pure function of the stored form.
//!
//! The second rung, `sampling`, says what the kernel did and in whose code user mode was: the processors are sampled with their stacks.
//!
//! The process is not stopped, runs nothing, and needs no flag. Without the right to read its memory roles are unknown, and the rest holds.

mod account;
mod figures;
mod findings;
mod gauge;
mod jvm;
mod jvms;
#[cfg(test)]
mod live_tests;
mod look;
mod names;
mod role;
mod sampling;
#[cfg(test)]
mod sampling_tests;
mod split;
mod tracks;
mod used;

pub use findings::findings;
pub use gauge::TimeGauge;
