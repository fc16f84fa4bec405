//! GC logs of every HotSpot collector from JDK 6 to 28, and of J9 and OpenJ9, to records of what the collector did.
//!
//! [`GcStream`] takes bytes and gives a [`GcSink`] one [`assay_model::GcRecord`] after the other, in bounded memory. [`Records`] keeps what one log says
//! in memory, and [`read_jvm`] nothing but the JVM that wrote it. Analysis of records is in `assay-gcstudy`.
//!
//! The reader is tolerant: content never makes it fail. It returns what it understood, and counts and quotes the lines that no rule
//! knows. [`xlog_option`] is the logging option to start a JVM with; logs written with other selections and decorators are read too,
//! with less in them.
//!
//! # What is read
//!
//! | log | written by | mode of references |
//! | --- | --- | --- |
//! | unified logging | HotSpot of JDK 9 to 25: Serial, Parallel, CMS, G1, ZGC, Shenandoah, Epsilon | by several tags, see `tests/modes.rs` |
//! | `-Xloggc`, `-XX:+PrintGCDetails` and its kin | HotSpot of JDK 6 to 8 | not reported |
//! | verbose GC log, both schemas | J9 and OpenJ9: gencon, optthruput, optavgpause, balanced | by the attribute `compressedRefs` and its shift; `CMPRSS` in the version says only whether they are compressed |
//! | a server's own log | Elasticsearch, OpenSearch, Cassandra, Hadoop, HBase: lines about long collections | not reported |
//!
//! [`read_j9`] is for those who want a J9's mode and nothing else: it takes a javacore too, and parses no collection.
//!
//! # How exact the bytes of a collection are
//!
//! Every size keeps its smallest step. J9 gives bytes; HotSpot before JDK 9 whole KiB, or a tenth of the unit it names; in unified logging
//! the line of a pause (`Pause Young (Allocation Failure) 256M->12M(1024M) 3.456ms`) is rounded down to whole MiB. There, for each
//! collection, the finest source is taken that gives both sides:
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
//! # What it is tested against
//!
//! `tests/truth.rs` holds this against `GarbageCollectionNotificationInfo` of the same runs, on JDK 17 of 32
//! and 64 bits and 25: number of pauses, cause, and bytes before and after of every collection are equal at
//! these resolutions. (JDK 17 sends no notification for `Pause Remark` and `Pause Cleanup`, JDK 25 does.)
//! `tests/matrix` does so for every collector of these JVMs, for many choices of tags and decorators.
//!
//! Pauses of the other two forms are held against counts that know nothing of their grammar: `tests/jdk8.rs`, `tests/j9.rs`. No J9
//! was at hand; the samples of the project are written after the schema.

mod contract;
mod dating;
mod decimal;
mod dialect;
mod first;
pub mod input;
mod looking;
mod records;
mod scan;
mod stream;
mod xlog;

pub use contract::{At, GcSink};
pub use dialect::{J9Mode, mode_before_xlog, read_j9};
pub use records::{Records, read_into, read_jvm};
pub use scan::shortened;
pub use stream::GcStream;
pub use xlog::{log_file_of, log_options, xlog_option};
