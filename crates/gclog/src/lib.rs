//! GC log text to events, for HotSpot's unified logging as JDK 17 and 25 write it with Serial, Parallel and
//! G1.
//!
//! The reader is tolerant: content never makes it fail. It returns what it understood, counts the lines that
//! it did not, and lists problems. [`xlog_option`] is the logging option to start a JVM with; logs written
//! with other selections and decorators are read too, with less in them.
//!
//! # How exact the bytes of a collection are
//!
//! The line of a pause (`Pause Young (Allocation Failure) 256M->12M(1024M) 3.456ms`) is rounded down to whole
//! MiB. For each event the finest source is taken that gives both sides:
//!
//! | source | written with | resolution |
//! | --- | --- | --- |
//! | Serial, Parallel: `eden space 17472K, 100% used [0x.., 0x.., 0x..)`, the same for from, to and old space, before and after | `gc+heap=debug` | exact to the byte: top - bottom of each space |
//! | G1: `garbage-first heap   total 65536K, used 7092K [..)` before and after | `gc+heap=debug` | 1 KiB, rounded down. Over a run the roundings cancel but for the first and last |
//! | Serial, Parallel: `DefNew: 17472K(19648K)->856K(19648K)`, `Tenured: ..` | `gc+heap=info` | 1 KiB for each generation |
//! | the pause's own line | `gc=info` | 1 MiB |
//!
//! Finer bytes for G1 exist only region by region (`gc+heap+region=trace`), thousands of lines a collection,
//! which would disturb what is measured. G1's `Pause Remark` and `Pause Cleanup` have nothing but their own
//! line: 1 MiB.
//!
//! `tests/truth.rs` holds this against `GarbageCollectionNotificationInfo` of the same runs, on JDK 17 of 32
//! and 64 bits and 25: number of pauses, cause, and bytes before and after of every collection are equal at
//! these resolutions. (JDK 17 sends no notification for `Pause Remark` and `Pause Cleanup`, JDK 25 does.)

mod heap_bytes;
mod line;
mod mode;
mod reader;
mod rules;
mod scan;
mod summary;
mod window;
mod xlog;

pub use reader::{GcLogReader, read};
pub use summary::summarise;
pub use window::{GcWindow, PauseWindow, freed_between, pauses_between};
pub use xlog::xlog_option;
