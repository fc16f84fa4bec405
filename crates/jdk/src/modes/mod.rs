//! Which reference mode a heap size gets, why, and where the heap will lie: HotSpot's own rules, computed; and the options
//! that give a wanted mode.
//!
//! A 64-bit HotSpot decides in three steps, each a file here:
//! 1. References are compressed up to a limit that follows from the alignment of objects and from the collector
//!    (`sizes`; HotSpot's `arguments.cpp`, `gcArguments.cpp` and each collector's `…Arguments.cpp`).
//! 2. `-Xmx` is rounded up to what the collector works in: regions, or 2 MiB (`sizes`).
//! 3. Addresses for the heap are tried, the cheapest mode first, and the first that is free decides the mode (`attach`;
//!    `virtualspace.cpp` of JDK 17, `memoryReserver.cpp` of 25, and `compressedOops.cpp` for the mode itself).
//!
//! The rules are those of JDK 8 and of 11 and later on Linux, read in the sources and held against JVMs that were started
//! (`crates/assay/tests/heap_modes.rs`); a release that is newer than all data is computed by the rules of the newest.

mod attach;
mod compute;
mod options;
mod sizes;
mod space;
mod thresholds;
mod wanted;

pub use attach::BASE_MIN_ADDRESS;
pub use compute::{ComputedMode, HeapSetting};
pub use options::DecidingOptions;
pub use space::{AddressSpace, MAX_HEAP_BYTES_32_BIT};
pub use thresholds::{default_sizes, thresholds};
pub use wanted::{WantedMode, bits_of, check};
