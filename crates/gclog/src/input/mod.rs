//! Where logs come from: files, rotated sets, folders, packed files, zip, tar, standard input; and a log that is still written.
//!
//! [`find()`] makes sets of what was named, each the log of one server in the order of time; [`read_set`] reads one through a
//! [`GcStream`] with a buffer of fixed size. [`Follower`] goes on reading what is appended.
//!
//! Packed input is recognized by its first bytes, not by its name. Archives are unpacked as a stream, so that one which
//! pretends to be small costs time and not memory.

mod archive;
mod aside;
mod find;
mod follow;
mod head;
mod open;
mod order;
mod set;

pub use find::{Found, find};
pub use follow::{Follower, Polled, ReadLimits};
pub use set::{InputError, LogPart, LogSet, STANDARD_INPUT};

use crate::contract::GcSink;
use crate::stream::GcStream;
use assay_model::Problem;
use open::Input;
use set::BUFFER_BYTES;

/// Reads a set from its first byte to its last. Parts that cannot be read are problems reported to the sink, and the rest is read.
pub fn read_set(set: &LogSet, sink: &mut dyn GcSink) {
    let mut stream = GcStream::default();
    let mut buffer = vec![0; BUFFER_BYTES];
    for part in &set.parts {
        stream.begin_source(&part.name, sink);
        let read = Input::open(&part.origin).and_then(|mut input| {
            input.with_reader(&mut |reader| stream.feed_from(reader, &mut buffer, sink).map(drop))
        });
        if let Err(error) = read {
            sink.problem(Problem::new(part.name.clone(), open::in_words(&error)));
        }
        stream.end_source(sink);
    }
    stream.finish(sink);
}
