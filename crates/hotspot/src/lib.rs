//! A HotSpot JVM from outside: its version and flags, Java heap, collector's tables, code cache, metaspace,
//! threads, native memory tracking and arenas, read from the memory of the process without its help.
//!
//! [`Hotspot::open`] finds libjvm among the mappings, its symbols, and the structures that it exports for debuggers
//! (`gHotSpotVMStructs`). Each part is then asked for by a method of its own, gives what could be read, and says in
//! `problems` what could not: a JVM of another release loses parts, never the whole.

mod arena;
mod attach;
mod code_cache;
mod compilations;
mod container;
mod data_words;
mod elf;
mod error;
mod fields;
mod flags;
mod gc;
mod heap;
mod image;
mod java_string;
mod jvm_pages;
mod metaspace;
mod names;
mod nmt;
mod objects;
mod open;
mod pack;
mod perf_counters;
mod reference_places;
mod set_flag;
mod string_table;
mod structs;
mod symbols;
mod thread;
mod version;

pub use arena::{ArenaChunk, ArenaObject, Arenas};
pub use assay_jdk::Collector;
pub use attach::{AttachError, attach_command};
pub use code_cache::{BlobKind, CodeBlob, CodeCache, CodeHeap};
pub use error::HotspotError;
pub use flags::{FlagValue, Flags};
pub use gc::GcTable;
pub use heap::{JavaHeap, Space};
pub use java_string::References;
pub use jvm_pages::JvmPages;
pub use metaspace::{ChunkState, Loader, Metachunk, Metaspace, MetaspaceNode};
pub use names::{MarkTrust, Names};
pub use nmt::{
    HeaderForm, Nmt, NmtAmount, NmtHeader, NmtLevel, NmtPart, NmtSite, NmtTagText, NmtText, Scanned,
    TagCounters, is_nmt_text, parse_nmt_text,
};
pub use objects::{
    ClassField, ClassKind, FieldReader, HeapClass, HeapClasses, HeapObject, ObjectForm, ObjectReader,
    ObjectVisitor, ObjectWalk, WalkBytes,
};
pub use open::Hotspot;
pub use pack::LayoutPack;
pub use perf_counters::PerfCounters;
pub use reference_places::ReferencePlaces;
pub use set_flag::{SetFlagError, set_flag};
pub use string_table::StringTable;
pub use structs::Structs;
pub use symbols::Symbols;
pub use thread::{AllocatedBytes, Carriers, JvmThread, ListRead, ThreadLists};
pub use version::JvmVersion;
