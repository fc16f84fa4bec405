//! Class metadata: metaspace nodes and chunks, the class-data archive, class loaders.

mod lists;
mod loaders;
mod nodes;

use assay_model::FigureSource;
use std::ops::Range;

/// Nodes: each reserves some megabytes at least.
const NODES_MAX: usize = 4096;

/// What became of a chunk.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ChunkState {
    /// Given to a class loader.
    InUse,
    /// In a free list.
    Free,
}

/// A chunk of metaspace.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Metachunk {
    /// Addresses.
    pub addresses: Range<u64>,
    /// Bytes from its start that hold metadata; the rest is its loader's for later.
    pub used_bytes: u64,
    /// What became of it.
    pub state: ChunkState,
    /// Index of its loader in [`Metaspace::loaders`], where that is known. A chunk in use without one belongs to a loader
    /// that is being unloaded, or is the class space's first, which the JVM keeps empty when there is no archive.
    pub loader: Option<u32>,
}

/// A node: one reservation of address space.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MetaspaceNode {
    /// Reserved addresses.
    pub addresses: Range<u64>,
    /// Whether it is the compressed class space.
    pub is_class_space: bool,
    /// Its chunks, sorted by address. Empty when only the node could be found.
    pub chunks: Vec<Metachunk>,
}

/// A class loader's data.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Loader {
    /// Address of its `ClassLoaderData`.
    pub address: u64,
    /// Class of the loader, with its name where it has one: `jdk.internal.loader.ClassLoaders$AppClassLoader "app"`;
    /// `boot`; or `hidden classes`, which have a loader's data each.
    pub name: String,
    /// Classes that it loaded, array classes included; absent when the list of them could not be followed.
    pub classes: Option<u64>,
    /// Loaders' data that share this entry: 1, but for hidden classes.
    pub count: u64,
}

/// Class metadata in all.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Metaspace {
    /// Nodes.
    pub nodes: Vec<MetaspaceNode>,
    /// The mapped class-data archive: where it lies, empty when the JVM uses none.
    pub archive: Vec<Range<u64>>,
    /// Class loaders; hidden classes have one each, which share an entry.
    pub loaders: Vec<Loader>,
    /// How the nodes were found.
    pub known_from: FigureSource,
}

impl Metaspace {
    /// Bytes that hold metadata, class space included: what `jcmd VM.metaspace` calls used.
    pub fn used_bytes(&self) -> u64 {
        self.nodes.iter().flat_map(|node| &node.chunks).map(|chunk| chunk.used_bytes).sum()
    }
}
