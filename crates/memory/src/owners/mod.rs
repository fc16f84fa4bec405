//! Who owns the blocks of malloc's heap, and memory that no structure names.
//!
//! With native memory tracking, the header before a block names its tag. Without, owners are inferred, the surest
//! first: the content of a block (a C++ object by its vtable, a symbol, a chunk of an arena), then who points at it,
//! starting from what has a name: the JVM's statics, libraries, class metadata, compiled code, Java objects, stacks.

#[cfg(test)]
mod agreement_tests;
mod bits;
mod content;
mod filter;
mod find;
mod front;
mod graph;
mod held;
mod holders;
mod index;
mod outside;
mod room;
mod roots;
pub(crate) mod rules;
mod scan;
mod search;
mod table;
#[cfg(test)]
mod tags_tests;
mod variables;
mod votes;

pub(crate) use find::{find_owners, read_tags};
pub(crate) use holders::{
    BEHIND_BUFFERS, DIRECT_BUFFERS, NIO_THREAD_CACHE, NO_HOLDER, NO_HOLDER_SEEN, OPEN_JARS, is_no_holder,
    is_of_program, readable,
};
pub(crate) use outside::{NativeRoots, native_roots};
pub(crate) use roots::{JDK_LIBRARIES, ON_STACKS, object_ranges};
pub(crate) use rules::JAVA_OBJECTS;
pub(crate) use search::{Claims, Searched};
pub(crate) use variables::Variables;
