//! The leaves of a look as a tree: areas, branches, leaves, each with the bytes of all beneath it.

use assay_kit::number::count;
use assay_kit::stack::fill_class;
use assay_kit::text::clean;
use assay_kit::tree_map::{Tile, Whole};
use assay_model::{Area, Leaf, MemoryReport, Tier};
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
    /// Number of things, where it is a leaf that counts them.
    pub count: Option<u64>,
    /// The weakest tier of all beneath it.
    pub tier: Tier,
    /// What it is.
    pub explanation: Option<String>,
    /// Nodes beneath it, the biggest first.
    pub children: Vec<Node>,
    /// Its number in the order of the leaves' sizes, 0 for the biggest; of a branch that of its biggest leaf.
    pub rank: usize,
}

/// An area with what is in it.
pub struct AreaNode {
    /// The area; what has a name that is no area's is in [`Area::Other`].
    pub area: Area,
    /// The tree; its name is the area's title.
    pub node: Node,
}

/// Whether an area is one of the two kinds of unknown.
pub fn is_unknown(area: Area) -> bool {
    matches!(area, Area::MallocHeap | Area::NativeAnonymous)
}

/// The areas of a look, the biggest first. Areas without a leaf are not there.
pub fn areas(report: &MemoryReport) -> Vec<AreaNode> {
    let mut order: Vec<usize> = (0..report.leaves.len()).collect();
    order.sort_by_key(|i| std::cmp::Reverse(report.leaves[*i].resident_bytes));
    let mut by_area: BTreeMap<Area, Vec<Placed>> = BTreeMap::new();
    for (rank, index) in order.into_iter().enumerate() {
        let leaf = &report.leaves[index];
        let named = Area::of_path(&leaf.path);
        let skip = usize::from(named.is_some());
        let path = parts(leaf, skip);
        by_area.entry(named.unwrap_or(Area::Other)).or_default().push(Placed { path, leaf, rank });
    }
    let node = |area: Area, leaves: Vec<Placed>| AreaNode { area, node: branch(area.title(), leaves, 0) };
    let mut areas: Vec<AreaNode> = by_area.into_iter().map(|(area, leaves)| node(area, leaves)).collect();
    areas.sort_by_key(|a| std::cmp::Reverse(a.node.bytes));
    areas
}

/// A leaf and its path beneath the area.
struct Placed<'a> {
    path: Vec<String>,
    leaf: &'a Leaf,
    rank: usize,
}

fn parts(leaf: &Leaf, skip: usize) -> Vec<String> {
    let mut parts: Vec<String> = leaf.path.iter().skip(skip).take(LEVELS_MAX).map(|p| clean(p)).collect();
    if let Some(last) = parts.last_mut().filter(|_| LEVELS_MAX + skip < leaf.path.len()) {
        *last = clean(&leaf.path[skip + LEVELS_MAX - 1..].join(" / "));
    }
    parts
}

/// A node from the leaves beneath it, whose paths agree up to `level`. The leaves are in the order of their sizes.
fn branch(name: &str, leaves: Vec<Placed>, level: usize) -> Node {
    let rank = leaves.iter().map(|p| p.rank).min().unwrap_or(usize::MAX);
    let bytes = leaves.iter().fold(0u64, |sum, p| sum.saturating_add(p.leaf.resident_bytes));
    let tier = leaves.iter().map(|p| p.leaf.tier).max().unwrap_or(Tier::Kernel);
    let mut node = Node {
        name: name.to_owned(),
        bytes,
        count: None,
        tier,
        explanation: None,
        children: Vec::new(),
        rank,
    };
    let ends_here = leaves.iter().all(|p| p.path.len() <= level);
    if ends_here {
        node.count = leaves.iter().map(|p| p.leaf.count).sum();
        node.explanation = leaves.iter().find_map(|p| p.leaf.explanation.as_deref().map(clean));
        return node;
    }
    let mut by_name: BTreeMap<String, Vec<Placed>> = BTreeMap::new();
    for placed in leaves {
        // A path that ends where others go on.
        let name = placed.path.get(level).cloned().unwrap_or_else(|| "not split further".to_owned());
        by_name.entry(name).or_default().push(placed);
    }
    node.children = by_name.into_iter().map(|(name, leaves)| branch(&name, leaves, level + 1)).collect();
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
pub fn map(parts: &[(String, Tile)], rss_bytes: u64) -> Whole<'_> {
    Whole { parts, bytes: rss_bytes, name: "all resident memory", of: "RSS" }
}

impl Node {
    fn tile(&self) -> Tile {
        let number = self.count.filter(|n| *n > 1).map_or_else(String::new, |n| format!(", {}×", count(n)));
        let tier = if self.is_leaf() { format!(", {}", self.tier.title()) } else { String::new() };
        let what = self.explanation.as_ref().map_or_else(String::new, |e| format!(": {e}"));
        Tile {
            name: self.name.clone(),
            bytes: self.bytes,
            note: format!("{number}{tier}{what}"),
            children: self.children.iter().map(Node::tile).collect(),
        }
    }

    /// Whether nothing is beneath it.
    pub fn is_leaf(&self) -> bool {
        self.children.is_empty()
    }
}

/// Σ of the leaves.
pub fn sum_of_leaves(report: &MemoryReport) -> u64 {
    report.leaves.iter().fold(0u64, |sum, leaf| sum.saturating_add(leaf.resident_bytes))
}

/// Resident bytes of an area by its leaves.
pub fn area_bytes(areas: &[AreaNode], area: Area) -> u64 {
    areas.iter().find(|a| a.area == area).map_or(0, |a| a.node.bytes)
}

/// Paths of a look with their bytes, for comparing looks: leaves of the same path added up.
pub fn bytes_by_path(report: &MemoryReport) -> BTreeMap<Vec<String>, u64> {
    let mut paths: BTreeMap<Vec<String>, u64> = BTreeMap::new();
    for leaf in &report.leaves {
        let path = leaf.path.iter().take(LEVELS_MAX).map(|p| clean(p)).collect();
        let bytes = paths.entry(path).or_default();
        *bytes = bytes.saturating_add(leaf.resident_bytes);
    }
    paths
}

/// Areas that any of the looks has.
pub fn occurring(looks: &[MemoryReport]) -> BTreeSet<Area> {
    let areas = looks.iter().flat_map(|look| &look.areas);
    areas.filter(|a| a.resident_bytes > 0).map(|a| a.area).collect()
}
