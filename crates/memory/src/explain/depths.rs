//! Looks of different depth, made comparable: what only one of them told apart is one cause in both.

use assay_model::{Area, Leaf, MemoryReport, Problem, Tier};
use std::collections::BTreeSet;

/// The cause that holds what only one of the looks told apart.
pub(super) const NOT_SPLIT: &str = "malloc and nameless memory, split in one snapshot only";
/// What it is.
pub(super) const EXPLANATION: &str = "in use in malloc, or mapped without a name: only one of the looks looked for who owns it. \
                                      Next: both looks with --depth owners";

/// The leaves of two looks. Where one did not look for owners, what the other found by doing so would seem to have come or
/// gone: it is taken together in both, and that is told.
pub(super) fn comparable(
    before: &MemoryReport,
    after: &MemoryReport,
    problems: &mut Vec<Problem>,
) -> [Vec<Leaf>; 2] {
    let [of_before, of_after] = [before, after].map(MemoryReport::has_owners);
    if of_before == of_after {
        return [before.leaves.clone(), after.leaves.clone()];
    }
    let which = if of_before { "the first" } else { "the second" };
    let what = format!(
        "only {which} looked for who owns malloc's blocks: they are compared as one, \"{NOT_SPLIT}\"; with --depth owners \
         each look does"
    );
    problems.push(Problem::new("looks", what));
    let found = before.leaves.iter().chain(&after.leaves).filter(|leaf| is_found_by_search(leaf));
    let found: BTreeSet<&[String]> = found.map(|leaf| leaf.path.as_slice()).collect();
    [before, after].map(|look| {
        let leaves = look.leaves.iter().cloned();
        leaves
            .map(|leaf| if found.contains(&*leaf.path) || is_unknown(&leaf) { not_split(leaf) } else { leaf })
            .collect()
    })
}

/// What a search for owners gives to leaves. It follows the pointers of blocks that tracking names too, so that those
/// differ as well; stacks are found by their content at every depth, and headers belong to blocks, whoever owns them.
fn is_found_by_search(leaf: &Leaf) -> bool {
    let is_of = |area: Area| Area::of_path(&leaf.path) == Some(area);
    let is_of_code = is_of(Area::JitCode) && leaf.path.get(1).is_some_and(|part| part == "malloc parts");
    let is_named = leaf.tier.is_inference() || leaf.tier == Tier::Nmt;
    is_of_code || is_named && !is_of(Area::Stacks) && !is_of(Area::AllocatorOverhead)
}

fn is_unknown(leaf: &Leaf) -> bool {
    matches!(Area::of_path(&leaf.path), Some(Area::MallocHeap | Area::NativeAnonymous))
}

fn not_split(leaf: Leaf) -> Leaf {
    Leaf { path: vec![NOT_SPLIT.to_owned()], ..leaf }
}
