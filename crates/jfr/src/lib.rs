//! Recordings of the JDK Flight Recorder: who ran and who allocated, by stack.
//!
//! A recording is a sequence of chunks, and each says by its metadata which types it has and which fields they consist of: nothing here
//! knows the layout of a release. [`read`] takes the events of [`Event`] and drops all others. It goes through a file once, keeps sums by
//! stack, and its memory grows with the number of different stacks and not with the file. Files are made by others: every size is bounded.
//!
//! Format: `jdk.jfr.internal.consumer` of the JDK (`ChunkHeader`, `MetadataReader`, `ChunkParser`), versions 2.0 and 2.1, which every
//! release from JDK 9 on and 8u262 write. That of the commercial JDK 7 and 8 (0.9) is refused by name.

mod chunk;
mod constants;
mod cursor;
mod event;
mod frame_type;
mod metadata;
mod profile;
mod value;

pub use chunk::read;
pub use event::Event;
pub use frame_type::FrameType;
pub use profile::{EventStacks, Frame, Profile, RecordedThread, Stack};

/// Why a file is not read at all.
#[derive(Debug, thiserror::Error)]
pub enum JfrError {
    /// It could not be read.
    #[error("cannot read the recording: {0}")]
    Io(#[from] std::io::Error),
    /// It does not begin as a recording does.
    #[error("not a recording of the JDK Flight Recorder: it does not begin with FLR")]
    NotARecording,
    /// Another version of the format.
    #[error(
        "the recording has format {major}.{minor}; 2.x can be read, which JDK 9 and later and 8u262 write"
    )]
    Version {
        /// Of the version.
        major: u16,
        /// Of the version.
        minor: u16,
    },
}

/// What is wrong with some bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Malformed {
    #[error("it ends within a value")]
    TooShort,
    #[error("a text has an unknown form")]
    Text,
    #[error("a type that it uses is not described")]
    NoSuchType,
    #[error("values lie within each other too deeply")]
    TooDeep,
    #[error("it has more values than bytes")]
    TooMany,
    #[error("its size is impossible")]
    Size,
    #[error("integers are not compressed")]
    NotCompressed,
    #[error("it has no metadata")]
    NoMetadata,
}
