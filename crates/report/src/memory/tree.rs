//! The entries of a snapshot as a tree: areas, branches, entries, each with the bytes of all beneath it.

use assay_kit::number::count;
use assay_kit::stack::fill_class;
use assay_kit::text::clean;
use assay_kit::tree_map::{Tile, TreeMapRoot};
use assay_model::{Area, FigureSource, MemoryEntry, MemoryReport, PageKinds};
use std::collections::{BTreeMap, BTreeSet};

/// Levels of a tree; a longer path has its rest joined in the last name. Trees are walked by recursion, and paths are
/// read from files.
const LEVELS_MAX: usize = 7;

/// A node of the tree.
pub struct Node {
    /// Its own name: one part of the path, or several where a branch has one child only.
    pub name: String,
    /// Resident bytes of all beneath it.
    pub bytes: u64,
    /// Bytes of memory that these are: fewer where the process maps it several times.
    pub memory_bytes: u64,
    /// Number of things, where it is an entry that counts them.
    pub count: Option<u64>,
    /// The weakest source of all beneath it.
    pub source: FigureSource,
    /// The kinds of pages of all beneath it; absent in snapshots of earlier versions.
    pub pages: Option<PageKinds>,
    /// What the entry holds, in a phrase.
    pub explanation: Option<String>,
    /// Nodes beneath it, the biggest first.
    pub children: Vec<Node>,
    /// Its number in the order of the entries' sizes, 0 for the biggest; of a branch that of its biggest entry.
    pub rank: usize,
}

/// An area with what is in it.
pub struct AreaNode {
    /// The area; a name that is not that of an area is in [`Area::Other`].
    pub area: Area,
    /// The tree; its name is the area's title.
    pub node: Node,
}

/// The areas of a snapshot, the biggest first. Areas without an entry are not there.
pub fn areas(report: &MemoryReport) -> Vec<AreaNode> {
    let mut order: Vec<usize> = (0..report.entries.len()).collect();
    order.sort_by_key(|i| std::cmp::Reverse(report.entries[*i].resident_bytes));
    let mut by_area: BTreeMap<Area, Vec<Placed>> = BTreeMap::new();
    for (rank, index) in order.into_iter().enumerate() {
        let entry = &report.entries[index];
        let named = Area::of_path(&entry.path);
        let skip = usize::from(named.is_some());
        let path = parts(entry, skip);
        by_area.entry(named.unwrap_or(Area::Other)).or_default().push(Placed { path, entry, rank });
    }
    let node = |area: Area, entries: Vec<Placed>| AreaNode { area, node: branch(area.title(), entries, 0) };
    let mut areas: Vec<AreaNode> = by_area.into_iter().map(|(area, entries)| node(area, entries)).collect();
    areas.sort_by_key(|a| std::cmp::Reverse(a.node.bytes));
    areas
}

/// An entry and its path beneath the area.
struct Placed<'a> {
    path: Vec<String>,
    entry: &'a MemoryEntry,
    rank: usize,
}

fn parts(entry: &MemoryEntry, skip: usize) -> Vec<String> {
    let mut parts: Vec<String> =
        entry.path.iter().skip(skip).take(LEVELS_MAX).map(|part| clean(part)).collect();
    if let Some(last) = parts.last_mut().filter(|_| LEVELS_MAX + skip < entry.path.len()) {
        *last = clean(&entry.path[skip + LEVELS_MAX - 1..].join(" / "));
    }
    parts
}

