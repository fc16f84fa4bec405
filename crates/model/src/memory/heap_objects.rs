//! The objects of the Java heap: of which classes they are, which of them are alive, and what holds those.

use crate::closed::closed;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The objects of a class in the Java heap.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ClassObjects {
    /// As a program writes it: `byte[]`, `app.Cache$Entry`. Classes of one name in several loaders are one.
    pub class: String,
    /// Their number.
    pub objects: u64,
    /// Their bytes, headers and alignment included.
    pub bytes: u64,
}

closed! {
    /// The root by which an object of the Java heap is reached.
    HolderKind {
        /// A static field of a class.
        StaticField = "static field",
        /// A thread-local of a thread.
        ThreadLocal = "thread-local",
        /// A thread: its object, or its stack.
        Thread = "thread",
        /// A structure of the JVM, or a reference of native code.
        Native = "JVM or native code",
    }
}

/// What of the Java heap is alive, by a mark from outside: objects to which a root leads.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct HeapLive {
    /// Bytes of objects that a root leads to. Whatever looks like a reference counts as one, so that this is rather too much.
    pub live_bytes: u64,
    /// Bytes of those to which nothing leads but words on stacks and in native memory that look like references. Such a word may be left over
    /// from a call that has returned, or have no more use: then they are garbage as well.
    #[serde(default)]
    pub unsure_bytes: u64,
    /// Bytes of the other objects: garbage.
    pub dead_bytes: u64,
    /// Whether the mark broke off because it took too long: then more is alive, and less is dead.
    pub is_partial: bool,
    /// What holds the live objects, the most bytes first; bounded. Each object counts once, by the first of the kinds above that
    /// leads to it.
    pub holders: Vec<HeapHolder>,
}

/// A root, and what only it or it first leads to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct HeapHolder {
    /// Kind of the root.
    pub kind: HolderKind,
    /// `app.Cache.entries`, or the thread.
    pub name: String,
    /// Objects.
    pub objects: u64,
    /// Their bytes.
    pub bytes: u64,
    /// The classes that take most of them, the biggest first; bounded.
    pub classes: Vec<ClassObjects>,
}
