//! What Assay knows of JDKs: what differs between releases, which are installed, how to ask one, and which reference mode a
//! heap gets in it.
//!
//! Finding a JVM reads files and starts nothing; only [`run_java`] and [`StartedJvm`] start one.

mod collector;
pub mod containers;
mod find;
mod installed;
pub mod launcher;
pub mod modes;
pub mod objects;
pub mod options;
pub mod release;
mod start;

pub use collector::Collector;
pub use find::{elf_bits, feature_of, find_jvms, jvm_at, release_and_update, update_of};
pub use installed::{InstalledJvms, JvmWish, installed_releases, no_jdk};
pub use release::Release;
pub use start::{JvmOutput, StartError, StartedJvm, run_java};