/// A node from the entries beneath it, whose paths agree up to `level`. The entries are in the order of their sizes.
fn branch(name: &str, entries: Vec<Placed>, level: usize) -> Node {
    let rank = entries.iter().map(|p| p.rank).min().unwrap_or(usize::MAX);
    let bytes = entries.iter().fold(0u64, |sum, p| sum.saturating_add(p.entry.resident_bytes));
    let memory_bytes = entries.iter().fold(0u64, |sum, p| sum.saturating_add(p.entry.bytes_of_memory()));
    let source = entries.iter().map(|p| p.entry.source).max().unwrap_or(FigureSource::Kernel);
    let mut node = Node {
        name: name.to_owned(),
        bytes,
        memory_bytes,
        count: None,
        source,
        pages: PageKinds::of(entries.iter().map(|placed| placed.entry)),
        explanation: None,
        children: Vec::new(),
        rank,
    };
    let ends_here = entries.iter().all(|p| p.path.len() <= level);
    if ends_here {
        node.count = entries.iter().map(|p| p.entry.count).sum();
        node.explanation = entries.iter().find_map(|p| p.entry.explanation.as_deref().map(clean));
        return node;
    }
    let mut by_name: BTreeMap<String, Vec<Placed>> = BTreeMap::new();
    for placed in entries {
        // A path that ends where others go on.
        let name = placed.path.get(level).cloned().unwrap_or_else(|| "not split further".to_owned());
        by_name.entry(name).or_default().push(placed);
    }
    node.children = by_name.into_iter().map(|(name, entries)| branch(&name, entries, level + 1)).collect();
    node.children.sort_by_key(|child| (std::cmp::Reverse(child.bytes), child.rank));
    if let [_] = node.children.as_slice()
        && level > 0
        && let Some(only) = node.children.pop()
    {
        return Node { name: format!("{}: {}", node.name, only.name), ..only };
    }
    node
}

/// The areas as parts of a tree map, each with the class of its fill.
pub fn tiles(areas: &[AreaNode]) -> Vec<(String, Tile)> {
    areas.iter().map(|a| (fill_class(a.area.look()), a.node.tile())).collect()
}

/// The map of tiles.
pub fn map(parts: &[(String, Tile)], rss_bytes: u64) -> TreeMapRoot<'_> {
    TreeMapRoot { parts, bytes: rss_bytes, name: "all resident memory", of: "RSS" }
}

impl Node {
    fn tile(&self) -> Tile {
        let number = self.count.filter(|n| *n > 1).map_or_else(String::new, |n| format!(", {}×", count(n)));
        let source = if self.is_entry() { format!(", {}", self.source.title()) } else { String::new() };
        let what = self.explanation.as_ref().map_or_else(String::new, |e| format!(": {e}"));
        Tile {
            name: self.name.clone(),
            bytes: self.bytes,
            note: format!("{number}{source}{what}"),
            children: self.children.iter().map(Node::tile).collect(),
        }
    }

    /// Whether nothing is beneath it.
    pub fn is_entry(&self) -> bool {
        self.children.is_empty()
    }
}

/// Σ of the entries.
pub fn sum_of_entries(report: &MemoryReport) -> u64 {
    report.entries.iter().fold(0u64, |sum, entry| sum.saturating_add(entry.resident_bytes))
}

/// Resident bytes of an area by its entries.
pub fn area_bytes(areas: &[AreaNode], area: Area) -> u64 {
    areas.iter().find(|a| a.area == area).map_or(0, |a| a.node.bytes)
}

/// Paths of a snapshot with their bytes, for comparing snapshots: entries of the same path added up.
pub fn bytes_by_path(report: &MemoryReport) -> BTreeMap<Vec<String>, u64> {
    let mut paths: BTreeMap<Vec<String>, u64> = BTreeMap::new();
    for entry in &report.entries {
        let path = entry.path.iter().take(LEVELS_MAX).map(|p| clean(p)).collect();
        let bytes = paths.entry(path).or_default();
        *bytes = bytes.saturating_add(entry.resident_bytes);
    }
    paths
}

/// Areas that any of the snapshots has.
pub fn occurring(snapshots: &[MemoryReport]) -> BTreeSet<Area> {
    let areas = snapshots.iter().flat_map(|snapshot| &snapshot.areas);
    areas.filter(|a| a.resident_bytes > 0).map(|a| a.area).collect()
}
