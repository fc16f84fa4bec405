//! Nodes of metaspace as it was before JDK 16: two lists, one of them the class space's, each with its own count of what it reserves.
//!
//! Chunks of all sizes lie within a node, with their headers, and are not followed: a node is one range.

use super::{Metaspace, MetaspaceNode, NODES_MAX};
use crate::Hotspot;
use assay_model::FigureSource;
use std::ops::Range;

const LISTS: [(&str, bool); 2] =
    [("_ZN9Metaspace11_space_listE", false), ("_ZN9Metaspace17_class_space_listE", true)];
const PROBLEM: &str = "metaspace";

/// Private offsets of the structures that are followed.
#[derive(Debug, Clone, Copy)]
pub(super) struct Layout {
    head: u64,
    is_class: u64,
    reserved_words: u64,
    count: u64,
    next: u64,
    start: u64,
    bytes: u64,
    low: u64,
    high: u64,
}

impl Layout {
    pub(super) fn of(hotspot: &Hotspot<'_>) -> Option<Layout> {
        let pack = hotspot.pack()?;
        let either = |of: &str, field: &str| {
            pack.offset(&format!("metaspace::{of}"), field).or_else(|| pack.offset(of, field))
        };
        let list = |field| either("VirtualSpaceList", field);
        let node = |field| either("VirtualSpaceNode", field);
        Some(Layout {
            head: list("_virtual_space_list")?,
            is_class: list("_is_class")?,
            reserved_words: list("_reserved_words")?,
            count: list("_virtual_space_count")?,
            next: node("_next")?,
            start: node("_rs._base")?,
            bytes: node("_rs._size")?,
            low: node("_virtual_space._low_boundary")?,
            high: node("_virtual_space._high_boundary")?,
        })
    }
}

impl Hotspot<'_> {
    /// Both lists, each whole by its own count. `None`: none was found.
    pub(super) fn listed_metaspace(&self, layout: &Layout) -> Option<Metaspace> {
        let (symbols, source) = (self.symbols(), self.source());
        let named = LISTS.iter().filter_map(|(name, is_class)| Some((symbols.address(name)?, *is_class)));
        let named: Vec<(u64, bool)> =
            named.filter_map(|(at, is_class)| Some((symbols.word(source, at)?, is_class))).collect();
        let (lists, known_from) = if named.is_empty() {
            (self.found_in_data(|list| self.list_by_shape(list, layout)), FigureSource::Content)
        } else {
            (named, FigureSource::Symbols)
        };
        let mut nodes = Vec::new();
        // Without compressed class pointers there is no class space.
        for (list, is_class_space) in lists.into_iter().filter(|(list, _)| *list != 0) {
            match self.nodes_of_list(list, layout) {
                Some(ranges) => nodes.extend(ranges.into_iter().map(|addresses| MetaspaceNode {
                    addresses,
                    is_class_space,
                    chunks: Vec::new(),
                })),
                None => self.problem(PROBLEM, "a list of nodes does not fit the layout of this release"),
            }
        }
        nodes.sort_by_key(|node| node.addresses.start);
        let (loaders, _) = self.loaders();
        (!nodes.is_empty()).then(|| Metaspace { nodes, archive: self.archive_ranges(), loaders, known_from })
    }

    /// Whether a list lies at an address, and which: it is whole by its own count, and its flag is none but 0 and 1.
    fn list_by_shape(&self, address: u64, layout: &Layout) -> Option<bool> {
        let is_class = match self.source().u8(address.checked_add(layout.is_class)?)? {
            0 => false,
            1 => true,
            _ => return None,
        };
        self.nodes_of_list(address, layout).map(|_| is_class)
    }

    /// The nodes of a list, if there are as many as it counts, and they reserve what it counts.
    fn nodes_of_list(&self, list: u64, layout: &Layout) -> Option<Vec<Range<u64>>> {
        let source = self.source();
        let at = |address: u64, offset: u64| source.word(address.checked_add(offset)?);
        let count = at(list, layout.count)?;
        let reserved_bytes = at(list, layout.reserved_words)?.checked_mul(source.word_bytes())?;
        if count == 0 || NODES_MAX as u64 <= count {
            return None;
        }
        let (mut nodes, mut node) = (Vec::new(), at(list, layout.head)?);
        while node != 0 && (nodes.len() as u64) < count {
            nodes.push(self.listed_node(node, layout)?);
            node = at(node, layout.next)?;
        }
        let found_bytes = nodes.iter().try_fold(0_u64, |sum, node| sum.checked_add(node.end - node.start))?;
        (node == 0 && nodes.len() as u64 == count && found_bytes == reserved_bytes).then_some(nodes)
    }

    /// A node's addresses, which it has twice.
    fn listed_node(&self, node: u64, layout: &Layout) -> Option<Range<u64>> {
        let source = self.source();
        let at = |offset: u64| source.word(node.checked_add(offset)?);
        let start = at(layout.start)?;
        let bytes = at(layout.bytes)?;
        let end = start.checked_add(bytes)?;
        let is_twice = (at(layout.low)?, at(layout.high)?) == (start, end);
        (start != 0 && start.is_multiple_of(4096) && bytes != 0 && is_twice).then_some(start..end)
    }
}
